//! `[MICRO2012]` 5.2 and `[DISS]` 4.4: what an SM with all its storage costs at 32 nm, by the
//! technologies that price it.

use strata_core::sm::partition::BANKS;
use strata_core::storage_energy::{StorageArea, StorageConfiguration};

use super::context::Context;
use super::fixed::{fixed, picojoules, scaled};
use super::numbers::{Numbers, Row};
use super::papers::Table6Row;
use strata_design::storage_technology::StorageTechnology;

const WATT: u128 = 1_000_000_000;
const MILLIWATT: u128 = 1_000_000;
const KB: u64 = 1024;
/// Workloads whose performance hardly depends on the capacity.
const NO_GAIN: &str = "no-benefit-set average";

/// Energy of a bank's read and write.
fn bank(technology: &StorageTechnology, kilobytes: u32) -> String {
    technology.bank(kilobytes).map_or_else(
        || "no such bank".to_owned(),
        |bank| format!("{} {}", picojoules(bank.read.value.0), picojoules(bank.write.value.0)),
    )
}

fn printed([read, write]: [f64; 2]) -> String {
    format!("{read:.1} {write:.1}")
}

/// What an SM with so many bytes of SRAM leaks, and its SRAM. Unit: nanowatts.
fn leakage(technology: &StorageTechnology, bytes: u64) -> Option<(u128, u128)> {
    let sram = u128::from(technology.sram_leakage()?.of_bytes(bytes)?);
    Some((u128::from(technology.core_leakage.value.0) + sram, sram))
}

/// Technologies beside the tables that they are from.
pub(super) fn rows(of: Context<'_>) -> Option<Vec<Row>> {
    let technologies = &of.product.storage_technologies;
    let (micro12, dissertation) = (&technologies.micro12, &technologies.dissertation);
    let table3 = &of.facts.tables.micro12.table3_energy;
    let table4 = &of.facts.tables.micro12.table4_bank_energy;
    let baseline = &of.product.storage.baseline;
    let (sm, sram) = leakage(micro12, baseline.capacity())?;
    let (_, of_kb) = leakage(&technologies.micro12_as_printed, KB)?;
    let watts = |power: u128| fixed(power, WATT, 1);
    let facts = |power: f64| format!("{power:.1}");
    let mut rows = vec![
        Row::beside(
            "dynamic of an SM, W",
            watts(micro12.core_dynamic.value.0.into()),
            facts(table3.sm_dynamic_w),
        ),
        Row::beside(
            "leakage of its core, W",
            watts(micro12.core_leakage.value.0.into()),
            facts(table3.sm_leakage_core_w),
        ),
        Row::beside("of its SRAM, W", watts(sram), facts(table3.sm_leakage_sram_384kb_w)),
        Row::beside("of both, W", watts(sm), facts(table3.sm_leakage_w)),
        Row::beside(
            "as printed, of a KB of SRAM, mW",
            fixed(of_kb, MILLIWATT, 2),
            format!("{:.2}", table3.sram_leakage_mw_per_kb),
        ),
        Row::beside(
            "DRAM, pJ/bit",
            fixed(micro12.dram_energy.value.0.into(), 1_000_000, 0),
            table3.dram_pj_per_bit.to_string(),
        ),
        Row::beside(
            "crossbar, % of a bank's energy",
            fixed(micro12.crossbar.value.0.into(), 10_000, 0),
            scaled(table3.crossbar_overhead_fraction, 2).to_string(),
        ),
    ];
    // The banks of the divisions that the table is about.
    let unified = StorageConfiguration::of(*of.product.storage.unified.get(2)?);
    let partitioned = StorageConfiguration::of(*baseline);
    for (label, configuration, area, energy) in [
        ("registers", partitioned, StorageArea::Registers, table4.rf_8kb),
        ("shared memory", partitioned, StorageArea::Shared, table4.shared_2kb),
        ("cache", partitioned, StorageArea::Cache, table4.cache_2kb),
        ("unified storage", unified, StorageArea::Registers, table4.unified_12kb),
    ] {
        let bytes = configuration.array_bytes(area) / u64::from(BANKS);
        let own = bank(micro12, u32::try_from(bytes / KB).ok()?);
        rows.push(Row::beside(format!("bank of {label}, pJ"), own, printed(energy)));
    }
    for &(kilobytes, read, write) in &of.facts.tables.dissertation.table4_7_sram_16byte.rows {
        let energy = printed([read, write]);
        let own = bank(dissertation, kilobytes);
        let label = format!("dissertation, bank of {kilobytes} KB, pJ");
        rows.push(Row::beside(label, own, energy.clone()));
        // Those that MICRO'12 does not print.
        if [1, 4, 16].contains(&kilobytes) {
            let label = format!("MICRO'12 as the dissertation, bank of {kilobytes} KB, pJ");
            rows.push(Row::beside(label, bank(micro12, kilobytes), energy));
        }
    }
    Some(rows)
}

