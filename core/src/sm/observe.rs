//! Observation: what an SM tells of a run while it runs, so that a timeline can be drawn.
//!
//! Models: launches and ends of CTAs, issues, what each issue reserves (units, reads and writes of
//! banks, results), what a memory counts for each access, and where every warp stands in every
//! cycle.
//! Does not model: anything of its own: observing changes no result, and an SM without an observer
//! is compiled without any of this.
//! Source: `docs/MODEL.md`, section "Time".

use core::cell::RefCell;

use super::config::MAX_RESIDENT_WARPS;
use super::counters::StallReason;
use super::expansion::operand_cache::Move;
use super::memory::Ticket;
use super::memory::cache_counters::CacheEvent;
use super::memory::gddr::row::Row;
use super::memory::touched::TouchedLine;
use crate::named;
use crate::units::{LaneMask, RegisterId};

/// Hears what happens in an SM, in the order in which it is decided.
///
/// A closure over [`Observation`] is one.
pub trait SmObserver {
    /// False when nothing is listened to, so that nothing need be prepared.
    const LISTENS: bool;

    /// Something happened, or was reserved.
    fn observe(&mut self, observation: Observation);
}

/// No observer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unobserved;

impl SmObserver for Unobserved {
    const LISTENS: bool = false;

    #[inline]
    fn observe(&mut self, _: Observation) {}
}

impl<F: FnMut(Observation)> SmObserver for F {
    const LISTENS: bool = true;

    #[inline]
    fn observe(&mut self, observation: Observation) {
        self(observation);
    }
}

/// One observer of an SM and of the memory that is attached to it, which are made apart.
#[derive(Debug)]
pub struct CommonObserver<'o, O>(&'o RefCell<O>);

impl<'o, O> CommonObserver<'o, O> {
    /// Tells what it hears to an observer, which outlives both.
    pub const fn new(observer: &'o RefCell<O>) -> Self {
        Self(observer)
    }
}

impl<O> Clone for CommonObserver<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for CommonObserver<'_, O> {}

impl<O: SmObserver> SmObserver for CommonObserver<'_, O> {
    const LISTENS: bool = O::LISTENS;

    #[inline]
    fn observe(&mut self, observation: Observation) {
        // Nothing is told while something is told.
        if let Ok(mut observer) = self.0.try_borrow_mut() {
            observer.observe(observation);
        }
    }
}

/// An instruction that issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// When.
    pub cycle: u64,
    /// The issue slot, from 0.
    pub slot: u8,
    /// The resident warp's place in the SM.
    pub place: u8,
    /// Its CTA, in launch order from 0.
    pub cta: u64,
    /// The warp's number within its CTA.
    pub warp: u32,
    /// The instruction.
    pub pc: u32,
    /// Lanes enabled.
    pub mask: LaneMask,
}

/// Something that a memory has counted.
///
/// The sum of [`Self::count`] over all that is told of an event is the count of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryObservation {
    /// What, of all kinds but [`CacheEventKind::Instruction`](super::memory::CacheEventKind).
    pub event: CacheEvent,
    /// How much of it, in the event's unit. Range: from 1.
    pub count: u64,
    /// Whose access it belongs to; none if to no single one.
    pub of: Option<Ticket>,
    /// The line, of what is counted by line.
    pub line: Option<TouchedLine>,
    /// First cycle.
    pub from: u64,
    /// The cycle after the last.
    pub until: u64,
}

/// A channel of the DRAM behind a second level reads or writes 64 bytes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowObservation {
    /// Range: below the channels of the DRAM.
    pub channel: u8,
    /// Range: below the banks of a channel.
    pub bank: u8,
    /// The row of the bank.
    pub row: u64,
    /// How the line found its bank; none of what is read or written of it later.
    pub found: Option<Row>,
    /// It is written.
    pub write: bool,
    /// Whose access it belongs to; none of a line that the second level writes back.
    pub of: Option<Ticket>,
    /// First cycle with data.
    pub from: u64,
    /// The cycle after the last, from which the data is there. Another one's first cycle can lie
    /// before it, where a cycle has several ticks of the DRAM's clock.
    pub until: u64,
}

