//! What may be typed after `study`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use strata_compiler::RegisterLimit;
use strata_core::sm::config::{MAX_LATENCY, Scheduler};
use strata_core::sm::expansion::Threshold;
use strata_core::sm::operand_delivery::MAX_ACCESS_CYCLES;
use strata_core::write_pool::{MAX_ENTRIES, PoolPorts};

use super::by_name;
use super::source::SourceArgs;
use super::table::{PlotArg, TableArgs};
use strata_design::pool_ports;
use strata_measure::options::{Scale, Source};
use strata_study::active_set::{DEFAULT_SIZES, Size};
use strata_study::study::storage::Figure;
use strata_workload::Toolchain;

/// Pool entries to try unless others are asked for.
const DEFAULT_ENTRIES: &str = "0,8,16,30,60,90,120";
/// Cycles of a write to try unless others are asked for.
const DEFAULT_WRITE_CYCLES: &str = "1,2,3,4,6,8";
/// Ports of the pool to try unless others are asked for.
const DEFAULT_PORTS: &str = "1rw,1r1w,2,4";

/// Studies.
#[derive(Clone, Debug, Subcommand)]
pub enum StudyCommand {
    /// IPC by the number of active warps of a two-level scheduler.
    ActiveWarps(ActiveWarpsArgs),
    /// Dynamic instructions with fewer and fewer registers, relative to none spilled.
    Registers(RegistersArgs),
    /// Energy of a compiler-managed hierarchy under idealisations, and with instructions scheduled.
    Limits(LimitsArgs),
    /// Names that a compiler-managed hierarchy needs in instructions, and what they cost.
    Encoding(EncodingArgs),
    /// IPC, writes, energy and wear by the size of a write pool and the cycles of a write.
    WritePool(WritePoolArgs),
    /// Performance and DRAM traffic by the capacity and the division of storage.
    Storage(StorageArgs),
    /// Resident CTAs and warps with registers in scratchpad memory.
    Residency(ResidencyArgs),
}

/// Arguments of `study active-warps`.
#[derive(Clone, Debug, Args)]
pub struct ActiveWarpsArgs {
    /// Workload names, groups of them (`@extra`), PTX files, Accel-Sim traces, or recordings; none
    /// means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx|kernelslist.g|F.strata")]
    pub inputs: Vec<String>,
    /// Designs: names (`strata designs`) or design files, whose own levels of scheduling do not
    /// matter. Default: `isca11`.
    #[arg(long = "design", value_name = "NAME|FILE.toml")]
    pub designs: Vec<String>,
    /// Sizes of the active set: 1 to 32, and `all` for a scheduler of one level.
    #[arg(
        long = "active-warps",
        value_name = "N,N,...",
        value_delimiter = ',',
        default_value = DEFAULT_SIZES
    )]
    pub sizes: Vec<Size>,
    /// Schedulers of the active set. Default: the design's own.
    #[arg(
        long = "scheduler", value_delimiter = ',',
        value_parser = by_name::parser::<Scheduler>()
    )]
    pub schedulers: Vec<Scheduler>,
    /// ALU latencies in cycles; branches and double precision follow. Default: the design's own.
    #[arg(
        long = "alu-latency",
        value_name = "N,N,...",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_LATENCY))
    )]
    pub alu_latencies: Vec<u16>,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// Arguments of `study storage`.
#[derive(Clone, Debug, Args)]
pub struct StorageArgs {
    /// Workload names, groups of them (`@storage`), or PTX files; none means those of the figure.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// The figure or table.
    #[arg(long, value_parser = by_name::parser::<Figure>(), default_value = Figure::Unified.name())]
    pub figure: Figure,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// The most of a CTA's registers that may lie in scratchpad memory, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdArg(pub Threshold);

impl std::str::FromStr for ThresholdArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a number above 0 and below 1 of at most 4 decimals".to_owned();
        let (whole, decimals) = text.split_once('.').ok_or_else(wrong)?;
        let digits = decimals.len() <= 4 && decimals.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(whole, "" | "0") || !digits {
            return Err(wrong());
        }
        let numerator = decimals.parse().map_err(|_| wrong())?;
        let denominator = 10_u16.pow(decimals.len() as u32);
        Threshold::new(numerator, denominator).map(Self).ok_or_else(wrong)
    }
}

impl std::fmt::Display for ThresholdArg {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (numerator, denominator) = self.0.parts();
        let digits = denominator.ilog10() as usize;
        write!(to, "0.{numerator:0digits$}")
    }
}

