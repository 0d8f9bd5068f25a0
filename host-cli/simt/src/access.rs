//! Access: the warp's loads, stores and atomics, with one bounds check for the whole warp where all
//! lanes hit one buffer.
//!
//! Models: global memory as checked buffers, shared memory as one array of bytes per CTA, local
//! memory interleaved by lane (a word at one offset is a row, so spills are row copies), parameters
//! as a read-only block. A warp's lanes access memory in ascending order: of several stores to one
//! address the highest lane's stays, and atomics are applied lowest lane first.

mod copy;
mod lanewise;
mod local;
mod mbarrier;
mod textures;

use crate::device::Device;
use crate::fault::{AccessKind, AccessProblem};
use crate::micro::{Access, AddressSource, Direction, Space};
use crate::moved::{self, AccessShape, AccessSpace, WINDOW_BYTES};
use crate::row::{Lanes, lanes};
use lanewise::{Addresses, gather, inside, little, misaligned, transfer};
pub(crate) use local::LocalFrame;
pub(crate) use mbarrier::{BadMbarrier, OBJECT_BYTES};

/// An access that cannot be carried out, before the executor adds where it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BadAccess {
    pub(crate) lane: usize,
    pub(crate) address: u64,
    pub(crate) size: u32,
    pub(crate) space: Space,
    pub(crate) problem: AccessProblem,
    pub(crate) kind: AccessKind,
    /// Extent of shared, local or parameter memory. Unit: bytes.
    pub(crate) extent: u64,
}

/// Everything a thread can address.
pub(crate) struct Memory<'a> {
    pub(crate) device: &'a mut Device,
    pub(crate) shared: &'a mut [u8],
    pub(crate) parameters: &'a [u8],
    /// Which loaded module the executable belongs to.
    pub(crate) module: usize,
}

impl Access {
    /// Bytes that one lane accesses.
    fn bytes(&self) -> u64 {
        u64::from(self.size * self.count)
    }

    /// The part of it that decides what it moves.
    pub(crate) fn shape(&self) -> AccessShape {
        let space = match self.space {
            Space::Global => AccessSpace::Global,
            Space::Local => AccessSpace::Local,
            Space::Shared => AccessSpace::Shared,
            // Parameters have their window.
            Space::Generic | Space::Parameter => AccessSpace::Generic,
        };
        AccessShape { space, bytes: self.size * self.count, line_use: self.line_use }
    }
}

/// What a warp wants of one space.
#[derive(Clone, Copy)]
struct Request<'r> {
    access: &'r Access,
    space: Space,
    addresses: &'r Addresses,
    /// Lanes that take part.
    mask: u32,
    direction: Direction,
}

impl Request<'_> {
    fn bad(&self, lane: usize, problem: AccessProblem, extent: u64) -> BadAccess {
        BadAccess {
            lane,
            address: self.addresses[lane],
            size: self.access.bytes() as u32,
            space: self.space,
            problem,
            kind: match self.direction {
                Direction::Load => AccessKind::Read,
                Direction::Store => AccessKind::Write,
                Direction::Atomic { .. } => AccessKind::Atomic,
            },
            extent,
        }
    }

    /// Checks that every lane's access lies inside of a space that begins at `base`.
    fn check(&self, base: u64, extent: u64) -> Result<(), BadAccess> {
        let bytes = self.access.bytes();
        if base == 0 && inside(self.addresses, self.mask, bytes, extent) {
            return Ok(());
        }
        let outside = |&lane: &usize| {
            let offset = self.addresses[lane].wrapping_sub(base);
            extent.checked_sub(bytes).is_none_or(|last| offset > last)
        };
        let lane = lanes(self.mask).find(outside);
        lane.map_or(Ok(()), |lane| Err(self.bad(lane, AccessProblem::OutOfBounds, extent)))
    }
}

/// The bytes that the lanes of a mask access, one lane's after the other's.
fn values_at(data: &[u8], offsets: &Addresses, mask: u32, bytes: u64) -> Vec<u8> {
    let of_lane = |lane: usize| {
        let first = offsets[lane] as usize;
        &data[first..first + bytes as usize]
    };
    lanes(mask).flat_map(of_lane).copied().collect()
}

/// The registers and frames of a warp.
pub(crate) type Threads<'t> = (&'t mut Lanes, &'t mut LocalFrame);

