//! Encoding: the buffers that postcard writes into.

use heapless::Vec;
use postcard::ser_flavors::Flavor;

use crate::frame::{Channel, Writer};
use crate::packet::Packet;

/// Puts a frame of a packet on the line. The constants of a link leave room for every control
/// packet, and messages were checked when they were taken.
pub(crate) fn put<const FRAME: usize>(
    line: &mut Vec<u8, FRAME>,
    channel: Channel,
    sequence: u8,
    packet: &Packet<'_>,
) {
    let writer = Writer::new(channel, sequence, line);
    let fitted = postcard::serialize_with_flavor(packet, Framed(writer));
    debug_assert!(fitted.is_ok(), "a packet fits a frame");
}

/// Postcard into a frame.
struct Framed<'a, const FRAME: usize>(Writer<'a, FRAME>);

impl<const FRAME: usize> Flavor for Framed<'_, FRAME> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.put(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        self.0.end().map_err(|_| postcard::Error::SerializeBufferFull)
    }
}

/// Postcard into a message of a limited length.
pub(crate) struct Limited<'a, const FRAME: usize> {
    to: &'a mut Vec<u8, FRAME>,
    most: usize,
}

impl<'a, const FRAME: usize> Limited<'a, FRAME> {
    /// Into an empty message of `most` bytes at most.
    pub(crate) fn new(to: &'a mut Vec<u8, FRAME>, most: usize) -> Self {
        Self { to, most }
    }
}

impl<const FRAME: usize> Flavor for Limited<'_, FRAME> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if bytes.len() > self.most.saturating_sub(self.to.len()) {
            return Err(postcard::Error::SerializeBufferFull);
        }
        self.to.extend_from_slice(bytes).map_err(|_| postcard::Error::SerializeBufferFull)
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
