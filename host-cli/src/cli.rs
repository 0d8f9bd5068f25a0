//! Command line: what may be typed.

mod by_name;
pub mod data;
pub mod diff;
pub mod energy;
pub mod fpga;
pub mod pareto;
pub mod report;
pub mod reproduce;
pub mod source;
pub mod study;
pub mod sweep;
pub mod table;
pub mod technology;

use energy::EnergyArg;
pub use source::SourceArgs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};
use strata_compiler::RegisterLimit;
use table::{ColumnsArg, TableArgs};

use strata_measure::options::Mode;
use strata_measure::timeline::CycleRange;
use strata_report::lines::LineOrder;
use strata_workload::Toolchain;

/// A laboratory for the register file of a GPU streaming multiprocessor.
#[derive(Debug, Parser)]
#[command(name = "strata", version = version(), about, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 done; 1 a check or comparison failed; 2 the input was wrong; \
                        3 a broken invariant of strata itself; 130 \
                        ended by Ctrl-C (129 by SIGHUP, 143 by SIGTERM)."
)]
pub struct Cli {
    /// Print neither progress nor notes nor warnings to standard error.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colours: `auto` has them on terminals, unless the variable `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: clap::ColorChoice,
    /// Command.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Execute kernels and count what their register accesses do to a design.
    Run(RunArgs),
    /// Execute kernels and compare their results with what is expected, nothing else.
    Check(data::CheckArgs),
    /// Write a launch file to begin with for a kernel of a PTX file.
    LaunchTemplate(data::LaunchTemplateArgs),
    /// Record what was executed, look at recordings, export them to Accel-Sim's format.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Show a kernel as the machine sees it: registers, liveness, marks, statistics.
    Inspect(InspectArgs),
    /// Say everything that is known about the instructions of one line of PTX, and why each operand
    /// is in the level where it is.
    Explain(ExplainArgs),
    /// Sweep a parameter, with every input executed once.
    #[command(subcommand)]
    Study(study::StudyCommand),
    /// Evaluate every combination of inputs and designs, on as many processes as there are, into
    /// files; show what came out.
    Sweep(Box<sweep::SweepArgs>),
    /// Say what changes from one design, or run, to another, and which events cause it.
    Diff(diff::DiffArgs),
    /// Find the designs of a sweep that no other beats in energy, IPC or any other columns.
    Pareto(pareto::ParetoArgs),
    /// Remake the papers' figures and tables beside what they print: data, drawings, one page.
    Reproduce(reproduce::ReproduceArgs),
    /// Make one page of your own runs: where operands come from, energy, stalls, the dearest lines,
    /// warps in time.
    Report(report::ReportArgs),
    /// Run the prototype in hardware: stream accesses to a board, and compare its counters.
    #[command(subcommand)]
    Fpga(fpga::FpgaCommand),
    /// List the built-in workloads; formats other than a table have a row for each size.
    Workloads(TableArgs),
    /// List the named machines and designs; formats other than a table have a column for each key
    /// of design files, which `--help` explains.
    #[command(after_long_help = design_files())]
    Designs(TableArgs),
    /// Storage, area, and energy per access of a design.
    Cost {
        /// A design's name or a design file.
        design: String,
        /// Where energy comes from that no table prints.
        #[command(flatten)]
        energy: EnergyArg,
    },
    /// Make technology files for designs from what NVSim and CACTI print; `--help` explains them.
    #[command(subcommand, after_long_help = technology::files())]
    Technology(technology::TechnologyCommand),
    /// Recompute every figure of the papers that must come out exactly.
    Exact,
    /// Say which outside tools are found, which are missing, and how to install them.
    Doctor,
    /// Print a shell completion script.
    Completions {
        /// Shell to complete for.
        shell: clap_complete::Shell,
    },
    /// Print a page for `man`: of the program, or of a command.
    Man {
        /// Command, with those below it: `sweep table`. Default: the program.
        command: Vec<String>,
    },
    /// Print the JSON schema of what a command writes with `--format json`.
    Schema {
        /// Command.
        #[arg(value_enum, default_value_t = Described::Run)]
        of: Described,
    },
}

/// The program's version and the model's.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        format!("{} (model {})", env!("CARGO_PKG_VERSION"), strata_core::MODEL_VERSION)
    });
    &VERSION
}

fn design_files() -> String {
    format!(
        "A design file ends in `.toml` and can be given wherever a design is named. Behind a name \
         or a file, its keys can be given one by one: `--design isca11-rfc6,cache.entries=4,\
         active_warps=6`. Only `base` is needed. These are all keys, with examples of values: a \
         key that is left out keeps what the base has, which `strata cost` and every report's \
         `changed` lines show.\n\n{}",
        strata_design::file::FORMAT
    )
}

