//! View: how a profile is shown, as the options say.

use crate::cli::{InspectArgs, ListingFormat};
use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::options::Mode;
use strata_measure::{Request, command_line};
use strata_report::columns::{Columns, Form};
use strata_report::json;
use strata_report::lines::LineOrder;
use strata_report::lines::{self, LineCost, LineReport, ProfileReport, ProfiledKernel};
use strata_report::tool;
use strata_workload::Workload;

/// How a profile is shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum View {
    /// The listing with a margin.
    Listing,
    /// Lines of PTX, in an order.
    Lines(Lines),
}

/// Which lines are shown, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    order: LineOrder,
    /// Only so many of them.
    top: Option<usize>,
    format: ListingFormat,
    /// All columns of them.
    all: bool,
}

/// A profile as it is printed.
pub(in crate::commands) enum Shown {
    /// A text, printed as it is.
    Text(String),
    /// The columns that are asked for.
    Columns(Columns, Form),
}

/// What was profiled.
pub(super) struct Profiled<'p> {
    pub(super) workload: &'p Workload,
    pub(super) design: &'p Design,
    pub(super) request: &'p Request,
}

/// What its lines did.
#[derive(Default)]
pub(super) struct Found {
    pub(super) kernels: Vec<ProfiledKernel>,
    pub(super) lines: Vec<LineReport>,
    /// Sums over all lines.
    pub(super) total: LineCost,
}

impl View {
    /// What is asked for.
    ///
    /// # Errors
    /// Formats that a profile has not, and an order by what the mode does not tell.
    pub(super) fn of(args: &InspectArgs) -> Result<Self, Failure> {
        let order = args.sort.unwrap_or(LineOrder::Line);
        let in_time = args.mode == Some(Mode::Cycle);
        match order {
            LineOrder::Stalls if !in_time => {
                return Err(Failure::input("without time there are no stalls to sort by")
                    .hint("add `--mode cycle`, or sort by energy or executions"));
            }
            LineOrder::Energy if in_time => {
                return Err(Failure::input("energy is told by line in count mode only")
                    .hint("leave `--mode cycle` out, or sort by stalls or executions"));
            }
            _ => {}
        }
        let top = args.top.map(|top| top as usize);
        let all = args.columns.names.is_empty();
        match args.format {
            ListingFormat::Dot => Err(Failure::input("`--profile` has no graph")
                .hint("leave `--profile` or `--format dot` away")),
            ListingFormat::Text if all && order == LineOrder::Line && top.is_none() => {
                Ok(Self::Listing)
            }
            format => Ok(Self::Lines(Lines { order, top, format, all })),
        }
    }
}

impl Lines {
    /// The order.
    pub(super) const fn order(self) -> LineOrder {
        self.order
    }

    /// The lines as they are printed.
    pub(super) fn shown(self, of: &Profiled<'_>, found: Found) -> Result<Shown, Failure> {
        let Self { order, top, format, all } = self;
        let Found { kernels, mut lines, total } = found;
        let lines_total = lines.len() as u64;
        lines::sort(&mut lines, order);
        lines.truncate(top.unwrap_or(usize::MAX));
        let mut options =
            ["--profile", "--design", &of.design.argument].map(str::to_owned).to_vec();
        options.extend_from_slice(of.request.words());
        options.extend(["--sort", order.name(), "--format", "json"].map(str::to_owned));
        options.extend(top.into_iter().flat_map(|top| ["--top".to_owned(), top.to_string()]));
        let report = ProfileReport {
            schema: lines::SCHEMA.to_owned(),
            tool: tool(),
            command: command_line("strata inspect", [&*of.workload.arguments], &options),
            workload: of.workload.name.clone(),
            design: of.design.name.clone(),
            mode: of.request.mode.name().to_owned(),
            sort: order.name().to_owned(),
            kernels,
            total,
            lines_total,
            lines,
        };
        let form = match format {
            ListingFormat::Json if all => return json::to_text(&report).map(Shown::Text),
            ListingFormat::Text if all => return Ok(Shown::Text(lines::to_table(&report))),
            ListingFormat::Text | ListingFormat::Dot => Form::Table,
            ListingFormat::Json => Form::Json,
            ListingFormat::Csv => Form::Csv,
            ListingFormat::Markdown => Form::Markdown,
            ListingFormat::Parquet => Form::Parquet,
        };
        Ok(Shown::Columns(lines::to_columns(&report), form))
    }
}
