//! `wasm`: compiles the explorer of the papers' page for browsers, and compares its answers with
//! the program's.
//!
//! The compiled explorer is committed, so that building the program needs no target but its own.
//! Its bytes depend on the compiler and are not compared; what it answers is.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::no_std::{self, Toolchain};
use super::report;
use crate::hardware_tools::{self, HardwareTools};
use crate::installation::Missing;
use crate::machine;
use crate::packages::{SYSTEM_CARGO, SYSTEM_RUSTC, Tools};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;

/// What browsers run.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// The compiled explorer that the program holds.
const COMMITTED: &str = "host-cli/explorer/explorer.wasm";
/// What runs compiled explorers beside the program.
const CHECK: &str = "tests/report/module.py";

/// Runs the command: puts a new compiled explorer in the committed one's place.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    stages.one("wasm: compile", || {
        with_tools(|_, toolchain| {
            let fresh = compile(toolchain)?;
            replace(&fresh)
        })
    });
    if stages.all_held() {
        self::stages(&mut stages);
    }
    stages.finish()
}

/// The committed explorer and a new one beside the program that is built for release.
pub(crate) fn stages(stages: &mut Stages) {
    stages.one("wasm", || with_tools(check));
}

/// Does something with what it needs, where that is there.
fn with_tools(work: impl FnOnce(&HardwareTools, Toolchain) -> Result<(), Failure>) -> Outcome {
    let needed = || Ok((hardware_tools::ensure(Tools::Report)?, no_std::provide(TARGET)?));
    match needed() {
        Ok((tools, toolchain)) => work(&tools, toolchain).into(),
        Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
    }
}

fn check(tools: &HardwareTools, toolchain: Toolchain) -> Result<(), Failure> {
    if toolchain == Toolchain::Rustup {
        process::run(&mut clippy())?;
    }
    let fresh = compile(toolchain)?;
    let folder = products().join("page");
    let mut make = process::cargo(&["run", "--locked", "--release", "--", "reproduce", "explorer"]);
    process::run(make.args(["--quiet", "--out"]).arg(&folder))?;
    let mut compare = process::command(tools.program("python3"));
    compare.arg(machine::root().join(CHECK)).arg(folder.join("report.html"));
    compare.arg(report::program()).arg(machine::root().join(COMMITTED)).arg(&fresh);
    process::run(&mut compare)
}

/// Where the explorer is compiled.
fn products() -> PathBuf {
    machine::target_folder().join("explorer")
}

/// The explorer's code for browsers only, which the host's checks do not see.
fn clippy() -> Command {
    let mut cargo = process::cargo(&[
        "clippy",
        "--locked",
        "-p",
        "strata-explorer",
        "--lib",
        "--target",
        TARGET,
    ]);
    cargo.arg("--target-dir").arg(products()).args(["--", "-D", "warnings"]);
    cargo
}

/// Compiles it, and says where it lies.
fn compile(toolchain: Toolchain) -> Result<PathBuf, Failure> {
    let folder = toolchain.products(&products());
    process::run(&mut compilation(toolchain, &folder))?;
    Ok(folder.join(TARGET).join("wasm/strata_explorer.wasm"))
}

fn compilation(toolchain: Toolchain, folder: &Path) -> Command {
    let mut cargo = match toolchain {
        Toolchain::Rustup => process::cargo(&[]),
        Toolchain::Debian => process::foreign(SYSTEM_CARGO),
    };
    cargo.args(["rustc", "--locked", "-p", "strata-explorer", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--profile", "wasm", "--target", TARGET, "--target-dir"]).arg(folder);
    if toolchain == Toolchain::Debian {
        cargo
            .arg("-Zbuild-std=core,alloc")
            .env("RUSTC", SYSTEM_RUSTC)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
    }
    cargo
}

/// Puts a compiled explorer in the committed one's place.
fn replace(fresh: &Path) -> Result<(), Failure> {
    let told = |error: std::io::Error| Failure(format!("{}: {error}", fresh.display()));
    let code = std::fs::read(fresh).map_err(told)?;
    let committed = machine::root().join(COMMITTED);
    // A file that is written again has the program built again.
    let same = std::fs::read(&committed).is_ok_and(|committed| committed == code);
    if !same {
        std::fs::write(committed, &code).map_err(told)?;
    }
    println!("{COMMITTED}: {} bytes, {}", code.len(), if same { "the same" } else { "new" });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_compiled_as_a_library_of_its_own_and_by_debian_with_its_sources() {
        let spelled = |toolchain| process::spelled(&compilation(toolchain, Path::new("x")));
        let own = "rustc --locked -p strata-explorer --lib --crate-type cdylib --profile wasm \
                   --target wasm32-unknown-unknown --target-dir x";
        assert!(spelled(Toolchain::Rustup).ends_with(own), "{}", spelled(Toolchain::Rustup));
        let text = spelled(Toolchain::Debian);
        assert!(text.contains("LINKER=wasm-ld") && text.contains("RUSTC=/usr/bin/rustc"), "{text}");
        assert!(text.ends_with(" -Zbuild-std=core,alloc"), "{text}");
    }
}
