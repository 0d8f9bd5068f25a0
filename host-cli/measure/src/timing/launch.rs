//! Launch: what is recorded of one to run it in time, and what it did then.

use strata_core::sm::WarpTrace;
use strata_core::sm::config::Residency;
use strata_core::sm::counters::SmCounters;
use strata_core::sm::expansion::Split;
use strata_core::sm::memory::cached::CacheCounters;
use strata_core::sm::memory::lower_counters::LowerCounters;
use strata_core::sm::partition::Needs;
use strata_core::units::{LANES, LaneMask};
use strata_simt::paths::{PathDictionary, WarpPath};
use strata_simt::{AccessDictionary, BarrierDictionary};

use crate::levels::Fitted;

/// One launch as it was recorded.
#[derive(Clone, Copy, Debug)]
pub struct TimedLaunch<'a> {
    /// The kernel.
    pub image: Fitted<'a>,
    /// What its warps executed.
    pub paths: &'a PathDictionary,
    /// What they moved.
    pub accesses: &'a AccessDictionary,
    /// Where its warps' barrier instructions arrived; without, all barriers of a CTA are one.
    pub barriers: Option<&'a BarrierDictionary>,
    /// Registers of a thread by which it is said how many CTAs are resident; the register file has
    /// room for the others. Unit: 32-bit registers.
    pub resident_registers: u16,
    /// Threads of a CTA.
    pub threads: u32,
    /// Shared memory of a CTA, static and dynamic. Unit: bytes.
    pub shared_bytes: u32,
}

impl<'a> TimedLaunch<'a> {
    /// What it needs of the storage.
    pub const fn needs(&self) -> Needs {
        Needs {
            threads_per_cta: self.threads,
            registers: self.resident_registers,
            shared_bytes: self.shared_bytes,
        }
    }

    /// What a warp executed and moved, as the SM takes it.
    pub(super) fn trace_of(&self, place: usize, warp: WarpPath) -> WarpTrace<'a, u32> {
        let threads = self.threads.saturating_sub(warp.warp * LANES).clamp(1, LANES);
        WarpTrace {
            lanes: LaneMask(u32::MAX >> (LANES - threads)),
            path: self.paths.path(warp.path),
            accesses: self.accesses.of_warp(place),
            barriers: self.barriers.map_or(&[], |barriers| barriers.of_warp(place)),
        }
    }
}

/// What a launch did in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Accesses, events and issue slots.
    pub counters: SmCounters,
    /// How many CTAs were resident at a time.
    pub residency: Residency,
    /// Which of them have registers in scratchpad memory, if some have.
    pub split: Option<Split>,
    /// Writes of each warp-wide register of the main register file, of an SM with operand
    /// collectors; empty of others.
    pub cell_writes: Vec<u64>,
    /// What the cache did, of a design that has one.
    pub cache: Option<CacheCounters>,
    /// What lies below it, of a design with a second level.
    pub lower: Option<LowerCounters>,
}
