//! Phases and launches, in the order of the file.

use strata_ptx::module::Function;
use toml::Spanned;

use super::super::buffer::Contents;
use super::super::document::{self, Document, Formula};
use super::super::error::Problem;
use super::super::expression::Expression;
use super::super::parameter::accepts;
use super::super::plan::{ArgumentTemplate, LaunchTemplate, PhasePlan, Repeat};
use super::super::source::Place;
use super::arguments::of_parameter;
use super::contents::constant;
use super::{Failed, MAX_LAUNCHES, MAX_RESET_BYTES, Resolver, Result};
use crate::kernel_name;

/// A step of the file: a phase, with its place and key.
struct Step {
    phase: document::Phase,
    place: Place,
    /// Whether it is written as one launch.
    single: bool,
}

/// What all steps so far do together.
#[derive(Default)]
struct Totals {
    launches: i64,
    reset_bytes: i64,
    /// Whether a step does something that is not known.
    is_unknown: bool,
}

impl<'a> Resolver<'a> {
    /// All steps, in the order of the file: the two kinds are merged by their places.
    pub(super) fn phases(&mut self, document: &Document) {
        let launches = document.launch.iter().enumerate().map(|(index, step)| {
            let phase = step.get_ref().clone().into_phase(step.span());
            (step.span(), phase, format!("launch[{index}]"), true)
        });
        let phases = document.phase.iter().enumerate().map(|(index, phase)| {
            (phase.span(), phase.get_ref().clone(), format!("phase[{index}]"), false)
        });
        let mut steps: Vec<_> = launches.chain(phases).collect();
        steps.sort_by_key(|(span, ..)| span.start);
        let mut totals = Totals::default();
        for (span, phase, key, single) in steps {
            let place = self.source.place(span, key);
            let phase = self.phase(&Step { phase, place, single }, &mut totals);
            self.plan.phases.push(phase);
        }
        if totals.launches == 0 && !totals.is_unknown {
            let place = Place { file: self.source.file.to_owned(), ..Place::default() };
            self.keep(Err::<(), _>(place.mistake(Problem::NoLaunch)));
        }
    }