/// Arguments of `study residency`.
#[derive(Clone, Debug, Args)]
pub struct ResidencyArgs {
    /// Workload names, groups of them (`@extra`), or PTX files; none means all workloads. The
    /// paper's kernels are always there.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// The most of a CTA's registers that may lie in scratchpad memory, above 0 and below 1, with
    /// at most 4 decimals.
    #[arg(long, value_name = "N", default_value = "0.8")]
    pub threshold: ThresholdArg,
    /// Launch description of a PTX file (see docs/WORKLOADS.md).
    #[arg(long, value_name = "L.toml")]
    pub launch: Option<PathBuf>,
    /// Problem size of workloads and PTX files. Default: `default`.
    #[arg(long, value_parser = by_name::parser::<Scale>())]
    pub scale: Option<Scale>,
    /// Which PTX of built-in workloads. Default: `nvcc`.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<Toolchain>())]
    pub ptx: Option<Toolchain>,
    /// Override a size parameter of the workload, such as `n=4096`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs, and on Fermi at most 63.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(
        i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
    ))]
    pub registers: Option<u16>,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}

impl ResidencyArgs {
    /// What to compile.
    pub fn source(&self) -> Source {
        Source {
            launch: self.launch.clone(),
            scale: self.scale,
            ptx: self.ptx,
            set: self.set.clone(),
            registers: self.registers,
            ..Source::of(Scale::Default)
        }
    }
}

/// Arguments of `study registers`.
#[derive(Clone, Debug, Args)]
pub struct RegistersArgs {
    /// Workload names, groups of them (`@extra`), or PTX files; none means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// Registers of a thread to try, 16 to 255.
    #[arg(
        long = "try", value_name = "N,N,...", value_delimiter = ',',
        default_value = "18,24,32,40,64",
        value_parser = clap::value_parser!(u16).range(
            i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
        )
    )]
    pub counts: Vec<u16>,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// Arguments of `study limits`.
#[derive(Clone, Debug, Args)]
pub struct LimitsArgs {
    /// Workload names, groups of them (`@extra`), or PTX files; none means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// A design with a compiler-managed hierarchy: a name or a design file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "diss-orf3-lrf-split")]
    pub design: String,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Arguments of `study encoding`.
#[derive(Clone, Debug, Args)]
pub struct EncodingArgs {
    /// Workload names, groups of them (`@extra`), or PTX files; none means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx")]
    pub inputs: Vec<String>,
    /// A design with a compiler-managed hierarchy: a name or a design file. Its restriction of
    /// results in two levels is marked; all are shown.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "diss-orf3-lrf-split")]
    pub design: String,
    /// Bits of an operand specifier without a hierarchy, 5 to 8: 6 bits name 63 registers and none,
    /// 8 bits 255.
    #[arg(
        long, value_name = "N", default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(5..=8)
    )]
    pub specifier_bits: u32,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// Arguments of `study write-pool`.
#[derive(Clone, Debug, Args)]
pub struct WritePoolArgs {
    /// Workload names, groups of them (`@extra`), PTX files, Accel-Sim traces, or recordings; none
    /// means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx|kernelslist.g|F.strata")]
    pub inputs: Vec<String>,
    /// A design with operand collectors: a name or a design file. Each sweep starts from it and is
    /// run without and with split bank writes.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "warrf")]
    pub design: String,
    /// Entries of the write pool, 0 to 128; 0 for none. Swept for each kind of ports.
    #[arg(
        long, value_name = "N,N,...", value_delimiter = ',', default_value = DEFAULT_ENTRIES,
        value_parser = clap::value_parser!(u8).range(0..=MAX_ENTRIES as i64)
    )]
    pub entries: Vec<u8>,
    /// Accesses of the write pool in a cycle: `1rw` one, `1r1w` a read and a write, 2 to 8 that
    /// many of any kind.
    #[arg(
        long, value_name = "PORTS,...", value_delimiter = ',', default_value = DEFAULT_PORTS,
        value_parser = pool_ports::parse
    )]
    pub ports: Vec<PoolPorts>,
    /// Cycles for which a write takes its bank, 1 to 32; its energy stays.
    #[arg(
        long, value_name = "N,N,...", value_delimiter = ',', default_value = DEFAULT_WRITE_CYCLES,
        value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_ACCESS_CYCLES))
    )]
    pub write_cycles: Vec<u8>,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How it is printed.
    #[command(flatten)]
    pub table: TableArgs,
    /// A chart of it.
    #[command(flatten)]
    pub plot: PlotArg,
}
