//! Digest: one number for all counters of a run, to compare machines and builds with each other.
//!
//! Models: 64-bit FNV-1a (Fowler, Noll, Vo) over the counters that are not zero, in the order of
//! their tables: the bytes of the name, a zero byte, the count as 8 bytes, lowest first. A counter
//! that a design never touches is not in it, so that a new row of a table changes no digest by
//! itself; sums of other counters are not in it either. The digest of the prototype's outcomes is
//! the same hash over whole words instead of bytes.
//! Does not model: protection against anyone who wants two runs to look alike.

use crate::event::{Counters, Event};
use crate::sm::counters::{CycleEvent, SmCounters, StallReason};

/// The digest of some counters. Shown as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(u64);

impl Digest {
    /// The digest of no counters at all: FNV-1a's offset basis.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// Appends a counter, unless it is zero. The name has no zero byte.
    #[must_use]
    pub fn with(self, name: &str, count: u64) -> Self {
        if count == 0 {
            return self;
        }
        self.bytes(name.as_bytes()).bytes(&[0]).bytes(&count.to_le_bytes())
    }

    /// Appends a whole word in one step of the hash, which a soft core does four times faster than
    /// its bytes. For words in order, not for counters.
    #[must_use]
    pub const fn with_word(self, word: u32) -> Self {
        Self((self.0 ^ word as u64).wrapping_mul(Self::PRIME))
    }

    /// The digest as a number.
    pub const fn value(self) -> u64 {
        self.0
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let append = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        Self(bytes.iter().fold(self.0, append))
    }
}

impl core::fmt::Display for Digest {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl Counters {
    /// The digest of every event.
    pub fn digest(&self) -> Digest {
        let append = |digest: Digest, &event: &Event| digest.with(event.name(), self.get(event));
        Event::ALL.iter().fold(Digest::EMPTY, append)
    }
}

impl SmCounters {
    /// The digest of every access, then every event in time, then every reason of an issue slot,
    /// then what happened to registers in scratchpad memory.
    pub fn digest(&self) -> Digest {
        let event =
            |digest: Digest, &event: &CycleEvent| digest.with(event.name(), self.get(event));
        let slots = |digest: Digest, &why: &StallReason| digest.with(why.name(), self.slots(why));
        let digest = CycleEvent::ALL.iter().fold(self.accesses.digest(), event);
        let digest = StallReason::ALL.iter().fold(digest, slots);
        self.expansion.iter().fold(digest, |digest, (name, count)| digest.with(name, count))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;
    use std::string::ToString;

    /// The vectors that the algorithm's authors publish.
    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(Digest::EMPTY.bytes(text.as_bytes()), Digest(hash), "{text}");
        }
    }

    /// Worked out by another program, from the description above.
    #[test]
    fn a_fixed_set_of_counters_has_a_fixed_digest() {
        let mut counters = Counters::default();
        assert_eq!(counters.digest(), Digest::EMPTY);
        counters.record(Event::WarpInstruction, 3);
        counters.record(Event::MrfReadPrivate, 0x0102_0304_0506_0708);
        assert_eq!(counters.digest().to_string(), "975affd12074a843");
        let mut in_time = SmCounters::default();
        in_time.accesses = counters;
        assert_eq!(in_time.digest(), counters.digest());
        in_time.record(CycleEvent::Cycle, 1);
        in_time.charge(StallReason::Drain, u64::MAX);
        assert_eq!(in_time.digest().to_string(), "ad76272c803ceafd");
    }

    #[test]
    fn every_counter_is_in_the_digest() {
        let mut seen = BTreeSet::new();
        let mut distinct = |digest: Digest, name: &str| {
            assert!(seen.insert(digest.to_string()), "{name} leaves the digest of another counter");
        };
        distinct(Digest::EMPTY, "nothing");
        for &event in Event::ALL {
            let mut counters = SmCounters::default();
            counters.accesses.record(event, 1);
            assert_eq!(counters.digest(), counters.accesses.digest());
            distinct(counters.digest(), event.name());
        }
        for &event in CycleEvent::ALL {
            let mut counters = SmCounters::default();
            counters.record(event, 1);
            distinct(counters.digest(), event.name());
        }
        for &reason in StallReason::ALL {
            let mut counters = SmCounters::default();
            counters.charge(reason, 1);
            distinct(counters.digest(), reason.name());
        }
    }

    #[test]
    fn names_and_counts_do_not_run_into_each_other() {
        assert_ne!(Digest::EMPTY.with("ab", 1), Digest::EMPTY.with("a", 1).with("b", 1));
        assert_ne!(Digest::EMPTY.with("a", 256), Digest::EMPTY.with("a", 1));
    }
}
