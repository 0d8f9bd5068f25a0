//! Command line of `diff`.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use super::by_name;
use super::energy::EnergyArg;
use super::source::SourceArgs;
use strata_measure::options::Mode;

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    /// What is compared: a design, or the JSON that `strata run --format json` wrote.
    #[arg(value_name = "DESIGN|RUN.json")]
    pub from: String,
    /// What it is compared with: of the same kind.
    #[arg(value_name = "DESIGN|RUN.json")]
    pub to: String,
    /// Of designs: workload names, groups of them (`@extra`), PTX files, Accel-Sim traces, or
    /// recordings; none means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx|kernelslist.g|F.strata")]
    pub inputs: Vec<String>,
    /// Of designs: show this many lines of PTX of each workload, those that changed most; by energy
    /// in count mode, by stalls in cycle mode.
    #[arg(long, value_name = "N", default_value = "0")]
    pub lines: usize,
    /// Where energy comes from that no table prints.
    #[command(flatten)]
    pub energy: EnergyArg,
    /// Of designs: `count` walks each warp's accesses in order; `cycle` also runs them through the
    /// SM in time.
    #[arg(long, value_parser = by_name::parser::<Mode>(), default_value = Mode::Count.name())]
    pub mode: Mode,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Table)]
    pub format: DiffFormat,
}

/// How a difference is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Tables to read.
    Table,
    /// One JSON object; `strata schema diff` prints its schema.
    Json,
}
