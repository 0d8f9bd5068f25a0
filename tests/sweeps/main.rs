//! Sweeps and Python: what other programs read in the files, and sweeps on a Dask cluster.
//! `cargo xtask sweeps` installs the packages and runs this.

mod cluster;
mod dask;
mod documented;
mod parquet;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use strata_tests::{Outcome, start};

/// Longer than anything here takes on the slowest machine; only then a test gives up.
const PATIENCE: Duration = Duration::from_mins(5);

/// The program.
const STRATA: &str = env!("CARGO_BIN_EXE_strata-under-test");

/// The Python that has the packages.
fn python() -> String {
    std::env::var("STRATA_SWEEP_PYTHON").expect("`cargo xtask sweeps` names a Python")
}

fn strata(folder: &Path, arguments: &[&str]) -> Outcome {
    start(STRATA, folder, arguments)
}

/// What a command that ends well prints.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let outcome = strata(folder, arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    outcome.stdout
}

/// What a Python program that ends well prints.
fn run_python(folder: &Path, arguments: &[&str]) -> String {
    let outcome = start(&python(), folder, arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    outcome.stdout
}

/// A file of this folder.
fn own_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sweeps").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// The one file of a sweep that is merged: its name and its bytes.
fn merged(folder: &Path) -> (String, Vec<u8>) {
    let told = done(folder, &["sweep", "merge", "out"]);
    let path = folder.join(told.trim_end());
    assert_eq!(files(folder).len(), 1, "{:?}", files(folder));
    let name = path.file_name().expect("a file").to_str().expect("UTF-8").to_owned();
    (name, fs::read(path).expect("the file"))
}

/// The files of points of a sweep.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("out")) else { return Vec::new() };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<_> = entries.map(name).filter(|name| name.ends_with(".parquet")).collect();
    names.sort();
    names
}

/// Waits for something that comes soon.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it does not happen: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A process. Killed when dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Ends it as no program can prevent.
    fn kill(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }

    /// Its exit status, once it has ended by itself.
    fn ended(&mut self) -> Option<i32> {
        wait_until("it ends", || self.0.try_wait().expect("a child").is_some());
        self.0.wait().expect("it has ended").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
