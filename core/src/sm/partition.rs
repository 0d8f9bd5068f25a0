//! Partition: how much of an SM's storage is registers, shared memory and cache, and how many
//! threads are resident with it.
//!
//! Models: areas of fixed sizes; unified storage, of which the resident CTAs take registers and
//! shared memory, as many of them as fit, and the cache what is left; the size of the cache's tags.
//! Does not model: the bank of a byte (the papers' 32 banks give each region all of them), or what
//! the cache does with its part. Cycle mode does not use it yet.
//! Source: `[MICRO2012]` 2.2, 4.1, 4.4, 4.5, 6.3 to 6.5; `[DISS]` 7.2, 7.3.1, 7.3.5, 7.3.6, 7.5;
//! `docs/DEVIATIONS.md`, DEV-081 to DEV-084.
//!
//! ```
//! use strata_core::sm::partition::{Division, Limits, Needs};
//!
//! // `needle` with a blocking factor of 32.
//! let needs = Needs { threads_per_cta: 32, registers: 18, shared_bytes: 8452 };
//! let partition = Division::micro12_unified(384).partition(&needs, &Limits::MICRO12)?;
//! assert_eq!(partition.threads(), 1024);
//! assert_eq!(partition.registers().bytes, 72 * 1024);
//! assert_eq!(partition.shared().bytes, 32 * 8452);
//! assert_eq!(partition.cache().bytes, 46 * 1024);
//! # Ok::<(), strata_core::sm::config::CtaTooLarge>(())
//! ```

use super::memory::touched::LINE_BYTES;
use super::residency::{CtaTooLarge, Launch, Limit, Residency, most_ctas};
use crate::named;
use crate::units::LANES;

/// Banks of unified storage, and of each area of fixed size, of whatever capacity (`[MICRO2012]`
/// 4.1).
pub const BANKS: u32 = 32;
/// Ways of the cache (`[MICRO2012]` Table 2).
pub const WAYS: u32 = 4;
/// Step of a cache's size, of which each set lies in one bank of each cluster: the lines of one set
/// for each of a cluster's banks. Unit: bytes.
pub const CACHE_STEP: u32 = WAYS * LINE_BYTES * BANKS_PER_CLUSTER;
/// Step in which capacity is switched off, a KB of each bank. Unit: bytes.
pub const DISABLED_STEP: u32 = BANKS * KB;

const BANKS_PER_CLUSTER: u32 = 4;
const KB: u32 = 1024;
/// A register of a thread. Unit: bytes.
const REGISTER_BYTES: u32 = 4;
/// Bits of a byte's address that a tag is compared with, an assumption (DEV-084).
const ADDRESS_BITS: u32 = 32;

/// What the CTAs of an application need: of its kernels, each number's maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Threads of a CTA. Range: from 1; 0 counts as 1. They fill warps, of which the last may have
    /// idle lanes.
    pub threads_per_cta: u32,
    /// Registers of a thread. Unit: 32-bit registers.
    pub registers: u16,
    /// Shared memory of a CTA. Unit: bytes.
    pub shared_bytes: u32,
}

impl Needs {
    /// Warps of a CTA. At least 1.
    pub const fn warps_per_cta(&self) -> u32 {
        self.threads().div_ceil(LANES)
    }

    /// What residency in an SM is computed from.
    pub const fn launch(&self) -> Launch {
        let Self { registers, shared_bytes, .. } = *self;
        Launch { warps_per_cta: self.warps_per_cta(), registers, shared_bytes }
    }

    const fn threads(&self) -> u32 {
        if self.threads_per_cta == 0 { 1 } else { self.threads_per_cta }
    }

    /// Registers of a thread. Unit: bytes.
    const fn register_bytes(&self) -> u64 {
        (self.registers as u32 * REGISTER_BYTES) as u64
    }

    /// Registers of a CTA: idle lanes have some as well. Unit: bytes.
    const fn register_bytes_per_cta(&self) -> u64 {
        self.warps_per_cta() as u64 * LANES as u64 * self.register_bytes()
    }
}

