//! The Strata command line as a library.
//!
//! The way of a result: [`cli`] (what was typed) -> [`commands`] (one file a verb) -> [`workload`]
//! (kernels, launches, references) -> [`evaluate`] (paths counted under a [`design`]) ->
//! [`report`]. Only [`printer`] writes to the terminal, only [`cli`] knows exit statuses.

pub mod cli;
pub mod commands;
pub mod config;
pub mod cost;
pub mod design;
pub mod evaluate;
pub mod exact;
pub mod failure;
pub mod levels;
pub mod measure;
pub mod printer;
pub mod report;
pub mod study;
pub mod timeline;
pub mod timing;
pub mod trace;
pub mod workload;
