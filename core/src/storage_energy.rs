//! Energy of an SM whose storage on the chip is divided in one way or another: counts of a run
//! times a technology's table, once, at the end.
//!
//! Models: dynamic energy of the core, which is that of the baseline's time whatever the storage;
//! leakage of the core and of the SRAM that is switched on; accesses of the banks of registers,
//! shared memory and cache; DRAM.
//! Does not model: upper levels of registers, whose energy no source prints for this process;
//! tags, which are part of the crossbar's share; a voltage or clock other than the technology's.
//! Source: `[MICRO2012]` 5.2, Tables 3 and 4; `[DISS]` 4.4, Table 4.7, 7.5.3; `docs/DEVIATIONS.md`,
//! DEV-086, DEV-087.
//!
//! ```
//! use core::num::NonZeroU32;
//! use strata_core::energy::BankEnergy;
//! use strata_core::sm::partition::Division;
//! use strata_core::storage_energy::{
//!     SramBank, SramLeakage, StorageConfiguration, StorageCounts, StorageEnergy, StoragePart,
//!     StorageEnergyTable,
//! };
//! use strata_core::units::Femtojoules;
//!
//! let bank = |kilobytes, read, write| {
//!     let access = BankEnergy { read: Femtojoules(read), write: Femtojoules(write) };
//!     SramBank { kilobytes, access }
//! };
//! let table = StorageEnergyTable {
//!     banks: &[bank(2, 3_900, 5_100), bank(8, 9_800, 11_800), bank(12, 12_100, 14_900)],
//!     crossbar_ppm: 100_000,
//!     core_dynamic_nw: 1_900_000_000,
//!     core_leakage_nw: 700_000_000,
//!     sram_leakage: SramLeakage {
//!         nanowatts: 200_000_000,
//!         kilobytes: NonZeroU32::new(384).ok_or("no SRAM")?,
//!     },
//!     dram_aj_per_bit: 40_000_000,
//!     clock_khz: NonZeroU32::new(1_000_000).ok_or("no clock")?,
//! };
//! let counts = StorageCounts {
//!     cycles: 860_000,
//!     baseline_cycles: 1_000_000,
//!     dram_bytes: 8_000_000,
//!     ..StorageCounts::default()
//! };
//! let unified = StorageConfiguration::of(Division::micro12_unified(384));
//! let energy = StorageEnergy::of(&table, &unified, &counts)?;
//! // 1.9 W for 1 ms, 0.9 W for 0.86 ms, 40 pJ for each of 64 million bits.
//! assert_eq!(energy.part(StoragePart::CoreDynamic), Femtojoules(1_900_000_000_000));
//! assert_eq!(energy.total(), Femtojoules((1_900 + 774 + 2_560) * 1_000_000_000));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use core::num::NonZeroU32;

use crate::energy::BankEnergy;
use crate::leakage::NANOWATT_MILLISECOND;
use crate::named;
use crate::sm::memory::touched::{LINE_BYTES, ROW_BYTES};
use crate::sm::partition::{Areas, BANKS, Division};
use crate::units::{CLUSTERS, Femtojoules, nearest};

const KB: u64 = 1024;
/// Width of a bank of shared memory or of a cache beside the registers. Unit: bytes.
const WORD_BYTES: u32 = 4;
/// Such banks spend this part of the energy of 16 bytes for each word that moves.
const WORDS_PER_ROW: u128 = (ROW_BYTES / WORD_BYTES) as u128;
const WORDS_PER_LINE: u128 = (LINE_BYTES / WORD_BYTES) as u128;
const ROWS_PER_LINE: u128 = (LINE_BYTES / ROW_BYTES) as u128;
const BITS_PER_BYTE: u128 = 8;
const MILLION: u128 = 1_000_000;
const ATTOJOULES_PER_FEMTOJOULE: u128 = 1_000;

/// A bank of SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SramBank {
    /// Its capacity. Unit: KB.
    pub kilobytes: u32,
    /// Energy of an access of 16 bytes.
    pub access: BankEnergy,
}

/// What SRAM leaks: the power of some capacity, of which any other has its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SramLeakage {
    /// Power of that capacity. Unit: nanowatts.
    pub nanowatts: u64,
    /// That capacity. Unit: KB.
    pub kilobytes: NonZeroU32,
}

impl SramLeakage {
    /// What so many bytes leak, rounded to nearest, ties up; `None` if it does not fit. Unit:
    /// nanowatts.
    pub fn of_bytes(self, bytes: u64) -> Option<u64> {
        let power = u128::from(self.nanowatts) * u128::from(bytes);
        nearest(power, self.bytes())
    }

