//! `setup`: installs what this machine lacks, or says exactly what to run.

use std::process::Command;

use super::no_std::{self, DEVICE_TARGETS};
use super::wasm;
use crate::Status;
use crate::hardware_tools;
use crate::machine;
use crate::packages::{Need, PACKAGES, Package, Tools};
use crate::process::{self, Failure};

/// Parts of the Rust toolchain that checks need: rustup's name, and a program to recognise it by.
pub(crate) const COMPONENTS: &[(&str, &str)] =
    &[("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")];

/// Something that is not there and could not be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What, and what for.
    pub(crate) what: String,
    /// What to run.
    pub(crate) remedy: String,
}

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut missing = ensure();
    // No test places the hardware on a device.
    missing.extend(hardware_tools::ensure(Tools::Synthesis).err());
    if missing.is_empty() {
        println!("everything is there");
        return Status::Done;
    }
    eprint!("{}", report(&missing));
    Status::Unusable
}

/// What is missing and what to run, one thing a paragraph.
pub(crate) fn report(missing: &[Missing]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for Missing { what, remedy } in missing {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "missing: {what}\n  run: {remedy}");
    }
    text
}

/// Installs what tests need and may be installed from here, and gives back the rest. Where all is
/// present nothing is run but the probes.
pub(crate) fn ensure() -> Vec<Missing> {
    let mut missing = Vec::new();
    missing.extend(ensure_components());
    for need in [Need::Build, Need::Gates, Need::Boards, Need::Cpp, Need::Hardware, Need::Browser] {
        missing.extend(ensure_packages(need).err());
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

/// Sees to it that the packages of one need are there.
pub(crate) fn ensure_packages(need: Need) -> Result<(), Missing> {
    let absent: Vec<&Package> = PACKAGES
        .iter()
        .filter(|package| package.need == need && !package.probe.look().is_present())
        .collect();
    if absent.is_empty() {
        return Ok(());
    }
    if machine::is_root() && machine::version_line("apt-get").is_some() {
        install(&absent).map_err(|Failure(why)| missing(&absent, &why))?;
        let still: Vec<&Package> =
            absent.into_iter().filter(|package| !package.probe.look().is_present()).collect();
        if still.is_empty() {
            return Ok(());
        }
        return Err(missing(&still, "installed, but still not found"));
    }
    Err(missing(&absent, "not installed, and installing needs root on Debian"))
}

fn missing(packages: &[&Package], why: &str) -> Missing {
    let what = packages
        .iter()
        .map(|package| format!("{} ({})", package.name, package.purpose))
        .collect::<Vec<_>>()
        .join(", ");
    let names = packages.iter().map(|package| package.name).collect::<Vec<_>>().join(" ");
    let remedy =
        format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {names}");
    Missing { what: format!("{what}: {why}"), remedy }
}

fn install(packages: &[&Package]) -> Result<(), Failure> {
    process::run(apt_get().arg("update"))?;
    let mut install = apt_get();
    install.args(["install", "-y", "--no-install-recommends"]);
    install.args(packages.iter().map(|package| package.name));
    process::run(&mut install)
}

/// `apt-get` that waits for its lock and asks nothing.
fn apt_get() -> Command {
    let mut command = process::command("apt-get");
    command.args(["-q", "-o", "DPkg::Lock::Timeout=300"]);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_reported_with_the_exact_command() {
        let packages: Vec<&Package> =
            PACKAGES.iter().filter(|package| package.need == Need::Devices).collect();
        let text = report(&[missing(&packages, "not there")]);
        assert!(text.starts_with("missing: rustc-web (a compiler"), "{text}");
        let command = "apt-get install -y --no-install-recommends rustc-web cargo-web rust-web-src \
                       lld\n";
        assert!(text.ends_with(command), "{text}");
    }
}
