//! The simulated main register files, behind a safe face: one call runs a batch of clocks.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// Banks.
pub const BANKS: usize = 16;

/// The configuration ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Configuration {
    /// Entries of the write pool, 0 without one.
    pub pool_entries: u8,
    /// Split bank write.
    pub split: bool,
    /// Cycles of a write.
    pub write_cycles: u8,
    /// Registers of a warp.
    pub registers: u8,
}

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
    /// What comes back with the response.
    pub tag: u8,
    /// The register.
    pub register: u32,
    /// The lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A response is there; the ports below mean something.
    pub valid: bool,
    /// Its operation.
    pub op: u8,
    /// What became of it, as the hardware codes it.
    pub outcome: u8,
    /// Entries demoted or given up.
    pub count: u8,
    /// A bank was read while it was written.
    pub beside_write: bool,
    /// Clocks that it waited for a bank.
    pub waited: u8,
    /// The request's.
    pub tag: u8,
}

/// A bank as the debug port shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Bank {
    /// Clocks that its write still takes.
    pub write_busy: u8,
    /// The half of its last write.
    pub written: u8,
}

/// One elaboration of the hardware: `docs/hw/main_register_file.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Entries of the write pool.
    pub entries: usize,
    /// Warps.
    pub warps: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// As the prototype has it.
pub const USUAL: Elaboration = Elaboration { index: 0, entries: 60, warps: 8, lanes: 4 };
/// Few entries.
pub const SMALL: Elaboration = Elaboration { index: 1, entries: 8, warps: 8, lanes: 4 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 2, entries: 2, warps: 4, lanes: 32 };

unsafe extern "C" {
    fn strata_main_new(elaboration: u32) -> *mut c_void;
    fn strata_main_delete(main: *mut c_void);
    fn strata_main_reset(main: *mut c_void, configuration: Configuration);
    fn strata_main_clear(main: *mut c_void, configuration: Configuration);
    fn strata_main_run(
        main: *mut c_void,
        inputs: *const Inputs,
        data_in: *const u32,
        outputs: *mut Outputs,
        data_out: *mut u32,
        clocks: usize,
    );
    fn strata_main_state(main: *mut c_void, slots: *mut PoolSlot, banks: *mut Bank);
}

/// A simulated main register file.
#[derive(Debug)]
pub struct Rtl {
    elaboration: Elaboration,
    main: *mut c_void,
}

impl Rtl {
    /// Builds it, resets it and clears it with a configuration.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn new(elaboration: Elaboration, configuration: Configuration) -> Self {
        // SAFETY: returns a new object of an elaboration that is there; only this value holds it.
        let mut rtl = Self { elaboration, main: unsafe { strata_main_new(elaboration.index) } };
        rtl.reset(configuration);
        rtl
    }

    /// Resets it and clears it with a configuration.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn reset(&mut self, configuration: Configuration) {
        assert!(usize::from(configuration.pool_entries) <= self.elaboration.entries);
        // SAFETY: `main` is what `strata_main_new` has made.
        unsafe { strata_main_reset(self.main, configuration) }
    }

    /// Clears it with a configuration, in a clock without a request. Nothing may be under way.
    ///
    /// # Panics
    ///
    /// When it has fewer entries.
    pub fn clear(&mut self, configuration: Configuration) {
        assert!(usize::from(configuration.pool_entries) <= self.elaboration.entries);
        // SAFETY: as above.
        unsafe { strata_main_clear(self.main, configuration) }
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
        // SAFETY: `main` as above; the structs are laid out as the shim's, which writes 0 and 1 to
        // `bool`s; the four slices have the lengths that it goes through, as asserted above.
        unsafe {
            strata_main_run(
                self.main,
                inputs.as_ptr(),
                data_in.as_ptr(),
                outputs.as_mut_ptr(),
                data_out.as_mut_ptr(),
                inputs.len(),
            );
        }
    }

    /// All entries of the write pool, and all banks.
    pub fn state(&mut self) -> ([PoolSlot; MAX_SLOTS], [Bank; BANKS]) {
        let mut slots = [PoolSlot::default(); MAX_SLOTS];
        let mut banks = [Bank::default(); BANKS];
        // SAFETY: `main` as above; the shim writes as many slots as there are entries, fewer than
        // there is room for, all banks, and 0 and 1 to `bool`s.
        unsafe { strata_main_state(self.main, slots.as_mut_ptr(), banks.as_mut_ptr()) }
        (slots, banks)
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: `main` as above, and nobody uses it afterwards.
        unsafe { strata_main_delete(self.main) }
    }
}
