//! Measurement: one subject executed or read once, counted or run in time under every design, as
//! typed reports.
//!
//! [`subject`] is what an input names, [`options`] how it is measured, [`Request`] all of what is
//! asked of it. [`reports`] executes a workload, [`trace_reports`] reads a trace or a recording,
//! and [`engine`] takes one subject after the other under many designs. [`evaluate`] counts,
//! [`timing`] runs in time, [`levels`] fits compiler-managed hierarchies to a launch's program,
//! [`provision`] divides unified storage for it, [`crossings`] counts what crosses strands,
//! [`stalls`] names what issue slots wait for, and [`timeline`] draws what happens in time. What
//! comes out is a [`report`]; what is said beside it are [`notes`]. [`parallel`] puts inputs on
//! threads.

#![forbid(unsafe_code)]

mod account;
mod baselines;
mod batch;
mod common;
mod counted;
pub mod crossings;
mod embed;
pub mod engine;
pub mod evaluate;
mod execution;
mod launched;
pub mod levels;
mod line_profile;
pub mod notes;
pub mod options;
pub mod parallel;
pub mod provision;
mod refusal;
mod replay;
pub mod report;
mod request;
mod results;
mod shared;
mod spill;
mod spills;
pub mod stalls;
mod storage_energy;
pub mod subject;
mod tape;
pub mod timeline;
pub mod timing;

pub use batch::each_launch;
pub use counted::Counted;
pub use embed::{EMBEDDED, embed};
pub use engine::{KEPT_BYTES, Room};
pub use evaluate::price;
pub use execution::{comparisons, fitting, line_profiles, reports, reports_and_buffers};
pub use line_profile::{KernelProfile, LineProfile, LineProfiles};
pub use refusal::failure;
pub use replay::{each_recorded_launch, trace_reports};
pub use request::{Request, command_line};
pub use spill::is_spill;
pub use spills::SpillTraffic;
pub use tape::record;