/// Leakage of SRAM with which the energy of Table 6's workloads without gain would be as printed in
/// the storage of a column, if they kept DRAM busy with so much power. Unit: mW/KB.
fn needed(of: Context<'_>, row: &Table6Row, column: usize, dram_nw: i128) -> Option<String> {
    let technology = &of.product.storage_technologies.micro12;
    let storage = &of.product.storage;
    let kilobytes = |bytes: u64| i128::from(bytes / KB);
    let (all, some) =
        (kilobytes(storage.baseline.capacity()), kilobytes(storage.unified[column].capacity()));
    let hundredths = |value: f64| i128::try_from(scaled(value, 2)).ok();
    let (performance, energy) = (hundredths(row.1[column])?, hundredths(row.2[column])?);
    let (dynamic, core) = (
        i128::from(technology.core_dynamic.value.0) + dram_nw,
        i128::from(technology.core_leakage.value.0),
    );
    // With x for each KB, times the baseline's time: dynamic + (core + some x) / performance is
    // `energy` of dynamic + core + all x.
    let both = 100 * performance;
    let numerator = both * dynamic + 10_000 * core - energy * performance * (dynamic + core);
    let denominator = energy * performance * all - 10_000 * some;
    let denominator = u128::try_from(denominator).ok().filter(|&number| number != 0)?;
    Some(fixed(u128::try_from(numerator).ok()?, denominator * MILLIWATT, 2))
}

/// The SM's SRAM by the leakage of a KB, and by what the SM leaks.
pub(super) fn sram_leakage(of: Context<'_>) -> Option<Numbers> {
    let technologies = &of.product.storage_technologies;
    let (read, printed) = (&technologies.micro12, &technologies.micro12_as_printed);
    let bytes = of.product.storage.baseline.capacity();
    let ((sm, sram), (printed_sm, printed_sram)) =
        (leakage(read, bytes)?, leakage(printed, bytes)?);
    let (_, of_kb) = leakage(read, KB)?;
    let row = of.facts.tables.micro12.table6_capacity.rows.iter().find(|row| row.0 == NO_GAIN)?;
    // Attojoules at a kilohertz are millionths of a nanowatt.
    let bits = 8 * i128::from(of.facts.tables.micro12.table2_sim.dram_bytes_per_cycle);
    let bit = i128::from(read.dram_energy.value.0) * i128::from(read.clock.value.0);
    let with = |dram_nw| {
        let [small, middle] = [0, 1].map(|column| needed(of, row, column, dram_nw));
        Some(format!("{} and {}", small?, middle?))
    };
    Some(vec![
        ("W of 384 KB by mW/KB", fixed(printed_sram, WATT, 2)),
        ("W of 384 KB by what the SM leaks", fixed(sram, WATT, 1)),
        ("W of the SM by mW/KB", fixed(printed_sm, WATT, 2)),
        ("W of the SM", fixed(sm, WATT, 1)),
        ("mW/KB by what the SM leaks", fixed(of_kb, MILLIWATT, 2)),
        ("mW/KB that Table 6's workloads without gain need in 128 and 256 KB, no DRAM", with(0)?),
        ("with DRAM busy in every cycle", with(bits * bit / 1_000_000)?),
    ])
}
