//! Arrivals: results on their way from the units, by the cycle in which they are there.
//!
//! Near ones lie in slots by cycle, far ones in two lists in order of time: of DRAM, whose results
//! come nearly in the order of their start, and of all else. The results of a cycle are taken out
//! together, as a chain.

const SLOTS: u64 = 64;
/// No element.
const NONE: u32 = u32::MAX;

/// The link of a result, in the caller's memory; an index is the result's register.
#[derive(Clone, Copy, Debug)]
pub(in crate::sm) struct Link {
    next: u32,
    /// Of a far one.
    previous: u32,
    time: u64,
}

impl Link {
    pub(in crate::sm) const NONE: Self = Self { next: NONE, previous: NONE, time: 0 };
}

/// An element that has a link.
pub(in crate::sm) trait Linked {
    fn link(&mut self) -> &mut Link;
}

/// Results of one cycle; what it says of an empty slot does not matter.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

/// Far results.
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
pub(in crate::sm) struct Arrivals {
    // Invariants: `near[c % 64]` has the results of cycle `c`, `now <= c < now + 64`, in the order
    // of their start, and bit `c % 64` of `occupied` says that there are any; `far` is in order of
    // time, and of start where times are equal; `next_far` is the time of the first of all these.
    near: [Chain; SLOTS as usize],
    occupied: u64,
    far: [List; 2],
    next_far: u64,
}

impl Arrivals {
    pub(in crate::sm) const fn new() -> Self {
        let near = [Chain { first: NONE, last: NONE }; SLOTS as usize];
        Self { near, occupied: 0, far: [List::EMPTY; 2], next_far: u64::MAX }
    }

    /// A result that starts now is there at `time`, which is later.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(in crate::sm) fn start(
        &mut self,
        links: &mut [impl Linked],
        index: usize,
        (now, time): (u64, u64),
        of_dram: bool,
    ) {
        if time - now < SLOTS {
            self.append(links, index, time);
        } else {
            self.start_far(links, index, time, of_dram);
        }
    }

    // Apart from the near ones, which are most.
    #[inline(never)]
    fn start_far(&mut self, links: &mut [impl Linked], index: usize, time: u64, of_dram: bool) {
        self.next_far = self.next_far.min(time);
        insert(&mut self.far[usize::from(!of_dram)], links, index, time);
    }

    #[inline]
    fn append(&mut self, links: &mut [impl Linked], index: usize, time: u64) {
        let (slot, bit) = ((time % SLOTS) as usize, 1 << (time % SLOTS));
        links[index].link().next = NONE;
        let last = core::mem::replace(&mut self.near[slot].last, index as u32);
        if self.occupied & bit == 0 {
            self.occupied |= bit;
            self.near[slot].first = index as u32;
        } else {
            links[last as usize].link().next = index as u32;
        }
    }

    /// Takes out the results that are there at `now`; those that started earlier come first, of
    /// DRAM before all else. Returns the first; [`after`] has the others.
    #[inline]
    pub(in crate::sm) fn take(&mut self, links: &mut [impl Linked], now: u64) -> Option<usize> {
        if self.next_far == now {
            self.bring_near(links, now);
        }
        let bit = 1 << (now % SLOTS);
        if self.occupied & bit == 0 {
            return None;
        }
        self.occupied &= !bit;
        Some(self.near[(now % SLOTS) as usize].first as usize)
    }

    /// Puts the far results that are there at `now` before the near ones, which started later.
    #[cold]
    fn bring_near(&mut self, links: &mut [impl Linked], now: u64) {
        let slot = (now % SLOTS) as usize;
        let started_later = (self.occupied & 1 << slot != 0).then_some(self.near[slot]);
        self.occupied &= !(1 << slot);
        for list in 0..self.far.len() {
            while self.far[list].time == now
                && let Some(index) = take_first(&mut self.far[list], links)
            {
                self.append(links, index, now);
            }
        }
        self.next_far = self.far[0].time.min(self.far[1].time);
        if let Some(Chain { first, last }) = started_later {
            links[self.near[slot].last as usize].link().next = first;
            self.near[slot].last = last;
        }
    }

    /// The cycle of the next arrival, which is at `now` or later.
    pub(in crate::sm) fn next(&self, now: u64) -> Option<u64> {
        let mut next = self.next_far;
        if self.occupied != 0 {
            let from_now = self.occupied.rotate_right((now % SLOTS) as u32);
            next = next.min(now + u64::from(from_now.trailing_zeros()));
        }
        (next != u64::MAX).then_some(next)
    }
}

/// The result after one that has been taken out together with it.
#[inline]
pub(in crate::sm) fn after(link: &Link) -> Option<usize> {
    (link.next != NONE).then_some(link.next as usize)
}

/// Enters a result behind all that are there no later.
fn insert(list: &mut List, links: &mut [impl Linked], index: usize, time: u64) {
    let mut before = list.last;
    let mut after = NONE;
    while before != NONE && links[before as usize].link().time > time {
        (before, after) = (links[before as usize].link().previous, before);
    }
    *links[index].link() = Link { next: after, previous: before, time };
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
                let mut taken = arrivals.take(&mut links, now);
                while let Some(index) = taken {
                    taken = after(&links[index]);
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
