//! Command line of everything that prints a table.

use clap::{Args, ValueEnum};

use crate::report::columns::Form;

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

/// Which columns a table has.
#[derive(Clone, Debug, Args)]
pub struct ColumnsArg {
    /// Only these columns, in this order, by their names in `--format csv`.
    #[arg(long = "columns", value_name = "COLUMN,...", value_delimiter = ',')]
    pub names: Vec<String>,
}
