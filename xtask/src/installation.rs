//! Installs the packages that a check needs, or says exactly what to run.

use std::process::Command;

use crate::machine;
use crate::packages::{Need, PACKAGES, Package};
use crate::process::{self, Failure};

/// Something that is not there and could not be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What, and what for.
    pub(crate) what: String,
    /// What to run.
    pub(crate) remedy: String,
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
