//! Arguments of launches.

use strata_ptx::module::Variable;
use strata_ptx::types::Kind;

use super::super::document::{self, ArgumentTable, Formula, Literal, Real};
use super::super::element::ElementType;
use super::super::error::Problem;
use super::super::expression::Expression;
use super::super::plan::{ArgumentTemplate, Extent};
use super::super::real;
use super::super::source::Place;
use super::{Resolver, Result, list};

/// Largest alignment of a structure. Unit: bytes.
const MAX_ALIGN: u64 = 128;

impl Resolver<'_> {
    pub(super) fn argument(
        &self,
        argument: &document::Argument,
        place: &Place,
    ) -> Result<ArgumentTemplate> {
        let table = match argument {
            document::Argument::Buffer(name) => {
                let choices = vec![self.buffer(name, place)?];
                return Ok(self.pointer(choices, Expression::number(0), Expression::number(0)));
            }
            document::Argument::Number(number) => {
                return Err(place.mistake(Problem::Untyped { number: number.to_string() }));
            }
            document::Argument::Table(table) => table,
        };
        let mut found = Vec::new();
        found.extend(self.pointer_of(table, place)?);
        scalars(table, place, &mut found)?;
        found.extend(self.structure_of(table, place)?);
        found.extend(table.object.as_ref().map(|name| self.object_of(name, place)).transpose()?);
        let count = found.len();
        if let (Some(template), 1) = (found.pop(), count) {
            return Ok(template);
        }
        let fields = "`buffer`, `u8`, `s8`, `u16`, `s16`, `u32`, `s32`, `u64`, `s64`, `f16`, \
                      `bf16`, `f32`, `f64`, `fields`, `bytes`, `object`";
        Err(place.mistake(Problem::ExactlyOne { fields, found: count }))
    }

    fn object_of(&self, name: &str, place: &Place) -> Result<ArgumentTemplate> {
        let index = self.plan.objects.iter().position(|object| object.name == *name);
        index.map(ArgumentTemplate::Object).ok_or_else(|| {
            let known = list(self.plan.objects.iter().map(|object| object.name.as_str()));
            let (what, name) = ("texture, surface or sampler", name.to_owned());
            place.mistake(Problem::UnknownName { what, name, known })
        })
    }

    fn pointer(
        &self,
        choices: Vec<usize>,
        select: Expression,
        offset: Expression,
    ) -> ArgumentTemplate {
        let extent = |&choice: &usize| {
            let buffer = &self.plan.buffers[choice];
            Extent { count: buffer.count, size: buffer.element.bytes() }
        };
        let extents = choices.iter().map(extent).collect();
        ArgumentTemplate::Buffer { choices, select, offset, extents }
    }

    fn pointer_of(&self, table: &ArgumentTable, place: &Place) -> Result<Option<ArgumentTemplate>> {
        let needs = |field, needs| Err(place.mistake(Problem::Needs { field, needs }));
        let Some(names) = &table.buffer else {
            return match (&table.select, &table.offset) {
                (Some(_), _) => needs("select", "buffer"),
                (None, Some(_)) => needs("offset", "buffer"),
                (None, None) => Ok(None),
            };
        };
        let buffers = names.0.iter().map(|name| self.buffer(name, place));
        let choices = self.keep_all(buffers)?;
        if choices.is_empty() {
            return Err(place.mistake(Problem::EmptyList));
        }
        let select = match &table.select {
            Some(select) => select.0.clone(),
            None if choices.len() == 1 => Expression::number(0),
            None => return needs("a list of buffers", "select"),
        };
        let offset = table.offset.as_ref().map_or(Expression::number(0), |offset| offset.0.clone());
        Ok(Some(self.pointer(choices, select, offset)))
    }

    /// A structure: its fields where C++ has them, or its bytes.
    fn structure_of(
        &self,
        table: &ArgumentTable,
        place: &Place,
    ) -> Result<Option<ArgumentTemplate>> {
        let fields = match (&table.fields, &table.bytes) {
            (Some(_), Some(_)) => {
                let fields = "`fields`, `bytes`";
                return Err(place.mistake(Problem::ExactlyOne { fields, found: 2 }));
            }
            (None, _) if table.align.is_some() => {
                return Err(place.mistake(Problem::Needs { field: "align", needs: "fields" }));
            }
            (None, None) => return Ok(None),
            // A parameter may be an array without elements.
            (None, Some(bytes)) => {
                return Ok(Some(ArgumentTemplate::Bytes(bytes.clone())));
            }
            (Some(fields), None) if !fields.is_empty() => fields,
            _ => return Err(place.mistake(Problem::EmptyList)),
        };
        let align = table.align.unwrap_or(1);
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(place.mistake(Problem::Alignment { align }));
        }
        let (mut placed, mut size, mut alignment) =
            (Vec::with_capacity(fields.len()), 0_u64, align);
        for template in self.keep_all(fields.iter().map(|field| self.argument(field, place)))? {
            let (bytes, align) = template.layout(self.module.address_bits);
            let at = size.next_multiple_of(align);
            (size, alignment) = (at + bytes, alignment.max(align));
            placed.push((at, template));
        }
        let size = size.next_multiple_of(alignment);
        Ok(Some(ArgumentTemplate::Structure { fields: placed, size, align: alignment }))
    }
}

