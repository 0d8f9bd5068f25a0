//! Command line of `sweep`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use strata_compiler::{Order, RegisterLimit};

use super::by_name;
use super::energy::EnergyArg;
use super::table::{PlotArg, TableFormat};

use strata_measure::options::{Mode, Scale};
use strata_study::sweep::begun::Share;
use strata_study::sweep::store::POINTS_PER_FILE;
use strata_workload::Toolchain;

/// What a sweep does, as an example.
const EXAMPLES: &str = "\
Values: a range `1..13` (both ends), a range with a step `8..48:8`, a list `sram|sttram` or
`4,8,16`. A list in brackets is one value: `also_leaves_for=[sfu]|[sfu,double]`.

  strata sweep --vary cache.entries=1..13 --vary active_warps=2..16 \\
      --workload matrixmul --scale small --mode cycle --out sweep
  strata sweep table sweep --pivot cache.entries active_warps ipc --format markdown

docs/SWEEPS.md describes files of sweeps, and lists the columns.";

/// Arguments of `sweep`.
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true, subcommand_negates_reqs = true,
    after_long_help = EXAMPLES
)]
pub struct SweepArgs {
    /// What to do with a sweep that was begun.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// What to sweep.
    #[command(flatten)]
    pub run: SweepRunArgs,
}

/// Commands on the folder of a sweep.
#[derive(Clone, Debug, Subcommand)]
pub enum SweepCommand {
    /// Say how many points are done, failed and left.
    Status {
        /// Folder of the sweep.
        folder: PathBuf,
    },
    /// Put the points into one file, sorted.
    Merge {
        /// Folder of the sweep.
        folder: PathBuf,
    },
    /// Print the points, sorted.
    Table(SweepTableArgs),
    /// Evaluate a batch that comes on standard input, and write its rows to standard output: what
    /// `--engine dask` runs on workers. Ends early when standard input ends.
    #[command(hide = true)]
    Worker,
}

/// Arguments of `sweep table`.
#[derive(Clone, Debug, Args)]
pub struct SweepTableArgs {
    /// Folder of the sweep.
    pub folder: PathBuf,
    /// Output format. Tables to read, and those of Markdown, have what differs between the points
    /// and the most important columns.
    #[arg(long, value_enum, default_value_t = TableFormat::Csv)]
    pub format: TableFormat,
    /// Only these columns, in this order.
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', conflicts_with = "pivot")]
    pub columns: Vec<String>,
    /// Compare the points with those of this design, or with these values in columns
    /// (`cache.entries=6,active_warps=8`), one of each input: columns with speed-up and ratios of
    /// energy and of its product with time, above 1 where the point is better, and rows with the
    /// geometric mean of each design over all inputs.
    #[arg(long, value_name = "DESIGN|COLUMN=VALUE,...")]
    pub baseline: Option<String>,
    /// Only points with this value in a column. Repeat it for more.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub wanted: Vec<String>,
    /// One value, in a line for each value of a column and a column for each value of another.
    #[arg(long, num_args = 3, value_names = ["ROWKEY", "COLKEY", "VALUE"])]
    pub pivot: Vec<String>,
    /// A chart of the pivot.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// Who evaluates points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Threads of this process.
    Local,
    /// A Dask cluster, by `HOST:PORT` of its scheduler; none for one on this machine.
    Dask(Option<String>),
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.strip_prefix("dask://");
        let is_address = |address: &&str| {
            let parts = address.rsplit_once(':');
            parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        match (text, address.filter(is_address)) {
            ("local", _) => Ok(Self::Local),
            ("dask", _) => Ok(Self::Dask(None)),
            (_, Some(address)) => Ok(Self::Dask(Some(address.to_owned()))),
            _ => Err("expected `local`, `dask`, or `dask://HOST:PORT` of a Dask scheduler".into()),
        }
    }
}

