//! Output of `run`: rows for other programs as soon as they and all before them are finished, what
//! is to be read at the end.

use std::collections::BTreeSet;

use crate::cli::{Format, RunArgs};
use crate::printer::Printer;
use strata_design::Design;
use strata_figures::plot::{self, Axes, Plot};
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::options::Mode;
use strata_report::columns::{Columns, Form, check_names};
use strata_report::rows::Layout;
use strata_report::{self as report, RunReport, storage_table};
use strata_study::sweep::row;

/// Columns of sweeps that the rows of a run have not.
const NOT_OF_RUNS: [&str; 6] = ["key", "scale", "set", "check", "digest", "error"];

/// Where reports go.
pub(super) struct Rows<'a> {
    args: &'a RunArgs,
    printer: &'a Printer,
    /// Remarks for a table to read.
    remarks: Vec<String>,
    /// Of rows for other programs, the columns.
    names: Vec<String>,
    plot: Option<Plot>,
    when: When,
}

/// When reports are printed.
enum When {
    /// All at the end.
    AtEnd(Vec<RunReport>),
    /// Each at once.
    AtOnce {
        /// Whether a row was printed.
        begun: bool,
    },
}

impl<'a> Rows<'a> {
    /// Where the reports of inputs under these designs go.
    pub(super) fn new(
        args: &'a RunArgs,
        designs: &[Design],
        plot: Option<Plot>,
        remarks: Vec<String>,
        printer: &'a Printer,
    ) -> Self {
        let at_once = plot.is_none() && matches!(args.format, Format::Jsonl | Format::Csv);
        let when = if at_once { When::AtOnce { begun: false } } else { When::AtEnd(Vec::new()) };
        let names = if is_whole(args) { every_column(designs) } else { args.columns.names.clone() };
        Self { args, printer, remarks, names, plot, when }
    }

    /// Takes the reports of the next input. Returns whether there is still a reader.
    pub(super) fn take(&mut self, reports: Vec<RunReport>) -> Result<bool, Failure> {
        let header = match &mut self.when {
            When::AtEnd(all) => {
                all.extend(reports);
                return Ok(true);
            }
            When::AtOnce { begun } => !std::mem::replace(begun, true),
        };
        let text = if self.args.format == Format::Jsonl {
            json_lines(self.args, &reports)?
        } else {
            let columns = self.columns(&reports)?;
            let header = if header { columns.csv_header() } else { String::new() };
            header + &columns.csv_rows()
        };
        self.printer.part(&text)
    }

    /// Prints what is left, and draws it if it is `whole`.
    pub(super) fn end(self, whole: bool) -> Result<ExitStatus, Failure> {
        let reports = match self.when {
            When::AtEnd(ref reports) => reports,
            // Without any input there is a header all the same.
            When::AtOnce { begun: false } if self.args.format == Format::Csv => {
                return self.printer.data(&self.columns(&[])?.csv_header());
            }
            When::AtOnce { .. } => return Ok(ExitStatus::Success),
        };
        let columns = Layout::of(reports).columns(reports);
        let plot = self.plot.as_ref().filter(|_| whole);
        let drawn = plot::draw(plot, &columns, &axes(self.args.mode), &plot::typed());
        let status = self.printed(reports)?;
        drawn.map(|()| status)
    }

    /// Prints all reports.
    fn printed(&self, reports: &[RunReport]) -> Result<ExitStatus, Failure> {
        let Self { args, printer, .. } = self;
        let form = match args.format {
            Format::Table if is_whole(args) => {
                return printer.data(&report::table::to_text(reports, &self.remarks));
            }
            Format::Json if is_whole(args) => {
                return printer.data(&report::json::to_text(&reports)?);
            }
            Format::Digest => return printer.data(&report::digest::to_text(reports)),
            format => form(format)?,
        };
        // To read, without columns that no row has.
        let is_read = !matches!(args.format, Format::Csv | Format::Parquet);
        if is_read && is_whole(args) {
            return printer.table(&Layout::of(reports).columns(reports), form);
        }
        printer.table(&self.columns(reports)?, form)
    }

    /// Reports under the columns.
    fn columns(&self, reports: &[RunReport]) -> Result<Columns, Failure> {
        let columns = Layout::of(reports).columns(reports);
        let unknown = columns.header.iter().find(|name| !self.names.contains(name));
        if let Some(name) = unknown.filter(|_| is_whole(self.args)) {
            return Err(Failure::internal(&format!("no run has a column `{name}`")));
        }
        under(&self.names, columns)
    }
}

/// What `--plot` draws.
const fn axes(mode: Mode) -> Axes<'static> {
    let y: &[&str] = match mode {
        Mode::Count => &["energy_relative_percent"],
        Mode::Cycle => &["ipc"],
    };
    Axes { x: "workload", y, series: &["design", "order"], only: None, kind: Kind::Bars }
}

/// Whether no columns are chosen.
fn is_whole(args: &RunArgs) -> bool {
    args.columns.names.is_empty()
}

/// The columns of any run in the order of those of sweeps, and behind them those of technologies of
/// storage that designs name.
fn every_column(designs: &[Design]) -> Vec<String> {
    let known = row::columns().iter().map(|column| column.name.clone());
    let known = known.filter(|name| !NOT_OF_RUNS.contains(&name.as_str()));
    let technologies = designs.iter().flat_map(|design| &design.storage_technologies);
    let technologies: BTreeSet<&str> = technologies.map(|of| of.name.as_str()).collect();
    known.chain(technologies.into_iter().flat_map(storage_table::columns_in)).collect()
}

/// These columns alone. What another mode or design would have is empty.
fn under(names: &[String], mut columns: Columns) -> Result<Columns, Failure> {
    columns.add_empty(names.iter());
    columns.select(names)
}

fn json_lines(args: &RunArgs, reports: &[RunReport]) -> Result<String, Failure> {
    if is_whole(args) {
        return reports.iter().map(report::json::to_line).collect();
    }
    under(&args.columns.names, Layout::of(reports).columns(reports))?.json_lines()
}

/// Whether runs of these designs can have the columns that are asked for, and the format has
/// columns.
pub(super) fn check_columns(args: &RunArgs, designs: &[Design]) -> Result<(), Failure> {
    if is_whole(args) {
        return Ok(());
    }
    form(args.format)?;
    check_names(&args.columns.names, &every_column(designs))
}

/// How columns are written in a format.
pub(super) fn form(format: Format) -> Result<Form, Failure> {
    Ok(match format {
        Format::Table => Form::Table,
        Format::Json => Form::Json,
        Format::Jsonl => Form::JsonLines,
        Format::Csv => Form::Csv,
        Format::Markdown => Form::Markdown,
        Format::Parquet => Form::Parquet,
        Format::Digest => {
            return Err(Failure::input("a digest has no columns")
                .hint("leave `--columns` out, or choose another `--format`"));
        }
    })
}
