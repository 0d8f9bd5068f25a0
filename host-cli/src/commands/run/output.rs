//! Output of `run`: rows as soon as they and all before them are finished, or everything at the
//! end where a row depends on later ones.

use crate::cli::{Format, Mode, RunArgs};
use crate::design::Design;
use crate::failure::{ExitStatus, Failure};
use crate::plot::{self, Axes, Plot};
use crate::printer::Printer;
use crate::report::columns::{Columns, Form, check_names};
use crate::report::rows::Layout;
use crate::report::{self, RunReport};
use crate::reproduce::figure::Kind;
use crate::subject::Subject;
use crate::sweep::row::{self, EXTRA};

/// Columns of sweeps that the rows of a run have not.
const NOT_OF_RUNS: [&str; 6] = ["key", "scale", "set", "check", "digest", "error"];

/// Where reports go.
pub(super) struct Rows<'a> {
    args: &'a RunArgs,
    printer: &'a Printer,
    /// Remarks for a table to read.
    remarks: Vec<String>,
    plot: Option<Plot>,
    when: When,
}

/// When reports are printed.
enum When {
    /// All at the end.
    AtEnd(Vec<RunReport>),
    /// Each at once: in these columns, if they are known yet.
    AtOnce(Option<Layout>),
}

impl<'a> Rows<'a> {
    /// Where the reports of these inputs under these designs go.
    pub(super) fn new(
        args: &'a RunArgs,
        (subjects, designs): (&[Subject], &[Design]),
        plot: Option<Plot>,
        remarks: Vec<String>,
        printer: &'a Printer,
    ) -> Self {
        let at_once = match args.format {
            _ if plot.is_some() => false,
            Format::Jsonl => true,
            Format::Csv => are_columns_known(args) || have_same_columns(args, subjects, designs),
            _ => false,
        };
        let when = if at_once { When::AtOnce(None) } else { When::AtEnd(Vec::new()) };
        Self { args, printer, remarks, plot, when }
    }

    /// Takes the reports of the next input. Returns whether there is still a reader.
    pub(super) fn take(&mut self, reports: Vec<RunReport>) -> Result<bool, Failure> {
        let text = match &mut self.when {
            When::AtEnd(all) => {
                all.extend(reports);
                return Ok(true);
            }
            When::AtOnce(layout) => match self.args.format {
                Format::Jsonl => json_lines(self.args, &reports)?,
                _ => csv_lines(self.args, layout, &reports)?,
            },
        };
        self.printer.part(&text)
    }

    /// Prints what is left, and draws it if it is `whole`.
    pub(super) fn end(self, whole: bool) -> Result<ExitStatus, Failure> {
        let Self { args, printer, remarks, plot, when } = self;
        let reports = match when {
            When::AtEnd(reports) => reports,
            // Without any input there is a header all the same.
            When::AtOnce(None) if args.format == Format::Csv => {
                return printer.data(&chosen(args, &Layout::default(), &[])?.csv_header());
            }
            When::AtOnce(_) => return Ok(ExitStatus::Success),
        };
        let columns = Layout::of(&reports).columns(&reports);
        let plot = plot.filter(|_| whole);
        let drawn = plot::draw(plot.as_ref(), &columns, &axes(args.mode), &plot::typed());
        let status = printed(args, &reports, &remarks, printer)?;
        drawn.map(|()| status)
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

/// Prints all reports.
fn printed(
    args: &RunArgs,
    reports: &[RunReport],
    remarks: &[String],
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let form = match args.format {
        Format::Table if is_whole(args) => {
            return printer.data(&report::table::to_text(reports, remarks));
        }
        Format::Json if is_whole(args) => {
            return printer.data(&report::json::to_text(&reports)?);
        }
        Format::Digest => return printer.data(&report::digest::to_text(reports)),
        format => form(format)?,
    };
    printer.columns(&chosen(args, &Layout::of(reports), reports)?, form)
}

/// Whether no columns are chosen.
fn is_whole(args: &RunArgs) -> bool {
    args.columns.names.is_empty()
}

/// The columns that are asked for. What another mode or design would have is empty.
fn chosen(args: &RunArgs, layout: &Layout, reports: &[RunReport]) -> Result<Columns, Failure> {
    let mut columns = layout.columns(reports);
    columns.add_empty(args.columns.names.iter().filter(|name| !name.starts_with(EXTRA)));
    columns.select(&args.columns.names)
}

fn json_lines(args: &RunArgs, reports: &[RunReport]) -> Result<String, Failure> {
    if is_whole(args) {
        return reports.iter().map(report::json::to_line).collect();
    }
    chosen(args, &Layout::of(reports), reports)?.json_lines()
}

/// The rows, behind the header if they are the first.
fn csv_lines(
    args: &RunArgs,
    layout: &mut Option<Layout>,
    reports: &[RunReport],
) -> Result<String, Failure> {
    let own = Layout::of(reports);
    let columns = chosen(args, &own, reports)?;
    let header = match layout {
        Some(first) if is_whole(args) && own != *first => {
            return Err(Failure::internal("inputs under the same designs have different columns"));
        }
        Some(_) => String::new(),
        None => {
            *layout = Some(own);
            columns.csv_header()
        }
    };
    Ok(header + &columns.csv_rows())
}

/// Whether the header follows from the command line: technologies of storage, whose columns may
/// have any name, are only known from reports.
fn are_columns_known(args: &RunArgs) -> bool {
    !is_whole(args) && args.columns.names.iter().all(|name| !name.starts_with(EXTRA))
}

/// Whether every input has the columns of the first: they are of one kind and taken whole, and the
/// designs have no part that only some inputs use.
fn have_same_columns(args: &RunArgs, subjects: &[Subject], designs: &[Design]) -> bool {
    let is_trace = |subject: &Subject| matches!(subject, Subject::Trace(_));
    let of_one_kind = subjects.windows(2).all(|pair| is_trace(&pair[0]) == is_trace(&pair[1]));
    let source = &args.source;
    let chosen = [
        source.kernel.is_some(),
        source.launch_index.is_some(),
        source.cta.is_some(),
        source.registers.is_some(),
    ];
    of_one_kind && !chosen.contains(&true) && designs.iter().all(Design::is_plain)
}

/// Whether a report can have the columns that are asked for, and the format has columns.
/// Technologies of storage have columns of any name.
pub(super) fn check_columns(args: &RunArgs) -> Result<(), Failure> {
    if is_whole(args) {
        return Ok(());
    }
    form(args.format)?;
    let names = args.columns.names.iter().filter(|name| !name.starts_with(EXTRA));
    let known = row::columns().iter().map(|column| column.name.clone());
    let known: Vec<_> = known.filter(|name| !NOT_OF_RUNS.contains(&name.as_str())).collect();
    check_names(&names.cloned().collect::<Vec<_>>(), &known)
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
