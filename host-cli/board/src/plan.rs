//! Plan: the parts of a design that the prototype has, and the commands that follow from them.
//!
//! The hardware has one register file cache for each warp and 16 banks of one port, with a write
//! pool in front of them where the design has one. What it takes over from a design: the cache and
//! its policies, scheduling in one or two levels, split bank writes, the cycles of a write, the
//! write pool. What it leaves: collectors and their timing, energy, the window and the four banks
//! of machines without collectors, whose writes take a cycle here. What it has in one form alone is
//! said ([`Plan::instead`]): its registers lie one after another, and its pool does one access in a
//! clock.

use strata_core::bank_layout::BankLayout;
use strata_core::organisation::{CachedLevels, LevelSettings};
use strata_core::prototype::cache_block::CacheSettings;
use strata_core::prototype::settings::{REGISTERS, Settings};
use strata_core::register_file_cache::{Allocation, MAX_ENTRIES, RegisterFileCacheConfig};
use strata_core::rules::Rules;
use strata_core::sm::config::StorageKind;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::write_pool::PoolPorts;

use strata_design::{self as design, Design};
use strata_files::failure::Failure;

/// Warps of the prototype.
pub const WARPS: usize = 8;
/// Lanes of the prototype: those of one cluster.
pub const LANES: u32 = 4;
/// The lanes of a warp that take part, 0 to 3.
pub const CLUSTER: u32 = (1 << LANES) - 1;
/// Entries of the prototype's write pool.
pub const POOL_ENTRIES: u8 = 60;
/// Most registers of a thread.
pub const MOST_REGISTERS: u16 = REGISTERS / WARPS as u16;
/// Banks of the prototype's main register file, each with one port.
const BANKS: u8 = 16;
/// Longest write of a bank. Unit: cycles.
const MOST_WRITE_CYCLES: u8 = 15;

/// A design as the prototype has it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The design's name.
    pub design: String,
    /// The cache, with what its requester decides: fills and bypasses.
    pub cache: Option<RegisterFileCacheConfig>,
    /// When warps leave the active set, and the cache is flushed.
    pub rules: Rules,
    /// There is a write pool.
    pub pool: bool,
    /// Parts of the design that the prototype has in another form, one sentence each.
    pub instead: Vec<String>,
    settings: Settings,
}

impl Plan {
    /// What the prototype has of a design.
    ///
    /// # Errors
    ///
    /// The hardware cannot do something that the design is about.
    pub fn new(design: &Design) -> Result<Self, Failure> {
        if let Some((what, hint)) = beyond(design) {
            return Err(Failure::input(format!(
                "the prototype has {what}, which `{}` needs",
                design.argument
            ))
            .hint(hint));
        }
        let mut settings = Settings {
            cache: design.cache().map(|cache| CacheSettings {
                entries: cache.entries,
                replacement: cache.replacement,
                liveness: cache.liveness,
            }),
            write_pool_entries: 0,
            split_bank_write: false,
            write_cycles: 1,
            registers_per_warp: 0,
        };
        if let OperandDelivery::Collectors(delivery) = design.sm.operand_delivery {
            settings.write_pool_entries = delivery.write_pool_entries;
            settings.split_bank_write = delivery.split_bank_write;
            settings.write_cycles = delivery.write_cycles;
        }
        Ok(Self {
            design: design.name.clone(),
            cache: design.cache(),
            rules: Rules::of(design.organisation().settings()),
            pool: settings.write_pool_entries != 0,
            instead: instead(design),
            settings,
        })
    }

    /// The settings for kernels of at most `registers`, which are at most [`MOST_REGISTERS`].
    pub fn settings(&self, registers: u16) -> Settings {
        let registers_per_warp = registers.clamp(1, MOST_REGISTERS) as u8;
        Settings { registers_per_warp, ..self.settings }
    }
}

/// What the hardware has instead of what a design needs, and what to do about it.
fn beyond(design: &Design) -> Option<(String, &'static str)> {
    const OTHER: &str = "designs that it can do are `isca11-rfc6`, `sttram` and `warrf-rfc6`";
    if design.data_cache.is_some() {
        let own = design::is_file(&design.argument);
        let hint = if own { "leave `[data_cache]` out" } else { OTHER };
        return Some(("no memory with addresses".to_owned(), hint));
    }
    if design.sm.storage == StorageKind::Expars {
        return Some(("no registers in scratchpad memory".to_owned(), OTHER));
    }
    if design.sorted_registers {
        let what = "registers where the compiler puts them, not sorted ones";
        return Some((what.to_owned(), "leave `sorted` out of `[registers]`"));
    }
    match design.organisation().levels() {
        LevelSettings::CompilerManaged => {
            return Some(("no operand register file".to_owned(), OTHER));
        }
        LevelSettings::Cached(CachedLevels { last_result_file: true, .. }) => {
            return Some(("no last result file".to_owned(), "leave `-lrf` away"));
        }
        LevelSettings::Cached(CachedLevels { cache, .. }) if cache.liveness_aware_eviction => {
            let hint = "leave `-bypass` and `liveness_aware_eviction` away";
            return Some(("no liveness-aware eviction".to_owned(), hint));
        }
        LevelSettings::Cached(CachedLevels { cache, .. }) if cache.entries > MAX_ENTRIES => {
            return Some((format!("{MAX_ENTRIES} entries of a warp, not more"), OTHER));
        }
        LevelSettings::Flat | LevelSettings::Cached(_) => {}
    }
    let OperandDelivery::Collectors(delivery) = design.sm.operand_delivery else { return None };
    if delivery.banks != BANKS {
        return Some((format!("{BANKS} banks, not {}", delivery.banks), OTHER));
    }
    if delivery.read_cycles != 1 {
        let cycles = delivery.read_cycles;
        return Some((format!("reads of 1 cycle, not of {cycles}"), "give it a faster memory"));
    }
    if delivery.write_cycles > MOST_WRITE_CYCLES {
        let cycles = delivery.write_cycles;
        let what = format!("writes of up to {MOST_WRITE_CYCLES} cycles, not of {cycles}");
        return Some((what, "give it a faster memory"));
    }
    if delivery.write_pool_entries > POOL_ENTRIES {
        let entries = delivery.write_pool_entries;
        let what = format!("a write pool of up to {POOL_ENTRIES} entries, not of {entries}");
        return Some((what, "set `write_pool_entries` to 60 or less"));
    }
    None
}

/// The parameters of a design for which the prototype has a fixed value of its own. They change
/// when an access happens, not its outcome.
fn instead(design: &Design) -> Vec<String> {
    let Some(delivery) = design.collectors() else { return Vec::new() };
    let (own, name) = (PoolPorts::Any(1), &design.name);
    let mut all = Vec::new();
    if delivery.bank_layout != BankLayout::Linear {
        let [own, its] = [BankLayout::Linear, delivery.bank_layout].map(BankLayout::name);
        all.push(format!("bank_layout = {own} ({name}: {its})"));
    }
    if delivery.write_pool_entries != 0 && delivery.write_pool_ports != own {
        let its = delivery.write_pool_ports;
        all.push(format!("write_pool_ports = {own} ({name}: {its})"));
    }
    all
}

impl Plan {
    /// Whether operands that miss are taken into the cache.
    pub(super) fn allocates_reads(&self) -> bool {
        self.cache.is_some_and(|cache| cache.allocation == Allocation::WritesAndReads)
    }
}
