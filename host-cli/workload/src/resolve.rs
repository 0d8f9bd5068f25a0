//! From a launch file, a PTX module and a size to a launch plan: names are resolved, expressions
//! evaluated, arguments compared with the kernels' parameters.

mod arguments;
mod buffers;
mod check;
mod contents;
mod launches;
mod objects;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use strata_ptx::module::Module;
use toml::Spanned;

use super::buffer::BufferPlan;
use super::compare::CheckPlan;
use super::document::{self, DEFAULT_SIZE, Document, Formula};
use super::error::{LaunchFileError, Problem};
use super::expression::{Expression, Scope};
use super::mistakes::{depends_on_parameters, independent, top};
use super::names;
use super::plan::LaunchPlan;
use super::source::{Place, Source};
use strata_config::Mistake;
use strata_config::recovery::{self, Reading};

/// Most memory for all buffers of a plan. Unit: bytes.
pub const MAX_BUFFER_BYTES: u64 = 2 << 30;

/// Most bytes that all resets of a plan write.
pub const MAX_RESET_BYTES: u64 = 1 << 37;

/// Most nodes and most edges of a random graph, and most letters of a text and of a read.
pub const MAX_GRAPH: i64 = 1 << 26;

/// Most launches of a plan.
pub const MAX_LAUNCHES: i64 = 1 << 16;

/// Why a part of a plan is not there.
pub(super) enum Failed {
    /// The file is wrong here.
    Mistake(Box<LaunchFileError>),
    /// It needs another part that is not there, which was reported.
    Follows,
}

impl From<Box<LaunchFileError>> for Failed {
    fn from(mistake: Box<LaunchFileError>) -> Self {
        Self::Mistake(mistake)
    }
}

type Result<T> = std::result::Result<T, Failed>;

impl Place {
    fn mistake(&self, problem: impl Into<Problem>) -> Failed {
        self.error(problem).into()
    }
}

/// A launch file with mistakes.
pub(super) struct Refused {
    mistakes: Vec<LaunchFileError>,
    /// The file without them, if it can be read on.
    document: Option<Document>,
    /// The keys that have other values there.
    changed: Vec<String>,
}

impl Source<'_> {
    /// Reads the document.
    pub(super) fn parse(self) -> std::result::Result<Document, Box<Refused>> {
        let Reading { value: document, mistakes, changed } = recovery::read::<Document>(self.text);
        let mut mistakes: Vec<_> = mistakes.into_iter().map(|found| self.syntax(found)).collect();
        if let Some(document) = &document {
            mistakes.extend(independent(&changed, names::mistakes(self, document)));
        }
        match document {
            Some(document) if mistakes.is_empty() => Ok(document),
            document => Err(Box::new(Refused { mistakes, document, changed })),
        }
    }

    fn syntax(self, mistake: Mistake) -> LaunchFileError {
        let help = match mistake.unknown_key.as_deref() {
            Some("base") => "design files have it; pass one with `--design`".to_owned(),
            Some("layers")
                if mistake.key.starts_with("texture") || mistake.key.starts_with("surface") =>
            {
                "write `depth`: it is the number of layers of `a1d` and `a2d`".to_owned()
            }
            _ => mistake.hint(),
        };
        let Mistake { position, key, message, .. } = mistake;
        let (file, problem) = (self.file.to_owned(), Problem::Syntax { message, help });
        LaunchFileError { file, position, key, problem }
    }
}

impl Refused {
    /// All that is wrong, with what a plan finds wrong at the size that is run unless another is
    /// asked for.
    pub(super) fn with_plan(self, source: Source<'_>, ptx: &str) -> Vec<LaunchFileError> {
        let Self { mut mistakes, document: Some(document), changed } = self else {
            return self.mistakes;
        };
        let too_many =
            |mistake: &LaunchFileError| matches!(mistake.problem, Problem::TooMany { .. });
        let parsed = strata_ptx::parse(ptx);
        let size = document.size.get(DEFAULT_SIZE).or_else(|| document.size.values().next());
        if let Some(size) = size
            && !parsed.has_errors()
            && !mistakes.iter().any(too_many)
        {
            let planned = |values: &BTreeMap<String, i64>| {
                let parameters = (parameters(size, values), 0);
                let planned = resolve(source, (&document, &changed), parameters, &parsed.module);
                planned.err().unwrap_or_default()
            };
            let mut found = planned(&BTreeMap::new());
            // What depends on parameters whose values are wrong is said otherwise with others.
            for &value in other_values(&changed) {
                let values = size.keys().map(|name| (name.get_ref().clone(), value));
                let again = planned(&values.collect());
                found.retain(|one| !depends_on_parameters(&one.problem) || again.contains(one));
            }
            mistakes.extend(independent(&changed, found));
        }
        mistakes
    }
}

