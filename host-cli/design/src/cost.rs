//! Cost of a design: storage, area, energy of each kind of access, and the model's own memory.

mod collectors;
mod sizes;

use strata_compiler::hierarchy::Lrf;
use strata_core::energy::{BankEnergy, EnergyTable};
use strata_core::event::{Counters, EnergyClass, Event};
use strata_core::footprint::Footprint;
use strata_core::level::Level;
use strata_core::organisation::{CachedLevels, LevelSettings};
use strata_core::placement::LRF_BANKS;
use strata_core::register_file_cache::{Allocation, Replacement};
use strata_core::units::{CLUSTERS, Femtojoules, LANES};

use crate::{Design, Machine};
pub use collectors::{
    AreaCost, CollectorCost, WritePoolCost, split_bank_write_bits, write_pool_bytes,
};
use collectors::{area_cost, collector_cost, model_bytes};
use sizes::REGISTER_BYTES;
pub use sizes::TAG_BITS;

/// What a design costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Main register file of an SM. Unit: bytes.
    pub register_file_bytes: u64,
    /// The register file cache, of a design that has one.
    pub cache: Option<CacheCost>,
    /// The last result file in front of the cache, of a design that has one.
    pub last_result_file: Option<LastResultCost>,
    /// The levels that the compiler manages, of a design that has them.
    pub managed: Option<ManagedCost>,
    /// Operand collectors and what is around them, of a design that has them.
    pub collectors: Option<CollectorCost>,
    /// Area of the main register file, where its technology says.
    pub area: Option<AreaCost>,
    /// Energy of one access of a whole warp, or why it is not known.
    pub accesses: Result<Vec<AccessCost>, String>,
    /// Bits that the design adds to every instruction.
    pub encoding_bits: u32,
    /// Memory of the model for one SM with all its registers in use, with the host's capacity.
    /// Unit: bytes.
    pub model_host_bytes: usize,
    /// Memory of the model for one SM with all its registers in use, with the device's capacity, if
    /// the design fits it. Unit: bytes.
    pub model_device_bytes: Option<usize>,
    /// Values that no source prints.
    pub assumed: Vec<String>,
}

/// Storage and area of a register file cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheCost {
    /// Data of an SM. Unit: bytes.
    pub data_bytes: u64,
    /// Data of one lane's bank. Unit: bytes.
    pub data_bytes_per_lane: u64,
    /// Tags of an SM. Unit: bits.
    pub tag_bits: u64,
    /// Valid, dirty and hint bits, lane masks and replacement order of an SM. Unit: bits.
    pub state_bits: u64,
    /// Area of one lane's bank, where a table prints it. Unit: square micrometres.
    pub area_um2_per_lane: Option<u64>,
    /// Area of all lanes' banks. Unit: square micrometres.
    pub area_um2: Option<u64>,
}

/// Storage of a last result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastResultCost {
    /// Data of an SM. Unit: bytes.
    pub data_bytes: u64,
    /// Data of one lane's bank. Unit: bytes.
    pub data_bytes_per_lane: u64,
    /// Tags of an SM. Unit: bits.
    pub tag_bits: u64,
    /// Hint bits and lane masks of an SM; an entry without lanes is vacant. Unit: bits.
    pub state_bits: u64,
}

/// Storage of levels that the compiler manages: data alone, since instructions name the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedCost {
    /// Operand register file.
    pub operand_register_file: DataBytes,
    /// Last result file; a split one holds a register for each operand slot.
    pub last_result_file: Option<DataBytes>,
}

/// Data of a level. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataBytes {
    /// Of an SM.
    pub sm: u64,
    /// Of one lane's bank.
    pub lane: u64,
}

impl DataBytes {
    fn of(entries: u8, active_warps: u8) -> Self {
        let sm = cache_data_bytes(entries, active_warps);
        Self { sm, lane: sm / u64::from(LANES) }
    }
}

/// Energy of one kind of access of a whole warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessCost {
    /// What is accessed, and for which datapath.
    pub what: String,
    /// In the banks.
    pub bank: Femtojoules,
    /// On the wires.
    pub wire: Femtojoules,
}

/// Data of a level in one SM. Unit: bytes.
pub fn cache_data_bytes(entries: u8, active_warps: u8) -> u64 {
    u64::from(entries) * u64::from(active_warps) * u64::from(LANES) * REGISTER_BYTES
}

/// Main register file of an SM. Unit: bytes.
pub fn register_file_bytes(machine: &Machine) -> u64 {
    u64::from(machine.sm.register_file_kb) * 1024
}

