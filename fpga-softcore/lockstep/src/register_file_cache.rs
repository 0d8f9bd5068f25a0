//! The simulated register file caches, behind a safe face: one call runs a batch of clocks.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

/// Most entries that [`Outputs`] has room for.
pub const MAX_WAYS: usize = 16;

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
    /// Its last-use mark.
    pub last_use: bool,
    /// Another operand of the instruction follows.
    pub more: bool,
    /// The response is read.
    pub ready: bool,
    /// Whose state is shown.
    pub debug_warp: u8,
    /// Nothing.
    pub unused: u8,
    /// The request's register.
    pub register: u32,
    /// Its lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data; the state is that at the end of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A response stands; the ports up to `victim_lanes` mean something.
    pub valid: bool,
    /// Its outcome, as the hardware codes it.
    pub outcome: u8,
    /// The request is done.
    pub last: bool,
    /// The way concerned.
    pub way: u8,
    /// There is a victim.
    pub victim: bool,
    /// It is to be written back.
    pub writeback: bool,
    /// Nothing.
    pub unused: u8,
    /// Lanes that the entry gave or took.
    pub served: u32,
    /// Lanes of the main register file.
    pub missing: u32,
    /// Ways given up.
    pub dropped: u32,
    /// The victim's register.
    pub victim_register: u32,
    /// Its lanes.
    pub victim_lanes: u32,
    /// Ways that hold something; the others' fields below mean nothing.
    pub occupied: u32,
    /// Ways that are dirty.
    pub dirty: u32,
    /// Valid lanes of each way.
    pub lane_masks: [u32; MAX_WAYS],
    /// Register of each way.
    pub registers: [u16; MAX_WAYS],
    /// Age of each way.
    pub ages: [u8; MAX_WAYS],
}

type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Reset = unsafe extern "C" fn(*mut c_void, u8, bool, bool);
type Run =
    unsafe extern "C" fn(*mut c_void, *const Inputs, *const u32, *mut Outputs, *mut u32, usize);

/// One elaboration of the hardware: `docs/hw/register_file_cache.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    /// Warps that have a cache.
    pub warps: usize,
    /// Entries of each.
    pub entries: usize,
    /// Lanes of a register.
    pub lanes: usize,
    new: New,
    delete: Delete,
    reset: Reset,
    run: Run,
}

macro_rules! elaborations {
    ($($name:ident: $warps:literal $entries:literal $lanes:literal
        $new:ident $delete:ident $reset:ident $run:ident;)*) => {
        unsafe extern "C" {
            $(
                fn $new() -> *mut c_void;
                fn $delete(cache: *mut c_void);
                fn $reset(cache: *mut c_void, entries: u8, lru: bool, liveness: bool);
                fn $run(
                    cache: *mut c_void,
                    inputs: *const Inputs,
                    data_in: *const u32,
                    outputs: *mut Outputs,
                    data_out: *mut u32,
                    clocks: usize,
                );
            )*
        }
        $(
            #[doc = concat!(
                $warps, " warps, ", $entries, " entries, ", $lanes, " lanes."
            )]
            pub const $name: Elaboration = Elaboration {
                warps: $warps,
                entries: $entries,
                lanes: $lanes,
                new: $new,
                delete: $delete,
                reset: $reset,
                run: $run,
            };
        )*
    };
}

elaborations! {
    LARGEST: 8 13 4 cache_8_13_4_new cache_8_13_4_delete cache_8_13_4_reset cache_8_13_4_run;
    USUAL: 8 6 4 cache_8_6_4_new cache_8_6_4_delete cache_8_6_4_reset cache_8_6_4_run;
    WIDE: 2 3 32 cache_2_3_32_new cache_2_3_32_delete cache_2_3_32_reset cache_2_3_32_run;
    SMALLEST: 1 1 1 cache_1_1_1_new cache_1_1_1_delete cache_1_1_1_reset cache_1_1_1_run;
}

/// A simulated register file cache.
#[derive(Debug)]
pub struct Rtl {
    elaboration: Elaboration,
    cache: *mut c_void,
}

impl Rtl {
    /// Builds it and resets it with a configuration.
    pub fn new(elaboration: Elaboration, entries: u8, lru: bool, liveness: bool) -> Self {
        // SAFETY: takes nothing, and returns a new object that only this value holds.
        let cache = unsafe { (elaboration.new)() };
        let mut rtl = Self { elaboration, cache };
        rtl.reset(entries, lru, liveness);
        rtl
    }

    /// Resets it with a configuration.
    pub fn reset(&mut self, entries: u8, lru: bool, liveness: bool) {
        // SAFETY: `cache` is the object that `new` of the same elaboration has made.
        unsafe { (self.elaboration.reset)(self.cache, entries, lru, liveness) }
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
        let exists = |warp: u8| usize::from(warp) < warps;
        assert!(inputs.iter().all(|inputs| exists(inputs.warp) && exists(inputs.debug_warp)));
        // SAFETY: `cache` as above; the structs are laid out as the shim's, which writes 0 and 1 to
        // `bool`s; the four slices have the lengths that it goes through, as asserted above.
        unsafe {
            (self.elaboration.run)(
                self.cache,
                inputs.as_ptr(),
                data_in.as_ptr(),
                outputs.as_mut_ptr(),
                data_out.as_mut_ptr(),
                inputs.len(),
            );
        }
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: `cache` as above, and nobody uses it afterwards.
        unsafe { (self.elaboration.delete)(self.cache) }
    }
}