/// Commands on recordings, and on what is recorded.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Record a workload, a PTX file, or Accel-Sim traces.
    Record {
        /// Workload name, PTX file, or Accel-Sim trace.
        #[arg(value_name = "WORKLOAD|FILE.ptx|kernelslist.g")]
        input: String,
        /// File to write.
        #[arg(long, short, value_name = "F.strata")]
        output: PathBuf,
        /// Replace a file that is no recording. Without it only a recording is replaced.
        #[arg(long)]
        force: bool,
        /// What to execute.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Write one launch of a workload or PTX file as Rust source for the firmware's image.
    Embed {
        /// Workload name or PTX file.
        #[arg(value_name = "WORKLOAD|FILE.ptx")]
        input: String,
        /// File to write.
        #[arg(long, short, value_name = "F.rs")]
        output: PathBuf,
        /// Replace a file that `trace embed` did not write. Without it only such a file is
        /// replaced.
        #[arg(long)]
        force: bool,
        /// What to execute.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Say what a recording holds.
    Info {
        /// Recording.
        #[arg(value_name = "F.strata")]
        file: PathBuf,
        /// How it is printed.
        #[command(flatten)]
        table: TableArgs,
    },
    /// Write a recording, or what a workload executes, as Accel-Sim traces, version 5.
    Export {
        /// Recording, workload name, or PTX file.
        #[arg(value_name = "F.strata|WORKLOAD|FILE.ptx")]
        input: String,
        /// Folder to write to: new, empty, or of an earlier export, which is replaced.
        #[arg(long, short, value_name = "FOLDER")]
        output: PathBuf,
        /// Export instructions too whose registers a trace cannot name, with those that it can.
        #[arg(long)]
        approximate: bool,
        /// What to execute.
        #[command(flatten)]
        source: SourceArgs,
    },
}

/// Commands with a JSON schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Described {
    /// `run`.
    Run,
    /// `inspect --profile`.
    Inspect,
    /// `run --baseline`.
    Comparison,
    /// `diff`.
    Diff,
    /// `study active-warps`.
    ActiveWarps,
    /// `study encoding`.
    Encoding,
    /// `study write-pool`.
    WritePool,
    /// `study storage`.
    Storage,
    /// `study residency`.
    Residency,
    /// `fpga run`.
    Fpga,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table to read.
    Table,
    /// One JSON array; `strata schema` prints its schema.
    Json,
    /// One line for each workload and design, as soon as it is finished; the columns are the same
    /// whatever the mode and the design.
    Csv,
    /// The reports of `json`, one a line.
    Jsonl,
    /// A table of Markdown with a row for each workload and design.
    Markdown,
    /// A file of Parquet with a row for each workload and design.
    Parquet,
    /// One line for each workload and design with a digest of all counters, to compare machines.
    Digest,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("outputs").multiple(true))]
pub struct RunArgs {
    /// Workload names, groups of them (`@extra`), PTX files, Accel-Sim traces, or recordings; none
    /// means the suite.
    #[arg(value_name = "WORKLOAD|@GROUP|FILE.ptx|kernelslist.g|F.strata")]
    pub inputs: Vec<String>,
    /// Design to evaluate: a name (`strata designs`) or a design file, with any of its keys behind
    /// it. Repeat it for more. Default: `isca11`; without inputs `isca11` and `isca11-rfc6`.
    #[arg(long = "design", value_name = "NAME|FILE.toml[,KEY=VALUE...]")]
    pub designs: Vec<String>,
    /// Where energy comes from that no table prints.
    #[command(flatten)]
    pub energy: EnergyArg,
    /// Report what can be measured; inputs that cannot are errors, and the exit status is 1.
    #[arg(long, conflicts_with = "baseline")]
    pub keep_going: bool,
    /// Design that the others are compared with: print speed-ups and ratios of energy instead of
    /// counts, input by input and as geometric means.
    #[arg(long, value_name = "DESIGN", conflicts_with = "outputs")]
    pub baseline: Option<String>,
    /// With `--baseline`: run each input with seeds 0 to N-1; print means and standard deviations.
    #[arg(long, value_name = "N", requires = "baseline", value_parser = clap::value_parser!(u32)
        .range(1..=1000))]
    pub seeds: Option<u32>,
    /// `count` walks each warp's accesses in order; `cycle` also runs them through the SM in time.
    #[arg(long, value_parser = by_name::parser::<Mode>(), default_value = Mode::Count.name())]
    pub mode: Mode,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Which columns.
    #[command(flatten)]
    pub columns: ColumnsArg,
    /// With `--mode cycle`, one input and one design: also draw the first counted launch, cycle by
    /// cycle, into a file for <https://ui.perfetto.dev> (see docs/TIMELINE.md).
    #[arg(long, value_name = "OUT.json", group = "outputs")]
    pub timeline: Option<PathBuf>,
    /// Draw energy relative to the baseline, or IPC, into this file; a page has the numbers, too.
    #[arg(long, value_name = "OUT.svg|OUT.html", group = "outputs")]
    pub plot: Option<PathBuf>,
    /// Buffers to write.
    #[command(flatten)]
    pub dump: data::DumpArgs,
    /// Replace files of whatever kind; without it only those that such a command has written.
    #[arg(long, requires = "outputs")]
    pub force: bool,
    /// Cycles of the launch to draw, LAST not included. Default: 0..10000.
    #[arg(long, value_name = "FIRST..LAST", requires = "timeline")]
    pub timeline_cycles: Option<CycleRange>,
    /// Draw no further cycle after this many slices. Default: 1000000.
    #[arg(long, value_name = "N", requires = "timeline")]
    pub timeline_slices: Option<u64>,
}

