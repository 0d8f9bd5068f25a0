//! Event table: everything the register hierarchy does that is counted or costs energy.
//!
//! Models: one row per event with its name, unit, energy class and meaning; the counters, the
//! reported quantities and the energy sums all follow from it.
//! Does not model: when an event happens (`register_file_cache`, `count`), its cost (`energy`).
//! Source: `[RFC2011]` 3.1, 5.4; `[DISS]` 4.4.

use crate::datapath::Datapath;
use crate::level::Level;

/// What an event costs, in terms that an energy table can price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnergyClass {
    /// Nothing that the model charges.
    Free,
    /// A read of a level by an instruction, and the wire to the consumer.
    Read(Level, Datapath),
    /// A write of a level by an instruction, and the wire from the producer.
    Write(Level, Datapath),
    /// A write of a level by an operand on its way from the main register file, and the wire beyond
    /// the latter.
    Fill(Level, Datapath),
    /// What a write of a level spends less, because the result goes to the main register file as
    /// well.
    DualWrite(Level, Datapath),
    /// A read of the first level, a write of the second one and the wire between; none between the
    /// write pool and the main register file, which it stands beside.
    Move(Level, Level),
}

macro_rules! events {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:ident, $unit:literal, $class:expr;)+) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Event {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Event {
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

            /// What it costs.
            pub const fn energy_class(self) -> EnergyClass {
                match self { $(Self::$variant => $class,)+ }
            }
        }

        impl Counters {
            $($(#[doc = $doc])+ pub const fn $name(&self) -> u64 {
                self.counts[Event::$variant as usize]
            })+
        }
    };
}

/// Unit of partial hits: operands that two levels serve, counted as a read of each.
const PARTIAL_HITS: &str = "operand reads";

use Datapath::{Private, Shared};
use EnergyClass::{DualWrite, Fill, Free, Move, Read, Write};
use Level::{Lrf, Mrf, Orf, Rfc, WritePool};

