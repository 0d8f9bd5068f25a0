//! Measurement: one subject executed once, counted under every design, as reports.

mod batch;
mod embed;
mod replay;
mod spills;
mod tape;

use rayon::prelude::*;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_compiler::program::{Image, Program};
use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::organisation::Organisation;
use strata_core::placement::Placement;
use strata_core::sm::config::Residency;
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::value_usage::ValueUsage;
use strata_simt::paths::PathDictionary;
use strata_simt::{AccessDictionary, BarrierDictionary};

use crate::cli::{Mode, SourceArgs};
use crate::crossings::Crossings;
use crate::design::Design;
use crate::evaluate::{self, EvaluateError};
use crate::failure::Failure;
use crate::levels::{self, Fitted, Levels};
use crate::printer::Printer;
use crate::report::{self, Check, LaunchReport, RunReport, derived};
use crate::subject;
use crate::timeline::{self, About, Code, Timeline};
use crate::timing::{TimedLaunch, TimingError, time_launch};
use crate::workload::simulate::{LaunchRecord, Options, Prepared};
use crate::workload::{Overrides, Workload};

pub(crate) use batch::each_launch;
use batch::{Executed, each_batch};
pub use embed::embed;
pub(crate) use replay::each_recorded_launch;
pub use replay::trace_reports;
pub use spills::SpillTraffic;
pub use tape::record;

/// What to execute and which part of it to count, validated.
#[derive(Clone, Debug)]
pub struct Request {
    /// Size by name.
    pub size: String,
    /// Parameters that replace the size's.
    pub overrides: Overrides,
    /// Which part of it to count, and when to give up.
    pub options: Options,
    /// What is simulated.
    pub mode: Mode,
    /// What to draw of it, with one design and in cycle mode.
    pub timeline: Option<timeline::Request>,
    /// The options in their normal form, for the command in the report.
    words: Vec<String>,
}

impl Request {
    /// Checks the options.
    pub fn new(args: &SourceArgs) -> Result<Self, Failure> {
        let overrides = subject::overrides(&args.set)?;
        let mut words = vec!["--scale".to_owned(), args.scale.name().to_owned()];
        for (name, value) in &overrides {
            words.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        if args.schedule {
            words.push("--schedule".to_owned());
        }
        for (option, value) in [
            ("registers", args.registers.map(|registers| registers.to_string())),
            ("kernel", args.kernel.clone()),
            ("launch-index", args.launch_index.map(|index| index.to_string())),
            ("cta", args.cta.map(|cta| cta.to_string())),
        ] {
            if let Some(value) = value {
                words.extend([format!("--{option}"), value]);
            }
        }
        Ok(Self {
            size: args.scale.name().to_owned(),
            overrides,
            options: Options {
                kernel: args.kernel.clone(),
                launch_index: args.launch_index,
                cta: args.cta,
                max_instructions: args.max_instructions,
                accesses: false,
            },
            mode: Mode::Count,
            timeline: None,
            words,
        })
    }

    /// The options in their normal form.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The same in another mode.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self.options.accesses = mode == Mode::Cycle;
        if mode == Mode::Cycle {
            self.words.splice(0..0, ["--mode", "cycle"].map(str::to_owned));
        }
        self
    }

    /// The same with a drawing.
    #[must_use]
    pub fn with_timeline(mut self, timeline: Option<timeline::Request>) -> Self {
        self.timeline = timeline;
        self
    }
}

/// One recorded launch, whether it was executed or read from a trace.
pub(crate) struct Counted<'a> {
    index: u64,
    kernel: &'a str,
    pub(crate) grid: [u32; 3],
    block: [u32; 3],
    /// Unit: 32-bit registers per thread.
    registers: u16,
    image: &'a Image,
    paths: &'a PathDictionary,
    /// What memory instructions moved, for cycle mode.
    accesses: &'a AccessDictionary,
    /// Where its warps arrived at barriers, if that was recorded.
    barriers: Option<&'a BarrierDictionary>,
    /// Shared memory of a CTA, static and dynamic. Unit: bytes.
    shared_bytes: u32,
    /// What its instructions are called.
    code: Code<'a>,
}

