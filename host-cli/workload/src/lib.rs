//! Workloads: kernels with everything needed to launch them and to check their results.
//!
//! A workload is a PTX text and a launch file (`docs/WORKLOADS.md` describes its fields); some
//! are built in, users bring their own as files. The way of a workload:
//!
//! - [`Workload::builtin`] or [`Workload::from_files`] reads and parses the launch file
//!   (`document`);
//! - [`Workload::plan`] resolves it against the parsed PTX at one size (`resolve`, `expression`)
//!   into a [`plan::LaunchPlan`] and a [`compare::CheckPlan`];
//! - [`plan::LaunchPlan::drive`] runs it on anything that implements [`plan::LaunchTarget`];
//!   [`simulate::Prepared`] does all of this with the functional executor;
//! - [`compare::CheckPlan::compare`] compares the final buffers with a host reference
//!   (`reference`).
//!
//! Nothing here prints, and no input makes it panic.

#![forbid(unsafe_code)]

pub mod array_file;
pub(crate) mod bindings;
pub mod buffer;
pub mod catalog;
pub mod compare;
pub mod decoded;
mod document;
pub mod dump;
pub mod element;
pub mod error;
pub mod expression;
mod fault_hint;
pub mod generator;
pub mod kernel_name;
pub mod launch_template;
pub mod mistakes;
mod names;
mod object;
pub mod parameter;
pub mod plan;
pub mod real;
pub mod reference;
mod resolve;
mod rounding;
mod run_error;
pub mod simulate;
mod source;
mod suffix_tree;
pub mod watch;
mod workload;

pub use self::catalog::{GROUP_MARK, Group, Toolchain, all_names, group_names, names, of_group};
pub use self::compare::CheckPlan;
pub use self::error::{LaunchFileError, WorkloadError};
pub use self::mistakes::LaunchFileErrors;
pub use self::plan::LaunchPlan;
pub use self::resolve::{MAX_BUFFER_BYTES, MAX_GRAPH, MAX_LAUNCHES, MAX_RESET_BYTES};
pub use self::simulate::{LaunchRecord, Options, Prepared, RunError};
pub use self::workload::{Overrides, SEED, STANDARD_INPUT, Workload, parse_override, read_ptx};

#[cfg(test)]
mod tests;
