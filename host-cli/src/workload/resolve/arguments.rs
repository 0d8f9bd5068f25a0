//! Arguments of launches.

use super::super::document::{self, Formula, Real};
use super::super::error::Problem;
use super::super::expression::Expression;
use super::super::plan::{ArgumentTemplate, Place, ScalarKind};
use super::super::real;
use super::{Resolver, Result};

impl Resolver<'_> {
    pub(super) fn argument(
        &self,
        argument: &document::Argument,
        place: &Place,
    ) -> Result<ArgumentTemplate> {
        let table = match argument {
            document::Argument::Buffer(name) => {
                let choices = vec![self.buffer(name, place)?];
                return Ok(ArgumentTemplate::Buffer { choices, select: Expression::number(0) });
            }
            document::Argument::Table(table) => table,
        };
        let mut found = Vec::new();
        if let Some(names) = &table.buffer {
            let buffers = names.0.iter().map(|name| self.buffer(name, place));
            let choices = buffers.collect::<Result<Vec<_>>>()?;
            if choices.is_empty() {
                return Err(place.error(Problem::EmptyList));
            }
            let select = match &table.select {
                Some(select) => select.0.clone(),
                None if choices.len() == 1 => Expression::number(0),
                None => {
                    let (field, needs) = ("a list of buffers", "select");
                    return Err(place.error(Problem::Needs { field, needs }));
                }
            };
            found.push(ArgumentTemplate::Buffer { choices, select });
        } else if table.select.is_some() {
            return Err(place.error(Problem::Needs { field: "select", needs: "buffer" }));
        }
        let integers = [
            (ScalarKind::U8, &table.u8),
            (ScalarKind::U16, &table.u16),
            (ScalarKind::U32, &table.u32),
            (ScalarKind::S32, &table.s32),
            (ScalarKind::U64, &table.u64),
            (ScalarKind::S64, &table.s64),
        ];
        for (kind, value) in integers {
            if let Some(Formula(value)) = value {
                found.push(ArgumentTemplate::Integer { kind, value: value.clone() });
            }
        }
        for (kind, value) in [(ScalarKind::F32, &table.f32), (ScalarKind::F64, &table.f64)] {
            match value {
                Some(Real::Number(value)) => {
                    real::rounded(*value, kind.element()).map_err(|why| place.error(why))?;
                    found.push(ArgumentTemplate::Real { kind, value: *value });
                }
                Some(Real::Formula(value)) => {
                    found.push(ArgumentTemplate::RealFormula { kind, value: value.clone() });
                }
                None => {}
            }
        }
        let count = found.len();
        if let (Some(template), 1) = (found.pop(), count) {
            return Ok(template);
        }
        let fields = "`buffer`, `u8`, `u16`, `u32`, `s32`, `u64`, `s64`, `f32`, `f64`";
        Err(place.error(Problem::ExactlyOne { fields, found: count }))
    }
}
