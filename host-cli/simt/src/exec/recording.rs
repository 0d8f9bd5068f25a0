//! Recording: what a CTA's warps keep of their accesses, besides their paths.

use crate::access::Memory;
use crate::accesses::{AddressLog, WarpAccesses};
use crate::executable::Executable;
use crate::micro::Action;
use crate::moved::{AccessShape, AccessSpace, Addresses};
use crate::ops::matrix::Matrix;
use crate::row::{Lanes, lanes as active};
use strata_core::sm::memory::cached::LineUse;

/// Entries for which their memory is kept from one CTA to the next.
const KEPT_ENTRIES: usize = 1 << 16;

/// Exchanges between lanes, which name no addresses.
const EXCHANGE: AccessShape =
    AccessShape { space: AccessSpace::Shared, bytes: 4, line_use: LineUse::Load };

/// What a CTA's warps record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recording {
    Nothing,
    Paths,
    /// Paths, and the bytes that memory instructions move, with or without the lines that they
    /// touch.
    PathsAndBytes {
        lines: bool,
    },
    /// Paths, and the addresses that memory instructions touch.
    PathsAndAddresses,
}

/// Parts of a warp's accesses that are recorded.
#[derive(Debug)]
pub(crate) enum Accesses {
    Nothing,
    /// What each moved, and perhaps the lines that it touched.
    Bytes(WarpAccesses),
    /// Where each was.
    Addresses(AddressLog),
}

impl Accesses {
    /// Makes it ready for a new CTA.
    pub(crate) fn start(&mut self, record: Recording) {
        match (record, &mut *self) {
            (Recording::PathsAndBytes { lines }, Self::Bytes(moved))
                if moved.has_lines() == lines =>
            {
                moved.clear();
                moved.shrink_to(KEPT_ENTRIES);
            }
            (Recording::PathsAndAddresses, Self::Addresses(log)) => log.clear(),
            (Recording::PathsAndBytes { lines }, _) => {
                *self = Self::Bytes(WarpAccesses::new(lines));
            }
            (Recording::PathsAndAddresses, _) => *self = Self::Addresses(AddressLog::default()),
            (Recording::Nothing | Recording::Paths, _) => *self = Self::Nothing,
        }
    }

    /// What they take. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Bytes(moved) => moved.bytes(),
            Self::Addresses(log) => log.len() as u64,
        }
    }

    /// Notes what an instruction that moves something is about to access.
    pub(crate) fn note(
        &mut self,
        (pc, action): (u32, Action),
        effective: u32,
        lanes: &Lanes,
        executable: &Executable,
        memory: &Memory<'_>,
    ) {
        let mut room = [0; 32];
        let (shape, addresses) = match action {
            Action::Memory(_, index) => {
                let access = &executable.accesses[index as usize];
                (access.shape(), memory.touched(lanes, access, effective, &mut room))
            }
            Action::Matrix { index, .. } => {
                let Matrix::Transfer(transfer) = &executable.matrices[index as usize] else {
                    return;
                };
                // Execution will tell of operands that cannot be used.
                let Ok(each) = transfer.addresses(lanes, memory) else { return };
                let mut count = 0;
                for lane in active(effective) {
                    room[count] = each[lane];
                    count += 1;
                }
                (transfer.access.shape(), Addresses::Each(&room[..count]))
            }
            Action::Mbarrier(index) => {
                let access = &executable.mbarriers[index as usize].access;
                (access.shape(), memory.touched(lanes, access, effective, &mut room))
            }
            Action::Copy(index) => {
                let access = &executable.copies[index as usize].from;
                (access.shape(), memory.touched(lanes, access, effective, &mut room))
            }
            _ => (EXCHANGE, Addresses::None),
        };
        match self {
            Self::Bytes(moved) => {
                let windows = memory.device.map.windows();
                moved.note(&windows, shape, effective, addresses);
            }
            Self::Addresses(log) if addresses != Addresses::None => {
                log.push(pc, effective, addresses);
            }
            Self::Addresses(_) | Self::Nothing => {}
        }
    }
}
