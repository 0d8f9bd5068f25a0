//! A CMSDK UART, whose line has no speed where it is emulated. Source: Arm's description of it.

use crate::device::Device;
use crate::line::Port;

/// Data, state, control and divisor, a word each.
const DATA: usize = 0x0;
const STATE: usize = 0x4;
const CONTROL: usize = 0x8;
const DIVISOR: usize = 0x10;
/// The transmitter takes no byte.
const TRANSMITTER_FULL: u32 = 0b01;
/// A byte has come.
const RECEIVER_FULL: u32 = 0b10;
/// Transmitter and receiver are on.
const BOTH_ON: u32 = 0b11;
/// The least divisor that the device accepts.
const FASTEST: u32 = 16;

/// The port.
#[derive(Clone, Copy, Debug)]
pub struct Cmsdk(Device);

impl Cmsdk {
    /// Switches transmitter and receiver on.
    pub fn new(device: Device) -> Self {
        device.write(DIVISOR, FASTEST);
        device.write(CONTROL, BOTH_ON);
        Self(device)
    }
}

impl Port for Cmsdk {
    fn came(&self) -> usize {
        usize::from(self.0.read(STATE) & RECEIVER_FULL != 0)
    }

    fn take(&self) -> u8 {
        self.0.read(DATA) as u8
    }

    fn room(&self) -> usize {
        usize::from(self.0.read(STATE) & TRANSMITTER_FULL == 0)
    }

    fn put(&self, byte: u8) {
        self.0.write(DATA, byte.into());
    }
}