/// Computes the cost of a design.
pub fn cost(design: &Design) -> Cost {
    let register_file_bytes = u64::from(design.sm.register_file_bytes);
    let warps = usize::from(design.sm.max_warps);
    let of_all_warps = u64::from(LANES) * REGISTER_BYTES * u64::from(design.sm.max_warps);
    let registers = usize::try_from(register_file_bytes / of_all_warps).unwrap_or(usize::MAX);
    let active = if design.cache().is_some() { usize::from(design.active_warps()) } else { 0 };
    let delivery = model_bytes(design, warps * registers);
    let device = Footprint::DEVICE.sm(active, warps, registers) + delivery;
    let small = usize::from(design.cache().map_or(0, |cache| cache.entries));
    let fits = small <= strata_core::footprint::DEVICE_CAPACITY;
    let mut assumed = design.assumed.clone();
    let cache = cache_cost(design);
    if let Some(cache) = &cache {
        assumed.push(format!("tags of {TAG_BITS} bits, and the bits of an entry's state"));
        if cache.area_um2.is_some() {
            assumed.push("the printed area is that of one lane's bank".to_owned());
        }
    }
    let (collectors, area) = (collector_cost(design), area_cost(design));
    if collectors.is_some() {
        assumed.push(
            "a collector unit holds the operands of a fused multiply-add, with their warp, \
             register and lanes"
                .to_owned(),
        );
    }
    if area.is_some() {
        assumed.push(
            "the printed area is that of another capacity: taken in proportion to the bytes, that \
             of a write pool's array as SRAM's"
                .to_owned(),
        );
    }
    Cost {
        register_file_bytes,
        cache,
        last_result_file: last_result_cost(design),
        managed: managed_cost(design),
        collectors,
        area,
        accesses: match &design.energy {
            Ok(table) => Ok([access_costs(table, design), expansion_costs(design)].concat()),
            Err(reason) => Err(reason.to_string()),
        },
        encoding_bits: design.encoding_bits(),
        model_host_bytes: Footprint::HOST.sm(active, warps, registers) + delivery,
        model_device_bytes: fits.then_some(device),
        assumed,
    }
}

fn cache_cost(design: &Design) -> Option<CacheCost> {
    let cache = design.cache()?;
    let active_warps = design.active_warps();
    let entries = u64::from(cache.entries);
    let all_entries = entries * u64::from(active_warps);
    let data_bytes = cache_data_bytes(cache.entries, active_warps);
    let position_bits = u64::from(entries.next_power_of_two().trailing_zeros());
    // Entries that die out of turn are refilled out of turn: a single pointer keeps the order of
    // first in, first out only without liveness.
    let pointer = cache.replacement == Replacement::Fifo && !cache.liveness;
    let order_bits = if pointer { position_bits } else { entries * position_bits };
    let hint = cache.liveness_aware_eviction;
    let entry_bits = 1 + 1 + u64::from(hint) + u64::from(LANES);
    let row = design.machine.technology().cache(cache.entries, active_warps).ok();
    let area_um2_per_lane = row.and_then(|row| row.area).map(|area| area.0);
    Some(CacheCost {
        data_bytes,
        data_bytes_per_lane: data_bytes / u64::from(LANES),
        tag_bits: all_entries * TAG_BITS,
        state_bits: all_entries * entry_bits + u64::from(active_warps) * order_bits,
        area_um2_per_lane,
        area_um2: area_um2_per_lane.and_then(|area| area.checked_mul(u64::from(LANES))),
    })
}

fn last_result_cost(design: &Design) -> Option<LastResultCost> {
    let levels = design.organisation().levels();
    let cache = levels.cache().filter(|_| levels.has_last_result_file())?;
    let entries = u64::from(design.active_warps());
    let hint = u64::from(cache.liveness_aware_bypass || cache.liveness_aware_eviction);
    Some(LastResultCost {
        data_bytes: cache_data_bytes(1, design.active_warps()),
        data_bytes_per_lane: entries * REGISTER_BYTES,
        tag_bits: entries * TAG_BITS,
        state_bits: entries * (u64::from(LANES) + hint),
    })
}

fn managed_cost(design: &Design) -> Option<ManagedCost> {
    let managed = design.managed?;
    let active_warps = design.active_warps();
    let last = match managed.lrf {
        Lrf::None => None,
        Lrf::Unified => Some(1),
        Lrf::Split => Some(LRF_BANKS),
    };
    Some(ManagedCost {
        operand_register_file: DataBytes::of(managed.entries, active_warps),
        last_result_file: last.map(|entries| DataBytes::of(entries, active_warps)),
    })
}

/// What moves values between levels; where the compiler places them, nothing does.
const MOVES: [Event; 6] = [
    Event::LrfEviction,
    Event::RfcWritebackEviction,
    Event::LrfWritebackFlush,
    Event::RfcToWritePool,
    Event::LrfToWritePool,
    Event::WritePoolWriteback,
];

