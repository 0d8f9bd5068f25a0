//! Storage: what a launch is granted of the SM's registers, shared memory and warp slots.
//!
//! A grant is for warps of one CTA, all of them or some: the SM puts the next warps of the CTA that
//! is being launched into the slots granted, and begins the next CTA when the launch of this one is
//! complete. What a warp was granted is released when the warp ends; the storage decides what that
//! frees.

use super::residency::Residency;
use crate::named;

/// What some warps of a CTA are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The CTA's slot, the same for all of its grants. Range: below `MAX_RESIDENT_CTAS`.
    pub(super) cta: u8,
    /// A warp slot for each warp: bit `i` is slot `i`, the lowest slot for the first warp.
    pub(super) warps: u64,
}

/// What is free because a warp has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Released {
    /// The warp slots that are vacant now and were not before.
    pub(super) slots: u64,
    /// The warp was the last of its CTA.
    pub(super) cta_ended: bool,
}

/// The storage of an SM.
pub(super) trait StorageModel {
    /// Whether warps of the CTA that is being launched, or of the next one, can be granted what
    /// they need.
    fn has_room(&self) -> bool;

    /// Whether nothing is granted.
    fn is_empty(&self) -> bool;

    /// Warp slots without a grant.
    fn vacant(&self) -> u64;

    /// Grants warps of the CTA that is being launched, or of the next one, what they need; there is
    /// room.
    fn grant(&mut self) -> Grant;

    /// The warp in a slot, of the CTA in a slot, has ended.
    fn release(&mut self, cta: u8, warp: u8) -> Released;
}

/// The table of storages. A storage is a file in the folder of this one and a line here.
macro_rules! storages {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident;)+) => {
        $(mod $module;)+

        named! {
            /// How the storage of an SM is shared out.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum StorageKind {
                $($(#[doc = $doc])+ $variant = $name,)+
            }
        }

        /// The storage of an SM.
        #[derive(Clone, Debug)]
        pub(super) enum Storage {
            $($variant($module::$variant),)+
        }

        impl Storage {
            /// A storage with `slots` warp slots, of which nothing is granted.
            pub(super) fn new(
                kind: StorageKind,
                residency: &Residency,
                warps_per_cta: u32,
                slots: u64,
            ) -> Self {
                match kind {
                    $(StorageKind::$variant => {
                        Self::$variant($module::$variant::new(residency, warps_per_cta, slots))
                    })+
                }
            }
        }

        impl StorageModel for Storage {
            #[inline]
            fn has_room(&self) -> bool {
                match self { $(Self::$variant(storage) => storage.has_room(),)+ }
            }

            #[inline]
            fn is_empty(&self) -> bool {
                match self { $(Self::$variant(storage) => storage.is_empty(),)+ }
            }

            #[inline]
            fn vacant(&self) -> u64 {
                match self { $(Self::$variant(storage) => storage.vacant(),)+ }
            }

            fn grant(&mut self) -> Grant {
                match self { $(Self::$variant(storage) => storage.grant(),)+ }
            }

            fn release(&mut self, cta: u8, warp: u8) -> Released {
                match self { $(Self::$variant(storage) => storage.release(cta, warp),)+ }
            }
        }
    };
}

storages! {
    /// In partitions of fixed sizes, to whole CTAs.
    Partitioned = "partitioned" in partitioned;
}
