//! `soc`: the board that has the prototype as hardware, simulated, and the firmware for it.
//!
//! Verilator translates `rtl/soc.sv`, a C++ compiler makes a program of it, cargo builds the
//! firmware; all three end up below the folder of build products, in `fpga/soc`. The simulator is
//! made again when its sources or tools are others than those that it was made from.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::no_std::{self, Toolchain};
use super::qemu;
use crate::elf;
use crate::hardware_tools::{self, HardwareTools};
use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::{Need, Tools};
use crate::process::{self, Failure};
use crate::processor;
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};
use crate::training;

/// What the board's processor runs.
const TARGET: &str = no_std::DEVICE_TARGETS[0];

/// The board's folder: the simulator's sources, and the firmware's crate.
const BOARD: &str = "fpga-softcore/boards/soc";

/// The hardware's folder.
const RTL: &str = "fpga-softcore/rtl";

/// The processor, in its wheel: with caches, and with all registers of machine mode.
pub(crate) const PROCESSOR: &str = "pythondata_cpu_vexriscv/verilog/VexRiscv_Full.v";

/// Where the memory begins, as in each `memory.x`.
const MEMORY_ORIGIN: u32 = 0x4000_0000;

/// Size of the simulated board's memory, as in `simulated/memory.x`. Unit: bytes.
const MEMORY_BYTES: u32 = 1024 * 1024;

/// Size of an FPGA's memory, as in `fpga/memory.x`. Unit: bytes.
const FPGA_MEMORY_BYTES: u32 = 256 * 1024;

/// Logs that are built in: without it there are none.
const LOG_LEVEL: (&str, &str) = ("DEFMT_LOG", "info");

/// The simulator.
const PROGRAM: &str = "strata-soc";

/// The firmware's image, for the simulator's memory.
const IMAGE: &str = "firmware.hex";

/// What is compiled of Verilator's translation.
const JOINED: &str = "joined.cpp";

/// Why it could not be built.
enum Obstacle {
    /// Something has to be installed.
    Missing(Missing),
    /// A tool refused.
    Failed(Failure),
}

