//! `setup`: installs what this machine lacks, or says exactly what to run.

use super::no_std::{self, DEVICE_TARGETS};
use super::wasm;
use crate::hardware_tools;
use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};
use crate::status::Status;

/// Parts of the Rust toolchain that checks need: rustup's name, and a program to recognise it by.
pub(crate) const COMPONENTS: &[(&str, &str)] =
    &[("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")];

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut missing = ensure();
    // No test places the hardware on a device.
    missing.extend(hardware_tools::ensure(Tools::Synthesis).err());
    if missing.is_empty() {
        println!("everything is there");
        return Status::Done;
    }
    eprint!("{}", installation::report(&missing));
    Status::Unusable
}

/// Installs what tests need and may be installed from here, and gives back the rest. Where all is
/// present nothing is run but the probes.
pub(crate) fn ensure() -> Vec<Missing> {
    let mut missing = Vec::new();
    missing.extend(ensure_components());
    for need in [Need::Build, Need::Gates, Need::Boards, Need::Cpp, Need::Hardware, Need::Browser] {
        missing.extend(installation::ensure_packages(need).err());
    }
    let python =
        [Tools::Formal, Tools::Slang, Tools::Soc, Tools::Nvcc, Tools::Sweeps, Tools::Report];
    for tools in python {
        missing.extend(hardware_tools::ensure(tools).err());
    }
    for target in DEVICE_TARGETS.into_iter().chain([wasm::TARGET]) {
        if let Err(why) = no_std::provide(target) {
            missing.push(why);
            // The remedy is the same for every target.
            break;
        }
    }
    missing
}

fn ensure_components() -> Option<Missing> {
    let absent: Vec<&str> = COMPONENTS
        .iter()
        .filter(|(_, program)| machine::version_line(program).is_none())
        .map(|(name, _)| *name)
        .collect();
    if absent.is_empty() {
        return None;
    }
    let mut install = process::command("rustup");
    install.args(["component", "add"]).args(&absent);
    process::run(&mut install).err().map(|Failure(why)| Missing {
        what: format!("{} of the Rust toolchain ({why})", absent.join(" and ")),
        remedy: process::spelled(&install),
    })
}
