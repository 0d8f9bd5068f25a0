//! The computations, one function for each figure that must come out. Numbers of the papers come
//! from their facts, ours from the product.

use strata_core::chip_power::ChipPower;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireCharge};
use strata_core::event::{Counters, Event};
use strata_core::level::Level;
use strata_core::organisation::{LevelSettings, Organisation, OrganisationSettings, Scheduling};
use strata_core::units::Femtojoules;

use super::context::Context;
use super::fixed::{fixed, picojoules, scaled, share};
use super::numbers::Row;
use super::papers::{Bank, Papers};
use super::{expars, machines, storage, storage_energy, warrf};
use strata_design::Design;
use strata_design::cost::{CacheCost, cost, register_file_bytes};
use strata_design::machine::CacheBank;

/// The numbers of a figure; `None` if it is not built yet.
pub(super) fn rows(id: &str, of: Context<'_>) -> Option<Vec<Row>> {
    let rows = match id {
        "expars-tlp" => expars::residency(of),
        "expars-utilization-percent" => expars::utilization(of),
        "expars-mixed-rf-share-percent" => expars::mixed_share(of),
        "expars-storage" => Some(expars::hardware(of)),
        "rfc-storage" => rfc_storage(of),
        "table-consistency" => table_consistency(of),
        "ideal-savings-percent" => ideal_savings(of),
        "chip-power" => chip_power(of),
        "bandwidth" => Some(bandwidth(of)),
        "warrf-cost" => Some(warrf::rows(of)),
        "per-thread-storage" => Some(per_thread_storage(of)),
        "machines" => machines::rows(of),
        "unified-partition-384kb" => storage::partitions(of),
        "unified-threads" => storage::threads(of),
        "table6-averages" => storage::averages(of),
        "storage-energy" => storage_energy::rows(of),
        _ => return None,
    };
    // A figure that the product cannot compute has no number, and fails.
    Some(rows.unwrap_or_default())
}

/// The cost of a design's cache with another number of entries and of active warps.
fn resized(design: &Design, entries: u8, active_warps: u8) -> Option<CacheCost> {
    let mut levels = design.organisation().levels().cached()?;
    levels.cache.entries = entries;
    let scheduling = Scheduling::TwoLevel { active_warps };
    let settings = OrganisationSettings { levels: LevelSettings::Cached(levels), scheduling };
    let mut design = design.clone();
    design.sm.organisation = Organisation::new(settings).ok()?;
    cost(&design).cache
}

fn rfc_storage(Context { product, .. }: Context<'_>) -> Option<Vec<Row>> {
    let cache = cost(&product.cache).cache?;
    let of_all = cost(&product.cache_of_all).cache?;
    let mrf = u128::from(register_file_bytes(product.cache.machine));
    let mut rows = vec![
        Row::listed("bytes of an SM", cache.data_bytes.to_string()),
        Row::listed("bytes of a lane", cache.data_bytes_per_lane.to_string()),
        Row::listed("KB with all warps", fixed(of_all.data_bytes.into(), 1024, 0)),
        Row::listed("MRF / RFC", fixed(mrf, cache.data_bytes.into(), 0)),
    ];
    for entries in [4, 6, 8] {
        let bytes =
            |warps| Some(resized(&product.cache, entries, warps)?.data_bytes_per_lane.to_string());
        let sizes = [4, 6, 8].into_iter().map(bytes).collect::<Option<Vec<_>>>()?;
        rows.push(Row::listed(format!("{entries} entries x 4/6/8 warps"), sizes.join("/")));
    }
    Some(rows)
}

fn energies(row: &CacheBank) -> String {
    format!("{} {}", picojoules(row.read.0), picojoules(row.write.0))
}

fn described(row: &CacheBank) -> String {
    let area = row.area.map_or_else(String::new, |area| format!(", {} um2", area.0));
    energies(row) + &area
}

fn table_consistency(of: Context<'_>) -> Option<Vec<Row>> {
    let (isca11, dissertation) = (&of.product.isca11_tables, &of.product.dissertation_tables);
    let row = |entries: u8, warps: u8| {
        isca11.rfc.iter().find(|row| (row.entries, row.active_warps) == (entries, warps))
    };
    let table2 = &of.facts.tables.isca11.table2_rfc_128bit.rows;
    let facts = |entries, warps| table2.iter().find(|row| (row.0, row.1) == (entries, warps));
    let with_area = |&(_, _, area, read, write): &(u8, u8, u64, f64, f64)| {
        format!("{read:.1} {write:.1}, {area} um2")
    };
    let mut rows = Vec::new();
    for (a, b) in [(4, 6), (4, 8), (6, 8)] {
        let label = format!("{a} x {b} = {b} x {a}");
        rows.push(Row::beside(label, described(row(a, b)?), with_area(facts(b, a)?)));
    }
    for fact in table2 {
        let label = format!("ISCA, {} x {}", fact.0, fact.1);
        rows.push(Row::beside(label, described(row(fact.0, fact.1)?), with_area(fact)));
    }
    for &(entries, read, write) in &of.facts.tables.dissertation.table4_5_bank_energy.orf_rfc {
        let computed = described(dissertation.cache(entries, 8).ok()?);
        let label = format!("dissertation, entries: {entries}");
        rows.push(Row::beside(label, computed, format!("{read:.1} {write:.1}")));
    }
    // Of all warps together, as Table 2 has them for 4 and 6 warps or for 8.
    for (entries, same) in [(2, (4, 4)), (3, (4, 6)), (4, (4, 8)), (8, (8, 8))] {
        let own = dissertation.cache(entries, 8).ok()?;
        let &(a, b, _, read, write) = facts(same.0, same.1)?;
        let label = format!("dissertation's {entries} entries = ISCA's {}", u32::from(a * b));
        rows.push(Row::beside(label, energies(own), format!("{read:.1} {write:.1}")));
    }
    rows.extend(wire(of)?);
    Some(rows)
}

