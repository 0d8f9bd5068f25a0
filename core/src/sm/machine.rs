//! The SM: its state, and the run from the first CTA to the last, event by event.
//!
//! Within a cycle, in this order: warps whose event is due, by index; launch of CTAs; activation of
//! warps; issue, slot by slot. Everything that an issue sets in motion is decided at issue:
//! results, ports and units are reserved then, so that the next event is always known.

use core::mem::size_of;

use super::barrier::CtaBarriers;
use super::collectors::{Delivery, DeliveryMemory, DeliverySize};
use super::config::{Launch, MAX_RESIDENT_CTAS, Residency, SmConfig};
use super::counters::{CycleEvent, SmCounters, StallReason};
use super::facts::{BusyUnit, Facts, ReadyAt, Wait, pack, predicates};
use super::fault::Fault;
use super::memory::MemorySystem;
use super::observe::{SmObserver, Unobserved};
use super::ports::{ReadPorts, WritePorts};
use super::schedule::Selector;
use super::scoreboard::Scoreboard;
use super::storage::Storage;
use super::units::Units;
use super::warp::{Trace, Warp};
use super::wheel::Wheel;
use crate::hierarchy::UpperLevels;
use crate::image::CheckedImage;
use crate::rules::Rules;
use crate::units::LaneMask;

/// Elements of working memory that an SM needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize {
    /// Of [`Memory::warps`].
    pub warps: usize,
    /// Of [`Memory::facts`].
    pub facts: usize,
    /// Of [`Memory::ready`].
    pub ready: usize,
    /// Of [`Memory::awaited`].
    pub awaited: usize,
    /// Of [`Memory::caches`].
    pub caches: usize,
    /// Of [`Memory::delivery`].
    pub delivery: DeliverySize,
}

impl MemorySize {
    /// What a kernel needs on an SM.
    pub fn of(config: &SmConfig, image: &CheckedImage<'_>) -> Self {
        let warps = usize::from(config.settings().max_warps);
        let registers = usize::from(image.registers);
        Self {
            delivery: DeliverySize::of(config.settings(), image),
            warps,
            facts: image.instructions.len(),
            ready: warps * (registers + predicates(image)),
            awaited: warps * registers,
            caches: config.active_warps(),
        }
    }

    /// All of it, and the SM itself, with warps that pull from a `T`. Unit: bytes, on the machine
    /// that this is compiled for.
    pub const fn bytes<T, const CAPACITY: usize>(&self) -> usize {
        size_of::<Sm<'_, T, CAPACITY>>()
            + self.warps * size_of::<Warp<T>>()
            + self.facts * size_of::<Facts>()
            + self.ready * size_of::<ReadyAt>()
            + self.awaited * size_of::<LaneMask>()
            + self.caches * size_of::<Option<UpperLevels<CAPACITY>>>()
            + self.delivery.bytes()
    }
}

/// Working memory of an SM, handed in by the caller. Its contents do not matter.
#[derive(Debug)]
pub struct Memory<'m, T, const CAPACITY: usize> {
    /// Resident warps.
    pub warps: &'m mut [Warp<T>],
    /// Packed facts of the kernel's instructions.
    pub facts: &'m mut [Facts],
    /// When each register of each resident warp is there.
    pub ready: &'m mut [ReadyAt],
    /// Pending lanes of each register of each resident warp.
    pub awaited: &'m mut [LaneMask],
    /// Upper levels of the active warps.
    pub caches: &'m mut [Option<UpperLevels<CAPACITY>>],
    /// What operand collectors need.
    pub delivery: DeliveryMemory<'m>,
}

/// A resident CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cta {
    /// In launch order from 0.
    pub(super) number: u64,
    /// Its warps.
    pub(super) warps: u64,
    /// Warps that have not issued their last instruction.
    pub(super) running: u32,
    /// Its barriers.
    pub(super) barriers: CtaBarriers,
}

