//! Front end: the resident warps, which of them are active, and which issues next.
//!
//! Models: a scheduler of one or two levels; barriers; warps that wait for operands, for a place in
//! the active set, for a flush or for a barrier.
//! Does not model: instruction fetch.
//! Source: `[RFC2011]` 3.2 and 5.2, `[DISS]` 2 and 4; `docs/MODEL.md`, rules 15 to 24.

mod barriers;
mod bundles;
mod launch;
mod next;
mod schedule;
mod settle;
mod warp;
mod wheel;

use super::active_limit::ActiveLimit;
use super::barrier::CtaBarriers;
use super::config::{BarrierRule, ShortWaits, SmConfig, WarpReplacement};
use super::counters::StallReason;
use super::facts::{BusyUnit, lowest};
use super::fault::Fault;
use super::kernel::Kernel;
use super::observe::{Issue, WarpPhase, WarpPhases};
use super::scoreboard::Scoreboard;
use super::units::Units;
use super::wait::Wait;
use crate::units::LaneMask;
pub(super) use launch::Due;
use schedule::Selector;
pub(super) use warp::Departure;
use warp::Phase;
pub use warp::Warp;
use wheel::Wheel;

/// A place for a resident CTA. The caller provides as many as the SM has.
#[derive(Clone, Copy, Debug)]
pub struct Cta {
    /// In launch order from 0.
    number: u64,
    /// Its warps.
    warps: u64,
    /// Warps that have not issued their last instruction, those included that are not resident yet.
    running: u32,
    /// Its barriers.
    barriers: CtaBarriers,
}

impl Cta {
    /// A place without a CTA.
    pub const VACANT: Self =
        Self { number: 0, warps: 0, running: 0, barriers: CtaBarriers::CLOSED };
}

/// Warps by what they do: each resident warp is in exactly one set, or in one of `waiting`.
#[derive(Clone, Copy, Debug, Default)]
struct Sets {
    /// Active, with all operands.
    ready: u64,
    /// Active, by what they wait for.
    waiting: [u64; Wait::ALL.len()],
    /// Leaving the active set, their place still taken.
    flushing: u64,
    /// At a barrier, in the active set.
    barrier: u64,
    /// Pending: outside the active set, waiting.
    pending: u64,
    /// Outside the active set, able to return.
    returnable: u64,
    /// All issued, results on their way.
    draining: u64,
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

/// What the front end looks at to see when a warp can go on.
#[derive(Clone, Copy)]
pub(super) struct Sight<'s, 'm> {
    pub(super) kernel: &'s Kernel<'m>,
    pub(super) scoreboard: &'s Scoreboard<'m>,
}

/// The rules of a design by which warps leave and enter the active set.
#[derive(Clone, Copy, Debug)]
struct Policy {
    two_level: bool,
    replacement: WarpReplacement,
    short_waits: ShortWaits,
    barrier: BarrierRule,
    barrier_latency: u64,
    /// A warp may leave the active set because it waits, wherever marks are.
    leaves_while_waiting: bool,
    /// Instructions go through collector units.
    collects: bool,
    warps_per_cta: u32,
}

/// The resident warps of an SM.
#[derive(Debug)]
pub(super) struct FrontEnd<'m, T> {
    warps: &'m mut [Warp<T>],
    policy: Policy,
    wheel: Wheel,
    sets: Sets,
    /// Warps in the active set: those of `ready`, `waiting`, `flushing` and `barrier`.
    active: u64,
    /// Of the waiting warps, those that are ready when their event comes.
    awaiting: u64,
    /// Warps that wait for a completion whose cycle is not known yet.
    unsettled: u64,
    /// Warps by the unit that their next instruction goes to, whether or not they are ready.
    wanting: [u64; BusyUnit::COUNT],
    /// Warps whose next instruction needs a collector unit, whether or not they are ready.
    collecting: u64,
    /// Warps that stand before the first instruction of a bundle, whose PREF has issued.
    prefetched: u64,
    /// Those of them that wait for registers from scratchpad memory, whether or not they are ready.
    held: u64,
    /// Those of them whose registers are there, and which wait until fewer warps are active.
    fetched: u64,
    /// Free places in the active set.
    places: u64,
    limit: ActiveLimit,
    /// The warp that the round robin of activation begins with.
    next_return: u32,
    selector: Selector,
    ctas: &'m mut [Cta],
    /// Warps whose traces have named barriers or their threads.
    named_barriers: u64,
    launched_ctas: u64,
    launched_warps: u64,
    /// Warps placed so far of the CTA that is being launched.
    placed: u32,
}

