//! Tally: what the hierarchy does, as events. The one place where accesses are counted, for both
//! modes.

use crate::event::{Counters, Datapath, Event};
use crate::hierarchy::Listener;
use crate::last_result_file;
use crate::placement::{Placement, Upper};
use crate::register_file_cache::{Access, Observer};
use crate::units::{LaneMask, RegisterId};

/// Turns what the hierarchy does into events of one instruction's datapath.
pub(crate) struct Tally<'a, const BY_CLUSTER: bool> {
    counters: &'a mut Counters,
    datapath: Datapath,
    /// Operands that the instruction has read from the main register file.
    main_operands: u32,
}

impl<'a, const BY_CLUSTER: bool> Tally<'a, BY_CLUSTER> {
    pub(crate) const fn new(counters: &'a mut Counters, datapath: Datapath) -> Self {
        Self { counters, datapath, main_operands: 0 }
    }

    /// Accesses that one access under a mask stands for.
    fn weight(mask: LaneMask) -> u64 {
        if !BY_CLUSTER {
            return 1;
        }
        let pairs = mask.0 | mask.0 >> 1;
        let quads = pairs | pairs >> 2;
        u64::from((quads & 0x1111_1111).count_ones())
    }
}

impl<const BY_CLUSTER: bool> Listener for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        let weight = Self::weight(mask);
        let (read, write) = match self.datapath {
            Datapath::Private => (Event::MrfReadPrivate, Event::MrfWritePrivate),
            Datapath::Shared => (Event::MrfReadShared, Event::MrfWriteShared),
        };
        self.counters.record(read, sources.len() as u64 * weight);
        self.counters.record(write, destinations.len() as u64 * weight);
        self.counters.record_main_operands(sources.len() as u32, 1);
    }

    fn source(&mut self, _: RegisterId, placement: Placement, mask: LaneMask) {
        let weight = Self::weight(mask);
        if placement.main {
            let read = match self.datapath {
                Datapath::Private => Event::MrfReadPrivate,
                Datapath::Shared => Event::MrfReadShared,
            };
            self.counters.record(read, weight);
            self.main_operands += 1;
        }
        let upper = match (placement.upper, placement.main, self.datapath) {
            (None, ..) => return,
            (Some(Upper::Orf(_)), false, Datapath::Private) => Event::OrfReadPrivate,
            (Some(Upper::Orf(_)), false, Datapath::Shared) => Event::OrfReadShared,
            (Some(Upper::Orf(_)), true, Datapath::Private) => Event::OrfFillPrivate,
            (Some(Upper::Orf(_)), true, Datapath::Shared) => Event::OrfFillShared,
            (Some(Upper::Lrf(_)), false, _) => Event::LrfRead,
            (Some(Upper::Lrf(_)), true, _) => Event::LrfFill,
        };
        self.counters.record(upper, weight);
    }

    fn result(&mut self, _: RegisterId, placement: Placement, mask: LaneMask) {
        let weight = Self::weight(mask);
        if placement.main {
            let write = match self.datapath {
                Datapath::Private => Event::MrfWritePrivate,
                Datapath::Shared => Event::MrfWriteShared,
            };
            self.counters.record(write, weight);
        }
        let (upper, both) = match (placement.upper, self.datapath) {
            (None, _) => return,
            (Some(Upper::Orf(_)), Datapath::Private) => {
                (Event::OrfWritePrivate, Event::DualWriteOrfPrivate)
            }
            (Some(Upper::Orf(_)), Datapath::Shared) => {
                (Event::OrfWriteShared, Event::DualWriteOrfShared)
            }
            (Some(Upper::Lrf(_)), _) => (Event::LrfWrite, Event::DualWriteLrf),
        };
        self.counters.record(upper, weight);
        if placement.main {
            self.counters.record(both, weight);
        }
    }

    #[inline]
    fn operands_read(&mut self) {
        self.counters.record_main_operands(self.main_operands, 1);
    }
}

impl<const BY_CLUSTER: bool> Observer for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn observe(&mut self, access: Access, _: RegisterId, lanes: LaneMask) {
        use Datapath::{Private, Shared};
        // An operand of which only some lanes come from there is one as well.
        self.main_operands += u32::from(access == Access::MainRead);
        let event = match (access, self.datapath) {
            (Access::ReadHit, Private) => Event::RfcReadPrivate,
            (Access::ReadHit, Shared) => Event::RfcReadShared,
            (Access::MainRead, Private) => Event::MrfReadPrivate,
            (Access::MainRead, Shared) => Event::MrfReadShared,
            (Access::Write, Private) => Event::RfcWritePrivate,
            (Access::Write, Shared) => Event::RfcWriteShared,
            (Access::MainWrite, Private) => Event::MrfWritePrivate,
            (Access::MainWrite, Shared) => Event::MrfWriteShared,
            (Access::Fill, Private) => Event::RfcFillPrivate,
            (Access::Fill, Shared) => Event::RfcFillShared,
            (Access::PartialHit, _) => return self.counters.record(Event::RfcPartialHit, 1),
            (Access::WritebackEviction, _) => Event::RfcWritebackEviction,
            (Access::WritebackFlush, _) => Event::RfcWritebackFlush,
            (Access::Allocation, _) => return self.counters.record(Event::RfcAllocation, 1),
            (Access::Drop, _) => return self.counters.record(Event::RfcDrop, 1),
        };
        self.counters.record(event, Self::weight(lanes));
    }
}

impl<const BY_CLUSTER: bool> last_result_file::Observer for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn observe_last(&mut self, access: last_result_file::Access, _: RegisterId, lanes: LaneMask) {
        use last_result_file::Access;
        let event = match access {
            Access::Read => Event::LrfRead,
            Access::Write => Event::LrfWrite,
            Access::Eviction => Event::LrfEviction,
            Access::WritebackEviction => Event::LrfWritebackEviction,
            Access::WritebackFlush => Event::LrfWritebackFlush,
            Access::PartialHit => return self.counters.record(Event::LrfPartialHit, 1),
            Access::Allocation => return self.counters.record(Event::LrfAllocation, 1),
            Access::Drop => return self.counters.record(Event::LrfDrop, 1),
        };
        self.counters.record(event, Self::weight(lanes));
    }
}
