//! A Dask cluster on this machine, whose processes tests end.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Process, python, wait_until};

/// A scheduler and workers with one thread each. All end when it is dropped.
pub(crate) struct Cluster {
    folder: PathBuf,
    scheduler: Process,
    pub(crate) workers: Vec<Process>,
}

impl Cluster {
    /// Starts one, whose files are in `folder`.
    pub(crate) fn start(folder: &Path, workers: usize) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let file = folder.join("scheduler.json");
        let mut command = dask(folder, "dask_scheduler");
        command.args(["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file"]);
        let scheduler = Process::start(command.arg(&file));
        let mut cluster = Self { folder: folder.to_owned(), scheduler, workers: Vec::new() };
        wait_until("the scheduler has an address", || cluster.read_address().is_some());
        (0..workers).for_each(|_| cluster.add_worker());
        cluster
    }

    /// Starts one more worker.
    pub(crate) fn add_worker(&mut self) {
        let own = self.folder.join(format!("worker-{}", self.workers.len()));
        let mut command = dask(&self.folder, "dask_worker");
        command.args(["--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file"]);
        command.arg(self.folder.join("scheduler.json")).arg("--local-directory").arg(own);
        self.workers.push(Process::start(&mut command));
    }

    /// Ends the scheduler.
    pub(crate) fn kill_scheduler(&mut self) {
        self.scheduler.kill();
    }

    /// The engine that uses it.
    pub(crate) fn engine(&self) -> String {
        let address = self.read_address().expect("it was there");
        address.replacen("tcp://", "dask://", 1)
    }

    fn read_address(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join("scheduler.json")).ok()?;
        let described: serde_json::Value = serde_json::from_str(&text).ok()?;
        described["address"].as_str().map(str::to_owned)
    }
}

fn dask(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(python());
    command.args(["-m", &format!("distributed.cli.{program}")]).current_dir(folder);
    let log = || File::options().create(true).append(true).open(folder.join("log"));
    command.stdout(log().expect("a file")).stderr(log().expect("a file"));
    command
}
