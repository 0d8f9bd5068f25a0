//! The simulated write pools, behind a safe face: one call runs a batch of clocks.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// The input ports in one clock, except data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Inputs {
    /// A request stands.
    pub valid: bool,
    /// Its operation, as the hardware codes it.
    pub op: u8,
    /// Its warp.
    pub warp: u8,
    /// The decision can be carried out.
    pub go: bool,
    /// The register's number, through all warps.
    pub number: u16,
    /// Nothing.
    pub unused: u16,
    /// The lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data. Count and lanes are those at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A decision stands; the ports from `op` on mean something.
    pub valid: bool,
    /// Its operation.
    pub op: u8,
    /// What becomes of it, as the hardware codes it.
    pub outcome: u8,
    /// A bank has to be read.
    pub read_bank: bool,
    /// A bank has to be written.
    pub write_bank: bool,
    /// Entries of the warp, if the decision was carried out.
    pub count: u8,
    /// Nothing.
    pub unused: u8,
    /// The register to read.
    pub read_number: u16,
    /// The register to write.
    pub write_number: u16,
    /// Lanes that the pool gives, or those to write to the bank, if the decision was carried out.
    pub lanes: u32,
}

/// One elaboration of the hardware: `docs/hw/write_pool.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Entries.
    pub entries: usize,
    /// Warps.
    pub warps: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// As the source has it.
pub const USUAL: Elaboration = Elaboration { index: 0, entries: 60, warps: 8, lanes: 4 };
/// Few entries.
pub const SMALL: Elaboration = Elaboration { index: 1, entries: 8, warps: 8, lanes: 4 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 2, entries: 2, warps: 2, lanes: 32 };
/// One entry of one lane.
pub const SMALLEST: Elaboration = Elaboration { index: 3, entries: 1, warps: 1, lanes: 1 };

/// As the source has it, and as it is synthesised: nothing is left out that changes nothing.
pub const SYNTHESISED: Elaboration = Elaboration { index: 4, ..USUAL };

unsafe extern "C" {
    fn strata_pool_new(elaboration: u32) -> *mut c_void;
    fn strata_pool_delete(pool: *mut c_void);
    fn strata_pool_reset(pool: *mut c_void, entries: u8);
    fn strata_pool_clear(pool: *mut c_void, entries: u8);
    fn strata_pool_run(
        pool: *mut c_void,
        inputs: *const Inputs,
        data_in: *const u32,
        outputs: *mut Outputs,
        data_out: *mut u32,
        clocks: usize,
    );
    fn strata_pool_state(pool: *mut c_void, slots: *mut PoolSlot);
}

/// A simulated write pool.
#[derive(Debug)]
pub struct Rtl {
    elaboration: Elaboration,
    pool: *mut c_void,
}

impl Rtl {
    /// Builds it, resets it and clears it with a number of entries.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn new(elaboration: Elaboration, entries: u8) -> Self {
        // SAFETY: returns a new object of an elaboration that is there; only this value holds it.
        let mut rtl = Self { elaboration, pool: unsafe { strata_pool_new(elaboration.index) } };
        rtl.reset(entries);
        rtl
    }

    /// Resets it and clears it with a number of entries.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn reset(&mut self, entries: u8) {
        assert!(usize::from(entries) <= self.elaboration.entries);
        // SAFETY: `pool` is what `strata_pool_new` has made.
        unsafe { strata_pool_reset(self.pool, entries) }
    }

    /// Clears it with a number of entries, in a clock without a request.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn clear(&mut self, entries: u8) {
        assert!(usize::from(entries) <= self.elaboration.entries);
        // SAFETY: as above.
        unsafe { strata_pool_clear(self.pool, entries) }
    }

    /// Runs a clock for each of `inputs`, with `lanes` words of data each, in and out.
    ///
    /// # Panics
    ///
    /// When the lengths do not fit each other, or a warp is not there.
    pub fn run(
        &mut self,
        inputs: &[Inputs],
        data_in: &[u32],
        outputs: &mut [Outputs],
        data_out: &mut [u32],
    ) {
        let Elaboration { lanes, warps, .. } = self.elaboration;
        assert_eq!(inputs.len() * lanes, data_in.len());
        assert_eq!(inputs.len() * lanes, data_out.len());
        assert_eq!(inputs.len(), outputs.len());
        assert!(inputs.iter().all(|inputs| usize::from(inputs.warp) < warps));
        // SAFETY: `pool` as above; the structs are laid out as the shim's, which writes 0 and 1 to
        // `bool`s; the four slices have the lengths that it goes through, as asserted above.
        unsafe {
            strata_pool_run(
                self.pool,
                inputs.as_ptr(),
                data_in.as_ptr(),
                outputs.as_mut_ptr(),
                data_out.as_mut_ptr(),
                inputs.len(),
            );
        }
    }

    /// All entries.
    pub fn state(&mut self) -> [PoolSlot; MAX_SLOTS] {
        let mut slots = [PoolSlot::default(); MAX_SLOTS];
        // SAFETY: `pool` as above; the shim writes as many slots as there are entries, fewer than
        // there is room for, and 0 and 1 to `bool`s.
        unsafe { strata_pool_state(self.pool, slots.as_mut_ptr()) }
        slots
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: `pool` as above, and nobody uses it afterwards.
        unsafe { strata_pool_delete(self.pool) }
    }
}
