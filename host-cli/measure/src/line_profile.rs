//! Line profile: what each instruction of a kernel does in time, and in a memory with a data cache,
//! heard from a run.

use std::collections::BTreeMap;

use strata_core::sm::memory::cached::{CacheCounters, CacheEvent};
use strata_core::sm::memory::gddr::row::Row;
use strata_core::sm::{Issue, MemoryObservation, Observation, RowObservation};

use crate::stalls::{Stalls, Waiting};

/// What one instruction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineProfile {
    /// Unit: warp instructions.
    pub executions: u64,
    /// Unit: thread instructions.
    pub threads: u64,
    /// What warps have waited to issue it.
    pub stalls: Stalls,
    /// What its accesses did; nothing of [`CacheEventKind::Instruction`].
    ///
    /// [`CacheEventKind::Instruction`]: strata_core::sm::memory::CacheEventKind
    pub memory: CacheCounters,
    /// Lines of it that DRAM behind a second level has read, by how they found their bank.
    pub rows: [u64; Row::ALL.len()],
}

impl LineProfile {
    /// What several instructions did.
    pub fn sum<'l>(lines: impl IntoIterator<Item = &'l Self>) -> Self {
        lines.into_iter().fold(Self::default(), |mut sum, line| {
            sum.add(line);
            sum
        })
    }

    /// Adds what another instruction did.
    pub fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.threads += other.threads;
        self.stalls.add(&other.stalls);
        for event in CacheEvent::ALL {
            self.memory.record(event, other.memory.get(event));
        }
        for (sum, more) in self.rows.iter_mut().zip(other.rows) {
            *sum += more;
        }
    }
}

/// What a kernel did, over all its counted launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelProfile {
    /// How many.
    pub launches: u64,
    /// By instruction; those at the end that were never executed may be missing.
    pub lines: Vec<LineProfile>,
    /// What belongs to no single instruction.
    pub others: CacheCounters,
    /// In the launch that runs.
    waiting: Waiting,
}

impl KernelProfile {
    /// Adds what is told of a run.
    pub(crate) fn hear(&mut self, observation: &Observation) {
        if let Some((pc, waited)) = self.waiting.hear(observation) {
            self.line(pc).stalls.add(&waited);
        }
        match *observation {
            Observation::Issue(Issue { pc, mask, .. }) => {
                let line = self.line(pc);
                line.executions += 1;
                line.threads += u64::from(mask.0.count_ones());
            }
            Observation::Memory(MemoryObservation { event, count, of, .. }) => {
                let counters = match of {
                    Some(ticket) => &mut self.line(ticket.pc).memory,
                    None => &mut self.others,
                };
                counters.record(event, count);
            }
            Observation::Row(RowObservation { found: Some(found), of: Some(ticket), .. }) => {
                self.line(ticket.pc).rows[found as usize] += 1;
            }
            _ => {}
        }
    }

    fn line(&mut self, pc: u32) -> &mut LineProfile {
        let index = pc as usize;
        if self.lines.len() <= index {
            self.lines.resize(index + 1, LineProfile::default());
        }
        &mut self.lines[index]
    }
}

/// By the kernels' names.
pub type LineProfiles = BTreeMap<String, KernelProfile>;
