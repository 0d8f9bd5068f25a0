//! Frame: the format on the line.
//!
//! ```text
//! 00 COBS( channel | sequence | payload .. | CRC-32 of all that, little end first ) 00
//! ```
//!
//! The bytes of channel, sequence and checksum are 1, 1 and 4. Consistent overhead byte stuffing
//! (COBS) takes the zeros out, so that a zero bounds a frame and nothing else: the byte after a
//! zero is always the first of a frame, or another zero. The zero before a frame ends what came on
//! the idle line since the last one: a glitch of an adapter would otherwise join the frame and
//! damage it, and a glitch before each repetition would stop the link. A frame without it is taken
//! as well. The checksum is that of Ethernet and zip (reflected
//! polynomial 0xEDB88320). That of a message's frame also covers the sessions of its two ends,
//! which stand before the channel and are not sent: 4 bytes each, little end first, the sender's
//! first. So a frame that was on its way before either end restarted has a wrong checksum. A
//! hello's frame with sequence 5 and payload `11 00 22`, and the same as a message's from session 1
//! to session 2:
//!
//! ```text
//! 00 04 01 05 11 06 22 3c a6 18 04 00
//! 00 04 03 05 11 06 22 c0 b5 ee 44 00
//! ```
//!
//! The stuffing is written here, and tests compare it with the crate `cobs`. Its decoder is fed
//! byte by byte: for a frame of 1,000 bytes with a zero in 8 it takes 33.1 instructions a byte of
//! a RISC-V device (`rv32im`, `opt-level = 3`, QEMU with `-icount`) and 592 bytes of code, where
//! this one goes through a run at once: 13.9 and 340. With 2.3 bytes on the line for each command
//! that is a tenth of a command's instructions. Its encoder, 17.3 and 364 where this one has 20.0
//! and 332, begins another run behind one of the longest even where the frame ends there: a byte
//! more than [`longest_payload`] leaves room for.

use core::fmt;

use crc::{CRC_32_ISO_HDLC, Crc, Digest};
use heapless::Vec;

/// Bytes of a frame beside its payload, before stuffing: channel, sequence and checksum.
pub const OVERHEAD_BYTES: usize = 6;

const CHECKSUM_BYTES: usize = 4;
static CHECKSUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The most bytes between two bytes of stuffing.
const RUN: usize = 254;

/// The two ends of a message, each by the session number that it drew at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// The sender's.
    pub from: u32,
    /// The receiver's.
    pub to: u32,
}

impl Sessions {
    /// The bytes that the checksum covers first.
    fn bytes(self) -> [u8; 8] {
        (u64::from(self.from) | u64::from(self.to) << 32).to_le_bytes()
    }
}

/// The receiver of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Number 1: how the ends of a [`Link`](crate::Link) meet, in postcard. Every protocol has it.
    Meeting,
    /// Number 2: the device's log in the encoding of defmt, which the link does not look into.
    Log,
    /// Number 3: the messages of a [`Link`](crate::Link), in postcard.
    Messages(Sessions),
}

impl Channel {
    /// Its number on the line.
    pub const fn number(self) -> u8 {
        match self {
            Self::Meeting => 1,
            Self::Log => 2,
            Self::Messages(_) => 3,
        }
    }

    /// A checksum over the sessions, which are not sent.
    fn checksum(self) -> Digest<'static, u32> {
        let mut checksum = CHECKSUM.digest();
        if let Self::Messages(sessions) = self {
            checksum.update(&sessions.bytes());
        }
        checksum
    }
}

/// A frame that was received whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its receiver.
    pub channel: Channel,
    /// Its number on its channel, modulo 256.
    pub sequence: u8,
    /// What it carries.
    pub payload: &'a [u8],
}

/// The longest payload of frames that take at most `frame` bytes on the line, their zeros included.
/// `None`: not even an empty one fits.
pub const fn longest_payload(frame: usize) -> Option<usize> {
    // The two zeros, and one byte of stuffing for each run or part of one.
    let Some(stuffed) = frame.checked_sub(2) else { return None };
    let whole = stuffed / (RUN + 1);
    let rest = stuffed % (RUN + 1);
    let body = whole * RUN + rest.saturating_sub(1);
    body.checked_sub(OVERHEAD_BYTES)
}

