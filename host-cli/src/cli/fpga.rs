//! Command line of `fpga`: the prototype in hardware, and the boards that stand in for it.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use strata_core::prototype::regmap::LINE_BAUD;
use strata_link::message::MOST_ACCESSES;

use super::by_name;
use super::source::SourceArgs;
use strata_board::board::{BoardName, Target};

/// Commands on the prototype.
#[derive(Debug, Subcommand)]
pub enum FpgaCommand {
    /// Build and start the simulated board, say how to connect to it, and stay until Ctrl-C.
    Sim(SimArgs),
    /// Stream an input's register accesses to a board, and compare its counters with the model's.
    Run(FpgaRunArgs),
    /// Measure a board: ticks of its clock for each access and for each simulated instruction, and
    /// accesses in a second over the line.
    Bench(BenchArgs),
    /// Show what a board logs, until Ctrl-C.
    Monitor(MonitorArgs),
    /// Say what a board is, and test it.
    Info(InfoArgs),
    /// Synthesise the prototype for real boards, and report area and clock (`cargo xtask synth`).
    Synth {
        /// What to pass on.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
        options: Vec<String>,
    },
}

/// Which board to use.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(group = ArgGroup::new("line").required(true).args(["sim", "board", "port"]))]
pub struct ConnectArgs {
    /// Start the simulated board: the RTL with a RISC-V core, Verilated. Builds it the first time.
    #[arg(long)]
    pub sim: bool,
    /// Start a board that needs no RTL: its firmware moves the values in software.
    #[arg(long, value_parser = by_name::parser::<BoardName>())]
    pub board: Option<BoardName>,
    /// A board that runs: its serial device, such as `/dev/ttyUSB0`, or `HOST:PORT`.
    #[arg(long, value_name = "DEVICE|HOST:PORT")]
    pub port: Option<String>,
    /// Speed of a serial device. Unit: bits in a second.
    #[arg(long, value_name = "N", conflicts_with_all = ["sim", "board"],
        help = format!("Speed of a serial device. Unit: bits in a second. Default: {LINE_BAUD}"),
        value_parser = clap::value_parser!(u32).range(300..=4_000_000))]
    pub baud: Option<u32>,
}

impl ConnectArgs {
    /// The board that is asked for; without another the simulated one.
    pub fn target(&self) -> Target {
        match (&self.port, self.board) {
            (Some(name), _) => Target::Port { name: name.clone(), baud: self.baud },
            (None, Some(board)) => Target::Started(board),
            (None, None) => Target::Simulated,
        }
    }

    /// The options in their normal form.
    pub fn words(&self) -> Vec<String> {
        match self.target() {
            Target::Port { name, .. } => vec!["--port".to_owned(), name],
            Target::Started(board) => vec!["--board".to_owned(), board.name().to_owned()],
            Target::Simulated => vec!["--sim".to_owned()],
        }
    }
}

/// Arguments of `fpga sim`.
#[derive(Clone, Debug, Args)]
pub struct SimArgs {
    /// Port of this machine to listen on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub tcp: u16,
    /// A pseudo-terminal instead.
    #[arg(long, conflicts_with = "tcp")]
    pub pty: bool,
}

/// Arguments of `fpga run`.
#[derive(Clone, Debug, Args)]
pub struct FpgaRunArgs {
    /// Workload name, PTX file, Accel-Sim trace, or recording.
    #[arg(value_name = "WORKLOAD|FILE.ptx|kernelslist.g|F.strata")]
    pub input: String,
    /// The board.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Design to set the prototype to: a name (`strata designs`) or a design file. Repeat it for
    /// more. Default: `isca11-rfc6` and `warrf`.
    #[arg(long = "design", value_name = "NAME|FILE.toml")]
    pub designs: Vec<String>,
    /// Register accesses to stream, at least: the launches again and again if they have fewer.
    #[arg(long, value_name = "N", default_value_t = 300_000,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub accesses: u64,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = FpgaFormat::Table)]
    pub format: FpgaFormat,
}

/// Arguments of `fpga bench`.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// The board.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Design to set the prototype to. Repeat it for more. Default: `isca11-rfc6` and `warrf`.
    #[arg(long = "design", value_name = "NAME|FILE.toml")]
    pub designs: Vec<String>,
    /// Accesses to measure.
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ACCESSES)))]
    pub accesses: u32,
    /// Output format.
    #[arg(long, value_enum, default_value_t = FpgaFormat::Table)]
    pub format: FpgaFormat,
}

/// Arguments of `fpga monitor`.
#[derive(Clone, Debug, Args)]
pub struct MonitorArgs {
    /// The board.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The firmware that runs there, as it was built. Default: that of the board that is started,
    /// and the simulated board's otherwise.
    #[arg(long, value_name = "FIRMWARE.elf")]
    pub elf: Option<PathBuf>,
}

/// Arguments of `fpga info`.
#[derive(Clone, Debug, Args)]
pub struct InfoArgs {
    /// The board.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Also write and read patterns through every level of the prototype.
    #[arg(long)]
    pub self_test: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = FpgaFormat::Table)]
    pub format: FpgaFormat,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FpgaFormat {
    /// A table to read.
    Table,
    /// JSON; `strata schema fpga` prints the schema of `run`.
    Json,
}
