//! Spill: the launches of an input that do not fit the memory that they may take, in a recording.
//!
//! A recording has what the warps of a launch did. The programs, to which designs are fitted, stay
//! in memory. Each launch is compared with what was executed by a digest of all that is counted, so
//! that a recording that is damaged or of something else is never counted.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use strata_simt::{AccessDictionary, LaunchOutcome};

use crate::batch::{Batch, held};
use crate::counted::Counted;
use crate::launched::{Executed, Launched};
use crate::notes::Silent;
use crate::options::Mode;
use crate::request::Request;
use crate::tape::record_prepared;
use strata_files::failure::Failure;
use strata_files::output::Output;
use strata_trace::store::{KIND, Recording, StoreError, StoreProblem};
use strata_workload::Workload;
use strata_workload::simulate::Prepared;

/// What the names of such recordings begin with, and end in.
const NAME: (&str, &str) = ("paths-", ".strata");

/// Whether a file is a recording of launches that did not fit.
pub fn is_spill(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(NAME.0) && name.ends_with(NAME.1)
}

/// A launch, or a part of one, that was executed: what it was, and a digest of what its warps did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark {
    about: Launched,
    digest: u64,
}

impl Mark {
    /// Whether a recording has all that is counted of a launch in a mode. It takes all barriers of
    /// a CTA for one.
    pub(crate) fn is_possible(outcome: &LaunchOutcome, mode: Mode) -> bool {
        mode == Mode::Count || outcome.barriers.is_empty()
    }

    pub(crate) fn of(about: Launched, outcome: &LaunchOutcome) -> Self {
        let mut digest = DefaultHasher::new();
        (&outcome.paths, &outcome.accesses).hash(&mut digest);
        Self { about, digest: digest.finish() }
    }
}

/// Why what was spilled cannot be counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("`{}` is not what was executed", .0.display())]
    Other(PathBuf),
}

/// Launches in a recording.
#[derive(Debug)]
pub(crate) struct Spill {
    path: PathBuf,
    marks: Vec<Mark>,
}

impl Spill {
    /// Executes a workload again to record these launches, unless their recording is there. None if
    /// a recording cannot have them.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write(
        folder: &Path,
        marks: Vec<Mark>,
        input: (&Workload, &Prepared),
        request: &Request,
    ) -> Result<Option<Self>, Failure> {
        let mut digest = DefaultHasher::new();
        marks.hash(&mut digest);
        let (start, end) = NAME;
        let path = folder.join(format!("{start}{:016x}{end}", digest.finish()));
        if !path.exists() {
            let output = Output::new(&path, KIND, true, &[])?;
            // What the kernels print was noted before.
            let quiet = Silent;
            let request = (request, request.options.accesses);
            match record_prepared(input, &output, request, &quiet)? {
                Ok(_) => {}
                Err(error) if matches!(error.problem, StoreProblem::Unwritable(_)) => {
                    return Err(Failure::input(error.to_string()).hint(
                        "files that are whole stay: make room, allow writing, or raise \
                         `--keep-paths-mib`, and the same command goes on",
                    ));
                }
                // More than a recording holds.
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(Self { path, marks }))
    }

    /// Shows `visit` every launch, several at a time, in order.
    ///
    /// # Errors
    /// Nothing of what was visited counts then.
    pub(crate) fn each_batch(
        &self,
        (workload, prepared): (&Workload, &Prepared),
        request: &Request,
        mut visit: impl FnMut(&[Counted<'_>]),
    ) -> Result<(), Unusable> {
        let other = || Unusable::Other(self.path.clone());
        let source = (&prepared.module, &*workload.ptx);
        let mut show = |batch: Vec<Executed<'_>>| {
            let launches = batch.iter().map(|launch| Counted::executed(launch, source));
            visit(&launches.collect::<Vec<_>>());
        };
        let mut recording = Recording::open(&self.path)?;
        let mut batch = Batch::default();
        for mark in &self.marks {
            let stored = recording.next_launch()?.ok_or_else(other)?;
            let accesses = if request.options.accesses {
                recording.accesses(&stored, None, request.options.lines)?
            } else {
                AccessDictionary::default()
            };
            let outcome =
                LaunchOutcome { paths: stored.paths, accesses, ..LaunchOutcome::default() };
            if Mark::of(mark.about, &outcome) != *mark {
                return Err(other());
            }
            let held = held(&outcome.paths, &outcome.accesses);
            let program = &prepared.programs[mark.about.kernel];
            if batch.push(Executed { about: mark.about, program, outcome }, held) {
                show(batch.take());
            }
        }
        show(batch.take());
        Ok(())
    }
}
