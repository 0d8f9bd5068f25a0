//! Tally: accesses as events. The one place where they are counted, for both modes.

use crate::access::{Access, AccessSink};
use crate::datapath::Datapath;
use crate::event::{Counters, Event};
use crate::units::{LaneMask, RegisterId};

/// The event of an access, by its datapath.
#[inline]
pub(crate) const fn event(access: Access, datapath: Datapath) -> Event {
    use Datapath::{Private, Shared};
    match (access, datapath) {
        (Access::MrfRead, Private) => Event::MrfReadPrivate,
        (Access::MrfRead, Shared) => Event::MrfReadShared,
        (Access::MrfWrite, Private) => Event::MrfWritePrivate,
        (Access::MrfWrite, Shared) => Event::MrfWriteShared,
        (Access::RfcRead, Private) => Event::RfcReadPrivate,
        (Access::RfcRead, Shared) => Event::RfcReadShared,
        (Access::RfcPartialHit, _) => Event::RfcPartialHit,
        (Access::RfcWrite, Private) => Event::RfcWritePrivate,
        (Access::RfcWrite, Shared) => Event::RfcWriteShared,
        (Access::RfcFill, Private) => Event::RfcFillPrivate,
        (Access::RfcFill, Shared) => Event::RfcFillShared,
        (Access::RfcWritebackEviction, _) => Event::RfcWritebackEviction,
        (Access::RfcWritebackFlush, _) => Event::RfcWritebackFlush,
        (Access::RfcAllocation, _) => Event::RfcAllocation,
        (Access::RfcDrop, _) => Event::RfcDrop,
        (Access::LrfRead, _) => Event::LrfRead,
        (Access::LrfPartialHit, _) => Event::LrfPartialHit,
        (Access::LrfWrite, _) => Event::LrfWrite,
        (Access::LrfFill, _) => Event::LrfFill,
        (Access::LrfEviction, _) => Event::LrfEviction,
        (Access::LrfWritebackEviction, _) => Event::LrfWritebackEviction,
        (Access::LrfWritebackFlush, _) => Event::LrfWritebackFlush,
        (Access::LrfAllocation, _) => Event::LrfAllocation,
        (Access::LrfDrop, _) => Event::LrfDrop,
        (Access::LrfDualWrite, _) => Event::DualWriteLrf,
        (Access::OrfRead, Private) => Event::OrfReadPrivate,
        (Access::OrfRead, Shared) => Event::OrfReadShared,
        (Access::OrfWrite, Private) => Event::OrfWritePrivate,
        (Access::OrfWrite, Shared) => Event::OrfWriteShared,
        (Access::OrfFill, Private) => Event::OrfFillPrivate,
        (Access::OrfFill, Shared) => Event::OrfFillShared,
        (Access::OrfDualWrite, Private) => Event::DualWriteOrfPrivate,
        (Access::OrfDualWrite, Shared) => Event::DualWriteOrfShared,
    }
}

/// Whether an access is counted once, however many clusters have an enabled lane.
const fn is_whole(access: Access) -> bool {
    matches!(
        access,
        Access::RfcPartialHit
            | Access::RfcAllocation
            | Access::RfcDrop
            | Access::LrfPartialHit
            | Access::LrfAllocation
            | Access::LrfDrop
    )
}

/// Counts the accesses of one instruction, or of a flush.
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

    /// Operands come from the main register file or from a write pool in front of it; which of the
    /// two is not known yet.
    #[inline]
    pub(crate) fn main_operands(&mut self, operands: usize) {
        self.main_operands += operands as u32;
    }

    /// Ends an instruction, whose accesses are all counted.
    #[inline]
    pub(crate) fn end_instruction(self) {
        self.counters.record_main_operands(self.main_operands, 1);
    }
}

impl<const BY_CLUSTER: bool> AccessSink for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn access(&mut self, access: Access, _: RegisterId, lanes: LaneMask) {
        // An operand with only some lanes from there counts too.
        self.main_operands += u32::from(matches!(access, Access::MrfRead));
        let weight = if is_whole(access) { 1 } else { Self::weight(lanes) };
        self.counters.record(event(access, self.datapath), weight);
    }

    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        let weight = Self::weight(mask);
        let (read, write) = (Access::MrfRead, Access::MrfWrite);
        self.counters.record(event(read, self.datapath), sources.len() as u64 * weight);
        self.counters.record(event(write, self.datapath), destinations.len() as u64 * weight);
        self.main_operands(sources.len());
    }
}
