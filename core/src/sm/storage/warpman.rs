//! Storage whose registers are granted warp by warp, so that some warps of a CTA run before there
//! is room for the others.
//!
//! Models: registers of a warp are free when it ends, and go to the CTA that is being launched
//! until all its warps are resident, then to the next one. A CTA begins when it has a place, which
//! all shared memory of it comes with, and one warp has registers.
//! Source: Warpman, as `[EXPARS]` 4.1 describes it; `docs/MODEL.md`, rule 40.

use super::{Grant, Released, Slots, StorageModel};
use crate::sm::facts::lowest;
use crate::sm::residency::{MAX_RESIDENT_CTAS, Residency};

/// A CTA that has a place.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Warps that have not been granted anything yet.
    waiting: u32,
    /// Warps that have been granted what they need, and have not ended.
    running: u32,
}

impl Group {
    const fn is_resident(self) -> bool {
        self.waiting != 0 || self.running != 0
    }
}

/// What is granted.
#[derive(Clone, Debug)]
pub(in crate::sm) struct Warpman {
    // Invariant: no two groups have warps that wait, and `launching` is the one that has some.
    most: u32,
    warps_per_cta: u32,
    /// Warps that there are registers for.
    room: u32,
    all: u64,
    vacant: u64,
    groups: [Group; MAX_RESIDENT_CTAS],
    resident: u32,
    launching: Option<u8>,
}

impl Warpman {
    /// The storage of an SM with these slots, of which nothing is granted: registers for as many
    /// warps, and places for as many CTAs, as can be resident.
    pub(super) const fn new(residency: &Residency, warps_per_cta: u32, slots: Slots) -> Self {
        debug_assert!(residency.ctas as usize <= slots.ctas);
        Self {
            most: residency.ctas,
            warps_per_cta,
            room: residency.warps,
            all: slots.warps,
            vacant: slots.warps,
            groups: [Group { waiting: 0, running: 0 }; MAX_RESIDENT_CTAS],
            resident: 0,
            launching: None,
        }
    }
}

impl StorageModel for Warpman {
    #[inline]
    fn has_room(&self) -> bool {
        self.room != 0 && (self.launching.is_some() || self.resident < self.most)
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.vacant == self.all
    }

    #[inline]
    fn vacant(&self) -> u64 {
        self.vacant
    }

    fn grant(&mut self) -> Grant {
        let cta = self.launching.unwrap_or_else(|| {
            let vacant = self.groups.iter().position(|group| !group.is_resident()).unwrap_or(0);
            self.groups[vacant].waiting = self.warps_per_cta;
            self.resident += 1;
            vacant as u8
        });
        let group = &mut self.groups[usize::from(cta)];
        let count = self.room.min(group.waiting);
        let mut warps = 0;
        for _ in 0..count {
            warps |= self.vacant & self.vacant.wrapping_neg();
            self.vacant &= !warps;
        }
        (group.waiting, group.running) = (group.waiting - count, group.running + count);
        self.room -= count;
        self.launching = (group.waiting != 0).then_some(cta);
        Grant { cta, warps }
    }

    fn release(&mut self, cta: u8, warp: u8) -> Released {
        let slots = 1 << warp & lowest(64);
        self.vacant |= slots;
        self.room += 1;
        let group = &mut self.groups[usize::from(cta)];
        group.running -= 1;
        let cta_ended = !group.is_resident();
        self.resident -= u32::from(cta_ended);
        Released { slots, cta_ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::residency::Limit;

    /// Registers for 7 warps, CTAs of 3.
    fn storage() -> Warpman {
        let residency =
            Residency { ctas: 3, warps: 7, limit: Limit::Registers, empty_registers: 0 };
        Warpman::new(&residency, 3, Slots { warps: 0xff, ctas: 8 })
    }

    #[test]
    fn one_warp_of_a_third_cta_runs_until_others_end() {
        let mut storage = storage();
        assert_eq!(storage.grant(), Grant { cta: 0, warps: 0b111 });
        assert_eq!(storage.grant(), Grant { cta: 1, warps: 0b11_1000 });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b100_0000 });
        assert!(!storage.has_room());
        // A warp's registers go to the CTA that is not whole, at the slot that is free.
        assert_eq!(storage.release(0, 1), Released { slots: 0b10, cta_ended: false });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b10 });
        assert_eq!(storage.release(2, 6), Released { slots: 0b100_0000, cta_ended: false });
        assert_eq!(storage.grant(), Grant { cta: 2, warps: 0b100_0000 });
        // It is whole; the next one has no place before a CTA has ended.
        assert_eq!(storage.release(1, 3), Released { slots: 0b1000, cta_ended: false });
        assert!(!storage.has_room());
        assert_eq!(storage.release(0, 0), Released { slots: 0b1, cta_ended: false });
        assert_eq!(storage.release(0, 2), Released { slots: 0b100, cta_ended: true });
        assert_eq!(storage.grant(), Grant { cta: 0, warps: 0b1101 });
        assert!(!storage.has_room());
    }
}
