//! Timing wheel: at which cycle each warp has something to do, one event for each warp at most.
//!
//! Events of the next 63 cycles lie in slots, so that entering, leaving and finding the next are
//! each a few operations on a mask; later ones wait apart until they are near.

use crate::sm::config::MAX_RESIDENT_WARPS;

const SLOTS: u64 = 64;

/// The wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    // Invariants:
    // - `slots[c % 64]` has the warps whose event is at cycle `c`, `now <= c < now + 64`;
    // - bit `s` of `occupied` says that `slots[s]` is not empty;
    // - `far` has the warps whose event is later, `times` when, `nearest` the earliest of them
    //   (`u64::MAX` without).
    slots: [u64; SLOTS as usize],
    occupied: u64,
    far: u64,
    nearest: u64,
    times: [u64; MAX_RESIDENT_WARPS],
    now: u64,
}

impl Wheel {
    pub(super) const fn new() -> Self {
        Self {
            slots: [0; SLOTS as usize],
            occupied: 0,
            far: 0,
            nearest: u64::MAX,
            times: [0; MAX_RESIDENT_WARPS],
            now: 0,
        }
    }

    /// Gives a warp without an event one at `time`, which is later than now.
    #[inline]
    pub(super) fn schedule(&mut self, warp: usize, time: u64) {
        debug_assert!(time > self.now);
        if time - self.now < SLOTS {
            let slot = time % SLOTS;
            self.slots[slot as usize] |= 1 << warp;
            self.occupied |= 1 << slot;
        } else {
            self.far |= 1 << warp;
            self.times[warp % MAX_RESIDENT_WARPS] = time;
            self.nearest = self.nearest.min(time);
        }
    }

    /// Takes a warp's event at `time`, which has not come, out.
    pub(super) fn cancel(&mut self, warp: usize, time: u64) {
        let bit = 1 << warp;
        if self.far & bit != 0 {
            self.far &= !bit;
            self.bring_near();
            return;
        }
        let slot = (time % SLOTS) as usize;
        self.slots[slot] &= !bit;
        if self.slots[slot] == 0 {
            self.occupied &= !(1 << slot);
        }
    }

    /// The cycle of the next event after now.
    pub(super) fn next(&self) -> Option<u64> {
        if self.occupied != 0 {
            let from_now = self.occupied.rotate_right((self.now % SLOTS) as u32);
            return Some(self.now + u64::from(from_now.trailing_zeros()));
        }
        (self.far != 0).then_some(self.nearest)
    }

    /// Moves to a cycle, which is not before now and not beyond the next event, and takes out the
    /// warps whose event it is.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) -> u64 {
        debug_assert!(now >= self.now);
        self.now = now;
        if self.nearest < now + SLOTS {
            self.bring_near();
        }
        let slot = now % SLOTS;
        let due = core::mem::take(&mut self.slots[slot as usize]);
        self.occupied &= !(1 << slot);
        due
    }

    fn bring_near(&mut self) {
        self.nearest = u64::MAX;
        let mut far = self.far;
        while far != 0 {
            let warp = far.trailing_zeros() as usize;
            far &= far - 1;
            let time = self.times[warp];
            if time - self.now < SLOTS {
                let slot = time % SLOTS;
                self.slots[slot as usize] |= 1 << warp;
                self.occupied |= 1 << slot;
                self.far &= !(1 << warp);
            } else {
                self.nearest = self.nearest.min(time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;

    /// Each warp reschedules itself at random distances, near and far.
    #[test]
    fn events_come_when_they_were_scheduled() {
        for seed in 1..=20_u64 {
            let mut state = seed;
            let mut random = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                (state >> 33) % limit
            };
            let mut wheel = Wheel::new();
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            for warp in 0..MAX_RESIDENT_WARPS {
                let time = 1 + random(700);
                wheel.schedule(warp, time);
                *expected.entry(time).or_default() |= 1 << warp;
            }
            for _ in 0..2000 {
                let (time, warps) = expected.pop_first().unwrap();
                assert_eq!(wheel.next(), Some(time), "seed {seed}");
                assert_eq!(wheel.advance(time), warps, "seed {seed}, cycle {time}");
                for warp in (0..MAX_RESIDENT_WARPS).filter(|warp| warps >> warp & 1 != 0) {
                    let distances = [1, 2, 62, 63, 64, 65, 400, 127, 128];
                    let next = time + distances[random(9) as usize];
                    wheel.schedule(warp, next);
                    *expected.entry(next).or_default() |= 1 << warp;
                }
            }
        }
    }

    #[test]
    fn an_event_that_is_cancelled_does_not_come() {
        for time in [1, 2, 63, 64, 65, 400] {
            let mut wheel = Wheel::new();
            wheel.schedule(3, time);
            wheel.cancel(3, time);
            assert_eq!(wheel.next(), None, "{time}");
            wheel.schedule(3, time);
            wheel.schedule(4, time);
            wheel.schedule(5, time + 7);
            wheel.cancel(3, time);
            assert_eq!(wheel.next(), Some(time), "{time}");
            assert_eq!(wheel.advance(time), 1 << 4, "{time}");
            assert_eq!(wheel.next(), Some(time + 7), "{time}");
        }
    }

    #[test]
    fn every_cycle_can_be_visited() {
        let mut wheel = Wheel::new();
        wheel.schedule(3, 64);
        wheel.schedule(5, 130);
        for cycle in 0..200 {
            let due = match cycle {
                64 => 1 << 3,
                130 => 1 << 5,
                _ => 0,
            };
            assert_eq!(wheel.advance(cycle), due, "cycle {cycle}");
        }
        assert_eq!(wheel.next(), None);
    }
}
