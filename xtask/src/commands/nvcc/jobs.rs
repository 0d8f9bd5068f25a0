//! Runs NVIDIA's compiler, several times at once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::hardware_tools;
use crate::installation::{self, Missing};
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};

/// The compiler, which preprocesses with the machine's own C++ compiler.
pub(super) fn compiler() -> Result<Result<PathBuf, Failure>, Missing> {
    installation::ensure_packages(Need::Cpp)?;
    let tools = hardware_tools::ensure(Tools::Nvcc)?;
    Ok(tools.cuda().map(|programs| programs.join("nvcc")))
}

/// One run of the compiler, in the folder of its source: no path of this machine gets into the code
/// of the PTX.
pub(super) struct Job {
    pub(super) folder: PathBuf,
    pub(super) source: String,
    pub(super) arguments: &'static [&'static str],
    pub(super) product: PathBuf,
}

/// Makes a folder, without what an earlier run left in it.
pub(super) fn empty(folder: &Path) -> Result<(), Failure> {
    let told = |what, error| Failure(format!("cannot {what} {}: {error}", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| told("empty", error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| told("create", error))
}

/// Runs jobs on all cores.
pub(super) fn run_jobs(compiler: &Path, jobs: Vec<Job>) -> Result<(), Failure> {
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
