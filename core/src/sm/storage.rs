//! Storage: what a launch is granted of the SM's registers, shared memory and warp slots.
//!
//! A grant is for warps of one CTA, all of them or some: the SM puts the next warps of the CTA that
//! is being launched into the slots granted, and begins the next CTA when the launch of this one is
//! complete. What a warp was granted is released when the warp ends; the storage decides what that
//! frees.

use super::residency::Residency;
use crate::named;

/// The slots of an SM. A storage that frees warps singly may have more CTAs resident than
/// [`Residency::ctas`], but not more than there are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    /// Warp slots: bit `i` is slot `i`.
    pub(super) warps: u64,
    /// CTA slots. Range: `1..=MAX_RESIDENT_CTAS`.
    pub(super) ctas: usize,
}

/// What some warps of a CTA are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The CTA's slot, the same for all of its grants. Range: below the SM's CTA slots.
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
            /// The storage of an SM with these slots, of which nothing is granted.
            pub(super) fn new(
                kind: StorageKind,
                residency: &Residency,
                warps_per_cta: u32,
                slots: Slots,
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
    /// The same, registers warp by warp: some warps of one CTA more run.
    Warpman = "warpman" in warpman;
    /// In partitions, with registers of some CTAs in scratchpad memory: EXPARS. All of a kernel
    /// that it gains no CTA for is as with partitions.
    Expars = "expars" in expars;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::residency::{Limit, MAX_RESIDENT_CTAS};

    /// A CTA of which warps are granted.
    #[derive(Clone, Copy, Default)]
    struct Launched {
        /// Slots of its warps that have not ended.
        running: u64,
        /// Slots that it has.
        granted: u64,
        /// Warps launched.
        warps: u32,
    }

    /// Random launches and ends of warps: what every storage of the table promises.
    #[test]
    fn every_storage_grants_what_the_sm_has() {
        let cases =
            (0..200_u64).flat_map(|seed| StorageKind::ALL.iter().map(move |&kind| (seed, kind)));
        for (seed, kind) in cases {
            let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
            let mut random = |limit: u32| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 33) as u32 % limit
            };
            let (max_warps, warps_per_cta) = (8 + random(57), 1 + random(8));
            let slots = Slots {
                warps: u64::MAX >> (64 - max_warps),
                ctas: 1 + random(MAX_RESIDENT_CTAS as u32) as usize,
            };
            let ctas = 1 + random((max_warps / warps_per_cta).min(slots.ctas as u32));
            let warps = ctas * warps_per_cta;
            let residency = Residency { ctas, warps, limit: Limit::Registers, empty_registers: 0 };
            let mut storage = Storage::new(kind, &residency, warps_per_cta, slots);
            let mut resident = [Launched::default(); MAX_RESIDENT_CTAS];
            let mut launching: Option<u8> = None;
            for _ in 0..300 {
                let granted = resident.iter().fold(0, |all, cta| all | cta.granted);
                assert_eq!(storage.vacant(), slots.warps & !granted, "{kind:?}, seed {seed}");
                assert_eq!(storage.is_empty(), granted == 0, "{kind:?}, seed {seed}");
                assert!(granted.count_ones() <= warps, "{kind:?}, seed {seed}");
                let running = resident.iter().fold(0, |all, cta| all | cta.running);
                assert!(running != 0 || storage.has_room(), "{kind:?}, seed {seed}: it hangs");
                if storage.has_room() && (running == 0 || random(2) == 0) {
                    let before = storage.vacant();
                    let Grant { cta, warps } = storage.grant();
                    assert!(usize::from(cta) < slots.ctas, "{kind:?}, seed {seed}: slot {cta}");
                    assert!(warps != 0 && warps & !before == 0, "{kind:?}, seed {seed}");
                    let of = &mut resident[usize::from(cta)];
                    if let Some(launching) = launching {
                        assert_eq!(cta, launching, "{kind:?}, seed {seed}");
                    } else {
                        assert_eq!(of.granted, 0, "{kind:?}, seed {seed}: it is taken");
                        of.warps = 0;
                    }
                    of.granted |= warps;
                    of.running |= warps;
                    of.warps += warps.count_ones();
                    assert!(of.warps <= warps_per_cta, "{kind:?}, seed {seed}");
                    launching = (of.warps < warps_per_cta).then_some(cta);
                } else if running != 0 {
                    let cta = loop {
                        let cta = random(MAX_RESIDENT_CTAS as u32) as u8;
                        if resident[usize::from(cta)].running != 0 {
                            break cta;
                        }
                    };
                    let of = &mut resident[usize::from(cta)];
                    let warp = of.running.trailing_zeros();
                    of.running &= !(1 << warp);
                    let Released { slots, cta_ended } = storage.release(cta, warp as u8);
                    assert_eq!(slots & !(of.granted & !of.running), 0, "{kind:?}, seed {seed}");
                    of.granted &= !slots;
                    let ended = of.running == 0 && launching != Some(cta);
                    assert_eq!(cta_ended, ended, "{kind:?}, seed {seed}");
                    assert!(!ended || of.granted == 0, "{kind:?}, seed {seed}");
                }
            }
        }
    }
}
