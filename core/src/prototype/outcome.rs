//! Outcome: what became of a command, and the word that carries it.
//!
//! Source: `docs/hw/prototype.md`.

pub use super::regmap::MainOutcome;
use super::regmap::{CacheOutcome, field};

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Outcome {
    /// The outcome of a command without effect.
    pub const NOTHING: Self = Self {
        cache: CacheOutcome::Nothing,
        way: 0,
        main: MainOutcome::Nothing,
        writebacks: 0,
        dropped: 0,
        waited: 0,
    };

    /// The word on the bus, as OUTCOME of the register map.
    pub const fn pack(self) -> u32 {
        field::OUTCOME_CACHE.put(self.cache.code())
            | field::OUTCOME_WAY.put(self.way as u32)
            | field::OUTCOME_MAIN.put(self.main.code())
            | field::OUTCOME_WRITEBACKS.put(self.writebacks as u32)
            | field::OUTCOME_DROPPED.put(self.dropped as u32)
            | field::OUTCOME_WAITED.put(self.waited as u32)
    }

    /// The outcome that a word carries; `None` if it carries none.
    pub const fn unpack(word: u32) -> Option<Self> {
        let Some(cache) = CacheOutcome::of(field::OUTCOME_CACHE.get(word)) else { return None };
        let Some(main) = MainOutcome::of(field::OUTCOME_MAIN.get(word)) else { return None };
        let outcome = Self {
            cache,
            way: field::OUTCOME_WAY.get(word) as u8,
            main,
            writebacks: field::OUTCOME_WRITEBACKS.get(word) as u8,
            dropped: field::OUTCOME_DROPPED.get(word) as u8,
            waited: field::OUTCOME_WAITED.get(word) as u8,
        };
        if outcome.pack() == word { Some(outcome) } else { None }
    }
}

impl Default for Outcome {
    fn default() -> Self {
        Self::NOTHING
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