/// Values to be tried for parameters, if those of the file are wrong.
fn other_values(changed: &[String]) -> &'static [i64] {
    let are_wrong = changed.iter().any(|key| top(key) == "size");
    if are_wrong { &[96, 1_000] } else { &[] }
}

/// Makes the plan and what its results are compared with, or finds everything that is wrong. The
/// document comes with the keys that have other values than in the file.
pub(super) fn resolve(
    source: Source<'_>,
    (document, changed): (&Document, &[String]),
    (parameters, more_seed): (Scope, i64),
    module: &Module,
) -> std::result::Result<(LaunchPlan, Option<CheckPlan>), Vec<LaunchFileError>> {
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
        changed,
        unknown: Vec::new(),
        mistakes: RefCell::default(),
    };
    resolver.requirements(&document.require);
    resolver.buffers(&document.buffer);
    resolver.objects(document);
    resolver.phases(document);
    let check = document.check.as_ref().and_then(|check| resolver.check(check));
    let Resolver { plan, mistakes, .. } = resolver;
    let mut mistakes = mistakes.into_inner();
    mistakes.extend(plan.rehearse());
    let unmet = |mistake: &LaunchFileError| matches!(mistake.problem, Problem::Requirement { .. });
    if mistakes.iter().any(unmet) && other_values(changed).is_empty() {
        // With such parameters other values are wrong, too.
        mistakes.retain(|mistake| unmet(mistake) || !depends_on_parameters(&mistake.problem));
    }
    if mistakes.is_empty() { Ok((plan, check)) } else { Err(mistakes) }
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
    changed: &'a [String],
    /// Buffers of the plan about which too little is known, since they are wrong in the file.
    unknown: Vec<usize>,
    mistakes: RefCell<Vec<LaunchFileError>>,
}

impl Resolver<'_> {
    /// The value of a part; otherwise its mistake is kept.
    fn keep<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Failed::Mistake(mistake)) => {
                self.mistakes.borrow_mut().push(*mistake);
                None
            }
            Err(Failed::Follows) => None,
        }
    }

    /// Every part, or none of them where a mistake of one is kept.
    fn keep_all<T>(&self, results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
        let (mut all, mut complete) = (Vec::new(), true);
        for result in results {
            let kept = self.keep(result);
            complete &= kept.is_some();
            all.extend(kept);
        }
        if complete { Ok(all) } else { Err(Failed::Follows) }
    }

    fn evaluate(&self, expression: &Expression, place: &Place) -> Result<i64> {
        expression.evaluate(&self.plan.parameters).map_err(|error| place.mistake(error))
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
            Err(place.mistake(Problem::OutOfRange { what, value, low, high }))
        }
    }

    fn requirements(&self, requirements: &[Spanned<document::Requirement>]) {
        for (index, requirement) in requirements.iter().enumerate() {
            let place = self.source.place(requirement.span(), format!("require[{index}]"));
            self.keep(self.requirement(requirement.get_ref(), &place));
        }
    }

    fn requirement(&self, requirement: &document::Requirement, place: &Place) -> Result<()> {
        let (what, formula, zero) = match (&requirement.zero, &requirement.positive) {
            (Some(formula), None) => ("zero", formula, true),
            (None, Some(formula)) => ("positive", formula, false),
            (zero, _) => {
                let found = if zero.is_some() { 2 } else { 0 };
                let fields = "`zero`, `positive`";
                return Err(place.mistake(Problem::ExactlyOne { fields, found }));
            }
        };
        let value = self.evaluate(&formula.0, place)?;
        let holds = if zero { value == 0 } else { value > 0 };
        if holds {
            return Ok(());
        }
        let parameters: Vec<String> =
            self.plan.parameters.iter().map(|(name, v)| format!("{name} = {v}")).collect();
        Err(place.mistake(Problem::Requirement {
            what,
            expression: formula.0.to_string(),
            value,
            parameters: parameters.join(", "),
            because: requirement.because.clone(),
        }))
    }

    /// The buffer with this number, if enough is known of it.
    fn known(&self, buffer: usize) -> Result<&BufferPlan> {
        if self.unknown.contains(&buffer) {
            return Err(Failed::Follows);
        }
        Ok(&self.plan.buffers[buffer])
    }

    fn buffer(&self, name: &str, place: &Place) -> Result<usize> {
        self.plan.buffer(name).ok_or_else(|| {
            let known = list(self.plan.buffers.iter().map(|buffer| buffer.name.as_str()));
            place.mistake(Problem::UnknownName { what: "buffer", name: name.to_owned(), known })
        })
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let (mut names, mut seen): (Vec<&str>, _) = (names.collect(), BTreeSet::new());
    names.retain(|name| seen.insert(*name));
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