/// What an SM has room for, whatever its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most resident threads; the idle lanes of a CTA's last warp do not count.
    pub threads: u32,
    /// Most resident warps.
    pub warps: u32,
    /// Most resident CTAs; `None`: as many as threads and warps allow.
    pub ctas: Option<u32>,
}

impl Limits {
    /// `[MICRO2012]` and `[DISS]` chapter 7: 1024 threads; no limit of CTAs (DEV-081).
    pub const MICRO12: Self = Self { threads: 1024, warps: 32, ctas: None };
}

/// Areas of fixed sizes. Unit of every field: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas {
    /// Registers.
    pub registers: u32,
    /// Shared memory.
    pub shared: u32,
    /// Cache.
    pub cache: u32,
}

impl Areas {
    /// The dissertation's designs of fixed sizes (`[DISS]` 7.5), the smallest first; the third is
    /// both papers' baseline.
    pub const DISSERTATION: [Self; 5] = [
        Self::kb(128, 32, 32),
        Self::kb(128, 64, 64),
        Self::kb(256, 64, 64),
        Self::kb(256, 256, 256),
        Self::kb(512, 512, 512),
    ];

    /// Areas of so many KB.
    const fn kb(registers: u32, shared: u32, cache: u32) -> Self {
        Self { registers: registers * KB, shared: shared * KB, cache: cache * KB }
    }
}

named! {
    /// Sizes that the cache of unified storage can have (DEV-083).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CacheSizes {
        /// Multiples of [`CACHE_STEP`].
        Multiples = "multiples",
        /// Powers of two from [`CACHE_STEP`] up, as far as `[DISS]` 7.5.6 simulated.
        PowersOfTwo = "powers-of-two",
    }
}

/// What the cache of unified storage may take of the bytes that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRule {
    /// The sizes that it can have; it takes the largest that fits.
    pub sizes: CacheSizes,
    /// The largest size that there are tags for (`[MICRO2012]` 4.1), or that the application makes
    /// use of (`[DISS]` 7.3.6); `None`: all of the storage. Unit: bytes.
    pub most: Option<u32>,
    /// Switch off what is unused (`[DISS]` 7.3.6), in steps of [`DISABLED_STEP`].
    pub disable_unused: bool,
}

impl CacheRule {
    /// The largest cache within so many bytes. Unit: bytes.
    fn largest(&self, left: u64) -> u64 {
        let left = self.most.map_or(left, |most| left.min(most.into()));
        let step = u64::from(CACHE_STEP);
        match self.sizes {
            CacheSizes::Multiples => left - left % step,
            CacheSizes::PowersOfTwo if left < step => 0,
            CacheSizes::PowersOfTwo => 1 << left.ilog2(),
        }
    }
}

/// How the storage of an SM is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// In areas of fixed sizes.
    Partitioned(Areas),
    /// For each application: registers and shared memory first, the rest is cache.
    Unified {
        /// Capacity. Unit: bytes. Where a limit study has it without bounds, the most.
        bytes: u32,
        /// What the cache may take.
        cache: CacheRule,
    },
}

impl Division {
    /// The baseline of both papers (`[MICRO2012]` Table 2, `[DISS]` 7.5).
    pub const BASELINE: Self = Self::Partitioned(Areas::DISSERTATION[2]);
    /// `[MICRO2012]` 6.3: either of two ways to divide what is no register file, chosen for each
    /// application.
    pub const MICRO12_LIMITED: [Self; 2] =
        [Self::Partitioned(Areas::kb(256, 96, 32)), Self::Partitioned(Areas::kb(256, 32, 96))];
    /// `[DISS]` 7.2: the same of a smaller storage, like Fermi's.
    pub const DISSERTATION_LIMITED: [Self; 2] =
        [Self::Partitioned(Areas::kb(256, 16, 48)), Self::Partitioned(Areas::kb(256, 48, 16))];