    fn bytes(self) -> u128 {
        u128::from(self.kilobytes.get()) * u128::from(KB)
    }
}

/// What an SM's storage, its core and DRAM cost in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StorageEnergyTable<'a> {
    /// The banks whose energy is known. Of two with the same capacity the first counts.
    pub banks: &'a [SramBank],
    /// What accesses of shared memory and cache in banks of 16 bytes cost beyond the bank's energy:
    /// crossbar, multiplexer and tags (`[MICRO2012]` 5.2). Unit: millionths of the bank's energy.
    pub crossbar_ppm: u32,
    /// Dynamic power of an SM, but for banks and DRAM. Unit: nanowatts.
    pub core_dynamic_nw: u64,
    /// Leakage of an SM without its SRAM. Unit: nanowatts.
    pub core_leakage_nw: u64,
    /// Leakage of its SRAM, which the core's does not contain.
    pub sram_leakage: SramLeakage,
    /// DRAM. Unit: attojoules for each bit.
    pub dram_aj_per_bit: u64,
    /// Clock that cycles are counted by. Unit: kilohertz.
    pub clock_khz: NonZeroU32,
}

named! {
    /// What lies in an SM's storage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum StorageArea {
        /// Registers.
        Registers = "registers",
        /// Shared memory.
        Shared = "shared",
        /// Cache.
        Cache = "cache",
    }
}

impl StorageArea {
    /// What lies there, in a sentence.
    const fn told(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Shared => "shared memory",
            Self::Cache => "the cache",
        }
    }
}

named! {
    /// In which array the cache lies, where the areas of an SM have fixed sizes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum CacheArray {
        /// In its own.
        #[default]
        Own = "own",
        /// In that of shared memory, as in Fermi: the limited designs of `[MICRO2012]` 6.3 and
        /// `[DISS]` 7.5.
        WithSharedMemory = "with-shared-memory",
    }
}

/// How an SM's storage lies in banks while an application runs.
///
/// Registers lie in banks of 16 bytes. Shared memory and cache of fixed sizes lie in banks of 4
/// bytes; in unified storage they share the registers' banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageConfiguration {
    /// How it is divided.
    pub division: Division,
    /// Where the cache lies; without meaning in unified storage.
    pub cache_array: CacheArray,
}

impl StorageConfiguration {
    /// Areas with an array each, or unified storage.
    pub const fn of(division: Division) -> Self {
        Self { division, cache_array: CacheArray::Own }
    }

    /// Areas of which shared memory and cache are one array.
    pub const fn limited(division: Division) -> Self {
        Self { division, cache_array: CacheArray::WithSharedMemory }
    }

    /// The array of 32 banks that an area lies in. Unit: bytes.
    pub fn array_bytes(&self, area: StorageArea) -> u64 {
        let Areas { registers, shared, cache } = match self.division {
            Division::Partitioned(areas) => areas,
            Division::Unified { bytes, .. } => return bytes.into(),
        };
        let together = u64::from(shared) + u64::from(cache);
        match (area, self.cache_array) {
            (StorageArea::Registers, _) => registers.into(),
            (StorageArea::Shared, CacheArray::Own) => shared.into(),
            (StorageArea::Cache, CacheArray::Own) => cache.into(),
            (_, CacheArray::WithSharedMemory) => together,
        }
    }

    /// What leaks over a run, each byte for as many cycles as it does. Unit: byte cycles.
    fn leaking(&self, counts: &StorageCounts) -> u128 {
        let all = u128::from(self.division.capacity()) * u128::from(counts.cycles);
        all.saturating_sub(counts.disabled_byte_cycles)
    }
}

/// What accesses of shared memory or of the cache moved: distinct words of 4 bytes, which banks of
/// 4 bytes count, and distinct rows of 16 bytes, which unified storage counts. Both are those of
/// each access by itself; a row counts whole, however many of its words are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryAccesses {
    /// Words read.
    pub read_words: u64,
    /// Rows read.
    pub read_rows: u64,
    /// Words written.
    pub written_words: u64,
    /// Rows written.
    pub written_rows: u64,
}

