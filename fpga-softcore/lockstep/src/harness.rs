//! Harness: every simulated block behind one safe interface. All unsafe code of this crate is here:
//! it calls the C++ in `shim` over Verilator's models.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

pub use crate::ports::{Block, Elaborated};
use crate::ports::{
    access_sequencer::AccessSequencer, main_register_file::MainRegisterFile, prototype::Prototype,
    register_file_cache::RegisterFileCache, split_bank_write::SplitBankWrite,
    write_pool::WritePool,
};

/// A block that has a shim.
///
/// # Safety
///
/// The shim of this number declares the block's structs as they are laid out here, and writes 0 and
/// 1 to `bool`s. All zeros are a value of outputs and state. A run accesses exactly the inputs,
/// outputs and words of data that it is given, and only blocks that [`Elaborated::index`] names are
/// made.
pub unsafe trait Shim: Block {
    /// The shim's number.
    const NUMBER: u32;
}

/// Shims, in the order of `shim/harness.cpp`.
macro_rules! shims {
    ($($number:literal $block:ty;)*) => {
        // SAFETY: `shim` has the same structs and order; sizes are compared when a block is made.
        $(unsafe impl Shim for $block {
            const NUMBER: u32 = $number;
        })*
    };
}

shims! {
    0 AccessSequencer;
    1 MainRegisterFile;
    2 Prototype;
    3 RegisterFileCache;
    4 SplitBankWrite;
    5 WritePool;
}

unsafe extern "C" {
    fn strata_block_new(shim: u32, elaboration: u32, sizes: *const [usize; 4]) -> *mut c_void;
    fn strata_block_delete(block: *mut c_void);
    fn strata_block_reset(block: *mut c_void, settings: *const c_void);
    fn strata_block_clear(block: *mut c_void, settings: *const c_void);
    fn strata_block_run(
        block: *mut c_void,
        inputs: *const c_void,
        data_in: *const u32,
        outputs: *mut c_void,
        data_out: *mut u32,
        count: usize,
    ) -> usize;
    fn strata_block_state(block: *mut c_void, state: *mut c_void);
    fn strata_block_counters(block: *mut c_void, counters: *mut u64, count: usize);
}

/// A simulated block.
#[derive(Debug)]
pub struct Rtl<B: Shim> {
    elaboration: B::Elaboration,
    block: NonNull<c_void>,
}

impl<B: Shim> Rtl<B> {
    /// Builds it and resets it with settings.
    ///
    /// # Panics
    ///
    /// When the hardware has no room for the settings.
    pub fn new(elaboration: B::Elaboration, settings: B::Settings) -> Self {
        let sizes = [
            size_of::<B::Settings>(),
            size_of::<B::Inputs>(),
            size_of::<B::Outputs>(),
            size_of::<B::State>(),
        ];
        // SAFETY: returns a new object of an elaboration that is there, or none; only this value
        // holds it.
        let block = unsafe { strata_block_new(B::NUMBER, elaboration.index(), &raw const sizes) };
        let block = NonNull::new(block).expect("the shim's structs are as large as these");
        let mut rtl = Self { elaboration, block };
        rtl.reset(settings);
        rtl
    }

    /// What was elaborated.
    pub const fn elaboration(&self) -> B::Elaboration {
        self.elaboration
    }

    /// Resets it with settings.
    ///
    /// # Panics
    ///
    /// When the hardware has no room for them.
    pub fn reset(&mut self, settings: B::Settings) {
        assert!(B::takes(&self.elaboration, &settings));
        // SAFETY: `block` is what `strata_block_new` has made; the settings are laid out as the
        // shim's.
        unsafe { strata_block_reset(self.block.as_ptr(), (&raw const settings).cast()) }
    }

    /// Takes settings over in a clock without a request. Nothing may be under way.
    ///
    /// # Panics
    ///
    /// When the hardware has no room for them.
    pub fn clear(&mut self, settings: B::Settings) {
        assert!(B::takes(&self.elaboration, &settings));
        // SAFETY: as above.
        unsafe { strata_block_clear(self.block.as_ptr(), (&raw const settings).cast()) }
    }

    /// Goes through `inputs`, with [`Elaborated::lanes`] words of data each, in and out. Returns
    /// how many outputs there are; they are fewer than inputs if the hardware hangs.
    ///
    /// # Panics
    ///
    /// When the lengths do not fit each other, or the inputs name a part that does not exist.
    pub fn run(
        &mut self,
        inputs: &[B::Inputs],
        data_in: &[u32],
        outputs: &mut [B::Outputs],
        data_out: &mut [u32],
    ) -> usize {
        let lanes = self.elaboration.lanes();
        assert_eq!(inputs.len() * lanes, data_in.len());
        assert_eq!(inputs.len() * lanes, data_out.len());
        assert_eq!(inputs.len(), outputs.len());
        assert!(inputs.iter().all(|inputs| B::exists(&self.elaboration, inputs)));
        // SAFETY: `block` as above; the structs are laid out as the shim's; the four slices have
        // the lengths that it goes through, as asserted above.
        unsafe {
            strata_block_run(
                self.block.as_ptr(),
                inputs.as_ptr().cast(),
                data_in.as_ptr(),
                outputs.as_mut_ptr().cast(),
                data_out.as_mut_ptr(),
                inputs.len(),
            )
        }
    }

    /// What the debug ports show.
    pub fn state(&mut self) -> B::State {
        let mut state = MaybeUninit::<B::State>::zeroed();
        // SAFETY: `block` as above; the shim writes to a struct that is laid out as its own, and
        // what it leaves is zeros, which are a value.
        unsafe {
            strata_block_state(self.block.as_ptr(), state.as_mut_ptr().cast());
            state.assume_init()
        }
    }

    /// The first counters of a block that has some.
    pub fn counters<const COUNT: usize>(&mut self) -> [u64; COUNT] {
        let mut counters = [0; COUNT];
        // SAFETY: `block` as above; there is room for this many counters.
        unsafe {
            strata_block_counters(self.block.as_ptr(), counters.as_mut_ptr(), COUNT);
        }
        counters
    }
}

impl<B: Shim> Drop for Rtl<B> {
    fn drop(&mut self) {
        // SAFETY: `block` as above, and it is not used afterwards.
        unsafe { strata_block_delete(self.block.as_ptr()) }
    }
}
