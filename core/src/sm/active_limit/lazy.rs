//! The limit of the lazy two-level scheduler (LTLWS): none until the first warp has ended, then as
//! many warps as together have issued what that one has, if each had issued as much.
//!
//! Source: `[EXPARS]` 3.3.6, equation 14; `docs/MODEL.md`, rule 46.

use super::Issued;

/// The places of the active set until the first warp ends, then `W_opt`.
#[derive(Clone, Debug)]
pub(in crate::sm) struct Lazy {
    limit: u32,
    is_set: bool,
}

impl Lazy {
    pub(super) const fn new(places: u32) -> Self {
        Self { limit: places, is_set: false }
    }

    #[inline]
    pub(super) const fn at(&mut self, _: u64) -> u32 {
        self.limit
    }

    #[expect(clippy::unused_self, reason = "other limits have something to look at")]
    #[inline]
    pub(super) const fn next_event(&self, _: u64) -> Option<u64> {
        None
    }

    /// A warp has issued its last instruction.
    pub(super) fn warp_ends(&mut self, issued: impl FnOnce() -> Issued) -> Option<u32> {
        if self.is_set {
            return None;
        }
        self.is_set = true;
        let optimal = optimal_warps(&issued());
        self.limit = self.limit.min(optimal);
        Some(optimal)
    }
}

/// `W_opt` (`[EXPARS]` equation 14), at least 1. A first warp without an instruction counts as one
/// with one.
fn optimal_warps(issued: &Issued) -> u32 {
    let warps = issued.all / issued.first.max(1);
    warps.clamp(1, issued.warps.max(1).into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn optimal(counts: &[u64]) -> u32 {
        let (first, all) = (counts[0], counts.iter().sum());
        optimal_warps(&Issued { first, all, warps: counts.len() as u32 })
    }

    #[test]
    fn equation_14_on_counts_made_by_hand() {
        assert_eq!(optimal(&[100; 48]), 48);
        let mut half = [50; 48];
        half[0] = 100;
        assert_eq!(optimal(&half), 24);
        assert_eq!(optimal(&[100, 10, 10, 10]), 1);
        assert_eq!(optimal(&[7]), 1);
        // The first warp that ends has a short path.
        assert_eq!(optimal(&[10, 100, 100]), 3);
        assert_eq!(optimal(&[0, 0]), 1);
    }

    #[test]
    fn the_first_end_sets_the_limit_and_no_other() {
        let mut limit = Lazy::new(48);
        assert_eq!(limit.at(0), 48);
        let ends = |limit: &mut Lazy, all| limit.warp_ends(|| Issued { first: 10, all, warps: 48 });
        assert_eq!(ends(&mut limit, 65), Some(6));
        assert_eq!(limit.at(1), 6);
        assert_eq!(ends(&mut limit, 480), None);
        assert_eq!((limit.at(2), limit.next_event(2)), (6, None));
        // Fewer places than the equation gives.
        let mut narrow = Lazy::new(4);
        assert_eq!(ends(&mut narrow, 65), Some(6));
        assert_eq!(narrow.at(0), 4);
    }
}