    /// `[MICRO2012]`'s unified storage of so many KB. Range: up to 4,194,303.
    pub const fn micro12_unified(kilobytes: u32) -> Self {
        Self::unified(kilobytes, CacheSizes::Multiples)
    }

    /// `[DISS]` chapter 7's unified storage of so many KB. Range: up to 4,194,303.
    pub const fn dissertation_unified(kilobytes: u32) -> Self {
        Self::unified(kilobytes, CacheSizes::PowersOfTwo)
    }

    const fn unified(kilobytes: u32, sizes: CacheSizes) -> Self {
        let cache = CacheRule { sizes, most: None, disable_unused: false };
        Self::Unified { bytes: kilobytes.saturating_mul(KB), cache }
    }

    /// All storage. Unit: bytes.
    pub fn capacity(&self) -> u64 {
        match *self {
            Self::Partitioned(Areas { registers, shared, cache }) => {
                u64::from(registers) + u64::from(shared) + u64::from(cache)
            }
            Self::Unified { bytes, .. } => bytes.into(),
        }
    }

    /// The most that each kind of storage can have.
    pub const fn largest(&self) -> Areas {
        match *self {
            Self::Partitioned(areas) => areas,
            Self::Unified { bytes, .. } => Areas { registers: bytes, shared: bytes, cache: bytes },
        }
    }

    /// The bank that registers lie in, rounded down. Unit: bytes.
    pub const fn register_bank_bytes(&self) -> u32 {
        match *self {
            Self::Partitioned(Areas { registers: bytes, .. }) | Self::Unified { bytes, .. } => {
                bytes / BANKS
            }
        }
    }

    /// The most CTAs that fit, and what each kind of storage has with them.
    ///
    /// # Errors
    /// Not even one CTA fits: the limit, what a CTA needs of it and what the SM has.
    pub fn partition(&self, needs: &Needs, limits: &Limits) -> Result<Partition, CtaTooLarge> {
        let (threads_per_cta, warps_per_cta) = (needs.threads(), needs.warps_per_cta());
        let shared_per_cta = u64::from(needs.shared_bytes);
        let registers_per_cta = needs.register_bytes_per_cta();
        let [storage, other_storage] = self.demands(registers_per_cta, shared_per_cta);
        let (ctas, limit) = most_ctas(&[
            (Limit::Warps, warps_per_cta.into(), limits.warps.into()),
            (Limit::Ctas, 1, limits.ctas.unwrap_or(u32::MAX).into()),
            storage,
            other_storage,
            (Limit::Threads, threads_per_cta.into(), limits.threads.into()),
        ])?;
        let registers = u64::from(ctas) * registers_per_cta;
        let shared = u64::from(ctas) * shared_per_cta;
        let regions = self.regions(registers, shared);
        let rule_threads = self.rule_threads(needs, limits);
        let (threads, warps) = (ctas * threads_per_cta, ctas * warps_per_cta);
        Ok(Partition { regions, ctas, threads, warps, rule_threads, limit })
    }

    /// One partition for all kernels of an application: registers and shared memory have what the
    /// kernel has that needs most of each, with the most threads with which both fit. What is said
    /// of CTAs and threads is that of the kernel that needs most storage, the first of several.
    ///
    /// # Errors
    /// No kernel, which counts as one CTA that is not there; or not even one CTA of a kernel fits.
    pub fn partition_for(
        &self,
        kernels: &[Needs],
        limits: &Limits,
    ) -> Result<Partition, CtaTooLarge> {
        let mut threads = limits.threads;
        loop {
            let limits = Limits { threads, ..*limits };
            let (largest, registers, shared) = self.largest_of(kernels, &limits)?;
            if self.has_room_for(registers, shared) {
                return Ok(Partition { regions: self.regions(registers, shared), ..largest });
            }
            // What every kernel fits alone fits together with fewer threads, or with a CTA each it
            // does not.
            let fewer = largest.threads.min(threads) - 1;
            let smallest = kernels.iter().map(Needs::threads).max().unwrap_or(1);
            if fewer < smallest {
                let (limit, available) = (Limit::UnifiedStorage, self.capacity());
                return Err(CtaTooLarge { limit, needed: registers + shared, available });
            }
            threads = fewer;
        }
    }