events! {
    /// Instructions issued, those with no lane enabled included.
    WarpInstruction, warp_instructions, "warp instructions", Free;
    /// Lanes enabled, summed over the instructions issued.
    ThreadInstruction, thread_instructions, "thread instructions", Free;
    /// Operands read from the main register file for the private datapath.
    MrfReadPrivate, mrf_reads_private, "warp register accesses", Read(Mrf, Private);
    /// Operands read from the main register file for the shared datapath.
    MrfReadShared, mrf_reads_shared, "warp register accesses", Read(Mrf, Shared);
    /// Results of the private datapath written straight to the main register file.
    MrfWritePrivate, mrf_writes_private, "warp register accesses", Write(Mrf, Private);
    /// Results of the shared datapath written straight to the main register file.
    MrfWriteShared, mrf_writes_shared, "warp register accesses", Write(Mrf, Shared);
    /// Instructions that read no operand from the main register file, those with no lane enabled
    /// included.
    MrfOperands0, mrf_operands_0, "warp instructions", Free;
    /// Instructions that read one operand from the main register file.
    MrfOperands1, mrf_operands_1, "warp instructions", Free;
    /// Instructions that read two operands from the main register file.
    MrfOperands2, mrf_operands_2, "warp instructions", Free;
    /// Instructions that read three operands from the main register file.
    MrfOperands3, mrf_operands_3, "warp instructions", Free;
    /// Instructions that read more than three operands from the main register file.
    MrfOperandsOver3, mrf_operands_over_3, "warp instructions", Free;
    /// Operands read from the register file cache for the private datapath.
    RfcReadPrivate, rfc_reads_private, "warp register accesses", Read(Rfc, Private);
    /// Operands read from the register file cache for the shared datapath.
    RfcReadShared, rfc_reads_shared, "warp register accesses", Read(Rfc, Shared);
    /// Operand reads that needed both the register file cache and the main register file, because
    /// the entry held only some of the lanes; counted as one read of each.
    RfcPartialHit, rfc_partial_hits, "operand reads", Free;
    /// Results of the private datapath written to the register file cache.
    RfcWritePrivate, rfc_writes_private, "warp register accesses", Write(Rfc, Private);
    /// Results of the shared datapath written to the register file cache.
    RfcWriteShared, rfc_writes_shared, "warp register accesses", Write(Rfc, Shared);
    /// Operands of the private datapath copied into the register file cache after a miss.
    RfcFillPrivate, rfc_fills_private, "warp register accesses", Fill(Rfc, Private);
    /// Operands of the shared datapath copied into the register file cache after a miss.
    RfcFillShared, rfc_fills_shared, "warp register accesses", Fill(Rfc, Shared);
    /// Dirty entries written back to make room for another register.
    RfcWritebackEviction, rfc_writebacks_eviction, "warp register accesses", Move(Rfc, Mrf);
    /// Dirty entries written back because the cache was flushed.
    RfcWritebackFlush, rfc_writebacks_flush, "warp register accesses", Move(Rfc, Mrf);
    /// Entries that a register newly occupied.
    RfcAllocation, rfc_allocations, "entries", Free;
    /// Entries given up without a writeback: dead, clean, or overtaken by a write that bypassed.
    RfcDrop, rfc_drops, "entries", Free;
    /// Operands read from the last result file, all for the private datapath.
    LrfRead, lrf_reads, "warp register accesses", Read(Lrf, Private);
    /// Operand reads that needed the last result file and a lower level, because the entry held
    /// only some of the lanes; counted as one read of each level.
    LrfPartialHit, lrf_partial_hits, "operand reads", Free;
    /// Results written to the last result file, all of the private datapath.
    LrfWrite, lrf_writes, "warp register accesses", Write(Lrf, Private);
    /// Entries moved from the last result file to the register file cache to make room.
    LrfEviction, lrf_evictions, "warp register accesses", Move(Lrf, Rfc);
    /// Entries of the last result file written back to the main register file to make room, because
    /// they would bypass the register file cache.
    LrfWritebackEviction, lrf_writebacks_eviction, "warp register accesses", Move(Lrf, Mrf);
    /// Entries of the last result file written back because the upper levels were flushed.
    LrfWritebackFlush, lrf_writebacks_flush, "warp register accesses", Move(Lrf, Mrf);
    /// Entries that a register newly occupied in the last result file.
    LrfAllocation, lrf_allocations, "entries", Free;
    /// Entries of the last result file given up: dead, or overtaken by a write to a lower level.
    LrfDrop, lrf_drops, "entries", Free;
    /// Operands that a first read from the main register file left in the last result file.
    LrfFill, lrf_fills, "warp register accesses", Fill(Lrf, Private);
    /// Operands read from the operand register file for the private datapath.
    OrfReadPrivate, orf_reads_private, "warp register accesses", Read(Orf, Private);
    /// Operands read from the operand register file for the shared datapath.
    OrfReadShared, orf_reads_shared, "warp register accesses", Read(Orf, Shared);
    /// Results of the private datapath written to the operand register file.
    OrfWritePrivate, orf_writes_private, "warp register accesses", Write(Orf, Private);
    /// Results of the shared datapath written to the operand register file.
    OrfWriteShared, orf_writes_shared, "warp register accesses", Write(Orf, Shared);
    /// Operands of the private datapath that a first read left in the operand register file.
    OrfFillPrivate, orf_fills_private, "warp register accesses", Fill(Orf, Private);
    /// Operands of the shared datapath that a first read left in the operand register file.
    OrfFillShared, orf_fills_shared, "warp register accesses", Fill(Orf, Shared);
    /// Results of the private datapath that the compiler placed in the operand register file and in
    /// the main register file.
    DualWriteOrfPrivate, dual_writes_orf_private, "results", DualWrite(Orf, Private);
    /// Results of the shared datapath that the compiler placed in the operand register file and in
    /// the main register file.
    DualWriteOrfShared, dual_writes_orf_shared, "results", DualWrite(Orf, Shared);
    /// Results that the compiler placed in the last result file and in the main register file.
    DualWriteLrf, dual_writes_lrf, "results", DualWrite(Lrf, Private);
    /// Operands read from the write pool for the private datapath.
    WritePoolReadPrivate, write_pool_reads_private, "warp register accesses",
        Read(WritePool, Private);
    /// Operands read from the write pool for the shared datapath.
    WritePoolReadShared, write_pool_reads_shared, "warp register accesses", Read(WritePool, Shared);
    /// Operand reads that needed both the write pool and the main register file, because the entry
    /// held only some of the lanes; counted as one read of each.
    WritePoolPartialHit, write_pool_partial_hits, "operand reads", Free;
    /// Results of the private datapath written to the write pool.
    WritePoolWritePrivate, write_pool_writes_private, "warp register accesses",
        Write(WritePool, Private);
    /// Results of the shared datapath written to the write pool.
    WritePoolWriteShared, write_pool_writes_shared, "warp register accesses",
        Write(WritePool, Shared);
    /// Dirty entries of the register file cache evicted or flushed to the write pool.
    RfcToWritePool, rfc_to_write_pool, "warp register accesses", Move(Rfc, WritePool);
    /// Entries of the last result file evicted or flushed to the write pool.
    LrfToWritePool, lrf_to_write_pool, "warp register accesses", Move(Lrf, WritePool);
    /// Writes of a register that the write pool held, which were overwritten in place.
    WritePoolWriteHit, write_pool_write_hits, "writes", Free;
    /// Entries of the write pool that a register newly occupied.
    WritePoolAllocation, write_pool_allocations, "entries", Free;
    /// Entries of the write pool written to the main register file to make room.
    WritePoolWriteback, write_pool_writebacks, "warp register accesses", Move(WritePool, Mrf);
    /// Entries of the write pool dropped because their warp had exited.
    WritePoolDrop, write_pool_drops, "entries", Free;
    /// Times a warp was descheduled to wait for a result.
    Deschedule, deschedules, "deschedules", Free;
    /// Times a warp was descheduled by a barrier.
    BarrierDeschedule, barrier_deschedules, "deschedules", Free;
}

