//! Spills: what a limit of registers per thread adds to the instructions that are executed.

use strata_compiler::program::{Origin, Program};
use strata_simt::paths::PathDictionary;

/// Executed instructions that spilling added or saved. Unit: warp instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillTraffic {
    /// All that were executed.
    pub executed: u64,
    /// Stores to slots.
    pub stores: u64,
    /// Loads from slots.
    pub fills: u64,
    /// Definitions made again.
    pub again: u64,
    /// Definitions that would have been executed and were left out.
    pub left_out: u64,
}

impl SpillTraffic {
    /// Adds what the recorded warps of a launch executed.
    pub fn add(&mut self, program: &Program, paths: &PathDictionary) {
        let mut executions = vec![0_u64; program.instructions.len()];
        for (path, warps) in paths.iter() {
            for step in path {
                let first = step.pc as usize;
                for count in executions.iter_mut().skip(first).take(step.length as usize) {
                    *count += warps;
                }
            }
        }
        for (instruction, &count) in program.instructions.iter().zip(&executions) {
            self.executed += count;
            match instruction.origin {
                Origin::Kernel(_) => {}
                Origin::Store(_) => self.stores += count,
                Origin::Fill(_) => self.fills += count,
                Origin::Again(_) => self.again += count,
            }
        }
        // What is left out would be executed as often as the instruction it stands before.
        let times = |before: u32| executions.get(before as usize).copied().unwrap_or(0);
        self.left_out += program.dropped.iter().map(|dropped| times(dropped.before)).sum::<u64>();
    }

    /// Adds what others executed.
    pub fn merge(&mut self, other: &Self) {
        self.executed += other.executed;
        self.stores += other.stores;
        self.fills += other.fills;
        self.again += other.again;
        self.left_out += other.left_out;
    }

    /// What the same warps execute without spilling.
    pub fn without(&self) -> u64 {
        self.executed + self.left_out - self.stores - self.fills - self.again
    }

    /// Instructions executed, in percent of those without spilling. None when there are none.
    pub fn percent(&self) -> Option<f64> {
        let without = self.without();
        (without > 0).then(|| self.executed as f64 * 100.0 / without as f64)
    }

    /// One line on what spilling did; empty when that is nothing.
    pub fn describe(&self) -> String {
        let Self { stores, fills, again, left_out, .. } = self;
        match self.percent() {
            Some(percent) if stores + fills + again > 0 => format!(
                "executed spills: {stores} stores, {fills} fills, {again} made again, {left_out} \
                 left out; instructions {:.3} times those without\n",
                percent / 100.0
            ),
            _ => String::new(),
        }
    }
}