/// A payload does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Writes a frame over what `to` held: the bytes for the line, their zeros included.
///
/// # Errors
///
/// The payload is longer than [`longest_payload`] of `FRAME`; `to` is then empty.
pub fn encode<const FRAME: usize>(
    frame: Frame<'_>,
    to: &mut Vec<u8, FRAME>,
) -> Result<(), TooLong> {
    let mut writer = Writer::new(frame.channel, frame.sequence, to);
    writer.put(frame.payload);
    writer.end()
}

/// Writes a frame piece by piece. A lack of room shows at the [end](Self::end).
pub(crate) struct Writer<'a, const FRAME: usize> {
    to: &'a mut Vec<u8, FRAME>,
    checksum: Digest<'static, u32>,
    /// The place of the open run's length, and that length, itself included; 0 if none is open.
    start: usize,
    run: usize,
    is_too_long: bool,
}

impl<'a, const FRAME: usize> Writer<'a, FRAME> {
    /// Starts a frame over what `to` held.
    pub(crate) fn new(channel: Channel, sequence: u8, to: &'a mut Vec<u8, FRAME>) -> Self {
        to.clear();
        let checksum = channel.checksum();
        let mut writer = Self { to, checksum, start: 0, run: 0, is_too_long: false };
        writer.push(0);
        // An empty frame has a run too.
        writer.open();
        writer.put(&[channel.number(), sequence]);
        writer
    }

    /// Writes a piece of the payload.
    pub(crate) fn put(&mut self, piece: &[u8]) {
        self.checksum.update(piece);
        self.stuff(piece);
    }

    /// Writes checksum and zero.
    pub(crate) fn end(mut self) -> Result<(), TooLong> {
        let checksum = self.checksum.clone().finalize().to_le_bytes();
        self.stuff(&checksum);
        self.close();
        self.push(0);
        if self.is_too_long {
            self.to.clear();
            return Err(TooLong);
        }
        Ok(())
    }

    fn stuff(&mut self, piece: &[u8]) {
        for &byte in piece {
            if self.run == 0 {
                self.open();
            }
            if byte == 0 {
                self.close();
                self.open();
            } else {
                self.push(byte);
                self.run += 1;
                // No zero follows a run of the greatest length.
                if self.run > RUN {
                    self.close();
                }
            }
        }
    }

    fn open(&mut self) {
        (self.start, self.run) = (self.to.len(), 1);
        self.push(0);
    }

    fn close(&mut self) {
        let run = core::mem::take(&mut self.run);
        if let (1.., Some(place)) = (run, self.to.get_mut(self.start)) {
            *place = run as u8;
        }
    }

    fn push(&mut self, byte: u8) {
        self.is_too_long |= self.to.push(byte).is_err();
    }
}

/// Frames that a [`Decoder`] dropped, by what was wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// No zero came within the longest frame.
    pub too_long: u32,
    /// No possible result of stuffing.
    pub stuffing: u32,
    /// Shorter than an empty frame.
    pub too_short: u32,
    /// The checksum is not that of the bytes.
    pub checksum: u32,
    /// The channel is not known.
    pub unknown_channel: u32,
    /// A message before the handshake: a leftover of an earlier session.
    pub no_session: u32,
}

impl Dropped {
    pub(crate) const NONE: Self = Self {
        too_long: 0,
        stuffing: 0,
        too_short: 0,
        checksum: 0,
        unknown_channel: 0,
        no_session: 0,
    };

    /// All of them.
    pub const fn total(&self) -> u64 {
        self.too_long as u64
            + self.stuffing as u64
            + self.too_short as u64
            + self.checksum as u64
            + self.unknown_channel as u64
            + self.no_session as u64
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "{} too long, {} not stuffed, {} too short, {} with a wrong checksum, {} of an unknown \
             channel, {} of no session",
            self.too_long,
            self.stuffing,
            self.too_short,
            self.checksum,
            self.unknown_channel,
            self.no_session
        )
    }
}

/// Finds the frames in bytes that arrive in pieces of any size. `FRAME`: the longest frame on the
/// line, its zeros included. Unit: bytes.
#[derive(Clone, Debug)]
pub struct Decoder<const FRAME: usize> {
    /// The unstuffed bytes since the last zero; those of a whole frame stay until the next byte.
    bytes: [u8; FRAME],
    length: usize,
    /// Bytes since the last zero, counted up to the length of the longest frame with its zero: at
    /// that count the frame is too long, and the rest is skipped.
    came: usize,
    /// Bytes of the run that are missing.
    run: u8,
    /// A zero follows the run, unless it is the last.
    has_zero: bool,
    /// The ends whose messages are taken.
    sessions: Option<Sessions>,
    dropped: Dropped,
}

