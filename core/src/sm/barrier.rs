//! Barriers of a CTA: which lanes have arrived where, and when all of them may go on.
//!
//! Models: 16 named barriers, with or without a number of threads; arrivals that do not wait; lanes
//! of a warp that arrive apart, or at different barriers.
//! Does not model: values of reductions; arrivals of different phases that a program without other
//! synchronisation mixes: an arrival before the last phase is complete counts as that phase's.
//! Source: PTX's `barrier`, as the functional executor takes it; `docs/MODEL.md`, rule 18.

use crate::image::Flags;
use crate::units::{LANES, LaneMask};

/// Barriers of a CTA.
pub const BARRIERS: usize = 16;

/// Of instructions at barriers.
pub(super) const AT_BARRIERS: Flags = Flags::BARRIER.union(Flags::ARRIVES);

/// Which barrier an instruction arrives at, and who takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BarrierCall {
    id: u8,
    /// 0 for every thread that has not exited.
    threads: u16,
}

impl BarrierCall {
    /// Barrier 0, every thread.
    pub const ALL_THREADS: Self = Self { id: 0, threads: 0 };

    /// A barrier below [`BARRIERS`], and the threads that take part: a multiple of 32 up to 65504,
    /// or every thread that has not exited. `None` for others.
    pub const fn new(id: u32, threads: Option<u32>) -> Option<Self> {
        let threads = match threads {
            None => 0,
            Some(threads) if threads > 0 && threads % LANES == 0 && threads < 1 << 16 => threads,
            Some(_) => return None,
        };
        if id as usize >= BARRIERS {
            return None;
        }
        Some(Self { id: id as u8, threads: threads as u16 })
    }
}

/// Where the lanes of a warp have arrived, and where they wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BarrierLanes {
    /// Lanes that have arrived at each barrier.
    arrived: [LaneMask; BARRIERS],
    /// The number of the barrier at which each lane of `waiting` waits, a bit of it in each.
    number: [LaneMask; 4],
    /// Lanes that wait.
    waiting: LaneMask,
    /// Of these, lanes whose call names the barrier or its threads.
    named: LaneMask,
    /// Bit `i`: all lanes have arrived at barrier `i`, and the CTA has counted that.
    whole: u16,
}

impl BarrierLanes {
    /// No lane has arrived anywhere.
    pub(crate) const NOWHERE: Self = Self {
        arrived: [LaneMask::EMPTY; BARRIERS],
        number: [LaneMask::EMPTY; 4],
        waiting: LaneMask::EMPTY,
        named: LaneMask::EMPTY,
        whole: 0,
    };

    /// Lanes arrive, and with `wait` wait there.
    pub(super) fn arrive(&mut self, call: BarrierCall, lanes: LaneMask, wait: bool) {
        let arrived = &mut self.arrived[usize::from(call.id)];
        *arrived = arrived.or(lanes);
        if wait {
            self.wait_at(call, lanes);
        }
    }

    /// Lanes that wait.
    pub(super) const fn waiting(&self) -> LaneMask {
        self.waiting
    }

    /// Of these, lanes whose call names the barrier or its threads.
    pub(super) const fn named(&self) -> LaneMask {
        self.named
    }

    /// Threads that have arrived at a barrier: all of a warp whose live lanes have, or that has
    /// ended with some.
    pub(super) fn threads_at(&self, id: u8, live: LaneMask, ended: bool) -> u32 {
        let here = self.arrived[usize::from(id)];
        match here.0.count_ones() {
            0 => 0,
            _ if ended || live.without(here).is_empty() => LANES,
            some => some,
        }
    }

    fn wait_at(&mut self, call: BarrierCall, lanes: LaneMask) {
        let id = call.id;
        self.waiting = self.waiting.or(lanes);
        if call != BarrierCall::ALL_THREADS {
            self.named = self.named.or(lanes);
        }
        for (bit, number) in self.number.iter_mut().enumerate() {
            let others = number.without(lanes);
            *number = if id >> bit & 1 != 0 { others.or(lanes) } else { others };
        }
    }

    /// Forgets who has arrived at a barrier, and lets those go who wait at it.
    pub(super) fn release(&mut self, id: u8) {
        self.arrived[usize::from(id)] = LaneMask::EMPTY;
        self.whole &= !(1 << id);
        let mut at = self.waiting;
        for (bit, number) in self.number.iter().enumerate() {
            at = if id >> bit & 1 != 0 { at.and(*number) } else { at.without(*number) };
        }
        self.waiting = self.waiting.without(at);
        self.named = self.named.without(at);
    }
}

/// The barriers of a CTA.
#[derive(Clone, Copy, Debug)]
pub(super) struct CtaBarriers {
    /// Bit `i`: a lane has arrived at barrier `i`.
    open: u16,
    /// Threads that the first to arrive named.
    threads: [u16; BARRIERS],
    /// Warps, of those that have not ended, all of whose lanes have arrived.
    whole: [u8; BARRIERS],
    /// Warps that have arrived and are not resident any more.
    gone: [u8; BARRIERS],
}

impl CtaBarriers {
    /// No warp is at a barrier.
    pub(super) const CLOSED: Self =
        Self { open: 0, threads: [0; BARRIERS], whole: [0; BARRIERS], gone: [0; BARRIERS] };

    /// Lanes arrive.
    pub(super) const fn arrive(&mut self, call: BarrierCall) {
        let id = call.id as usize;
        if self.open >> call.id & 1 == 0 {
            self.open |= 1 << call.id;
            self.threads[id] = call.threads;
        }
    }

    /// The barriers at which a lane has arrived.
    pub(super) fn open(&self) -> impl Iterator<Item = u8> + use<> {
        numbers(self.open)
    }

    /// Notes at which barriers a whole warp has arrived now: its lanes, those of them that have not
    /// exited, and whether the warp has ended, which is then at none.
    pub(super) fn count(&mut self, lanes: &mut BarrierLanes, live: LaneMask, ended: bool) {
        for id in numbers(self.open) {
            let arrived = lanes.arrived[usize::from(id)];
            let missing = live.without(arrived);
            let whole = !ended && !arrived.is_empty() && missing.is_empty();
            if whole != (lanes.whole >> id & 1 != 0) {
                lanes.whole ^= 1 << id;
                let count = &mut self.whole[usize::from(id)];
                *count = if whole { *count + 1 } else { *count - 1 };
            }
        }
    }

    /// A warp that has ended leaves its slot: what its lanes arrived at counts still.
    pub(super) fn forget(&mut self, lanes: &BarrierLanes, live: LaneMask) {
        for id in numbers(self.open) {
            self.gone[usize::from(id)] += u8::from(lanes.threads_at(id, live, true) != 0);
        }
    }

    /// Whether all have arrived at a barrier: the `running` warps of the CTA, or as many
    /// threads as were named, of which `threads` are of resident warps.
    pub(super) fn is_complete(&self, id: u8, running: u32, threads: impl FnOnce() -> u32) -> bool {
        let id = usize::from(id);
        match u32::from(self.threads[id]) {
            0 => self.whole[id] != 0 && u32::from(self.whole[id]) == running,
            named => threads() + u32::from(self.gone[id]) * LANES >= named,
        }
    }

    /// No warp is at a barrier any more.
    pub(super) const fn close(&mut self, id: u8) {
        self.open &= !(1 << id);
        self.whole[id as usize] = 0;
        self.gone[id as usize] = 0;
    }
}

/// The numbers of a mask's bits, lowest first.
fn numbers(mut mask: u16) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let number = (mask != 0).then(|| mask.trailing_zeros() as u8)?;
        mask &= mask - 1;
        Some(number)
    })
}
