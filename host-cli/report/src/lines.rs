//! Lines: what each line of PTX did in a run, in order of what it cost, in three formats.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use strata_compiler::program::Program;
use strata_core::named;
use strata_ptx::diagnostic::counted;
use strata_ptx::module::Module;

use strata_measure::stalls::Stalls;
use strata_measure::timeline;

use super::Tool;
use super::columns::{Cell, Columns};

named! {
    /// What lines of a profile are sorted by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LineOrder {
        /// Their place in the file.
        Line = "line",
        /// What their register accesses cost.
        Energy = "energy",
        /// How often warps executed them.
        Executions = "executions",
        /// How long warps waited to issue them.
        Stalls = "stalls",
    }
}

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.inspect/1";

/// What `inspect --profile` found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileReport {
    /// Layout version of this object.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// Command that makes it again, in one normal form.
    pub command: String,
    /// Workload's name, or the PTX file's.
    pub workload: String,
    /// Design's name.
    pub design: String,
    /// `count`: accesses in program order, without time; `cycle`: the SM in time.
    pub mode: String,
    /// What the lines are ordered by: `line`, `energy`, `executions` or `stalls`.
    pub sort: String,
    /// Kernels that were launched, in the order of the launch file.
    pub kernels: Vec<ProfiledKernel>,
    /// Sums over all lines of all kernels, those that are left out included.
    pub total: LineCost,
    /// How many lines hold instructions; `--top` may leave some out.
    pub lines_total: u64,
    /// The lines.
    pub lines: Vec<LineReport>,
}

/// A kernel that was launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProfiledKernel {
    /// Name.
    pub kernel: String,
    /// Launches that were counted.
    pub launches: u64,
}

/// What the instructions of one line of PTX did in one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineReport {
    /// The kernel, also of functions that are inlined in it.
    pub kernel: String,
    /// Line of the PTX, from 1.
    pub ptx_line: u32,
    /// File of CUDA that it was made from, as the PTX names it; null where it does not say. Of a
    /// line with instructions from several places the first.
    pub cuda_file: Option<String>,
    /// Line of that file, from 1; null where the PTX does not say.
    pub cuda_line: Option<u32>,
    /// The line without comment and semicolon.
    pub ptx: String,
    /// Instructions of the compiled kernel that the line became: several where it holds several
    /// statements, is in a function that is inlined more than once, or spills.
    pub instructions: u64,
    /// What they did.
    #[serde(flatten)]
    pub cost: LineCost,
    /// The line of CUDA for tables.
    #[serde(skip)]
    pub cuda_short: String,
}

/// What instructions did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineCost {
    /// Unit: warp instructions.
    pub executions: u64,
    /// Unit: thread instructions.
    pub thread_instructions: u64,
    /// Energy of register accesses; null in cycle mode, which does not tell it by instruction, and
    /// where the design's is not known. Unit: femtojoules.
    pub energy_fj: Option<u64>,
    /// Cycles in which resident warps did not issue while one of these instructions was their next;
    /// null in count mode. Unit: warp cycles.
    pub stall_cycles: Option<u64>,
    /// The same by where the warp stood, as docs/TIMELINE.md names it; those with 0 are left out;
    /// null in count mode.
    pub stalls: Option<BTreeMap<String, u64>>,
}

impl LineCost {
    /// With what warps have waited.
    #[must_use]
    pub fn with_stalls(self, stalls: &Stalls) -> Self {
        let by_name = stalls.by_name().filter(|(_, cycles)| *cycles > 0);
        let stalls_by_name = Some(by_name.collect());
        Self { stall_cycles: Some(stalls.total()), stalls: stalls_by_name, ..self }
    }

    /// The number that lines are ordered by; 0 where it is not known.
    fn key(&self, order: LineOrder) -> u64 {
        match order {
            LineOrder::Line => 0,
            LineOrder::Energy => self.energy_fj.unwrap_or(0),
            LineOrder::Executions => self.executions,
            LineOrder::Stalls => self.stall_cycles.unwrap_or(0),
        }
    }

    /// Where warps waited most, of equal ones the first by name.
    fn mostly(&self) -> &str {
        let stalls = self.stalls.iter().flatten();
        let most = stalls.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map_or("", |(name, _)| name)
    }
}

/// The lines of a program in the order of the file, each with what its instructions did: `cost` is
/// asked with their program counters.
///
/// # Errors
/// The first that `cost` gives.
pub fn of_program<E>(
    (module, text): (&Module, &str),
    program: &Program,
    mut cost: impl FnMut(&[usize]) -> Result<LineCost, E>,
) -> Result<Vec<LineReport>, E> {
    let mut by_line = BTreeMap::<u32, Vec<usize>>::new();
    for (pc, instruction) in program.instructions.iter().enumerate() {
        by_line.entry(instruction.line).or_default().push(pc);
    }
    let written: Vec<&str> = text.lines().collect();
    let report = |(ptx_line, pcs): (u32, Vec<usize>)| {
        let mut spans = pcs.iter().map(|&pc| program.instructions[pc].instruction.span);
        let cuda = spans.find_map(|span| module.cuda.of(span));
        let line = (ptx_line as usize).checked_sub(1).and_then(|line| written.get(line));
        Ok(LineReport {
            kernel: program.name.clone(),
            ptx_line,
            cuda_file: cuda.as_ref().map(|place| place.file.name.clone()),
            cuda_line: cuda.as_ref().map(|place| place.line),
            ptx: line.map_or_else(String::new, |line| words(timeline::statement(line))),
            instructions: pcs.len() as u64,
            cost: cost(&pcs)?,
            cuda_short: cuda.map_or_else(String::new, |place| place.short()),
        })
    };
    by_line.into_iter().map(report).collect()
}

