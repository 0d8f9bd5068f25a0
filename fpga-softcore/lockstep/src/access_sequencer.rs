//! The simulated access sequencer, behind a safe face: one call runs a batch of commands.
#![expect(unsafe_code, reason = "calls the C++ that Verilator has made")]

use core::ffi::c_void;

use strata_core::prototype::command::Command;
use strata_core::prototype::counters::{COUNTERS, PrototypeCounters};
use strata_core::prototype::regmap::field;
use strata_core::prototype::settings::Settings;
use strata_core::units::LaneMask;

pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// Most warps.
pub const MAX_WARPS: usize = 8;
/// Most entries of a warp's cache.
pub const MAX_WAYS: usize = 16;

/// A command as the shim takes it: the bus's word has no room for the lanes of whole warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCommand {
    /// All fields but the lanes.
    word: u32,
    lanes: u32,
}

impl PortCommand {
    /// The command's, if the bus can carry all but its lanes.
    pub fn new(command: Command) -> Option<Self> {
        let LaneMask(lanes) = command.lanes;
        let word = Command { lanes: LaneMask::EMPTY, ..command }.pack()?;
        Some(Self { word, lanes })
    }

    const fn warp(self) -> usize {
        field::COMMAND_WARP.get(self.word) as usize
    }
}

/// An outcome, and the clock in which it stood, counted from the first of the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortOutcome {
    /// As on the bus.
    pub word: u32,
    /// The clock.
    pub clock: u32,
}

/// A warp's cache as the debug port shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCache {
    /// Ways that hold something; the others' fields below mean nothing.
    pub occupied: u16,
    /// Ways that are dirty.
    pub dirty: u16,
    /// Age of each way, 0 the oldest.
    pub ages: [u8; MAX_WAYS],
    /// Register of each way.
    pub registers: [u16; MAX_WAYS],
    /// Valid lanes of each way.
    pub lanes: [u32; MAX_WAYS],
}

/// One elaboration of the hardware: `docs/hw/access_sequencer.md` names the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elaboration {
    index: u32,
    /// Warps.
    pub warps: usize,
    /// Entries of a warp's cache.
    pub cache: usize,
    /// Entries of the write pool.
    pub pool: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// Every size that a paper measures fits.
pub const LARGEST: Elaboration = Elaboration { index: 0, warps: 8, cache: 13, pool: 60, lanes: 4 };
/// The usual cache, and a small pool.
pub const USUAL: Elaboration = Elaboration { index: 1, warps: 8, cache: 6, pool: 24, lanes: 4 };
/// As little as can be.
pub const SMALLEST: Elaboration = Elaboration { index: 2, warps: 3, cache: 1, pool: 1, lanes: 2 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 3, warps: 4, cache: 3, pool: 5, lanes: 32 };

unsafe extern "C" {
    fn strata_sequencer_new(elaboration: u32) -> *mut c_void;
    fn strata_sequencer_delete(sequencer: *mut c_void);
    fn strata_sequencer_reset(sequencer: *mut c_void, settings: u32);
    fn strata_sequencer_run(
        sequencer: *mut c_void,
        commands: *const PortCommand,
        data_in: *const u32,
        outcomes: *mut PortOutcome,
        data_out: *mut u32,
        count: usize,
    ) -> usize;
    fn strata_sequencer_state(sequencer: *mut c_void, caches: *mut PortCache, slots: *mut PoolSlot);
    fn strata_sequencer_counters(sequencer: *mut c_void, counters: *mut u64, count: u32);
}

/// A simulated access sequencer.
#[derive(Debug)]
pub struct Rtl {
    elaboration: Elaboration,
    sequencer: *mut c_void,
}

impl Rtl {
    /// Builds it and resets it with settings.
    ///
    /// # Panics
    ///
    /// When the settings ask for more than was elaborated.
    pub fn new(elaboration: Elaboration, settings: &Settings) -> Self {
        // SAFETY: returns a new object of an elaboration that is there; only this value holds it.
        let sequencer = unsafe { strata_sequencer_new(elaboration.index) };
        let mut rtl = Self { elaboration, sequencer };
        rtl.reset(settings);
        rtl
    }

    /// What was elaborated.
    pub const fn elaboration(&self) -> Elaboration {
        self.elaboration
    }

    /// Resets it with settings.
    ///
    /// # Panics
    ///
    /// When the settings ask for more than was elaborated.
    pub fn reset(&mut self, settings: &Settings) {
        let entries = settings.cache.map_or(0, |cache| cache.entries);
        assert!(usize::from(entries) <= self.elaboration.cache);
        assert!(usize::from(settings.write_pool_entries) <= self.elaboration.pool);
        let word = settings.pack().expect("settings that the bus can carry");
        // SAFETY: `sequencer` is what `strata_sequencer_new` has made.
        unsafe { strata_sequencer_reset(self.sequencer, word) }
    }

    /// Runs a batch back to back, with `lanes` words of data a command, in and out, and then until
    /// all banks are idle. Returns how many outcomes came; they are fewer than commands if the
    /// hardware hangs.
    ///
    /// # Panics
    ///
    /// When the lengths do not fit each other, or a warp is not there.
    pub fn run(
        &mut self,
        commands: &[PortCommand],
        data_in: &[u32],
        outcomes: &mut [PortOutcome],
        data_out: &mut [u32],
    ) -> usize {
        let Elaboration { lanes, warps, .. } = self.elaboration;
        assert_eq!(commands.len() * lanes, data_in.len());
        assert_eq!(commands.len() * lanes, data_out.len());
        assert_eq!(commands.len(), outcomes.len());
        assert!(commands.iter().all(|command| command.warp() < warps));
        // SAFETY: `sequencer` as above; the structs are laid out as the shim's; the four slices
        // have the lengths that it goes through, as asserted above.
        unsafe {
            strata_sequencer_run(
                self.sequencer,
                commands.as_ptr(),
                data_in.as_ptr(),
                outcomes.as_mut_ptr(),
                data_out.as_mut_ptr(),
                commands.len(),
            )
        }
    }

    /// All caches, and all entries of the write pool.
    pub fn state(&mut self) -> ([PortCache; MAX_WARPS], [PoolSlot; MAX_SLOTS]) {
        let mut caches = [PortCache::default(); MAX_WARPS];
        let mut slots = [PoolSlot::default(); MAX_SLOTS];
        // SAFETY: `sequencer` as above; the shim writes as many caches, ways and slots as were
        // elaborated, no more than there is room for, and 0 and 1 to `bool`s.
        unsafe {
            strata_sequencer_state(self.sequencer, caches.as_mut_ptr(), slots.as_mut_ptr());
        }
        (caches, slots)
    }

    /// All counters.
    pub fn counters(&mut self) -> PrototypeCounters {
        let mut counters = PrototypeCounters::default();
        // SAFETY: `sequencer` as above; there is room for so many counters.
        unsafe {
            let all = counters.0.as_mut_ptr();
            strata_sequencer_counters(self.sequencer, all, COUNTERS as u32);
        }
        counters
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        // SAFETY: `sequencer` as above, and nobody uses it afterwards.
        unsafe { strata_sequencer_delete(self.sequencer) }
    }
}