impl<'a> Counted<'a> {
    /// A launch that was executed from a PTX text.
    fn executed(launch: &'a Executed<'_>, text: &'a str) -> Self {
        Self {
            index: launch.index,
            kernel: &launch.program.name,
            grid: launch.grid,
            block: launch.block,
            registers: launch.program.general_registers,
            image: &launch.program.image,
            paths: &launch.outcome.paths,
            accesses: &launch.outcome.accesses,
            barriers: Some(&launch.outcome.barriers),
            shared_bytes: u32::try_from(launch.program.shared_bytes)
                .unwrap_or(u32::MAX)
                .saturating_add(launch.dynamic_shared),
            code: Code::Ptx(launch.program, text),
        }
    }

    /// Adds what spilling did, where it was executed from a program.
    pub(crate) fn add_spills(&self, spills: &mut SpillTraffic) {
        if let Some(program) = self.program() {
            spills.add(program, self.paths);
        }
    }

    /// What a timeline of the launch says about itself.
    fn about(&self, input: &str, design: &str) -> About {
        let tool = report::tool();
        let by = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        About {
            tool: format!("{} {}", tool.name, tool.version),
            input: input.to_owned(),
            design: design.to_owned(),
            kernel: self.kernel.to_owned(),
            launch: self.index.to_string(),
            grid: by(self.grid),
            block: by(self.block),
        }
    }

    /// The program that was executed, if it was one.
    pub(crate) fn program(&self) -> Option<&'a Program> {
        match self.code {
            Code::Ptx(program, _) => Some(program),
            Code::Traced(_) => None,
        }
    }

    /// Its warps counted with its program fitted to a hierarchy.
    pub(crate) fn count_fitted(
        &self,
        count: &Organisation,
        config: &HierarchyConfig,
    ) -> Result<Counters, EvaluateError> {
        let program = self.program().ok_or(EvaluateError::NoProgram)?;
        let hierarchy = levels::fitted(program, config)?;
        let placements = Some(&*hierarchy.placements);
        let image = Fitted { image: self.image, placements };
        evaluate::count_launch(count, false, image, self.paths)
    }

    /// Its warps counted under a design, with these placements if the compiler makes them.
    pub(crate) fn count_under(
        &self,
        count: &Organisation,
        placements: Option<&[Placement]>,
    ) -> Result<Counters, EvaluateError> {
        let image = Fitted { image: self.image, placements };
        evaluate::count_launch(count, false, image, self.paths)
    }

    /// Its warps counted with the flat register file.
    pub(crate) fn count_flat(&self) -> Result<Counters, EvaluateError> {
        evaluate::count_launch(&Organisation::FLAT, false, self.image.into(), self.paths)
    }

    /// What the SM runs.
    pub(crate) fn timed(&self) -> TimedLaunch<'a> {
        TimedLaunch {
            image: self.image.into(),
            paths: self.paths,
            accesses: self.accesses,
            barriers: self.barriers,
            threads: self.block.iter().product(),
            shared_bytes: self.shared_bytes,
        }
    }
}

/// What one design has seen so far.
struct Account<'a> {
    design: &'a Design,
    total: Counters,
    /// In cycle mode.
    time: Option<SmCounters>,
    launches: Vec<LaunchReport>,
    timeline: Option<Timeline>,
    /// Of kernels that the compiler fitted to the design.
    levels: Levels,
}

/// What all designs of a subject share.
#[derive(Default)]
struct Common {
    /// Counters of the flat register file by whole warps.
    flat: Counters,
    /// The same by clusters.
    flat_clusters: Counters,
    usage: ValueUsage,
    /// With a limit of registers, what spilling adds.
    spills: Option<SpillTraffic>,
    /// What crosses the boundaries of strands that end with basic blocks, and of those that do not,
    /// where a design has them.
    crossings: [Option<Crossings>; 2],
}

