//! Arrivals: results on their way from the units, by the cycle in which they are there.
//!
//! Near ones lie in slots by cycle, far ones in two lists in order of time: of DRAM, whose results
//! come nearly in the order of their start, and of all else.

const SLOTS: u64 = 64;
/// No element.
const NONE: u32 = u32::MAX;

/// The link of a result, in the caller's memory; an index is the result's register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    time: u64,
    next: u32,
    previous: u32,
}

impl Link {
    pub(crate) const NONE: Self = Self { time: 0, next: NONE, previous: NONE };
}

/// An element that has a link.
pub(crate) trait Linked {
    fn link(&mut self) -> &mut Link;
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    /// Of the first; `u64::MAX` without.
    time: u64,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE, time: u64::MAX };
}

/// Results on their way.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    // Invariants: `near[c % 64]` has the results of cycle `c`, `now <= c < now + 64`, in the order
    // of their start, and bit `c % 64` of `occupied` says that there are any; `far` is in order of
    // time, and of start where times are equal.
    near: [List; SLOTS as usize],
    occupied: u64,
    far: [List; 2],
}

impl Arrivals {
    pub(crate) const fn new() -> Self {
        Self { near: [List::EMPTY; SLOTS as usize], occupied: 0, far: [List::EMPTY; 2] }
    }

    /// A result that starts now is there at `time`, which is later.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        links: &mut [impl Linked],
        index: usize,
        (now, time): (u64, u64),
        of_dram: bool,
    ) {
        if time - now < SLOTS {
            let slot = time % SLOTS;
            self.occupied |= 1 << slot;
            append(&mut self.near[slot as usize], links, index, time);
        } else {
            insert(&mut self.far[usize::from(!of_dram)], links, index, time);
        }
    }

    /// Takes out a result that is there at `now`; those that started earlier come first, of DRAM
    /// before all else.
    #[inline]
    pub(crate) fn take(&mut self, links: &mut [impl Linked], now: u64) -> Option<usize> {
        for list in &mut self.far {
            if list.time == now {
                return take_first(list, links);
            }
        }
        let slot = now % SLOTS;
        if self.occupied >> slot & 1 == 0 {
            return None;
        }
        let list = &mut self.near[slot as usize];
        let taken = take_first(list, links);
        if list.first == NONE {
            self.occupied &= !(1 << slot);
        }
        taken
    }

    /// The cycle of the next arrival, which is at `now` or later.
    pub(crate) fn next(&self, now: u64) -> Option<u64> {
        let mut next = self.far[0].time.min(self.far[1].time);
        if self.occupied != 0 {
            let from_now = self.occupied.rotate_right((now % SLOTS) as u32);
            next = next.min(now + u64::from(from_now.trailing_zeros()));
        }
        (next != u64::MAX).then_some(next)
    }
}

#[inline]
fn append(list: &mut List, links: &mut [impl Linked], index: usize, time: u64) {
    let last = core::mem::replace(&mut list.last, index as u32);
    *links[index].link() = Link { time, next: NONE, previous: last };
    if last == NONE {
        (list.first, list.time) = (index as u32, time);
    } else {
        links[last as usize].link().next = index as u32;
    }
}

/// Enters a result behind all that are there no later.
fn insert(list: &mut List, links: &mut [impl Linked], index: usize, time: u64) {
    let mut before = list.last;
    let mut after = NONE;
    while before != NONE && links[before as usize].link().time > time {
        (before, after) = (links[before as usize].link().previous, before);
    }
    *links[index].link() = Link { time, next: after, previous: before };
    if before == NONE {
        (list.first, list.time) = (index as u32, time);
    } else {
        links[before as usize].link().next = index as u32;
    }
    if after == NONE {
        list.last = index as u32;
    } else {
        links[after as usize].link().previous = index as u32;
    }
}

#[inline]
fn take_first(list: &mut List, links: &mut [impl Linked]) -> Option<usize> {
    let first = links.get_mut(list.first as usize).map(|first| *first.link())?;
    let taken = core::mem::replace(&mut list.first, first.next);
    if let Some(next) = links.get_mut(first.next as usize) {
        let next = next.link();
        next.previous = NONE;
        list.time = next.time;
    } else {
        (list.last, list.time) = (NONE, u64::MAX);
    }
    Some(taken as usize)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    impl Linked for Link {
        fn link(&mut self) -> &mut Link {
            self
        }
    }

    /// Results of random distances, near and far, come when they are there: earlier started ones
    /// first, of DRAM before the others that are as far.
    #[test]
    fn results_come_when_they_are_there() {
        for seed in 1..=20_u64 {
            let mut state = seed;
            let mut random = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                (state >> 33) % limit
            };
            let mut links = [Link::NONE; 200];
            let mut arrivals = Arrivals::new();
            // Time, far ones first, DRAM's among them first, order of start, index.
            let mut expected: Vec<(u64, u8, u64, usize)> = Vec::new();
            let mut free: Vec<usize> = (0..links.len()).collect();
            let mut started = 0;
            let mut now = 0;
            while now < 3000 {
                expected.sort_unstable();
                let next = expected.first().map(|first| first.0);
                assert_eq!(arrivals.next(now), next, "seed {seed}, cycle {now}");
                while let Some(index) = arrivals.take(&mut links, now) {
                    let due = expected.remove(0);
                    assert_eq!((now, index), (due.0, due.3), "seed {seed}");
                    free.push(index);
                }
                assert!(expected.first().is_none_or(|first| first.0 > now), "seed {seed}");
                for _ in 0..random(4) {
                    let Some(index) = free.pop() else { break };
                    let distances = [1, 2, 5, 62, 63, 64, 65, 400, 397, 1000];
                    let time = now + distances[random(10) as usize];
                    let of_dram = random(2) == 0;
                    let rank = if time - now < 64 { 2 } else { u8::from(!of_dram) };
                    arrivals.start(&mut links, index, (now, time), of_dram);
                    expected.push((time, rank, started, index));
                    started += 1;
                }
                now += 1;
            }
        }
    }
}