/// The wire of the product beside the printed one, and beside what follows from its capacitance.
fn wire(of: Context<'_>) -> Option<Vec<Row>> {
    let model = &of.facts.tables.isca11.table3_model;
    // Femtofarads times volts squared are femtojoules, of the wires that switch.
    let volts_squared = scaled(model.voltage_v, 1).pow(2);
    let wires = model.wires * scaled(model.switching_fraction, 2);
    let energy = wires * model.wire_capacitance_ff_per_mm * volts_squared;
    let own = of.product.isca11_tables.wire.0;
    let other = of.product.dissertation_tables.wire.0;
    let printed = |pj: f64| format!("{pj:.1}");
    let table4_6 = &of.facts.tables.dissertation.table4_6_wire;
    let wide = of.product.isca11.energy.as_ref().ok()?.wire_per_128bit(1000)?;
    Some(vec![
        Row::beside(
            "wire by its capacitance, pJ/mm",
            picojoules(own),
            fixed(energy, 100 * 100 * 1000, 1),
        ),
        Row::beside("wire, pJ/mm", picojoules(own), printed(model.wire_pj_per_mm_per_32bit)),
        Row::beside(
            "dissertation's wire, pJ/mm",
            picojoules(other),
            printed(table4_6.wire_pj_per_mm_per_32bit),
        ),
        Row::listed("wire of 128 bits, pJ/mm", picojoules(wide)),
    ])
}

/// Energy of `reads` and `writes` that all go to the main register file, and that all go to a level
/// with these banks, without wires.
pub(super) fn all_in(
    bank: BankEnergy,
    mrf: BankEnergy,
    reads: u64,
    writes: u64,
) -> Option<(u128, u128)> {
    let level = |bank| LevelEnergy { bank, ..LevelEnergy::default() };
    let flat = EnergyTable::flat(level(mrf), Femtojoules(0), WireCharge::default());
    let table = flat.with(Level::Rfc, Some(level(bank)));
    let total = |read, write| {
        let mut counters = Counters::default();
        counters.record(read, reads);
        counters.record(write, writes);
        Some(u128::from(table.energy(&counters).ok()?.total().0))
    };
    let flat = total(Event::MrfReadPrivate, Event::MrfWritePrivate)?;
    let ideal = total(Event::RfcReadPrivate, Event::RfcWritePrivate)?;
    Some((flat, ideal))
}

/// Operands read and results written by 100 instructions of `[DISS]`.
pub(super) fn accesses_per_100(facts: &Papers) -> (u64, u64) {
    let table = &facts.tables.dissertation.table6_1_mrf_reads_per_instruction;
    (scaled(table.baseline, 2) as u64, scaled(table.baseline_writes, 2) as u64)
}

fn ideal_savings(of: Context<'_>) -> Option<Vec<Row>> {
    let table = of.product.managed.energy.as_ref().ok()?;
    let bank = |level| Some(table.level(level)?.bank);
    let (lrf, orf, mrf) = (bank(Level::Lrf)?, bank(Level::Orf)?, table.mrf.bank);
    let both = |bank: BankEnergy| format!("{} {}", picojoules(bank.read), picojoules(bank.write));
    let facts = &of.facts.tables.dissertation.table4_5_bank_energy;
    let printed = |bank: &Bank| format!("{:.1} {:.1}", bank.read_pj, bank.write_pj);
    let (reads, writes) = accesses_per_100(of.facts);
    let saved = |bank| {
        let (flat, ideal) = all_in(bank, mrf, reads, writes)?;
        Some(fixed(100 * flat.checked_sub(ideal)?, flat, 0))
    };
    Some(vec![
        Row::beside("MRF, pJ", both(mrf), printed(&facts.mrf)),
        Row::beside("LRF, pJ", both(lrf), printed(&facts.lrf)),
        Row::listed("LRF, %", saved(lrf)?),
        Row::listed("5-entry ORF, %", saved(orf)?),
    ])
}

const WATT: u128 = 1_000_000_000;

