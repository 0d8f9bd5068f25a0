//! Shared inputs: executed or read once, and counted under any number of designs, each a point of a
//! sweep.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use strata_core::sm::partition::Needs;
use strata_simt::LaunchOutcome;

use crate::account::{Account, add_to, baseline_runs, fastest, with_baselines};
use crate::baselines::{Baselines, KnownBaseline};
use crate::batch::{each_batch, each_executed, held};
use crate::common::Common;
use crate::counted::Counted;
use crate::evaluate::EvaluateError;
use crate::launched::{Executed, Launched};
use crate::notes::{Notes, Silent};
use crate::options::Mode;
use crate::refusal::failure;
use crate::replay::{Replayed, each_recorded_batch, each_replayed, recorded_needs, unfit};
use crate::report::{Check, RunReport};
use crate::request::Request;
use crate::spill::{Mark, Spill};
use crate::spills::SpillTraffic;
use crate::storage_energy::{self, StorageBaseline};
use crate::subject::{self, Subject};
use strata_design::Design;
use strata_files::failure::Failure;
use strata_workload::simulate::Prepared;

/// What a step of a path, a warp or an access takes in memory, about. Unit: bytes.
const HELD_BYTES: usize = 16;

/// An input whose launches serve all designs.
pub(crate) struct SharedInput {
    subject: Subject,
    request: Request,
    /// None of a trace.
    prepared: Option<Prepared>,
    kernels: Vec<Needs>,
    /// All launches, where they fit the memory that they may take.
    kept: Option<Vec<Kept>>,
    /// What they were, where they do not fit it and a recording can have them.
    marks: Option<Vec<Mark>>,
    /// The recording that has them.
    spill: Option<Spill>,
    common: Common,
    check: Check,
    /// What was assumed about opcodes of a trace.
    assumed: Vec<String>,
    /// Baselines that a point has timed.
    baselines: Mutex<Vec<KnownBaseline>>,
}

/// A launch, or a part of one.
enum Kept {
    Executed(Box<KeptLaunch>),
    Replayed(u64, Box<Replayed>),
}

/// A launch that was executed.
struct KeptLaunch {
    about: Launched,
    outcome: LaunchOutcome,
}

/// A design while the launches of an input come.
struct Point<'a> {
    design: &'a Design,
    baselines: &'a [StorageBaseline],
    accounts: Result<Vec<Account<'a>>, Failure>,
    common: Common,
}

impl SharedInput {
    /// Executes or reads an input, and compares its results. With `needs` what its kernels need of
    /// an SM's storage is found out as well, for designs that depend on it. Its launches are kept
    /// if they take at most `most_bytes`, about; otherwise each call of [`Self::each`] executes it
    /// again, or reads what [`Self::spill`] has written.
    ///
    /// # Errors
    /// A workload that cannot be prepared, executed or compared, a trace that cannot be read, or
    /// launches that cannot be counted; no design is to blame.
    pub(crate) fn new(
        subject: Subject,
        request: Request,
        (needs, most_bytes): (bool, usize),
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let mut keeping = Keeping::new(most_bytes, request.mode);
        let mut common = Common::default();
        match &subject {
            Subject::Workload(workload) => {
                let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
                let kernels = if needs { prepared.needs() } else { Ok(Vec::new()) };
                let kernels = kernels.map_err(|error| subject::run_error(workload, &error))?;
                common.spills = workload.options.registers.map(|_| SpillTraffic::default());
                let ended = each_executed(workload, &prepared, &request, notes, |batch| {
                    let source = (&prepared.module, &*workload.ptx);
                    let launches = batch.iter().map(|of| Counted::executed(of, source));
                    common.add_launches(&launches.collect::<Vec<_>>())?;
                    for launch in batch {
                        keeping.add(Kept::of(launch));
                    }
                    Ok(())
                })?;
                let prepared = Some(prepared);
                Ok(Self::with(
                    subject,
                    request,
                    (prepared, kernels),
                    (keeping, common, ended.check),
                ))
            }
            Subject::Trace(input) => {
                let kernels =
                    if needs { recorded_needs(input, request.reach)? } else { Vec::new() };
                let assumed = each_replayed(input, &request, notes, |batch| {
                    let launches = batch.iter().map(|(index, launch)| launch.counted(*index));
                    common.add_launches(&launches.collect::<Vec<_>>())?;
                    let kept = batch.into_iter().map(|(index, of)| Kept::Replayed(index, of));
                    kept.for_each(|launch| keeping.add(launch));
                    Ok(())
                })?;
                let gathered = (keeping, common, Check::Replayed);
                let input = Self::with(subject, request, (None, kernels), gathered);
                Ok(Self { assumed: assumed.into_iter().collect(), ..input })
            }
        }
    }