/// A reported number: the sum of one or several events.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// The name used in reports.
    pub name: &'static str,
    /// Unit of the count.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    terms: &'static [Event],
}

impl Quantity {
    /// The events that are summed; none occurs twice.
    pub const fn terms(&self) -> &'static [Event] {
        self.terms
    }
}

macro_rules! sums {
    ($($(#[doc = $doc:literal])+ $name:ident, $unit:literal = $($term:ident)|+;)+) => {
        /// The sums that reports show before the single events.
        pub const SUMS: &[Quantity] = &[$(Quantity {
            name: stringify!($name),
            unit: $unit,
            meaning: concat!($($doc),+).trim_ascii_start(),
            terms: &[$(Event::$term),+],
        },)+];

        impl Counters {
            $($(#[doc = $doc])+ pub const fn $name(&self) -> u64 {
                0 $(+ self.counts[Event::$term as usize])+
            })+
        }
    };
}

sums! {
    /// Reads of the main register file by instructions.
    mrf_reads, "warp register accesses" = MrfReadPrivate | MrfReadShared;
    /// Writes of the main register file: results written straight to it, and writebacks.
    mrf_writes, "warp register accesses" =
        MrfWritePrivate | MrfWriteShared | RfcWritebackEviction | RfcWritebackFlush
        | LrfWritebackEviction | LrfWritebackFlush | WritePoolWriteback;
    /// Reads of the register file cache by instructions; the reads of writebacks are apart.
    rfc_reads, "warp register accesses" = RfcReadPrivate | RfcReadShared;
    /// Writes of the register file cache: results, operands allocated after a miss, and what the
    /// last result file evicted.
    rfc_writes, "warp register accesses" =
        RfcWritePrivate | RfcWriteShared | RfcFillPrivate | RfcFillShared | LrfEviction;
    /// Dirty live entries evicted or flushed; each is one read of the register file cache, not in
    /// `rfc_reads`, and one write of the main register file, in `mrf_writes`.
    rfc_writebacks, "warp register accesses" = RfcWritebackEviction | RfcWritebackFlush;
    /// Live entries of the last result file written back past the register file cache; each is one
    /// read of the last result file, not in `lrf_reads`, and one write of the main register file,
    /// in `mrf_writes`.
    lrf_writebacks, "warp register accesses" = LrfWritebackEviction | LrfWritebackFlush;
    /// Reads of the operand register file.
    orf_reads, "warp register accesses" = OrfReadPrivate | OrfReadShared;
    /// Writes of the operand register file: results, and operands left by a first read.
    orf_writes, "warp register accesses" =
        OrfWritePrivate | OrfWriteShared | OrfFillPrivate | OrfFillShared;
    /// Results that the compiler placed in an upper level and in the main register file.
    dual_writes, "results" = DualWriteOrfPrivate | DualWriteOrfShared | DualWriteLrf;
    /// Reads of the write pool by instructions; the reads of writebacks are apart.
    write_pool_reads, "warp register accesses" = WritePoolReadPrivate | WritePoolReadShared;
    /// Writes of the write pool: results, and what the levels above it evict or flush.
    write_pool_writes, "warp register accesses" =
        WritePoolWritePrivate | WritePoolWriteShared | RfcToWritePool | LrfToWritePool;
    /// Writes of all levels beyond one for each result: copies, and values moved to other levels.
    overhead_writes, "warp register accesses" =
        RfcFillPrivate | RfcFillShared | RfcWritebackEviction | RfcWritebackFlush | LrfEviction
        | LrfWritebackEviction | LrfWritebackFlush | LrfFill | OrfFillPrivate | OrfFillShared
        | DualWriteOrfPrivate | DualWriteOrfShared | DualWriteLrf | RfcToWritePool | LrfToWritePool
        | WritePoolWriteback;
}

/// Totals of every event.
///
/// Two derived numbers have no row of their own: operand reads are the reads of all levels less the
/// partial hits, operand writes the results written to each level less those written to two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counters {
    counts: [u64; Event::ALL.len()],
}

impl Default for Counters {
    fn default() -> Self {
        Self { counts: [0; Event::ALL.len()] }
    }
}

/// A sum, difference or multiple of counters does not fit its 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterOverflow {
    /// The counter that does not fit.
    pub event: Event,
}

