//! `nvcc`: PTX that NVIDIA's compiler makes of the workloads' sources in several ways, run beside
//! the committed PTX; and of the pack of kernels in `host-cli/tests/pack`, compared with it.
//!
//! The compiler comes from Python wheels; no GPU, driver or CUDA installation is needed. What it
//! writes stays below the folder of build products, in `nvcc`.

mod pack;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub(crate) use pack::stage as pack_stage;

use super::setup::{self, Missing};
use super::test::{lacking, one_test, run_tests};
use crate::Status;
use crate::hardware_tools;
use crate::machine;
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, Totals};
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

/// The compiler, which preprocesses with the machine's own C++ compiler.
fn compiler() -> Result<Result<PathBuf, Failure>, Missing> {
    setup::ensure_packages(Need::Cpp)?;
    let tools = hardware_tools::ensure(Tools::Nvcc)?;
    Ok(tools.cuda().map(|programs| programs.join("nvcc")))
}

/// One run of the compiler, in the folder of its source: no path of this machine gets into the code
/// of the PTX.
struct Job {
    folder: PathBuf,
    source: String,
    arguments: &'static [&'static str],
    product: PathBuf,
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

/// Makes a folder, without what an earlier run left in it.
fn empty(folder: &Path) -> Result<(), Failure> {
    let told = |what, error| Failure(format!("cannot {what} {}: {error}", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| told("empty", error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| told("create", error))
}

fn run_jobs(compiler: &Path, jobs: Vec<Job>) -> Result<(), Failure> {
    println!("{} compilations by {}", jobs.len(), compiler.display());
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().ok()?.pop();
    let worker = || -> Result<(), Failure> {
        while let Some(job) = next() {
            one(compiler, &job)?;
        }
        Ok(())
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().map_err(|_| Failure("a compilation panicked".to_owned()))?
        })
    })
}

fn one(compiler: &Path, job: &Job) -> Result<(), Failure> {
    let mut command = process::command(compiler);
    command.current_dir(&job.folder);
    command.arg("-ptx").args(job.arguments).arg(&job.source).arg("-o").arg(&job.product);
    let (status, text) = process::silently(&mut command)?;
    process::check(&command, status)
        .map_err(|Failure(why)| Failure(format!("{why}\n{}", text.trim_end())))
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