/// What a run did, without fills of the cache in [`Self::cache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StorageCounts {
    /// Operands read from the main register file by whole warps.
    pub register_reads: u64,
    /// Results written to it by whole warps.
    pub register_writes: u64,
    /// Shared memory.
    pub shared: MemoryAccesses,
    /// The cache, as accesses of the program find it.
    pub cache: MemoryAccesses,
    /// Lines written to the cache as they arrive.
    pub cache_fills: u64,
    /// Bytes moved from and to DRAM.
    pub dram_bytes: u64,
    /// What was switched off ([`Partition::disabled_bytes`]), each byte for as many cycles as it
    /// was: it leaks nothing. Accesses cost the same. Unit: byte cycles.
    ///
    /// [`Partition::disabled_bytes`]: crate::sm::partition::Partition::disabled_bytes
    pub disabled_byte_cycles: u128,
    /// Its cycles.
    pub cycles: u64,
    /// Cycles of the same program on the baseline.
    pub baseline_cycles: u64,
}

named! {
    /// What spends energy, in the order of `[DISS]` Figure 7.9, whose bank accesses are three here.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum StoragePart {
        /// Dynamic energy of the core: its power times the baseline's time.
        CoreDynamic = "core_dynamic",
        /// Leakage of the core.
        CoreLeakage = "core_leakage",
        /// Leakage of the SRAM that is switched on.
        SramLeakage = "sram_leakage",
        /// Accesses of the banks that registers lie in.
        RegisterBanks = "register_banks",
        /// Accesses of the banks that shared memory lies in, with the crossbar's share.
        SharedBanks = "shared_banks",
        /// Accesses of the banks that the cache lies in, and its fills, with the crossbar's share.
        CacheBanks = "cache_banks",
        /// DRAM.
        Dram = "dram",
    }
}

/// Why there is no energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoStorageEnergy {
    /// The table lacks the banks of an area; no energy is estimated from those of others.
    Bank {
        /// The area.
        area: StorageArea,
        /// The array that it lies in, in [`BANKS`] banks. Unit: bytes.
        array_bytes: u64,
    },
    /// The counts have accesses of an area that the configuration does not have.
    Area(StorageArea),
    /// The total, or a part, does not fit 64 bits of femtojoules, about 18 kilojoules.
    Overflow,
}

impl core::fmt::Display for NoStorageEnergy {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Bank { area, array_bytes } => write!(
                to,
                "no energy is known of a bank of {} bytes, of which {BANKS} hold {}",
                array_bytes / u64::from(BANKS),
                area.told()
            ),
            Self::Area(area) => {
                write!(to, "accesses of {}, for which the storage has no room", area.told())
            }
            Self::Overflow => to.write_str("the energy does not fit 64 bits of femtojoules"),
        }
    }
}

impl core::error::Error for NoStorageEnergy {}

/// Energy of a run by what spent it. Its parts sum to the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StorageEnergy {
    // Invariant: the sum of the parts fits.
    parts: [Femtojoules; StoragePart::ALL.len()],
    cycles: u64,
    baseline_cycles: u64,
    clock_khz: NonZeroU32,
}

