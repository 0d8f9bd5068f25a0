//! The serial port: two queues of bytes behind two registers.

use strata_board_support::{Device, Port};

const UART: Device = Device::at(0xf000_0000);
/// Read: the next byte, if one has come; write: a byte to send.
const DATA: usize = 0x0;
/// Received bytes in the lower half, room for bytes to send in the upper.
const STATUS: usize = 0x4;

/// The port.
pub struct Uart;

impl Port for Uart {
    fn came(&self) -> usize {
        UART.read(STATUS) as usize & 0xffff
    }

    fn take(&self) -> u8 {
        UART.read(DATA) as u8
    }

    fn room(&self) -> usize {
        UART.read(STATUS) as usize >> 16
    }

    fn put(&self, byte: u8) {
        UART.write(DATA, byte.into());
    }
}
