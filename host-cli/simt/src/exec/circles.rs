//! Circles: whether a CTA has come back to where it was.
//!
//! A CTA is deterministic: if its state is one that it had before, and nothing changed meanwhile
//! that other CTAs see, it will come back there for ever, unless one of them changes memory. This
//! is proved, not guessed: a loop that counts, or that reads a clock, never comes back.
//!
//! Models: Brent's search for a cycle over the states at which it is asked.

use super::digest::Digest;
use crate::device::Watch;

/// The search of one CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Circles {
    /// The state that later ones are compared with.
    kept: Option<[u64; 2]>,
    /// Changes when the search began, and the warps' slice.
    began: Option<(u64, u64)>,
    /// States since the kept one, and after how many the next is kept.
    since: u64,
    keep_after: u64,
}

impl Circles {
    /// Forgets the rounds so far.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether the CTA's present state is one that it had since nothing changed, not even the slice
    /// after which warps take turns. May say so late.
    pub(super) fn closed(
        &mut self,
        watch: &mut Watch,
        slice: u64,
        state: impl FnOnce() -> Digest,
    ) -> bool {
        let now = Some((watch.changes(), slice));
        if self.began != now {
            self.reset();
            self.began = now;
            watch.arm();
            return false;
        }
        let state = state().finish();
        if self.kept == Some(state) {
            return true;
        }
        if self.since == self.keep_after {
            self.kept = Some(state);
            (self.since, self.keep_after) = (0, 2 * self.keep_after.max(1));
        }
        self.since += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(state: u64) -> Digest {
        let mut digest = Digest::new();
        digest.word(state);
        digest
    }

    /// After how many states a sequence is seen to go in circles.
    fn found(states: impl Iterator<Item = u64>) -> Option<usize> {
        let (mut circles, mut watch) = (Circles::default(), Watch::default());
        states.into_iter().position(|state| circles.closed(&mut watch, 1, || digest(state)))
    }

    #[test]
    fn circles_are_found_soon_and_nothing_else_is() {
        for (tail, period) in [(0, 1), (0, 5), (3, 7), (40, 2), (100, 63)] {
            let state = |n: u64| if n < tail { 1_000 + n } else { (n - tail) % period };
            let at = found((0..10_000).map(state)).expect("it goes in circles");
            assert!(at as u64 <= 3 * (tail + period) + 3, "{tail}, {period}: after {at}");
            assert!(at as u64 >= tail + period, "{tail}, {period}: after {at}");
        }
        assert_eq!(found(0..10_000), None);
    }

    #[test]
    fn a_change_begins_the_search_anew() {
        let (mut circles, mut watch) = (Circles::default(), Watch::default());
        for _ in 0..100 {
            assert!(!circles.closed(&mut watch, 1, || digest(7)));
            watch.change();
        }
        let asked = (0..10).position(|_| circles.closed(&mut watch, 1, || digest(7)));
        assert_eq!(asked, Some(2));
    }
}
