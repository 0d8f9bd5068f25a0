//! The serial port: two queues of bytes behind two registers.

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};

use crate::device::Device;

const UART: Device = Device::at(0xf000_0000);
/// Read: the next byte, if one has come; write: a byte to send.
const DATA: usize = 0x0;
/// Received bytes in the lower half, room for bytes to send in the upper.
const STATUS: usize = 0x4;

/// The serial line.
pub struct Uart;

impl Uart {
    /// Bytes that have come.
    fn came() -> usize {
        UART.read(STATUS) as usize & 0xffff
    }

    /// Bytes that can be written at once. Range: 0 to the queue's size.
    fn room() -> usize {
        UART.read(STATUS) as usize >> 16
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Read for Uart {
    /// Waits for the first byte, and takes what else has come.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut came = Self::came();
        while came == 0 {
            came = Self::came();
        }
        let count = bytes.len().min(came);
        for place in &mut bytes[..count] {
            *place = UART.read(DATA) as u8;
        }
        Ok(count)
    }
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(Self::came() != 0)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut room = Self::room();
        while room == 0 {
            room = Self::room();
        }
        let count = bytes.len().min(room);
        for &byte in &bytes[..count] {
            UART.write(DATA, u32::from(byte));
        }
        Ok(count)
    }

    /// Queued is sent: the hardware goes on by itself.
    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl WriteReady for Uart {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(Self::room() != 0)
    }
}
