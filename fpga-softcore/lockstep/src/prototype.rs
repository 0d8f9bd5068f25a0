//! The simulated prototype: one call makes one access of its bus.

use crate::harness::{self, Block, Elaborated};

/// Warps that have registers.
pub const WARPS: usize = 8;
/// Entries of a warp's cache.
pub const CACHE: usize = 6;
/// Entries of the write pool.
pub const POOL: usize = 24;
/// Lanes of a register.
pub const LANES: usize = 4;

/// An access of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Access {
    /// 1 for a write.
    write: u32,
    address: u32,
    value: u32,
    /// Clocks without an access before it.
    pause: u32,
}

/// What the bus answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Answer {
    value: u32,
    /// Clocks that it took; 0 if none came.
    clocks: u32,
}

/// The one elaboration of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration;

impl Elaborated for Elaboration {
    fn index(&self) -> u32 {
        0
    }

    fn lanes(&self) -> usize {
        0
    }
}

/// The block.
#[derive(Debug)]
pub enum Prototype {}

impl Block for Prototype {
    type Elaboration = Elaboration;
    type Settings = ();
    type Inputs = Access;
    type Outputs = Answer;
    type State = ();

    fn takes(_: &Elaboration, (): &()) -> bool {
        true
    }

    fn exists(_: &Elaboration, _: &Access) -> bool {
        true
    }
}

/// A simulated prototype.
#[derive(Debug)]
pub struct Rtl {
    rtl: harness::Rtl<Prototype>,
    /// Clocks without an access until now.
    pause: u32,
}

impl Default for Rtl {
    fn default() -> Self {
        Self { rtl: harness::Rtl::new(Elaboration, ()), pause: 0 }
    }
}

impl Rtl {
    /// Writes a register. Returns the clocks that it took.
    ///
    /// # Panics
    ///
    /// When the bus does not answer.
    pub fn write(&mut self, address: u32, value: u32) -> u32 {
        self.access(Access { write: 1, address, value, pause: 0 }).clocks
    }

    /// Reads a register. Returns its value, and the clocks that it took.
    ///
    /// # Panics
    ///
    /// When the bus does not answer.
    pub fn read(&mut self, address: u32) -> (u32, u32) {
        let Answer { value, clocks } =
            self.access(Access { write: 0, address, value: 0, pause: 0 });
        (value, clocks)
    }

    /// Lets clocks go by without an access.
    pub const fn wait(&mut self, clocks: u32) {
        self.pause += clocks;
    }

    fn access(&mut self, access: Access) -> Answer {
        let pause = core::mem::take(&mut self.pause);
        let mut answers = [Answer::default()];
        self.rtl.run(&[Access { pause, ..access }], &[], &mut answers, &mut []);
        let [answer] = answers;
        assert_ne!(answer.clocks, 0, "no answer at {:#05x}", access.address);
        answer
    }
}