/// A number of the type that the PTX says that a parameter has.
pub(super) fn of_parameter(
    number: Literal,
    parameter: &Variable,
    place: &Place,
) -> Result<ArgumentTemplate> {
    let kind = match parameter.ty.kind() {
        Kind::Unsigned | Kind::Signed | Kind::Float => {
            ElementType::ALL.iter().copied().find(|kind| kind.name() == parameter.ty.name())
        }
        _ => None,
    };
    let scalar = parameter.dimensions.is_empty() && parameter.vector == 1;
    let untyped = || place.mistake(Problem::Untyped { number: number.to_string() });
    let kind = kind.filter(|_| scalar).ok_or_else(untyped)?;
    match number {
        Literal::Integer(value) if kind.is_float() => {
            Ok(ArgumentTemplate::RealFormula { kind, value: Expression::number(value) })
        }
        Literal::Integer(value) => {
            Ok(ArgumentTemplate::Integer { kind, value: Expression::number(value) })
        }
        Literal::Real(_) if !kind.is_float() => {
            Err(place.mistake(Problem::Whole { number: number.to_string(), kind: kind.name() }))
        }
        Literal::Real(value) => {
            real::rounded(value, kind).map_err(|why| place.mistake(why))?;
            Ok(ArgumentTemplate::Real { kind, value })
        }
    }
}

fn scalars(table: &ArgumentTable, place: &Place, found: &mut Vec<ArgumentTemplate>) -> Result<()> {
    let integers = [
        (ElementType::U8, &table.u8),
        (ElementType::S8, &table.s8),
        (ElementType::U16, &table.u16),
        (ElementType::S16, &table.s16),
        (ElementType::U32, &table.u32),
        (ElementType::S32, &table.s32),
        (ElementType::U64, &table.u64),
        (ElementType::S64, &table.s64),
    ];
    for (kind, value) in integers {
        if let Some(Formula(value)) = value {
            found.push(ArgumentTemplate::Integer { kind, value: value.clone() });
        }
    }
    let reals = [
        (ElementType::F16, &table.f16),
        (ElementType::Bf16, &table.bf16),
        (ElementType::F32, &table.f32),
        (ElementType::F64, &table.f64),
    ];
    for (kind, value) in reals {
        match value {
            Some(Real::Number(value)) => {
                real::rounded(*value, kind).map_err(|why| place.mistake(why))?;
                found.push(ArgumentTemplate::Real { kind, value: *value });
            }
            Some(Real::Formula(value)) => {
                found.push(ArgumentTemplate::RealFormula { kind, value: value.clone() });
            }
            None => {}
        }
    }
    Ok(())
}
