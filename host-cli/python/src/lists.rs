//! What can be named.

use pyo3::prelude::*;
use strata_report::lists;

use crate::table::Table;
use crate::work::raised;

/// The built-in designs, a row each: name, machine, source, and the value of each key of design
/// files, as `strata designs --format csv` prints them.
#[pyfunction]
pub(crate) fn designs() -> PyResult<Table> {
    Table::of_columns(&lists::designs()).map_err(|failure| raised(&failure))
}

/// The built-in workloads, a row for each size: group, name, size, parameters of the size,
/// description, as `strata workloads --format csv` prints them.
#[pyfunction]
pub(crate) fn workloads() -> PyResult<Table> {
    let table = lists::workloads().and_then(|columns| Table::of_columns(&columns));
    table.map_err(|failure| raised(&failure))
}
