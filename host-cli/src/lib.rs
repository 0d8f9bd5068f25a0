//! The Strata command line as a library.
//!
//! The way of a result: [`cli`] (what was typed) -> [`commands`] (one file a verb) -> [`subject`]
//! (what an input names: a [`workload`] with its kernels, launches and references, or a [`trace`]
//! of a real GPU or of our own) -> [`measure`] (each executed or read once, counted under every
//! [`design`]) -> [`report`]. [`measure`] counts by [`evaluate`], in time by [`timing`], for
//! compiler-managed hierarchies with the help of [`levels`]; [`timeline`] draws what happens in
//! time. [`study`] measures along one parameter, [`sweep`] over every combination of many; one
//! engine, that of [`measure`], evaluates designs over inputs for both.
//! [`cost`] and [`exact`] compute from tables alone, [`claims`] puts reports beside what the papers
//! measured; [`import`] makes such tables of what other programs print, [`report_page`] a page
//! of reports.
//! [`config`] reads files, [`failure`] is how a command ends other than well, and only [`printer`]
//! writes to the [`terminal`]. [`call`] launches a kernel over arrays of a program that embeds this
//! library; [`dump`] writes buffers into files,
//! [`launch_template`] a launch file to begin with; [`output`] says what a command may
//! write, and [`interrupt`] what Ctrl-C does.

#![forbid(unsafe_code)]

pub use strata_board::{self as fpga};
pub use strata_config as config;
pub use strata_design::{self as design, cost, encoding, import};
pub use strata_figures::{plot, report_page, reproduce};
pub use strata_files::{failure, interrupt, output, partial_file, partial_folder};
pub use strata_measure::{
    self as measure, crossings, evaluate, levels, notes, options, parallel, provision, stalls,
    subject, timeline, timing,
};
pub use strata_report::{self as report, comparison, difference};
pub use strata_study::{active_set, claims, exact, study, sweep};
pub use strata_trace as trace;
pub use strata_workload::{self as workload, dump, kernel_name, launch_template, watch};

pub mod call;
pub mod cli;
pub mod commands;
pub mod printer;
mod progress;
pub mod terminal;
