//! Schedulers: which of the warps that can issue does, as operations on masks.

use crate::sm::config::{MAX_RESIDENT_WARPS, Scheduler};

/// The first warp of a set at or after `from`, in cyclic order.
#[inline]
pub(super) const fn first_from(set: u64, from: u32) -> Option<usize> {
    if set == 0 {
        return None;
    }
    let distance = set.rotate_right(from).trailing_zeros();
    Some(((from + distance) % MAX_RESIDENT_WARPS as u32) as usize)
}

/// The inner scheduler's state.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    scheduler: Scheduler,
    /// The warp that issued last in each slot.
    last: [u8; 2],
    /// The warp with the highest priority under round robin.
    rotor: u8,
}

impl Selector {
    pub(super) const fn new(scheduler: Scheduler) -> Self {
        let last_of_all = (MAX_RESIDENT_WARPS - 1) as u8;
        Self { scheduler, last: [last_of_all; 2], rotor: last_of_all }
    }

    /// Moves the rotating priority on by `cycles` cycles in which the active set was `active`.
    #[inline]
    pub(super) fn rotate(&mut self, active: u64, cycles: u64) {
        if self.scheduler != Scheduler::RoundRobin || active == 0 || cycles == 0 {
            return;
        }
        // The first step may start from a warp that has left; the others go round the set.
        self.step(active);
        for _ in 0..(cycles - 1) % u64::from(active.count_ones()) {
            self.step(active);
        }
    }

    fn step(&mut self, active: u64) {
        if let Some(next) =
            first_from(active, (u32::from(self.rotor) + 1) % MAX_RESIDENT_WARPS as u32)
        {
            self.rotor = next as u8;
        }
    }

    /// Picks one of `set`; `age` tells the order of launch.
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
        let last = self.last[slot];
        let lowest = set.trailing_zeros() as usize;
        let picked = match self.scheduler {
            Scheduler::Greedy | Scheduler::GreedyThenOldest if set >> last & 1 != 0 => {
                usize::from(last)
            }
            Scheduler::Greedy => lowest,
            Scheduler::GreedyThenOldest => oldest(set, age),
            Scheduler::RoundRobin => first_from(set, u32::from(self.rotor))?,
            Scheduler::LooseRoundRobin => {
                // Both slots share one order, so that a warp has its turn once in a round.
                let last = self.last[0];
                let next = first_from(set, (u32::from(last) + 1) % MAX_RESIDENT_WARPS as u32)?;
                self.last[0] = next as u8;
                next
            }
        };
        if self.scheduler != Scheduler::LooseRoundRobin {
            self.last[slot] = picked as u8;
        }
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
        let mut selector = Selector::new(scheduler);
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
    fn many_rotations_are_as_many_single_ones() {
        for cycles in 0..40 {
            for active in [1, 0b1011, 0xffff_0000_0000_0001, u64::MAX, 0b0110_0000] {
                for rotor in [0, 3, 17, 63] {
                    let mut once = Selector::new(Scheduler::RoundRobin);
                    once.rotor = rotor;
                    let mut singly = once.clone();
                    once.rotate(active, cycles);
                    for _ in 0..cycles {
                        singly.rotate(active, 1);
                    }
                    assert_eq!(once.rotor, singly.rotor, "{cycles} cycles, {active:b}, {rotor}");
                }
            }
        }
    }
}
