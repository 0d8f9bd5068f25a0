//! Inputs of a command: from what was typed to workloads, modules and designs, or one clear
//! failure.

mod compile;
mod input;
mod list;
mod names;
mod problems;
mod resolve;

pub use compile::{options, overrides, prepare};
pub use input::{is_file, is_recorded, ptx_file, with_ptx, without_ptx};
pub use list::{design_names, designs, files, subjects, told_apart, workloads};
pub use problems::{diagnostics, run_error, warn};
pub use resolve::{Subject, workload};
