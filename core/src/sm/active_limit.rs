//! Active limit: how many warps may be active, which may change while an SM runs.
//!
//! A lower limit expels no warp: none enters the active set until fewer are active. The places of
//! the active set ([`crate::organisation::Scheduling`]) bound every limit.

use crate::named;

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
        }
    };
}

active_limits! {
    /// The places of the active set, in every cycle.
    Constant = "constant" in constant;
}
