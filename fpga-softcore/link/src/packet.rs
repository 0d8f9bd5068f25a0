//! Packet: the payload of a frame that is no log, in postcard.
//!
//! The crate's own page shows the bytes. Every protocol has the hello as it is here, with its own
//! number first, so that two protocols can tell each other's.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The version of the protocol: of frames, packets and messages. The zero before a frame came
/// later: ends with and without it understand each other.
pub const PROTOCOL: u16 = 2;

/// Bytes of a packet beside a message's own: its kind, and its length in at most 3.
pub(crate) const OVERHEAD_BYTES: usize = 4;

/// The longest packet that carries no message: a welcome whose numbers are all at their greatest.
pub(crate) const LONGEST_CONTROL_BYTES: usize = 1 + 5 + 3 + 5 + 3 + 3;

/// A program's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Changes when older peers would not understand the program.
    pub major: u8,
    /// Changes with new functions.
    pub minor: u8,
    /// Changes with corrections.
    pub patch: u8,
}

impl fmt::Display for Version {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The first packet of an end, which describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of its build.
    pub protocol: u16,
    /// Identifies this start of the end: drawn from a clock, so that no two starts agree.
    pub session: u32,
    /// The version of the firmware: the device's own, or the one that the host belongs to.
    pub firmware: Version,
    /// The longest message that the end takes. Unit: bytes.
    pub max_payload: u16,
}

impl fmt::Display for Hello {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "protocol {}, firmware {}", self.protocol, self.firmware)
    }
}

/// The payload of a frame that is no log: the first two on the channel of the handshake, the others
/// on that of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packet<'a> {
    /// Who the sender is; it wants a welcome.
    Hello(Hello),
    /// Who the sender is, in answer to a hello.
    Welcome {
        /// The session of that hello.
        to: u32,
        /// Who the sender is.
        hello: Hello,
    },
    /// A message. The frame's sequence is its number.
    Data(&'a [u8]),
    /// The received messages, and the room for more.
    Acknowledge {
        /// The first number that has not arrived.
        next: u8,
        /// Numbers from there on for which there is room.
        room: u8,
    },
    /// The sender wants an acknowledgement.
    Probe,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Hello = Hello {
        protocol: PROTOCOL,
        session: 300,
        firmware: Version { major: 2, minor: 3, patch: 4 },
        max_payload: 200,
    };

    fn bytes(packet: Packet<'_>) -> ([u8; 64], usize) {
        let mut bytes = [0; 64];
        let length = postcard::to_slice(&packet, &mut bytes).expect("it fits").len();
        assert_eq!(postcard::from_bytes(&bytes[..length]), Ok(packet));
        (bytes, length)
    }

    #[test]
    fn golden_bytes() {
        let of = |packet, expected: &[u8]| {
            let (bytes, length) = bytes(packet);
            assert_eq!(bytes[..length], *expected, "{packet:?}");
        };
        of(Packet::Hello(HELLO), &[0, 2, 0xac, 2, 2, 3, 4, 0xc8, 1]);
        of(Packet::Welcome { to: 5, hello: HELLO }, &[1, 5, 2, 0xac, 2, 2, 3, 4, 0xc8, 1]);
        of(Packet::Data(&[0, 0xff]), &[2, 2, 0, 0xff]);
        of(Packet::Acknowledge { next: 255, room: 4 }, &[3, 255, 4]);
        of(Packet::Probe, &[4]);
    }

    #[test]
    fn no_control_packet_is_longer_than_is_said() {
        let version = Version { major: 255, minor: 255, patch: 255 };
        let hello = Hello {
            protocol: u16::MAX,
            session: u32::MAX,
            firmware: version,
            max_payload: u16::MAX,
        };
        let (_, length) = bytes(Packet::Welcome { to: u32::MAX, hello });
        assert_eq!(length, LONGEST_CONTROL_BYTES);
    }
}
