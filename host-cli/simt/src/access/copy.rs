//! `cp.async`: copies from global to shared memory, made when they are issued.
//! (DEV-121)

use super::{BadAccess, Memory, Request};
use crate::fault::AccessProblem;
use crate::micro::{AsyncCopy, Direction};
use crate::row::{Lanes, lanes};

/// Most bytes of one copy.
const MAX_BYTES: usize = 16;

impl Memory<'_> {
    /// Copies for the lanes of `mask`, lowest first. Where fewer bytes are read than are written,
    /// zeros follow them; a lane that reads none may have any source address.
    pub(crate) fn copy(
        &mut self,
        file: &Lanes,
        copy: &AsyncCopy,
        mask: u32,
    ) -> Result<(), BadAccess> {
        let (from, to) =
            (self.resolve(file, copy.from.address), self.resolve(file, copy.to.address));
        let source = Request {
            access: &copy.from,
            space: copy.from.space,
            addresses: &from,
            mask,
            direction: Direction::Load,
        };
        let target = Request {
            access: &copy.to,
            space: copy.to.space,
            addresses: &to,
            mask,
            direction: Direction::Store,
        };
        let size = copy.to.size.min(MAX_BYTES as u32);
        for lane in lanes(mask) {
            let ignored =
                copy.ignored.map_or(0, |(p, invert)| file.predicates[p as usize] ^ invert);
            let read = match copy.source_size {
                _ if ignored >> lane & 1 == 1 => 0,
                Some(row) => file.get32(row, lane).min(size),
                None => size,
            };
            for (request, used) in [(&target, true), (&source, read > 0)] {
                if used && request.addresses[lane] % u64::from(size) != 0 {
                    return Err(request.bad(lane, AccessProblem::Misaligned, 0));
                }
            }
            let mut bytes = [0; MAX_BYTES];
            if read > 0 {
                let found = self.device.read(from[lane], u64::from(read));
                let outside = |_| source.bad(lane, AccessProblem::OutOfBounds, 0);
                bytes[..read as usize].copy_from_slice(found.map_err(outside)?);
            }
            let extent = self.shared.len() as u64;
            let start = usize::try_from(to[lane]).unwrap_or(usize::MAX);
            let place =
                start.checked_add(size as usize).and_then(|end| self.shared.get_mut(start..end));
            let outside = || target.bad(lane, AccessProblem::OutOfBounds, extent);
            place.ok_or_else(outside)?.copy_from_slice(&bytes[..size as usize]);
        }
        Ok(())
    }
}
