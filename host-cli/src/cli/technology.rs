//! Command line of `technology`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::by_name;
use strata_design::memory::MemoryKind;

/// What technology files hold, for `--help`.
pub(super) fn files() -> String {
    let built_in: Vec<_> =
        strata_design::storage_technology::names().map(|name| format!("`{name}`")).collect();
    format!(
        "A design file names a technology file by `technology = \"FILE.toml\"`, relative to \
         itself. These are all its keys; every value has a unit and a source, which reports \
         show.\n\n{}\n\nThe energy of an SM with all its storage is that of other files, which a \
         design file names by `storage_technologies = [\"FILE.toml\"]`; {} are built in. \
         These are all their keys:\n\n{}",
        strata_design::import::FORMAT,
        built_in.join(", "),
        strata_design::storage_technology::FORMAT
    )
}

/// Commands on technologies.
#[derive(Debug, Subcommand)]
pub enum TechnologyCommand {
    /// Write a technology file from the text that NVSim or CACTI printed.
    Import(ImportArgs),
}

/// Arguments of `technology import`.
#[derive(Clone, Debug, Args)]
pub struct ImportArgs {
    /// What the program printed.
    #[arg(value_name = "OUTPUT.txt")]
    pub file: PathBuf,
    /// The program. Default: found out from the text.
    #[arg(long, value_enum)]
    pub from: Option<ImportFrom>,
    /// Kind of memory. Default: what the text says; CACTI's is SRAM.
    #[arg(long, value_parser = by_name::parser::<MemoryKind>())]
    pub memory: Option<MemoryKind>,
    /// Banks that the array stands for: each leaks its part. Default: what CACTI says, 1 for NVSim.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub banks: Option<u32>,
    /// Bits that one access reads or writes: the `-output/input bus width` of CACTI's
    /// configuration, which CACTI does not print and whose energy it prints. Needed for CACTI.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub bits: Option<u32>,
    /// Name of the technology. Default: the file's.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// File to write. Default: standard output.
    #[arg(long, short, value_name = "OUT.toml")]
    pub output: Option<PathBuf>,
    /// Replace a file that `technology import` did not write. Without it only such a file is
    /// replaced.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Programs whose output can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// NVSim.
    Nvsim,
    /// CACTI 6.5 or 7.
    Cacti,
}
