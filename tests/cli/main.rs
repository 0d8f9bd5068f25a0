//! Command line: the real program, what it prints and how it ends.

mod bad_input;
mod book;
mod budgets;
mod commands;
mod compare;
mod cuda_lines;
mod data;
mod data_cache;
mod determinism;
mod documents;
mod expars;
mod faults;
mod fpga;
mod glossary;
mod input_names;
mod interrupts;
mod leaving;
mod line_profiles;
mod lists;
mod messages;
mod outputs;
mod plot;
mod report;
mod reproduce;
mod residency;
mod spill;
mod storage;
mod storage_energy;
mod storage_study;
mod sweep;
mod templates;
mod terminal;
mod timeline;

#[path = "../switch.rs"]
mod switch;

use std::path::PathBuf;

use strata_tests::{Outcome, start};

/// Runs the program in the folder of the test inputs.
fn strata(arguments: &[&str]) -> Outcome {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
    start(env!("CARGO_BIN_EXE_strata-under-test"), &folder, arguments)
}
