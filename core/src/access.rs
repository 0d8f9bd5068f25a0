//! Access: what a warp's register hierarchy does, level by level, and the sink that receives it.
//!
//! Source: `[RFC2011]` 3, `[DISS]` 5 and 6; `docs/MODEL.md`, rules 7 to 18 and 24 to 27.

use crate::units::{LaneMask, RegisterId};

/// One thing that a level did with some lanes of one register.
///
/// Abbreviations as in [`crate::event`]: MRF main register file, RFC register file cache, LRF last
/// result file, ORF operand register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// An operand's lanes came from the main register file.
    MrfRead,
    /// A result was written straight to the main register file.
    MrfWrite,
    /// An operand's lanes came from an entry of the register file cache.
    RfcRead,
    /// An operand needed the register file cache and the main register file, which are told apart.
    RfcPartialHit,
    /// A result was written to an entry of the register file cache.
    RfcWrite,
    /// An operand that missed was copied into an entry of the register file cache.
    RfcFill,
    /// A dirty entry of the register file cache was written back to make room.
    RfcWritebackEviction,
    /// A dirty entry of the register file cache was written back by a flush.
    RfcWritebackFlush,
    /// A register newly occupies an entry of the register file cache.
    RfcAllocation,
    /// An entry of the register file cache was given up without a writeback.
    RfcDrop,
    /// An operand's lanes came from the last result file.
    LrfRead,
    /// An operand needed the last result file and a lower level, which are told apart.
    LrfPartialHit,
    /// A result was written to the last result file.
    LrfWrite,
    /// An operand from the main register file was left in the last result file.
    LrfFill,
    /// The entry of the last result file moved to the register file cache to make room.
    LrfEviction,
    /// The entry of the last result file was written back to the main register file to make room.
    LrfWritebackEviction,
    /// The entry of the last result file was written back to the main register file by a flush.
    LrfWritebackFlush,
    /// A register newly occupies the entry of the last result file.
    LrfAllocation,
    /// The entry of the last result file was given up without being moved or written back.
    LrfDrop,
    /// A result went to the last result file and to the main register file, which are told apart.
    LrfDualWrite,
    /// An operand's lanes came from the operand register file.
    OrfRead,
    /// A result was written to the operand register file.
    OrfWrite,
    /// An operand from the main register file was left in the operand register file.
    OrfFill,
    /// A result went to the operand register file and to the main register file, which are told
    /// apart.
    OrfDualWrite,
}

/// Receives accesses, in order.
pub trait AccessSink {
    /// `access` concerned these lanes of this register.
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask);

    /// A main register file without levels above it serves all slots of an instruction: the same as
    /// a read of each source and a write of each destination.
    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        for &source in sources {
            self.access(Access::MrfRead, source, mask);
        }
        for &destination in destinations {
            self.access(Access::MrfWrite, destination, mask);
        }
    }
}

impl<F: FnMut(Access, RegisterId, LaneMask)> AccessSink for F {
    #[inline]
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        self(access, register, lanes);
    }
}
