//! `qemu`: the firmware on emulated boards counts what the host counts, to the last counter.
//!
//! The host executes one workload and writes it as Rust source; each board's program is built with
//! it and run; the lines that come out of its UART have to be the host's for the same designs,
//! which have to be the same on every run and for every number of jobs. Each board's second
//! program, which answers a host, is left where `strata fpga` looks for it, and is asked everything
//! once.

mod probe;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::no_std::{self, Toolchain};
use crate::elf;
use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::Need;
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;

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

/// Names that source to a board's build.
pub(crate) const WORKLOAD_FILE: &str = "STRATA_WORKLOAD";

/// The program of each board that answers a host.
const ANSWERING: &str = "prototype";

/// The least level of the logs that are built in.
const LOGGED: &str = "info";

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

/// Builds the programs that answer a host, and puts them where the host looks for them.
pub(crate) fn build() -> Status {
    let mut all = Stages::default();
    all.one("qemu: workload", || embed().into());
    for board in &EMULATED {
        if !all.all_held() {
            break;
        }
        all.one(&format!("qemu: {}", board.name), || match provide(board) {
            Ok(toolchain) => board.build(toolchain).map(|_| ()).into(),
            Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
        });
    }
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
    installation::ensure_packages(Need::Boards)?;
    no_std::provide(board.target)
}

/// Where all of this is built.
pub(crate) fn products() -> PathBuf {
    machine::target_folder().join("boards")
}

/// The source that the boards' programs are built with.
pub(crate) fn embedded() -> PathBuf {
    products().join("workload.rs")
}

/// The host's program.
fn strata() -> Command {
    process::command(machine::target_folder().join("release/strata"))
}

/// Has the host execute the workload and write it as source, for the boards.
pub(crate) fn embed() -> Result<(), Failure> {
    process::run(&mut process::cargo(&["build", "--locked", "--release", "-p", "strata-cli"]))?;
    let folder = products();
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot create {}: {error}", folder.display())))?;
    let mut embed = strata();
    process::run(embed.args(["trace", "embed"]).args(WORKLOAD).arg("--output").arg(embedded()))
}

/// The host's lines; and the workload as source.
fn host() -> Result<Vec<String>, Failure> {
    embed()?;
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
    /// Builds both programs. Returns where they are: the one that reports, and the one that
    /// answers.
    fn build(&self, toolchain: Toolchain) -> Result<[PathBuf; 2], Failure> {
        let manifest = self.manifest();
        let folder = products();
        let mut build = no_std::device_build(&manifest, self.target, toolchain, &folder);
        build.env(WORKLOAD_FILE, embedded()).env("DEFMT_LOG", LOGGED);
        process::run(&mut build)?;
        let programs = toolchain.products(&folder).join(self.target).join("release");
        let answering = self.provide_firmware(&programs.join(ANSWERING))?;
        Ok([programs.join(self.name), answering])
    }

    fn manifest(&self) -> String {
        format!("{BOARDS}/{}/Cargo.toml", self.name)
    }

    /// Builds the programs, runs the one, compares its lines with the host's, and asks the other.
    fn holds(&self, toolchain: Toolchain, expected: &[String]) -> Result<(), Failure> {
        let [report, answering] = self.build(toolchain)?;
        if toolchain == Toolchain::Rustup {
            let manifest = self.manifest();
            let clippy = ["clippy", "--locked", "--release", "--manifest-path", &manifest];
            let mut clippy = process::cargo(&clippy);
            clippy.args(["--target", self.target, "--target-dir"]).arg(products());
            clippy.env(WORKLOAD_FILE, embedded()).env("DEFMT_LOG", LOGGED);
            process::run(clippy.args(["--", "-D", "warnings"]))?;
        }
        for program in [&report, &answering] {
            let elf::Sizes { flash, ram } = sizes(program)?;
            let name = program.display();
            println!("{name}: {flash} bytes of flash memory, {ram} of RAM without the stack");
        }
        let mut emulator = self.emulator(&report);
        let (status, text) = process::within(LIMIT, emulator.args(["-serial", "stdio"]))?;
        print!("{text}");
        judge(self.name, expected, status.success(), &text)?;
        probe::probe(self.name, &mut self.emulator(&answering))
    }

    /// The emulator with a program, but without a line.
    fn emulator(&self, program: &Path) -> Command {
        let mut emulator = process::command(self.emulator);
        emulator.args(self.machine).args(["-display", "none", "-monitor", "none"]);
        emulator.arg("-kernel").arg(program);
        emulator
    }

    /// Puts the program that answers a host where the host looks for it.
    fn provide_firmware(&self, program: &Path) -> Result<PathBuf, Failure> {
        let folder = machine::target_folder().join("fpga").join(self.name);
        let to = folder.join("firmware.elf");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::copy(program, &to))
            .map_err(|error| Failure(format!("cannot write {}: {error}", to.display())))?;
        Ok(to)
    }
}

fn sizes(program: &Path) -> Result<elf::Sizes, Failure> {
    let name = program.display();
    let file =
        std::fs::read(program).map_err(|error| Failure(format!("cannot read {name}: {error}")))?;
    elf::sizes(&file).ok_or_else(|| Failure(format!("{name} is no 32-bit program")))
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
            for file in
                ["Cargo.toml", "Cargo.lock", "report/memory.x", "prototype/memory.x", "src/main.rs"]
            {
                assert!(folder.join(file).is_file(), "{}: {file}", board.name);
            }
        }
    }
}
