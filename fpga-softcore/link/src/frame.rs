//! Frame: what stands on the line.
//!
//! ```text
//! COBS( channel | sequence | payload .. | CRC-32 of all that, little end first ) 00
//! ```
//!
//! The bytes of channel, sequence and checksum are 1, 1 and 4. Consistent overhead byte stuffing
//! (COBS) takes the zeros out, so that a zero is the end of a frame and nothing else: whatever came
//! before it, the byte behind it is the first of a frame. The checksum is that of Ethernet and zip
//! (reflected polynomial 0xEDB88320). A message frame with sequence 5 and payload `11 00 22`:
//!
//! ```text
//! 04 01 05 11 06 22 3c a6 18 04 00
//! ```

use core::fmt;

use crc::{CRC_32_ISO_HDLC, Crc};
use heapless::Vec;

/// Bytes of a frame beside its payload, before stuffing: channel, sequence and checksum.
pub const OVERHEAD_BYTES: usize = 6;

const CHECKSUM_BYTES: usize = 4;
const CHECKSUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The most bytes that stuffing leaves without one of its own.
const RUN: usize = 254;

/// Who a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Number 1: the messages of a [`Link`](crate::Link), in postcard.
    Messages,
    /// Number 2: the device's log in the encoding of defmt, which the link does not look into.
    Log,
}

impl Channel {
    /// Its number on the line.
    pub const fn number(self) -> u8 {
        match self {
            Self::Messages => 1,
            Self::Log => 2,
        }
    }

    /// The channel of a number.
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Messages),
            2 => Some(Self::Log),
            _ => None,
        }
    }
}

/// A frame that came whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Who it is for.
    pub channel: Channel,
    /// Its number on its channel, modulo 256.
    pub sequence: u8,
    /// What it carries.
    pub payload: &'a [u8],
}

/// The longest payload of frames that take at most `frame` bytes on the line, their zero included.
/// `None`: not even an empty one fits.
pub const fn longest_payload(frame: usize) -> Option<usize> {
    // The zero, and one byte of stuffing for each run or part of one.
    let Some(stuffed) = frame.checked_sub(1) else { return None };
    let whole = stuffed / (RUN + 1);
    let rest = stuffed % (RUN + 1);
    let body = whole * RUN + rest.saturating_sub(1);
    body.checked_sub(OVERHEAD_BYTES)
}

/// A payload does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Writes a frame over what `to` held: the bytes for the line, their zero included.
///
/// # Errors
///
/// The payload is longer than [`longest_payload`] of `FRAME`; `to` is then empty.
pub fn encode<const FRAME: usize>(
    frame: Frame<'_>,
    to: &mut Vec<u8, FRAME>,
) -> Result<(), TooLong> {
    let mut body = Vec::<u8, FRAME>::new();
    to.clear();
    body.extend_from_slice(&[frame.channel.number(), frame.sequence]).map_err(|_| TooLong)?;
    body.extend_from_slice(frame.payload).map_err(|_| TooLong)?;
    let checksum = CHECKSUM.checksum(&body).to_le_bytes();
    body.extend_from_slice(&checksum).map_err(|_| TooLong)?;
    // The last byte stays the zero.
    to.resize(FRAME, 0).map_err(|_| TooLong)?;
    let stuffed = to
        .split_last_mut()
        .ok_or(TooLong)
        .and_then(|(_, room)| cobs::try_encode(&body, room).map_err(|_| TooLong));
    match stuffed {
        Ok(length) => {
            to.truncate(length + 1);
            if let Some(last) = to.last_mut() {
                *last = 0;
            }
            Ok(())
        }
        Err(error) => {
            to.clear();
            Err(error)
        }
    }
}

/// Frames that a [`Decoder`] dropped, by what was wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// No zero came within the longest frame.
    pub too_long: u32,
    /// Not what stuffing makes of anything.
    pub stuffing: u32,
    /// Shorter than an empty frame.
    pub too_short: u32,
    /// The checksum is not that of the bytes.
    pub checksum: u32,
    /// The frame is whole, but nobody's.
    pub unknown_channel: u32,
}

impl Dropped {
    pub(crate) const NONE: Self =
        Self { too_long: 0, stuffing: 0, too_short: 0, checksum: 0, unknown_channel: 0 };

    /// All of them.
    pub const fn total(&self) -> u64 {
        self.too_long as u64
            + self.stuffing as u64
            + self.too_short as u64
            + self.checksum as u64
            + self.unknown_channel as u64
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "{} too long, {} not stuffed, {} too short, {} with a wrong checksum, {} of an unknown \
             channel",
            self.too_long, self.stuffing, self.too_short, self.checksum, self.unknown_channel
        )
    }
}

/// Finds the frames in bytes that come in any pieces. `FRAME`: the longest frame on the line, its
/// zero included. Unit: bytes.
#[derive(Clone, Debug, Default)]
pub struct Decoder<const FRAME: usize> {
    /// What came since the last zero; after a whole frame its unstuffed bytes, until the next byte.
    bytes: Vec<u8, FRAME>,
    /// A frame ended with the last byte.
    ended: bool,
    /// What came since the last zero was longer than a frame: it is skipped up to the next one.
    skipping: bool,
    dropped: Dropped,
}

impl<const FRAME: usize> Decoder<FRAME> {
    /// A decoder that has seen nothing.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), ended: false, skipping: false, dropped: Dropped::NONE }
    }

    /// Is as after [`new`](Self::new), in the same memory.
    pub fn restart(&mut self) {
        self.bytes.clear();
        (self.ended, self.skipping, self.dropped) = (false, false, Dropped::NONE);
    }

    /// What was dropped since the start. The counts stop at their greatest value.
    pub const fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Takes the next byte of the line. Returns the frame that ends with it, if one does that is
    /// whole. Zeros that follow one another end nothing.
    pub fn push(&mut self, byte: u8) -> Option<Frame<'_>> {
        if core::mem::take(&mut self.ended) {
            self.bytes.clear();
        }
        if byte != 0 {
            // The zero needs a place too.
            if self.bytes.len() + 1 >= FRAME || self.bytes.push(byte).is_err() {
                self.skipping = true;
            }
            return None;
        }
        self.ended = true;
        if core::mem::take(&mut self.skipping) {
            count(&mut self.dropped.too_long);
            return None;
        }
        if self.bytes.is_empty() {
            return None;
        }
        let Ok(length) = cobs::decode_in_place(&mut self.bytes) else {
            count(&mut self.dropped.stuffing);
            return None;
        };
        self.bytes.truncate(length);
        check(&self.bytes, &mut self.dropped)
    }
}

/// Takes an unstuffed frame apart.
fn check<'a>(bytes: &'a [u8], dropped: &mut Dropped) -> Option<Frame<'a>> {
    let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        count(&mut dropped.too_short);
        return None;
    };
    let [channel, sequence, payload @ ..] = body else {
        count(&mut dropped.too_short);
        return None;
    };
    if CHECKSUM.checksum(body) != u32::from_le_bytes(*checksum) {
        count(&mut dropped.checksum);
        return None;
    }
    let Some(channel) = Channel::of(*channel) else {
        count(&mut dropped.unknown_channel);
        return None;
    };
    Some(Frame { channel, sequence: *sequence, payload })
}

/// Counts one more; a count that is full stays so.
pub(crate) fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