/// Something that happened in an SM, or was reserved for a later cycle.
///
/// What an instruction reserves ([`Self::Unit`], [`Self::BankRead`], [`Self::BankWrite`] and
/// [`Self::Result`]) comes between its [`Self::Issue`] and the next one. With operand collectors
/// nothing is reserved: all but [`Self::Result`], which is left out, come in the cycle in which
/// they begin, and tell of an instruction that issued earlier. What a memory tells of an access
/// that it takes ([`Self::Memory`], [`Self::Fill`] and [`Self::Path`]) comes in the cycle of the
/// request, which without operand collectors is that of [`Self::Issue`], and before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A CTA became resident, or more warps of the CTA that became resident last.
    CtaLaunch {
        /// When.
        cycle: u64,
        /// The CTA, in launch order from 0.
        cta: u64,
        /// Its place among the resident CTAs.
        slot: u8,
        /// Warps of it that became resident before.
        before: u32,
        /// Bit `i`: a warp of it is at place `i` now; the lowest place has warp number `before`,
        /// and so on.
        warps: u64,
    },
    /// Warps of a CTA have ended, and their places are free.
    CtaEnd {
        /// When.
        cycle: u64,
        /// The CTA, in launch order from 0.
        cta: u64,
        /// Its place among the resident CTAs.
        slot: u8,
        /// Bit `i`: place `i` is free.
        warps: u64,
        /// The last of the CTA's warps has ended.
        last: bool,
    },
    /// An instruction issued.
    Issue(Issue),
    /// An instruction takes a unit, which starts no other meanwhile.
    Unit {
        /// Which.
        unit: SmUnit,
        /// Place of the instruction's warp.
        place: u8,
        /// The instruction.
        pc: u32,
        /// First cycle.
        from: u64,
        /// The cycle after the last.
        until: u64,
    },
    /// An instruction reads operands from the main register file, one a cycle.
    BankRead {
        /// Range: below the banks of the main register file.
        bank: u8,
        /// Place of the instruction's warp.
        place: u8,
        /// The instruction.
        pc: u32,
        /// Cycle of the first read.
        from: u64,
        /// The cycle after the last read.
        until: u64,
    },
    /// The main register file is written. Writes far ahead share a port (`docs/MODEL.md`, "Time").
    BankWrite {
        /// Range: as for reads.
        bank: u8,
        /// Place of the warp whose register it is.
        place: u8,
        /// The register.
        register: RegisterId,
        /// When; with operand collectors, the first cycle.
        cycle: u64,
        /// Why.
        cause: WriteCause,
    },
    /// The last result of the instruction that issued last is there.
    Result {
        /// First cycle in which an instruction that uses it can issue.
        cycle: u64,
    },
    /// A memory has counted something.
    Memory(MemoryObservation),
    /// An access takes the path to shared memory and cache. Where registers can be in its way, this
    /// comes in the last of the cycles.
    Path {
        /// Place of the instruction's warp.
        place: u8,
        /// The instruction.
        pc: u32,
        /// First cycle.
        from: u64,
        /// The cycle after the last.
        until: u64,
    },
    /// A line comes from DRAM.
    Fill {
        /// The line.
        line: TouchedLine,
        /// Place of the warp whose load missed.
        place: u8,
        /// The load.
        pc: u32,
        /// The first cycle in which the line is in the cache, unless it waits for its bank
        /// ([`CacheEvent::FillWaitCycle`]).
        cycle: u64,
    },
    /// The DRAM behind a second level reads or writes; told in the cycle in which the command is
    /// issued, or later.
    Row(RowObservation),
    /// The memory refuses an access; the SM asks again.
    Refused {
        /// When.
        cycle: u64,
        /// Place of the instruction's warp.
        place: u8,
        /// The instruction.
        pc: u32,
    },
    /// Something happened to registers in scratchpad memory.
    Expansion {
        /// When.
        cycle: u64,
        /// What.
        event: ExpansionObservation,
    },
    /// The lazy two-level scheduler has set the limit of active warps.
    ActiveLimit {
        /// When.
        cycle: u64,
        /// Warps.
        warps: u8,
    },
    /// What became of some cycles in which nothing changed after the first.
    Cycles {
        /// The first.
        first: u64,
        /// How many. At least 1.
        count: u64,
        /// What became of each issue slot: it issued in the first cycle, or did nothing in all of
        /// them. An SM with one slot says the same of both.
        slots: [StallReason; 2],
        /// Where the warps stand after the first cycle's events and issues.
        warps: WarpPhases,
    },
}

