//! The simulated prototype, behind a safe face: one call makes one access of its bus.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

/// Warps that have registers.
pub const WARPS: usize = 8;
/// Entries of a warp's cache.
pub const CACHE: usize = 6;
/// Entries of the write pool.
pub const POOL: usize = 24;
/// Lanes of a register.
pub const LANES: usize = 4;

unsafe extern "C" {
    fn strata_prototype_new() -> *mut c_void;
    fn strata_prototype_delete(prototype: *mut c_void);
    fn strata_prototype_wait(prototype: *mut c_void, clocks: u32);
    fn strata_prototype_access(
        prototype: *mut c_void,
        write: bool,
        address: u32,
        value: u32,
        answer: *mut u32,
    ) -> u32;
}

/// A simulated prototype.
#[derive(Debug)]
pub struct Rtl(*mut c_void);

impl Default for Rtl {
    fn default() -> Self {
        // SAFETY: takes nothing, and returns a new object that only this value holds.
        Self(unsafe { strata_prototype_new() })
    }
}

impl Rtl {
    /// Writes a register. Returns the clocks that it took.
    ///
    /// # Panics
    ///
    /// When the bus does not answer.
    pub fn write(&mut self, address: u32, value: u32) -> u32 {
        self.access(true, address, value).1
    }

    /// Reads a register. Returns its value, and the clocks that it took.
    ///
    /// # Panics
    ///
    /// When the bus does not answer.
    pub fn read(&mut self, address: u32) -> (u32, u32) {
        self.access(false, address, 0)
    }

    /// Lets clocks go by without an access.
    pub fn wait(&mut self, clocks: u32) {
        // SAFETY: the object is what `strata_prototype_new` has made.
        unsafe { strata_prototype_wait(self.0, clocks) }
    }

    fn access(&mut self, write: bool, address: u32, value: u32) -> (u32, u32) {
        let mut answer = 0;
        // SAFETY: the object as above; the shim writes one word to `answer`.
        let clocks =
            unsafe { strata_prototype_access(self.0, write, address, value, &raw mut answer) };
        assert_ne!(clocks, 0, "no answer at {address:#05x}");
        (answer, clocks)
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: the object as above, and nobody uses it afterwards.
        unsafe { strata_prototype_delete(self.0) }
    }
}
