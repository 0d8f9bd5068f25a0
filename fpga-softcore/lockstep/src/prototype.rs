//! The simulated prototype: one call makes one access of its bus.

use crate::harness;
pub use crate::ports::prototype::*;

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
