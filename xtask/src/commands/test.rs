//! `test`: every test and check of the repository, in stages.

use std::process::Command;

use super::no_std::{self, DEVICE_TARGETS};
use super::{
    accel_sim, book, compilers, example, formal, fpga, fuzz, nvcc, python, qemu, report, setup,
    slang, soc, sweeps, synth, wasm,
};
use crate::installation;
use crate::machine;
use crate::packages::{Need, PACKAGES};
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, Totals, lacking};
use crate::status::Status;
use crate::test_runner::run_tests;
use crate::tidy;

/// How much of it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Without the stages that build the workspace for release, and without [`SLOW_TESTS`].
    Quick,
    /// What continuous integration runs.
    Usual,
    /// Tests that go through combinations go through all of them.
    Full,
}

/// Runs the command.
pub(crate) fn run(extent: Extent) -> Status {
    let mut stages = Stages::default();
    stages.stage("setup", || (setup_outcome(), Totals::default()));
    stages.one("format", || format().into());
    stages.one("clippy", || clippy().into());
    stages.one("documentation", || documentation().into());
    stages.stage("cargo test", || cargo_test(extent));
    stages.one("example", || example::check().into());
    no_std::host_stages(&mut stages);
    for target in DEVICE_TARGETS {
        match no_std::provide(target) {
            Ok(toolchain) => no_std::device_stage(&mut stages, target, toolchain),
            Err(missing) => {
                let why = format!("missing {}; run: {}", missing.what, missing.remedy);
                stages.one(&format!("no-std: {target}"), || lacking(why));
            }
        }
    }
    stages.one("tidy", || tidy::check_repository().into());
    stages.one("synth: reports", || synth::check().into());
    if extent == Extent::Quick {
        println!(
            "\n-- left out by --quick: sweeps, python, nvcc, gates, smoke, report, book, wasm, \
             qemu, slang, soc, formal, tests of `{SLOW_TESTS}`"
        );
    } else {
        sweeps::stages(&mut stages);
        python::stages(&mut stages);
        nvcc::stages(&mut stages);
        if extent == Extent::Full {
            nvcc::pack_stage(&mut stages);
            compilers::stages(&mut stages, None);
            accel_sim::stages(&mut stages);
        }
        release_stages(&mut stages);
        report::stages(&mut stages);
        book::stages(&mut stages);
        wasm::stages(&mut stages);
        qemu::stages(&mut stages);
        slang::stages(&mut stages);
        soc::stages(&mut stages);
        fpga::stages(&mut stages);
        formal::stages(&mut stages);
    }
    stages.finish()
}

fn setup_outcome() -> Outcome {
    let missing = setup::ensure();
    if missing.is_empty() {
        return Outcome::Passed;
    }
    lacking(installation::report(&missing).trim_end().replace('\n', "; "))
}

/// Crates outside the workspace, which cargo's `--workspace` and `--all` leave out.
const OTHER_CRATES: [&str; 9] = [
    "core/freestanding/Cargo.toml",
    "fuzz/Cargo.toml",
    "host-cli/python/Cargo.toml",
    example::MANIFEST,
    "fpga-softcore/boards/logger/Cargo.toml",
    "fpga-softcore/boards/support/Cargo.toml",
    "fpga-softcore/boards/qemu-riscv/Cargo.toml",
    "fpga-softcore/boards/qemu-cortex-m/Cargo.toml",
    "fpga-softcore/boards/soc/Cargo.toml",
];

fn format() -> Result<(), Failure> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    for manifest in OTHER_CRATES.into_iter().filter(|path| machine::root().join(path).is_file()) {
        let check = ["fmt", "--check", "--manifest-path", manifest];
        process::run(&mut process::cargo(&check))?;
    }
    Ok(())
}

