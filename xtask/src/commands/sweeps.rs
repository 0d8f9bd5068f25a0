//! `sweeps`: files of sweeps in pandas, DuckDB and fastparquet, and sweeps on a Dask cluster of
//! this machine.

use crate::hardware_tools;
use crate::packages::Tools;
use crate::stages::{Stages, Totals, lacking};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};

/// Tells the tests which Python has the packages.
const PYTHON: &str = "STRATA_SWEEP_PYTHON";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// The tests that need Python's packages, with the program that all tests start.
pub(crate) fn stages(stages: &mut Stages) {
    stages.stage("sweeps", || match hardware_tools::ensure(Tools::Sweeps) {
        Ok(tools) => {
            let mut cargo = one_test("sweeps");
            cargo.env(PYTHON, tools.program("python3"));
            run_tests(cargo)
        }
        Err(missing) => {
            let skipped = Totals { skipped: 1, ..Totals::default() };
            let (what, remedy) = (missing.what, missing.remedy);
            (lacking(format!("missing {what}; run: {remedy}")), skipped)
        }
    });
}
