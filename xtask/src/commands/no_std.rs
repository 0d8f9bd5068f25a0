//! `no-std`: the proof that the core needs neither std nor an allocator.
//!
//! On the host a freestanding program (`core/freestanding`) is linked and run; for each device it
//! is linked. The same program with an allocation in it must fail to build, so that the proof is
//! one that can fail. The link is built for each device too, where there is no std to use.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::{Need, SYSTEM_CARGO, SYSTEM_RUSTC};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages};
use crate::status::Status;

/// Devices that the core is built for: a RISC-V soft core and a Cortex-M3.
pub(crate) const DEVICE_TARGETS: [&str; 2] = ["riscv32im-unknown-none-elf", "thumbv7m-none-eabi"];

/// What the freestanding program's workload comes to: `core/freestanding/src/workload.rs`.
const EXPECTED_STATUS: i32 = 244;

/// What rustc says when something allocates and nothing provides an allocator.
const NO_ALLOCATOR: &str = "no global memory allocator found";

/// Where a device's libraries come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// rustup's precompiled ones.
    Rustup,
    /// Debian's sources, compiled by Debian's compiler.
    Debian,
}

impl Toolchain {
    /// Where it builds to: the two must not share a folder.
    pub(crate) fn products(self, folder: &Path) -> PathBuf {
        match self {
            Self::Rustup => folder.to_path_buf(),
            Self::Debian => folder.join("debian"),
        }
    }
}

/// Runs the command. `toolchain` insists on one source of the devices' libraries.
pub(crate) fn run(toolchain: Option<Toolchain>) -> Status {
    let mut stages = Stages::default();
    host_stages(&mut stages);
    let mut missing = Vec::new();
    for target in DEVICE_TARGETS {
        match toolchain.map_or_else(|| provide(target), |chosen| insist(chosen, target)) {
            Ok(toolchain) => device_stage(&mut stages, target, toolchain),
            Err(why) => missing.push(why),
        }
    }
    eprint!("{}", installation::report(&missing));
    let status = stages.finish();
    if status == Status::Done && !missing.is_empty() { Status::Unusable } else { status }
}

/// The stages on the host.
pub(crate) fn host_stages(stages: &mut Stages) {
    if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        let why = "the freestanding program exists for Linux on x86_64 and aarch64";
        stages.one("no-std: host", || Outcome::Skipped(why.to_owned()));
        return;
    }
    stages.one("no-std: host", || host().into());
    stages.one("no-std: can fail", || can_fail().into());
}

/// The stage of one device.
pub(crate) fn device_stage(stages: &mut Stages, target: &str, toolchain: Toolchain) {
    stages.one(&format!("no-std: {target}"), || {
        let build = |manifest| device_build(manifest, target, toolchain, &products());
        process::run(&mut build(MANIFEST)).and_then(|()| process::run(&mut build(LINK))).into()
    });
}

/// Finds the libraries of a device, rustup's first, and installs what is missing where it may.
pub(crate) fn provide(target: &str) -> Result<Toolchain, Missing> {
    insist(Toolchain::Rustup, target).or_else(|rustup| {
        insist(Toolchain::Debian, target).map_err(|debian| Missing {
            what: debian.what,
            remedy: format!("{} || ( {} )", rustup.remedy, debian.remedy),
        })
    })
}

fn insist(toolchain: Toolchain, target: &str) -> Result<Toolchain, Missing> {
    match toolchain {
        Toolchain::Rustup if installed_targets().iter().any(|name| name == target) => {}
        Toolchain::Rustup => {
            let mut add = process::command("rustup");
            add.args(["target", "add", target]);
            process::run(&mut add).map_err(|Failure(why)| Missing {
                what: format!("rustup's target {target} ({why})"),
                remedy: process::spelled(&add),
            })?;
        }
        Toolchain::Debian => installation::ensure_packages(Need::Devices)?,
    }
    Ok(toolchain)
}

/// The targets that rustup has installed for the toolchain in use; none without rustup.
pub(crate) fn installed_targets() -> Vec<String> {
    machine::output("rustup", &["target", "list", "--installed"])
        .map(|text| text.lines().map(str::to_owned).collect())
        .unwrap_or_default()
}