fn chip_power(of: Context<'_>) -> Option<Vec<Row>> {
    let facts = &of.facts.tables.dissertation.chip_power;
    let micro12 = &of.facts.tables.micro12;
    let chip = of.product.cache.machine.chip_power()?;
    let bits = of.product.cache.encoding_bits();
    let saved = of.facts.tables.isca11.section5_5.saved_percent;
    let saving = chip.saving(100, 100_u64.checked_sub(saved)?, bits)?;
    let saved_nw = u64::try_from(saving.saved_nw).ok()?;
    let others = ChipPower { sms: u64::from(micro12.table2_sim.sms), ..chip };
    let watts = |power: u64, decimals| fixed(power.into(), WATT, decimals);
    let percent = |fraction: f64| format!("{:.0}", 100.0 * fraction);
    let ratio = |ratio: strata_core::chip_power::Ratio, decimals| {
        share(ratio.numerator, ratio.denominator, decimals)
    };
    let bit = || ratio(chip.encoding_bit, 1);
    let all_bits = 100.0 * facts.fetch_decode_fraction / f64::from(facts.instruction_bits);
    let memory = 100.0 * (1.0 - facts.memory_system_fraction);
    Some(vec![
        Row::beside("chip, W", watts(chip.chip_nw, 0), format!("{:.0}", facts.chip_w)),
        Row::beside(
            "leakage of the chip, %",
            ratio(chip.leakage, 0),
            percent(facts.leakage_fraction),
        ),
        Row::beside("SMs of the chip, %", ratio(chip.sms_share, 0), percent(facts.sm_fraction)),
        Row::beside("all but the memory, %", ratio(chip.sms_share, 0), format!("{memory:.0}")),
        Row::beside("SMs", chip.sms.to_string(), facts.sms.to_string()),
        Row::beside(
            "register file of an SM, %",
            ratio(chip.register_file, 0),
            percent(facts.rf_fraction_of_sm),
        ),
        Row::listed("dynamic, W", watts(saving.dynamic_nw, 1)),
        Row::listed("dynamic of an SM, W", watts(saving.sm_nw, 1)),
        Row::listed("register file of an SM, W", watts(saving.register_file_nw, 1)),
        Row::listed("saved in all SMs, W", watts(saved_nw, 1)),
        Row::listed("of the SMs, %", share(saved_nw, saving.sm_nw * chip.sms, 1)),
        Row::listed("of the chip's dynamic, %", share(saved_nw, saving.dynamic_nw, 1)),
        Row::beside(
            "dynamic of an SM of 32, W",
            watts(others.sm_nw()?, 1),
            format!("{:.1}", micro12.table3_energy.sm_dynamic_w),
        ),
        Row::beside(
            "leakage of an SM of 32, W",
            watts(others.sm_leakage_nw()?, 1),
            format!("{:.1}", micro12.table3_energy.sm_leakage_w),
        ),
        Row::beside(
            "an instruction bit, %",
            bit(),
            format!("{:.1}", 100.0 * facts.encoding_bit_chip_fraction),
        ),
        Row::beside("an instruction bit of all, %", bit(), format!("{all_bits:.1}")),
        Row::listed("bits", bits.to_string()),
        Row::listed("all bits, %", share(saving.encoding_nw, saving.dynamic_nw, 1)),
    ])
}

fn bandwidth(Context { facts, product }: Context<'_>) -> Vec<Row> {
    let sm = &product.isca11.machine.sm;
    let (reads, writes) = (sm.read_operands * sm.lanes, sm.written_results * sm.lanes);
    let dissertation = &product.dissertation;
    let micro12 = &facts.tables.micro12.table2_sim;
    let memory = dissertation.machine.sm.count * dissertation.sm.timing.dram_bytes_per_cycle;
    let clusters = sm.lanes.checked_div(sm.lanes_per_cluster).unwrap_or(0);
    vec![
        Row::listed("register reads a cycle", reads.to_string()),
        Row::listed("bytes read a cycle", (reads * 4).to_string()),
        Row::listed("register writes a cycle", writes.to_string()),
        Row::listed("bytes written a cycle", (writes * 4).to_string()),
        Row::listed("memory bytes a cycle, 16 SMs", memory.to_string()),
        Row::beside(
            "memory bytes a cycle, MICRO's 32 SMs",
            memory.to_string(),
            (micro12.sms * micro12.dram_bytes_per_cycle).to_string(),
        ),
        Row::listed("clusters", clusters.to_string()),
        Row::listed("cluster bytes a cycle", (clusters * sm.bank_access_bits / 8).to_string()),
    ]
}

/// Storage of the GTX 580's SM, which is the GTX 480's.
fn per_thread_storage(Context { facts, product }: Context<'_>) -> Vec<Row> {
    let [registers, _, _, scratchpad] = &facts.tables.dissertation.table2_2_bytes_per_thread.gtx580;
    let sm = &product.sram.sm;
    let threads = u128::from(sm.max_warps) * u128::from(product.sram.machine.sm.lanes);
    let bytes =
        |bytes: u32| fixed(bytes.into(), threads.max(1), 1).trim_end_matches(".0").to_owned();
    // The larger of the two ways to divide it.
    let largest = scratchpad.rsplit('/').next().unwrap_or_default();
    vec![
        Row::beside("GTX 580 register file", bytes(sm.register_file_bytes), registers),
        Row::beside("GTX 580 scratchpad", bytes(sm.shared_memory_bytes), largest),
    ]
}
