//! An ns16550, whose line has no speed where it is emulated.

use crate::device::Device;
use crate::line::Port;

/// Data, queue control and line status, a byte each.
const DATA: usize = 0;
const QUEUE_CONTROL: usize = 2;
const LINE_STATUS: usize = 5;
/// The queues of 16 bytes are on.
const QUEUES_ON: u8 = 1;
/// A byte has come.
const DATA_READY: u8 = 1;
/// The transmitter takes a byte.
const TRANSMITTER_EMPTY: u8 = 0x20;

/// The port.
#[derive(Clone, Copy, Debug)]
pub struct Ns16550(Device);

impl Ns16550 {
    /// Switches the queues on.
    pub fn new(device: Device) -> Self {
        device.write_byte(QUEUE_CONTROL, QUEUES_ON);
        Self(device)
    }

    fn has(self, status: u8) -> usize {
        usize::from(self.0.read_byte(LINE_STATUS) & status != 0)
    }
}

impl Port for Ns16550 {
    fn came(&self) -> usize {
        self.has(DATA_READY)
    }

    fn take(&self) -> u8 {
        self.0.read_byte(DATA)
    }

    fn room(&self) -> usize {
        self.has(TRANSMITTER_EMPTY)
    }

    fn put(&self, byte: u8) {
        self.0.write_byte(DATA, byte);
    }
}