impl core::fmt::Display for CounterOverflow {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "the counter `{}` does not fit 64 bits", self.event.name())
    }
}

impl core::error::Error for CounterOverflow {}

impl Counters {
    /// Counts one event `times` times.
    #[inline]
    pub fn record(&mut self, event: Event, times: u64) {
        self.counts[event as usize] += times;
    }

    /// Counts `instructions` that each read `operands` from the main register file.
    #[inline]
    pub(crate) fn record_main_operands(&mut self, operands: u32, instructions: u64) {
        let bin = operands.min(Self::MAIN_OPERAND_BINS - 1) as usize;
        self.counts[Event::MrfOperands0 as usize + bin] += instructions;
    }

    /// The bins lie in the table's order.
    const MAIN_OPERAND_BINS: u32 = 1 + Event::MrfOperandsOver3 as u32 - Event::MrfOperands0 as u32;

    /// The total of one event.
    pub const fn get(&self, event: Event) -> u64 {
        self.counts[event as usize]
    }

    /// The sum of the events that are `wanted`.
    fn sum(&self, wanted: impl Fn(Event) -> bool) -> u64 {
        Event::ALL.iter().filter(|&&event| wanted(event)).map(|&event| self.get(event)).sum()
    }

    /// The sum of the events that cost the same.
    pub(crate) fn of_class(&self, class: EnergyClass) -> u64 {
        self.sum(|event| event.energy_class() == class)
    }

    /// Operand slots read, whichever levels served them.
    pub fn operand_reads(&self) -> u64 {
        let reads = self.sum(|event| matches!(event.energy_class(), Read(..)));
        reads - self.sum(|event| event.unit() == PARTIAL_HITS)
    }

    /// Result slots written, to whichever level.
    pub fn operand_writes(&self) -> u64 {
        let writes = self.sum(|event| matches!(event.energy_class(), Write(..)));
        writes - self.sum(|event| matches!(event.energy_class(), DualWrite(..)))
    }

    /// The totals of both.
    pub fn checked_add(&self, other: &Self) -> Result<Self, CounterOverflow> {
        self.combine(other, u64::checked_add)
    }

    /// What `self` counted beyond `other`.
    pub fn checked_sub(&self, other: &Self) -> Result<Self, CounterOverflow> {
        self.combine(other, u64::checked_sub)
    }

    /// The totals of `times` repetitions.
    pub fn checked_mul(&self, times: u64) -> Result<Self, CounterOverflow> {
        self.combine(&Self { counts: [times; Event::ALL.len()] }, u64::checked_mul)
    }

    fn combine(
        &self,
        other: &Self,
        operation: impl Fn(u64, u64) -> Option<u64>,
    ) -> Result<Self, CounterOverflow> {
        let mut result = Self::default();
        for &event in Event::ALL {
            result.counts[event as usize] =
                operation(self.get(event), other.get(event)).ok_or(CounterOverflow { event })?;
        }
        Ok(result)
    }

