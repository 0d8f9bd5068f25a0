//! `accel-sim`: runs the exports of all workloads in a real Accel-Sim, where one was built, and
//! compares what it counts.

use crate::stages::{Outcome, Stages, Totals};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};

/// Names the folder `gpu-simulator` of a built Accel-Sim.
const FOLDER: &str = "STRATA_ACCEL_SIM";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// The comparison, or a test that is skipped.
pub(crate) fn stages(stages: &mut Stages) {
    stages.stage("accel-sim", || {
        if std::env::var_os(FOLDER).is_none() {
            let why = format!("{FOLDER} names no folder `gpu-simulator` of a built Accel-Sim");
            return (Outcome::Skipped(why), Totals { skipped: 1, ..Totals::default() });
        }
        run_tests(one_test("accel_sim"))
    });
}
