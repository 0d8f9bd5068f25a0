//! Storage: what a launch is granted of the SM's registers, shared memory and warp slots.
//!
//! Models: a grant for each warp; the grants of a CTA are made together, and the storage of all of
//! them is taken until its last warp has ended.
//! Does not model: CTAs that are resident in part, registers outside the register file.
//! Source: `[RFC2011]` 2.1, `[DISS]` 2.1; `docs/MODEL.md`, rule 19.

use super::config::{MAX_RESIDENT_CTAS, Residency};

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
pub(super) struct Storage {
    // Invariants: `vacant` and the warps of the groups are disjoint, and all warp slots together;
    // `resident` groups have warps.
    residency: Residency,
    warps_per_cta: u32,
    vacant: u64,
    groups: [Group; MAX_RESIDENT_CTAS],
    resident: u32,
}

/// What a new CTA is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The CTA's slot. Range: below the resident CTAs.
    pub(super) cta: u8,
    /// A warp slot for each of its warps, the lowest for its first warp.
    pub(super) warps: u64,
}

impl Storage {
    /// Storage of `slots` warp slots of which nothing is granted.
    pub(super) const fn new(residency: Residency, warps_per_cta: u32, slots: u64) -> Self {
        let groups = [Group { warps: 0, running: 0 }; MAX_RESIDENT_CTAS];
        Self { residency, warps_per_cta, vacant: slots, groups, resident: 0 }
    }

    /// How many CTAs are resident at a time, and why not more.
    pub(super) const fn residency(&self) -> Residency {
        self.residency
    }

    /// Whether another CTA can be granted what it needs.
    #[inline]
    pub(super) const fn has_room(&self) -> bool {
        self.resident < self.residency.ctas
    }

    /// Whether nothing is granted.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.resident == 0
    }

    /// Warp slots without a grant.
    #[inline]
    pub(super) const fn vacant(&self) -> u64 {
        self.vacant
    }

    /// Grants a CTA what it needs; there is room.
    pub(super) fn grant(&mut self) -> Grant {
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

    /// A warp of a CTA has ended. Returns the warp slots that are vacant now: all of the CTA's with
    /// its last warp, none before.
    pub(super) fn release(&mut self, cta: u8) -> u64 {
        let group = &mut self.groups[usize::from(cta)];
        group.running -= 1;
        if group.running > 0 {
            return 0;
        }
        let Group { warps, .. } = core::mem::take(group);
        self.vacant |= warps;
        self.resident -= 1;
        warps
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Limit;
    use super::*;

    fn storage(ctas: u32, warps_per_cta: u32) -> Storage {
        let warps = ctas * warps_per_cta;
        let residency = Residency { ctas, warps, limit: Limit::Registers, empty_registers: 0 };
        Storage::new(residency, warps_per_cta, 0xff)
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
        assert_eq!(storage.release(1), 0);
        assert!(!storage.has_room());
        assert_eq!(storage.release(1), 0b1100);
        assert_eq!(storage.vacant(), 0b1100_1100);
        assert_eq!(storage.grant(), Grant { cta: 1, warps: 0b1100 });
        for cta in 0..3 {
            storage.release(cta);
            storage.release(cta);
        }
        assert!(storage.is_empty());
        assert_eq!(storage.vacant(), 0xff);
    }

    #[test]
    fn slots_of_several_ctas_may_lie_apart() {
        let mut storage = storage(4, 2);
        let grants = [(); 4].map(|()| storage.grant());
        let release = |storage: &mut Storage, cta| [storage.release(cta), storage.release(cta)];
        assert_eq!(release(&mut storage, 0), [0, grants[0].warps]);
        assert_eq!(release(&mut storage, 2), [0, grants[2].warps]);
        assert_eq!(storage.grant(), Grant { cta: 0, warps: 0b11 });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b11_0000 });
    }
}