impl StorageEnergy {
    /// Energy of a run. Each part is rounded once to the nearest femtojoule, ties up.
    ///
    /// # Errors
    /// The table lacks a bank that the configuration has, the counts have accesses of an area
    /// that it lacks, or a number does not fit.
    pub fn of(
        table: &StorageEnergyTable<'_>,
        configuration: &StorageConfiguration,
        counts: &StorageCounts,
    ) -> Result<Self, NoStorageEnergy> {
        let power = |nanowatts: u64, cycles: u64| table.over(nanowatts.into(), 1, cycles.into());
        let banks = |area| bank_energy(area, table, configuration, counts);
        let fits = |energy: Option<Femtojoules>| energy.ok_or(NoStorageEnergy::Overflow);
        let mut parts = [Femtojoules(0); StoragePart::ALL.len()];
        for part in StoragePart::ALL {
            parts[part as usize] = match part {
                StoragePart::CoreDynamic => {
                    fits(power(table.core_dynamic_nw, counts.baseline_cycles))
                }
                StoragePart::CoreLeakage => fits(power(table.core_leakage_nw, counts.cycles)),
                StoragePart::SramLeakage => fits(table.sram_over(configuration.leaking(counts))),
                StoragePart::RegisterBanks => banks(StorageArea::Registers),
                StoragePart::SharedBanks => banks(StorageArea::Shared),
                StoragePart::CacheBanks => banks(StorageArea::Cache),
                StoragePart::Dram => fits(table.dram(counts.dram_bytes)),
            }?;
        }
        let sum = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.0));
        sum.ok_or(NoStorageEnergy::Overflow)?;
        let StorageCounts { cycles, baseline_cycles, .. } = *counts;
        Ok(Self { parts, cycles, baseline_cycles, clock_khz: table.clock_khz })
    }

    /// What a part spent.
    pub const fn part(&self, part: StoragePart) -> Femtojoules {
        self.parts[part as usize]
    }

    /// Every part, in the order of [`StoragePart::ALL`].
    pub fn parts(&self) -> impl Iterator<Item = (StoragePart, Femtojoules)> {
        StoragePart::ALL.into_iter().zip(self.parts)
    }

    /// The accesses of all banks.
    pub fn banks(&self) -> Femtojoules {
        let banks = [StoragePart::RegisterBanks, StoragePart::SharedBanks, StoragePart::CacheBanks];
        Femtojoules(banks.into_iter().map(|part| self.part(part).0).sum())
    }

    /// The sum of the parts; [`Self::of`] has checked that it fits.
    pub fn total(&self) -> Femtojoules {
        Femtojoules(self.parts.iter().map(|part| part.0).sum())
    }

    /// The average power of the run, rounded to nearest, ties up. `None` if it took no time, or the
    /// power does not fit. Unit: nanowatts.
    pub fn power_nw(&self) -> Option<u64> {
        let energy = u128::from(self.total().0).checked_mul(u128::from(self.clock_khz.get()))?;
        nearest(energy, u128::from(self.cycles).checked_mul(NANOWATT_MILLISECOND)?)
    }

    /// Performance, the baseline's cycles for each cycle of the run, rounded to nearest, ties up.
    /// `None` if it took no time, or the number does not fit. Unit: millionths.
    pub fn performance_ppm(&self) -> Option<u64> {
        nearest(u128::from(self.baseline_cycles) * MILLION, self.cycles.into())
    }

    /// Performance for each watt, rounded to nearest, ties up. `None` if no energy was spent, or
    /// the number does not fit. Unit: millionths for each watt.
    ///
    /// The run's time cancels: relative to the baseline's this is the inverse of the relative
    /// energy. In `[DISS]` 7.5.4 the gain goes up to 120 % where energy falls by at most 20 % and
    /// performance rises by at most 75.6 %: that is performance for each *joule*, 1.756 / 0.8.
    pub fn performance_per_watt_ppm(&self) -> Option<u64> {
        // Performance x time / energy, where performance x cycles are the baseline's cycles. Unit:
        // millionths for each watt, of one for each femtojoule and kilohertz.
        const PER_FEMTOJOULE_KILOHERTZ: u128 = 1_000_000_000_000 * MILLION;

        let cycles = u128::from(self.baseline_cycles) * PER_FEMTOJOULE_KILOHERTZ;
        let energy = u128::from(self.total().0) * u128::from(self.clock_khz.get());
        nearest(cycles, energy)
    }
}

impl StorageEnergyTable<'_> {
    fn sram_over(&self, byte_cycles: u128) -> Option<Femtojoules> {
        let SramLeakage { nanowatts, .. } = self.sram_leakage;
        self.over(nanowatts.into(), self.sram_leakage.bytes(), byte_cycles)
    }

    /// A power for so many cycles, of which it takes a divisor of them as one.
    fn over(&self, nanowatts: u128, divisor: u128, cycles: u128) -> Option<Femtojoules> {
        let energy = nanowatts.checked_mul(cycles)?.checked_mul(NANOWATT_MILLISECOND)?;
        nearest(energy, divisor.checked_mul(self.clock_khz.get().into())?).map(Femtojoules)
    }

    fn dram(&self, bytes: u64) -> Option<Femtojoules> {
        let bits = u128::from(bytes) * BITS_PER_BYTE;
        let energy = bits.checked_mul(self.dram_aj_per_bit.into())?;
        nearest(energy, ATTOJOULES_PER_FEMTOJOULE).map(Femtojoules)
    }

    /// The bank of an array that has [`BANKS`] of them.
    fn bank(&self, array_bytes: u64) -> Option<BankEnergy> {
        let bytes = |bank: &SramBank| u64::from(bank.kilobytes) * KB * u64::from(BANKS);
        let bank = self.banks.iter().find(|bank| bytes(bank) == array_bytes);
        bank.map(|bank| bank.access)
    }
}

