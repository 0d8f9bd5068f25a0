//! What results are compared with.

use toml::Spanned;

use super::super::compare::{CheckPlan, CheckedBuffer, Expectation, Tolerance};
use super::super::document::{self, Expected};
use super::super::error::Problem;
use super::super::reference::{self, Reference};
use super::super::source::Place;
use super::buffers::{in_words, same_elements};
use super::{Failed, Resolver, Result, list};
use strata_config::place;

impl Resolver<'_> {
    /// What is compared; `None` where something is wrong.
    pub(super) fn check(&self, check: &document::Check) -> Option<CheckPlan> {
        let reference = check.reference.as_ref().map(|name| self.reference(name)).transpose();
        let reference = self.keep(reference);
        if check.buffer.is_empty() {
            let (position, key) =
                (place::of_key(self.source.text, "check"), "check.buffer".to_owned());
            let place = Place { file: self.source.file.to_owned(), position, key };
            return self.keep(Err(place.mistake(Problem::EmptyList)));
        }
        let named = check.reference.is_some();
        let mut buffers = Vec::<CheckedBuffer>::with_capacity(check.buffer.len());
        let mut complete = true;
        for (index, checked) in check.buffer.iter().enumerate() {
            let place = self.source.place(checked.span(), format!("check.buffer[{index}]"));
            let checked =
                self.keep(self.checked(checked.get_ref(), named, &check.buffer[..index], &place));
            complete &= checked.is_some();
            buffers.extend(checked);
        }
        let uses_reference = |buffer: &CheckedBuffer| buffer.expectation == Expectation::Reference;
        if let Some(name) = &check.reference
            && complete
            && !buffers.iter().any(uses_reference)
        {
            let place = self.source.place(name.span(), "check.reference");
            return self.keep(Err(place.mistake(Problem::UnusedReference)));
        }
        Some(CheckPlan { reference: reference?, buffers })
    }

    /// One compared buffer, which is none of the `earlier` ones.
    fn checked(
        &self,
        checked: &document::CheckedBuffer,
        has_reference: bool,
        earlier: &[Spanned<document::CheckedBuffer>],
        place: &Place,
    ) -> Result<CheckedBuffer> {
        let key = &place.key;
        let name_place = self.source.place(checked.name.span(), format!("{key}.name"));
        let buffer = self.keep(self.buffer(checked.name.get_ref(), &name_place));
        if buffer.is_some() && earlier.iter().any(|other| other.get_ref().name == checked.name) {
            let (what, name) = ("compared buffer", checked.name.get_ref().clone());
            self.keep(Err::<(), _>(name_place.mistake(Problem::Duplicate { what, name })));
        }
        let tolerance = self.keep(self.tolerance(checked, place));
        let expectation = match (&checked.expected, buffer) {
            (Some(expected), Some(buffer)) => self.expectation(buffer, expected, key)?,
            (None, _) if has_reference => Expectation::Reference,
            (None, _) => {
                let (field, what) = ("expected", "compared buffer");
                let instead = "`reference` in `[check]`";
                return Err(place.mistake(Problem::Missing { field, what, instead }));
            }
            (Some(expected), None) => {
                let place = self.source.place(expected.span(), format!("{key}.expected"));
                let Expected::File(file) = expected.get_ref();
                let opened = self.array_file(file, &place)?.open();
                let problem = opened.err().map(|error| place.mistake(Problem::of_file(&error)));
                return Err(problem.unwrap_or(Failed::Follows));
            }
        };
        let (tolerance, at_most_differing) = tolerance.ok_or(Failed::Follows)?;
        let buffer = buffer.ok_or(Failed::Follows)?;
        Ok(CheckedBuffer { buffer, tolerance, at_most_differing, expectation })
    }

    /// How far the elements of a buffer may lie off, and how many may lie further off.
    fn tolerance(
        &self,
        checked: &document::CheckedBuffer,
        place: &Place,
    ) -> Result<(Tolerance, u64)> {
        let (absolute, relative) =
            (checked.absolute.map(|real| real.0), checked.relative.map(|real| real.0));
        for (field, value) in [("absolute", absolute), ("relative", relative)] {
            let value = value.unwrap_or(0.0);
            if !(value.is_finite() && value >= 0.0) {
                let message = format!(
                    "a tolerance of {value} is none: expected a finite number of at least 0"
                );
                let problem = Problem::Syntax { message, help: String::new() };
                let key = format!("{}.{field}", place.key);
                let position = place::of_key(self.source.text, &key).or(place.position);
                let place = Place { file: place.file.clone(), position, key };
                self.keep(Err::<(), _>(place.mistake(problem)));
            }
        }
        let at_most_differing = match &checked.at_most_differing {
            None => 0,
            Some(most) => {
                let what = "the number of differing elements";
                let key = format!("{}.at_most_differing", place.key);
                self.bounded(most, key, what, (0, i64::MAX))? as u64
            }
        };
        let tolerant = absolute.is_some() || relative.is_some() || at_most_differing != 0;
        if tolerant && checked.because.is_none() {
            let (field, needs) = ("a tolerance", "because");
            return Err(place.mistake(Problem::Needs { field, needs }));
        }
        if !tolerant && checked.because.is_some() {
            let (field, needs) = ("because", "absolute");
            return Err(place.mistake(Problem::Needs { field, needs }));
        }
        let tolerance =
            Tolerance { absolute: absolute.unwrap_or(0.0), relative: relative.unwrap_or(0.0) };
        Ok((tolerance, at_most_differing))
    }

    fn reference(&self, name: &Spanned<String>) -> Result<Reference> {
        let place = self.source.place(name.span(), "check.reference");
        reference::find(name.get_ref()).ok_or_else(|| {
            let known = list(reference::names());
            let (what, name) = ("host reference", name.get_ref().clone());
            place.mistake(Problem::UnknownName { what, name, known })
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
        let buffer = self.known(buffer)?;
        let array = self.array(file, buffer.element, buffer.bytes(), &place)?;
        let found = if array.shape.is_empty() { &[1][..] } else { &array.shape };
        let path = file.0.path.clone();
        if same_elements(found, &buffer.shape) {
            return Ok(Expectation::File(path, array.bytes.into()));
        }
        let (found, expected) = (in_words(found), in_words(&buffer.shape));
        Err(place.mistake(Problem::FileShape { path, found, expected }))
    }
}