/// Executes a workload once, holds its results against the host reference, and counts it under
/// every design. The reports come in the order of the designs.
pub fn reports(
    workload: &Workload,
    designs: &[Design],
    request: &Request,
    printer: &Printer,
) -> Result<Vec<RunReport>, Failure> {
    let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
    let mut accounts = accounts(designs, request)?;
    let spills = workload.registers.map(|_| SpillTraffic::default());
    let mut common = Common { spills, ..Common::default() };
    let check = each_batch(workload, &prepared, request, printer, |launches| {
        add(&mut common, &mut accounts, launches, (&workload.name, request.mode))
    })?;
    finish_timelines(&mut accounts, printer)?;
    let input = (workload.name.as_str(), workload.arguments.as_slice());
    let report = |account: Account<'_>| account.report(input, request, &common, check);
    accounts
        .into_iter()
        .map(|account| report(account).map_err(|error| failure(&workload.name, error)))
        .collect()
}

/// One account for each design. The file of a timeline is opened here, before anything runs.
fn accounts<'a>(designs: &'a [Design], request: &Request) -> Result<Vec<Account<'a>>, Failure> {
    let account = |design| {
        let timeline = request.timeline.as_ref().map(Timeline::create).transpose()?;
        let (total, launches) = (Counters::default(), Vec::new());
        let levels = Levels::default();
        Ok(Account { design, total, time: None, launches, timeline, levels })
    };
    designs.iter().map(account).collect()
}

