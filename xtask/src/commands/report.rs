//! `report`: remakes the papers' figures, and opens the page in Chromium.

use std::path::PathBuf;

use super::setup::{self, Missing};
use super::test::lacking;
use crate::Status;
use crate::hardware_tools::{self, HardwareTools};
use crate::machine;
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages};

/// What looks at the page.
const LOOK: &str = "tests/report/look.py";
/// The browser of [`Need::Browser`].
const CHROMIUM: &str = "chromium";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// The figures of all papers, with the program that is built for release, and their page.
pub(crate) fn stages(stages: &mut Stages) {
    stages.one("report", report);
}

fn report() -> Outcome {
    match tools() {
        Ok(tools) => check(&tools).into(),
        Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
    }
}

fn tools() -> Result<HardwareTools, Missing> {
    setup::ensure_packages(Need::Browser)?;
    hardware_tools::ensure(Tools::Report)
}

fn check(tools: &HardwareTools) -> Result<(), Failure> {
    let folder = machine::target_folder().join("report");
    let mut make = process::cargo(&["run", "--locked", "--release", "--", "reproduce", "all"]);
    process::run(make.args(["--quiet", "--out"]).arg(&folder))?;
    let mut look = process::command(tools.program("python3"));
    look.arg(machine::root().join(LOOK)).arg(folder.join("report.html")).arg(browser()?);
    process::run(look.arg(program()))
}

/// The program that is built for release.
pub(super) fn program() -> PathBuf {
    machine::target_folder().join("release/strata")
}

/// The browser's path: its driver does not look for it.
fn browser() -> Result<PathBuf, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(CHROMIUM));
    let found = places.find(|place| place.is_file());
    found.ok_or_else(|| Failure(format!("`{CHROMIUM}` is not on the search path")))
}
