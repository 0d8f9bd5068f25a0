//! Error: why a link ended, and why a message was not taken.

use core::error::Error;
use core::fmt;

use crate::packet::Hello;

/// Why a link ended. An ended link stays ended: make a new one to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The ends were built for different protocols or firmware.
    Mismatch {
        /// This end's hello.
        ours: Hello,
        /// The other end's hello.
        theirs: Hello,
    },
    /// The other end restarted during the session: messages on their way are lost.
    Restarted,
    /// Nothing was received, although this end asked several times.
    Silent {
        /// Times that it asked, at least 1.
        attempts: u32,
        /// Time since the last received frame, or since the start. Unit: ms.
        after_ms: u64,
    },
    /// The other end answers without progress: no handshake, or no message taken.
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
    /// The window is full: send it again when some messages were acknowledged.
    Full,
    /// It is longer than a frame, or than the other end accepts.
    TooLong {
        /// The longest message. Unit: bytes.
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