    /// The partition of the kernel that needs most storage, and the registers and shared memory of
    /// those that need most of each. Unit: bytes.
    fn largest_of(
        &self,
        kernels: &[Needs],
        limits: &Limits,
    ) -> Result<(Partition, u64, u64), CtaTooLarge> {
        let mut found: Option<(Partition, u64, u64)> = None;
        for needs in kernels {
            let one = self.partition(needs, limits)?;
            let bytes = |one: &Partition| one.registers().bytes + one.shared().bytes;
            let (registers, shared) = (one.registers().bytes, one.shared().bytes);
            found = Some(match found {
                None => (one, registers, shared),
                Some((all, most_registers, most_shared)) => (
                    if bytes(&one) > bytes(&all) { one } else { all },
                    most_registers.max(registers),
                    most_shared.max(shared),
                ),
            });
        }
        found.ok_or(CtaTooLarge { limit: Limit::Ctas, needed: 1, available: 0 })
    }

    /// Whether registers and shared memory of so many bytes fit together.
    fn has_room_for(&self, registers: u64, shared: u64) -> bool {
        match *self {
            Self::Partitioned(_) => true,
            Self::Unified { bytes, .. } => registers + shared <= u64::from(bytes),
        }
    }

    /// The regions where registers and shared memory take so many bytes; they fit.
    fn regions(&self, registers: u64, shared: u64) -> Regions {
        let region = |start, bytes| Region { start, bytes };
        let capacity = self.capacity();
        let (regions, disable_unused) = match *self {
            Self::Partitioned(areas) => {
                let shared_from = u64::from(areas.registers);
                let cache_from = shared_from + u64::from(areas.shared);
                let cache = region(cache_from, areas.cache.into());
                ([region(0, registers), region(shared_from, shared), cache], false)
            }
            Self::Unified { cache: rule, .. } => {
                // The cache comes first: its sets start at a bank's first row, registers and shared
                // memory at the start of a line, whatever their sizes.
                let cache = rule.largest(capacity - registers - shared);
                let shared_from = cache + registers;
                let regions =
                    [region(cache, registers), region(shared_from, shared), region(0, cache)];
                (regions, rule.disable_unused)
            }
        };
        let unused = capacity - regions.iter().map(|region| region.bytes).sum::<u64>();
        let disabled = if disable_unused { unused - unused % u64::from(DISABLED_STEP) } else { 0 };
        let [registers, shared, cache] = regions;
        Regions { registers, shared, cache, unused, disabled }
    }

    /// What a CTA needs of each kind of storage and what the SM has. Unified storage is both kinds.
    fn demands(&self, registers: u64, shared: u64) -> [(Limit, u64, u64); 2] {
        match *self {
            Self::Partitioned(areas) => [
                (Limit::Registers, registers, areas.registers.into()),
                (Limit::SharedMemory, shared, areas.shared.into()),
            ],
            Self::Unified { bytes, .. } => {
                [(Limit::UnifiedStorage, registers + shared, bytes.into()); 2]
            }
        }
    }

    /// Threads by the division of `[MICRO2012]` 4.5, before they fill warps and CTAs.
    fn rule_threads(&self, needs: &Needs, limits: &Limits) -> u32 {
        let threads = u128::from(needs.threads());
        let registers = threads * u128::from(needs.register_bytes());
        let shared = u128::from(needs.shared_bytes);
        // Both sides are those of a CTA, so that bytes of a thread need not be whole.
        let fit = |bytes: u32, of_cta: u128| {
            let fit = (u128::from(bytes) * threads).checked_div(of_cta);
            fit.and_then(|fit| u32::try_from(fit).ok()).unwrap_or(u32::MAX)
        };
        let fit = match *self {
            Self::Partitioned(areas) => {
                fit(areas.registers, registers).min(fit(areas.shared, shared))
            }
            Self::Unified { bytes, .. } => fit(bytes, registers + shared),
        };
        fit.min(limits.threads)
    }
}