/// What the marks and notes of a listing mean.
const LEGEND: &str = "\
Columns: instruction, line of the PTX, the line of CUDA where the PTX names it (`nvcc -lineinfo`),
marks, unit, instruction; behind `;`, notes.
Marks: `w` the warp may be descheduled before it; `b` a barrier; `l` a long-latency result.
Notes: `last` operands read for the last time; `last soon` those not read again before the next
possible deschedule; `unread` results that nothing reads; `not soon` results not read before the
next possible deschedule; `shared` results that a unit of the shared datapath may read; `join`
where a divergent branch reconverges; `spill`, `fill` to and from local memory; `again` a value
made again instead.
With a compiler-managed hierarchy: a line before each strand with the reason why it starts; `from`
operands read above the main register file, with their entries; `keep` operands that a first read
leaves there; `to` results written there.
Below each kernel: `runs`, or why the executor cannot take it; if that is so of one of them, the
exit status is 1.
Profile in cycle mode: `stalls` are the cycles in which resident warps did not issue, charged to the
instruction that each issues next, and `mostly` is where they stood in most of them
(docs/TIMELINE.md names the states). With a data cache: lookups of tags, of which hits, merged loads
(whose line is on its way) and misses; bytes that move from and to DRAM; cycles in which accesses
wait for banks of shared memory, of the cache, and with registers in the same banks. Blank: no
access. The last row has the sums, which are the counters of `strata run --mode cycle`.
Sorted profiles, JSON and CSV have one row for each line of PTX in each kernel: all instructions
that it became together.";

/// Arguments of `inspect`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = LEGEND)]
pub struct InspectArgs {
    /// A workload's name or a PTX file.
    #[arg(value_name = "WORKLOAD|FILE.ptx")]
    pub input: String,
    /// Execute, and add executions, operand sources and energy to each line; in cycle mode stalls,
    /// and of a design with a data cache tag lookups, bytes of DRAM and bank conflicts.
    #[arg(long)]
    pub profile: bool,
    /// With `--profile`: `count` walks each warp's accesses in order; `cycle` runs them through the
    /// SM in time, and shows how long warps wait to issue each line and what it does in a data
    /// cache. Default: `count`.
    #[arg(long, value_parser = by_name::parser::<Mode>())]
    pub mode: Option<Mode>,
    /// Design of the profile, or whose levels are shown if a compiler manages them: a name or a
    /// design file. Default: `isca11-rfc6`, in cycle mode `micro12`.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub design: Option<String>,
    /// With `--profile`: what the lines of PTX are sorted by, the dearest first. `energy` in count
    /// mode, `stalls` in cycle mode. Default: `line`, the order of the file.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<LineOrder>())]
    pub sort: Option<LineOrder>,
    /// With `--profile`: show only the first N lines of that order.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub top: Option<u32>,
    /// A listing; a graph for Graphviz (`dot -Tsvg`) of the blocks and what follows what; or a
    /// profile's lines.
    #[arg(long, value_enum, default_value_t = ListingFormat::Text)]
    pub format: ListingFormat,
    /// Which columns of a profile's lines.
    #[command(flatten)]
    pub columns: ColumnsArg,
    /// What to execute.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// How `inspect` shows a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListingFormat {
    /// An annotated listing; a table of lines where they are sorted or cut.
    Text,
    /// The control flow graph, in the language of Graphviz.
    Dot,
    /// With `--profile`: one JSON object; `strata schema inspect` prints its schema.
    Json,
    /// With `--profile`: one row for each line of PTX.
    Csv,
    /// The same as a table of Markdown.
    Markdown,
    /// The same as a file of Parquet.
    Parquet,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// A workload's name or a PTX file.
    #[arg(value_name = "WORKLOAD|FILE.ptx")]
    pub input: String,
    /// Line of the PTX, from 1: the second number of each line that `inspect` prints.
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub line: u32,
    /// Which PTX of a built-in workload. Default: `nvcc`.
    #[arg(long, value_name = "BY", value_parser = by_name::parser::<Toolchain>())]
    pub ptx: Option<Toolchain>,
    /// Only this kernel, where inlined functions are in several.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Design: a name or a design file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "isca11-rfc6")]
    pub design: String,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(
        i64::from(RegisterLimit::MIN)..=i64::from(RegisterLimit::MAX)
    ))]
    pub registers: Option<u16>,
}
