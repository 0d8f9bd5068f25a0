//! Formats of results: typed reports of [`strata_measure`] as tables to read ([`table`],
//! [`text_table`]), as columns ([`columns`], [`rows`], [`lines`], [`parquet`]) and as JSON
//! ([`json`]); [`comparison`] puts groups of reports beside each other, [`difference`] two files.

#![forbid(unsafe_code)]

mod cell;
pub mod columns;
pub mod comparison;
pub mod difference;
pub mod digest;
pub mod json;
pub mod lines;
pub mod lists;
pub mod parquet;
pub mod rows;
pub mod storage_table;
pub mod table;
pub mod terminal;
pub mod text_table;
mod units;

#[cfg(test)]
mod made_up;

pub use strata_measure::report::*;
