//! What to execute, as options of the command line.

use std::ops::Deref;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use strata_compiler::{Order, RegisterLimit};

use super::by_name;
use strata_measure::options::{Scale, Source};
use strata_workload::Toolchain;

/// What to execute: shared by the commands that run inputs.
#[derive(Clone, Debug)]
pub struct SourceArgs(Source);

impl Deref for SourceArgs {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.0
    }
}

impl FromArgMatches for SourceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        SourceOptions::from_arg_matches(matches).map(|options| Self(options.into()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SourceArgs {
    fn augment_args(command: Command) -> Command {
        SourceOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SourceOptions::augment_args_for_update(command)
    }
}

/// The options of a [`Source`], as they are typed.
#[derive(Clone, Debug, Args)]
struct SourceOptions {
    /// Launch description of a PTX file (see docs/WORKLOADS.md).
    #[arg(long, value_name = "L.toml")]
    launch: Option<PathBuf>,
    /// Problem size of workloads and PTX files. Default: `default`.
    #[arg(long, value_parser = by_name::parser::<Scale>())]
    scale: Option<Scale>,
    /// Which PTX of built-in workloads. Default: `nvcc`.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<Toolchain>())]
    ptx: Option<Toolchain>,
    /// Override a size parameter of the workload, such as `n=4096`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(
        i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
    ))]
    registers: Option<u16>,
    /// Order of instructions within basic blocks: that of PTX; by latencies, with the registers as
    /// allocated or without limit on them; or values close to their readers. Default: `ptx`.
    #[arg(
        long = "order", value_name = "ORDER", value_delimiter = ',',
        value_parser = by_name::parser::<Order>()
    )]
    orders: Vec<Order>,
    /// Count only launches of this kernel; all launches still execute.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Count only this launch, from 0; all launches still execute.
    #[arg(long, value_name = "N")]
    launch_index: Option<u64>,
    /// Count only this CTA of each launch (linear index); all CTAs still execute.
    #[arg(long, value_name = "N")]
    cta: Option<u64>,
    /// Stop with an error after this many warp instructions, all launches together. Default:
    /// 4000000000.
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
    /// Read trace files that a kernelslist.g names outside its own folder.
    #[arg(long)]
    allow_outside: bool,
}

impl From<SourceOptions> for Source {
    fn from(options: SourceOptions) -> Self {
        let SourceOptions {
            launch,
            scale,
            ptx,
            set,
            registers,
            orders,
            kernel,
            launch_index,
            cta,
            max_instructions,
            allow_outside,
        } = options;
        Self {
            launch,
            scale,
            ptx,
            set,
            registers,
            orders,
            kernel,
            launch_index,
            cta,
            max_instructions,
            allow_outside,
        }
    }
}