/// Moves what was drawn to its place, now that nothing else can go wrong.
fn finish_timelines(accounts: &mut [Account<'_>], printer: &Printer) -> Result<(), Failure> {
    for timeline in accounts.iter_mut().filter_map(|account| account.timeline.take()) {
        if let Some(left_out) = timeline.finish()? {
            printer.note(&left_out);
        }
    }
    Ok(())
}

fn add(
    common: &mut Common,
    accounts: &mut [Account<'_>],
    launches: &[Counted<'_>],
    (input, mode): (&str, Mode),
) -> Result<(), EvaluateError> {
    let spills = common.spills.is_some();
    let parts: Vec<_> = launches.par_iter().map(|launch| Common::of(launch, spills)).collect();
    for part in parts {
        common.add(&part?)?;
    }
    let added: Vec<_> =
        accounts.par_iter_mut().map(|account| account.add(launches, input, mode)).collect();
    // The first error in the order of the designs, whoever was done first.
    added.into_iter().collect::<Result<(), _>>()?;
    common.add_crossings(accounts, launches)
}

/// A kernel that does not fit the SM is the input's affair, as is one that never ends in time; all
/// else is a defect.
fn failure(input: &str, error: EvaluateError) -> Failure {
    match error {
        EvaluateError::Timing(error @ TimingError::PartialWarps) => Failure::input(format!(
            "{error}\n  hint: leave it out of the design file, or run in count mode"
        )),
        EvaluateError::Timing(TimingError::Fault(fault @ Fault::Stalled { reason, .. })) => {
            let hint = match reason {
                StallReason::Barrier => {
                    "\n  hint: warps at barriers keep all places of the active set: raise \
                     `active_warps`, or set `barrier = \"always\"`"
                }
                _ => "",
            };
            Failure::input(format!("`{input}` does not end in time: {fault}{hint}"))
        }
        error @ EvaluateError::NoProgram => Failure::input(format!(
            "`{input}` cannot be counted: {error}\n  hint: run the PTX file or the workload itself"
        )),
        error @ EvaluateError::TooLarge(..) => Failure::input(format!("`{input}`: {error}")),
        EvaluateError::Timing(TimingError::TooLarge(error)) => Failure::input(format!(
            "`{input}` does not fit the design's SM: {error}\n  hint: launch smaller CTAs, or \
             give the design more in `[sm]`"
        )),
        other => Failure::internal(&other.to_string()),
    }
}

/// Energy of a design's counters; none where the design's sizes have no printed energy.
///
/// The unit of the counters must be the design's: clusters with `partial_warp_energy`.
pub fn price(
    design: &Design,
    counters: &Counters,
) -> Result<Option<EnergyBreakdown>, EvaluateError> {
    let Ok(table) = &design.energy else { return Ok(None) };
    let breakdown = if design.partial_warp_energy {
        table.energy_of_clusters(counters)
    } else {
        table.energy(counters)
    };
    Ok(Some(breakdown?))
}

/// Holds final buffers against the host reference.
fn check(prepared: &Prepared, finals: &[Vec<u8>]) -> Result<Check, Failure> {
    let comparisons = prepared
        .compare(finals)
        .map_err(|error| Failure::internal(&format!("`{}`: {error}", prepared.name)))?;
    let Some(comparisons) = comparisons else { return Ok(Check::None) };
    for comparison in &comparisons {
        if comparison.mismatches != 0 {
            return Err(Failure::check(format!(
                "`{}` computed a wrong result: {comparison}",
                prepared.name
            )));
        }
    }
    Ok(Check::Passed)
}

/// What a kernel printed, as a note.
fn printed(launch: &LaunchRecord<'_>) -> String {
    let text = String::from_utf8_lossy(&launch.outcome.printf);
    let cut = if launch.outcome.printf_truncated { "\n(the rest was dropped)" } else { "" };
    format!("kernel `{}` printed:\n{}{cut}", launch.kernel, text.trim_end())
}

/// A command line from its words, as a shell takes it.
pub(crate) fn command_line(words: &[String]) -> String {
    // Only a word with a NUL cannot be quoted, and no command line can have one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

impl Common {
    /// What one launch adds.
    fn of(launch: &Counted<'_>, with_spills: bool) -> Result<Self, EvaluateError> {
        let (image, paths) = (launch.image, launch.paths);
        let mut spills = with_spills.then(SpillTraffic::default);
        if let Some(spills) = &mut spills {
            launch.add_spills(spills);
        }
        Ok(Self {
            flat: launch.count_flat()?,
            flat_clusters: evaluate::count_launch(&Organisation::FLAT, true, image.into(), paths)?,
            usage: evaluate::launch_usage(image, paths)?,
            spills,
            ..Self::default()
        })
    }

    fn add(&mut self, part: &Self) -> Result<(), EvaluateError> {
        if let (Some(spills), Some(part)) = (&mut self.spills, &part.spills) {
            spills.merge(part);
        }
        self.flat = self.flat.checked_add(&part.flat)?;
        self.flat_clusters = self.flat_clusters.checked_add(&part.flat_clusters)?;
        self.usage.add(&part.usage, 1)?;
        Ok(())
    }

    /// Adds what crosses the strands of launches that are fitted to the designs.
    fn add_crossings(
        &mut self,
        accounts: &[Account<'_>],
        launches: &[Counted<'_>],
    ) -> Result<(), EvaluateError> {
        for (index, total) in self.crossings.iter_mut().enumerate() {
            // One for all: strands depend on nothing else of a design.
            let same = |account: &&Account<'_>| strands_of(account.design) == Some(index);
            let Some(account) = accounts.iter().find(same) else { continue };
            let of = |launch: &Counted<'_>| {
                let strands = account.levels.get(launch.kernel).map(|levels| &levels.strands);
                let strands = strands.ok_or(EvaluateError::NoProgram)?;
                evaluate::launch_crossings(launch.image, &strands.of, launch.paths)
            };
            let parts: Vec<_> = launches.par_iter().map(of).collect();
            let total = total.get_or_insert_default();
            for part in parts {
                total.add(&part?, 1)?;
            }
        }
        Ok(())
    }

    fn flat(&self, clusters: bool) -> &Counters {
        if clusters { &self.flat_clusters } else { &self.flat }
    }
}

/// Which of [`Common::crossings`] are a design's, if its hierarchy is the compiler's.
fn strands_of(design: &Design) -> Option<usize> {
    design.managed.map(|managed| usize::from(managed.forward_branches))
}

/// What one launch does on one design.
struct Measured {
    counters: Counters,
    time: Option<(SmCounters, Residency)>,
}

impl Account<'_> {
    /// Counts launches, each on a thread of its own, and adds them up in their order.
    fn add(
        &mut self,
        launches: &[Counted<'_>],
        input: &str,
        mode: Mode,
    ) -> Result<(), EvaluateError> {
        for launch in launches {
            self.levels.prepare(self.design, launch.program())?;
        }
        let mut timeline = self.timeline.take();
        let measured: Vec<_> = if timeline.is_some() {
            let one = |launch| self.measure(launch, input, mode, timeline.as_mut());
            launches.iter().map(one).collect()
        } else {
            launches.par_iter().map(|launch| self.measure(launch, input, mode, None)).collect()
        };
        self.timeline = timeline;
        for (launch, measured) in launches.iter().zip(measured) {
            self.add_one(launch, &measured?)?;
        }
        Ok(())
    }

    fn add_one(&mut self, launch: &Counted<'_>, measured: &Measured) -> Result<(), EvaluateError> {
        let Measured { counters, time } = measured;
        self.total = self.total.checked_add(counters)?;
        let mut by_name = evaluate::by_name(counters);
        if let Some((time, _)) = time {
            by_name.extend(time.iter().map(|(name, count)| (name.to_owned(), count)));
            let total = self.time.unwrap_or_default();
            self.time = Some(total.checked_add(time).ok_or(TimingError::Overflow)?);
        }
        self.launches.push(LaunchReport {
            index: launch.index,
            kernel: launch.kernel.to_owned(),
            grid: launch.grid,
            block: launch.block,
            registers: launch.registers,
            warps: launch.paths.warps().len() as u64,
            distinct_paths: launch.paths.len() as u64,
            residency: time.map(|(_, residency)| residency.into()),
            counters: by_name,
        });
        Ok(())
    }

    fn measure(
        &self,
        launch: &Counted<'_>,
        input: &str,
        mode: Mode,
        timeline: Option<&mut Timeline>,
    ) -> Result<Measured, EvaluateError> {
        let design = self.design;
        let hierarchy = self.levels.get(launch.kernel);
        let placements = hierarchy.map(|hierarchy| &*hierarchy.placements);
        let image = Fitted { image: launch.image, placements };
        if mode == Mode::Count {
            let clusters = design.partial_warp_energy;
            let counters =
                evaluate::count_launch(design.organisation(), clusters, image, launch.paths)?;
            return Ok(Measured { counters, time: None });
        }
        if design.partial_warp_energy {
            return Err(TimingError::PartialWarps.into());
        }
        let timed = TimedLaunch { image, ..launch.timed() };
        let settings = design.sm;
        let (time, residency) = match timeline {
            Some(timeline) => {
                let about = launch.about(input, &design.name);
                timeline.run(settings, &timed, launch.code, &about)?
            }
            None => time_launch(settings, &timed)?,
        };
        Ok(Measured { counters: time.accesses, time: Some((time, residency)) })
    }

    fn report(
        self,
        (name, arguments): (&str, &[String]),
        request: &Request,
        common: &Common,
        check: Check,
    ) -> Result<RunReport, EvaluateError> {
        let design = self.design;
        let energy = price(design, &self.total)?;
        let flat = common.flat(design.partial_warp_energy);
        let baseline = price(&design.baseline(), flat)?;
        let mut words = vec!["strata".to_owned(), "run".to_owned()];
        words.extend_from_slice(arguments);
        words.extend(["--design".to_owned(), design.argument.clone()]);
        words.extend_from_slice(request.words());
        let spilled =
            common.spills.map(|spills| ("instructions_relative_percent", spills.percent()));
        let mut counters = evaluate::by_name(&self.total);
        let digest = self.time.as_ref().map_or_else(|| self.total.digest(), SmCounters::digest);
        if let Some(time) = &self.time {
            counters.extend(time.iter().map(|(name, count)| (name.to_owned(), count)));
        }
        Ok(RunReport {
            schema: report::SCHEMA.to_owned(),
            tool: report::tool(),
            command: command_line(&words),
            workload: name.to_owned(),
            design: design.name.clone(),
            machine: design.machine.name.clone(),
            mode: request.mode.name().to_owned(),
            check,
            launches: self.launches,
            counters,
            digest: digest.to_string(),
            derived: derived::ratios(&derived::Inputs {
                design,
                counters: &self.total,
                flat,
                energy: energy.as_ref(),
                baseline: baseline.as_ref(),
                usage: &common.usage,
                crossings: strands_of(design).and_then(|index| common.crossings[index].as_ref()),
                time: self.time.as_ref(),
            })
            .into_iter()
            .chain(spilled.map(|(name, percent)| (name.to_owned(), percent)))
            .collect(),
            energy_fj: energy.as_ref().map(evaluate::energy_by_name),
            energy_unavailable: design.energy.as_ref().err().map(|reason| reason.0.clone()),
            assumed: design.assumed.clone(),
            changed: design.changed.clone(),
        })
    }
}
