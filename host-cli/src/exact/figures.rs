//! The computations, one function for each figure.

use strata_core::chip_power::ChipPower;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireCharge};
use strata_core::event::{Counters, Event};
use strata_core::level::Level;
use strata_core::units::CLUSTERS;
use strata_core::units::Femtojoules;

use super::Item;
use super::fixed::{fixed, scaled};
use super::papers::{ChipStorage, papers};
use super::pool_reads;
use super::warrf;
use crate::cost::{cache_data_bytes, cost, register_file_bytes};
use crate::design::machine::{CacheBank, Machine, machine};
use crate::design::resolve;

/// Results written by an instruction, on average, in the dissertation's ideal figures. Unit: 1/100.
const WRITES_PER_100: u64 = 80;

/// The numbers of a figure that must come out; `None` if it is not built yet.
pub(super) fn exact(id: &str) -> Option<Vec<Item>> {
    match id {
        "rfc-storage" => rfc_storage(),
        "table-consistency" => table_consistency(),
        "ideal-savings-percent" => ideal_savings(),
        "chip-power" => chip_power(),
        "bandwidth" => bandwidth(),
        "warrf-cost" => warrf::cost(),
        "per-thread-storage" => Some(per_thread_storage()),
        _ => None,
    }
}

/// The numbers of a contradiction; `None` if it is not built yet.
pub(super) fn inconsistent(id: &str) -> Option<Vec<(String, String)>> {
    let numbers = match id {
        "chip-power-54" => chip_power_54()?,
        "ideal-rfc-58" => ideal_rfc_58()?,
        "isca11-table5" => isca11_table5()?,
        "micro11-relative" => micro11_relative(),
        "warrf-leakage-unit" => warrf::leakage_unit()?,
        "warrf-area-68" => warrf::area_68()?,
        "warrf-pool-reads" => pool_reads::numbers(),
        _ => return None,
    };
    Some(numbers.into_iter().map(|(label, number)| (label.to_owned(), number)).collect())
}

fn isca11() -> Option<&'static Machine> {
    machine("isca11")
}

fn rfc_storage() -> Option<Vec<Item>> {
    let best = cost(&resolve("isca11-rfc6").ok()?).cache?;
    let all_warps = cost(&resolve("isca11-rfc6-single").ok()?).cache?;
    let mrf = u128::from(register_file_bytes(isca11()?));
    let mut items = vec![
        Item::new("bytes of an SM", best.data_bytes.to_string(), "6144"),
        Item::new("bytes of a lane", best.data_bytes_per_lane.to_string(), "192"),
        Item::new("KB with all warps", fixed(all_warps.data_bytes.into(), 1024, 0), "24"),
        Item::new("MRF / RFC", fixed(mrf, best.data_bytes.into(), 0), "21"),
    ];
    for (entries, printed) in [(4, "64/96/128"), (6, "96/144/192"), (8, "128/192/256")] {
        let lanes = u64::from(isca11()?.sm.lanes);
        let bytes = |warps| (cache_data_bytes(entries, warps) / lanes).to_string();
        let computed = [4, 6, 8].map(bytes).join("/");
        items.push(Item::new(format!("{entries} entries x 4/6/8 warps"), computed, printed));
    }
    Some(items)
}

fn describe(row: &CacheBank) -> String {
    let area = row.area.map_or_else(String::new, |area| format!(", {} um2", area.0));
    format!("{} {}{area}", picojoules(row.read.0), picojoules(row.write.0))
}

fn picojoules(energy: Femtojoules) -> String {
    fixed(energy.0.into(), 1000, 1)
}

