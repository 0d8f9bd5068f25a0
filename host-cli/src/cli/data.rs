//! Command line of what goes in and comes out as data: `check`, and the files that buffers are
//! written into.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use strata_compiler::RegisterLimit;

use super::by_name;
use strata_measure::options::{Scale, Source};
use strata_workload::Toolchain;

/// Buffers that are written into files when all launches have ended.
#[derive(Clone, Debug, Args)]
pub struct DumpArgs {
    /// With one workload or PTX file: write what a buffer of its launch file holds in the end into
    /// a file for `NumPy` (`.npy`), a CSV file (`.csv`) or a file of nothing but its elements,
    /// little endian (`.bin`). Repeat it for more.
    #[arg(long = "dump", value_name = "BUFFER=FILE", group = "outputs")]
    pub dumps: Vec<String>,
}

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("outputs").multiple(true))]
pub struct CheckArgs {
    /// Workload names, groups of them (`@extra`), or PTX files; none means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// Launch description of a PTX file (see docs/WORKLOADS.md).
    #[arg(long, value_name = "L.toml")]
    pub launch: Option<PathBuf>,
    /// Problem size. Default: `default`.
    #[arg(long, value_parser = by_name::parser::<Scale>())]
    pub scale: Option<Scale>,
    /// Which PTX of built-in workloads. Default: `nvcc`.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<Toolchain>())]
    pub ptx: Option<Toolchain>,
    /// Override a size parameter of the workload, such as `n=4096`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(
        i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
    ))]
    pub registers: Option<u16>,
    /// Stop with an error after this many warp instructions, all launches together. Default:
    /// 4000000000.
    #[arg(long, value_name = "N")]
    pub max_instructions: Option<u64>,
    /// Buffers to write.
    #[command(flatten)]
    pub dump: DumpArgs,
    /// Replace files of whatever kind. Without it only an `.npy` file is replaced, by another.
    #[arg(long, requires = "outputs")]
    pub force: bool,
    /// Threads, at most 4 for each core. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// Arguments of `launch-template`.
#[derive(Clone, Debug, Args)]
pub struct LaunchTemplateArgs {
    /// PTX file; `-` is standard input.
    #[arg(value_name = "FILE.ptx")]
    pub file: String,
    /// Kernel. Default: the file's first.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// File to write. Default: standard output.
    #[arg(long, short, value_name = "L.toml")]
    pub output: Option<PathBuf>,
    /// Replace a file that is no such template. Without it only one is replaced.
    #[arg(long, requires = "output")]
    pub force: bool,
}

impl CheckArgs {
    /// What to execute: every launch of the inputs.
    pub fn source(&self) -> Source {
        Source {
            launch: self.launch.clone(),
            scale: self.scale,
            ptx: self.ptx,
            set: self.set.clone(),
            registers: self.registers,
            max_instructions: self.max_instructions,
            ..Source::of(Scale::Default)
        }
    }
}
