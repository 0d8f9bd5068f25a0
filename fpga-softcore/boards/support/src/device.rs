//! Registers of a device at an address: the one place that touches them.
#![expect(unsafe_code, reason = "registers of devices lie at addresses")]

/// A device, by the address of its first register.
#[derive(Clone, Copy, Debug)]
pub struct Device(usize);

impl Device {
    /// The device at an address of the board's memory map.
    pub const fn at(address: usize) -> Self {
        Self(address)
    }

    /// Reads the register at an offset. Unit: bytes.
    #[inline(always)]
    pub fn read(self, offset: usize) -> u32 {
        // SAFETY: aligned addresses of devices, whose accesses have no effect on memory.
        unsafe { ((self.0 + offset) as *const u32).read_volatile() }
    }

    /// Writes the register at an offset. Unit: bytes.
    #[inline(always)]
    pub fn write(self, offset: usize, word: u32) {
        // SAFETY: as above.
        unsafe { ((self.0 + offset) as *mut u32).write_volatile(word) }
    }

    /// Reads the register of a byte at an offset. Unit: bytes.
    #[inline(always)]
    pub fn read_byte(self, offset: usize) -> u8 {
        // SAFETY: as above.
        unsafe { ((self.0 + offset) as *const u8).read_volatile() }
    }

    /// Writes the register of a byte at an offset. Unit: bytes.
    #[inline(always)]
    pub fn write_byte(self, offset: usize, byte: u8) {
        // SAFETY: as above.
        unsafe { ((self.0 + offset) as *mut u8).write_volatile(byte) }
    }
}