fn table_consistency() -> Option<Vec<Item>> {
    let technology = isca11()?.technology();
    let row = |entries: u8, warps: u8| {
        technology.rfc.iter().find(|row| (row.entries, row.active_warps) == (entries, warps))
    };
    let mut items = Vec::new();
    for (a, b) in [(4, 6), (4, 8), (6, 8)] {
        let label = format!("{a} x {b} = {b} x {a}");
        items.push(Item::new(label, describe(row(a, b)?), describe(row(b, a)?)));
    }
    // The product's tables against the printed ones.
    for &(entries, warps, area, read, write) in &papers().tables.isca11.table2_rfc_128bit.rows {
        let printed = format!("{read:.1} {write:.1}, {area} um2");
        items.push(Item::new(
            format!("ISCA, {entries} x {warps}"),
            describe(row(entries, warps)?),
            printed,
        ));
    }
    let dissertation = machine("dissertation")?.technology();
    for &(entries, read, write) in &papers().tables.dissertation.table4_5_bank_energy.orf_rfc {
        let computed = describe(dissertation.cache(entries, 8).ok()?);
        items.push(Item::new(
            format!("dissertation, entries: {entries}"),
            computed,
            format!("{read:.1} {write:.1}"),
        ));
    }
    for entries in [2, 3, 4, 8] {
        let energy =
            |row: &CacheBank| format!("{} {}", picojoules(row.read.0), picojoules(row.write.0));
        let both = (dissertation.cache(entries, 8).ok()?, technology.cache(entries, 8).ok()?);
        let label = format!("dissertation's {entries} entries = ISCA's {}", both.1.total_entries());
        items.push(Item::new(label, energy(both.0), energy(both.1)));
    }
    let model = &papers().tables.isca11.table3_model;
    // Femtofarads times volts squared are femtojoules; a quarter of 32 wires switch.
    let volts_squared = scaled(model.voltage_v, 1).pow(2);
    let wire = 32 * model.wire_capacitance_ff_per_mm * volts_squared;
    let printed = format!("{:.1}", model.wire_pj_per_mm_per_32bit);
    items.push(Item::new("wire, pJ/mm", fixed(wire, 4 * 100 * 1000, 3), "1.944"));
    items.push(Item::new("wire, pJ/mm, rounded", fixed(wire, 4 * 100 * 1000, 1), printed.clone()));
    items.push(Item::new("wire of the product, pJ/mm", picojoules(technology.wire.0), printed));
    let table = isca11()?.energy(None).ok()?;
    let wide = table.wire_per_128bit(1000)?;
    items.push(Item::new("wire of 128 bits, pJ/mm", picojoules(wide), "7.6"));
    Some(items)
}