impl From<Missing> for Obstacle {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl From<Failure> for Obstacle {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Runs the command.
pub(crate) fn run() -> Status {
    match build() {
        Ok(_) => {
            for name in [PROGRAM, "firmware.elf", IMAGE] {
                println!("{}", products().join(name).display());
            }
            Status::Done
        }
        Err(Obstacle::Missing(missing)) => {
            eprint!("{}", installation::report(&[missing]));
            Status::Unusable
        }
        Err(Obstacle::Failed(Failure(why))) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}

/// The stages: all is built, and the firmware's crate is clean; the board is tested.
pub(crate) fn stages(stages: &mut Stages) {
    let mut is_built = false;
    stages.one("soc: build", || match build().and_then(lint) {
        Ok(()) => {
            is_built = true;
            Outcome::Passed
        }
        Err(Obstacle::Missing(Missing { what, remedy })) => {
            lacking(format!("missing {what}; run: {remedy}"))
        }
        Err(Obstacle::Failed(Failure(why))) => Outcome::Failed(why),
    });
    if is_built {
        let mut cargo = one_test("soc");
        cargo.env("STRATA_SOC", products());
        stages.stage("soc: tests", || run_tests(cargo));
    }
}

/// Clippy, where there is one for the device.
fn lint(toolchain: Toolchain) -> Result<(), Obstacle> {
    if toolchain == Toolchain::Rustup {
        let manifest = format!("{BOARD}/Cargo.toml");
        let mut clippy =
            process::cargo(&["clippy", "--locked", "--release", "--manifest-path", &manifest]);
        clippy.args(["--target", TARGET, "--target-dir"]).arg(qemu::products());
        clippy.env(qemu::WORKLOAD_FILE, qemu::embedded()).env(LOG_LEVEL.0, LOG_LEVEL.1);
        process::run(clippy.args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Where all of it lies.
pub(crate) fn products() -> PathBuf {
    machine::target_folder().join("fpga/soc")
}

/// Builds what is not there. Returns where the device's libraries come from.
fn build() -> Result<Toolchain, Obstacle> {
    installation::ensure_packages(Need::Cpp)?;
    installation::ensure_packages(Need::Hardware)?;
    let tools = hardware_tools::ensure(Tools::Soc)?;
    let toolchain = no_std::provide(TARGET)?;
    std::fs::create_dir_all(products()).map_err(|error| trouble("create", &products(), &error))?;
    firmware(toolchain)?;
    simulator(&tools)?;
    Ok(toolchain)
}

fn trouble(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("cannot {what} {}: {error}", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| trouble("read", path, &error))
}

/// Writes a file as a whole: no reader sees a part of it.
fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, content).map_err(|error| trouble("write", &draft, &error))?;
    std::fs::rename(&draft, path).map_err(|error| trouble("write", path, &error))
}

/// The files of a folder with one of some extensions, in order.
fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| trouble("list", folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
    });
    paths.sort();
    Ok(paths)
}

/// Builds the simulator, unless there is one from the same sources by the same tools.
///
/// It is compiled twice: the first counts what runs often while the board measures itself, the
/// second is laid out for it. The firmware has to be there.
fn simulator(tools: &HardwareTools) -> Result<(), Failure> {
    let processor = tools.package_file(PROCESSOR).ok_or_else(|| {
        Failure(format!("the wheel of the processor is there, but not its file {PROCESSOR}"))
    })?;
    let processor =
        processor::for_simulation(&String::from_utf8_lossy(&read(&processor)?)).map_err(Failure)?;
    let rtl = files(&machine::root().join(RTL), &["sv", "svh"])?;
    let sources = files(&machine::root().join(BOARD).join("sim"), &["cpp", "hpp", "vlt"])?;
    let build = products().join("build");
    let mut translate = translation(&build, &rtl);
    let mut compile = compilation(&build, &sources, "-fprofile-generate")?;
    let mut compile_again = compilation(&build, &sources, "-fprofile-use")?;

    let mut hasher = DefaultHasher::new();
    for tool in ["verilator", "c++"] {
        machine::version_line(tool).hash(&mut hasher);
    }
    for command in [&translate, &compile, &compile_again] {
        process::spelled(command).hash(&mut hasher);
    }
    processor.hash(&mut hasher);
    for path in rtl.iter().chain(&sources) {
        path.hash(&mut hasher);
        read(path)?.hash(&mut hasher);
    }
    let stamp = format!("{:016x}\n", hasher.finish());
    let (program, stamped) = (products().join(PROGRAM), products().join("strata-soc.stamp"));
    if program.is_file() && std::fs::read_to_string(&stamped).is_ok_and(|found| found == stamp) {
        return Ok(());
    }

    // What an earlier translation left would be compiled too.
    if build.is_dir() {
        std::fs::remove_dir_all(&build).map_err(|error| trouble("empty", &build, &error))?;
    }
    std::fs::create_dir_all(&build).map_err(|error| trouble("create", &build, &error))?;
    write(&build.join("VexRiscv.v"), processor.as_bytes())?;
    process::run(&mut translate)?;
    join(&build)?;
    process::run(&mut compile)?;
    let made = build.join(PROGRAM);
    training::run(&made, &products().join(IMAGE))?;
    process::run(&mut compile_again)?;
    std::fs::rename(&made, &program).map_err(|error| trouble("move", &made, &error))?;
    write(&stamped, stamp.as_bytes())
}

/// Verilator's command: modules are found in files of their names, packages are not.
fn translation(build: &Path, rtl: &[PathBuf]) -> Command {
    let mut command = process::command("verilator");
    command.args(["--cc", "-Wall", "-O3", "--no-timing", "--noassert"]);
    command.args(["--x-assign", "fast", "--x-initial", "fast", "-DSTRATA_SIMULATION"]);
    command.args(["--top-module", "soc", "--prefix", "Vsoc"]);
    command.arg(format!("-GMemoryBytes={MEMORY_BYTES}")).arg("-Mdir").arg(build);
    command.arg("-y").arg(RTL).arg("-y").arg(build).arg(format!("{BOARD}/sim/soc.vlt"));
    let is_package = |path: &&PathBuf| {
        path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_pkg"))
    };
    command.args(rtl.iter().filter(is_package)).arg(format!("{RTL}/soc.sv"));
    command
}

/// The C++ compiler's command, that makes or uses a profile.
fn compilation(build: &Path, sources: &[PathBuf], profile: &str) -> Result<Command, Failure> {
    let root = machine::output("verilator", &["--getenv", "VERILATOR_ROOT"])
        .ok_or_else(|| Failure("verilator does not say where its sources are".to_owned()))?;
    let include = Path::new(&root).join("include");
    let mut command = process::command("c++");
    command
        .args(["-std=c++17", "-O2", "-pthread", profile])
        .arg(format!("-DMEMORY_BYTES={MEMORY_BYTES}"));
    for folder in [build, &include, &include.join("vltstd")] {
        command.arg("-I").arg(folder);
    }
    command.arg(build.join(JOINED));
    command.args(["verilated.cpp", "verilated_threads.cpp"].map(|name| include.join(name)));
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|found| found == "cpp");
    command.args(sources.iter().filter(is_source)).arg("-o").arg(build.join(PROGRAM));
    Ok(command)
}

/// Writes one file that includes all that Verilator has made: headers are read once, not once for
/// each of its files.
fn join(build: &Path) -> Result<(), Failure> {
    let mut text = String::new();
    for path in files(build, &["cpp"])? {
        text.push_str("#include \"");
        text.push_str(&path.display().to_string());
        text.push_str("\"\n");
    }
    write(&build.join(JOINED), text.as_bytes())
}

/// Builds the simulated board's firmware, with a launch, and its image for the simulator's memory.
fn firmware(toolchain: Toolchain) -> Result<(), Failure> {
    qemu::embed()?;
    let file = compiled(toolchain, Some(&qemu::embedded()))?;
    let image = image(&file, MEMORY_BYTES)?;
    write(&products().join("firmware.elf"), &file)?;
    write(&products().join(IMAGE), image.as_bytes())
}

/// Builds an FPGA's firmware, which has no launch. Returns the image for its memory.
pub(crate) fn fpga_image() -> Result<String, Failure> {
    let missing = |Missing { what, remedy }| Failure(format!("missing {what}; run: {remedy}"));
    let file = compiled(no_std::provide(TARGET).map_err(missing)?, None)?;
    image(&file, FPGA_MEMORY_BYTES)
}

/// The firmware, as an ELF file.
fn compiled(toolchain: Toolchain, workload: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let folder = qemu::products();
    let manifest = format!("{BOARD}/Cargo.toml");
    let mut build = no_std::device_build(&manifest, TARGET, toolchain, &folder);
    build.env(LOG_LEVEL.0, LOG_LEVEL.1);
    match workload {
        Some(path) => build.env(qemu::WORKLOAD_FILE, path),
        None => build.env_remove(qemu::WORKLOAD_FILE),
    };
    process::run(&mut build)?;
    read(&toolchain.products(&folder).join(TARGET).join("release/soc"))
}

/// Words of a memory, in hexadecimal.
fn image(file: &[u8], bytes: u32) -> Result<String, Failure> {
    let words = elf::image(file, MEMORY_ORIGIN, bytes)
        .map_err(|why| Failure(format!("the firmware of {BOARD}: {why}")))?;
    Ok(words.iter().flat_map(|word| [format!("{word:08x}"), "\n".to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memories_are_the_linker_s() {
        let region = |line: &str| {
            let (_, numbers) = line.split_once("ORIGIN = 0x")?;
            let (origin, length) = numbers.split_once(", LENGTH = ")?;
            let origin = u32::from_str_radix(origin, 16).ok()?;
            Some((origin, length.strip_suffix('K')?.parse::<u32>().ok()? * 1024))
        };
        for (script, bytes) in [
            (include_str!("../../../fpga-softcore/boards/soc/simulated/memory.x"), MEMORY_BYTES),
            (include_str!("../../../fpga-softcore/boards/soc/fpga/memory.x"), FPGA_MEMORY_BYTES),
        ] {
            let regions: Vec<(u32, u32)> = script.lines().filter_map(region).collect();
            let [(image, length), (ram, rest)] = regions[..] else { panic!("{regions:?}") };
            assert_eq!((image, image + length), (MEMORY_ORIGIN, ram));
            assert_eq!(length + rest, bytes);
        }
    }
}