impl Memory<'_> {
    /// Carries out an access for the lanes of `mask`.
    pub(crate) fn access(
        &mut self,
        (file, local): Threads<'_>,
        access: &Access,
        mask: u32,
        direction: Direction,
    ) -> Result<(), BadAccess> {
        let addresses = &self.resolve(file, access.address);
        self.access_at((file, local), access, addresses, mask, direction)
    }

    /// Carries out an access for the lanes of `mask`, at addresses that the caller names instead of
    /// the access.
    pub(crate) fn access_at(
        &mut self,
        (file, local): Threads<'_>,
        access: &Access,
        addresses: &Addresses,
        mask: u32,
        direction: Direction,
    ) -> Result<(), BadAccess> {
        let space = access.space;
        if space != Space::Generic {
            let request = Request { access, space, addresses, mask, direction };
            return self.within((file, local), request);
        }
        let map = self.device.map;
        let mut rest = mask;
        let windows = [
            (Space::Shared, map.shared),
            (Space::Local, map.local),
            (Space::Parameter, map.parameters),
        ];
        // The windows lie below everything in global memory.
        let low = lanes(rest).any(|lane| addresses[lane] < map.global);
        for (space, base) in windows.into_iter().filter(|_| low) {
            let mask = lanes(rest)
                .filter(|&lane| addresses[lane].wrapping_sub(base) < WINDOW_BYTES)
                .fold(0, |here, lane| here | 1 << lane);
            if mask != 0 {
                // Parameters are addressed through their window anyhow.
                let base = if space == Space::Parameter { 0 } else { base };
                let addresses = &addresses.map(|address| address.wrapping_sub(base));
                let request = Request { access, space, addresses, mask, direction };
                self.within((file, local), request)?;
                rest &= !mask;
            }
        }
        if rest == 0 {
            return Ok(());
        }
        let request = Request { access, space: Space::Global, addresses, mask: rest, direction };
        self.within((file, local), request)
    }

    /// Checks that every lane's address is one of shared memory where the access names no space.
    pub(crate) fn within_shared(
        &self,
        access: &Access,
        addresses: &Addresses,
        direction: Direction,
    ) -> Result<(), BadAccess> {
        let start = self.device.map.shared;
        let outside = |&address: &u64| address.wrapping_sub(start) >= WINDOW_BYTES;
        let lane = addresses.iter().position(outside);
        let Some(lane) = lane.filter(|_| access.space == Space::Generic) else { return Ok(()) };
        let space = Space::Shared;
        let request = Request { access, space, addresses, mask: u32::MAX, direction };
        Err(request.bad(lane, AccessProblem::OutOfBounds, self.shared.len() as u64))
    }

    /// What an operand in brackets names, by lane.
    pub(crate) fn resolve(&self, file: &Lanes, source: AddressSource) -> Addresses {
        match source {
            AddressSource::Wide { row, offset } => {
                let (low, high) = (&file.rows[row as usize].0, &file.rows[row as usize + 1].0);
                let mut addresses = [0; 32];
                for lane in 0..32 {
                    let base = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                    addresses[lane] = base.wrapping_add(offset as u64);
                }
                addresses
            }
            AddressSource::Narrow { row, offset } => {
                let base = &file.rows[row as usize].0;
                let mut addresses = [0; 32];
                for lane in 0..32 {
                    addresses[lane] = u64::from(base[lane].wrapping_add(offset as u32));
                }
                addresses
            }
            AddressSource::Fixed(address) | AddressSource::Slot(address) => [address; 32],
            AddressSource::Variable { variable, offset } => {
                let address = self.device.modules.get(self.module).and_then(|symbols| {
                    symbols.addresses.get(variable as usize).copied().flatten()
                });
                [address.unwrap_or(0).wrapping_add(offset as u64); 32]
            }
        }
    }

    fn within(&mut self, (file, local): Threads<'_>, request: Request) -> Result<(), BadAccess> {
        let Request { access, addresses, mask, direction, .. } = request;
        let size = access.bytes().next_power_of_two();
        if let Some(lane) = misaligned(addresses, mask, size) {
            return Err(request.bad(lane, AccessProblem::Misaligned, 0));
        }
        match request.space {
            Space::Global | Space::Generic => {
                let direction = match direction {
                    Direction::Atomic { .. } => Direction::Atomic { flush: true },
                    other => other,
                };
                let done = self.global(file, access, addresses, mask, direction);
                done.map_err(|(lane, problem)| request.bad(lane, problem, 0))
            }
            Space::Shared => {
                request.check(0, self.shared.len() as u64)?;
                transfer(self.shared, file, access, addresses, mask, direction);
                Ok(())
            }
            Space::Parameter => self.parameters((file, local), request),
            Space::Local => {
                request.check(0, local.extent(access))?;
                local.transfer(file, access, addresses, mask, direction);
                Ok(())
            }
        }
    }

    /// Parameters of the kernel lie in their window; those of inlined functions in the frame, whose
    /// addresses begin at 0.
    fn parameters(
        &mut self,
        (file, local): Threads<'_>,
        request: Request,
    ) -> Result<(), BadAccess> {
        let Request { access, addresses, mask, direction, .. } = request;
        let base = self.device.map.parameters;
        let first = mask.trailing_zeros() as usize & 31;
        if addresses[first] < base {
            return self.within((file, local), Request { space: Space::Local, ..request });
        }
        let extent = self.parameters.len() as u64;
        if direction != Direction::Load {
            return Err(request.bad(first, AccessProblem::ReadOnly, extent));
        }
        request.check(base, extent)?;
        let offsets = addresses.map(|address| address.wrapping_sub(base));
        gather(self.parameters, file, access, &offsets, mask);
        Ok(())
    }

    fn global(
        &mut self,
        file: &mut Lanes,
        access: &Access,
        addresses: &Addresses,
        mask: u32,
        direction: Direction,
    ) -> Result<(), (usize, AccessProblem)> {
        let mut rest = mask;
        // One turn for each buffer that the warp touches; nearly always one.
        while rest != 0 {
            let first = rest.trailing_zeros() as usize & 31;
            let index =
                self.device.find(addresses[first]).ok_or((first, AccessProblem::OutOfBounds))?;
            let buffer = &mut self.device.buffers[index];
            if direction != Direction::Load && !buffer.writable {
                return Err((first, AccessProblem::ReadOnly));
            }
            let (start, extent) = (buffer.start, buffer.data.len() as u64);
            let mut offsets = [0; 32];
            for lane in 0..32 {
                offsets[lane] = addresses[lane].wrapping_sub(start);
            }
            let here = if inside(&offsets, rest, access.bytes(), extent) {
                rest
            } else {
                let fits = |lane: &usize| {
                    offsets[*lane] < extent && extent - offsets[*lane] >= access.bytes()
                };
                lanes(rest).filter(fits).fold(0, |here, lane| here | 1 << lane)
            };
            if here >> first & 1 == 0 {
                return Err((first, AccessProblem::OutOfBounds));
            }
            if direction != Direction::Load && self.device.watch.is_armed() {
                let bytes = access.bytes();
                let before = values_at(&buffer.data, &offsets, here, bytes);
                transfer(&mut buffer.data, file, access, &offsets, here, direction);
                if before != values_at(&buffer.data, &offsets, here, bytes) {
                    self.device.watch.change();
                }
            } else {
                transfer(&mut buffer.data, file, access, &offsets, here, direction);
            }
            rest &= !here;
        }
        Ok(())
    }
}

