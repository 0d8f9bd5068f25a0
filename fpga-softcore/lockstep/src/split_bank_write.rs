//! The simulated split bank write, behind a safe face: one call runs a batch of clocks.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

/// [`Inputs::start`]: the read starts.
pub const READ: u8 = 1;
/// [`Inputs::start`]: the write starts.
pub const WRITE: u8 = 2;

/// The input ports in one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Inputs {
    /// All banks become idle.
    pub clear: bool,
    /// Where a read would be.
    pub read_bank: u8,
    /// And in which half.
    pub read_subarray: u8,
    /// Where a write would be.
    pub write_bank: u8,
    /// And in which half.
    pub write_subarray: u8,
    /// What starts: [`READ`], [`WRITE`], both or nothing.
    pub start: u8,
    /// The bank that is shown.
    pub debug_bank: u8,
    /// Nothing.
    pub unused: u8,
}

/// The output ports in one clock; the state is that at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The read can start.
    pub can_read: bool,
    /// Its bank is being written.
    pub beside: bool,
    /// The write can start.
    pub can_write: bool,
    /// Nothing.
    pub unused: u8,
    /// Clocks that the read of the bank that is shown still takes.
    pub read_busy: u8,
    /// The half of its last read.
    pub read: u8,
    /// Clocks that its write still takes.
    pub write_busy: u8,
    /// The half of its last write.
    pub written: u8,
}

/// One elaboration of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Banks, a power of two.
    pub banks: u8,
}

/// As the main register file has it.
pub const USUAL: Elaboration = Elaboration { index: 0, banks: 16 };
/// Two banks.
pub const SMALLEST: Elaboration = Elaboration { index: 1, banks: 2 };

unsafe extern "C" {
    fn strata_split_new(elaboration: u32) -> *mut c_void;
    fn strata_split_delete(split: *mut c_void);
    fn strata_split_reset(split: *mut c_void, read_cycles: u8, write_cycles: u8, is_split: bool);
    fn strata_split_run(
        split: *mut c_void,
        inputs: *const Inputs,
        outputs: *mut Outputs,
        clocks: usize,
    );
}

/// A simulated split bank write.
#[derive(Debug)]
pub struct Rtl {
    elaboration: Elaboration,
    split: *mut c_void,
}

impl Rtl {
    /// Builds it and resets it with a configuration.
    pub fn new(elaboration: Elaboration, read_cycles: u8, write_cycles: u8, split: bool) -> Self {
        // SAFETY: returns a new object of an elaboration that is there; only this value holds it.
        let mut rtl = Self { elaboration, split: unsafe { strata_split_new(elaboration.index) } };
        rtl.reset(read_cycles, write_cycles, split);
        rtl
    }

    /// Resets it with a configuration.
    pub fn reset(&mut self, read_cycles: u8, write_cycles: u8, split: bool) {
        // SAFETY: `split` is what `strata_split_new` has made.
        unsafe { strata_split_reset(self.split, read_cycles, write_cycles, split) }
    }

    /// Runs a clock for each of `inputs`.
    ///
    /// # Panics
    ///
    /// When the lengths do not fit each other, or a bank is not there.
    pub fn run(&mut self, inputs: &[Inputs], outputs: &mut [Outputs]) {
        assert_eq!(inputs.len(), outputs.len());
        let exists = |bank| bank < self.elaboration.banks;
        assert!(inputs.iter().all(|it| exists(it.read_bank) && exists(it.write_bank)));
        assert!(inputs.iter().all(|it| exists(it.debug_bank)));
        // SAFETY: `split` as above; the structs are laid out as the shim's, which writes 0 and 1 to
        // `bool`s; both slices have the length that it goes through.
        unsafe {
            strata_split_run(self.split, inputs.as_ptr(), outputs.as_mut_ptr(), inputs.len());
        }
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: `split` as above, and nobody uses it afterwards.
        unsafe { strata_split_delete(self.split) }
    }
}
