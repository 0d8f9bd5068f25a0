//! Waits: what a warp waits for, and when a value that it waits for is there.

use super::counters::StallReason;
use super::policies::ShortWaits;

/// What a warp waits for, from the most ordinary to the most exceptional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// The next cycle.
    #[default]
    InOrder,
    Branch,
    Arithmetic,
    DoublePrecision,
    SpecialFunction,
    /// Constants, parameters, and what hits a cache.
    Cached,
    SharedMemory,
    LongLatency,
}

impl Wait {
    pub(crate) const ALL: [Self; 8] = [
        Self::InOrder,
        Self::Branch,
        Self::Arithmetic,
        Self::DoublePrecision,
        Self::SpecialFunction,
        Self::Cached,
        Self::SharedMemory,
        Self::LongLatency,
    ];
}

impl Wait {
    /// Why no warp issues where one waits for this and none for an earlier one.
    #[inline]
    pub(crate) const fn reason(self) -> StallReason {
        match self {
            Self::InOrder => StallReason::InOrder,
            Self::Branch => StallReason::Branch,
            Self::Arithmetic | Self::DoublePrecision => StallReason::Arithmetic,
            Self::SpecialFunction => StallReason::SpecialFunction,
            Self::Cached | Self::SharedMemory => StallReason::ShortMemory,
            Self::LongLatency => StallReason::LongLatency,
        }
    }
}

/// Kinds of waits, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits(u8);

impl Waits {
    pub(crate) const ALL: Self = Self(u8::MAX);

    pub(crate) const fn only(wait: Wait) -> Self {
        Self(1 << wait as u8)
    }

    pub(crate) fn short(waits: ShortWaits) -> Self {
        let kinds = [
            (ShortWaits::SPECIAL_FUNCTION, Wait::SpecialFunction),
            (ShortWaits::DOUBLE_PRECISION, Wait::DoublePrecision),
            (ShortWaits::SHARED_MEMORY, Wait::SharedMemory),
        ];
        let chosen = kinds.into_iter().filter(|&(flag, _)| waits.contains(flag));
        Self(chosen.fold(0, |all, (_, wait)| all | Self::only(wait).0))
    }

    #[inline]
    pub(crate) const fn contains(self, wait: Wait) -> bool {
        self.0 >> wait as u8 & 1 != 0
    }
}

/// When a value is there, and what produces it: the later of two is the greater.
///
/// The arrival time of a pending value is not known yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadyAt(u64);

impl ReadyAt {
    const SHIFT: u32 = 3;

    /// Everything is there from the beginning.
    pub const NOW: Self = Self(0);

    /// The first of the cycles that stand for pending values: later than all that are known. Its
    /// lowest bit says that the value goes to the main register file when it arrives, the eight
    /// above it in how many pieces it arrives, minus one.
    const PENDING: u64 = (u64::MAX >> Self::SHIFT) - 511;
    const PIECE: u64 = 2;

    /// A pending value, which arrives in one piece.
    #[inline]
    pub(crate) const fn pending(wait: Wait) -> Self {
        Self::new(Self::PENDING, wait)
    }

    #[inline]
    pub(crate) const fn is_pending(self) -> bool {
        self.0 >= Self::PENDING << Self::SHIFT
    }

    /// This pending value, which arrives in `1 + others` pieces.
    pub(crate) const fn in_pieces(self, others: u8) -> Self {
        let to_main = self.cycle() & 1;
        Self::new(Self::PENDING | (others as u64 * Self::PIECE) | to_main, self.wait())
    }

    /// This pending value without the piece that has arrived; none if it was the last.
    pub(crate) const fn without_piece(self) -> Option<Self> {
        if self.cycle() - Self::PENDING < Self::PIECE {
            return None;
        }
        Some(Self::new(self.cycle() - Self::PIECE, self.wait()))
    }

    /// This pending value, which goes to the main register file when it arrives.
    pub(crate) const fn to_main(self) -> Self {
        Self::new(self.cycle() | 1, self.wait())
    }

    /// Whether this pending value goes to the main register file.
    pub(crate) const fn goes_to_main(self) -> bool {
        self.cycle() & 1 != 0
    }

    #[inline]
    pub(crate) const fn new(cycle: u64, wait: Wait) -> Self {
        Self(cycle << Self::SHIFT | wait as u64)
    }

    #[inline]
    pub(crate) const fn cycle(self) -> u64 {
        self.0 >> Self::SHIFT
    }

    #[inline]
    pub(crate) const fn wait(self) -> Wait {
        match self.0 & 7 {
            0 => Wait::InOrder,
            1 => Wait::Branch,
            2 => Wait::Arithmetic,
            3 => Wait::DoublePrecision,
            4 => Wait::SpecialFunction,
            5 => Wait::Cached,
            6 => Wait::SharedMemory,
            _ => Wait::LongLatency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_value_arrives_in_its_pieces() {
        for to_main in [false, true] {
            let one = ReadyAt::pending(Wait::LongLatency);
            let one = if to_main { one.to_main() } else { one };
            assert_eq!((one.is_pending(), one.without_piece()), (true, None));
            let mut value = one.in_pieces(255);
            for _ in 0..255 {
                assert!(value.is_pending() && value > ReadyAt::new(1 << 60, Wait::InOrder));
                assert_eq!((value.goes_to_main(), value.wait()), (to_main, Wait::LongLatency));
                value = value.without_piece().unwrap();
            }
            assert_eq!(value, one);
        }
        assert!(!ReadyAt::new(ReadyAt::PENDING - 1, Wait::InOrder).is_pending());
    }
}