    fn with(
        subject: Subject,
        request: Request,
        (prepared, kernels): (Option<Prepared>, Vec<Needs>),
        (keeping, common, check): (Keeping, Common, Check),
    ) -> Self {
        Self {
            subject,
            request,
            prepared,
            kernels,
            kept: keeping.kept,
            marks: keeping.marks,
            spill: None,
            common,
            check,
            assumed: Vec::new(),
            baselines: Mutex::default(),
        }
    }

    /// Whether its launches are in memory, so that a call of [`Self::each`] costs nothing but its
    /// designs.
    pub(crate) const fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Writes launches that are not kept into a recording in a folder, unless it is there. Those of
    /// traces and recordings are there already, and what no recording can have is executed again:
    /// in cycle mode barriers with names of their own, and more than a recording's limits.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn spill(&mut self, folder: &Path) -> Result<(), Failure> {
        if let (Subject::Workload(workload), Some(prepared)) = (&self.subject, &self.prepared)
            && let (None, Some(marks)) = (&self.kept, self.marks.take())
        {
            self.spill = Spill::write(folder, marks, (workload, prepared), &self.request)?;
        }
        Ok(())
    }

    /// Counts it under every design, on as many threads as there are, and tells `done` what came
    /// out of each, by its place among them. Once `stop` says so, nothing is begun any more.
    pub(crate) fn each(
        &self,
        designs: &[&Design],
        notes: &dyn Notes,
        stop: impl Fn() -> bool + Sync,
        done: impl Fn(usize, Result<RunReport, Failure>) + Sync,
    ) {
        if let Some(kept) = &self.kept {
            let launches: Vec<_> = kept.iter().map(|launch| self.counted(launch)).collect();
            let one = |(place, design): (usize, &&Design)| {
                if !stop() {
                    done(place, self.report(design, &launches));
                }
            };
            designs.par_iter().enumerate().with_max_len(1).for_each(one);
        } else if !stop() {
            let reports = self.again(designs, notes);
            reports.into_iter().enumerate().for_each(|(place, report)| done(place, report));
        }
    }

    /// One design over the launches that are kept.
    fn report(&self, design: &Design, launches: &[Counted<'_>]) -> Result<RunReport, Failure> {
        let baselines = self.baselines_of(design);
        let mut point = self.begin(design, &baselines);
        let known = self.baselines.lock().unwrap_or_else(PoisonError::into_inner).clone();
        point.common.baselines = Baselines::whole(&known);
        self.add(&mut point, launches);
        let new: Vec<_> = point.common.baselines.new_ones().collect();
        self.baselines.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        self.finish(point)
    }

    /// Reads what was spilled, or executes or reads the input again, for these designs. What it
    /// prints was printed before.
    fn again(&self, designs: &[&Design], notes: &dyn Notes) -> Vec<Result<RunReport, Failure>> {
        let baselines: Vec<_> = designs.iter().map(|design| self.baselines_of(design)).collect();
        let begin = || {
            let points = designs.iter().zip(&baselines);
            points.map(|(design, own)| self.begin(design, own)).collect::<Vec<_>>()
        };
        let mut points = begin();
        if self.count_spilled(&mut points, notes) {
            return points.into_iter().map(|point| self.finish(point)).collect();
        }
        let mut points = begin();
        let silent = Silent;
        let add = |launches: &[Counted<'_>]| {
            points.par_iter_mut().for_each(|point| self.add(point, launches));
            Ok(())
        };
        let again = match (&self.subject, &self.prepared) {
            (Subject::Workload(workload), Some(prepared)) => {
                each_batch(workload, prepared, &self.request, &silent, add).map(|_| ())
            }
            (subject, _) => {
                each_recorded_batch(subject.name(), &self.request, &silent, add).map(|_| ())
            }
        };
        let failed = again.err().map(|failure| failure.message().to_owned());
        let result = |point| match &failed {
            Some(message) => Err(Failure::input(message.clone())),
            None => self.finish(point),
        };
        points.into_iter().map(result).collect()
    }

    /// Counts what was spilled. Returns whether there was such a thing; otherwise the points have
    /// seen something else.
    fn count_spilled(&self, points: &mut [Point<'_>], notes: &dyn Notes) -> bool {
        let spilled = (&self.spill, &self.subject, &self.prepared);
        let (Some(spill), Subject::Workload(workload), Some(prepared)) = spilled else {
            return false;
        };
        let read = spill.each_batch((workload, prepared), &self.request, |launches| {
            points.par_iter_mut().for_each(|point| self.add(point, launches));
        });
        if let Err(unusable) = &read {
            notes.note(&format!("{unusable}; `{}` is executed again", self.subject.name()));
        }
        read.is_ok()
    }

    fn baselines_of(&self, design: &Design) -> Vec<StorageBaseline> {
        let has_program = self.prepared.is_some();
        let designs = std::slice::from_ref(design);
        storage_energy::baselines(designs, (self.request.mode, has_program), &self.kernels)
    }

    fn begin<'a>(&self, design: &'a Design, baselines: &'a [StorageBaseline]) -> Point<'a> {
        let designs = std::slice::from_ref(design);
        let input = (self.subject.name(), self.kernels.as_slice());
        let accounts = with_baselines((designs, baselines), &self.request, input);
        Point { design, baselines, accounts, common: self.common.of_all_designs() }
    }

    fn add(&self, point: &mut Point<'_>, launches: &[Counted<'_>]) {
        let Ok(accounts) = &mut point.accounts else { return };
        let input = (self.subject.name(), self.request.mode);
        if let Err(error) = add_to(&mut point.common, accounts, launches, input) {
            point.accounts = Err(self.failure(error));
        }
    }

    fn finish(&self, point: Point<'_>) -> Result<RunReport, Failure> {
        let Point { design, baselines, accounts, common } = point;
        let accounts = fastest(accounts?);
        let runs = baseline_runs(baselines, &accounts);
        let (account, tried) = accounts
            .into_iter()
            .next()
            .ok_or_else(|| Failure::internal(&format!("`{}` has no account", design.name)))?;
        let input = (self.subject.name(), self.subject.arguments());
        let told = (self.check, tried, &runs);
        let report = account.report(input, &self.request, &common, told);
        let mut report = report.map_err(|error| self.failure(error))?;
        report.assumed.extend(self.assumed.iter().cloned());
        Ok(report)
    }

    fn failure(&self, error: EvaluateError) -> Failure {
        match &self.subject {
            Subject::Workload(workload) => failure(&workload.name, error),
            Subject::Trace(input) => unfit(input, error),
        }
    }

    fn counted<'a>(&'a self, launch: &'a Kept) -> Counted<'a> {
        match (launch, &self.subject, &self.prepared) {
            (Kept::Replayed(index, launch), ..) => launch.counted(*index),
            (Kept::Executed(launch), Subject::Workload(workload), Some(prepared)) => {
                let KeptLaunch { about, outcome } = &**launch;
                let source = (&prepared.module, &*workload.ptx);
                Counted::of_program(&prepared.programs[about.kernel], source, *about, outcome)
            }
            (Kept::Executed(_), ..) => unreachable!("only workloads are executed"),
        }
    }
}

