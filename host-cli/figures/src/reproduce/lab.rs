//! Lab: what the figures need, each input executed once for all of them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use strata_compiler::Order;
use strata_core::sm::expansion::Threshold;

use strata_design::{Design, file, resolve};
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::parallel;
use strata_measure::subject::{self, Subject};
use strata_measure::{self as measure, Request};
use strata_report::RunReport;
use strata_report::table::mean as average;
use strata_study::study::storage;
use strata_study::study::storage::Figure;
use strata_study::study::{Input, active_warps, residency};
use strata_workload::{self as workload, Group, Toolchain};

/// A design of a figure: what it is called here, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Name.
    pub name: String,
    /// The text of a design file; none of a design that the registry names.
    pub file: Option<String>,
}

impl Wanted {
    /// A design of the registry.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), file: None }
    }

    /// A design of a file.
    pub fn file(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), file: Some(text.into()) }
    }

    fn resolved(&self) -> Result<Design, Failure> {
        Ok(match &self.file {
            None => resolve(&self.name)?,
            Some(text) => file::parse(&self.name, text)?,
        })
    }
}

/// Which inputs run under a figure's designs, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runs {
    /// The suite, counted.
    Counted,
    /// The suite, in time.
    Timed,
    /// Every group but `registers`, in time.
    General,
    /// Group `registers`, in time.
    Registers,
}

impl Runs {
    const fn mode(self) -> Mode {
        match self {
            Self::Counted => Mode::Count,
            Self::Timed | Self::General | Self::Registers => Mode::Cycle,
        }
    }

    fn inputs(self, scale: Scale) -> Vec<(&'static str, Source)> {
        let usual = |name| (name, Source::of(scale));
        match self {
            Self::Counted | Self::Timed => workload::names().map(usual).collect(),
            Self::General => [Group::Suite, Group::Extra, Group::Storage]
                .into_iter()
                .flat_map(Group::names)
                .map(usual)
                .collect(),
            Self::Registers => KERNELS
                .map(|(name, registers)| {
                    let ptx = Some(Toolchain::Nvcc32);
                    let registers = Some(registers);
                    (name, Source { ptx, registers, ..Source::of(scale) })
                })
                .into(),
        }
    }
}

/// The kernels of group `registers`, which run with 32-bit addresses, in no more registers of a
/// thread than `[EXPARS]` Table 3 gives the kernels with the same CTAs.
pub const KERNELS: [(&str, u16); 9] = [
    ("lbm", 36),
    ("stencil", 28),
    ("hotspot16", 36),
    ("btree", 24),
    ("convolution", 24),
    ("xorwow", 24),
    ("mergesort", 24),
    ("quasirandom", 32),
    ("pathgen", 28),
];

/// What has run.
pub struct Lab<'p> {
    /// Size of the inputs.
    pub scale: Scale,
    jobs: usize,
    notes: &'p dyn Notes,
    reports: BTreeMap<Runs, Vec<RunReport>>,
    storage: BTreeMap<&'static str, OnceLock<storage::Study>>,
    residency: OnceLock<residency::Study>,
    active_warps: OnceLock<active_warps::Study>,
}

impl<'p> Lab<'p> {
    /// Runs all designs that the figures want.
    ///
    /// # Errors
    /// A workload that does not run, or an unknown design.
    pub fn new(
        scale: Scale,
        jobs: usize,
        wanted: &BTreeMap<Runs, Vec<Wanted>>,
        notes: &'p dyn Notes,
    ) -> Result<Self, Failure> {
        let mut reports = BTreeMap::new();
        for (&runs, designs) in wanted {
            let designs: Vec<Design> =
                designs.iter().map(Wanted::resolved).collect::<Result<_, _>>()?;
            let all = measured(&runs.inputs(scale), runs.mode(), &designs, (jobs, notes))?;
            reports.insert(runs, all);
        }
        Ok(Self {
            scale,
            jobs,
            notes,
            reports,
            storage: Figure::ALL.iter().map(|one| (one.name(), OnceLock::new())).collect(),
            residency: OnceLock::new(),
            active_warps: OnceLock::new(),
        })
    }

    /// The reports of a design, in the order of the workloads.
    pub fn of<'a>(&'a self, runs: Runs, design: &'a str) -> impl Iterator<Item = &'a RunReport> {
        let all = self.reports.get(&runs).map_or(&[][..], Vec::as_slice);
        all.iter().filter(move |report| report.design == design)
    }