/// Accesses of 16 bytes, or as many parts of one as the divisor says.
#[derive(Clone, Copy)]
struct Accesses {
    reads: u128,
    writes: u128,
    /// A millionth of it is what each costs of an access of 16 bytes, before the division.
    share_ppm: u128,
    divisor: u128,
}

impl Accesses {
    /// Of whole warps: each is one access in each cluster.
    fn of_registers(counts: &StorageCounts) -> Self {
        let clusters = u128::from(CLUSTERS);
        let reads = u128::from(counts.register_reads) * clusters;
        let writes = u128::from(counts.register_writes) * clusters;
        Self { reads, writes, share_ppm: MILLION, divisor: 1 }
    }

    /// Of shared memory or the cache, in banks of 4 bytes.
    fn of_words(accesses: &MemoryAccesses, fills: u64) -> Self {
        let reads = accesses.read_words.into();
        let writes = u128::from(accesses.written_words) + u128::from(fills) * WORDS_PER_LINE;
        Self { reads, writes, share_ppm: MILLION, divisor: WORDS_PER_ROW }
    }

    /// Of shared memory or the cache, in banks of 16 bytes behind a crossbar.
    fn of_rows(accesses: &MemoryAccesses, fills: u64, crossbar_ppm: u32) -> Self {
        let reads = accesses.read_rows.into();
        let writes = u128::from(accesses.written_rows) + u128::from(fills) * ROWS_PER_LINE;
        Self { reads, writes, share_ppm: MILLION + u128::from(crossbar_ppm), divisor: 1 }
    }

    const fn any(&self) -> bool {
        self.reads != 0 || self.writes != 0
    }

    fn energy(&self, bank: BankEnergy) -> Option<Femtojoules> {
        let reads = self.reads.checked_mul(bank.read.0.into())?;
        let writes = self.writes.checked_mul(bank.write.0.into())?;
        let all = reads.checked_add(writes)?.checked_mul(self.share_ppm)?;
        nearest(all, MILLION * self.divisor).map(Femtojoules)
    }
}

