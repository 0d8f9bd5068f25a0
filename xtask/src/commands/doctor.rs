//! `doctor`: which tools are there, which are not, what each is for and how to get it.

use super::no_std::{self, DEVICE_TARGETS};
use super::setup::COMPONENTS;
use crate::hardware_tools;
use crate::machine;
use crate::packages::{Finding, Need, PACKAGES, WHEELS};
use crate::status::Status;

/// Runs the command. It informs; what is missing is no failure.
pub(crate) fn run() -> Status {
    for (tool, purpose) in [
        ("rustc", "compiles; at least the workspace's rust-version"),
        ("cargo", "builds"),
        ("rustup", "provides components and targets; a Rust from elsewhere does as well"),
    ] {
        line(tool, machine::version_line(tool), purpose, "https://rustup.rs");
    }
    for (component, program) in COMPONENTS {
        let remedy = format!("rustup component add {component}");
        line(component, machine::version_line(program), "checks the sources", &remedy);
    }
    let installed = no_std::installed_targets();
    for target in DEVICE_TARGETS {
        let found = installed.iter().any(|name| name == target).then(|| "installed".to_owned());
        let remedy = format!("rustup target add {target}, or the packages for devices below");
        line(target, found, "proves that the core builds for a device", &remedy);
    }
    for package in PACKAGES {
        let (found, why) = match package.probe.look() {
            Finding::Present(version) => (Some(version), String::new()),
            Finding::Missing(why) => (None, format!(" ({why})")),
        };
        let purpose = match package.need {
            Need::Build
            | Need::Gates
            | Need::Boards
            | Need::Cpp
            | Need::Hardware
            | Need::Python
            | Need::Browser
            | Need::Clang
            | Need::OffloadingGcc => package.purpose.to_owned(),
            Need::Devices => format!("devices without rustup's targets: {}", package.purpose),
        };
        let remedy = format!("apt-get install {}{why}", package.name);
        line(package.name, found, &purpose, &remedy);
    }
    for wheel in WHEELS {
        let (name, version) = wheel.requirement.split_once("==").unwrap_or_default();
        let found = hardware_tools::has(wheel).then(|| version.to_owned());
        line(name, found, wheel.purpose, "cargo xtask setup");
    }
    println!("\n`cargo xtask setup` installs what is missing.");
    Status::Done
}

fn line(name: &str, found: Option<String>, purpose: &str, remedy: &str) {
    match found {
        Some(version) => println!("found    {name:28} {version}\n         {:28} {purpose}", ""),
        None => println!("missing  {name:28} {purpose}\n         {:28} get it: {remedy}", ""),
    }
}