/// Energy of `reads` and `writes` that all go to the main register file, and that all go to a level
/// with these banks, without wires.
fn all_in(bank: BankEnergy, mrf: BankEnergy, reads: u64, writes: u64) -> Option<(u128, u128)> {
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

fn bank(read_pj: f64, write_pj: f64) -> BankEnergy {
    let femtojoules = |picojoules| Femtojoules(scaled(picojoules, 3) as u64);
    BankEnergy { read: femtojoules(read_pj), write: femtojoules(write_pj) }
}

/// Operands read by 100 instructions.
fn reads_per_100() -> u64 {
    scaled(papers().tables.dissertation.table6_1_mrf_reads_per_instruction.baseline, 2) as u64
}

fn ideal_savings() -> Option<Vec<Item>> {
    let dissertation = machine("dissertation")?;
    let table = &papers().tables.dissertation.table4_5_bank_energy;
    let printed_mrf = bank(table.mrf.read_pj, table.mrf.write_pj);
    let lrf = bank(table.lrf.read_pj, table.lrf.write_pj);
    let orf = dissertation.energy(Some((5, 8))).ok()?.level(Level::Rfc)?.bank;
    let mrf = dissertation.mrf_energy().bank;
    let mut items = vec![Item::new(
        "MRF, pJ",
        format!("{} {}", picojoules(mrf.read), picojoules(mrf.write)),
        format!("{} {}", picojoules(printed_mrf.read), picojoules(printed_mrf.write)),
    )];
    for (label, bank, rounded, precise) in
        [("LRF", lrf, "87", "86.8"), ("5-entry ORF", orf, "61", "61.1")]
    {
        let (flat, ideal) = all_in(bank, mrf, reads_per_100(), WRITES_PER_100)?;
        let saved = 100 * (flat - ideal);
        items.push(Item::new(format!("{label}, %"), fixed(saved, flat, 0), rounded));
        items.push(Item::new(format!("{label}, %, precisely"), fixed(saved, flat, 1), precise));
    }
    Some(items)
}

const WATT: u128 = 1_000_000_000;

/// A part of a whole in percent.
fn share(part: u64, whole: u64, decimals: u32) -> String {
    fixed(100 * u128::from(part), u128::from(whole), decimals)
}

fn chip_power() -> Option<Vec<Item>> {
    let chip = isca11()?.chip_power()?;
    let design = resolve("isca11-rfc6").ok()?;
    let saving = chip.saving(100, 100 - 36, design.encoding_bits())?;
    let saved_nw = u64::try_from(saving.saved_nw).ok()?;
    let micro12 = ChipPower { sms: u64::from(papers().tables.micro12.table2_sim.sms), ..chip };
    // Fetch and decode spend 10 % of the chip's dynamic power on 32-bit instructions.
    let bit = share(10, 100 * 32, 1);
    let used_bit = share(chip.encoding_bit.numerator, chip.encoding_bit.denominator, 1);
    let watts = |power: u64, decimals| fixed(power.into(), WATT, decimals);
    Some(vec![
        Item::new("chip, W", watts(chip.chip_nw, 0), "130"),
        Item::new("dynamic, W", watts(saving.dynamic_nw, 1), "86.7"),
        Item::new("dynamic of an SM, W", watts(saving.sm_nw, 1), "3.8"),
        Item::new("register file of an SM, W", watts(saving.register_file_nw, 1), "0.6"),
        Item::new("36 % of it in all SMs, W", watts(saved_nw, 1), "3.3"),
        Item::new("of the SMs, %", share(saved_nw, saving.sm_nw * chip.sms, 1), "5.4"),
        Item::new("of the chip's dynamic, %", share(saved_nw, saving.dynamic_nw, 1), "3.8"),
        Item::new("dynamic of an SM of 32, W", watts(micro12.sm_nw()?, 1), "1.9"),
        Item::new("leakage of an SM of 32, W", watts(micro12.sm_leakage_nw()?, 1), "0.9"),
        Item::new("an instruction bit, %", bit, "0.3"),
        Item::new("an instruction bit as used, %", used_bit, "0.3"),
        Item::new("bits", design.encoding_bits().to_string(), "4"),
        Item::new("all bits, %", share(saving.encoding_nw, saving.dynamic_nw, 1), "1.2"),
    ])
}

fn bandwidth() -> Option<Vec<Item>> {
    let sm = &isca11()?.sm;
    let (reads, writes) = (sm.read_operands * sm.lanes, sm.written_results * sm.lanes);
    let dissertation = &machine("dissertation")?.sm;
    let micro12 = &papers().tables.micro12.table2_sim;
    let clusters = sm.lanes / sm.lanes_per_cluster;
    Some(vec![
        Item::new("register reads a cycle", reads.to_string(), "96"),
        Item::new("bytes read a cycle", (reads * 4).to_string(), "384"),
        Item::new("register writes a cycle", writes.to_string(), "32"),
        Item::new("bytes written a cycle", (writes * 4).to_string(), "128"),
        Item::new(
            "memory bytes a cycle, 16 SMs",
            (dissertation.count * dissertation.dram_bytes_per_cycle).to_string(),
            "256",
        ),
        Item::new(
            "memory bytes a cycle, 32 SMs",
            (micro12.sms * micro12.dram_bytes_per_cycle).to_string(),
            "256",
        ),
        Item::new("clusters", clusters.to_string(), CLUSTERS.to_string()),
        Item::new("cluster bytes a cycle", (clusters * sm.bank_access_bits / 8).to_string(), "128"),
    ])
}

fn per_thread_storage() -> Vec<Item> {
    let tables = &papers().tables.dissertation;
    let mut items = Vec::new();
    for (name, chip, printed) in [
        ("GTX 580", &tables.table2_1_chips.gtx580, &tables.table2_2_bytes_per_thread.gtx580),
        ("HD 7970", &tables.table2_1_chips.hd7970, &tables.table2_2_bytes_per_thread.hd7970),
    ] {
        let of_sms = |kb: &[u128]| kb.iter().map(|kb| kb * chip.sms).collect::<Vec<_>>();
        let structures = [
            ("register file", of_sms(&[chip.register_file_kb])),
            ("L1", of_sms(&chip.l1_kb)),
            ("L2", vec![chip.l2_kb]),
            ("scratchpad", of_sms(&chip.scratchpad_kb)),
        ];
        for ((structure, kb), printed) in structures.into_iter().zip(printed) {
            let printed = printed.as_str().map_or_else(|| printed.to_string(), str::to_owned);
            items.push(Item::new(format!("{name} {structure}"), per_thread(chip, &kb), printed));
        }
    }
    items
}

/// Bytes for each thread with at most one decimal, for each way to configure the storage.
fn per_thread(chip: &ChipStorage, kb: &[u128]) -> String {
    let one = |kb: &u128| fixed(kb * 1024, chip.threads, 1).trim_end_matches(".0").to_owned();
    kb.iter().map(one).collect::<Vec<_>>().join("/")
}

pub(super) type Numbers = Vec<(&'static str, String)>;

fn chip_power_54() -> Option<Numbers> {
    let chip = machine("dissertation")?.chip_power()?;
    let saving = chip.saving(100, 100 - 54, 0)?;
    let saved_nw = u64::try_from(saving.saved_nw).ok()?;
    Some(vec![
        ("of the chip's dynamic power", share(saved_nw, saving.dynamic_nw, 2) + " %"),
        ("of the SMs", share(saved_nw, saving.sm_nw * chip.sms, 1) + " %"),
    ])
}

fn ideal_rfc_58() -> Option<Numbers> {
    let table = isca11()?.energy(Some((6, 8))).ok()?;
    let (mrf, rfc) = (table.mrf.bank, table.level(Level::Rfc)?.bank);
    let (flat, ideal) = all_in(rfc, mrf, reads_per_100(), WRITES_PER_100)?;
    // With r reads for each write the share left is (RFC read * r + RFC write) / (MRF read * r +
    // MRF write); it is 58 % saved to the printed precision between the shares 0.425 and 0.415.
    let fj = |energy: Femtojoules| i128::from(energy.0);
    let reads_for = |share_per_mille: i128| {
        let numerator = 1000 * fj(rfc.write) - share_per_mille * fj(mrf.write);
        let denominator = share_per_mille * fj(mrf.read) - 1000 * fj(rfc.read);
        Some(fixed(u128::try_from(numerator).ok()?, u128::try_from(denominator).ok()?, 2))
    };
    Some(vec![
        ("at 1.54 reads for each write", fixed(100 * (flat - ideal), flat, 1) + " %"),
        ("reads for each write that 58 % needs, at least", reads_for(425)?),
        ("and at most", reads_for(415)?),
    ])
}

fn isca11_table5() -> Option<Numbers> {
    let rows = &papers().tables.isca11.table5_access_plus_wire.rows;
    let row = |rfc_mm: u128| {
        let wanted =
            |row: &&(f64, f64, f64, f64)| scaled(row.0, 1) == 10 && scaled(row.1, 1) == rfc_mm;
        rows.iter().find(wanted).map(|row| (scaled(row.2, 2), scaled(row.3, 2)))
    };
    // The cache's wire energy, and nothing else, grows in proportion to its distance.
    let ((near_compute, near_shaders), (far_compute, far_shaders)) = (row(0)?, row(10)?);
    let at_02 = |near: u128, far: u128| fixed(8 * near + 2 * far, 10 * 100, 3);
    let without = rows.iter().find(|row| scaled(row.0, 1) == 0)?;
    let without = (scaled(without.2, 2), scaled(without.3, 2));
    Some(vec![
        ("compute at 0.2 mm", at_02(near_compute, far_compute)),
        ("shaders at 0.2 mm", at_02(near_shaders, far_shaders)),
        ("wires of flat ones at 1 mm, compute", wires_of_flat(without.0, far_compute)?),
        ("wires of flat ones at 1 mm, shaders", wires_of_flat(without.1, far_shaders)?),
    ])
}

/// Wires that values travel over with both levels at 1 mm, of those that they travel over in the
/// flat design, from its relative energy without wires and with them. Unit of both: 1/100.
fn wires_of_flat(without: u128, with: u128) -> Option<String> {
    let table = isca11()?.energy(None).ok()?;
    let fj = |energy: Femtojoules| u128::from(energy.0);
    let (reads, writes) = (u128::from(reads_per_100()), u128::from(WRITES_PER_100));
    let banks = reads * fj(table.mrf.bank.read) + writes * fj(table.mrf.bank.write);
    let wires = (reads + writes) * fj(table.wire_per_128bit(1000)?);
    Some(fixed((with * (banks + wires)).checked_sub(without * banks)?, 100 * wires, 2))
}

/// Gain in energy efficiency: the inverse of the energy left, against that of the design before.
fn micro11_relative() -> Numbers {
    let gain = |before: u128, now: u128| {
        let (left_before, left_now) = (100 - before, 100 - now);
        fixed(100 * (left_before - left_now), left_now, 1) + " %"
    };
    vec![
        ("two-level, 34 % saved in hardware to 45 % in software", gain(34, 45)),
        ("two-level hardware, 34 %, to three-level software, 54 %", gain(34, 54)),
        ("three-level, 41 % in hardware to 54 % in software", gain(41, 54)),
    ]
}
