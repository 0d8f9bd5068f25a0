//! What results are compared with.

use super::super::compare::{CheckPlan, CheckedBuffer, Tolerance};
use super::super::document;
use super::super::error::Problem;
use super::super::plan::Place;
use super::super::reference;
use super::{Resolver, Result, list};

impl Resolver<'_> {
    pub(super) fn check(&self, check: &document::Check) -> Result<CheckPlan> {
        let place = self.source.place(check.reference.span(), "check.reference");
        let name = check.reference.get_ref();
        let Some(reference) = reference::find(name) else {
            let known = list(reference::names());
            let (what, name) = ("host reference", name.clone());
            return Err(place.error(Problem::UnknownName { what, name, known }));
        };
        if check.buffer.is_empty() {
            let place = Place { key: "check.buffer".to_owned(), ..place };
            return Err(place.error(Problem::EmptyList));
        }
        let mut buffers = Vec::<CheckedBuffer>::with_capacity(check.buffer.len());
        for (index, checked) in check.buffer.iter().enumerate() {
            let key = format!("check.buffer[{index}]");
            let place = self.source.place(checked.span(), key.as_str());
            let checked = checked.get_ref();
            let name_place = self.source.place(checked.name.span(), format!("{key}.name"));
            let buffer = self.buffer(checked.name.get_ref(), &name_place)?;
            if buffers.iter().any(|other| other.buffer == buffer) {
                let (what, name) = ("compared buffer", checked.name.get_ref().clone());
                return Err(name_place.error(Problem::Duplicate { what, name }));
            }
            let (absolute, relative) =
                (checked.absolute.map(|real| real.0), checked.relative.map(|real| real.0));
            for value in [absolute, relative].into_iter().flatten() {
                if !(value.is_finite() && value >= 0.0) {
                    let message = format!(
                        "a tolerance of {value} is none: expected a finite number of at least 0"
                    );
                    return Err(place.error(Problem::Syntax(message)));
                }
            }
            let tolerant = absolute.is_some() || relative.is_some();
            if tolerant && checked.because.is_none() {
                let (field, needs) = ("a tolerance", "because");
                return Err(place.error(Problem::Needs { field, needs }));
            }
            if !tolerant && checked.because.is_some() {
                let (field, needs) = ("because", "absolute");
                return Err(place.error(Problem::Needs { field, needs }));
            }
            let tolerance =
                Tolerance { absolute: absolute.unwrap_or(0.0), relative: relative.unwrap_or(0.0) };
            buffers.push(CheckedBuffer { buffer, tolerance });
        }
        Ok(CheckPlan { reference, buffers })
    }
}