impl Kept {
    fn of(launch: Executed<'_>) -> Self {
        let Executed { about, outcome, .. } = launch;
        Self::Executed(Box::new(KeptLaunch { about, outcome }))
    }

    /// What it takes in memory, about. Unit: bytes.
    fn bytes(&self) -> usize {
        let (paths, accesses) = match self {
            Self::Executed(launch) => (&launch.outcome.paths, &launch.outcome.accesses),
            Self::Replayed(_, launch) => (&launch.paths, &launch.accesses),
        };
        held(paths, accesses) * HELD_BYTES
    }
}

/// Launches that are kept as long as there is room for all.
struct Keeping {
    kept: Option<Vec<Kept>>,
    /// Once there is no room: what each was; none if a recording cannot have one of them.
    marks: Option<Vec<Mark>>,
    held: usize,
    most_bytes: usize,
    mode: Mode,
}

impl Keeping {
    const fn new(most_bytes: usize, mode: Mode) -> Self {
        Self { kept: Some(Vec::new()), marks: Some(Vec::new()), held: 0, most_bytes, mode }
    }

    fn add(&mut self, launch: Kept) {
        self.held = self.held.saturating_add(launch.bytes());
        match &mut self.kept {
            Some(kept) if self.held <= self.most_bytes => kept.push(launch),
            kept => {
                let before = kept.take().unwrap_or_default();
                before.iter().chain([&launch]).for_each(|launch| self.mark(launch));
            }
        }
    }

