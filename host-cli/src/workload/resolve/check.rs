//! What results are compared with.

use toml::Spanned;

use super::super::compare::{CheckPlan, CheckedBuffer, Expectation, Tolerance};
use super::super::document::{self, Expected};
use super::super::error::Problem;
use super::super::plan::Place;
use super::super::reference::{self, Reference};
use super::buffers::{in_words, same_elements};
use super::{Resolver, Result, list};
use crate::config::place;

impl Resolver<'_> {
    pub(super) fn check(&self, check: &document::Check) -> Result<CheckPlan> {
        let reference = check.reference.as_ref().map(|name| self.reference(name)).transpose()?;
        if check.buffer.is_empty() {
            let (position, key) =
                (place::of_key(self.source.text, "check"), "check.buffer".to_owned());
            let place = Place { file: self.source.file.to_owned(), position, key };
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
                    return Err(place.error(Problem::Syntax { message, help: String::new() }));
                }
            }
            let at_most_differing = match &checked.at_most_differing {
                None => 0,
                Some(most) => {
                    let what = "the number of differing elements";
                    let key = format!("{key}.at_most_differing");
                    self.bounded(most, key, what, (0, i64::MAX))? as u64
                }
            };
            let tolerant = absolute.is_some() || relative.is_some() || at_most_differing != 0;
            if tolerant && checked.because.is_none() {
                let (field, needs) = ("a tolerance", "because");
                return Err(place.error(Problem::Needs { field, needs }));
            }
            if !tolerant && checked.because.is_some() {
                let (field, needs) = ("because", "absolute");
                return Err(place.error(Problem::Needs { field, needs }));
            }
            let expectation = match &checked.expected {
                Some(expected) => self.expectation(buffer, expected, &key)?,
                None if reference.is_some() => Expectation::Reference,
                None => {
                    let (field, what) = ("expected", "compared buffer");
                    let instead = "`reference` in `[check]`";
                    return Err(place.error(Problem::Missing { field, what, instead }));
                }
            };
            let tolerance =
                Tolerance { absolute: absolute.unwrap_or(0.0), relative: relative.unwrap_or(0.0) };
            buffers.push(CheckedBuffer { buffer, tolerance, at_most_differing, expectation });
        }
        if let Some(name) = &check.reference
            && !buffers.iter().any(|buffer| buffer.expectation == Expectation::Reference)
        {
            let place = self.source.place(name.span(), "check.reference");
            return Err(place.error(Problem::UnusedReference));
        }
        Ok(CheckPlan { reference, buffers })
    }

    fn reference(&self, name: &Spanned<String>) -> Result<Reference> {
        let place = self.source.place(name.span(), "check.reference");
        reference::find(name.get_ref()).ok_or_else(|| {
            let known = list(reference::names());
            let (what, name) = ("host reference", name.get_ref().clone());
            place.error(Problem::UnknownName { what, name, known })
        })
    }

    /// What a file says that a buffer holds in the end.
    fn expectation(
        &self,
        buffer: usize,
        expected: &Spanned<Expected>,
        key: &str,
    ) -> Result<Expectation> {
        let place = self.source.place(expected.span(), format!("{key}.expected"));
        let Expected::File(file) = expected.get_ref();
        let buffer = &self.plan.buffers[buffer];
        let array = self.array(file, buffer.element, buffer.bytes(), &place)?;
        let found = if array.shape.is_empty() { &[1][..] } else { &array.shape };
        let path = file.0.path.clone();
        if same_elements(found, &buffer.shape) {
            return Ok(Expectation::File(path, array.bytes.into()));
        }
        let (found, expected) = (in_words(found), in_words(&buffer.shape));
        Err(place.error(Problem::FileShape { path, found, expected }))
    }
}
