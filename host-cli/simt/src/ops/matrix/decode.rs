//! Decoding of matrix instructions.

use strata_core::sm::memory::cached::LineUse;
use strata_ptx::module::Operand;
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use super::Matrix;
use super::fragment::{Element, Family, Fragment};
use super::layout::Role;
use super::product::Product;
use super::transfer::{self, Kind, Transfer};
use crate::arith::matrix::Shape;
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, AddressSource, Args, Direction, Space};

/// Decodes a matrix instruction.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let modifiers = &one.instruction.modifiers;
    let matrix = match one.instruction.opcode {
        Opcode::Ldmatrix | Opcode::Stmatrix => Matrix::Transfer(Box::new(rows(one)?)),
        Opcode::Wmma if modifiers.has("load") || modifiers.has("store") => {
            Matrix::Transfer(Box::new(lines(one)?))
        }
        Opcode::Movmatrix => Matrix::Transpose {
            d: one.result(0, ScalarType::B32)?,
            a: one.value(0, ScalarType::B32)?,
        },
        _ => Matrix::Product(Box::new(product(one)?)),
    };
    let members = one.constant(u64::from(u32::MAX), ScalarType::U32);
    let index = one.decoder.matrices.len() as u32;
    one.decoder.matrices.push(matrix);
    Ok((Action::Matrix { index, members }, Args::default()))
}

/// The sizes that a word such as `m16n8k16` says.
fn shape_of(word: &str) -> Option<Shape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
}

/// The sizes that the instruction says.
fn shape(one: &One<'_, '_>) -> Result<Shape, Problem> {
    let words = &one.instruction.modifiers.other;
    let found = words.iter().find_map(|word| shape_of(word));
    found.ok_or_else(|| one.malformed("a shape is missing"))
}

/// Elements of a type; those without a type of their own are words.
fn element(ty: ScalarType) -> Option<Element> {
    Some(match ty {
        ScalarType::F16 => Element::F16,
        ScalarType::Bf16 => Element::Bf16,
        ScalarType::Tf32 => Element::Tf32,
        ScalarType::F32 => Element::F32,
        ScalarType::F64 => Element::F64,
        ScalarType::S8 => Element::S8,
        ScalarType::U8 => Element::U8,
        ScalarType::S32 => Element::S32,
        _ => return None,
    })
}

/// The elements that words name, in order.
fn named(one: &One<'_, '_>) -> Vec<Element> {
    let element = |word: &String| match word.as_str() {
        "e4m3" => Some(Element::E4m3),
        "e5m2" => Some(Element::E5m2),
        "s4" => Some(Element::S4),
        "u4" => Some(Element::U4),
        "b1" => Some(Element::B1),
        _ => None,
    };
    one.instruction.modifiers.other.iter().filter_map(element).collect()
}

/// Fragments of a family and shape.
struct Fragments {
    family: Family,
    shape: Shape,
}

impl Fragments {
    /// A matrix whose registers an operand names.
    fn of(
        &self,
        one: &mut One<'_, '_>,
        (role, element): (Role, Element),
        operand: &Operand,
        written: bool,
    ) -> Result<Fragment, Problem> {
        let mut shape = self.shape;
        shape.k /= element.counted();
        let mut fragment = Fragment::new(self.family, role, shape, element);
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            single => std::slice::from_ref(single),
        };
        let twice = self.family == Family::Wmma && element == Element::F16 && role != Role::C;
        let registers = if twice { 8 } else { fragment.distinct };
        if elements.len() != registers {
            let message = format!("a vector of {registers} registers is needed here");
            return Err(one.malformed(&message));
        }
        let ty = if element == Element::F64 { ScalarType::B64 } else { ScalarType::B32 };
        for operand in elements {
            let row = if written { one.written(operand, ty)? } else { one.operand(operand, ty)? };
            fragment.rows.push(row);
        }
        Ok(fragment)
    }
}

