//! Phases and launches, in the order of the file.

use strata_ptx::module::Function;
use toml::Spanned;

use super::super::buffer::Contents;
use super::super::document::{self, Document, Formula};
use super::super::error::Problem;
use super::super::expression::Expression;
use super::super::parameter::accepts;
use super::super::plan::{LaunchTemplate, PhasePlan, Place, Repeat};
use super::arguments::of_parameter;
use super::contents::constant;
use super::{MAX_LAUNCHES, MAX_RESET_BYTES, Resolver, Result, list};
use crate::kernel_name;

impl Resolver<'_> {
    /// All steps, in the order of the file: the two kinds are merged by their places.
    pub(super) fn phases(&mut self, document: &Document) -> Result<()> {
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
            let template = match argument.get_ref() {
                document::Argument::Number(number) => of_parameter(*number, parameter, &place)?,
                argument => self.argument(argument, &place)?,
            };
            if let Err((expected, found)) = accepts(parameter, &template, self.module.address_bits)
            {
                let kernel = function.name.clone();
                return Err(place.error(Problem::ArgumentType { kernel, index, expected, found }));
            }
            arguments.push((template, place));
        }
        let grid_unit = function.launch.ctas_of_grid_unit();
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
        let cooperative = launch.cooperative;
        Ok(LaunchTemplate { kernel, grid, grid_unit, block, shared, cooperative, arguments })
    }

    fn kernel(&self, name: &str, place: &Place) -> Result<&Function> {
        let kernels = || self.module.kernels().map(|(_, function)| function);
        let names = || kernels().map(|function| function.name.as_str());
        let found = kernel_name::find(names(), name).map_err(|meant| {
            let name = name.to_owned();
            place.error(if meant.is_empty() {
                Problem::UnknownName { what: "kernel", name, known: list(names()) }
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
            return Err(place.error(Problem::Dimensions { found }));
        }
        Ok((dimensions.get_ref().iter().map(|formula| formula.0.clone()).collect(), place))
    }
}
