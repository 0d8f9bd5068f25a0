//! Memory: when the data of an access is there, and for how long its path is taken.
//!
//! An SM asks a memory for each access ([`MemoryModel::request`]). The memory answers with the
//! cycle of the data, or that the data comes later ([`Arrival::Pending`]) and then tells when it
//! does ([`MemoryModel::step`]), or that it cannot take the access now ([`Answer::Refused`]): the
//! SM then asks again in the next cycle.
//!
//! A memory of the table below is chosen by [`super::config::SmSettings::memory`]; a memory of the
//! caller's own stands in [`super::Memory::attached`].

mod arbitration;
pub mod bank_conflicts;
pub mod cache;
pub(super) mod cache_counters;
pub mod cached;
mod cached_settings;
pub mod gddr;
pub mod l2;
mod ledger;
mod line_key;
mod listed;
pub mod lower;
pub mod lower_counters;
pub mod mshr;
pub mod touched;
pub mod waiting;

use super::counters::{CycleEvent, SmCounters};
use super::operand_delivery::OperandDelivery;
use super::timing::Timing;
use super::trace::MemoryAccess;
use crate::named;
use bank_conflicts::{BankConflictError, OperandReads};
pub use cache_counters::CacheEventKind;

/// Which memory an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Shared memory. Its path takes one access at a time: the SM asks when it is free.
    Shared,
    /// Global or local memory.
    Global,
}

/// An access of a warp's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryRequest {
    /// Whose access it is.
    pub ticket: Ticket,
    /// Where it goes.
    pub space: Space,
    /// What it moves.
    pub access: MemoryAccess,
    /// The cycle.
    pub now: u64,
}

/// The instruction that waits for data. Until the last piece of a pending result has arrived, the
/// same instruction of the same warp does not issue again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The resident warp's place in the SM.
    pub warp: u8,
    /// The instruction.
    pub pc: u32,
}

/// What a memory says to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It takes the access.
    Taken {
        /// When the data is there.
        arrival: Arrival,
        /// A cache has all that a load of global or local memory asks for.
        cached: bool,
        /// First cycle in which the access takes the path of its memory.
        from: u64,
        /// The cycle after the last; `from` if it takes none.
        until: u64,
    },
    /// It cannot take the access in this cycle, and has not changed.
    Refused,
}

/// When data is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// The first cycle in which an instruction that uses the data can issue: the cycle after the
    /// request or later. Latencies count from issue, but operand collectors send a request two
    /// cycles after it: with them the data can be used two cycles before this one, which is the
    /// fourth after the request or later. An earlier cycle counts as the earliest.
    At(u64),
    /// Not known yet.
    Pending {
        /// Pieces beyond the first in which it arrives: [`MemoryStep::arrive`] is called once more
        /// for each.
        more_pieces: u8,
    },
}

/// A port of a bank of the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BankPort {
    /// For reads.
    Read,
    /// For writes.
    Write,
}

/// What a memory can do in a cycle, after the instructions of the cycle have issued.
pub trait MemoryStep {
    /// The cycle.
    fn now(&self) -> u64;

    /// What the memory counts.
    fn counters(&mut self) -> MemoryCounters<'_>;

    /// A piece of the data of a ticket arrives; `at` is as in [`Arrival::At`], of a request that is
    /// sent now. Instructions without a result wait for no data: their
    /// tickets may be left out. A piece that was not announced is ignored.
    fn arrive(&mut self, ticket: Ticket, at: u64);

    /// Banks of the main register file. Range: from 1.
    fn banks(&self) -> u8;

    /// Takes a port of a bank for an access that begins in this cycle, if no access of a register
    /// takes it: registers come first. Returns whether it did.
    fn claim(&mut self, bank: u8, port: BankPort) -> bool;
}

/// Bytes that a memory moves, which it counts.
#[derive(Debug)]
pub struct MemoryCounters<'c>(pub(super) &'c mut SmCounters);

impl<'c> MemoryCounters<'c> {
    /// What is counted for an SM.
    pub const fn new(counters: &'c mut SmCounters) -> Self {
        Self(counters)
    }

    /// Bytes move through a memory for some cycles.
    pub fn moved(&mut self, space: Space, bytes: u32, cycles: u64) {
        let (moved, busy) = match space {
            Space::Shared => (CycleEvent::SharedByte, CycleEvent::SharedBusy),
            Space::Global => (CycleEvent::DramByte, CycleEvent::DramBusy),
        };
        self.0.record(moved, u64::from(bytes));
        self.0.record(busy, cycles);
    }
}

/// The memory behind an SM.
pub trait MemoryModel: core::fmt::Debug {
    /// Takes an access, or refuses it.
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer;

    /// The cycle from which it is known whether an access of global memory hits a cache that is
    /// requested next, in this cycle.
    fn hit_known_at(&self, now: u64) -> u64;

    /// What happens in a cycle in which something issued, or that is [`Self::next_event`].
    fn step(&mut self, step: &mut dyn MemoryStep);

    /// The next cycle, later than `now`, in which [`Self::step`] does something, if there is one.
    fn next_event(&self, now: u64) -> Option<u64>;