fn product(one: &mut One<'_, '_>) -> Result<Product, Problem> {
    let modifiers = &one.instruction.modifiers;
    let whole = shape(one)?;
    let wmma = one.instruction.opcode == Opcode::Wmma;
    let typed = |index| -> Result<Element, Problem> {
        element(one.ty(index)?).ok_or_else(|| one.unsupported("elements of this type"))
    };
    let named = named(one);
    let types = one.instruction.types.len();
    let last = types.checked_sub(1).ok_or_else(|| one.malformed("a type is missing"))?;
    let (d, c) = (typed(0)?, typed(last)?);
    let (a, b) = match (named.as_slice(), types) {
        (&[a, b], _) => (a, b),
        // Types of both factors are written, but for products of f16 by `wmma`.
        ([], 4) => (typed(1)?, typed(2)?),
        ([], 2) if wmma => (Element::F16, Element::F16),
        _ => return Err(one.malformed("the types of the factors are missing")),
    };
    let saturate = modifiers.has("satfinite");
    if saturate && d != Element::S32 {
        return Err(one.unsupported("`.satfinite` of floating-point results"));
    }
    let xor = modifiers.has("xor");
    let columns = layouts(one);
    let family = match (wmma, a, whole) {
        (true, ..) => Family::Wmma,
        (false, Element::F16, Shape { m: 8, k: 4, .. }) => Family::Quarters { columns },
        _ => Family::Mma,
    };
    let quarters = if matches!(family, Family::Quarters { .. }) { 4 } else { 1 };
    let of = Fragments { family, shape: whole };
    let sources = [one.source(0)?, one.source(1)?, one.source(2)?];
    let destination = one.destination(0)?;
    let a = of.of(one, (Role::A, a), sources[0], false)?;
    let b = of.of(one, (Role::B, b), sources[1], false)?;
    let c = of.of(one, (Role::C, c), sources[2], false)?;
    let d = of.of(one, (Role::C, d), destination, true)?;
    let shape = Shape { k: a.length, ..whole };
    let tf32_terms = if wmma { 4 } else { 8 };
    Ok(Product { shape, a, b, c, d, saturate, xor, quarters, tf32_terms })
}

/// Whether the layouts of A and B are `.col`.
fn layouts(one: &One<'_, '_>) -> [bool; 2] {
    let words = one.instruction.modifiers.other.iter();
    let mut found = words.filter(|word| matches!(word.as_str(), "row" | "col"));
    [0, 1].map(|_| found.next().is_some_and(|word| word == "col"))
}

/// `ldmatrix` and `stmatrix`.
fn rows(one: &mut One<'_, '_>) -> Result<Transfer, Problem> {
    let modifiers = &one.instruction.modifiers;
    let transposed = modifiers.has("trans");
    let load = one.instruction.opcode == Opcode::Ldmatrix;
    let operand = if load { one.destination(0)? } else { one.source(1)? };
    let Operand::Vector(elements) = operand else {
        return Err(one.malformed("a vector is expected"));
    };
    if !matches!(elements.len(), 1 | 2 | 4) {
        return Err(one.malformed("a vector has 1, 2 or 4 registers"));
    }
    let registers = elements
        .iter()
        .map(|operand| {
            if load {
                one.written(operand, ScalarType::B32)
            } else {
                one.operand(operand, ScalarType::B32)
            }
        })
        .collect::<Result<_, _>>()?;
    let place = shared_place(one)?;
    let (direction, line_use) = direction(load);
    Ok(Transfer {
        kind: Kind::Rows { registers, transposed },
        direction,
        access: transfer::access(place, 16, line_use),
    })
}

/// Where the rows of `ldmatrix` and `stmatrix` are: without a state space, at generic addresses
/// within shared memory. ptxas takes a register of 32 bits for an address of shared memory then.
fn shared_place(one: &mut One<'_, '_>) -> Result<(Space, AddressSource), Problem> {
    match one.address(one.instruction.modifiers.space)? {
        (Space::Generic, narrow @ AddressSource::Narrow { .. }) => Ok((Space::Shared, narrow)),
        place @ (Space::Shared | Space::Generic, _) => Ok(place),
        _ => Err(one.unsupported("rows outside of shared memory")),
    }
}

/// Which way a matrix moves, and what that does to lines of memory.
fn direction(load: bool) -> (Direction, LineUse) {
    if load { (Direction::Load, LineUse::Load) } else { (Direction::Store, LineUse::Store) }
}

/// `wmma.load` and `wmma.store`.
fn lines(one: &mut One<'_, '_>) -> Result<Transfer, Problem> {
    let modifiers = &one.instruction.modifiers;
    let load = modifiers.has("load");
    let element = match (one.instruction.types.first(), named(one).as_slice()) {
        (Some(&ty), _) => element(ty),
        (None, &[element]) => Some(element),
        _ => None,
    };
    let element = element.ok_or_else(|| one.unsupported("elements of this type"))?;
    let role = match () {
        () if modifiers.has("a") => Role::A,
        () if modifiers.has("b") => Role::B,
        () => Role::C,
    };
    // Lines are columns of B.
    let across = modifiers.has("col") != (role == Role::B);
    let of = Fragments { family: Family::Wmma, shape: shape(one)? };
    let operand = if load { one.destination(0)? } else { one.source(1)? };
    let fragment = of.of(one, (role, element), operand, load)?;
    let at = if load { 1 } else { 2 };
    let stride = match one.instruction.sources.get(at) {
        Some(operand) => Some(one.operand(operand, ScalarType::U32)?),
        None => None,
    };
    let place = one.address(modifiers.space)?;
    let bytes = fragment.lines * fragment.length * element.bits() / (8 * 32);
    let (direction, line_use) = direction(load);
    Ok(Transfer {
        kind: Kind::Lines { fragment, stride, across },
        direction,
        access: transfer::access(place, bytes as u32, line_use),
    })
}
