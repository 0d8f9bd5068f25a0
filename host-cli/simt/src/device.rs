//! Device: global memory made of checked buffers, and the variables of loaded modules.
//!
//! Models: a flat address space in which buffers lie apart, with guard gaps that belong to none;
//! module variables in global and constant memory with their initial contents; address windows
//! through which generic addresses reach shared, local and parameter memory.
//! Does not model: caches, pages, or the order in which different CTAs see each other's writes.

mod named;
mod objects;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::moved::Windows;
use named::Named;
use rustc_hash::FxHashMap;
use strata_ptx::diagnostic::counted;
use strata_ptx::module::{Initializer, Module, StateSpace, Symbol, Variable};
pub(crate) use watch::Watch;

/// Bytes left unused between buffers, so that an overrun by a row or two meets no other buffer.
pub const GUARD_BYTES: u64 = 4096;

/// Smallest alignment of a buffer, like the allocator of CUDA. Unit: bytes.
pub const MIN_ALIGN: u64 = 256;

/// Address windows, by the width of the module's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressMap {
    /// First address given to a buffer.
    pub(crate) global: u64,
    /// Generic addresses from here reach shared memory.
    pub(crate) shared: u64,
    /// Generic addresses from here reach the thread's local memory.
    pub(crate) local: u64,
    /// Generic addresses from here reach the kernel's parameters.
    pub(crate) parameters: u64,
    /// One past the last usable address.
    pub(crate) end: u64,
}

impl AddressMap {
    /// Where generic addresses reach shared, local and parameter memory.
    pub(crate) const fn windows(&self) -> Windows {
        Windows { shared: self.shared, local: self.local, parameters: self.parameters }
    }

    /// The map for addresses of 32 or 64 bits.
    pub(crate) const fn new(address_bits: u8) -> Self {
        if address_bits == 32 {
            Self {
                global: 0x1000_0000,
                shared: 0x0100_0000,
                local: 0x0200_0000,
                parameters: 0x0300_0000,
                end: 0xffff_0000,
            }
        } else {
            Self {
                global: 0x7f00_0000_0000,
                shared: 0x7e00_0000_0000,
                local: 0x7e00_0100_0000,
                parameters: 0x7e00_0200_0000,
                end: 0x7fff_ffff_0000,
            }
        }
    }
}

/// The buffer nearest to an address that lies in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Name of the buffer.
    pub name: String,
    /// Its first address.
    pub start: u64,
    /// One past its last address.
    pub end: u64,
    /// Address in question.
    pub address: u64,
}

impl Neighbour {
    /// Bytes between the address and the buffer: negative before its start, 0 or more beyond its
    /// end, `None` inside.
    pub fn distance(&self) -> Option<i128> {
        let (address, start) = (i128::from(self.address), i128::from(self.start));
        let end = i128::from(self.end);
        if address < start {
            Some(address - start)
        } else if address >= end {
            Some(address - end)
        } else {
            None
        }
    }
}

impl std::fmt::Display for Neighbour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, start, end, .. } = self;
        match self.distance() {
            None => write!(f, "it lies within")?,
            Some(0) => f.write_str("it lies right behind the end of")?,
            Some(distance) if distance < 0 => {
                write!(f, "it lies {} before", counted(-distance, "byte"))?;
            }
            Some(distance) => {
                write!(f, "it lies {} past the end of", counted(distance, "byte"))?;
            }
        }
        write!(f, " `{name}` [{start:#x}, {end:#x}), {}", counted(end - start, "byte"))
    }
}

