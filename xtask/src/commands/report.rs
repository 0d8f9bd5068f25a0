//! `report`: remakes the papers' figures and makes a page of runs, and opens both in Chromium.

use std::path::{Path, PathBuf};

use crate::hardware_tools::{self, HardwareTools};
use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;

/// What looks at the page.
const LOOK: &str = "tests/report/look.py";
/// The page of runs.
const OWN: &str = "own.html";
/// The browser of [`Need::Browser`].
const CHROMIUM: &str = "chromium";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// The figures of all papers and a page of runs, with the program that is built for release.
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
    installation::ensure_packages(Need::Browser)?;
    hardware_tools::ensure(Tools::Report)
}

fn check(tools: &HardwareTools) -> Result<(), Failure> {
    let folder = machine::target_folder().join("report");
    let mut make = process::cargo(&["run", "--locked", "--release", "--", "reproduce", "all"]);
    process::run(make.args(["--quiet", "--out"]).arg(&folder))?;
    let own = machine::target_folder().join("own-report");
    own_page(&own)?;
    let mut look = process::command(tools.program("python3"));
    look.arg(machine::root().join(LOOK)).arg(folder.join("report.html")).arg(browser()?);
    process::run(look.arg(program()).arg(own.join(OWN)))
}

/// A page of runs, with every section that such a page has.
fn own_page(folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let strata = |arguments: &str| {
        let mut command = process::command(program());
        command.current_dir(folder).arg("--quiet").args(arguments.split_whitespace());
        process::output(&mut command)
    };
    let runs = "run --scale small --mode cycle --design isca11 --design isca11-rfc6 \
                --design diss-orf3-lrf-split --format json";
    let profile = "inspect bfs --scale small --profile --format json";
    let in_time = format!("{profile} --mode cycle");
    for (file, arguments) in [("runs", runs), ("energy", profile), ("stalls", &in_time)] {
        let path = folder.join(format!("{file}.json"));
        std::fs::write(path, strata(arguments)?).map_err(failed)?;
    }
    strata("run vectoradd --scale small --mode cycle --timeline time.json --force")?;
    strata(&format!("report runs.json energy.json stalls.json time.json --force --out {OWN}"))?;
    Ok(())
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