/// A statement with single blanks.
fn words(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Orders lines: the dearest first, equal ones as they were.
pub fn sort(lines: &mut [LineReport], order: LineOrder) {
    lines.sort_by_key(|line| std::cmp::Reverse(line.cost.key(order)));
}

/// A value in a table: a number, or `-`.
fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Thousandths of a part of a whole as a percentage; `-` of nothing.
fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2).checked_div(u128::from(whole));
    tenths.map_or_else(|| "-".to_owned(), |tenths| format!("{}.{}", tenths / 10, tenths % 10))
}

/// Lanes of an execution on average, with one decimal; blank of none.
pub fn lanes(threads: u64, executions: u64) -> String {
    let tenths = (threads * 10).checked_div(executions);
    tenths.map_or_else(String::new, |tenths| format!("{}.{}", tenths / 10, tenths % 10))
}

/// Femtojoules in whole picojoules.
pub fn picojoules(energy: u64) -> u64 {
    energy / 1000 + u64::from(energy % 1000 >= 500)
}

/// A table to read, one row for each line and one for all.
pub fn to_table(report: &ProfileReport) -> String {
    let ProfileReport { design, sort, total, lines_total, lines, kernels, .. } = report;
    let in_time = total.stall_cycles.is_some();
    let unit = if in_time { "stalls in warp cycles" } else { "energy in pJ" };
    let mut text = format!(
        "design {design}; counts are of warps, {unit}; {} of {lines_total} lines by {sort}\n",
        lines.len()
    );
    for ProfiledKernel { kernel, launches } in kernels {
        let _ = writeln!(text, "{kernel}: {}", counted(launches, "launch"));
    }
    let width = |cells: &dyn Fn(&LineReport) -> usize, heading: &str| {
        lines.iter().map(cells).max().map_or(0, |widest| widest.max(heading.len()))
    };
    let named = kernels.len() > 1;
    let kernel_width = width(&|line| line.kernel.chars().count(), "kernel");
    let has_cuda = lines.iter().any(|line| !line.cuda_short.is_empty());
    let cuda_width = width(&|line| line.cuda_short.chars().count(), "CUDA");
    let place = |kernel: &str, line: &str, cuda: &str, ptx: &str| {
        let kernel = if named { format!(" {kernel:<kernel_width$}") } else { String::new() };
        let cuda = if has_cuda { format!(" {cuda:<cuda_width$}") } else { String::new() };
        format!("{kernel} {line:>5}{cuda}  {ptx}")
    };
    let (value, mostly) = if in_time { ("stalls", "mostly") } else { ("energy", "") };
    let heading = cells(["executed", "lanes", value, "%", mostly], in_time);
    let _ = writeln!(text, "\n{heading} |{}", place("kernel", "line", "CUDA", "PTX"));
    for line in lines {
        let cost = row(&line.cost, total, in_time);
        let ptx = timeline::shortened(&line.ptx);
        let number = line.ptx_line.to_string();
        let place = place(&line.kernel, &number, &line.cuda_short, &ptx);
        let _ = writeln!(text, "{cost} |{}", place.trim_end());
    }
    let _ = writeln!(text, "{} | all {lines_total} lines", row(total, total, in_time));
    text
}

fn row(cost: &LineCost, total: &LineCost, in_time: bool) -> String {
    let value = if in_time { cost.stall_cycles } else { cost.energy_fj };
    let whole = if in_time { total.stall_cycles } else { total.energy_fj };
    let share = value.zip(whole).map(|(value, whole)| percent(value, whole));
    cells(
        [
            &cost.executions.to_string(),
            &lanes(cost.thread_instructions, cost.executions),
            &shown(if in_time { value } else { value.map(picojoules) }),
            &share.unwrap_or_else(|| "-".to_owned()),
            cost.mostly(),
        ],
        in_time,
    )
}

fn cells([executed, lanes, value, share, mostly]: [&str; 5], in_time: bool) -> String {
    let mostly = if in_time { format!(" {mostly:<18}") } else { String::new() };
    format!("{executed:>10} {lanes:>5} {value:>10} {share:>5}{mostly}")
}

/// One row for each line, with the same columns in both modes.
pub fn to_columns(report: &ProfileReport) -> Columns {
    let names: Vec<String> = Stalls::default().by_name().map(|(name, _)| name).collect();
    let labels = ["kernel", "ptx_line", "cuda_file", "cuda_line", "instructions"];
    let costs = ["executions", "thread_instructions", "energy_fj", "stall_cycles"];
    let first = labels.into_iter().chain(costs).map(str::to_owned);
    let stalls = names.iter().map(|name| format!("stall_{name}"));
    let mut columns = Columns::new(first.chain(stalls).chain(["ptx".to_owned()]));
    for line in &report.lines {
        let LineCost { executions, thread_instructions, energy_fj, stall_cycles, stalls } =
            &line.cost;
        let mut row: Vec<Option<Cell>> = vec![
            Some((&line.kernel).into()),
            Some(line.ptx_line.into()),
            line.cuda_file.as_ref().map(Cell::from),
            line.cuda_line.map(Cell::from),
            Some(line.instructions.into()),
            Some((*executions).into()),
            Some((*thread_instructions).into()),
            energy_fj.map(Cell::from),
            stall_cycles.map(Cell::from),
        ];
        let cycles = |name: &String| {
            let stalls = stalls.as_ref()?;
            Some(stalls.get(name).copied().unwrap_or(0).into())
        };
        row.extend(names.iter().map(cycles));
        row.push(Some((&line.ptx).into()));
        columns.rows.push(row);
    }
    columns
}