/// Why device memory could not be allocated, placed or copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The memory limit of the device would be exceeded.
    #[error(
        "cannot allocate {} for `{name}`: {used} of {limit} bytes of device memory are in use",
        counted(*bytes, "byte")
    )]
    OutOfMemory {
        /// Name of the buffer.
        name: String,
        /// Unit: bytes.
        bytes: u64,
        /// Unit: bytes.
        used: u64,
        /// Unit: bytes.
        limit: u64,
    },
    /// Addresses of the module's width do not reach so far.
    #[error(
        "cannot allocate {} for `{name}`: {left} bytes are left that addresses of {bits} bits \
         reach",
        counted(*bytes, "byte")
    )]
    OutOfAddresses {
        /// Name of the buffer.
        name: String,
        /// Unit: bytes.
        bytes: u64,
        /// Unit: bytes.
        left: u64,
        /// Unit: bits.
        bits: u8,
    },
    /// The alignment is not a power of two, or absurd.
    #[error("alignment {align} of `{name}` is not a power of two up to 1 MiB")]
    BadAlignment {
        /// Name of the buffer.
        name: String,
        /// The alignment as given. Unit: bytes.
        align: u64,
    },
    /// A host copy outside of every buffer.
    #[error("host copy of {} at {address:#x} is not inside one buffer{}",
        counted(*bytes, "byte"), nearest.as_ref().map(|n| format!("; {n}")).unwrap_or_default())]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Unit: bytes.
        bytes: u64,
        /// The nearest buffer.
        nearest: Option<Neighbour>,
    },
    /// An initializer is larger than its variable.
    #[error("initial contents of `{name}` do not fit into its {}", counted(*size, "byte"))]
    BadInitializer {
        /// Name of the variable.
        name: String,
        /// Unit: bytes.
        size: u64,
    },
    /// The module's addresses have another width than the device's.
    #[error("the module has {module}-bit addresses, the device {device}-bit ones")]
    AddressWidth {
        /// Unit: bits.
        module: u8,
        /// Unit: bits.
        device: u8,
    },
}

/// What allocations of `malloc` are rounded up to. Unit: bytes.
const HEAP_UNIT: u64 = 16;

/// One allocation.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) data: Vec<u8>,
    pub(crate) writable: bool,
}

impl Buffer {
    fn end(&self) -> u64 {
        self.start + self.data.len() as u64
    }
}

/// A loaded module, as a number that [`crate::Executable::set_module`] takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleHandle(pub(crate) usize);

/// Addresses of a module's variables, by variable number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) addresses: Vec<Option<u64>>,
}

/// Global memory and what is in it.
///
/// Cost: looking an address up is a binary search over the buffers, and one comparison when it hits
/// the same buffer as the last time.
#[derive(Clone, Debug)]
pub struct Device {
    // Invariants: sorted by `start`; consecutive buffers are at least GUARD_BYTES apart; ends lie
    // below `map.end`.
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) modules: Vec<Symbols>,
    pub(crate) map: AddressMap,
    address_bits: u8,
    next: u64,
    used: u64,
    limit: u64,
    last: usize,
    /// Textures, surfaces and samplers, by handle or by the address of their reference.
    objects: FxHashMap<u64, Named>,
    /// Handles given so far.
    handles: u64,
    /// Allocations of `malloc` that were not freed: addresses, and bytes that they take.
    heap: BTreeMap<u64, u64>,
    /// Unit: bytes.
    heap_left: u64,
    /// Whether what CTAs see of each other changes.
    pub(crate) watch: Watch,
    /// Counts the CTAs that have run, for a program that shows progress.
    ctas_run: Option<Arc<AtomicU64>>,
}

impl Default for Device {
    fn default() -> Self {
        Self::new()
    }
}

impl Device {
    /// Most memory a device holds unless [`Device::with_limit`] says otherwise. Unit: bytes.
    pub const DEFAULT_LIMIT: u64 = 4 << 30;

    /// What threads can have of `malloc` at a time. Unit: bytes. Source: CUDA C++ Programming Guide
    /// 12.6, section "Dynamic Global Memory Allocation and Operations".
    pub const HEAP_BYTES: u64 = 8 << 20;

    /// `malloc` of a thread: the address, or 0 when the heap is used up or nothing is asked for.
    pub(crate) fn heap_alloc(&mut self, bytes: u64) -> u64 {
        let taken = bytes.checked_next_multiple_of(HEAP_UNIT);
        let Some(taken) = taken.filter(|&taken| bytes > 0 && taken <= self.heap_left) else {
            return 0;
        };
        let Ok(address) = self.alloc("heap of the device", bytes, HEAP_UNIT) else { return 0 };
        self.watch.change();
        self.heap.insert(address, taken);
        self.heap_left -= taken;
        address
    }