    /// The first cycle from which on no byte of any access moves, as far as it is known.
    fn drained_at(&self) -> u64;

    /// Whether it goes on after the last warp, [step](Self::step) by step: accesses without a
    /// result wait in it.
    fn is_busy(&self) -> bool {
        false
    }

    /// Whether it can stand behind an SM whose operands come like this, within a window of so many
    /// cycles.
    ///
    /// # Errors
    /// What does not go together.
    fn check(
        &self,
        delivery: OperandDelivery,
        operand_window: u8,
    ) -> Result<(), BankConflictError> {
        let _ = (delivery, operand_window);
        Ok(())
    }

    /// Whether it hears of the operands of each instruction.
    fn hears_operands(&self) -> bool {
        false
    }

    /// An instruction issues, with these reads of the main register file; not told by an SM with
    /// operand collectors. If it accesses memory, it was asked for before. Returns by how many
    /// cycles the conflicts of banks delay the result, and the next issue; none if that is the
    /// register file's own affair.
    fn operands(&mut self, reads: &OperandReads) -> Option<u64> {
        let _ = reads;
        None
    }
}

/// The table of memories. A memory is a file in the folder of this one and a line here.
macro_rules! memories {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident;)+) => {
        $(mod $module;)+

        named! {
            /// A memory behind an SM.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum MemoryKind {
                $($(#[doc = $doc])+ $variant = $name,)+
            }
        }

        /// The memory of an SM.
        #[derive(Debug)]
        pub(super) enum MemorySystem<'m> {
            $($variant($module::$variant),)+
            /// The caller's.
            Attached(&'m mut dyn MemoryModel),
        }

        impl<'m> MemorySystem<'m> {
            /// A memory, idle: the caller's, if there is one.
            pub(super) fn new(
                kind: MemoryKind,
                timing: &Timing,
                attached: Option<&'m mut dyn MemoryModel>,
            ) -> Self {
                if let Some(memory) = attached {
                    return Self::Attached(memory);
                }
                match kind {
                    $(MemoryKind::$variant => Self::$variant($module::$variant::new(timing)),)+
                }
            }

            /// Takes an access, or refuses it.
            #[inline(always)]
            pub(super) fn request(
                &mut self,
                request: &MemoryRequest,
                counters: &mut MemoryCounters<'_>,
            ) -> Answer {
                match self {
                    $(Self::$variant(memory) => memory.request(request, counters),)+
                    Self::Attached(memory) => memory.request(request, counters),
                }
            }

            /// The cycle from which it is known whether an access that begins now hits a cache.
            #[inline]
            pub(super) fn hit_known_at(&self, now: u64) -> u64 {
                match self {
                    $(Self::$variant(memory) => memory.hit_known_at(now),)+
                    Self::Attached(memory) => memory.hit_known_at(now),
                }
            }

            /// Whether a step does anything.
            #[inline]
            pub(super) const fn steps(&self) -> bool {
                match self {
                    $(Self::$variant(_) => $module::$variant::STEPS,)+
                    Self::Attached(_) => true,
                }
            }

            /// What happens in a cycle after issue.
            pub(super) fn step(&mut self, step: &mut dyn MemoryStep) {
                match self {
                    $(Self::$variant(memory) => memory.step(step),)+
                    Self::Attached(memory) => memory.step(step),
                }
            }

            /// The next cycle in which a step does something.
            #[inline]
            pub(super) fn next_event(&self, now: u64) -> Option<u64> {
                match self {
                    $(Self::$variant(memory) => memory.next_event(now),)+
                    Self::Attached(memory) => memory.next_event(now),
                }
            }

            /// The first cycle from which on no byte moves.
            pub(super) fn drained_at(&self) -> u64 {
                match self {
                    $(Self::$variant(memory) => memory.drained_at(),)+
                    Self::Attached(memory) => memory.drained_at(),
                }
            }

            /// Whether it goes on after the last warp.
            pub(super) fn is_busy(&self) -> bool {
                match self {
                    $(Self::$variant(memory) => memory.is_busy(),)+
                    Self::Attached(memory) => memory.is_busy(),
                }
            }

            /// Whether it can stand behind an SM whose operands come like this.
            pub(super) fn check(
                &self,
                delivery: OperandDelivery,
                operand_window: u8,
            ) -> Result<(), BankConflictError> {
                match self {
                    $(Self::$variant(memory) => memory.check(delivery, operand_window),)+
                    Self::Attached(memory) => memory.check(delivery, operand_window),
                }
            }

            /// Whether it hears of operands.
            pub(super) fn hears_operands(&self) -> bool {
                match self {
                    $(Self::$variant(memory) => memory.hears_operands(),)+
                    Self::Attached(memory) => memory.hears_operands(),
                }
            }

            /// An instruction issues, with these reads.
            pub(super) fn operands(&mut self, reads: &OperandReads) -> Option<u64> {
                match self {
                    $(Self::$variant(memory) => memory.operands(reads),)+
                    Self::Attached(memory) => memory.operands(reads),
                }
            }
        }
    };
}

memories! {
    /// Fixed latencies, and bandwidth.
    FixedLatency = "fixed-latency" in fixed_latency;
}
