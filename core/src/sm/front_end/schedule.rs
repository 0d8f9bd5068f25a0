//! Schedulers: which of the warps that can issue does, as operations on masks.

use crate::sm::config::{MAX_RESIDENT_WARPS, Scheduler, Schedulers};

/// The first warp of a set at or after `from`, in cyclic order.
#[inline]
pub(super) const fn first_from(set: u64, from: u32) -> Option<usize> {
    if set == 0 {
        return None;
    }
    let distance = set.rotate_right(from).trailing_zeros();
    Some(((from + distance) % MAX_RESIDENT_WARPS as u32) as usize)
}

/// The first warp of a set after `last`, in cyclic order. The set is not empty.
#[inline]
fn first_after(set: u64, last: u8) -> u8 {
    let from = (u32::from(last) + 1) % MAX_RESIDENT_WARPS as u32;
    first_from(set, from).map_or(last, |warp| warp as u8)
}

/// The inner scheduler's state, or that of the two schedulers.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    scheduler: Scheduler,
    schedulers: Schedulers,
    /// The warps that the slot whose turn it is does not choose among.
    others: u64,
    /// What `others` changes by from slot to slot.
    alternates: u64,
    /// The warp that issued last in each slot.
    last: [u8; 2],
    /// The warp with the highest priority under round robin; of each slot, if each has its own.
    rotors: [u8; 2],
}

impl Selector {
    pub(super) const fn new(scheduler: Scheduler, schedulers: Schedulers) -> Self {
        let last_of_all = [(MAX_RESIDENT_WARPS - 1) as u8; 2];
        let others = !schedulers.warps(0);
        let alternates = others ^ !schedulers.warps(1);
        Self { scheduler, schedulers, others, alternates, last: last_of_all, rotors: last_of_all }
    }

    /// The warps that the slot whose turn it is does not choose among.
    #[inline]
    pub(super) const fn others(&self) -> u64 {
        self.others
    }

    /// The next slot has its turn.
    #[inline]
    pub(super) const fn end_slot(&mut self) {
        self.others ^= self.alternates;
    }

    /// Whether each slot has warps of its own.
    #[inline]
    pub(super) const fn is_divided(&self) -> bool {
        matches!(self.schedulers, Schedulers::ByParity)
    }

    /// Moves the rotating priority on by `cycles` cycles in which the active set was `active`.
    #[inline]
    pub(super) fn rotate(&mut self, active: u64, cycles: u64) {
        if self.scheduler != Scheduler::RoundRobin || cycles == 0 {
            return;
        }
        let schedulers = if self.is_divided() { 2 } else { 1 };
        for (slot, rotor) in self.rotors.iter_mut().enumerate().take(schedulers) {
            let active = active & self.schedulers.warps(slot);
            if active == 0 {
                continue;
            }
            // The first step may start from a warp that has left; the others go round the set.
            for _ in 0..=(cycles - 1) % u64::from(active.count_ones()) {
                *rotor = first_after(active, *rotor);
            }
        }
    }

    /// Picks one of `set` for a slot, all of them the slot's; `age` tells the order of launch.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn pick(
        &mut self,
        slot: usize,
        set: u64,
        age: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        if set == 0 {
            return None;
        }
        // A scheduler of both slots has one order, so that a warp has its turn once in a round.
        let order = if self.is_divided() { slot } else { 0 };
        let last = self.last[slot];
        let lowest = set.trailing_zeros() as usize;
        let picked = match self.scheduler {
            Scheduler::Greedy | Scheduler::GreedyThenOldest if set >> last & 1 != 0 => {
                usize::from(last)
            }
            Scheduler::Greedy => lowest,
            Scheduler::GreedyThenOldest => oldest(set, age),
            Scheduler::RoundRobin => first_from(set, u32::from(self.rotors[order]))?,
            Scheduler::LooseRoundRobin => {
                let next = first_after(set, self.last[order]);
                self.last[order] = next;
                return Some(usize::from(next));
            }
        };
        self.last[slot] = picked as u8;
        Some(picked)
    }
}