/// Warps by what they do: each resident warp is in exactly one set, or in one of `waiting`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sets {
    /// Active, with all operands.
    pub(super) ready: u64,
    /// Active, by what they wait for.
    pub(super) waiting: [u64; Wait::ALL.len()],
    /// Leaving the active set, their place still taken.
    pub(super) flushing: u64,
    /// At a barrier, in the active set.
    pub(super) barrier: u64,
    /// Pending: outside the active set, waiting.
    pub(super) pending: u64,
    /// Outside the active set, able to return.
    pub(super) returnable: u64,
    /// All issued, results on their way.
    pub(super) draining: u64,
}

impl Sets {
    fn are_a_partition_of(&self, warps: u64) -> bool {
        let Self { ready, waiting, flushing, barrier, pending, returnable, draining } = *self;
        let sets = [ready, flushing, barrier, pending, returnable, draining];
        let sets = || sets.into_iter().chain(waiting);
        let total: u32 = sets().map(u64::count_ones).sum();
        sets().fold(0, |all, set| all | set) == warps && total == warps.count_ones()
    }
}

/// An SM with a kernel to run, and who listens to it.
#[derive(Debug)]
pub struct Sm<'m, T, const CAPACITY: usize, O = Unobserved> {
    pub(super) config: SmConfig,
    pub(super) image: CheckedImage<'m>,
    pub(super) launch: Launch,
    pub(super) storage: Storage,
    pub(super) memory: Memory<'m, T, CAPACITY>,
    /// One for each instruction, apart from `memory` because they do not change any more.
    pub(super) facts: &'m [Facts],
    pub(super) scoreboard: Scoreboard<'m>,
    pub(super) rules: Rules,
    /// No level above the main register file.
    pub(super) flat: bool,
    /// Operand collectors, of an SM that has them.
    pub(super) delivery: Option<Delivery<'m>>,
    /// Warps whose next instruction needs a collector unit, whether or not they are ready.
    pub(super) collecting: u64,
    /// Warps that wait for a completion whose cycle is not known yet.
    pub(super) unsettled: u64,
    pub(super) leaves_while_waiting: bool,
    pub(super) now: u64,
    pub(super) wheel: Wheel,
    pub(super) sets: Sets,
    /// Warps in the active set: those of `ready`, `waiting`, `flushing` and `barrier`.
    pub(super) active: u64,
    /// Of the waiting warps, those that are ready when their event comes.
    pub(super) awaiting: u64,
    /// Warps by the unit that their next instruction goes to, whether or not they are ready.
    pub(super) wanting: [u64; BusyUnit::COUNT],
    /// Free places in the active set.
    pub(super) places: u64,
    /// The warp that the round robin of activation begins with.
    pub(super) next_return: u32,
    pub(super) selector: Selector,
    /// First cycle in which operand reads do not hold up the pipeline.
    pub(super) blocked_until: u64,
    pub(super) reads: ReadPorts,
    pub(super) writes: WritePorts,
    pub(super) observer: O,
    pub(super) units: Units,
    pub(super) memory_system: MemorySystem,
    pub(super) ctas: [Cta; MAX_RESIDENT_CTAS],
    /// Warps whose traces have told of barriers that are not everybody's.
    pub(super) named_barriers: u64,
    /// The host has no CTA left to launch.
    no_more_ctas: bool,
    pub(super) launched_ctas: u64,
    pub(super) launched_warps: u64,
    pub(super) counters: SmCounters,
}

pub(super) fn first<'s, E>(
    memory: &'s mut [E],
    name: &'static str,
    needed: usize,
) -> Result<&'s mut [E], Fault> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Fault::MemoryTooShort { memory: name, needed, given })
}