    /// A ratio's mean over the workloads; none where a workload has none.
    pub fn mean(&self, runs: Runs, design: &str, key: &str) -> Option<f64> {
        average(self.of(runs, design).map(|report| report.derived.get(key).copied().flatten()))
    }

    /// The mean over the workloads of some counters' sum, in percent of one of another design.
    pub fn share(
        &self,
        runs: Runs,
        (design, counters): (&str, &[&str]),
        (other, counter): (&str, &str),
    ) -> Option<f64> {
        let sum = |report: &RunReport, names: &[&str]| {
            names.iter().map(|&name| report.counters.get(name).copied()).sum::<Option<u64>>()
        };
        average(self.of(runs, design).zip(self.of(runs, other)).map(|(own, of)| {
            let (own, of) = (sum(own, counters)?, sum(of, &[counter])?);
            (of != 0).then(|| 100.0 * own as f64 / of as f64)
        }))
    }

    /// A figure of the storage study, of the inputs that it has by itself.
    pub fn storage(&self, figure: Figure) -> Result<&storage::Study, Failure> {
        once(&self.storage[figure.name()], || {
            let args = Source::of(self.scale);
            let inputs = self.workloads(figure.inputs().iter().map(String::as_str), &args)?;
            let request = Request::new(&args)?.in_mode(Mode::Cycle);
            storage::run(figure, &inputs, &request, self.jobs, self.notes)
        })
    }

    /// Resident CTAs of every kernel, at the default size whatever the lab's: nothing runs.
    pub fn residency(&self) -> Result<&residency::Study, Failure> {
        once(&self.residency, || {
            let args = Source::of(Scale::Default);
            let inputs = self.workloads(workload::all_names(), &args)?;
            let request = Request::new(&args)?;
            residency::run(&inputs, Threshold::PAPER, &request, self.jobs, self.notes)
        })
    }

    /// IPC by active warps, in the order of the PTX and scheduled.
    pub fn active_warps(&self) -> Result<&active_warps::Study, Failure> {
        once(&self.active_warps, || {
            let args = Source::of(self.scale);
            let request = Request::new(&args)?;
            let input = |name| {
                let subject = Subject::new(name, &args, self.notes)?;
                Ok::<_, Failure>(Input { subject, request: request.clone() })
            };
            let inputs = workload::names().map(input).collect::<Result<Vec<_>, _>>()?;
            let axes = active_warps::Axes {
                designs: vec![resolve("isca11")?],
                schedulers: Vec::new(),
                alu_latencies: Vec::new(),
                orders: vec![Order::Ptx, Order::ScheduledRenamed],
                sizes: strata_study::active_set::DEFAULT_SIZES
                    .split(',')
                    .map(|size| size.parse().map_err(|_| Failure::internal("a size of the set")))
                    .collect::<Result<_, _>>()?,
            };
            active_warps::run(&[axes], &inputs, self.jobs, self.notes)
        })
    }

    fn workloads<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        args: &Source,
    ) -> Result<Vec<workload::Workload>, Failure> {
        names.map(|name| subject::workload(name, args, self.notes)).collect()
    }
}

/// What is made when it is first asked for.
fn once<V>(place: &OnceLock<V>, make: impl FnOnce() -> Result<V, Failure>) -> Result<&V, Failure> {
    if let Some(made) = place.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(place.get_or_init(|| made))
}

/// Workloads under designs, each executed once; the reports in the order of workloads and designs,
/// with the workloads' plain names.
///
/// # Errors
/// A workload that does not run.
pub fn measured(
    inputs: &[(&str, Source)],
    mode: Mode,
    designs: &[Design],
    (jobs, notes): (usize, &dyn Notes),
) -> Result<Vec<RunReport>, Failure> {
    let one = |(name, args): &(&str, Source)| {
        let request = Request::new(args)?.in_mode(mode).for_designs(designs);
        let workload = subject::workload(name, args, notes)?;
        let mut reports = measure::reports(&workload, designs, &request, notes)?;
        for report in &mut reports {
            (*name).clone_into(&mut report.workload);
        }
        Ok(reports)
    };
    Ok(parallel::each(inputs, jobs, notes, |(name, _)| name, one)?.into_iter().flatten().collect())
}
