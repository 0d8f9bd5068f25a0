//! `malloc` and `free` of threads.
//! (DEV-124)

use super::print::argument;
use super::warp::{Surroundings, Trouble, Warp};
use crate::micro::Slot;
use crate::row::lanes;

impl Warp {
    /// `malloc` for each lane of the mask, lowest first.
    pub(super) fn allocate(&mut self, mask: u32, call: u32, around: &mut Surroundings<'_, '_>) {
        let call = &around.executable.calls[call as usize];
        for lane in lanes(mask) {
            let bytes = argument(self, lane, call.arguments[0]);
            let address = around.memory.device.heap_alloc(bytes);
            match call.result {
                Some(Slot::Frame(offset, size)) => {
                    self.local.poke(lane, offset, address as u32);
                    if size == 8 {
                        self.local.poke(lane, offset + 4, (address >> 32) as u32);
                    }
                }
                Some(Slot::Row(row, 8)) => self.lanes.put64(row, lane, address),
                Some(Slot::Row(row, _)) => self.lanes.put32(row, lane, address as u32),
                None => {}
            }
        }
    }

    /// `free` for each lane of the mask, lowest first.
    pub(super) fn free(
        &mut self,
        mask: u32,
        call: u32,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<(), Trouble> {
        let call = &around.executable.calls[call as usize];
        for lane in lanes(mask) {
            let address = argument(self, lane, call.arguments[0]);
            if !around.memory.device.heap_free(address) {
                return Err(Trouble::FreesForeign { lane, address });
            }
        }
        Ok(())
    }
}