fn oldest(mut set: u64, age: impl Fn(usize) -> u64) -> usize {
    let mut best = set.trailing_zeros() as usize;
    set &= set - 1;
    while set != 0 {
        let warp = set.trailing_zeros() as usize;
        set &= set - 1;
        if age(warp) < age(best) {
            best = warp;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(scheduler: Scheduler, sets: &[u64]) -> [Option<usize>; 6] {
        let mut selector = Selector::new(scheduler, Schedulers::Shared);
        let mut picked = [None; 6];
        for (picked, &set) in picked.iter_mut().zip(sets) {
            selector.rotate(0b1111, 1);
            *picked = selector.pick(0, set, |warp| 100 - warp as u64);
        }
        picked
    }

    #[test]
    fn greedy_stays_and_then_takes_the_lowest() {
        let picked = picks(Scheduler::Greedy, &[0b1110, 0b1111, 0b1100, 0b0110, 0b1011, 0]);
        assert_eq!(picked, [Some(1), Some(1), Some(2), Some(2), Some(0), None]);
    }

    #[test]
    fn greedy_then_oldest_breaks_ties_by_launch_order() {
        // The higher the index, the earlier the launch.
        let sets = [0b0110, 0b1111, 0b1001, 0b0001, 0b0011, 0];
        let picked = picks(Scheduler::GreedyThenOldest, &sets);
        assert_eq!(picked, [Some(2), Some(2), Some(3), Some(0), Some(0), None]);
    }

    #[test]
    fn round_robin_moves_on_in_every_cycle() {
        let picked = picks(Scheduler::RoundRobin, &[0b1111, 0b1111, 0, 0b1111, 0b1000, 0b0001]);
        assert_eq!(picked, [Some(0), Some(1), None, Some(3), Some(3), Some(0)]);
    }

    #[test]
    fn loose_round_robin_starts_after_the_last_issuer() {
        let picked = picks(Scheduler::LooseRoundRobin, &[0b1111, 0b1111, 0, 0b1111, 0b1001, 0b11]);
        assert_eq!(picked, [Some(0), Some(1), None, Some(2), Some(3), Some(0)]);
    }

    #[test]
    fn two_schedulers_have_the_warps_of_one_parity_each() {
        let stays = [[Some(0), Some(1)], [Some(0), Some(1)], [Some(0), None], [None, Some(1)]];
        let moves = [[Some(0), Some(1)], [Some(2), Some(3)], [Some(0), None], [None, Some(3)]];
        for (scheduler, expected) in [
            (Scheduler::Greedy, stays),
            (Scheduler::GreedyThenOldest, stays),
            (Scheduler::RoundRobin, moves),
            // A warp that was skipped has not had its turn.
            (Scheduler::LooseRoundRobin, [moves[0], moves[1], moves[2], [None, Some(1)]]),
        ] {
            let mut selector = Selector::new(scheduler, Schedulers::ByParity);
            for (set, expected) in [0b1111, 0b1111, 0b0101, 0b1010].into_iter().zip(expected) {
                selector.rotate(0b1111, 1);
                let picked = [0, 1].map(|slot| {
                    let own = set & !selector.others();
                    let picked = selector.pick(slot, own, |warp| warp as u64);
                    selector.end_slot();
                    picked
                });
                assert_eq!(picked, expected, "{scheduler:?}");
            }
        }
    }

    #[test]
    fn many_rotations_are_as_many_single_ones() {
        for cycles in 0..40 {
            for active in [1, 0b1011, 0xffff_0000_0000_0001, u64::MAX, 0b0110_0000] {
                for rotor in [0, 3, 17, 63] {
                    let mut once = Selector::new(Scheduler::RoundRobin, Schedulers::ByParity);
                    once.rotors = [rotor; 2];
                    let mut singly = once.clone();
                    once.rotate(active, cycles);
                    for _ in 0..cycles {
                        singly.rotate(active, 1);
                    }
                    assert_eq!(once.rotors, singly.rotors, "{cycles} cycles, {active:b}, {rotor}");
                }
            }
        }
    }
}
