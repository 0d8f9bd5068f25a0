//! A limit that does not change.

use crate::sm::config::SmConfig;

/// The places of the active set.
#[derive(Clone, Debug)]
pub(in crate::sm::front_end) struct Constant(u32);

impl Constant {
    pub(super) const fn new(config: &SmConfig) -> Self {
        Self(config.active_warps() as u32)
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
}