/// What an access is, in words; none where it is not an access of its own.
fn words(class: EnergyClass) -> Option<String> {
    Some(match class {
        EnergyClass::Free | EnergyClass::DualWrite(..) => return None,
        EnergyClass::Read(level, datapath) => {
            format!("{} read, {} datapath", level.label(), datapath.name())
        }
        EnergyClass::Write(level, datapath) => {
            format!("{} write, {} datapath", level.label(), datapath.name())
        }
        EnergyClass::Fill(level, datapath) => {
            format!("{} write beside MRF, {} datapath", level.label(), datapath.name())
        }
        EnergyClass::Move(from, to) => {
            let what = if to == Level::Rfc { "eviction" } else { "writeback" };
            format!("{what}, {} to {}", from.label(), to.label())
        }
    })
}

/// Whether a design writes operands that come from the main register file to a level.
fn fills(design: &Design, level: Level) -> bool {
    match design.organisation().levels() {
        LevelSettings::Flat => false,
        LevelSettings::Cached(CachedLevels { cache, .. }) => {
            level == Level::Rfc && cache.allocation == Allocation::WritesAndReads
        }
        LevelSettings::CompilerManaged => true,
    }
}

fn access_costs(table: &EnergyTable, design: &Design) -> Vec<AccessCost> {
    let own = Event::ALL.iter().copied().filter(|event| {
        matches!(event.energy_class(), EnergyClass::Read(..) | EnergyClass::Write(..))
    });
    let beside = Event::ALL.iter().copied().filter(
        |event| matches!(event.energy_class(), EnergyClass::Fill(level, _) if fills(design, level)),
    );
    let moves = MOVES.into_iter().filter(|_| design.managed.is_none());
    let events = own.chain(beside).chain(moves);
    let cost = |event: Event| {
        let mut counters = Counters::default();
        counters.record(event, 1);
        // Without a level its accesses have no price and are left out.
        let energy = table.energy(&counters).ok()?;
        let sum = |wires| {
            let parts = energy.parts().filter(|(part, _)| part.wires == wires);
            Femtojoules(parts.map(|(_, energy)| energy.0).sum())
        };
        let what = words(event.energy_class())?;
        Some(AccessCost { what, bank: sum(false), wire: sum(true) })
    };
    events.filter_map(cost).collect()
}