    /// `free` of a thread. False when no allocation of `malloc` begins there; 0 frees nothing.
    pub(crate) fn heap_free(&mut self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let Some(taken) = self.heap.remove(&address) else { return false };
        self.watch.change();
        self.heap_left += taken;
        self.free(address).is_ok()
    }

    /// An empty device with 64-bit addresses.
    pub fn new() -> Self {
        Self::with_limit(64, Self::DEFAULT_LIMIT)
    }

    /// An empty device. `address_bits` is the module's `.address_size` (anything but 32 means 64);
    /// `limit` is the most memory that can be allocated, in bytes.
    pub fn with_limit(address_bits: u8, limit: u64) -> Self {
        let map = AddressMap::new(address_bits);
        Self {
            buffers: Vec::new(),
            modules: Vec::new(),
            map,
            address_bits: if address_bits == 32 { 32 } else { 64 },
            next: map.global,
            used: 0,
            limit,
            last: 0,
            objects: FxHashMap::default(),
            handles: 0,
            heap: BTreeMap::new(),
            heap_left: Self::HEAP_BYTES,
            watch: Watch::default(),
            ctas_run: None,
        }
    }

    /// Adds 1 to `counter` for each CTA that runs from now on.
    pub fn count_ctas(&mut self, counter: Option<Arc<AtomicU64>>) {
        self.ctas_run = counter;
    }

