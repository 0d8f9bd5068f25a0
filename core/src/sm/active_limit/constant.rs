//! A limit that does not change.

use super::Issued;

/// The places of the active set.
#[derive(Clone, Debug)]
pub(in crate::sm) struct Constant(u32);

impl Constant {
    pub(super) const fn new(places: u32) -> Self {
        Self(places)
    }

    #[inline]
    pub(super) const fn at(&mut self, _: u64) -> u32 {
        self.0
    }

    #[expect(clippy::unused_self, reason = "other limits have something to look at")]
    #[inline]
    pub(super) const fn next_event(&self, _: u64) -> Option<u64> {
        None
    }

    #[expect(clippy::unused_self, reason = "other limits have something to look at")]
    #[inline]
    pub(super) fn warp_ends(&mut self, _: impl FnOnce() -> Issued) -> Option<u32> {
        None
    }
}