/// The bank energy of an area.
fn bank_energy(
    area: StorageArea,
    table: &StorageEnergyTable<'_>,
    configuration: &StorageConfiguration,
    counts: &StorageCounts,
) -> Result<Femtojoules, NoStorageEnergy> {
    let memory = |accesses: &MemoryAccesses, fills: u64| match configuration.division {
        Division::Partitioned(_) => Accesses::of_words(accesses, fills),
        Division::Unified { .. } => Accesses::of_rows(accesses, fills, table.crossbar_ppm),
    };
    let accesses = match area {
        StorageArea::Registers => Accesses::of_registers(counts),
        StorageArea::Shared => memory(&counts.shared, 0),
        StorageArea::Cache => memory(&counts.cache, counts.cache_fills),
    };
    let array_bytes = configuration.array_bytes(area);
    match table.bank(array_bytes) {
        Some(bank) => accesses.energy(bank).ok_or(NoStorageEnergy::Overflow),
        None if array_bytes != 0 => Err(NoStorageEnergy::Bank { area, array_bytes }),
        None if accesses.any() => Err(NoStorageEnergy::Area(area)),
        None => Ok(Femtojoules(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn bank(kilobytes: u32, read: u64, write: u64) -> SramBank {
        let access = BankEnergy { read: Femtojoules(read), write: Femtojoules(write) };
        SramBank { kilobytes, access }
    }

    /// `[DISS]` Table 4.7, with the 12 KB of `[MICRO2012]` Table 4.
    const BANKS_BY_KB: [SramBank; 6] = [
        bank(1, 3_200, 3_900),
        bank(2, 3_900, 5_100),
        bank(4, 5_100, 7_300),
        bank(8, 9_800, 11_800),
        bank(12, 12_100, 14_900),
        bank(16, 12_200, 15_200),
    ];

    const fn nonzero(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    const TABLE: StorageEnergyTable<'_> = StorageEnergyTable {
        banks: &BANKS_BY_KB,
        crossbar_ppm: 100_000,
        core_dynamic_nw: 1_900_000_000,
        core_leakage_nw: 700_000_000,
        sram_leakage: SramLeakage { nanowatts: 200_000_000, kilobytes: nonzero(384) },
        dram_aj_per_bit: 40_000_000,
        clock_khz: nonzero(1_000_000),
    };

    const AS_PRINTED: SramLeakage = SramLeakage { nanowatts: 2_370_000, kilobytes: nonzero(1) };

    #[test]
    fn what_sram_leaks_by_hand() {
        let inferred = TABLE.sram_leakage;
        assert_eq!(inferred.of_bytes(384 * KB), Some(200_000_000));
        // 0.520833 mW for each KB.
        assert_eq!(inferred.of_bytes(KB), Some(520_833));
        assert_eq!(AS_PRINTED.of_bytes(KB), Some(2_370_000));
        // 0.91 W, which with the core's 0.7 W would be 1.61 W.
        assert_eq!(AS_PRINTED.of_bytes(384 * KB), Some(910_080_000));
        assert_eq!(AS_PRINTED.of_bytes(u64::MAX), None);
    }

    #[test]
    fn banks_by_array() {
        let read = |bytes| TABLE.bank(bytes).map(|bank| bank.read.0);
        assert_eq!(read(256 * KB), Some(9_800));
        assert_eq!(read(384 * KB), Some(12_100));
        assert_eq!(read(96 * KB), None, "no bank of 3 KB");
        assert_eq!(read(64 * KB + 32), None, "no bank of a byte more than 2 KB");
        assert_eq!(read(0), None);
    }

    #[test]
    fn arrays_of_areas() {
        let all = |configuration: StorageConfiguration| {
            StorageArea::ALL.map(|area| configuration.array_bytes(area) / KB)
        };
        let [shared_most, cache_most] = Division::MICRO12_LIMITED;
        assert_eq!(all(StorageConfiguration::of(Division::BASELINE)), [256, 64, 64]);
        assert_eq!(all(StorageConfiguration::of(shared_most)), [256, 96, 32]);
        assert_eq!(all(StorageConfiguration::limited(shared_most)), [256, 128, 128]);
        assert_eq!(all(StorageConfiguration::limited(cache_most)), [256, 128, 128]);
        for split in Division::DISSERTATION_LIMITED {
            assert_eq!(all(StorageConfiguration::limited(split)), [256, 64, 64]);
        }
        assert_eq!(all(StorageConfiguration::of(Division::micro12_unified(512))), [512; 3]);
    }

    #[test]
    fn a_part_is_rounded_once_with_ties_up() {
        // A word of 3 fJ for each row of four: 0.75 fJ each.
        let table = StorageEnergyTable { banks: &[bank(2, 3, 1)], ..TABLE };
        let areas = Areas { registers: 0, shared: 64 * 1024, cache: 0 };
        let configuration = StorageConfiguration::of(Division::Partitioned(areas));
        let shared = |read_words, written_words| {
            let shared = MemoryAccesses { read_words, written_words, ..Default::default() };
            let counts = StorageCounts { shared, ..StorageCounts::default() };
            let energy = StorageEnergy::of(&table, &configuration, &counts).unwrap();
            energy.part(StoragePart::SharedBanks).0
        };
        assert_eq!([1, 2, 3, 4].map(|words| shared(words, 0)), [1, 2, 2, 3]);
        assert_eq!((shared(0, 1), shared(0, 2), shared(1, 3)), (0, 1, 2));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let most = StorageEnergyTable {
            core_dynamic_nw: u64::MAX,
            dram_aj_per_bit: u64::MAX,
            clock_khz: NonZeroU32::MIN,
            ..TABLE
        };
        let baseline = StorageConfiguration::of(Division::BASELINE);
        for counts in [
            StorageCounts { baseline_cycles: u64::MAX, ..StorageCounts::default() },
            StorageCounts { baseline_cycles: 1, ..StorageCounts::default() },
            StorageCounts { cycles: u64::MAX, ..StorageCounts::default() },
            StorageCounts { dram_bytes: u64::MAX, ..StorageCounts::default() },
            StorageCounts { register_reads: u64::MAX, ..StorageCounts::default() },
            StorageCounts { cache_fills: u64::MAX, ..StorageCounts::default() },
        ] {
            let refused = StorageEnergy::of(&most, &baseline, &counts);
            assert_eq!(refused, Err(NoStorageEnergy::Overflow), "{counts:?}");
        }
        // Each part fits, the total does not: 2.8 W for 7000 s.
        let long = StorageEnergyTable { clock_khz: nonzero(1), ..TABLE };
        let counts =
            |cycles| StorageCounts { cycles, baseline_cycles: cycles, ..StorageCounts::default() };
        let energy = |cycles| StorageEnergy::of(&long, &baseline, &counts(cycles));
        assert!(energy(6_500_000).is_ok());
        assert_eq!(energy(7_000_000), Err(NoStorageEnergy::Overflow));
    }
}
