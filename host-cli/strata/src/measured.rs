//! Measurement: a launch executed once, and measured under each design.

use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::sm::counters::SmCounters;
use strata_measure::notes::Kept;
use strata_measure::report::{RunReport, Totals};

use crate::call::{CallOptions, Called};
use crate::{Design, Error, Launch, Mode, Note};

/// What came out of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// One for each design, in their order.
    pub reports: Vec<Report>,
    /// What the kernel printed, and what else is remarkable.
    pub notes: Vec<Note>,
}

/// What a launch did under a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The design's name.
    pub design: String,
    /// Accesses and instructions. Unit: warp-wide events.
    pub counters: Counters,
    /// Cycles and what they were spent on, in cycle mode.
    pub time: Option<SmCounters>,
    /// Energy of the register file by part. None where no table of the papers prints the sizes that
    /// the design uses, which `details` says.
    pub energy: Option<EnergyBreakdown>,
    /// All that `strata run --format json` writes of it.
    pub details: RunReport,
}

impl Report {
    /// Cycles, in cycle mode.
    pub fn cycles(&self) -> Option<u64> {
        self.time.as_ref().map(SmCounters::cycles)
    }

    /// Energy of the register file. Unit: femtojoules.
    pub fn energy_fj(&self) -> Option<u64> {
        self.energy.as_ref().map(|energy| energy.total().0)
    }
}

impl From<RunReport> for Report {
    fn from(details: RunReport) -> Self {
        let Totals { counters, time, energy } = details.totals.clone();
        Self { design: details.design.clone(), counters, time, energy, details }
    }
}

/// Executes a launch once, measures it under each design, and writes the arrays back that the
/// kernel may change. The same launch gives the same result, whatever else the program does.
///
/// # Errors
/// Arguments that do not suit the kernel's parameters or what the kernel does with them; what keeps
/// the kernel from running, such as an access outside of every array; designs that do not suit it.
pub fn measure(launch: Launch<'_>, designs: &[Design], mode: Mode) -> Result<Measured, Error> {
    let options = CallOptions {
        designs: designs.iter().map(|design| design.inner.clone()).collect(),
        mode,
        source: launch.source.clone(),
    };
    let notes = Kept::default();
    let called = launch.call.run(&launch.kernel.called, &options, &notes)?;
    let Called { reports, arrays, .. } = called;
    launch.write_back(&arrays);
    Ok(Measured { reports: reports.into_iter().map(Report::from).collect(), notes: notes.take() })
}
