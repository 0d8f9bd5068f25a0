//! Tables: what a command found, in the format that is asked for.

use crate::cli::table::{TableArgs, TableFormat};
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_report::columns::{Columns, check_names};

/// Refuses names of `--columns` before anything runs.
pub(super) fn check(args: &TableArgs, none: &Columns) -> Result<(), Failure> {
    check_names(&args.columns.names, &none.header)
}

/// Prints a table. Without `--columns` it is `table` to read, and `json`; otherwise the columns.
pub(super) fn print(
    args: &TableArgs,
    columns: Columns,
    printer: &Printer,
    table: impl FnOnce() -> String,
    json: impl FnOnce(&Columns) -> Result<String, Failure>,
) -> Result<ExitStatus, Failure> {
    let all = args.columns.names.is_empty();
    match args.format {
        TableFormat::Table if all => printer.data(&table()),
        TableFormat::Json if all => printer.data(&json(&columns)?),
        format => printer.table(&columns.select(&args.columns.names)?, format.into()),
    }
}
