//! `qemu`: the firmware on emulated boards counts what the host counts, to the last counter.
//!
//! The host executes one workload and writes it as Rust source; each board's program is built with
//! it and run; the lines that come out of its UART have to be the host's for the same designs,
//! which have to be the same on every run and for every number of jobs.

use std::path::PathBuf;
use std::time::Duration;

use super::no_std::{self, Toolchain};
use super::setup::{self, Missing};
use super::test::lacking;
use crate::Status;
use crate::elf;
use crate::machine;
use crate::packages::Need;
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages};

/// A board that QEMU emulates.
struct Board {
    /// Folder below [`BOARDS`], and name of the program.
    name: &'static str,
    /// What its program is built for.
    target: &'static str,
    /// QEMU's program.
    emulator: &'static str,
    /// What makes it the board.
    machine: &'static [&'static str],
}

/// Where the boards' crates lie.
const BOARDS: &str = "fpga-softcore/boards";

/// All boards.
const EMULATED: [Board; 2] = [
    Board {
        name: "qemu-riscv",
        target: no_std::DEVICE_TARGETS[0],
        emulator: "qemu-system-riscv32",
        machine: &["-M", "virt", "-bios", "none"],
    },
    Board {
        name: "qemu-cortex-m",
        target: no_std::DEVICE_TARGETS[1],
        emulator: "qemu-system-arm",
        machine: &["-M", "mps2-an385", "-semihosting-config", "enable=on,target=native"],
    },
];

/// What is run: one launch with barriers, atomics, divergence, and more warps than are resident.
const WORKLOAD: [&str; 3] = ["histogram", "--scale", "small"];

/// The host's names of the designs that the firmware runs, in its order.
const DESIGNS: [&str; 4] = [
    "isca11",
    "isca11-rfc6",
    "fpga-softcore/firmware/designs/gto-single.toml",
    "fpga-softcore/firmware/designs/two-slots.toml",
];

/// A board ends in a second; one that has not after this never will.
const LIMIT: Duration = Duration::from_mins(2);

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut all = Stages::default();
    stages(&mut all);
    all.finish()
}

/// One stage for the host, and one for each board.
pub(crate) fn stages(stages: &mut Stages) {
    let mut expected = Vec::new();
    stages.one("qemu: host", || {
        let lines = host();
        lines.map(|lines| expected = lines).into()
    });
    for board in &EMULATED {
        stages.one(&format!("qemu: {}", board.name), || {
            if expected.is_empty() {
                return Outcome::Failed("the host gave nothing to compare with".to_owned());
            }
            match provide(board) {
                Ok(toolchain) => board.holds(toolchain, &expected).into(),
                Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
            }
        });
    }
}

fn provide(board: &Board) -> Result<Toolchain, Missing> {
    setup::ensure_packages(Need::Boards)?;
    no_std::provide(board.target)
}

/// Where all of this is built.
fn products() -> PathBuf {
    machine::target_folder().join("boards")
}

/// The source that the boards' programs are built with.
fn embedded() -> PathBuf {
    products().join("workload.rs")
}

/// The host's lines; and the workload as source, for the boards.
fn host() -> Result<Vec<String>, Failure> {
    process::run(&mut process::cargo(&["build", "--locked", "--release", "-p", "strata"]))?;
    let strata = || process::command(machine::target_folder().join("release/strata"));
    let folder = products();
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot create {}: {error}", folder.display())))?;
    let mut embed = strata();
    process::run(embed.args(["trace", "embed"]).args(WORKLOAD).arg("--output").arg(embedded()))?;
    let digests = |jobs: &str| {
        let mut text = String::new();
        for mode in ["count", "cycle"] {
            let mut run = strata();
            run.arg("run").args(WORKLOAD).args(["--format", "digest", "--mode", mode]);
            run.args(["--jobs", jobs]).args(DESIGNS.iter().flat_map(|name| ["--design", name]));
            text += &process::output(&mut run)?;
        }
        Ok::<_, Failure>(text)
    };
    let first = digests("1")?;
    for jobs in ["1", "2"] {
        compare(&format!("a second run with {jobs} jobs"), &first, &digests(jobs)?)?;
    }
    let lines: Vec<String> = first.lines().map(str::to_owned).collect();
    // Two modes of every design.
    if lines.len() == 2 * DESIGNS.len() {
        return Ok(lines);
    }
    Err(Failure(format!("the host printed {} lines:\n{first}", lines.len())))
}