/// The next instruction of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) pc: u32,
    /// Lanes enabled.
    pub(super) mask: LaneMask,
    /// The warp's place in the active set.
    pub(super) place: u8,
}

impl<'m, T> FrontEnd<'m, T> {
    /// A front end without warps, over the caller's memory.
    pub(super) fn new(
        config: &SmConfig,
        (warps, ctas): (&'m mut [Warp<T>], &'m mut [Cta]),
        warps_per_cta: u32,
        collects: bool,
    ) -> Self {
        let settings = config.settings();
        warps.fill_with(Warp::default);
        Self {
            warps,
            policy: Policy {
                two_level: config.two_level(),
                replacement: settings.replacement,
                short_waits: settings.short_waits,
                barrier: settings.barrier,
                barrier_latency: u64::from(settings.timing.barrier_latency),
                leaves_while_waiting: config.leaves_while_waiting(),
                collects,
                warps_per_cta,
            },
            wheel: Wheel::new(),
            sets: Sets::default(),
            active: 0,
            awaiting: 0,
            unsettled: 0,
            wanting: [0; BusyUnit::COUNT],
            collecting: 0,
            prefetched: 0,
            held: 0,
            fetched: 0,
            places: lowest(config.places()),
            limit: ActiveLimit::new(settings.active_limit, config.active_warps() as u32),
            next_return: 0,
            selector: Selector::new(settings.scheduler, settings.schedulers),
            ctas,
            named_barriers: 0,
            launched_ctas: 0,
            launched_warps: 0,
            placed: 0,
        }
    }

    /// The next instruction of a warp.
    #[inline]
    pub(super) fn next(&self, warp: usize) -> Next {
        let Warp { pc, mask, place, .. } = self.warps[warp];
        Next { pc, mask, place }
    }

    /// Whether some warp is ready that the slot chooses among.
    #[inline]
    pub(super) const fn has_ready(&self) -> bool {
        self.sets.ready & !self.selector.others() != 0
    }

    /// The next issue slot of a cycle has its turn, or the first one of the next cycle.
    #[inline]
    pub(super) const fn end_slot(&mut self) {
        self.selector.end_slot();
    }

    /// Whether each issue slot has warps of its own.
    #[inline]
    pub(super) const fn is_divided(&self) -> bool {
        self.selector.is_divided()
    }

    /// Moves the selector on by cycles in which the active set stays as it is.
    #[inline]
    pub(super) fn rotate(&mut self, cycles: u64) {
        self.selector.rotate(self.active, cycles);
    }