    /// One step. What is wrong in it has something else in its place.
    fn phase(&mut self, step: &Step, totals: &mut Totals) -> PhasePlan {
        let Step { phase, place, single } = step;
        let key = &place.key;
        let repeat = self.keep(self.repeat(phase, key, place));
        let mut times = match &repeat {
            Some(Repeat::Times(times)) => *times,
            Some(Repeat::UntilZero { at_most, .. }) => *at_most,
            None => 1,
        };
        totals.is_unknown |= repeat.is_none();
        if self.keep(add_launches(totals, times, phase.launch.len(), place)).is_none() {
            times = 1;
        }
        let resets = phase.reset.iter().enumerate().map(|(index, reset)| {
            let place = self.source.place(reset.span(), format!("{key}.reset[{index}]"));
            self.reset(reset.get_ref(), &place)
        });
        let resets = self.keep_all(resets).unwrap_or_default();
        let each = resets.iter().map(|(buffer, _)| self.plan.buffers[*buffer].bytes());
        let each = each.fold(0, u64::saturating_add);
        self.keep(add_resets(totals, times.saturating_mul(each), place));
        let mut launches = Vec::with_capacity(phase.launch.len());
        for (index, launch) in phase.launch.iter().enumerate() {
            let key = if *single { key.clone() } else { format!("{key}.launch[{index}]") };
            launches.push(self.launch(launch, &key));
        }
        PhasePlan { repeat: repeat.unwrap_or(Repeat::Times(1)), resets, launches }
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
                let buffer = self.keep(self.buffer(name.get_ref(), &place));
                let at_most = bound(at_most, "at_most", "the bound on the iterations", 1)?;
                let buffer = buffer.ok_or(Failed::Follows)?;
                Ok(Repeat::UntilZero { buffer, at_most, place })
            }
            (Some(_), Some(_), _) => {
                let fields = "`repeat`, `until_zero`";
                Err(place.mistake(Problem::ExactlyOne { fields, found: 2 }))
            }
            (None, Some(_), None) => {
                Err(place.mistake(Problem::Needs { field: "until_zero", needs: "at_most" }))
            }
            (_, None, Some(_)) => {
                Err(place.mistake(Problem::Needs { field: "at_most", needs: "until_zero" }))
            }
        }
    }

    fn reset(&self, reset: &document::Reset, place: &Place) -> Result<(usize, Contents)> {
        let index = self.buffer(reset.buffer.get_ref(), place)?;
        let buffer = self.known(index)?;
        let contents = constant(reset.value, buffer.element).map_err(|because| {
            let (element, count) = (buffer.element.name(), buffer.count);
            place.mistake(Problem::Unsuitable { generator: "value", count, element, because })
        })?;
        Ok((index, contents))
    }

    /// One launch, of which what is wrong is left out.
    fn launch(&mut self, launch: &Spanned<document::Launch>, key: &str) -> LaunchTemplate {
        let launch = launch.get_ref();
        let place = self.source.place(launch.kernel.span(), format!("{key}.kernel"));
        let function = self.keep(self.kernel(launch.kernel.get_ref(), &place));
        let arguments = self.arguments(launch, function, key, &place);
        let grid_unit = function.map_or([1; 3], |function| function.launch.ctas_of_grid_unit());
        let shared = match &launch.shared {
            Some(shared) => {
                let place = self.source.place(shared.span(), format!("{key}.shared"));
                (shared.get_ref().0.clone(), place)
            }
            None => (Expression::number(0), place),
        };
        let grid = self.keep(self.dimensions(&launch.grid, format!("{key}.grid")));
        let block = self.keep(self.dimensions(&launch.block, format!("{key}.block")));
        let (grid, block) = (grid.unwrap_or_default(), block.unwrap_or_default());
        let cooperative = launch.cooperative;
        let kernel =
            self.launched(function.map_or(launch.kernel.get_ref(), |function| &function.name));
        LaunchTemplate { kernel, grid, grid_unit, block, shared, cooperative, arguments }
    }

    /// The number of a kernel among those that are launched.
    fn launched(&mut self, name: &str) -> usize {
        let known = self.plan.kernels.iter().position(|kernel| kernel == name);
        known.unwrap_or_else(|| {
            self.plan.kernels.push(name.to_owned());
            self.plan.kernels.len() - 1
        })
    }

    /// The arguments of a launch that are right. Whether they have the types of the parameters is
    /// known if the kernel is and takes as many.
    fn arguments(
        &self,
        launch: &document::Launch,
        function: Option<&Function>,
        key: &str,
        place: &Place,
    ) -> Vec<(ArgumentTemplate, Place)> {
        let parameters = function.and_then(|function| {
            let parameters = &function.variables[..function.parameters as usize];
            let found = launch.arguments.len();
            if parameters.len() == found {
                return Some((function, parameters));
            }
            let (kernel, expected) = (function.name.clone(), parameters.len());
            let problem = Problem::ArgumentCount { kernel, expected, found };
            self.keep(Err::<(), _>(place.mistake(problem)));
            None
        });
        let arguments = launch.arguments.iter().enumerate().map(|(index, argument)| {
            let place = self.source.place(argument.span(), format!("{key}.arguments[{index}]"));
            let parameter = parameters.map(|(function, all)| (function, &all[index]));
            let template = match (argument.get_ref(), parameter) {
                (document::Argument::Number(number), Some((_, parameter))) => {
                    of_parameter(*number, parameter, &place)?
                }
                (document::Argument::Number(_), None) => return Err(Failed::Follows),
                (argument, _) => self.argument(argument, &place)?,
            };
            let Some((function, parameter)) = parameter else { return Ok((template, place)) };
            match accepts(parameter, &template, self.module.address_bits) {
                Ok(()) => Ok((template, place)),
                Err((expected, found)) => {
                    let kernel = function.name.clone();
                    Err(place.mistake(Problem::ArgumentType { kernel, index, expected, found }))
                }
            }
        });
        arguments.filter_map(|argument| self.keep(argument)).collect()
    }

    fn kernel(&self, name: &str, place: &Place) -> Result<&'a Function> {
        let module = self.module;
        let kernels = || module.kernels().map(|(_, function)| function);
        let names = || kernels().map(|function| function.name.as_str());
        let found = kernel_name::find(names(), name).map_err(|meant| {
            let name = name.to_owned();
            place.mistake(if meant.is_empty() {
                Problem::UnknownName { what: "kernel", name, known: kernel_name::list(names()) }
            } else {
                Problem::SeveralKernels { name, meant: meant.join("; ") }
            })
        })?;
        Ok(kernels().find(|function| function.name == found).expect("one of the names"))
    }

    fn dimensions(
        &self,
        dimensions: &Spanned<Vec<Formula>>,
        key: String,
    ) -> Result<(Vec<Expression>, Place)> {
        let place = self.source.place(dimensions.span(), key);
        let found = dimensions.get_ref().len();
        if !(1..=3).contains(&found) {
            return Err(place.mistake(Problem::Dimensions { found }));
        }
        Ok((dimensions.get_ref().iter().map(|formula| formula.0.clone()).collect(), place))
    }
}

/// Counts the launches of a step, which must not be too many.
fn add_launches(totals: &mut Totals, times: u64, launches: usize, place: &Place) -> Result<()> {
    let before = totals.launches;
    totals.launches = before.saturating_add(times as i64 * launches as i64);
    refuse_above(
        MAX_LAUNCHES,
        before,
        totals.launches,
        1,
        "the number of launches of the file",
        place,
    )
}

/// Counts the bytes that a step's resets write, which must not be too many.
fn add_resets(totals: &mut Totals, bytes: u64, place: &Place) -> Result<()> {
    let before = totals.reset_bytes;
    totals.reset_bytes = before.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
    let what = "the number of bytes that all resets write";
    refuse_above(MAX_RESET_BYTES as i64, before, totals.reset_bytes, 0, what, place)
}

/// Refuses a sum above its limit at the first step that exceeds it.
fn refuse_above(
    high: i64,
    before: i64,
    value: i64,
    low: i64,
    what: &'static str,
    place: &Place,
) -> Result<()> {
    if before > high || value <= high {
        return Ok(());
    }
    Err(place.mistake(Problem::OutOfRange { what, value, low, high }))
}
