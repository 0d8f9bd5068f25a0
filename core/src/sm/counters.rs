//! Cycle table: what is counted in time, beside the accesses that count mode counts as well.
//!
//! Models: one row per event and one per reason of an issue slot, with name, unit and meaning.
//! Does not model: accesses (`event`), energy.
//! Source: `[RFC2011]` 5.2; stall accounting is ours.

use super::expansion::counters::ExpansionCounters;
use crate::event::Counters;

macro_rules! cycle_events {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:ident, $unit:literal;)+) => {
        /// Something that is counted in time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CycleEvent {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl CycleEvent {
            /// Every event, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)+ }
            }

            /// Unit of the count.
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)+ }
            }

            /// What it means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii_start(),)+ }
            }
        }

        impl SmCounters {
            $($(#[doc = $doc])+ pub const fn $name(&self) -> u64 {
                self.events[CycleEvent::$variant as usize]
            })+
        }
    };
}

cycle_events! {
    /// Cycles from the first launch of a CTA to the end of the last, its memory traffic included.
    Cycle, cycles, "cycles";
    /// CTAs that ran to their end.
    Cta, ctas, "CTAs";
    /// Operand reads that waited for another read of the same instruction in their bank.
    OwnBankConflict, mrf_own_bank_conflicts, "warp register accesses";
    /// Instructions times banks at which operand reads waited for those of earlier instructions.
    OtherBankConflict, mrf_other_bank_conflicts, "bank visits";
    /// Cycles by which operand reads ran over the operand window, which delays what issues next.
    OperandDelay, operand_delay_cycles, "cycles";
    /// Cycles by which writes of the main register file waited for their bank's port.
    WriteDelay, mrf_write_delay_cycles, "cycles";
    /// Cycles by which operand reads waited in the queues of the arbiter for an access that
    /// conflicted.
    OperandWait, operand_wait_cycles, "cycles";
    /// Operand reads of one subarray of a bank while the other one was written.
    SplitBankRead, split_bank_reads, "warp register accesses";
    /// Times a warp entered the active set of a two-level scheduler.
    Activation, activations, "activations";
    /// Cycles in which warps that left the active set kept their place until the cache was flushed.
    FlushCycle, flush_cycles, "cycles";
    /// Bytes moved from and to DRAM.
    DramByte, dram_bytes, "bytes";
    /// Cycles in which bytes moved from or to DRAM.
    DramBusy, dram_busy_cycles, "cycles";
    /// Bytes moved from and to shared memory.
    SharedByte, shared_memory_bytes, "bytes";
    /// Cycles in which bytes moved from or to shared memory.
    SharedBusy, shared_memory_busy_cycles, "cycles";
}

macro_rules! stall_reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:ident;)+) => {
        /// What became of an issue slot of one cycle. Exactly one holds; where several could, the
        /// first in this order does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum StallReason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl StallReason {
            /// Every reason, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)+ }
            }

            /// What it means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii_start(),)+ }
            }
        }
    };
}

stall_reasons! {
    /// An instruction issued.
    Issued, slots_issued;
    /// Operand reads ran over their window and hold up the pipeline.
    OperandRead, slots_operand_read;
    /// No collector unit is free for a warp with all its operands.
    Collectors, slots_collectors;
    /// Every warp with all its operands needs a unit that still starts an earlier warp.
    UnitBusy, slots_unit_busy;
    /// Active warps issued in this or the last slot, and a warp issues once in a cycle.
    InOrder, slots_in_order;
    /// An active warp waits for a branch to be resolved.
    Branch, slots_branch;
    /// An active warp waits for a result of the ALUs or of double precision.
    Arithmetic, slots_arithmetic;
    /// An active warp waits for a result of the special function unit.
    SpecialFunction, slots_special_function;
    /// An active warp waits for shared memory, constants or a cache that was hit.
    ShortMemory, slots_short_memory;
    /// An active warp waits for DRAM or a texture.
    LongLatency, slots_long_latency;
    /// A warp that leaves the active set flushes its cache.
    Flush, slots_flush;
    /// Every warp with all its operands waits for registers from scratchpad memory.
    Prefetch, slots_prefetch;
    /// Warps wait at a barrier in the active set.
    Barrier, slots_barrier;
    /// No warp is active; warps outside the active set wait for DRAM, a texture or a barrier.
    Outside, slots_outside;
    /// Every warp has issued its last instruction, and results or memory traffic are on their way.
    Drain, slots_drain;
}

/// Totals of a run.
///
/// Law: `slots` summed over all reasons is the number of cycles times the number of issue slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmCounters {
    /// Accesses and instructions, in the terms of count mode.
    pub accesses: Counters,
    /// Registers in scratchpad memory.
    pub expansion: ExpansionCounters,
    events: [u64; CycleEvent::ALL.len()],
    slots: [u64; StallReason::ALL.len()],
}

impl Default for SmCounters {
    fn default() -> Self {
        Self {
            accesses: Counters::default(),
            expansion: ExpansionCounters::default(),
            events: [0; CycleEvent::ALL.len()],
            slots: [0; StallReason::ALL.len()],
        }
    }
}

impl SmCounters {
    /// The total of one event.
    pub const fn get(&self, event: CycleEvent) -> u64 {
        self.events[event as usize]
    }

    /// Issue slots with one reason.
    pub const fn slots(&self, reason: StallReason) -> u64 {
        self.slots[reason as usize]
    }

    /// Issue slots of all reasons: cycles times slots.
    pub fn all_slots(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Every number in time with its name: the events, then the slots.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let events = CycleEvent::ALL.iter().map(|&event| (event.name(), self.get(event)));
        let slots = StallReason::ALL.iter().map(|&reason| (reason.name(), self.slots(reason)));
        events.chain(slots)
    }

    /// The totals of two runs one after the other, if they fit 64 bits.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let mut sum = *self;
        sum.accesses = self.accesses.checked_add(&other.accesses).ok()?;
        sum.expansion = self.expansion.checked_add(&other.expansion)?;
        for (mine, theirs) in sum.events.iter_mut().zip(other.events) {
            *mine = mine.checked_add(theirs)?;
        }
        for (mine, theirs) in sum.slots.iter_mut().zip(other.slots) {
            *mine = mine.checked_add(theirs)?;
        }
        Some(sum)
    }

    #[inline]
    pub(crate) fn record(&mut self, event: CycleEvent, times: u64) {
        self.events[event as usize] += times;
    }

    #[inline]
    pub(crate) fn charge(&mut self, reason: StallReason, slots: u64) {
        self.slots[reason as usize] += slots;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let counters = SmCounters::default();
        let accesses = counters.accesses;
        let names: std::vec::Vec<_> =
            accesses.iter().chain(counters.iter()).map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for event in CycleEvent::ALL {
            assert!(event.meaning().ends_with('.'), "{}", event.name());
        }
        for reason in StallReason::ALL {
            assert!(reason.meaning().ends_with('.'), "{}", reason.name());
        }
    }

    #[test]
    fn runs_add_up() {
        let mut one = SmCounters::default();
        one.record(CycleEvent::Cycle, 7);
        one.charge(StallReason::Drain, 5);
        let both = one.checked_add(&one).unwrap();
        assert_eq!((both.cycles(), both.slots(StallReason::Drain), both.all_slots()), (14, 10, 10));
        one.record(CycleEvent::Cta, u64::MAX);
        assert_eq!(one.checked_add(&one), None);
    }
}