    /// A CTA has run.
    pub(crate) fn ran_cta(&self) {
        if let Some(counter) = &self.ctas_run {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Allocates zeroed memory and returns its address, a multiple of `align` and of 256. The name
    /// appears in messages. Addresses are never given twice: one of a freed buffer always faults.
    ///
    /// # Errors
    /// When the device's memory or address space is used up, or the alignment is no power of two.
    pub fn alloc(&mut self, name: &str, bytes: u64, align: u64) -> Result<u64, DeviceError> {
        self.place(name, bytes, align, true)
    }

    fn place(
        &mut self,
        name: &str,
        bytes: u64,
        align: u64,
        writable: bool,
    ) -> Result<u64, DeviceError> {
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(DeviceError::BadAlignment { name: name.to_owned(), align });
        }
        let name = name.to_owned();
        let used = self.used.saturating_add(bytes);
        let mut data = Vec::new();
        let reserved = used <= self.limit
            && data.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX)).is_ok();
        if !reserved {
            let (used, limit) = (self.used, self.limit);
            return Err(DeviceError::OutOfMemory { name, bytes, used, limit });
        }
        let start = self.next.next_multiple_of(align.max(MIN_ALIGN));
        let left = self.map.end.saturating_sub(GUARD_BYTES).saturating_sub(start);
        if bytes > left {
            let bits = self.address_bits;
            return Err(DeviceError::OutOfAddresses { name, bytes, left, bits });
        }
        data.resize(bytes as usize, 0);
        self.used = used;
        self.next = start + bytes + GUARD_BYTES;
        self.buffers.push(Buffer { name, start, data, writable });
        Ok(start)
    }

    /// Frees the buffer that starts at `address`.
    ///
    /// # Errors
    /// When no buffer starts there.
    pub fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        let Ok(index) = self.buffers.binary_search_by_key(&address, |buffer| buffer.start) else {
            return Err(self.outside(address, 0));
        };
        let buffer = self.buffers.remove(index);
        self.used -= buffer.data.len() as u64;
        self.last = 0;
        Ok(())
    }

    /// The bytes at an address.
    ///
    /// # Errors
    /// When they do not lie inside one buffer.
    pub fn read(&self, address: u64, bytes: u64) -> Result<&[u8], DeviceError> {
        let found = self.search(address).and_then(|index| {
            let buffer = &self.buffers[index];
            let first = usize::try_from(address - buffer.start).ok()?;
            buffer.data.get(first..first.checked_add(usize::try_from(bytes).ok()?)?)
        });
        found.ok_or_else(|| self.outside(address, bytes))
    }

    /// Copies bytes to an address. The host may write constant memory too.
    ///
    /// # Errors
    /// When they do not lie inside one buffer; nothing is written then.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let found = self.search(address).and_then(|index| {
            let buffer = &mut self.buffers[index];
            let first = usize::try_from(address - buffer.start).ok()?;
            buffer.data.get_mut(first..first.checked_add(bytes.len())?)
        });
        if let Some(target) = found {
            target.copy_from_slice(bytes);
            return Ok(());
        }
        Err(self.outside(address, bytes.len() as u64))
    }

    fn outside(&self, address: u64, bytes: u64) -> DeviceError {
        DeviceError::OutOfBounds { address, bytes, nearest: self.nearest(address) }
    }

    /// The buffer that an address lies in; its end counts as inside for accesses of no bytes.
    fn search(&self, address: u64) -> Option<usize> {
        let after = self.buffers.partition_point(|buffer| buffer.start <= address);
        let index = after.checked_sub(1)?;
        (address <= self.buffers[index].end()).then_some(index)
    }

    /// The buffer that an address lies in, remembering it for the next time.
    #[inline]
    pub(crate) fn find(&mut self, address: u64) -> Option<usize> {
        if let Some(buffer) = self.buffers.get(self.last)
            && address.wrapping_sub(buffer.start) < buffer.data.len() as u64
        {
            return Some(self.last);
        }
        let index = self.search(address)?;
        self.last = index;
        Some(index)
    }

    /// The buffer nearest to an address.
    pub(crate) fn nearest(&self, address: u64) -> Option<Neighbour> {
        let after = self.buffers.partition_point(|buffer| buffer.start <= address);
        let around = &self.buffers[after.saturating_sub(1)..(after + 1).min(self.buffers.len())];
        let neighbour = |buffer: &Buffer| Neighbour {
            name: buffer.name.clone(),
            start: buffer.start,
            end: buffer.end(),
            address,
        };
        around
            .iter()
            .map(neighbour)
            .min_by_key(|neighbour| neighbour.distance().map_or(0, i128::unsigned_abs))
    }

    /// Places a module's global and constant variables and initialises them.
    ///
    /// Shared variables have no address here: each CTA has its own. External ones of global or
    /// constant space are placed as if this module defined them.
    ///
    /// # Errors
    /// When memory is used up or an initializer does not fit.
    pub fn load_module(&mut self, module: &Module) -> Result<ModuleHandle, DeviceError> {
        if module.address_bits != self.address_bits && module.address_bits != 0 {
            return Err(DeviceError::AddressWidth {
                module: module.address_bits,
                device: self.address_bits,
            });
        }
        let mut addresses = Vec::with_capacity(module.variables.len());
        for variable in &module.variables {
            addresses.push(self.place_variable(variable)?);
        }
        for (variable, address) in module.variables.iter().zip(&addresses) {
            if let (Some(initial), Some(address)) = (&variable.initial, *address) {
                self.relocate(variable, initial, address, &addresses)?;
            }
        }
        self.modules.push(Symbols { addresses });
        Ok(ModuleHandle(self.modules.len() - 1))
    }

    fn place_variable(&mut self, variable: &Variable) -> Result<Option<u64>, DeviceError> {
        let writable = match variable.space {
            StateSpace::Global => true,
            StateSpace::Const => false,
            _ => return Ok(None),
        };
        let (name, align) = (&variable.name, u64::from(variable.align.max(1)));
        let address = self.place(name, variable.size, align, writable)?;
        self.declare_references(variable, address);
        if let Some(initial) = &variable.initial {
            let misfit = || DeviceError::BadInitializer { name: name.clone(), size: variable.size };
            if initial.bytes.len() as u64 > variable.size {
                return Err(misfit());
            }
            self.write(address, &initial.bytes).map_err(|_| misfit())?;
        }
        Ok(Some(address))
    }

    fn relocate(
        &mut self,
        variable: &Variable,
        initial: &Initializer,
        address: u64,
        addresses: &[Option<u64>],
    ) -> Result<(), DeviceError> {
        for field in &initial.addresses {
            let target = match field.symbol {
                Symbol::Module(id) => addresses.get(id.index()).copied().flatten().unwrap_or(0),
                Symbol::Function(id) => id.address(),
                Symbol::Local(_) => 0,
            };
            let address_there = target.wrapping_add(field.addend as u64);
            let bytes = address_there.checked_shr(field.shift.into()).unwrap_or(0).to_le_bytes();
            let fits = u64::from(field.size) <= 8
                && field.offset.checked_add(u64::from(field.size)) <= Some(variable.size);
            if !fits {
                let (name, size) = (variable.name.clone(), variable.size);
                return Err(DeviceError::BadInitializer { name, size });
            }
            self.write(address + field.offset, &bytes[..usize::from(field.size)])?;
        }
        Ok(())
    }

    /// The address of a module's variable, by name; `None` when it has none (shared variables).
    pub fn variable(&self, handle: ModuleHandle, module: &Module, name: &str) -> Option<u64> {
        let index = module.variables.iter().position(|variable| variable.name == name)?;
        self.modules.get(handle.0)?.addresses.get(index).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_apart_aligned_and_zero() {
        let mut device = Device::new();
        let a = device.alloc("a", 100, 4).unwrap();
        let b = device.alloc("b", 8, 1024).unwrap();
        assert_eq!(a % 256, 0);
        assert_eq!(b % 1024, 0);
        assert!(b >= a + 100 + GUARD_BYTES);
        assert_eq!(device.read(a, 100).unwrap(), &[0; 100]);
        device.write(a + 96, &[1, 2, 3, 4]).unwrap();
        assert_eq!(device.read(a + 97, 3).unwrap(), &[2, 3, 4]);
    }

    #[test]
    fn copies_across_an_end_name_the_buffer_and_change_nothing() {
        let mut device = Device::new();
        let a = device.alloc("a", 16, 1).unwrap();
        let error = device.write(a + 14, &[1, 2, 3, 4]).unwrap_err();
        assert!(error.to_string().contains("`a`"), "{error}");
        assert_eq!(device.read(a, 16).unwrap(), &[0; 16]);
        assert!(device.read(a, u64::MAX).is_err());
        assert!(device.read(a + 17, 0).is_err());
        assert_eq!(device.read(a + 16, 0).unwrap(), &[0u8; 0]);
    }

    #[test]
    fn nearest_buffer_and_distance() {
        let mut device = Device::new();
        assert_eq!(device.nearest(5), None);
        let a = device.alloc("a", 16, 1).unwrap();
        let b = device.alloc("b", 16, 1).unwrap();
        let near = |address| {
            let neighbour = device.nearest(address).unwrap();
            (neighbour.name.clone(), neighbour.distance())
        };
        assert_eq!(near(0), ("a".to_owned(), Some(-i128::from(a))));
        assert_eq!(near(a + 3), ("a".to_owned(), None));
        assert_eq!(near(a + 16), ("a".to_owned(), Some(0)));
        assert_eq!(near(b - 1), ("b".to_owned(), Some(-1)));
        assert_eq!(near(b + 20), ("b".to_owned(), Some(4)));
    }

    #[test]
    fn a_freed_address_is_not_reused() {
        let mut device = Device::new();
        let a = device.alloc("a", 16, 1).unwrap();
        device.free(a).unwrap();
        assert!(device.read(a, 1).is_err());
        assert!(device.free(a).is_err());
        assert_ne!(device.alloc("b", 16, 1).unwrap(), a);
    }

    #[test]
    fn limits_are_errors() {
        let mut device = Device::with_limit(64, 1000);
        assert!(matches!(
            device.alloc("big", 1001, 1),
            Err(DeviceError::OutOfMemory { used: 0, limit: 1000, .. })
        ));
        assert!(device.alloc("huge", u64::MAX, 1).is_err());
        assert!(matches!(device.alloc("odd", 8, 3), Err(DeviceError::BadAlignment { .. })));
        let mut small = Device::with_limit(32, Device::DEFAULT_LIMIT);
        let address = small.alloc("a", 1 << 20, 1).unwrap();
        assert!(address < 1 << 32);
        let error = small.alloc("b", 0xf000_0000, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot allocate 4026531840 bytes for `b`: 4025409536 bytes are left that addresses of \
             32 bits reach"
        );
        // The last bytes can be had, and then nothing.
        small.next = small.map.end - GUARD_BYTES - 512;
        assert!(matches!(
            small.alloc("c", 513, 1),
            Err(DeviceError::OutOfAddresses { left: 512, bits: 32, .. })
        ));
        small.alloc("c", 512, 1).unwrap();
        assert!(small.alloc("d", 1, 1).is_err());
    }
}
