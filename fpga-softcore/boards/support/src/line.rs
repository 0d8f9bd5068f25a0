//! A serial line over a port that reports how many bytes it has received and can send.

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};

/// A serial port.
pub trait Port {
    /// Received bytes; 1 if the port knows only that there are some.
    fn came(&self) -> usize;

    /// The next received byte.
    fn take(&self) -> u8;

    /// Bytes that can be sent at once; 1 if the port knows only that there is room.
    fn room(&self) -> usize;

    /// Sends a byte, for which there is room.
    fn put(&self, byte: u8);
}

/// The line of a port.
#[derive(Clone, Copy, Debug)]
pub struct Line<P>(pub P);

impl<P> ErrorType for Line<P> {
    type Error = Infallible;
}

impl<P: Port> Read for Line<P> {
    /// Waits for the first byte, and takes all other received bytes.
    #[inline]
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        while count < bytes.len() {
            let came = self.0.came();
            if came == 0 && count > 0 {
                break;
            }
            for place in bytes[count..].iter_mut().take(came) {
                *place = self.0.take();
                count += 1;
            }
        }
        Ok(count)
    }
}

impl<P: Port> ReadReady for Line<P> {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.0.came() != 0)
    }
}

impl<P: Port> Write for Line<P> {
    /// Waits for room for the first byte, and sends as many more as there is room for.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        while count < bytes.len() {
            let room = self.0.room();
            if room == 0 && count > 0 {
                break;
            }
            for &byte in bytes[count..].iter().take(room) {
                self.0.put(byte);
                count += 1;
            }
        }
        Ok(count)
    }

    /// Nothing to do: the hardware sends queued bytes on its own.
    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<P: Port> WriteReady for Line<P> {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.0.room() != 0)
    }
}
