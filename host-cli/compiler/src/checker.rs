//! Checker: proves that an allocated program computes what its kernel computes.
//!
//! Knows the kernel (calls inlined, virtual registers) and the program and image made of it;
//! nothing of how they were made: no pass behind inlining is used, and graph, post-dominance,
//! liveness and pending results are computed here again, in the plainest way.
//!
//! Proves, for every path and for every order in which a warp may execute the sides of its
//! divergent branches (every guarded or indexed branch counts as divergent):
//! - the program's instructions are the kernel's, register names and unread results of atomics
//!   apart, and stores, fills and repeated definitions between them that leave every value as it
//!   is: a slot holds the value that is read from it on every path, whatever lanes took part;
//! - places exist, are aligned, and the image's slots are the places of the operands;
//! - reconvergence points are the immediate post-dominators;
//! - every read finds the value that its definition wrote, and no value lies where another one
//!   lies that some lane, waiting ones included, still reads;
//! - last-use, never-read and before-deschedule bits are sound;
//! - what the bits let into the last result file is never read by a shared unit;
//! - every instruction that may read a pending long-latency result is marked.
//!
//! [`check_order`] proves that a kernel in another order computes what it did. [`LevelsChecker`]
//! proves, of a program fitted to a compiler-managed hierarchy, that every operand is at the level
//! that its slot names; [`check_bundles`], of a program divided into bundles, that every operand
//! that may lie in scratchpad memory has a line of the operand cache with its value.
//!
//! Does not say whether a bit or mark that is missing could have been set, nor whether a mark that
//! is set is needed.

mod bundles;
mod facts;
mod graph;
mod held;
mod hints;
mod levels;
mod order;
mod pending;
mod reach;
mod reductions;
mod registers;
mod spills;
mod violation;

use std::borrow::Cow;

use crate::kernel::Kernel;
use crate::program::Program;
use graph::Graph;
use violation::Report;

pub use bundles::check_bundles;
pub use levels::{LevelsChecker, check_levels};
pub use order::check_order;
pub use violation::{Again, Problem, Violation};

/// Checks a program against its kernel.
///
/// # Errors
///
/// Every violation found, in program order within each kind. When the instructions are not the
/// kernel's, or the tables do not fit them, only that is reported.
pub fn check(kernel: &Kernel, program: &Program) -> Result<(), Vec<Violation>> {
    let mut report = Report::new(program);
    let reduced = reductions::apply(kernel, program);
    let kernel = &*reduced;
    let expanded = spills::expand(kernel, program, &mut report);
    report.done()?;
    let original = kernel;
    let kernel = &*expanded;
    let mut report = Report::new(program);
    facts::check_correspondence(kernel, program, &mut report);
    report.done()?;
    let mut report = Report::new(program);
    facts::check_places(program, &mut report);
    facts::check_records(kernel, program, &mut report);
    report.done()?;
    let mut report = Report::new(program);
    let graph = Graph::new(kernel, program);
    graph.check_reconvergence(kernel, program, &mut report);
    let waiting = graph.waiting();
    if matches!(expanded, Cow::Owned(_)) {
        spills::check(original, kernel, program, &graph, &mut report);
    }
    let values = held::Values::new(kernel, program, &graph);
    held::check(kernel, program, (&graph, &waiting), &values, &mut report);
    hints::check(kernel, program, (&graph, &waiting), &values, &mut report);
    reach::check(kernel, program, &graph, &mut report);
    pending::check(program, &graph, &waiting, &mut report);
    report.done()
}
