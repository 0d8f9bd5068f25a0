//! The Strata command line as a library, for its own tests: [`cli`] is what was typed, [`commands`]
//! has one file a verb, and only [`printer`] writes to the [`terminal`].
//!
//! The way of a result: [`cli`] -> [`commands`] -> `strata_measure::subject` (what an input names:
//! a workload with its kernels, launches and references, or a trace of a real GPU or of our own) ->
//! `strata_measure` (each executed or read once, counted under every design) -> `strata_report`.
//! Programs that launch kernels of their own use the crate `strata`.

#![forbid(unsafe_code)]

pub mod cli;
pub mod commands;
pub mod printer;
mod progress;
pub mod terminal;
