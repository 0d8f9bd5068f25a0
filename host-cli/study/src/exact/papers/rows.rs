//! Rows of a printed table.

use serde::Deserialize;

/// The rows, from the first to the last.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Rows<T> {
    pub(in crate::exact) rows: Vec<T>,
}