/// Who evaluates points, and how it gets at the program.
#[derive(Clone, Debug, Args)]
pub struct EngineArgs {
    /// Who evaluates the points: threads of this process (`local`), a Dask cluster, or one that is
    /// started on this machine for trying (`dask`), with as many workers as `--jobs`.
    #[arg(long, value_name = "local|dask|dask://HOST:PORT", default_value = "local")]
    pub engine: Engine,
    /// Python that has Dask. Default: what the variable `STRATA_PYTHON` says, or `python3`.
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// This program as the workers have it: an absolute path, or a name on their search path.
    /// Without it the program is sent to them.
    #[arg(long, value_name = "PATH")]
    pub worker_strata: Option<PathBuf>,
    /// Most points that a worker of a cluster gets at a time, of one input, which it executes for
    /// them. Default: 64.
    #[arg(long, value_name = "N")]
    pub batch: Option<NonZeroUsize>,
}

/// What `sweep` evaluates.
#[derive(Clone, Debug, Args)]
pub struct SweepRunArgs {
    /// File that describes the sweep, instead of the options that do (docs/SWEEPS.md).
    #[arg(value_name = "SWEEP.toml", conflicts_with_all = [
        "vary", "set", "workloads", "designs", "launch", "mode", "scale", "ptx", "order",
        "registers", "energy"
    ])]
    pub file: Option<PathBuf>,
    /// Values of a key of design files. Repeat it for more keys; every combination is a design.
    #[arg(long, value_name = "KEY=VALUES")]
    pub vary: Vec<String>,
    /// Workload name, group of them (`@extra`), PTX file, Accel-Sim trace, or recording. Repeat it
    /// for more. Default: the suite.
    #[arg(long = "workload", value_name = "WORKLOAD|@GROUP|FILE.ptx|kernelslist.g|F.strata")]
    pub workloads: Vec<String>,
    /// Design whose keys are varied: a name or a design file. Repeat it for more. Default:
    /// `isca11-rfc6`.
    #[arg(long = "design", value_name = "NAME|FILE.toml[,KEY=VALUE...]")]
    pub designs: Vec<String>,
    /// Where energy comes from that no table prints.
    #[command(flatten)]
    pub energy: EnergyArg,
    /// Values of a size parameter of the workloads, such as `n=1024|4096`, or of `seed`, which
    /// changes all random inputs.
    #[arg(long, value_name = "NAME=VALUES")]
    pub set: Vec<String>,
    /// Folder for the results: new, empty, or of a sweep, whose points are not run again.
    #[arg(long, value_name = "DIR", required = true)]
    pub out: Option<PathBuf>,
    /// Run only part I of N: several processes, on one machine or many, share the points.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Share>,
    /// `count` walks each warp's accesses in order; `cycle` also runs them through the SM in time.
    /// Default: `count`.
    #[arg(long, value_parser = by_name::parser::<Mode>())]
    pub mode: Option<Mode>,
    /// Launch description of PTX files (see docs/WORKLOADS.md).
    #[arg(long, value_name = "L.toml")]
    pub launch: Option<PathBuf>,
    /// Problem size of workloads and PTX files. Default: `default`.
    #[arg(long, value_parser = by_name::parser::<Scale>())]
    pub scale: Option<Scale>,
    /// Which PTX of built-in workloads. Default: `nvcc`.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<Toolchain>())]
    pub ptx: Option<Toolchain>,
    /// Order of instructions within basic blocks. Default: `ptx`.
    #[arg(long, value_name = "ORDER", value_parser = by_name::parser::<Order>())]
    pub order: Option<Order>,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(
        i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
    ))]
    pub registers: Option<u16>,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Most points of a file of results.
    #[arg(long, value_name = "N", default_value_t = POINTS_PER_FILE)]
    pub points_per_file: NonZeroUsize,
    /// Most memory that the paths and accesses of the inputs take, half of it those of one input.
    /// What takes more goes into recordings in the folder, until no point is left. Never changes a
    /// result. Unit: MiB; without it 2048.
    #[arg(long, value_name = "N")]
    pub keep_paths_mib: Option<usize>,
    /// Who evaluates the points.
    #[command(flatten)]
    pub engine: EngineArgs,
}