    fn mark(&mut self, launch: &Kept) {
        match launch {
            Kept::Executed(launch) if Mark::is_possible(&launch.outcome, self.mode) => {
                let mark = Mark::of(launch.about, &launch.outcome);
                self.marks.iter_mut().for_each(|marks| marks.push(mark));
            }
            _ => self.marks = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::Kept;
    use crate::options::{Mode, Scale, Source};
    use strata_design::resolve;

    /// What each design reports, with launches that are kept up to so many bytes.
    fn reports(mode: Mode, designs: &[Design], most_bytes: usize) -> Vec<RunReport> {
        let args = Source::of(Scale::Small);
        let notes = Silent;
        let workload = subject::workload("reduction", &args, &Silent).unwrap();
        let request = Request::new(&args).unwrap().in_mode(mode);
        let request = request.for_designs(designs).with_totals_only();
        let subject = Subject::Workload(Box::new(workload));
        let input = SharedInput::new(subject, request, (true, most_bytes), &notes).unwrap();
        assert_eq!(input.is_kept(), most_bytes != 0);
        let all = Mutex::new(vec![None; designs.len()]);
        let designs: Vec<_> = designs.iter().collect();
        for (first, chunk) in [(0, &designs[..1]), (1, &designs[1..])] {
            input.each(
                chunk,
                &notes,
                || false,
                |place, report| {
                    all.lock().unwrap()[first + place] = Some(report.unwrap());
                },
            );
        }
        all.into_inner().unwrap().into_iter().flatten().collect()
    }

    #[test]
    fn points_are_the_same_whether_launches_are_kept_or_not() {
        for (mode, names) in [
            (Mode::Count, ["isca11", "isca11-rfc6", "diss-orf3-lrf-split"]),
            (Mode::Cycle, ["warrf", "isca11-rfc6", "micro12"]),
        ] {
            let designs: Vec<_> = names.iter().map(|name| resolve(name).unwrap()).collect();
            let kept = reports(mode, &designs, usize::MAX);
            let again = reports(mode, &designs, 0);
            assert_eq!(kept.len(), 3);
            assert_eq!(kept, again);
            let args = Source::of(Scale::Small);
            let request = Request::new(&args).unwrap().in_mode(mode).for_designs(&designs);
            let workload = subject::workload("reduction", &args, &Silent).unwrap();
            let request = request.with_totals_only();
            let alone = crate::execution::reports(&workload, &designs, &request, &Silent);
            assert_eq!(kept, alone.unwrap());
        }
    }

    #[test]
    fn what_an_input_prints_is_said_once() {
        let inputs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/inputs");
        let args = Source {
            launch: Some(format!("{inputs}/slow.toml").into()),
            set: vec!["n=32".to_owned()],
            ..Source::of(Scale::Small)
        };
        let notes = Kept::default();
        let subject = Subject::new(&format!("{inputs}/slow.ptx"), &args, &notes).unwrap();
        let request = Request::new(&args).unwrap().with_totals_only();
        let input = SharedInput::new(subject, request, (false, 0), &notes).unwrap();
        assert_eq!(notes.take().len(), 1);
        let design = resolve("isca11").unwrap();
        input.each(&[&design], &notes, || false, |_, report| assert!(report.is_ok()));
        assert_eq!(notes.take(), []);
    }
}