/// Of a design whose registers expand into scratchpad memory, what they cost there.
fn expansion_costs(design: &Design) -> Vec<AccessCost> {
    let Some(table) = design.expansion_energy else { return Vec::new() };
    let of = |place: &str, bank: BankEnergy| {
        [("read", bank.read), ("write", bank.write)].map(|(verb, energy)| AccessCost {
            what: format!("{place} {verb}"),
            bank: Femtojoules(u64::from(CLUSTERS) * energy.0),
            wire: Femtojoules(0),
        })
    };
    [of("operand cache", table.operand_cache), of("scratchpad", table.scratchpad)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    fn of(name: &str) -> Cost {
        cost(&resolve(name).unwrap())
    }

    #[test]
    fn every_way_between_two_levels_has_a_row() {
        let ways = |events: &[Event]| {
            let classes = events.iter().map(|event| event.energy_class());
            let mut ways: Vec<_> = classes
                .filter_map(|class| match class {
                    EnergyClass::Move(from, to) => Some([from as usize, to as usize]),
                    _ => None,
                })
                .collect();
            ways.sort_unstable();
            ways
        };
        let mut all = ways(Event::ALL);
        all.dedup();
        assert_eq!(ways(&MOVES), all);
    }

    #[test]
    fn the_papers_best_cache() {
        let cost = of("isca11-rfc6");
        let cache = cost.cache.unwrap();
        assert_eq!((cache.data_bytes, cache.data_bytes_per_lane), (6144, 192));
        assert_eq!(cache.tag_bits, 48 * 8);
        // Occupied, dirty and 32 lanes for each entry; 6 positions of 3 bits for each warp.
        assert_eq!(cache.state_bits, 48 * 34 + 8 * 18);
        assert_eq!(cache.area_um2_per_lane, Some(14_300));
        assert_eq!(cache.area_um2, Some(457_600));
        assert_eq!(cost.register_file_bytes, 131_072);
        assert_eq!(cost.encoding_bits, 4);
        assert_eq!(cost.accesses.unwrap().len(), 9);
        assert!(cost.model_device_bytes.unwrap() < cost.model_host_bytes);
    }

    #[test]
    fn one_read_of_the_main_register_file_by_hand() {
        let accesses = of("isca11").accesses.unwrap();
        assert_eq!(accesses.len(), 4);
        // 8 clusters x 8 pJ, and 8 clusters x 7.6 pJ/mm x 1 mm.
        assert_eq!(accesses[0].bank, Femtojoules(64_000));
        assert_eq!(accesses[0].wire, Femtojoules(60_800));
    }

    #[test]
    fn order_and_hint_bits_follow_the_policy() {
        let state = |name: &str| of(name).cache.unwrap().state_bits;
        assert_eq!(state("isca11-rfc6-nolive"), 48 * 34 + 8 * 3);
        assert_eq!(state("isca11-rfc6-lru-nolive"), 48 * 34 + 8 * 18);
        assert_eq!(state("isca11-rfc6-bypass"), 48 * 35 + 8 * 18);
        assert_eq!(state("isca11-rfc1"), 8 * 34);
    }

    #[test]
    fn a_last_result_file_by_hand() {
        let cost = of("diss-rfc6-lrf");
        let last = cost.last_result_file.unwrap();
        // One register of 32 lanes for each of 8 warps.
        assert_eq!((last.data_bytes, last.data_bytes_per_lane), (1024, 32));
        assert_eq!((last.tag_bits, last.state_bits), (8 * 8, 8 * 32));
        assert_eq!(of("diss-rfc6-lrf-bypass").last_result_file.unwrap().state_bits, 8 * 33);
        let accesses = cost.accesses.unwrap();
        assert_eq!(accesses.len(), 13);
        let read = accesses.iter().find(|access| access.what.starts_with("LRF read")).unwrap();
        // 8 clusters x 0.7 pJ, and 8 clusters x 7.6 pJ/mm x 0.05 mm.
        assert_eq!((read.bank, read.wire), (Femtojoules(5_600), Femtojoules(3_040)));
        assert_eq!(of("diss-rfc6").last_result_file, None);
        assert_eq!(of("diss-rfc6").accesses.unwrap().len(), 9);
    }

    #[test]
    fn compiler_managed_levels_by_hand() {
        let managed = of("diss-orf3-lrf-split").managed.unwrap();
        // 3 registers of 32 lanes for each of 8 warps, in both.
        let three = DataBytes { sm: 3072, lane: 96 };
        assert_eq!(managed.operand_register_file, three);
        assert_eq!(managed.last_result_file, Some(three));
        let one = DataBytes { sm: 1024, lane: 32 };
        assert_eq!(of("diss-orf3-lrf-unified").managed.unwrap().last_result_file, Some(one));
        assert_eq!(of("diss-orf3").managed.unwrap().last_result_file, None);
        assert_eq!(of("diss-rfc6-lrf").managed, None);
        let accesses = of("diss-orf3-lrf-split").accesses.unwrap();
        assert_eq!(accesses.len(), 13);
        assert!(accesses.iter().all(|access| !access.what.contains(" to ")), "{accesses:?}");
    }

    #[test]
    fn a_write_beside_one_of_the_main_register_file_by_hand() {
        let price = |design: &Design, what: &str| {
            let accesses = cost(design).accesses.unwrap();
            let one = accesses.into_iter().find(|access| access.what == what)?;
            Some((one.bank.0, one.wire.0))
        };
        let managed = resolve("diss-orf3-lrf-split").unwrap();
        // 8 clusters x 4.4 and 2 pJ; the main register file is farther.
        for what in
            ["ORF write beside MRF, private datapath", "ORF write beside MRF, shared datapath"]
        {
            assert_eq!(price(&managed, what), Some((35_200, 0)), "{what}");
        }
        assert_eq!(price(&managed, "LRF write beside MRF, private datapath"), Some((16_000, 0)));
        let reads = resolve("isca11-rfc6-reads").unwrap();
        assert_eq!(price(&reads, "RFC write beside MRF, shared datapath"), Some((53_600, 0)));
        assert_eq!(cost(&reads).accesses.unwrap().len(), 11);
        // 8 x 7.6 pJ/mm x 0.8 mm.
        assert_eq!(price(&reads, "writeback, RFC to MRF"), Some((105_600, 48_640)));
        let text = "base = \"isca11-rfc6-reads\"\nwire_charge = \"each-trip\"\n";
        let each = crate::file::parse("d.toml", text).unwrap();
        assert_eq!(price(&each, "RFC write beside MRF, shared datapath"), Some((53_600, 12_160)));
        assert_eq!(price(&each, "writeback, RFC to MRF"), Some((105_600, 60_800)));
    }

    #[test]
    fn what_is_not_printed_is_absent() {
        let cost = of("isca11-rfc13");
        assert_eq!(cost.cache.unwrap().area_um2, None);
        assert!(cost.accesses.unwrap_err().contains("13 entries for 8 warps"));
        assert_eq!(cost.model_device_bytes, None);
        assert_eq!(of("diss-rfc6").cache.unwrap().area_um2, None);
        assert_eq!(of("dissertation").cache, None);
        let isca = of("isca11-rfc6").assumed;
        assert!(isca.iter().any(|assumed| assumed.contains("one lane's bank")), "{isca:?}");
    }
}
