//! Command line of everything that prints a table.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use strata_figures::plot::Plot;
use strata_files::failure::Failure;
use strata_report::columns::Form;

/// Output format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// To read.
    #[value(alias = "text")]
    Table,
    /// A line for each row, under a line of names.
    Csv,
    /// JSON.
    Json,
    /// A table of Markdown.
    Markdown,
    /// A file of Parquet.
    Parquet,
}

impl From<TableFormat> for Form {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Table => Self::Table,
            TableFormat::Csv => Self::Csv,
            TableFormat::Json => Self::Json,
            TableFormat::Markdown => Self::Markdown,
            TableFormat::Parquet => Self::Parquet,
        }
    }
}

/// How a table is printed.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// Output format.
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub format: TableFormat,
    /// Which columns.
    #[command(flatten)]
    pub columns: ColumnsArg,
}

/// A chart of a table.
#[derive(Clone, Debug, Args)]
pub struct PlotArg {
    /// Draw the table into this file as well; a page has the numbers, too.
    #[arg(long, value_name = "OUT.svg|OUT.html")]
    pub plot: Option<PathBuf>,
    /// Replace the file of `--plot` whatever it is.
    #[arg(long, requires = "plot")]
    pub force: bool,
}

impl PlotArg {
    /// The chart that is asked for, if one is: checked before anything runs.
    ///
    /// # Errors
    /// A file that may not be written, or that has another ending.
    pub fn asked(&self) -> Result<Option<Plot>, Failure> {
        self.plot.as_ref().map(|path| Plot::into(path, self.force, &[])).transpose()
    }
}

/// Which columns a table has.
#[derive(Clone, Debug, Args)]
pub struct ColumnsArg {
    /// Only these columns, in this order, by their names in `--format csv`.
    #[arg(long = "columns", value_name = "COLUMN,...", value_delimiter = ',')]
    pub names: Vec<String>,
}
