//! All mistakes of a launch file, and which errors only follow from others.

use std::fmt;

use strata_ptx::diagnostic::counted;

use super::error::problem::{LaunchFileError, Problem};
use super::expression::ExpressionError;
use strata_config::suggest::suggest;

/// Most mistakes that a message lists; of the others it has the number.
pub const MOST_SHOWN: usize = 20;

/// What is wrong with a launch file, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchFileErrors {
    // Invariant: not empty; sorted by place, without duplicates.
    errors: Vec<LaunchFileError>,
}

impl LaunchFileErrors {
    /// Sorts what was found, at least one mistake.
    pub(super) fn new(mut errors: Vec<LaunchFileError>) -> Self {
        let place = |error: &LaunchFileError| error.position.map(|at| (at.line, at.column));
        errors.sort_by_key(place);
        let mut kept = Vec::<LaunchFileError>::with_capacity(errors.len());
        for error in errors {
            let mut same_place =
                kept.iter().rev().take_while(|other| other.position == error.position);
            if !same_place.any(|other| *other == error) {
                kept.push(error);
            }
        }
        Self { errors: kept }
    }

    /// Every mistake, in the order of the file; at least one.
    pub fn all(&self) -> &[LaunchFileError] {
        &self.errors
    }

    /// How to fix it, in one sentence; empty for several mistakes, whose message says it of each.
    pub fn help(&self) -> String {
        match &self.errors[..] {
            [one] => one.help(),
            _ => String::new(),
        }
    }
}

impl From<Box<LaunchFileError>> for LaunchFileErrors {
    fn from(error: Box<LaunchFileError>) -> Self {
        Self { errors: vec![*error] }
    }
}

impl fmt::Display for LaunchFileErrors {
    /// One mistake as it is; several with a headline, each with its hint.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, all) = match &self.errors[..] {
            [one] => return one.fmt(to),
            all => (all.first(), all),
        };
        let file = first.map_or("", |first| &first.file);
        writeln!(to, "`{file}` has {}", counted(all.len(), "error"))?;
        for error in all.iter().take(MOST_SHOWN) {
            write!(to, "\n{error}\n  hint: {}", error.help())?;
        }
        match all.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(to, "\nand {more} more"),
        }
    }
}

impl std::error::Error for LaunchFileErrors {}

/// Leaves out what may only follow from mistakes of syntax: `changed` are the keys that have other
/// values than in the file, or none.
pub(super) fn independent(
    changed: &[String],
    errors: impl IntoIterator<Item = LaunchFileError>,
) -> Vec<LaunchFileError> {
    let follows = |error: &LaunchFileError| follows(changed, error);
    errors.into_iter().filter(|error| !follows(error)).collect()
}

fn follows(changed: &[String], error: &LaunchFileError) -> bool {
    let (key, problem) = (error.key.as_str(), &error.problem);
    changed.iter().any(|changed| {
        within(changed, key)
            || within(key, changed)
            || top(changed) == top(key) && compares_fields(problem)
            || removes_parameters(changed) && matches!(problem, Problem::Expression(_))
            || removes_names(changed) && lacks_entry(problem)
    })
}

/// The part of a key that names an entry of the file: `launch[0]` of `launch[0].grid`.
pub(super) fn top(key: &str) -> &str {
    key.split('.').next().unwrap_or_default()
}

/// Whether a key is another or that of a part of it.
fn within(key: &str, whole: &str) -> bool {
    let rest = key.strip_prefix(whole);
    rest.is_some_and(|rest| whole.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether a key of the whole file is or was to be one of these.
fn is_near(key: &str, keys: &[&str]) -> bool {
    !key.contains(['.', '[']) && !suggest(key, keys.iter().copied()).is_empty()
}

/// Whether without this key names lack that arguments use.
fn removes_names(key: &str) -> bool {
    let entry = key.strip_suffix("].name");
    entry.is_some_and(|entry| !entry.contains('.'))
        || is_near(key, &["buffer", "texture", "surface", "sampler"])
}

/// Whether there is no entry of the file with a name.
fn lacks_entry(problem: &Problem) -> bool {
    let others =
        ["kernel", "host reference", "format of files", "variable in global or constant memory"];
    matches!(problem, Problem::UnknownName { what, .. } if !others.contains(what))
}

/// Whether without this key names lack that expressions use.
fn removes_parameters(key: &str) -> bool {
    is_near(key, &["size"]) || key.starts_with("size.") && key.matches('.').count() == 1
}

/// Whether a problem is one of several fields of an entry together.
pub(super) const fn compares_fields(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::Unsuitable { .. }
            | Problem::File { .. }
            | Problem::FileShape { .. }
            | Problem::VariableSize { .. }
            | Problem::ArgumentCount { .. }
            | Problem::UnusedReference
    )
}

/// Whether other values of the parameters may solve a problem.
pub(super) const fn depends_on_parameters(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::OutOfRange { .. }
            | Problem::Requirement { .. }
            | Problem::Unsuitable { .. }
            | Problem::TooMuchMemory { .. }
            | Problem::FileShape { .. }
            | Problem::ImageSize { .. }
            | Problem::Inexact { .. }
            | Problem::NoLaunch
            | Problem::Expression(
                ExpressionError::Overflow { .. } | ExpressionError::DivisionByZero { .. }
            )
    )
}