fn clippy() -> Result<(), Failure> {
    const DENY: [&str; 3] = ["--", "-D", "warnings"];
    let workspace = ["clippy", "--locked", "--workspace", "--all-targets"];
    process::run(process::cargo(&workspace).args(DENY))?;
    let least =
        ["clippy", "--locked", "-p", "strata-cli", "--all-targets", "--no-default-features"];
    process::run(process::cargo(&least).args(DENY))?;
    if cfg!(target_os = "linux") {
        let program = ["clippy", "--locked", "--manifest-path", OTHER_CRATES[0], "--target-dir"];
        process::run(process::cargo(&program).arg(no_std::products()).args(DENY))?;
    }
    fuzz::clippy()?;
    example::clippy()?;
    python::clippy()
}

/// The documentation of the core, whose front page of the SM names the parts, and of the library:
/// without a warning.
fn documentation() -> Result<(), Failure> {
    let packages = ["-p", "strata-core", "-p", "strata", "--no-deps"];
    let mut doc = process::cargo(&["doc", "--locked"]);
    doc.args(packages);
    process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Tests that take as long as a third of all others: sweeps whose results a page holds.
const SLOW_TESTS: &str = "active_set_sweep::";

/// What tests look at to know that they are to go through every combination.
const FULL_TESTS: &str = "STRATA_FULL_TESTS";

fn tests(extent: Extent) -> Command {
    let mut cargo = process::cargo(&["test", "--locked", "--workspace", "--no-fail-fast"]);
    match extent {
        Extent::Full => cargo.env(FULL_TESTS, "1"),
        Extent::Quick | Extent::Usual => cargo.env_remove(FULL_TESTS),
    };
    if extent == Extent::Quick {
        cargo.args(["--", "--skip", SLOW_TESTS]);
    }
    cargo
}

fn cargo_test(extent: Extent) -> (Outcome, Totals) {
    run_tests(tests(extent))
}

fn release_stages(stages: &mut Stages) {
    let root = machine::root();
    if root.join("benches/src/bin/gates.rs").is_file() {
        stages.one("gates", gates);
    }
    let workloads = tidy::workload_names(&root);
    if !workloads.is_empty() {
        stages.one("smoke", || smoke(&workloads).into());
    }
}

/// The instruction-count gates: see `benches/gates.toml`.
fn gates() -> Outcome {
    let valgrind = PACKAGES
        .iter()
        .find(|package| package.need == Need::Gates && !package.probe.look().is_present());
    if let Some(package) = valgrind {
        return lacking(format!("{} is missing: {}", package.name, package.purpose));
    }
    process::run(&mut process::cargo(&[
        "run",
        "--locked",
        "--release",
        "-p",
        "strata-benches",
        "--bin",
        "gates",
    ]))
    .into()
}

/// The first command that a reader of the README types, which runs the suite, and the same with the
/// other groups of workloads.
fn smoke(workloads: &[String]) -> Result<(), Failure> {
    let mut text = String::new();
    let command = ["run", "--locked", "--release", "--", "run"];
    for arguments in [&command[..], &[&command[..], &["@extra", "@storage", "@registers"]].concat()]
    {
        let mut run = process::cargo(arguments);
        let status = process::watch(&mut run, |line| {
            text.push_str(line);
            text.push('\n');
        })?;
        process::check(&run, status)?;
    }
    judge_smoke(&text, workloads)
}

fn judge_smoke(text: &str, workloads: &[String]) -> Result<(), Failure> {
    let absent: Vec<&str> =
        workloads.iter().map(String::as_str).filter(|name| !text.contains(name)).collect();
    if absent.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("the table does not show {}", absent.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_of_the_full_extent_only() {
        let told = |extent| {
            let cargo = tests(extent);
            cargo.get_envs().any(|(name, value)| name == FULL_TESTS && value.is_some())
        };
        assert!(told(Extent::Full) && !told(Extent::Usual) && !told(Extent::Quick));
    }

    #[test]
    fn the_table_has_to_show_every_workload() {
        let workloads = ["bfs".to_owned(), "srad".to_owned()];
        assert!(judge_smoke("bfs 1\nsrad 2\n", &workloads).is_ok());
        let Failure(why) = judge_smoke("bfs 1\n", &workloads).expect_err("srad is absent");
        assert!(why.contains("srad") && !why.contains("bfs"), "{why}");
    }
}