impl<const FRAME: usize> Default for Decoder<FRAME> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const FRAME: usize> Decoder<FRAME> {
    /// A decoder without received bytes.
    pub const fn new() -> Self {
        Self {
            bytes: [0; FRAME],
            length: 0,
            came: 0,
            run: 0,
            has_zero: false,
            sessions: None,
            dropped: Dropped::NONE,
        }
    }

    /// From now on takes messages between these, or none.
    pub const fn expect(&mut self, sessions: Option<Sessions>) {
        self.sessions = sessions;
    }

    /// Resets to the state after [`new`](Self::new), in the same memory.
    pub fn restart(&mut self) {
        self.forget();
        self.sessions = None;
        self.dropped = Dropped::NONE;
    }

    fn forget(&mut self) {
        (self.length, self.came, self.run, self.has_zero) = (0, 0, 0, false);
    }

    /// What was dropped since the start. The counts stop at their greatest value.
    pub const fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Takes the next byte of the line. Returns the frame that ends with it, if that is whole. A
    /// zero after a zero ends no frame.
    pub fn push(&mut self, byte: u8) -> Option<Frame<'_>> {
        if byte == 0 {
            return self.end();
        }
        self.take(&[byte]);
        None
    }

    /// Takes bytes of the line up to and including the first zero, and returns whether there was
    /// one, with the bytes after it: [`Self::end`] then has the frame.
    pub(crate) fn take<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], bool) {
        // In variables, not in memory.
        let Self { mut length, mut came, mut run, mut has_zero, .. } = *self;
        let mut rest = bytes;
        let mut is_end = false;
        while let Some((&byte, behind)) = rest.split_first() {
            if byte == 0 || came == FRAME {
                // Of a frame that is too long only the end matters.
                let end = rest.iter().position(|&byte| byte == 0);
                is_end = end.is_some();
                rest = rest.get(end.map_or(rest.len(), |end| end + 1)..).unwrap_or(&[]);
                break;
            }
            if run == 0 {
                if let (true, Some(place)) = (has_zero, self.bytes.get_mut(length)) {
                    *place = 0;
                    length += 1;
                }
                run = byte - 1;
                has_zero = usize::from(byte) <= RUN;
                came += 1;
                rest = behind;
                continue;
            }
            // Unstuffed bytes are fewer than received ones, so that there is room.
            let most = usize::from(run).min(FRAME - came);
            let places = self.bytes.get_mut(length..).unwrap_or(&mut []).iter_mut().take(most);
            let mut taken = 0;
            for (place, &byte) in places.zip(rest) {
                if byte == 0 {
                    break;
                }
                *place = byte;
                taken += 1;
            }
            run -= taken as u8;
            (length, came) = (length + taken, came + taken);
            rest = rest.get(taken..).unwrap_or(&[]);
        }
        (self.length, self.came, self.run, self.has_zero) = (length, came, run, has_zero);
        (rest, is_end)
    }

    /// Takes a zero. Returns the frame that ends with it, if that is whole.
    pub(crate) fn end(&mut self) -> Option<Frame<'_>> {
        let Self { length, came, run, sessions, .. } = *self;
        self.forget();
        // The zero needs a place too.
        if came >= FRAME {
            count(&mut self.dropped.too_long);
            return None;
        }
        if came == 0 {
            return None;
        }
        if run > 0 {
            count(&mut self.dropped.stuffing);
            return None;
        }
        check(self.bytes.get(..length)?, sessions, &mut self.dropped)
    }
}

/// Takes an unstuffed frame apart.
fn check<'a>(
    bytes: &'a [u8],
    sessions: Option<Sessions>,
    dropped: &mut Dropped,
) -> Option<Frame<'a>> {
    let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        count(&mut dropped.too_short);
        return None;
    };
    let [number, sequence, payload @ ..] = body else {
        count(&mut dropped.too_short);
        return None;
    };
    let channel = match (number, sessions) {
        (1, _) => Channel::Meeting,
        (2, _) => Channel::Log,
        (3, Some(sessions)) => Channel::Messages(sessions),
        (3, None) => {
            count(&mut dropped.no_session);
            return None;
        }
        _ => {
            count(&mut dropped.unknown_channel);
            return None;
        }
    };
    let mut expected = channel.checksum();
    expected.update(body);
    if expected.finalize() != u32::from_le_bytes(*checksum) {
        count(&mut dropped.checksum);
        return None;
    }
    Some(Frame { channel, sequence: *sequence, payload })
}

/// Counts one more; a count at its maximum stays there.
pub(crate) fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
