//! Outcome: what became of a command, and the word that carries it.
//!
//! Source: `docs/hw/prototype.md`.

use super::cache_block::CacheOutcome;

/// What the last access of the main register file that a command caused did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MainOutcome {
    /// The command did not get that far.
    #[default]
    Nothing,
    /// A bank was read or written; a read had missed the write pool, if there is one.
    Bank,
    /// Read or written in the write pool.
    PoolHit,
    /// Read in the write pool and in a bank.
    PoolPartialHit,
    /// Written to an empty entry of the write pool.
    PoolAllocation,
    /// Written to an entry of the write pool, whose old value a bank took.
    PoolReplacement,
    /// Entries of the write pool were demoted or given up.
    PoolMoved,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// In the register file cache; of a flush, [`CacheOutcome::Emptied`] or nothing.
    pub cache: CacheOutcome,
    /// The way concerned, of a flush the last; 0 when none is.
    pub way: u8,
    /// In the main register file.
    pub main: MainOutcome,
    /// Entries of the register file cache that were written back. Range: `0..=15`.
    pub writebacks: u8,
    /// Entries, of cache and pool, given up without being written. Range: `0..=63`.
    pub dropped: u8,
    /// Clocks that accesses of the main register file waited for what they needed; 255 says 255 or
    /// more.
    pub waited: u8,
}

/// The lowest bits of fields of a packed outcome.
pub(super) const WAY: u32 = 3;
pub(super) const MAIN: u32 = 7;
pub(super) const WRITEBACKS: u32 = 10;
pub(super) const DROPPED: u32 = 14;
pub(super) const WAITED: u32 = 20;

impl Outcome {
    /// The word on the bus: cache in bits 0 to 2, way in 3 to 6, main in 7 to 9, write-backs in 10
    /// to 13, dropped in 14 to 19, waited in 20 to 27.
    pub const fn pack(self) -> u32 {
        let cache = self.cache as u32 | (self.way as u32 & 0xf) << WAY;
        let main = (self.main as u32) << MAIN | (self.writebacks as u32 & 0xf) << WRITEBACKS;
        cache | main | (self.dropped as u32 & 0x3f) << DROPPED | (self.waited as u32) << WAITED
    }

    /// The outcome that a word carries; `None` if it carries none.
    pub const fn unpack(word: u32) -> Option<Self> {
        let cache = match word & 7 {
            0 => CacheOutcome::Nothing,
            1 => CacheOutcome::Miss,
            2 => CacheOutcome::PartialHit,
            3 => CacheOutcome::Hit,
            4 => CacheOutcome::InPlace,
            5 => CacheOutcome::Allocation,
            6 => CacheOutcome::Invalidated,
            _ => CacheOutcome::Emptied,
        };
        let main = match word >> 7 & 7 {
            0 => MainOutcome::Nothing,
            1 => MainOutcome::Bank,
            2 => MainOutcome::PoolHit,
            3 => MainOutcome::PoolPartialHit,
            4 => MainOutcome::PoolAllocation,
            5 => MainOutcome::PoolReplacement,
            6 => MainOutcome::PoolMoved,
            _ => return None,
        };
        if word >> 28 != 0 {
            return None;
        }
        Some(Self {
            cache,
            way: (word >> 3 & 0xf) as u8,
            main,
            writebacks: (word >> 10 & 0xf) as u8,
            dropped: (word >> 14 & 0x3f) as u8,
            waited: (word >> 20 & 0xff) as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_carries_every_field() {
        for main in 0..7 {
            for cache in 0..8 {
                let word = 200 << 20 | 60 << 14 | 9 << 10 | main << 7 | 12 << 3 | cache;
                let outcome = Outcome::unpack(word).unwrap();
                assert_eq!((outcome.way, outcome.writebacks), (12, 9));
                assert_eq!((outcome.dropped, outcome.waited), (60, 200));
                assert_eq!(outcome.pack(), word);
            }
        }
        assert_eq!(Outcome::unpack(7 << 7), None);
        assert_eq!(Outcome::unpack(1 << 28), None);
    }
}
