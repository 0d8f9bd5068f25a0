//! Storage in partitions of fixed sizes: registers, shared memory and warp slots apart.
//!
//! Models: the grants of a CTA are made together, and the storage of all of them is taken until its
//! last warp has ended.
//! Source: `[RFC2011]` 2.1, `[DISS]` 2.1; `docs/MODEL.md`, rule 19.

use super::{Grant, Released, Slots, StorageModel};
use crate::sm::residency::{MAX_RESIDENT_CTAS, Residency};

/// The grants of a CTA.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Its warp slots: bit `i` is slot `i`.
    warps: u64,
    /// Warps that have not ended.
    running: u32,
}

/// What is granted.
#[derive(Clone, Debug)]
pub(in crate::sm) struct Partitioned {
    // Invariants: `vacant` and the warps of the groups are disjoint, and all warp slots together;
    // `resident` groups have warps.
    most: u32,
    warps_per_cta: u32,
    vacant: u64,
    groups: [Group; MAX_RESIDENT_CTAS],
    resident: u32,
}

impl Partitioned {
    /// The storage of an SM with these slots, of which nothing is granted.
    pub(super) const fn new(residency: &Residency, warps_per_cta: u32, slots: Slots) -> Self {
        debug_assert!(residency.ctas as usize <= slots.ctas);
        let groups = [Group { warps: 0, running: 0 }; MAX_RESIDENT_CTAS];
        Self { most: residency.ctas, warps_per_cta, vacant: slots.warps, groups, resident: 0 }
    }
}

impl StorageModel for Partitioned {
    #[inline]
    fn has_room(&self) -> bool {
        self.resident < self.most
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.resident == 0
    }

    #[inline]
    fn vacant(&self) -> u64 {
        self.vacant
    }

    fn grant(&mut self) -> Grant {
        let cta = self.groups.iter().position(|group| group.warps == 0).unwrap_or(0);
        let mut warps = 0;
        for _ in 0..self.warps_per_cta {
            warps |= self.vacant & self.vacant.wrapping_neg();
            self.vacant &= !warps;
        }
        self.groups[cta] = Group { warps, running: self.warps_per_cta };
        self.resident += 1;
        Grant { cta: cta as u8, warps }
    }

    fn release(&mut self, cta: u8, _: u8) -> Released {
        let group = &mut self.groups[usize::from(cta)];
        group.running -= 1;
        if group.running > 0 {
            return Released { slots: 0, cta_ended: false };
        }
        let Group { warps, .. } = core::mem::take(group);
        self.vacant |= warps;
        self.resident -= 1;
        Released { slots: warps, cta_ended: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::residency::Limit;

    fn storage(ctas: u32, warps_per_cta: u32) -> Partitioned {
        let warps = ctas * warps_per_cta;
        let residency = Residency { ctas, warps, limit: Limit::Registers, empty_registers: 0 };
        Partitioned::new(&residency, warps_per_cta, Slots { warps: 0xff, ctas: 4 })
    }

    /// Ends a warp of a CTA; returns the slots that are free.
    fn end(storage: &mut Partitioned, cta: u8) -> u64 {
        let Released { slots, cta_ended } = storage.release(cta, 0);
        assert_eq!(cta_ended, slots != 0);
        slots
    }

    #[test]
    fn a_cta_gets_the_lowest_slots_and_keeps_them_until_its_last_warp() {
        let mut storage = storage(3, 2);
        assert!(storage.is_empty());
        assert_eq!(storage.grant(), Grant { cta: 0, warps: 0b11 });
        assert_eq!(storage.grant(), Grant { cta: 1, warps: 0b1100 });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b11_0000 });
        assert!(!storage.has_room());
        assert_eq!(storage.vacant(), 0b1100_0000);
        assert_eq!(end(&mut storage, 1), 0);
        assert!(!storage.has_room());
        assert_eq!(end(&mut storage, 1), 0b1100);
        assert_eq!(storage.vacant(), 0b1100_1100);
        assert_eq!(storage.grant(), Grant { cta: 1, warps: 0b1100 });
        for cta in 0..3 {
            end(&mut storage, cta);
            end(&mut storage, cta);
        }
        assert!(storage.is_empty());
        assert_eq!(storage.vacant(), 0xff);
    }

    #[test]
    fn slots_of_several_ctas_may_lie_apart() {
        let mut storage = storage(4, 2);
        let grants = [(); 4].map(|()| storage.grant());
        let release = |storage: &mut Partitioned, cta| [end(storage, cta), end(storage, cta)];
        assert_eq!(release(&mut storage, 0), [0, grants[0].warps]);
        assert_eq!(release(&mut storage, 2), [0, grants[2].warps]);
        assert_eq!(storage.grant(), Grant { cta: 0, warps: 0b11 });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b11_0000 });
    }
}
