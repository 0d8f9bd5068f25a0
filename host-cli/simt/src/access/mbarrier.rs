//! mbarrier objects in shared memory: checks of addresses, and what each lane does to them.
//! (DEV-142)

use super::{BadAccess, Memory, Request, misaligned};
use crate::fault::AccessProblem;
use crate::mbarrier::{Operation, apply, ended, ended_parity};
use crate::micro::{Direction, Mbarrier, Space};
use crate::moved::WINDOW_BYTES;
use crate::row::{Lanes, lanes};

/// Why an operation cannot be carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BadMbarrier {
    Access(BadAccess),
    /// PTX gives it no meaning.
    Misuse {
        lane: usize,
        /// Within shared memory.
        address: u64,
        problem: &'static str,
    },
}

/// Size of an object. Unit: bytes.
pub(crate) const OBJECT_BYTES: u32 = 8;

impl Memory<'_> {
    /// Carries out an operation for the lanes of `mask`, lowest first. False when it tested for the
    /// end of a phase, and a lane found that it has not ended.
    pub(crate) fn mbarrier(
        &mut self,
        file: &mut Lanes,
        mbarrier: &Mbarrier,
        mask: u32,
    ) -> Result<bool, BadMbarrier> {
        let access = &mbarrier.access;
        let mut addresses = self.resolve(file, access.address);
        let generic = access.space == Space::Generic;
        if generic {
            let base = self.device.map.shared;
            addresses = addresses.map(|address| address.wrapping_sub(base));
        }
        let tests = matches!(mbarrier.operation, Operation::Test { .. });
        let direction = if tests { Direction::Load } else { Direction::Atomic { flush: false } };
        let extent = self.shared.len() as u64;
        let request =
            Request { access, space: Space::Shared, addresses: &addresses, mask, direction };
        if let Some(lane) = lanes(mask).find(|&lane| generic && addresses[lane] >= WINDOW_BYTES) {
            let address = addresses[lane].wrapping_add(self.device.map.shared);
            let problem = "this generic address is not one of shared memory";
            return Err(BadMbarrier::Misuse { lane, address, problem });
        }
        if let Some(lane) = misaligned(&addresses, mask, u64::from(OBJECT_BYTES)) {
            let bad = request.bad(lane, AccessProblem::Misaligned, extent);
            return Err(BadMbarrier::Access(bad));
        }
        request.check(0, extent).map_err(BadMbarrier::Access)?;
        let mut passed = 0;
        for lane in lanes(mask) {
            let address = addresses[lane];
            passed |= self
                .mbarrier_of((file, lane), mbarrier, address as usize)
                .map_err(|problem| BadMbarrier::Misuse { lane, address, problem })?;
        }
        if tests {
            file.set_predicate(mbarrier.result.unwrap_or(0), passed, mask);
        }
        Ok(!tests || passed == mask)
    }

    /// One lane's operation: its bit, if it tested for the end of a phase that has ended.
    fn mbarrier_of(
        &mut self,
        (file, lane): (&mut Lanes, usize),
        mbarrier: &Mbarrier,
        start: usize,
    ) -> Result<u32, &'static str> {
        let place = &mut self.shared[start..start + OBJECT_BYTES as usize];
        let old = super::little(place);
        let row = mbarrier.operand;
        let done = match mbarrier.operation {
            Operation::Test { parity: true } => ended_parity(old, file.get32(row, lane))?,
            Operation::Test { parity: false } => ended(old, file.get64(row, lane))?,
            operation => {
                let new = apply(operation, old, file.get32(row, lane))?;
                place.copy_from_slice(&new.to_le_bytes());
                if let Some(state) = mbarrier.result {
                    file.put64(state, lane, old);
                }
                false
            }
        };
        Ok(u32::from(done) << lane)
    }
}