    /// The value of a reported quantity.
    pub fn quantity(&self, quantity: &Quantity) -> u64 {
        quantity.terms.iter().map(|&event| self.get(event)).sum()
    }

    /// Every reported number with its name: the two instruction counts, the sums, the other events.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let event = |&event: &Event| (event.name(), self.get(event));
        let (instructions, others) = Event::ALL.split_at(Event::ThreadInstruction as usize + 1);
        instructions
            .iter()
            .map(event)
            .chain(SUMS.iter().map(|sum| (sum.name, self.quantity(sum))))
            .chain(others.iter().map(event))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    fn distinct() -> Counters {
        let mut counters = Counters::default();
        for (index, &event) in Event::ALL.iter().enumerate() {
            counters.record(event, 1 << index);
        }
        counters
    }

    #[test]
    fn names_are_unique_and_complete() {
        let counters = distinct();
        let names: BTreeSet<_> = counters.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), Event::ALL.len() + SUMS.len());
        assert_eq!(counters.iter().count(), names.len());
        for required in [
            "warp_instructions",
            "thread_instructions",
            "mrf_reads",
            "mrf_writes",
            "rfc_reads",
            "rfc_writes",
            "rfc_writebacks",
            "lrf_reads",
            "lrf_writes",
            "lrf_evictions",
        ] {
            assert!(names.contains(required), "{required}");
        }
    }

    #[test]
    fn a_sum_is_the_sum_of_its_terms() {
        let counters = distinct();
        assert_eq!(
            counters.mrf_reads(),
            counters.mrf_reads_private() + counters.mrf_reads_shared()
        );
        assert_eq!(
            counters.mrf_writes(),
            counters.mrf_writes_private()
                + counters.mrf_writes_shared()
                + counters.rfc_writebacks()
                + counters.lrf_writebacks()
                + counters.write_pool_writebacks()
        );
        for sum in SUMS {
            let value = counters.iter().find(|&(name, _)| name == sum.name).map(|(_, value)| value);
            assert_eq!(value, Some(counters.quantity(sum)), "{}", sum.name);
            let terms: BTreeSet<_> = sum.terms().iter().map(|event| event.name()).collect();
            assert_eq!(terms.len(), sum.terms().len(), "{}", sum.name);
        }
    }

    /// A sum that leaves out an event of its kind is found here.
    #[test]
    fn sums_take_every_event_of_their_kind() {
        let kind = |name: &str, class: EnergyClass| {
            let level =
                |end| Level::ALL.into_iter().find(|it| name.strip_suffix(end) == Some(it.name()));
            match (class, level("_reads"), level("_writes"), level("_writebacks")) {
                (Read(read, _), Some(level), ..) => read == level,
                (Write(to, _) | Fill(to, _) | Move(_, to), _, Some(level), _) => to == level,
                (Move(from, to), .., Some(level)) => (from, to) == (level, Mrf),
                (DualWrite(..), ..) => name == "dual_writes" || name == "overhead_writes",
                (Fill(..) | Move(..), ..) => name == "overhead_writes",
                _ => false,
            }
        };
        for sum in SUMS {
            let all = Event::ALL.iter().filter(|event| kind(sum.name, event.energy_class()));
            assert!(all.eq(sum.terms()), "{}", sum.name);
        }
    }

    #[test]
    fn arithmetic_is_checked() {
        let one = distinct();
        let three = one.checked_mul(3).unwrap();
        assert_eq!(three.checked_sub(&one).unwrap(), one.checked_add(&one).unwrap());
        let last = *Event::ALL.last().unwrap();
        let too_many = one.checked_mul(u64::MAX).unwrap_err();
        assert_eq!(too_many.event, Event::ThreadInstruction);
        let negative = Counters::default().checked_sub(&one).unwrap_err();
        assert_eq!(negative.event, Event::WarpInstruction);
        let mut full = Counters::default();
        full.record(last, u64::MAX);
        assert_eq!(full.checked_add(&one).unwrap_err().event, last);
    }

    #[test]
    fn only_accesses_cost_energy() {
        for &event in Event::ALL {
            let priced = event.energy_class() != Free;
            let accesses = ["warp register accesses", "results"].contains(&event.unit());
            assert_eq!(priced, accesses, "{}", event.name());
            assert!(event.meaning().ends_with('.'), "{}", event.name());
        }
    }
}
