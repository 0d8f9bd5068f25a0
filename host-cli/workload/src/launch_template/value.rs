//! What is passed for each parameter.

use strata_ptx::module::Variable;
use strata_ptx::types::{Kind, ScalarType};

use super::meaning::Meaning;
use super::memory::typed;
use super::objects::ObjectTable;
use super::parameters::{FieldUse, Fields, Pointer};
use crate::element::ElementType;

/// An argument with its parameter's name.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) value: Value,
}

/// What is passed.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An address of a buffer.
    Buffer(Buffer),
    /// The handle of a texture, surface or sampler.
    Object(ObjectTable),
    /// `n`, as a type of the launch file.
    Integer(&'static str),
    /// 1.
    Real(&'static str),
    /// Fields, and the alignment of the whole.
    Structure(Vec<Self>, u32),
    /// Bytes of nothing.
    Bytes(u64),
    /// An address in dynamic shared memory: the number of such an argument, and its bits.
    Shared(u64, u32),
}

impl Value {
    /// `n` or 1, as a type.
    pub(super) const fn number(of: ElementType) -> Self {
        if of.is_float() { Self::Real(of.name()) } else { Self::Integer(of.name()) }
    }

    /// Whether there is an integer in it, whose value is the parameter of the size.
    pub(super) fn has_integers(&self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Structure(fields, _) => fields.iter().any(Self::has_integers),
            _ => false,
        }
    }
}

/// A buffer of the launch file.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) element: ElementType,
    /// Unit: elements.
    pub(super) count: u64,
    pub(super) read: bool,
    pub(super) written: bool,
    /// Nothing tells the type of what it holds.
    pub(super) copied: bool,
    /// The buffer that its elements point to.
    pub(super) target: Option<Box<Value>>,
}

impl Buffer {
    /// One that no access is known of.
    pub(super) const fn untouched(name: String, element: ElementType) -> Self {
        let (read, written, copied) = (false, false, false);
        Self { name, element, count: 1024, read, written, copied, target: None }
    }
}

/// The argument of a parameter.
pub(super) fn value(parameter: &Variable, fields: &Fields, name: &str, address_bits: u8) -> Value {
    if parameter.dimensions.is_empty() && parameter.vector == 1 {
        let whole = (0, u64::from(parameter.ty.bytes()));
        let mut found = fields.get(&whole).cloned().unwrap_or_default();
        if parameter.pointer.is_some() {
            found.pointer.get_or_insert_default();
        }
        return scalar(parameter.ty, &found, name, address_bits);
    }
    structure(parameter, fields, name, address_bits).unwrap_or(Value::Bytes(parameter.size))
}

fn scalar(ty: ScalarType, found: &FieldUse, name: &str, address_bits: u8) -> Value {
    if let Some(used) = found.object.filter(|_| ty.bits() == 64) {
        return Value::Object(ObjectTable::new(name.to_owned(), None, used));
    }
    let pointer = found.pointer.as_ref().filter(|_| ty.bits() == u32::from(address_bits));
    if let (Some(pointer), Kind::Bits | Kind::Unsigned | Kind::Signed) = (pointer, ty.kind()) {
        return Value::Buffer(buffer(pointer, name.to_owned(), address_bits));
    }
    let is_float = |ty: ScalarType| ty.kind() == Kind::Float;
    let ty = match found.meaning {
        Some(Meaning::Float(float)) if !is_float(ty) && float.bytes() == ty.bytes() => float,
        // Several numbers in one, or an integer of a sign that the PTX says.
        Some(Meaning::Float(_)) | None => ty,
        Some(Meaning::Integer | Meaning::Bits) if ty.kind() != Kind::Bits => ty,
        Some(_) if is_float(ty) => ty,
        Some(meaning) => typed(ty, meaning, None),
    };
    match ty {
        ScalarType::F16 => Value::Real("f16"),
        ScalarType::Bf16 => Value::Real("bf16"),
        ScalarType::F32 | ScalarType::Tf32 => Value::Real("f32"),
        ScalarType::F64 => Value::Real("f64"),
        ScalarType::S8 => Value::Integer("s8"),
        ScalarType::U8 | ScalarType::B8 => Value::Integer("u8"),
        ScalarType::S16 => Value::Integer("s16"),
        ScalarType::U16 | ScalarType::B16 => Value::Integer("u16"),
        ScalarType::S32 => Value::Integer("s32"),
        ScalarType::U32 | ScalarType::B32 | ScalarType::F16x2 | ScalarType::Bf16x2 => {
            Value::Integer("u32")
        }
        ScalarType::S64 => Value::Integer("s64"),
        ScalarType::U64 | ScalarType::B64 => Value::Integer("u64"),
        other => Value::Bytes(other.bytes().into()),
    }
}