/// The lowest `count` bits.
pub(super) const fn lowest(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl<'m, T: Trace, const CAPACITY: usize> Sm<'m, T, CAPACITY> {
    /// Builds an empty SM for CTAs of one launch, without an observer.
    ///
    /// `shared_bytes` and `warps_per_cta` are those of every CTA. Cost: linear in the memory.
    pub fn new(
        config: &SmConfig,
        image: CheckedImage<'m>,
        warps_per_cta: u32,
        shared_bytes: u32,
        memory: Memory<'m, T, CAPACITY>,
    ) -> Result<Self, Fault> {
        Self::observed(config, image, warps_per_cta, shared_bytes, memory, Unobserved)
    }
}

impl<'m, T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'m, T, CAPACITY, O> {
    /// Builds an empty SM like [`Sm::new`], whose run `observer` hears of.
    pub fn observed(
        config: &SmConfig,
        image: CheckedImage<'m>,
        warps_per_cta: u32,
        shared_bytes: u32,
        memory: Memory<'m, T, CAPACITY>,
        observer: O,
    ) -> Result<Self, Fault> {
        if warps_per_cta == 0 {
            return Err(Fault::NoWarps);
        }
        let settings = config.settings();
        let compiler_managed = settings.organisation.settings().compiler_managed;
        if compiler_managed && !image.is_placed() {
            return Err(crate::fault::PathFault::NotPlaced.into());
        }
        let launch = Launch { warps_per_cta, registers: image.registers, shared_bytes };
        let residency = config.residency(&launch)?;
        let size = MemorySize::of(config, &image);
        let Memory { warps, facts, ready, awaited, caches, delivery } = memory;
        let delivery = Delivery::new(settings, &image, &size.delivery, delivery)?;
        let facts = first(facts, "facts", size.facts)?;
        let ready = first(ready, "ready", size.ready)?;
        let memory = Memory {
            warps: first(warps, "warps", size.warps)?,
            facts: &mut [],
            ready: &mut [],
            awaited: first(awaited, "awaited", size.awaited)?,
            caches: first(caches, "caches", size.caches)?,
            delivery: DeliveryMemory::default(),
        };
        let upper = UpperLevels::of(settings.organisation.settings());
        let upper = upper.map_err(crate::fault::PathFault::Cache)?;
        let flat = upper.is_none() && !compiler_managed;
        memory.caches.fill(upper);
        memory.warps.fill_with(Warp::default);
        pack(facts, &image, config);
        Ok(Self {
            config: *config,
            image,
            launch,
            storage: Storage::new(residency, warps_per_cta, lowest(size.warps)),
            memory,
            facts,
            scoreboard: Scoreboard::new(ready, size.warps, image.registers),
            rules: Rules::of(settings.organisation.settings()),
            flat,
            delivery,
            collecting: 0,
            unsettled: 0,
            leaves_while_waiting: config.leaves_while_waiting(),
            now: 0,
            wheel: Wheel::new(),
            sets: Sets::default(),
            active: 0,
            awaiting: 0,
            wanting: [0; BusyUnit::COUNT],
            places: lowest(config.active_warps()),
            next_return: 0,
            selector: Selector::new(settings.scheduler),
            blocked_until: 0,
            reads: ReadPorts::default(),
            writes: WritePorts::new(),
            observer,
            units: Units::new(&settings.timing),
            memory_system: MemorySystem::new(&settings.timing),
            ctas: [Cta::default(); MAX_RESIDENT_CTAS],
            named_barriers: 0,
            no_more_ctas: false,
            launched_ctas: 0,
            launched_warps: 0,
            counters: SmCounters::default(),
        })
    }

    /// How many CTAs are resident at a time, and why not more.
    pub const fn residency(&self) -> Residency {
        self.storage.residency()
    }

    /// Runs CTAs, in the order given, as room becomes free, to the end of the last.
    ///
    /// A CTA is as many warps as the launch says. Cycles in which nothing can happen cost no time.
    pub fn run<C>(mut self, ctas: impl IntoIterator<Item = C>) -> Result<SmCounters, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut ctas = ctas.into_iter();
        while self.step(&mut ctas)? {}
        Ok(self.finish())
    }

    /// Like [`Self::run`], as long as `goes_on`, which is asked in each cycle that is visited.
    /// `None` if it was not to go on.
    pub fn run_while<C>(
        mut self,
        ctas: impl IntoIterator<Item = C>,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Option<SmCounters>, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut ctas = ctas.into_iter();
        while goes_on() {
            if !self.step(&mut ctas)? {
                return Ok(Some(self.finish()));
            }
        }
        Ok(None)
    }

    /// Like [`Self::run`], but visits every cycle: slower, with the same result.
    pub fn run_every_cycle<C>(
        mut self,
        ctas: impl IntoIterator<Item = C>,
    ) -> Result<SmCounters, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut ctas = ctas.into_iter();
        while self.visit::<C, true>(&mut ctas)? {}
        Ok(self.finish())
    }

    /// Visits one cycle, [`Self::next_event`]. CTAs are taken from `ctas`, in order, as room
    /// becomes free, until it has none left. Returns false at the end of the last CTA, and from
    /// then on.
    ///
    /// Another simulator or a firmware can embed an SM with it: the SM keeps its state between two
    /// steps, however long the caller does something else.
    ///
    /// # Errors
    /// What the traces get wrong; the SM is of no further use then.
    #[expect(clippy::inline_always, reason = "the body of the loop over cycles")]
    #[inline(always)]
    pub fn step<C>(&mut self, ctas: &mut impl Iterator<Item = C>) -> Result<bool, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        self.visit::<C, false>(ctas)
    }

    /// The cycle that the next [`Self::step`] visits: the first in which something can happen.
    /// Unit: cycles from the launch of the first CTA.
    pub const fn next_event(&self) -> u64 {
        self.now
    }

    /// The counters of all steps so far, and of the memory traffic that is still under way.
    pub fn finish(mut self) -> SmCounters {
        let slots = u64::from(self.config.settings().issue_slots);
        let end = self.now.max(self.memory_system.drained_at());
        self.counters.charge(StallReason::Drain, (end - self.now) * slots);
        if end > self.now {
            self.tell_cycles(end - self.now, 0, StallReason::Drain);
        }
        self.counters.record(CycleEvent::Cycle, end);
        debug_assert_eq!(self.counters.all_slots(), end * slots);
        self.counters
    }

    #[expect(clippy::inline_always, reason = "the body of the loop over cycles")]
    #[inline(always)]
    fn visit<C, const EVERY_CYCLE: bool>(
        &mut self,
        ctas: &mut impl Iterator<Item = C>,
    ) -> Result<bool, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let slots = u64::from(self.config.settings().issue_slots);
        let due = self.wheel.advance(self.now);
        if due != 0 {
            self.events(due);
        }
        if !self.no_more_ctas && self.storage.has_room() {
            self.admit(ctas)?;
        }
        if self.sets.returnable != 0 {
            self.activate()?;
        }
        if self.storage.is_empty() && self.no_more_ctas {
            return Ok(false);
        }
        match self.delivery.as_ref().map(|all| all.collectors.arbiter.is_plain()) {
            None => {}
            Some(true) => self.step_collectors::<true>(),
            Some(false) => self.step_collectors::<false>(),
        }
        self.check();
        self.selector.rotate(self.active, 1);
        let (issued, reason) = self.issue_slots(slots)?;
        self.counters.charge(StallReason::Issued, issued);
        self.counters.charge(reason, slots - issued);
        let mut next = self.now + 1;
        if issued == 0 {
            let Some(event) = self.next_change() else { return Err(self.stalled(reason)) };
            if !EVERY_CYCLE {
                self.counters.charge(reason, slots * (event - next));
                self.selector.rotate(self.active, event - next);
                next = event;
            }
        }
        self.tell_cycles(next - self.now, issued, reason);
        self.now = next;
        Ok(true)
    }

    /// Launches CTAs as far as there is room.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    fn admit<C>(&mut self, ctas: &mut impl Iterator<Item = C>) -> Result<(), Fault>
    where
        C: IntoIterator<Item = T>,
    {
        while !self.no_more_ctas && self.storage.has_room() {
            match ctas.next() {
                Some(cta) => self.launch(cta)?,
                None => self.no_more_ctas = true,
            }
        }
        Ok(())
    }

    /// Issues up to `slots` instructions of different warps. Returns how many, and what became of
    /// the other slots.
    #[inline]
    fn issue_slots(&mut self, slots: u64) -> Result<(u64, StallReason), Fault> {
        if self.blocked_until > self.now {
            let held = self.sets.ready != 0;
            return Ok((0, if held { StallReason::OperandRead } else { self.reason() }));
        }
        for slot in 0..slots {
            let able = self.sets.ready & !self.held_by_units();
            let warps = &self.memory.warps;
            let Some(warp) = self.selector.pick(slot as usize, able, |warp| warps[warp].age) else {
                return Ok((slot, self.reason()));
            };
            self.tell_issue(slot, warp);
            self.issue(warp)?;
        }
        Ok((slots, StallReason::Issued))
    }

    /// Ready warps whose unit is still starting another.
    #[inline]
    fn held_by_units(&self) -> u64 {
        let mut held = 0;
        if let Some(delivery) = &self.delivery {
            return if delivery.collectors.units.is_full() { self.collecting } else { 0 };
        }
        if self.units.all_free_at() <= self.now {
            return held;
        }
        for (unit, wanting) in self.wanting.iter().enumerate() {
            if self.units.free_at(unit) > self.now {
                held |= wanting;
            }
        }
        held
    }

    /// Why no warp can issue.
    fn reason(&self) -> StallReason {
        let sets = &self.sets;
        let waiting = |wait: Wait| sets.waiting[wait as usize];
        let arithmetic = waiting(Wait::Arithmetic) | waiting(Wait::DoublePrecision);
        let short_memory = waiting(Wait::Cached) | waiting(Wait::SharedMemory);
        let reasons = [
            (sets.ready & self.collecting, StallReason::Collectors),
            (sets.ready, StallReason::UnitBusy),
            (waiting(Wait::InOrder), StallReason::InOrder),
            (waiting(Wait::Branch), StallReason::Branch),
            (arithmetic, StallReason::Arithmetic),
            (waiting(Wait::SpecialFunction), StallReason::SpecialFunction),
            (short_memory, StallReason::ShortMemory),
            (waiting(Wait::LongLatency), StallReason::LongLatency),
            (sets.flushing, StallReason::Flush),
            (sets.barrier, StallReason::Barrier),
            (sets.pending, StallReason::Outside),
        ];
        let first = reasons.iter().find(|(set, _)| *set != 0);
        first.map_or(StallReason::Drain, |&(_, reason)| reason)
    }

    /// The next cycle in which something can change, when nothing issued in this one.
    fn next_change(&self) -> Option<u64> {
        let mut next = self.wheel.next().unwrap_or(u64::MAX);
        if let Some(delivery) = &self.delivery {
            if delivery.collectors.is_busy() {
                return Some(self.now + 1);
            }
            next = next.min(delivery.collectors.arrivals.next(self.now + 1).unwrap_or(u64::MAX));
        }
        if self.blocked_until > self.now {
            next = next.min(self.blocked_until);
        } else {
            for (unit, &wanting) in self.wanting.iter().enumerate() {
                let free = self.units.free_at(unit);
                if wanting & self.sets.ready != 0 && free > self.now {
                    next = next.min(free);
                }
            }
        }
        (next != u64::MAX).then_some(next)
    }

    fn stalled(&self, reason: StallReason) -> Fault {
        let resident =
            lowest(self.memory.warps.len()) & !self.storage.vacant() & !self.sets.draining;
        Fault::Stalled { cycle: self.now, warp: resident.trailing_zeros() as u8, reason }
    }

    /// The invariants that hold between cycles' events and issues.
    fn check(&self) {
        debug_assert!(
            self.sets.are_a_partition_of(lowest(self.memory.warps.len()) & !self.storage.vacant())
        );
        debug_assert_eq!(
            self.places.count_ones() + self.active.count_ones(),
            self.config.active_warps() as u32
        );
        let waiting = self.sets.waiting.iter().fold(0, |all, &set| all | set);
        debug_assert_eq!(self.awaiting & !waiting, 0);
    }
}
