//! `nvcc`: PTX that NVIDIA's compiler makes of the workloads' sources in several ways, run beside
//! the committed PTX; and of the pack of kernels in `host-cli/tests/pack`, compared with it.
//!
//! The compiler comes from Python wheels; no GPU, driver or CUDA installation is needed. What it
//! writes stays below the folder of build products, in `nvcc`.

mod jobs;
mod pack;

use std::path::Path;

use jobs::{Job, compiler, empty, run_jobs};
pub(crate) use pack::stage as pack_stage;

use crate::installation::Missing;
use crate::machine;
use crate::process::Failure;
use crate::stages::{Outcome, Stages, Totals, lacking};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};
use crate::tidy;

/// The builds by the names of their folders, which a test knows, and the compiler's arguments. The
/// first is the one whose PTX is committed.
const BUILDS: [(&str, &[&str]); 7] = [
    ("compute_75", &["-arch=compute_75", "-O3"]),
    ("compute_75-lineinfo", &["-arch=compute_75", "-O3", "-lineinfo"]),
    ("compute_80", &["-arch=compute_80", "-O3"]),
    ("compute_90", &["-arch=compute_90", "-O3"]),
    ("compute_100", &["-arch=compute_100", "-O3"]),
    ("compute_100-lineinfo", &["-arch=compute_100", "-O3", "-lineinfo"]),
    ("debug", &["-arch=compute_75", "-G"]),
];

/// Tells the test where the builds are.
const FOLDER: &str = "STRATA_WORKLOAD_BUILDS";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    pack_stage(&mut stages);
    stages.finish()
}

/// Compiles the workloads and runs what came of it.
pub(crate) fn stages(stages: &mut Stages) {
    stages.stage("nvcc", || {
        let compiler = match compiler() {
            Ok(compiler) => compiler,
            Err(Missing { what, remedy }) => {
                let skipped = Totals { skipped: 1, ..Totals::default() };
                return (lacking(format!("missing {what}; run: {remedy}")), skipped);
            }
        };
        let folder = machine::target_folder().join("nvcc");
        match compiler.and_then(|compiler| compile(&compiler, &folder)) {
            Ok(()) => {
                let mut cargo = one_test("builds");
                cargo.env(FOLDER, &folder);
                run_tests(cargo)
            }
            Err(Failure(why)) => (Outcome::Failed(why), Totals { failed: 1, ..Totals::default() }),
        }
    });
}

/// Compiles every workload in every way into a folder that was emptied, on all cores.
fn compile(compiler: &Path, folder: &Path) -> Result<(), Failure> {
    empty(folder)?;
    let mut jobs = Vec::new();
    for (build, arguments) in BUILDS {
        let products = folder.join(build);
        empty(&products)?;
        for workload in tidy::workload_names(&machine::root()) {
            let product = products.join(&workload).with_extension("ptx");
            let folder = machine::root().join("host-cli/workloads").join(workload);
            jobs.push(Job { folder, source: "kernel.cu".to_owned(), arguments, product });
        }
    }
    run_jobs(compiler, jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_distinct_and_one_is_that_of_the_committed_files() {
        for (index, (name, arguments)) in BUILDS.iter().enumerate() {
            assert!(BUILDS[..index].iter().all(|(other, same)| other != name && same != arguments));
        }
        let documented = std::fs::read_to_string(machine::root().join("docs/WORKLOADS.md"));
        let documented = documented.expect("it is there");
        assert!(documented.contains(&format!("nvcc -ptx {} kernel.cu", BUILDS[0].1.join(" "))));
    }
}
