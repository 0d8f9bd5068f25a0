//! Settings: what an end of a link is told at its start, and what it counts.

use crate::frame::Dropped;
use crate::packet::Version;

/// The identity of an end, and its timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Has to be the same on both ends.
    pub firmware: Version,
    /// A number that differs at each start of this end, drawn from a clock. By it the other end
    /// notices a restart, and neither end takes frames from before it.
    pub session: u32,
    /// The speed of the line. Unit: bits a second, 10 for each byte. 0: unlimited.
    pub line_baud: u32,
    /// Time that the other end may take for an answer, in addition to the line's time
    /// ([`Link::timeout_ms`](crate::Link::timeout_ms)). Unit: ms.
    pub answer_ms: u32,
    /// Repetitions without an answer before the link ends; 0 is taken for 1.
    pub attempts: u32,
    /// Silence of the other end after which this end sends a probe. Unit: ms.
    pub idle_ms: u32,
    /// Time for which the other end may answer without taking a message. Unit: ms.
    pub stall_ms: u32,
}

impl Settings {
    /// Settings that notice within 3.2 s that the other end of a fast line is gone: a probe after 1
    /// s of silence, 20 repetitions every 100 ms. An end that takes no message is noticed after 10
    /// s.
    pub const fn new(firmware: Version, session: u32) -> Self {
        let (line_baud, answer_ms, attempts) = (0, 100, 20);
        Self { firmware, session, line_baud, answer_ms, attempts, idle_ms: 1_000, stall_ms: 10_000 }
    }
}

/// What happened on a link. The counts stop at their greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that the decoder dropped.
    pub dropped: Dropped,
    /// Messages sent again.
    pub repeated: u32,
    /// Messages that had arrived before.
    pub duplicates: u32,
    /// Messages for which there was no room.
    pub no_room: u32,
    /// Invalid packets: not in postcard, or on the wrong channel.
    pub strange: u32,
    /// Log frames of the other end that were lost.
    pub logs_missed: u32,
}

impl Counts {
    pub(crate) const NONE: Self = Self {
        dropped: Dropped::NONE,
        repeated: 0,
        duplicates: 0,
        no_room: 0,
        strange: 0,
        logs_missed: 0,
    };
}
