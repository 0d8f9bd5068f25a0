//! Active limit: how many warps may be active, which may change while an SM runs.
//!
//! A lower limit expels no warp: none enters the active set until fewer are active. The places of
//! the active set ([`crate::organisation::Scheduling`]) bound every limit.

use crate::named;

/// What resident warps have issued when one of them ends. Unit: instructions, without
/// pseudo-instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    /// The one that ends.
    pub(super) first: u64,
    /// All of them, that one included.
    pub(super) all: u64,
    /// How many there are.
    pub(super) warps: u32,
}

/// The table of limits. A limit is a file in the folder of this one and a line here.
macro_rules! active_limits {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident;)+) => {
        $(mod $module;)+

        named! {
            /// What limits the active warps.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum ActiveLimitKind {
                $($(#[doc = $doc])+ $variant = $name,)+
            }
        }

        /// The limit of an SM.
        #[derive(Clone, Debug)]
        pub(super) enum ActiveLimit {
            $($variant($module::$variant),)+
        }

        impl ActiveLimit {
            /// A limit of an active set with so many places, before the first cycle.
            pub(super) fn new(kind: ActiveLimitKind, places: u32) -> Self {
                match kind {
                    $(ActiveLimitKind::$variant => {
                        Self::$variant($module::$variant::new(places))
                    })+
                }
            }

            /// The limit in a cycle. Unit: warps. Cycles are asked for in their order.
            #[inline]
            pub(super) fn at(&mut self, now: u64) -> u32 {
                match self { $(Self::$variant(limit) => limit.at(now),)+ }
            }

            /// The next cycle, later than `now`, in which the limit may be another one.
            #[inline]
            pub(super) fn next_event(&self, now: u64) -> Option<u64> {
                match self { $(Self::$variant(limit) => limit.next_event(now),)+ }
            }

            /// A resident warp has issued its last instruction; `issued` says what all of them
            /// have. Returns the warps that a limit which is set now allows.
            #[inline]
            pub(super) fn warp_ends(&mut self, issued: impl FnOnce() -> Issued) -> Option<u32> {
                match self { $(Self::$variant(limit) => limit.warp_ends(issued),)+ }
            }
        }
    };
}

active_limits! {
    /// The places of the active set, in every cycle.
    Constant = "constant" in constant;
    /// None until the first warp of a kernel has ended, then as many as contention lets progress:
    /// the lazy two-level scheduler.
    Lazy = "lazy" in lazy;
}
