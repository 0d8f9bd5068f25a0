//! `python`: the Python package, built, installed into a new environment, and tested beside the
//! program.

use std::path::{Path, PathBuf};

use crate::hardware_tools::{self, HardwareTools};
use crate::machine;
use crate::packages::Tools;
use crate::process::{self, Failure};
use crate::python::Environment;
use crate::stages::{Outcome, Stages, Totals, lacking};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};

/// The crate of the package, outside the workspace.
const MANIFEST: &str = "host-cli/python/Cargo.toml";

/// Tells the tests which Python has the package.
const PYTHON: &str = "STRATA_PACKAGE_PYTHON";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// Builds the wheel, installs it, and runs its tests with the program that all tests start.
pub(crate) fn stages(stages: &mut Stages) {
    stages.stage("python", || {
        let tools = hardware_tools::ensure(Tools::Sweeps)
            .and_then(|_| hardware_tools::ensure(Tools::Python));
        let tools = match tools {
            Ok(tools) => tools,
            Err(missing) => {
                let skipped = Totals { skipped: 1, ..Totals::default() };
                let (what, remedy) = (missing.what, missing.remedy);
                return (lacking(format!("missing {what}; run: {remedy}")), skipped);
            }
        };
        match wheel(&tools).and_then(|wheel| installed(&wheel, &tools)) {
            Ok(environment) => {
                let mut cargo = one_test("python");
                cargo.env(PYTHON, environment.program("python3"));
                run_tests(cargo)
            }
            Err(Failure(why)) => (Outcome::Failed(why), Totals { failed: 1, ..Totals::default() }),
        }
    });
}

/// Builds the wheel for tests: soon, and beside the workspace's own products, which it shares as
/// far as their features are the same.
fn wheel(tools: &HardwareTools) -> Result<PathBuf, Failure> {
    let folder = machine::target_folder().join("wheels");
    // What lies there from another version would be installed as well.
    remove(&folder)?;
    let mut maturin = process::command(tools.program("python3"));
    maturin.args(["-m", "maturin", "build", "--quiet", "--profile", "tested", "--manifest-path"]);
    maturin.arg(MANIFEST).arg("--out").arg(&folder);
    maturin.arg("--target-dir").arg(machine::target_folder());
    process::run(&mut maturin)?;
    let entries = std::fs::read_dir(&folder);
    let entries = entries.map_err(|error| Failure(format!("{}: {error}", folder.display())))?;
    let mut wheels = entries.flatten().map(|entry| entry.path());
    wheels.next().ok_or_else(|| Failure(format!("no wheel is in {}", folder.display())))
}

/// Installs the wheel into a new environment of its own, from which the packages of the tools are
/// seen.
fn installed(wheel: &Path, tools: &HardwareTools) -> Result<Environment, Failure> {
    let folder = machine::target_folder().join("python-package");
    remove(&folder)?;
    let environment = Environment::at(&folder);
    let wheel = wheel.to_string_lossy();
    environment.install([&*wheel])?;
    let (own, seen) = environment
        .packages_with("strata")
        .zip(tools.packages())
        .ok_or_else(|| Failure(format!("`strata` is not in {}", folder.display())))?;
    std::fs::write(own.join("tools.pth"), format!("{}\n", seen.display()))
        .map_err(|error| Failure(format!("{}: {error}", own.display())))?;
    Ok(environment)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure(format!("cannot remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Checks the crate's source, which cargo's `--workspace` leaves out.
pub(crate) fn clippy() -> Result<(), Failure> {
    let mut check = process::cargo(&["clippy", "--locked", "--manifest-path", MANIFEST]);
    check.arg("--target-dir").arg(machine::target_folder());
    process::run(check.args(["--", "-D", "warnings"]))
}
