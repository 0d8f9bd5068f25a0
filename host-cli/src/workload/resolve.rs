//! From a launch file, a PTX module and a size to a launch plan: names are resolved, expressions
//! evaluated, arguments compared with the kernels' parameters.

mod arguments;
mod buffers;
mod check;
mod contents;
mod launches;
mod objects;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use strata_ptx::module::Module;
use toml::Spanned;

use super::compare::CheckPlan;
use super::document::{self, Document, Formula};
use super::error::{LaunchFileError, Problem};
use super::expression::{Expression, Scope};
use super::names;
use super::plan::{LaunchPlan, Place};
use crate::config::Mistake;
use crate::config::place::Position;
use crate::config::strict;

/// Most memory for all buffers of a plan. Unit: bytes.
pub const MAX_BUFFER_BYTES: u64 = 2 << 30;

/// Most bytes that all resets of a plan write.
pub const MAX_RESET_BYTES: u64 = 1 << 37;

/// Most nodes and most edges of a random graph, and most letters of a text and of a read.
pub const MAX_GRAPH: i64 = 1 << 26;

/// Most launches of a plan.
pub const MAX_LAUNCHES: i64 = 1 << 16;

pub(super) type Result<T> = std::result::Result<T, Box<LaunchFileError>>;

/// A launch file's name and text, for the places of mistakes.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// What the names of other files are relative to; built-in launch files can name none.
    pub(super) folder: Option<&'a Path>,
}

impl Source<'_> {
    /// Reads the document.
    pub(super) fn parse(self) -> Result<Document> {
        let document = strict::from_str(self.text).map_err(|mistake| {
            let help = match mistake.unknown_key.as_deref() {
                Some("base") => "design files have it; pass one with `--design`".to_owned(),
                Some("layers")
                    if mistake.key.starts_with("texture") || mistake.key.starts_with("surface") =>
                {
                    "write `depth`: it is the number of layers of `a1d` and `a2d`".to_owned()
                }
                _ => mistake.hint(),
            };
            let problem = Problem::Syntax { help, message: mistake.message };
            let Mistake { position, key, .. } = mistake;
            Place { file: self.file.to_owned(), position, key }.error(problem)
        })?;
        names::check(self, &document)?;
        Ok(document)
    }

    pub(super) fn place(self, span: Range<usize>, key: impl Into<String>) -> Place {
        let position = Some(Position::of(self.text, span.start));
        Place { file: self.file.to_owned(), position, key: key.into() }
    }
}

/// Makes the plan and what its results are compared with.
pub(super) fn resolve(
    source: Source<'_>,
    document: &Document,
    (parameters, more_seed): (Scope, i64),
    module: &Module,
) -> Result<(LaunchPlan, Option<CheckPlan>)> {
    let mut resolver = Resolver {
        source,
        module,
        more_seed,
        plan: LaunchPlan {
            buffers: Vec::new(),
            objects: Vec::new(),
            kernels: Vec::new(),
            parameters,
            phases: Vec::new(),
        },
    };
    resolver.requirements(&document.require)?;
    resolver.buffers(&document.buffer)?;
    resolver.objects(document)?;
    resolver.phases(document)?;
    let check = document.check.as_ref().map(|check| resolver.check(check)).transpose()?;
    resolver.plan.rehearse()?;
    Ok((resolver.plan, check))
}

/// The parameters of one size: its table, then the overrides.
pub(super) fn parameters(
    table: &BTreeMap<Spanned<String>, i64>,
    overrides: &BTreeMap<String, i64>,
) -> Scope {
    let mut scope = Scope::default();
    for (name, value) in table {
        scope.set(name.get_ref(), *overrides.get(name.get_ref()).unwrap_or(value));
    }
    scope
}

struct Resolver<'a> {
    source: Source<'a>,
    module: &'a Module,
    /// What is added to every seed.
    more_seed: i64,
    plan: LaunchPlan,
}

impl Resolver<'_> {
    fn evaluate(&self, expression: &Expression, place: &Place) -> Result<i64> {
        expression.evaluate(&self.plan.parameters).map_err(|error| place.error(error))
    }

    fn bounded(
        &self,
        formula: &Spanned<Formula>,
        key: String,
        what: &'static str,
        (low, high): (i64, i64),
    ) -> Result<i64> {
        let place = self.source.place(formula.span(), key);
        let value = self.evaluate(&formula.get_ref().0, &place)?;
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            Err(place.error(Problem::OutOfRange { what, value, low, high }))
        }
    }

    fn requirements(&self, requirements: &[Spanned<document::Requirement>]) -> Result<()> {
        for (index, requirement) in requirements.iter().enumerate() {
            let place = self.source.place(requirement.span(), format!("require[{index}]"));
            let requirement = requirement.get_ref();
            let (what, formula, zero) = match (&requirement.zero, &requirement.positive) {
                (Some(formula), None) => ("zero", formula, true),
                (None, Some(formula)) => ("positive", formula, false),
                (zero, _) => {
                    let found = if zero.is_some() { 2 } else { 0 };
                    let fields = "`zero`, `positive`";
                    return Err(place.error(Problem::ExactlyOne { fields, found }));
                }
            };
            let value = self.evaluate(&formula.0, &place)?;
            let holds = if zero { value == 0 } else { value > 0 };
            if !holds {
                let parameters: Vec<String> =
                    self.plan.parameters.iter().map(|(name, v)| format!("{name} = {v}")).collect();
                return Err(place.error(Problem::Requirement {
                    what,
                    expression: formula.0.to_string(),
                    value,
                    parameters: parameters.join(", "),
                    because: requirement.because.clone(),
                }));
            }
        }
        Ok(())
    }

    fn buffer(&self, name: &str, place: &Place) -> Result<usize> {
        self.plan.buffer(name).ok_or_else(|| {
            let known = list(self.plan.buffers.iter().map(|buffer| buffer.name.as_str()));
            place.error(Problem::UnknownName { what: "buffer", name: name.to_owned(), known })
        })
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
