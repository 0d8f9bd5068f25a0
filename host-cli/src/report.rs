//! Report: the formats of results.

pub mod columns;
pub mod digest;
pub mod json;
pub mod lines;
pub mod parquet;
pub mod rows;
pub mod storage_table;
pub mod table;
pub mod terminal;
pub mod text_table;

#[cfg(test)]
mod made_up;

pub use strata_measure::report::*;
