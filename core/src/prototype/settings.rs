//! Settings of the prototype, which can change only while it is empty, and the word that carries
//! them.
//!
//! Source: `docs/hw/prototype.md`.

use super::cache_block::CacheSettings;
use super::regmap::field;
use crate::register_file_cache::Replacement;

/// Registers that the main register file holds: 16 banks of 64.
pub const REGISTERS: u16 = 1_024;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The register file cache; `None` without one.
    pub cache: Option<CacheSettings>,
    /// Entries of the write pool; 0 without one. Range: `0..=63`, up to the capacity.
    pub write_pool_entries: u8,
    /// A read and a write of one bank may overlap in different subarrays.
    pub split_bank_write: bool,
    /// Cycles of a write of a bank. Range: `1..=15`. A read takes one.
    pub write_cycles: u8,
    /// Registers of each warp. Range: `1..=255`; times the warps, [`REGISTERS`] at most.
    pub registers_per_warp: u8,
}

impl Settings {
    /// The word on the bus and on the line, as SETTINGS of the register map. `None` if a field is
    /// too large for it.
    pub const fn pack(self) -> Option<u32> {
        let (entries, lru, liveness) = match self.cache {
            None => (0, false, false),
            Some(CacheSettings { entries: 0, .. }) => return None,
            Some(CacheSettings { entries, replacement, liveness }) => {
                (entries, matches!(replacement, Replacement::Lru), liveness)
            }
        };
        let (entries, write_cycles) = (entries as u32, self.write_cycles as u32);
        let pool_entries = self.write_pool_entries as u32;
        if !field::SETTINGS_CACHE_ENTRIES.fits(entries)
            || !field::SETTINGS_WRITE_CYCLES.fits(write_cycles)
            || !field::SETTINGS_POOL_ENTRIES.fits(pool_entries)
        {
            return None;
        }
        let cache = field::SETTINGS_CACHE_ENTRIES.put(entries)
            | field::SETTINGS_LRU.put(lru as u32)
            | field::SETTINGS_LIVENESS.put(liveness as u32);
        let banks = field::SETTINGS_SPLIT.put(self.split_bank_write as u32)
            | field::SETTINGS_WRITE_CYCLES.put(write_cycles)
            | field::SETTINGS_POOL_ENTRIES.put(pool_entries);
        Some(cache | banks | field::SETTINGS_REGISTERS.put(self.registers_per_warp as u32))
    }

    /// The settings that a word carries.
    pub const fn unpack(word: u32) -> Self {
        let entries = field::SETTINGS_CACHE_ENTRIES.get(word) as u8;
        let lru = field::SETTINGS_LRU.is_set(word);
        let replacement = if lru { Replacement::Lru } else { Replacement::Fifo };
        let liveness = field::SETTINGS_LIVENESS.is_set(word);
        Self {
            cache: if entries == 0 {
                None
            } else {
                Some(CacheSettings { entries, replacement, liveness })
            },
            write_pool_entries: field::SETTINGS_POOL_ENTRIES.get(word) as u8,
            split_bank_write: field::SETTINGS_SPLIT.is_set(word),
            write_cycles: field::SETTINGS_WRITE_CYCLES.get(word) as u8,
            registers_per_warp: field::SETTINGS_REGISTERS.get(word) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_carries_every_field() {
        let cache = CacheSettings { entries: 13, replacement: Replacement::Lru, liveness: true };
        let settings = Settings {
            cache: Some(cache),
            write_pool_entries: 60,
            split_bank_write: true,
            write_cycles: 3,
            registers_per_warp: 128,
        };
        let word = 128 << 17 | 60 << 11 | 3 << 7 | 1 << 6 | 1 << 5 | 1 << 4 | 0xd;
        assert_eq!(settings.pack(), Some(word));
        assert_eq!(Settings::unpack(word), settings);
        let none = Settings { cache: None, split_bank_write: false, ..settings };
        assert_eq!(Settings::unpack(none.pack().unwrap()), none);
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        let settings = Settings::unpack(128 << 17 | 3 << 7);
        assert!(settings.pack().is_some());
        let cache = CacheSettings { entries: 0, replacement: Replacement::Fifo, liveness: false };
        assert_eq!(Settings { cache: Some(cache), ..settings }.pack(), None);
        let cache = Some(CacheSettings { entries: 16, ..cache });
        assert_eq!(Settings { cache, ..settings }.pack(), None);
        assert_eq!(Settings { write_cycles: 16, ..settings }.pack(), None);
        assert_eq!(Settings { write_pool_entries: 64, ..settings }.pack(), None);
    }
}