impl Board {
    /// Builds the program, runs it, and holds its lines to the host's.
    fn holds(&self, toolchain: Toolchain, expected: &[String]) -> Result<(), Failure> {
        let manifest = format!("{BOARDS}/{}/Cargo.toml", self.name);
        let folder = products();
        let mut build = no_std::device_build(&manifest, self.target, toolchain, &folder);
        process::run(build.env("STRATA_WORKLOAD", embedded()))?;
        if toolchain == Toolchain::Rustup {
            let clippy = ["clippy", "--locked", "--release", "--manifest-path", &manifest];
            let mut clippy = process::cargo(&clippy);
            clippy.args(["--target", self.target, "--target-dir"]).arg(&folder);
            clippy.env("STRATA_WORKLOAD", embedded());
            process::run(clippy.args(["--", "-D", "warnings"]))?;
        }
        let program = toolchain.products(&folder).join(self.target).join("release").join(self.name);
        let file = std::fs::read(&program)
            .map_err(|error| Failure(format!("cannot read {}: {error}", program.display())))?;
        let elf::Sizes { flash, ram } = elf::sizes(&file)
            .ok_or_else(|| Failure(format!("{} is no 32-bit program", program.display())))?;
        println!("{}: {flash} bytes of flash memory, {ram} of RAM without the stack", self.name);
        let mut emulator = process::command(self.emulator);
        emulator.args(self.machine).args(["-display", "none", "-monitor", "none"]);
        emulator.args(["-serial", "stdio", "-kernel"]).arg(program);
        let (status, text) = process::within(LIMIT, &mut emulator)?;
        print!("{text}");
        judge(self.name, expected, status.success(), &text)
    }
}

/// A board has to print the host's lines, no others, and to end well.
fn judge(board: &str, expected: &[String], ended_well: bool, text: &str) -> Result<(), Failure> {
    let host: String = expected.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    compare(board, &host, text)?;
    if ended_well { Ok(()) } else { Err(Failure(format!("{board} did not end well:\n{text}"))) }
}

/// Equal texts; or both, one below the other.
fn compare(who: &str, host: &str, other: &str) -> Result<(), Failure> {
    if host == other {
        return Ok(());
    }
    Err(Failure(format!("{who} and the host differ\nthe host:\n{host}{who}:\n{other}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_has_to_print_the_host_s_lines_and_no_others() {
        let lines = ["w a count 01", "w a cycle 02 30"].map(str::to_owned);
        let good = "w a count 01\nw a cycle 02 30\n";
        assert!(judge("b", &lines, true, good).is_ok());
        for bad in [
            "",
            "w a count 01\n",
            "w a count 01\nw a cycle 02 31\n",
            "w a count 03\nw a cycle 02 30\n",
            "w a cycle 02 30\nw a count 01\n",
            "w a count 01\nw a cycle 02 30\nerror: more\n",
        ] {
            let Failure(why) = judge("b", &lines, true, bad).expect_err("the lines differ");
            assert!(why.starts_with("b and the host differ\n"), "{why}");
            assert!(why.contains(good) && why.ends_with(&format!("b:\n{bad}")), "{why}");
        }
        let Failure(why) = judge("b", &lines, false, good).expect_err("it did not end well");
        assert!(why.starts_with("b did not end well"), "{why}");
    }

    #[test]
    fn every_board_has_its_crate() {
        for board in &EMULATED {
            let folder = machine::root().join(BOARDS).join(board.name);
            for file in ["Cargo.toml", "Cargo.lock", "memory.x", "src/main.rs"] {
                assert!(folder.join(file).is_file(), "{}: {file}", board.name);
            }
        }
    }
}
