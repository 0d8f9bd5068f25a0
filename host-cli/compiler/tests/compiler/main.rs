//! Tests of the compiler as a whole.

mod bundles;
mod common;
mod execution;
mod explanations;
mod facts;
mod fuzz;
mod graphs;
mod hierarchy;
mod inlining;
mod kernels;
mod large;
mod level_mutants;
mod levels;
mod limits;
mod listings;
mod mutants;
mod random;
mod reductions;
mod schedule;
mod spills;
#[path = "../../../../tests/switch.rs"]
mod switch;
