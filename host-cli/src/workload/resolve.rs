//! From a launch file, a PTX module and a size to a launch plan: names are resolved, expressions
//! evaluated, arguments compared with the kernels' parameters.

use std::collections::BTreeMap;
use std::ops::Range;

use strata_ptx::module::{Function, Module};
use toml::Spanned;

use super::buffer::{BufferPlan, Contents, ElementType};
use super::compare::{CheckPlan, CheckedBuffer, Tolerance};
use super::document::{self, Document, Formula, Generator, Literal, Number, Real};
use super::error::{LaunchFileError, Problem};
use super::expression::{Expression, Scope};
use super::parameter::accepts;
use super::plan::{
    ArgumentTemplate, LaunchPlan, LaunchTemplate, PhasePlan, Place, Repeat, ScalarKind,
};
use super::suffix_tree::tree_words;
use super::{names, real, reference};
use crate::config::place::Position;
use crate::config::strict;
use crate::config::suggest::nearest_listed;

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
}

impl Source<'_> {
    /// Reads the document.
    pub(super) fn parse(self) -> Result<Document> {
        let document = strict::from_str(self.text).map_err(|error: toml::de::Error| {
            let position = error.span().map(|span| Position::of(self.text, span.start));
            let mut message = error.message().trim_end().replace('\n', "; ");
            if let Some(near) = nearest_listed(error.message()) {
                message = format!("{message}; did you mean `{near}`?");
            }
            let problem = Problem::Syntax(message);
            Place { file: self.file.to_owned(), position, key: String::new() }.error(problem)
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
    parameters: Scope,
    module: &Module,
) -> Result<(LaunchPlan, Option<CheckPlan>)> {
    let mut resolver = Resolver {
        source,
        module,
        plan: LaunchPlan {
            buffers: Vec::new(),
            kernels: Vec::new(),
            parameters,
            phases: Vec::new(),
        },
    };
    resolver.requirements(&document.require)?;
    resolver.buffers(&document.buffer)?;
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

    fn buffers(&mut self, buffers: &[Spanned<document::Buffer>]) -> Result<()> {
        let mut total = 0_u64;
        for (index, buffer) in buffers.iter().enumerate() {
            let key = format!("buffer[{index}]");
            let place = self.source.place(buffer.span(), key.as_str());
            let buffer = buffer.get_ref();
            let name = buffer.name.get_ref();
            if self.plan.buffer(name).is_some() {
                let place = self.source.place(buffer.name.span(), format!("{key}.name"));
                let (what, name) = ("buffer", name.clone());
                return Err(place.error(Problem::Duplicate { what, name }));
            }
            let range = (1, i64::MAX);
            let what = "the number of elements";
            let count = self.bounded(&buffer.count, format!("{key}.count"), what, range)? as u64;
            let bytes = count.saturating_mul(buffer.element.bytes());
            total = total.saturating_add(bytes);
            if total > MAX_BUFFER_BYTES {
                return Err(place.error(Problem::TooMuchMemory { limit: MAX_BUFFER_BYTES }));
            }
            let place = self.source.place(buffer.generator.span(), format!("{key}.generator"));
            let contents =
                self.contents(buffer.generator.get_ref(), buffer.element, count, &place)?;
            let (name, element) = (name.clone(), buffer.element);
            self.plan.buffers.push(BufferPlan { name, element, count, contents });
        }
        Ok(())
    }

    fn contents(
        &self,
        generator: &Generator,
        element: ElementType,
        count: u64,
        place: &Place,
    ) -> Result<Contents> {
        let unsuitable = |generator: &'static str, because: String| {
            let element = element.name();
            place.error(Problem::Unsuitable { generator, count, element, because })
        };
        let (lowest, highest) = element.integer_range();
        let range = format!("its integers range from {lowest} to {highest}");
        match generator {
            Generator::Zero => Ok(Contents::Zero),
            Generator::Iota if count - 1 > highest as u64 => Err(unsuitable("iota", range)),
            Generator::Iota => Ok(Contents::Iota),
            Generator::Constant(literal) => {
                constant(*literal, element).map_err(|why| unsuitable("constant", why))
            }
            Generator::Uniform { .. } if !element.is_float() => {
                Err(unsuitable("uniform", "it makes floating-point numbers".to_owned()))
            }
            Generator::Uniform { low: Number(low), high: Number(high), seed } => {
                for bound in [*low, *high] {
                    real::rounded(bound, element).map_err(|why| place.error(why))?;
                }
                if low.is_finite() && high.is_finite() && low <= high && (high - low).is_finite() {
                    Ok(Contents::Uniform { low: *low, high: *high, seed: *seed })
                } else {
                    Err(unsuitable("uniform", "`low` must be finite and at most `high`".to_owned()))
                }
            }
            Generator::Integers { low, high, seed } => {
                let (low, high) = (self.evaluate(&low.0, place)?, self.evaluate(&high.0, place)?);
                if low < lowest || high > highest {
                    return Err(unsuitable("integers", range));
                }
                if low > high {
                    return Err(unsuitable("integers", "`low` must be at most `high`".to_owned()));
                }
                Ok(Contents::Integers { low, high, seed: *seed })
            }
            Generator::GraphOffsets(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(nodes) + 1 {
                    let why = format!("{nodes} nodes have {} u32 offsets", u64::from(nodes) + 1);
                    return Err(unsuitable("graph_offsets", why));
                }
                Ok(Contents::GraphOffsets { nodes, edges, seed: shape.seed })
            }
            Generator::GraphEdges(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(edges) {
                    let why = format!("{edges} edges have as many u32 targets");
                    return Err(unsuitable("graph_edges", why));
                }
                Ok(Contents::GraphEdges { nodes, edges, seed: shape.seed })
            }
            Generator::SuffixTree { letters, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let words = tree_words(letters);
                if element != ElementType::U32 || count != words {
                    let why = format!("the tree of {letters} letters has {words} u32 words");
                    return Err(unsuitable("suffix_tree", why));
                }
                Ok(Contents::SuffixTree { letters, seed: *seed })
            }
            Generator::Reads { letters, each, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let each = self.size("the number of a read's letters", each, place)?;
                if element != ElementType::U8 {
                    return Err(unsuitable("reads", "letters are of type u8".to_owned()));
                }
                Ok(Contents::Reads { letters, each, seed: *seed })
            }
        }
    }

    fn graph(&self, shape: &document::GraphShape, place: &Place) -> Result<(u32, u32)> {
        Ok((
            self.size("the number of nodes", &shape.nodes, place)?,
            self.size("the number of edges", &shape.edges, place)?,
        ))
    }

    /// How large something that a generator builds is, from 1 to [`MAX_GRAPH`].
    fn size(&self, what: &'static str, formula: &Formula, place: &Place) -> Result<u32> {
        let value = self.evaluate(&formula.0, place)?;
        let high = MAX_GRAPH;
        u32::try_from(value)
            .ok()
            .filter(|_| (1..=high).contains(&value))
            .ok_or_else(|| place.error(Problem::OutOfRange { what, value, low: 1, high }))
    }

    /// All steps, in the order of the file: the two kinds are merged by their places.
    fn phases(&mut self, document: &Document) -> Result<()> {
        let launches = document.launch.iter().enumerate().map(|(index, step)| {
            let phase = step.get_ref().clone().into_phase(step.span());
            (step.span(), phase, format!("launch[{index}]"), true)
        });
        let phases = document.phase.iter().enumerate().map(|(index, phase)| {
            (phase.span(), phase.get_ref().clone(), format!("phase[{index}]"), false)
        });
        let mut steps: Vec<_> = launches.chain(phases).collect();
        steps.sort_by_key(|(span, ..)| span.start);
        if steps.iter().all(|(_, phase, ..)| phase.launch.is_empty()) {
            let file = self.source.file.to_owned();
            return Err(Place { file, ..Place::default() }.error(Problem::NoLaunch));
        }
        let mut total = 0_i64;
        let mut reset_bytes = 0_u64;
        for (span, phase, key, single) in steps {
            let place = self.source.place(span, key.as_str());
            let repeat = self.repeat(&phase, &key, &place)?;
            let times = match &repeat {
                Repeat::Times(times) => *times,
                Repeat::UntilZero { at_most, .. } => *at_most,
            };
            total = total.saturating_add(times as i64 * phase.launch.len() as i64);
            if total > MAX_LAUNCHES {
                let what = "the number of launches of the file";
                let problem =
                    Problem::OutOfRange { what, value: total, low: 1, high: MAX_LAUNCHES };
                return Err(place.error(problem));
            }
            let mut resets = Vec::with_capacity(phase.reset.len());
            for (index, reset) in phase.reset.iter().enumerate() {
                let place = self.source.place(reset.span(), format!("{key}.reset[{index}]"));
                resets.push(self.reset(reset.get_ref(), &place)?);
            }
            let each = resets.iter().map(|(buffer, _)| self.plan.buffers[*buffer].bytes());
            let each = each.fold(0, u64::saturating_add);
            reset_bytes = reset_bytes.saturating_add(times.saturating_mul(each));
            if reset_bytes > MAX_RESET_BYTES {
                let what = "the number of bytes that all resets write";
                let value = i64::try_from(reset_bytes).unwrap_or(i64::MAX);
                let high = MAX_RESET_BYTES as i64;
                return Err(place.error(Problem::OutOfRange { what, value, low: 0, high }));
            }
            let mut launches = Vec::with_capacity(phase.launch.len());
            for (index, launch) in phase.launch.iter().enumerate() {
                let key = if single { key.clone() } else { format!("{key}.launch[{index}]") };
                launches.push(self.launch(launch, &key)?);
            }
            self.plan.phases.push(PhasePlan { repeat, resets, launches });
        }
        if total == 0 {
            let file = self.source.file.to_owned();
            return Err(Place { file, ..Place::default() }.error(Problem::NoLaunch));
        }
        Ok(())
    }

    fn repeat(&self, phase: &document::Phase, key: &str, place: &Place) -> Result<Repeat> {
        let bound = |formula: &Spanned<Formula>, field: &str, what, low| {
            let key = format!("{key}.{field}");
            self.bounded(formula, key, what, (low, MAX_LAUNCHES)).map(|times| times as u64)
        };
        match (&phase.repeat, &phase.until_zero, &phase.at_most) {
            (None, None, None) => Ok(Repeat::Times(1)),
            (Some(times), None, None) => {
                Ok(Repeat::Times(bound(times, "repeat", "the number of repetitions", 0)?))
            }
            (None, Some(name), Some(at_most)) => {
                let place = self.source.place(name.span(), format!("{key}.until_zero"));
                let buffer = self.buffer(name.get_ref(), &place)?;
                let at_most = bound(at_most, "at_most", "the bound on the iterations", 1)?;
                Ok(Repeat::UntilZero { buffer, at_most, place })
            }
            (Some(_), Some(_), _) => {
                let fields = "`repeat`, `until_zero`";
                Err(place.error(Problem::ExactlyOne { fields, found: 2 }))
            }
            (None, Some(_), None) => {
                Err(place.error(Problem::Needs { field: "until_zero", needs: "at_most" }))
            }
            (_, None, Some(_)) => {
                Err(place.error(Problem::Needs { field: "at_most", needs: "until_zero" }))
            }
        }
    }

    fn reset(&self, reset: &document::Reset, place: &Place) -> Result<(usize, Contents)> {
        let index = self.buffer(reset.buffer.get_ref(), place)?;
        let buffer = &self.plan.buffers[index];
        let contents = constant(reset.value, buffer.element).map_err(|because| {
            let (element, count) = (buffer.element.name(), buffer.count);
            place.error(Problem::Unsuitable { generator: "value", count, element, because })
        })?;
        Ok((index, contents))
    }

    fn buffer(&self, name: &str, place: &Place) -> Result<usize> {
        self.plan.buffer(name).ok_or_else(|| {
            let known = list(self.plan.buffers.iter().map(|buffer| buffer.name.as_str()));
            place.error(Problem::UnknownName { what: "buffer", name: name.to_owned(), known })
        })
    }

    fn launch(&mut self, launch: &Spanned<document::Launch>, key: &str) -> Result<LaunchTemplate> {
        let launch = launch.get_ref();
        let place = self.source.place(launch.kernel.span(), format!("{key}.kernel"));
        let function = self.kernel(launch.kernel.get_ref(), &place)?;
        let parameters = &function.variables[..function.parameters as usize];
        if parameters.len() != launch.arguments.len() {
            return Err(place.error(Problem::ArgumentCount {
                kernel: function.name.clone(),
                expected: parameters.len(),
                found: launch.arguments.len(),
            }));
        }
        let mut arguments = Vec::with_capacity(parameters.len());
        for (index, (argument, parameter)) in launch.arguments.iter().zip(parameters).enumerate() {
            let place = self.source.place(argument.span(), format!("{key}.arguments[{index}]"));
            let template = self.argument(argument.get_ref(), &place)?;
            if let Err((expected, found)) = accepts(parameter, &template, self.module.address_bits)
            {
                let kernel = function.name.clone();
                return Err(place.error(Problem::ArgumentType { kernel, index, expected, found }));
            }
            arguments.push((template, place));
        }
        let name = function.name.clone();
        let known = self.plan.kernels.iter().position(|kernel| *kernel == name);
        let kernel = known.unwrap_or_else(|| {
            self.plan.kernels.push(name);
            self.plan.kernels.len() - 1
        });
        let shared = match &launch.shared {
            Some(shared) => {
                let place = self.source.place(shared.span(), format!("{key}.shared"));
                (shared.get_ref().0.clone(), place)
            }
            None => (Expression::number(0), place),
        };
        let grid = self.dimensions(&launch.grid, format!("{key}.grid"))?;
        let block = self.dimensions(&launch.block, format!("{key}.block"))?;
        Ok(LaunchTemplate { kernel, grid, block, shared, arguments })
    }

    fn kernel(&self, name: &str, place: &Place) -> Result<&Function> {
        let kernels = || self.module.kernels().map(|(_, function)| function);
        kernels().find(|function| function.name == name).ok_or_else(|| {
            let known = list(kernels().map(|function| function.name.as_str()));
            place.error(Problem::UnknownName { what: "kernel", name: name.to_owned(), known })
        })
    }

    fn dimensions(
        &self,
        dimensions: &Spanned<Vec<Formula>>,
        key: String,
    ) -> Result<(Vec<Expression>, Place)> {
        let place = self.source.place(dimensions.span(), key);
        let found = dimensions.get_ref().len();
        if !(1..=3).contains(&found) {
            return Err(place.error(Problem::Dimensions { found }));
        }
        Ok((dimensions.get_ref().iter().map(|formula| formula.0.clone()).collect(), place))
    }

    fn argument(&self, argument: &document::Argument, place: &Place) -> Result<ArgumentTemplate> {
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

    fn check(&self, check: &document::Check) -> Result<CheckPlan> {
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

/// A literal as the contents of a buffer of this type, or why that is impossible.
fn constant(literal: Literal, element: ElementType) -> std::result::Result<Contents, String> {
    let (lowest, highest) = element.integer_range();
    match literal {
        Literal::Integer(value) if element.is_float() => {
            let real = real::of_integer(value, element).map_err(|why| why.to_string())?;
            Ok(Contents::Real(real))
        }
        Literal::Integer(value) if (lowest..=highest).contains(&value) => {
            Ok(Contents::Integer(value))
        }
        Literal::Integer(_) => Err(format!("its integers range from {lowest} to {highest}")),
        Literal::Real(value) if element.is_float() => {
            let real = real::rounded(value, element).map_err(|why| why.to_string())?;
            Ok(Contents::Real(real))
        }
        Literal::Real(_) => Err("its elements are integers".to_owned()),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
