//! A launch file as a source: its text, and the places in it that mistakes name.

use std::ops::Range;
use std::path::Path;

use super::error::{LaunchFileError, Problem};
use strata_config::place::Position;

/// Where a part of the plan stands in the launch file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) position: Option<Position>,
    pub(super) key: String,
}

impl Place {
    pub(super) fn error(&self, problem: impl Into<Problem>) -> Box<LaunchFileError> {
        let (file, key) = (self.file.clone(), self.key.clone());
        Box::new(LaunchFileError { file, position: self.position, key, problem: problem.into() })
    }
}

/// A launch file's name and text, for the places of mistakes.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// What the names of other files are relative to; built-in launch files can name none.
    pub(super) folder: Option<&'a Path>,
}

impl Source<'_> {
    pub(super) fn place(self, span: Range<usize>, key: impl Into<String>) -> Place {
        let position = Some(Position::of(self.text, span.start));
        Place { file: self.file.to_owned(), position, key: key.into() }
    }
}