/// What happens to registers in scratchpad memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionObservation {
    /// PREF issued.
    Prefetch {
        /// The issue slot, from 0.
        slot: u8,
        /// Place of the warp.
        place: u8,
        /// The instruction before which it stands.
        pc: u32,
    },
    /// A warp's bundle has its lines; what must be fetched into them comes after.
    Begins {
        /// Place of the warp.
        place: u8,
        /// The bundle's first instruction.
        pc: u32,
    },
    /// A register moves between the operand cache and scratchpad memory.
    Moves(Move),
    /// A long-latency operation that issues takes the line of its result's register away.
    Bypass {
        /// Place of the warp.
        place: u8,
        /// The register.
        register: RegisterId,
    },
    /// All registers of a warp's bundle are there: it can issue in the next cycle.
    Schedulable {
        /// Place of the warp.
        place: u8,
    },
    /// An operand is read from the operand cache.
    Read {
        /// Place of the warp.
        place: u8,
        /// The register.
        register: RegisterId,
    },
    /// A result is written to the operand cache.
    Write {
        /// Place of the warp.
        place: u8,
        /// The register.
        register: RegisterId,
    },
    /// A long-latency result is written to scratchpad memory.
    Arrives {
        /// Place of the warp.
        place: u8,
        /// The register.
        register: RegisterId,
    },
    /// A warp's bundle is complete: its lines can be given to others.
    Completes {
        /// Place of the warp.
        place: u8,
    },
}

/// Why the main register file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteCause {
    /// A result goes straight there.
    Result,
    /// An entry of the register file cache makes room for another.
    Eviction,
    /// The register file cache is flushed.
    Flush,
    /// An entry of the write pool makes room for another.
    WritePool,
}

named! {
    /// What an instruction is started by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SmUnit {
        /// Arithmetic; an instruction in each issue slot of each cycle.
        Alu = "ALU",
        /// Branches, barriers and exits; as many.
        Control = "control",
        /// Constants and parameters; as many.
        Constant = "constants",
        /// Double precision.
        DoublePrecision = "double precision",
        /// Special functions.
        SpecialFunction = "special function",
        /// Textures.
        Texture = "texture",
        /// Shared memory.
        SharedMemory = "shared memory",
        /// DRAM: the cycles in which bytes move, which begin when earlier ones have moved.
        Dram = "DRAM",
    }

    /// Where a resident warp stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WarpPhase {
        /// Active, with all operands; another issues, or the unit or the operand reads are busy.
        Ready = "ready",
        /// Active; its next instruction can issue in the next cycle at the earliest.
        InOrder = "waits: in order",
        /// Active, waits for a branch to be resolved.
        Branch = "waits: branch",
        /// Active, waits for a result of the ALUs.
        Arithmetic = "waits: arithmetic",
        /// Active, waits for a result of the special function unit.
        SpecialFunction = "waits: special function",
        /// Active, waits for shared memory or constants.
        ShortMemory = "waits: short memory",
        /// Active, waits for DRAM or a texture.
        LongLatency = "waits: long latency",
        /// Active, with all operands but registers that come from scratchpad memory.
        Prefetch = "prefetches",
        /// Leaves the active set: its cache is flushed, its place still taken.
        Flush = "flushes",
        /// Waits at a barrier in the active set.
        Barrier = "at barrier",
        /// Left the active set, waits for what it needs to return.
        Outside = "outside: waits",
        /// Left the active set, waits at a barrier.
        OutsideBarrier = "outside: at barrier",
        /// Launched, or able to return: waits for a place in the active set.
        Returnable = "outside: can return",
        /// Has issued its last instruction; results are on their way.
        Drain = "drains",
        /// Has ended; its registers stay taken until its CTA ends.
        Ended = "ended",
    }
}

/// Where all resident warps stand: each in exactly one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpPhases {
    sets: [u64; WarpPhase::ALL.len()],
}

impl WarpPhases {
    /// The warps in each phase, bit `i` being the warp at place `i`; no warp in two.
    pub(super) fn new(sets: &[(WarpPhase, u64); WarpPhase::ALL.len()]) -> Self {
        let mut phases = Self::default();
        for &(phase, set) in sets {
            phases.sets[phase as usize] = set;
        }
        phases
    }

    /// The warps in a phase: bit `i` is the warp at place `i`.
    pub const fn warps(&self, phase: WarpPhase) -> u64 {
        self.sets[phase as usize]
    }

    /// The phase of the warp at a place; none when no warp is there.
    pub fn of(&self, place: usize) -> Option<WarpPhase> {
        let mut all = WarpPhase::ALL.iter().copied();
        all.find(|&phase| place < MAX_RESIDENT_WARPS && self.warps(phase) >> place & 1 != 0)
    }
}
