//! Storage in reports: how a design's storage was divided for an application, and what was tried.

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::sm::partition::Partition;

use crate::provision::Divided;
use strata_design::storage::division;

/// How the storage was divided for an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StorageReport {
    /// The division that was chosen.
    pub division: String,
    /// Its parts.
    pub partition: PartitionReport,
    /// Everything that was tried, in order; the fastest was chosen, the first of equally fast ones.
    pub tried: Vec<Tried>,
}

/// What each kind of storage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartitionReport {
    /// Registers of the resident warps. Unit: bytes.
    pub registers_bytes: u64,
    /// Shared memory of the resident CTAs. Unit: bytes.
    pub shared_bytes: u64,
    /// The cache. Unit: bytes.
    pub cache_bytes: u64,
    /// What is none of them. Unit: bytes.
    pub unused_bytes: u64,
    /// The part of the unused that is switched off. Unit: bytes.
    pub disabled_bytes: u64,
    /// Resident CTAs.
    pub ctas: u32,
    /// Resident threads, in whole CTAs.
    pub threads: u32,
    /// Threads that capacity divided by what a thread needs gives, before they come in CTAs.
    pub rule_threads: u32,
    /// What keeps another CTA out.
    pub limit: &'static str,
}

/// A division that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tried {
    /// The division.
    pub division: String,
    /// Threads that were resident.
    pub threads: u32,
    /// The cache. Unit: bytes.
    pub cache_bytes: u64,
    /// Cycles of all launches.
    pub cycles: u64,
}

impl From<&Partition> for PartitionReport {
    fn from(partition: &Partition) -> Self {
        Self {
            registers_bytes: partition.registers().bytes,
            shared_bytes: partition.shared().bytes,
            cache_bytes: partition.cache().bytes,
            unused_bytes: partition.unused_bytes(),
            disabled_bytes: partition.disabled_bytes(),
            ctas: partition.ctas(),
            threads: partition.threads(),
            rule_threads: partition.rule_threads(),
            limit: partition.limit().name(),
        }
    }
}

impl Tried {
    /// What was tried, and how long it took.
    pub fn new(divided: &Divided, cycles: u64) -> Self {
        Self {
            division: division(&divided.division),
            threads: divided.partition.threads(),
            cache_bytes: divided.partition.cache().bytes,
            cycles,
        }
    }
}

impl StorageReport {
    /// The division that was chosen among those that were tried.
    pub fn new(chosen: &Divided, tried: Vec<Tried>) -> Self {
        Self {
            division: division(&chosen.division),
            partition: PartitionReport::from(&chosen.partition),
            tried,
        }
    }
}
