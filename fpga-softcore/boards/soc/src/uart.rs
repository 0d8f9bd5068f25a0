//! The serial port: two queues of bytes behind two registers.

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};

use crate::device::Device;

const UART: Device = Device::at(0xf000_0000);
/// Read: the next byte, or [`NOTHING`]; write: a byte to send.
const DATA: usize = 0x0;
/// Received bytes in the lower half, room for bytes to send in the upper.
const STATUS: usize = 0x4;
/// No byte has come.
const NOTHING: u32 = 1 << 31;

/// The serial line.
pub struct Uart;

impl Uart {
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
        let mut count = 0;
        for place in &mut *bytes {
            let mut word = UART.read(DATA);
            while word & NOTHING != 0 {
                if count > 0 {
                    return Ok(count);
                }
                word = UART.read(DATA);
            }
            *place = word as u8;
            count += 1;
        }
        Ok(count)
    }
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(UART.read(STATUS) & 0xffff != 0)
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
