//! Error: why a link ended, and why a message was not taken.

use core::error::Error;
use core::fmt;

use crate::packet::Hello;

/// Why a link ended. It stays so: to go on, make a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The ends were built for different protocols or firmware.
    Mismatch {
        /// What this end is.
        ours: Hello,
        /// What the other says it is.
        theirs: Hello,
    },
    /// The other end started again in the middle: what was on its way is lost.
    Restarted,
    /// Nothing was heard, however often this end asked.
    Silent {
        /// Times that it asked.
        attempts: u32,
        /// Time since something was heard, or since the start. Unit: ms.
        after_ms: u64,
    },
    /// The other end answers, but does not go on: no handshake, or no message taken.
    Stalled {
        /// Time since it last did. Unit: ms.
        after_ms: u64,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { ours, theirs } => write!(
                to,
                "the other end has {theirs}, this one {ours}: build both from the same version"
            ),
            Self::Restarted => {
                write!(to, "the other end restarted and has lost what it was told: connect again")
            }
            Self::Silent { attempts, after_ms } => write!(
                to,
                "no answer to {attempts} attempts, and nothing heard for {after_ms} ms: check that \
                 the other end runs, and the port and its speed"
            ),
            Self::Stalled { after_ms } => write!(
                to,
                "the other end answers, but has taken nothing for {after_ms} ms: it is busy or \
                 stuck"
            ),
        }
    }
}

impl Error for LinkError {}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// There was no handshake yet.
    NotConnected,
    /// The link has ended.
    Ended(LinkError),
    /// As many wait as there may: send it again when some were acknowledged.
    Full,
    /// It is longer than a frame or the other end takes.
    TooLong {
        /// The longest that may be. Unit: bytes.
        most: usize,
    },
    /// Postcard cannot express it.
    Encoding,
}

impl fmt::Display for SendError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected => write!(to, "the other end has not answered yet: wait for it"),
            Self::Ended(error) => error.fmt(to),
            Self::Full => write!(to, "too much waits to be sent: try again later"),
            Self::TooLong { most } => {
                write!(to, "more than {most} bytes do not fit a frame: send it in pieces")
            }
            Self::Encoding => write!(to, "postcard has no encoding for this value"),
        }
    }
}

impl Error for SendError {}

/// The bytes of a message are not the value that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a message is not what was expected here: build both ends from the same version")
    }
}

impl Error for Malformed {}
