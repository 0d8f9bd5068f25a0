//! Observation: what an SM tells of a run while it runs, so that a timeline can be drawn.
//!
//! Models: launches and ends of CTAs, issues, what each issue reserves (units, reads and writes of
//! banks, results), and where every warp stands in every cycle.
//! Does not model: anything of its own: observing changes no result, and an SM without an observer
//! is compiled without any of this.
//! Source: `docs/MODEL.md`, section "Time".

use super::config::{BANKS, MAX_RESIDENT_WARPS};
use super::counters::StallReason;
use super::facts::{BusyUnit, Class, Facts, Wait};
use super::machine::Sm;
use super::ports::{BankCounts, WritePorts};
use super::warp::{MemoryAccess, Phase, Trace};
use crate::image::Unit;
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

/// Something that happened in an SM, or was reserved for a later cycle.
///
/// What an instruction reserves ([`Self::Unit`], [`Self::BankRead`], [`Self::BankWrite`] and
/// [`Self::Result`]) comes between its [`Self::Issue`] and the next one. With operand collectors
/// nothing is reserved: all but [`Self::Result`], which is left out, come in the cycle in which
/// they begin, and tell of an instruction that issued earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A CTA became resident.
    CtaLaunch {
        /// When.
        cycle: u64,
        /// The CTA, in launch order from 0.
        cta: u64,
        /// Its place among the resident CTAs.
        slot: u8,
        /// Bit `i`: a warp of it is at place `i`; the lowest place has warp 0, and so on.
        warps: u64,
    },
    /// The last warp of a CTA ended, and its places are free.
    CtaEnd {
        /// When.
        cycle: u64,
        /// The CTA, in launch order from 0.
        cta: u64,
        /// Its place among the resident CTAs.
        slot: u8,
        /// As at its launch.
        warps: u64,
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
        /// Range: `0..BANKS`, or as many as the collectors' arbiter has.
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
    /// What became of some cycles in which nothing changed after the first.
    Cycles {
        /// The first.
        first: u64,
        /// How many. At least 1.
        count: u64,
        /// Issue slots that issued in the first: slots 0 to `issued - 1`.
        issued: u8,
        /// What became of the other slots, in all of these cycles.
        reason: StallReason,
        /// Where the warps stand after the first cycle's events and issues.
        warps: WarpPhases,
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

/// What an instruction is started by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SmUnit {
    /// Arithmetic; an instruction in each issue slot of each cycle.
    Alu,
    /// Branches, barriers and exits; as many.
    Control,
    /// Constants and parameters; as many.
    Constant,
    /// Double precision.
    DoublePrecision,
    /// Special functions.
    SpecialFunction,
    /// Textures.
    Texture,
    /// Shared memory.
    SharedMemory,
    /// DRAM: the cycles in which bytes move, which begin when earlier ones have moved.
    Dram,
}

impl SmUnit {
    /// Every unit.
    pub const ALL: [Self; 8] = [
        Self::Alu,
        Self::Control,
        Self::Constant,
        Self::DoublePrecision,
        Self::SpecialFunction,
        Self::Texture,
        Self::SharedMemory,
        Self::Dram,
    ];
}

macro_rules! warp_phases {
    ($($(#[doc = $doc:literal])+ $variant:ident;)+) => {
        /// Where a resident warp stands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum WarpPhase {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl WarpPhase {
            /// Every phase.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }
    };
}

warp_phases! {
    /// Active, with all operands; another issues, or the unit or the operand reads are busy.
    Ready;
    /// Active; its next instruction can issue in the next cycle at the earliest.
    InOrder;
    /// Active, waits for a branch to be resolved.
    Branch;
    /// Active, waits for a result of the ALUs.
    Arithmetic;
    /// Active, waits for a result of the special function unit.
    SpecialFunction;
    /// Active, waits for shared memory or constants.
    ShortMemory;
    /// Active, waits for DRAM or a texture.
    LongLatency;
    /// Leaves the active set: its cache is flushed, its place still taken.
    Flush;
    /// Waits at a barrier in the active set.
    Barrier;
    /// Left the active set, waits for what it needs to return.
    Outside;
    /// Left the active set, waits at a barrier.
    OutsideBarrier;
    /// Launched, or able to return: waits for a place in the active set.
    Returnable;
    /// Has issued its last instruction; results are on their way.
    Drain;
    /// Has ended; its registers stay taken until its CTA ends.
    Ended;
}

/// Where all resident warps stand: each in exactly one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpPhases {
    sets: [u64; WarpPhase::ALL.len()],
}

impl WarpPhases {
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

/// Whose writes of the main register file are reserved, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// The warp's place.
    pub(super) place: u8,
    pub(super) cause: WriteCause,
}

/// The write ports, and who hears of every write.
pub(super) struct ObservedPorts<'s, O> {
    pub(super) ports: &'s mut WritePorts,
    pub(super) observer: &'s mut O,
    pub(super) writer: Writer,
}

impl<O: SmObserver> ObservedPorts<'_, O> {
    /// Reserves a write as [`WritePorts::write`] does.
    #[inline]
    pub(super) fn write(&mut self, register: RegisterId, time: u64, now: u64) -> u64 {
        let cycle = self.ports.write(register, time, now);
        if O::LISTENS {
            let bank = BankCounts::bank(register) as u8;
            let Writer { place, cause } = self.writer;
            self.observer.observe(Observation::BankWrite { bank, place, register, cycle, cause });
        }
        cycle
    }
}

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Tells of something, which is put together only if somebody listens.
    #[inline]
    pub(super) fn tell(&mut self, observation: impl FnOnce(&Self) -> Observation) {
        if O::LISTENS {
            let observation = observation(self);
            self.observer.observe(observation);
        }
    }

    /// Tells of the instruction that a warp is about to issue.
    #[inline]
    pub(super) fn tell_issue(&mut self, slot: u64, warp: usize) {
        self.tell(|sm| {
            let state = &sm.memory.warps[warp];
            Observation::Issue(Issue {
                cycle: sm.now,
                slot: slot as u8,
                place: warp as u8,
                cta: sm.ctas[usize::from(state.cta)].number,
                warp: state.number,
                pc: state.pc,
                mask: state.mask,
            })
        });
    }

    /// Tells which unit or memory a warp's instruction at `pc` is about to take.
    #[inline]
    pub(super) fn tell_unit(
        &mut self,
        (warp, pc): (usize, u32),
        facts: &Facts,
        access: MemoryAccess,
    ) {
        if O::LISTENS
            && let Some((unit, from, until)) = self.occupied(pc, facts, access)
        {
            let place = warp as u8;
            self.observer.observe(Observation::Unit { unit, place, pc, from, until });
        }
    }

    /// What an instruction that starts now takes, the first cycle, and the one after the last; none
    /// of an access to DRAM that moves nothing.
    fn occupied(&self, pc: u32, facts: &Facts, access: MemoryAccess) -> Option<(SmUnit, u64, u64)> {
        let (now, bytes) = (self.now, access.bytes);
        let (unit, (from, until)) = match facts.class {
            Class::Free => {
                let unit = match self.image.instructions[pc as usize].unit {
                    Unit::Control => SmUnit::Control,
                    Unit::Memory => SmUnit::Constant,
                    _ => SmUnit::Alu,
                };
                (unit, (now, now + 1))
            }
            Class::Unit(BusyUnit::SharedMemory) => {
                (SmUnit::SharedMemory, self.memory_system.shared_occupancy(bytes, now))
            }
            Class::Unit(unit) => {
                let name = match unit {
                    BusyUnit::Double => SmUnit::DoublePrecision,
                    BusyUnit::SpecialFunction => SmUnit::SpecialFunction,
                    BusyUnit::Texture => SmUnit::Texture,
                    BusyUnit::SharedMemory => SmUnit::SharedMemory,
                };
                (name, (now, now + self.units.interval(unit)))
            }
            Class::Dram if access.hit => return None,
            Class::Dram => (SmUnit::Dram, self.memory_system.dram_occupancy(bytes, now)),
        };
        (from != until).then_some((unit, from, until))
    }

    /// Tells of operand reads that have just been planned for a warp's instruction.
    #[inline]
    pub(super) fn tell_reads(&mut self, warp: usize, reads: BankCounts) {
        if O::LISTENS {
            let (place, pc) = (warp as u8, self.memory.warps[warp].pc);
            for bank in 0..BANKS {
                let (count, until) = (reads.of(bank), self.reads.free_at(bank));
                if count != 0 {
                    let (bank, from) = (bank as u8, until - count);
                    let told = Observation::BankRead { bank, place, pc, from, until };
                    self.observer.observe(told);
                }
            }
        }
    }

    /// Tells what became of `count` cycles from now on.
    #[inline]
    pub(super) fn tell_cycles(&mut self, count: u64, issued: u64, reason: StallReason) {
        self.tell(|sm| Observation::Cycles {
            first: sm.now,
            count,
            issued: issued as u8,
            reason,
            warps: sm.phases(),
        });
    }

    fn phases(&self) -> WarpPhases {
        let mut phases = WarpPhases::default();
        let sets = &self.sets;
        let select = |set: u64, holds: &dyn Fn(&super::Warp<T>) -> bool| {
            let warps = self.memory.warps.iter().enumerate();
            let held = warps.filter(|&(place, warp)| set >> place & 1 != 0 && holds(warp));
            held.fold(0, |held, (place, _)| held | 1 << place)
        };
        let waiting = |wait: Wait| sets.waiting[wait as usize];
        let arithmetic = waiting(Wait::Arithmetic) | waiting(Wait::DoublePrecision);
        let short_memory = waiting(Wait::Cached) | waiting(Wait::SharedMemory);
        let at_barrier = select(sets.pending, &|warp| warp.at_barrier);
        let ended = select(sets.draining, &|warp| warp.phase != Phase::Draining);
        for (phase, set) in [
            (WarpPhase::Ready, sets.ready),
            (WarpPhase::InOrder, waiting(Wait::InOrder)),
            (WarpPhase::Branch, waiting(Wait::Branch)),
            (WarpPhase::Arithmetic, arithmetic),
            (WarpPhase::SpecialFunction, waiting(Wait::SpecialFunction)),
            (WarpPhase::ShortMemory, short_memory),
            (WarpPhase::LongLatency, waiting(Wait::LongLatency)),
            (WarpPhase::Flush, sets.flushing),
            (WarpPhase::Barrier, sets.barrier),
            (WarpPhase::Outside, sets.pending & !at_barrier),
            (WarpPhase::OutsideBarrier, at_barrier),
            (WarpPhase::Returnable, sets.returnable),
            (WarpPhase::Drain, sets.draining & !ended),
            (WarpPhase::Ended, ended),
        ] {
            phases.sets[phase as usize] = set;
        }
        phases
    }
}