fn buffer(pointer: &Pointer, name: String, address_bits: u8) -> Buffer {
    let (read, written) = (pointer.read, pointer.written);
    let target = pointer.target.as_ref().filter(|_| address_bits == 64).map(|target| {
        Box::new(Value::Buffer(buffer(target, format!("{name}_target"), address_bits)))
    });
    let (held, copied) = match pointer.held {
        _ if target.is_some() => (ScalarType::B64, false),
        Some(held) => (held.ty, held.copied),
        None => (pointer.accessed().unwrap_or(ScalarType::B8), false),
    };
    Buffer { read, written, copied, target, ..Buffer::untouched(name, element(held)) }
}

/// The fields that the kernel loads, with integers in between, where they have their places.
fn structure(parameter: &Variable, fields: &Fields, name: &str, address_bits: u8) -> Option<Value> {
    let (mut values, mut end) = (Vec::new(), 0);
    for ((place, size), found) in disjoint(fields) {
        let bits = match size {
            1 => ScalarType::B8,
            2 => ScalarType::B16,
            4 => ScalarType::B32,
            8 => ScalarType::B64,
            _ => return None,
        };
        if !place.is_multiple_of(size) {
            return None;
        }
        fill(&mut values, &mut end, place, parameter.align);
        let ty = found.ty.unwrap_or(bits);
        values.push(scalar(ty, found, &format!("{name}_{place}"), address_bits));
        end = place + size;
    }
    fill(&mut values, &mut end, parameter.size, parameter.align);
    (end == parameter.size && !values.is_empty())
        .then_some(Value::Structure(values, parameter.align))
}

/// Fields that do not overlap, in the order of their places: pointers and handles first, then what
/// is computed with as a whole, then the smallest.
fn disjoint(fields: &Fields) -> Vec<((u64, u64), &FieldUse)> {
    let mut all: Vec<_> = fields.iter().map(|(key, found)| (*key, found)).collect();
    let is_address = |found: &FieldUse| found.pointer.is_some() || found.object.is_some();
    all.sort_by_key(|((place, size), found)| {
        (!is_address(found), !(found.wide && *size == 8), *size, *place)
    });
    let mut chosen: Vec<((u64, u64), &FieldUse)> = Vec::new();
    for ((place, size), found) in all {
        let apart = |((other, bytes), _): &((u64, u64), &FieldUse)| {
            place + size <= *other || other + bytes <= place
        };
        if chosen.iter().all(apart) {
            chosen.push(((place, size), found));
        }
    }
    chosen.sort_by_key(|(key, _)| *key);
    chosen
}

/// Integers up to a place, none of which asks for more than the alignment of the whole.
fn fill(values: &mut Vec<Value>, end: &mut u64, place: u64, align: u32) {
    while *end < place {
        let fits =
            |size: &u64| *size <= align.into() && end.is_multiple_of(*size) && *end + size <= place;
        let size = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
        values.push(Value::Integer(match size {
            8 => "u64",
            4 => "u32",
            2 => "u16",
            _ => "u8",
        }));
        *end += size;
    }
}

/// The element type of a launch file that holds a type of PTX.
pub(super) const fn element(ty: ScalarType) -> ElementType {
    match ty {
        ScalarType::S8 => ElementType::S8,
        ScalarType::U16 | ScalarType::B16 => ElementType::U16,
        ScalarType::S16 => ElementType::S16,
        ScalarType::F16 => ElementType::F16,
        ScalarType::Bf16 => ElementType::Bf16,
        ScalarType::U32
        | ScalarType::B32
        | ScalarType::F16x2
        | ScalarType::Bf16x2
        | ScalarType::Tf32 => ElementType::U32,
        ScalarType::S32 => ElementType::S32,
        ScalarType::F32 => ElementType::F32,
        ScalarType::U64 | ScalarType::B64 | ScalarType::B128 => ElementType::U64,
        ScalarType::S64 => ElementType::S64,
        ScalarType::F64 => ElementType::F64,
        _ => ElementType::U8,
    }
}