/// Where the program is built: apart from the workspace's products, whose profiles differ.
pub(crate) fn products() -> PathBuf {
    machine::target_folder().join("freestanding")
}

/// The freestanding program's manifest.
const MANIFEST: &str = "core/freestanding/Cargo.toml";

/// The link's manifest: a library, which is built for devices, not linked.
const LINK: &str = "fpga-softcore/link/Cargo.toml";

fn arguments<'a>(command: &'a mut Command, manifest: &str) -> &'a mut Command {
    command.args(["build", "--locked", "--release", "--manifest-path", manifest])
}

fn host() -> Result<(), Failure> {
    process::run(
        arguments(&mut process::cargo(&[]), MANIFEST).arg("--target-dir").arg(products()),
    )?;
    let program = products().join("release/strata-freestanding");
    let mut program = process::command(program);
    let (status, _) = process::capture(&mut program)?;
    judge_status(status.code())
}

fn judge_status(status: Option<i32>) -> Result<(), Failure> {
    if status == Some(EXPECTED_STATUS) {
        return Ok(());
    }
    let found = status.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
    Err(Failure(format!("the program ended with {found}, not with {EXPECTED_STATUS}")))
}

fn can_fail() -> Result<(), Failure> {
    let mut cargo = process::cargo(&[]);
    arguments(&mut cargo, MANIFEST).args(["--features", "prove-failure"]);
    // Its own folder: a failed build must not leave the program of the good one behind as its own.
    cargo.arg("--target-dir").arg(products().join("prove-failure"));
    let (status, text) = process::capture(&mut cargo)?;
    judge_failure(status.success(), &text)
}

fn judge_failure(built: bool, text: &str) -> Result<(), Failure> {
    if built {
        return Err(Failure("a program that allocates was built: the proof proves nothing".into()));
    }
    if text.contains(NO_ALLOCATOR) {
        return Ok(());
    }
    Err(Failure(format!("the build failed, but not with \"{NO_ALLOCATOR}\":\n{text}")))
}

/// Builds the program of a manifest for a device, below `products`.
pub(crate) fn device_build(
    manifest: &str,
    target: &str,
    toolchain: Toolchain,
    products: &Path,
) -> Command {
    let mut command = match toolchain {
        Toolchain::Rustup => process::cargo(&[]),
        Toolchain::Debian => process::foreign(SYSTEM_CARGO),
    };
    arguments(&mut command, manifest).args(["--target", target]).arg("--target-dir");
    command.arg(toolchain.products(products));
    if toolchain == Toolchain::Rustup {
        return command;
    }
    let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
    command
        .arg("-Zbuild-std=core")
        .env("RUSTC", SYSTEM_RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env(linker, "ld.lld");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_status_is_good() {
        assert!(judge_status(Some(EXPECTED_STATUS)).is_ok());
        assert!(judge_status(Some(0)).is_err());
        assert!(judge_status(Some(255)).is_err());
        assert!(judge_status(None).is_err());
    }

    #[test]
    fn the_failing_build_must_fail_and_for_the_right_reason() {
        let right = "error: no global memory allocator found but one is required";
        assert!(judge_failure(false, right).is_ok());
        assert!(judge_failure(true, "").is_err());
        assert!(judge_failure(true, right).is_err());
        assert!(judge_failure(false, "error: could not find `alloc`").is_err());
    }

    #[test]
    fn debian_s_toolchain_is_spelled_as_documented() {
        let spelled = |toolchain| {
            let build = device_build(MANIFEST, "thumbv7m-none-eabi", toolchain, &products());
            process::spelled(&build)
        };
        let text = spelled(Toolchain::Debian);
        assert!(text.contains("RUSTC=/usr/bin/rustc"), "{text}");
        assert!(text.contains("RUSTC_BOOTSTRAP=1"), "{text}");
        assert!(text.contains("CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=ld.lld"), "{text}");
        assert!(text.ends_with(" -Zbuild-std=core"), "{text}");
        let text = spelled(Toolchain::Rustup);
        assert!(text.starts_with("cargo build --locked --release"), "{text}");
    }
}