impl Memory<'_> {
    /// The addresses of the lanes of `mask`, which an access is about to touch.
    pub(crate) fn touched<'r>(
        &self,
        file: &Lanes,
        access: &Access,
        mask: u32,
        room: &'r mut Addresses,
    ) -> moved::Addresses<'r> {
        *room = self.resolve(file, access.address);
        if mask != u32::MAX {
            for (to, lane) in lanes(mask).enumerate() {
                room[to] = room[lane];
            }
        }
        moved::Addresses::Each(&room[..mask.count_ones() as usize])
    }

    /// Up to 8 bytes at a generic address, for texts and argument lists; `None` outside of
    /// everything. Nothing is remembered, so it does not disturb what follows.
    pub(crate) fn peek(
        &self,
        local: &LocalFrame,
        lane: usize,
        address: u64,
        size: u32,
    ) -> Option<u64> {
        let map = self.device.map;
        let within = |base: u64| {
            let offset = address.wrapping_sub(base);
            (offset < WINDOW_BYTES).then_some(offset)
        };
        let slice = |bytes: &[u8], offset: u64| {
            let first = offset as usize;
            bytes.get(first..first + size as usize).map(little)
        };
        if let Some(offset) = within(map.local) {
            return local.peek(lane, offset, size);
        }
        if let Some(offset) = within(map.shared) {
            return slice(self.shared, offset);
        }
        if let Some(offset) = within(map.parameters) {
            return slice(self.parameters, offset);
        }
        self.device.read(address, u64::from(size)).ok().map(little)
    }
}