/// A part of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first byte, counted from the storage's first. Unit: bytes.
    pub start: u64,
    /// Its size. Unit: bytes.
    pub bytes: u64,
}

impl Region {
    /// The byte behind it, counted from the storage's first. Unit: bytes.
    pub const fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Regions {
    registers: Region,
    shared: Region,
    cache: Region,
    unused: u64,
    disabled: u64,
}

/// What each kind of storage has while an application runs, and how many threads are resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    // Invariants: the regions do not overlap; together with what is unused they are the capacity.
    // What is disabled is part of what is unused. At least one CTA is resident, and no more than
    // `limit` allows.
    regions: Regions,
    ctas: u32,
    threads: u32,
    warps: u32,
    rule_threads: u32,
    limit: Limit,
}

impl Partition {
    /// The registers of the resident warps.
    pub const fn registers(&self) -> Region {
        self.regions.registers
    }

    /// The shared memory of the resident CTAs.
    pub const fn shared(&self) -> Region {
        self.regions.shared
    }

    /// The cache. Of unified storage, a size that its rule allows, or nothing.
    pub const fn cache(&self) -> Region {
        self.regions.cache
    }

    /// What is none of them: room too small for a CTA, and sizes that the cache cannot have. Unit:
    /// bytes.
    pub const fn unused_bytes(&self) -> u64 {
        self.regions.unused
    }

    /// The part of the unused bytes that is switched off. Unit: bytes.
    pub const fn disabled_bytes(&self) -> u64 {
        self.regions.disabled
    }

    /// Resident CTAs. At least 1.
    pub const fn ctas(&self) -> u32 {
        self.ctas
    }

    /// Resident threads, in whole CTAs.
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Threads by the division of `[MICRO2012]` 4.5 alone: the capacity by what a thread needs,
    /// within the limit of threads. Whole warps and CTAs are at most as many (DEV-082).
    pub const fn rule_threads(&self) -> u32 {
        self.rule_threads
    }

    /// What keeps the next CTA out; of several, the first in the order of [`Limit::ALL`].
    pub const fn limit(&self) -> Limit {
        self.limit
    }

    /// Residency of a launch with this partition, in banks that leave no register empty.
    pub const fn residency(&self) -> Residency {
        let Self { ctas, warps, limit, .. } = *self;
        Residency { ctas, warps, limit, empty_registers: 0 }
    }
}

/// Bits of a line's tag in a cache of this size: those that tell lines of one set apart, where the
/// set is the line's number modulo the sets. Range of the size: from 512 bytes, one set.
///
/// ```
/// use strata_core::sm::partition::tag_bits;
///
/// // 32 bits, less 7 for the byte of a line and 7 for one of 128 sets.
/// assert_eq!(tag_bits(64 * 1024), 18);
/// assert_eq!(tag_bits(32 * 1024), 19);
/// ```
pub const fn tag_bits(cache_bytes: u32) -> u32 {
    let sets = match cache_bytes / (WAYS * LINE_BYTES) {
        0 => 1,
        sets => sets,
    };
    let lines = 1_u32 << (ADDRESS_BITS - LINE_BYTES.ilog2());
    u32::BITS - (lines.div_ceil(sets) - 1).leading_zeros()
}

/// The tags of a cache of up to `largest` bytes, with `bits` for each line. Unit: bytes, rounded
/// up.
pub const fn tag_bytes(largest: u32, bits: u32) -> u64 {
    ((largest / LINE_BYTES) as u64 * bits as u64).div_ceil(8)
}