    /// Picks the warp that issues in a slot, of those that are ready and not `held`.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn pick(&mut self, slot: u64, held: u64) -> Option<usize> {
        let warps = &*self.warps;
        self.selector.pick(
            slot as usize,
            self.sets.ready & !(held | self.selector.others()),
            |warp| warps[warp].age,
        )
    }

    /// Warps whose next instruction needs a collector unit.
    #[inline]
    pub(super) const fn collecting(&self) -> u64 {
        self.collecting
    }

    /// Warps that wait for registers from scratchpad memory.
    #[inline]
    pub(super) const fn held(&self) -> u64 {
        self.held
    }

    /// Warps whose unit is still starting another.
    #[inline]
    pub(super) fn held_by(&self, units: &Units, now: u64) -> u64 {
        let mut held = 0;
        if units.all_free_at() <= now {
            return held;
        }
        for (unit, wanting) in self.wanting.iter().enumerate() {
            if units.free_at(unit) > now {
                held |= wanting;
            }
        }
        held
    }

    /// The first cycle after `now` in which a unit is free that a ready warp needs; `u64::MAX` if
    /// none is taken.
    #[inline]
    pub(super) fn unit_free_at(&self, units: &Units, now: u64) -> u64 {
        let mut next = u64::MAX;
        if units.all_free_at() <= now {
            return next;
        }
        for (unit, &wanting) in self.wanting.iter().enumerate() {
            let free = units.free_at(unit);
            if wanting & self.sets.ready != 0 && free > now {
                next = next.min(free);
            }
        }
        next
    }

    /// The next cycle after `now` in which a warp has something to do, or may have a place.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let event = self.wheel.next();
        // Without a free place no limit lets a warp in.
        let waits = self.sets.returnable != 0 && self.places != 0;
        let limit = if waits { self.limit.next_event(now) } else { None };
        match (event, limit) {
            (Some(event), Some(limit)) => Some(event.min(limit)),
            (event, limit) => event.or(limit),
        }
    }

    /// Why no warp can issue that the slot chooses among.
    #[inline]
    pub(super) fn reason(&self) -> StallReason {
        self.reason_of(!self.selector.others())
    }

    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn reason_of(&self, among: u64) -> StallReason {
        let sets = &self.sets;
        let ready = sets.ready & !self.held & among;
        if ready != 0 {
            let collecting = ready & self.collecting != 0;
            return if collecting { StallReason::Collectors } else { StallReason::UnitBusy };
        }
        // In the order of the reasons.
        for (waiting, wait) in sets.waiting.iter().zip(Wait::ALL) {
            if *waiting & among != 0 {
                return wait.reason();
            }
        }
        if sets.flushing & among != 0 {
            StallReason::Flush
        } else if sets.ready & among != 0 {
            StallReason::Prefetch
        } else if sets.barrier & among != 0 {
            StallReason::Barrier
        } else if sets.pending & among != 0 {
            StallReason::Outside
        } else {
            StallReason::Drain
        }
    }

    /// The fault of an SM in which nothing can happen after a cycle.
    pub(super) fn stalled(&self, cycle: u64, vacant: u64) -> Fault {
        let reason = self.reason_of(u64::MAX);
        let resident = lowest(self.warps.len()) & !vacant & !self.sets.draining;
        Fault::Stalled { cycle, warp: resident.trailing_zeros() as u8, reason }
    }

    /// The invariants that hold between cycles' events and issues.
    pub(super) fn check(&self, vacant: u64, places: usize) {
        debug_assert!(self.sets.are_a_partition_of(lowest(self.warps.len()) & !vacant));
        debug_assert_eq!(self.places.count_ones() + self.active.count_ones(), places as u32);
        let waiting = self.sets.waiting.iter().fold(0, |all, &set| all | set);
        debug_assert_eq!(self.awaiting & !waiting, 0);
    }

    /// What an observer hears of the instruction that a warp is about to issue.
    pub(super) fn issue_of(&self, slot: u64, warp: usize, cycle: u64) -> Issue {
        let state = &self.warps[warp];
        Issue {
            cycle,
            slot: slot as u8,
            place: warp as u8,
            cta: self.ctas[usize::from(state.cta)].number,
            warp: state.number,
            pc: state.pc,
            mask: state.mask,
        }
    }

    /// Where all resident warps stand.
    pub(super) fn phases(&self) -> WarpPhases {
        let sets = &self.sets;
        let select = |set: u64, holds: &dyn Fn(&Warp<T>) -> bool| {
            let warps = self.warps.iter().enumerate();
            let held = warps.filter(|&(place, warp)| set >> place & 1 != 0 && holds(warp));
            held.fold(0, |held, (place, _)| held | 1 << place)
        };
        let waiting = |wait: Wait| sets.waiting[wait as usize];
        let arithmetic = waiting(Wait::Arithmetic) | waiting(Wait::DoublePrecision);
        let short_memory = waiting(Wait::Cached) | waiting(Wait::SharedMemory);
        let at_barrier = select(sets.pending, &|warp| warp.at_barrier);
        let ended = select(sets.draining, &|warp| warp.phase != Phase::Draining);
        WarpPhases::new(&[
            (WarpPhase::Ready, sets.ready & !self.held),
            (WarpPhase::Prefetch, sets.ready & self.held),
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
        ])
    }
}
