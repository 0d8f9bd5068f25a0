//! `[WARRF]`: what its tables imply, through the designs and the cost model of the product.

use strata_core::event::{Counters, Event};
use strata_core::sm::operand_delivery::OperandDelivery;

use super::Item;
use super::figures::Numbers;
use super::fixed::{fixed, scaled};
use super::papers::{WarrfMemory, papers};
use crate::cost::{self, register_file_bytes};
use crate::design::memory::Memory;
use crate::design::{Design, resolve};
use crate::measure::price;

/// A design by its name.
fn design(name: &str) -> Option<Design> {
    resolve(name).ok()
}

/// Cycles of a read and of a write.
fn cycles(design: &Design) -> Option<(u8, u8)> {
    match design.sm.operand_delivery {
        OperandDelivery::Collectors(settings) => {
            Some((settings.read_cycles, settings.write_cycles))
        }
        OperandDelivery::FixedLatency => None,
    }
}

/// Table II of the product beside the facts: area factor, energies, latencies, leakage, area.
fn row(memory: &Memory) -> String {
    let millionths = |value: u64, unit: u128| fixed(value.into(), unit, 2);
    format!(
        "{} {} {} {} {} {} {}",
        memory.cell_area_f2.unwrap_or_default(),
        millionths(memory.read_latency.value.0, 1_000_000),
        millionths(memory.write_latency.value.0, 1_000_000),
        millionths(memory.read_energy.value.0, 1_000_000),
        millionths(memory.write_energy.value.0, 1_000_000),
        fixed(memory.leakage_per_bank.value.0.into(), 1_000, 1),
        fixed(memory.area.as_ref().map_or(0, |area| area.value.0).into(), 1_000_000, 1),
    )
}

fn printed_row(printed: &WarrfMemory) -> String {
    let two = |value: f64| fixed(scaled(value, 2), 100, 2);
    let one = |value: f64| fixed(scaled(value, 1), 10, 1);
    format!(
        "{} {} {} {} {} {} {}",
        printed.cell_f2,
        two(printed.read_ns),
        two(printed.write_ns),
        two(printed.read_pj_bit),
        two(printed.write_pj_bit),
        one(printed.leak_per_bank),
        one(printed.area_mm2),
    )
}

/// The machine and the technology are the facts'.
fn tables(own: &Design, sram: &Design) -> Option<Vec<Item>> {
    let facts = &papers().tables.warrf;
    let (table1, table2) = (&facts.table1_sim, &facts.table2_technology_22nm);
    let machine = own.machine;
    let sm = &machine.sm;
    let printed_sm = [table1.cores, table1.rf_kb, table1.rf_banks, table1.shared_kb];
    let banks = sm.register_file_kb / sm.register_bank_kb;
    let own_sm = [sm.count, sm.register_file_kb, banks, sm.shared_memory_kb];
    let words = |numbers: [u32; 4]| numbers.map(|number| number.to_string()).join(" ");
    let clock = fixed(machine.clock.0.into(), 1_000_000, 1);
    let printed = |design: &Design| Some(row(design.memory.as_ref()?.memory()));
    let (sttram, sram_row) = (printed(own)?, printed(sram)?);
    let pool = own.memory.as_ref()?.technology.write_pool.as_ref()?;
    Some(vec![
        Item::new("SMs, KB, banks, shared KB", words(own_sm), words(printed_sm)),
        Item::new("clock, GHz", clock, fixed(scaled(table1.clock_ghz, 1), 10, 1)),
        Item::new("SRAM, Table II", sram_row, printed_row(&table2.sram)),
        Item::new("STT-RAM, Table II", sttram, printed_row(&table2.sttram)),
        Item::new(
            "write pool, pJ/bit",
            fixed(pool.access_energy.value.0.into(), 1_000_000, 2),
            fixed(scaled(table2.wpool.access_pj_bit, 2), 100, 2),
        ),
        Item::new(
            "entries of the pool",
            own.write_pool_entries().to_string(),
            table2.wpool.entries.to_string(),
        ),
    ])
}

pub(super) fn cost() -> Option<Vec<Item>> {
    let (own, sram) = (design("warrf-as-printed")?, design("warrf-gtx480-as-printed")?);
    let mut items = tables(&own, &sram)?;
    let cost = cost::cost(&own);
    let collectors = cost.collectors?;
    let pool = collectors.write_pool?;
    let main = u128::from(register_file_bytes(own.machine));
    let (read, write) = cycles(&own)?;
    let leakage = |design: &Design| Some(u128::from(design.leakage.as_ref().ok()?.nanowatts()?));
    let ratio = fixed(100 * leakage(&own)?, leakage(&sram)?, 1);
    items.extend([
        Item::new("SBW buffers, bits", collectors.split_bank_write_bits?.to_string(), "48"),
        Item::new("pool array, bytes", pool.array_bytes.to_string(), "7680"),
        Item::new(
            "of the register file, %",
            fixed(u128::from(pool.array_bytes) * 100, main, 1),
            "5.9",
        ),
        Item::new("cycles of an STT-RAM write", write.to_string(), "3"),
        Item::new("cycles of an STT-RAM read", read.to_string(), "1"),
        Item::new("cycles of an SRAM access", format!("{:?}", cycles(&sram)?), "(1, 1)"),
        Item::new("STT-RAM's leakage of SRAM's, %", ratio, "1.2"),
        // 38 % less energy, 2.5 % more time.
        Item::new("EDP of WarRF to SRAM", fixed((100 - 38) * 1025, 100 * 1000, 2), "0.64"),
        // 7 % more by SBW, then 6 % more by the pool.
        Item::new("IPC of WarRF to STT-RAM", fixed(107 * 106, 100 * 100, 2), "1.13"),
    ]);
    Some(items)
}

/// What all banks leak, beside what a busy register file spends: Figure 8's totals need the leakage
/// to be about half of both.
pub(super) fn leakage_unit() -> Option<Numbers> {
    // A third less in all with half as much again in accesses: with a share l of leakage in SRAM,
    // 1.49 (1 - l) + 0.012 l = 0.68.
    let needed = fixed(100 * (149 - 68) * 1000, 149_000 - 1_200, 0);
    let share = |name: &str| {
        let sram = design(name)?;
        let mut counters = Counters::default();
        // Two operands and a result for each of a thousand cycles.
        counters.record(Event::MrfReadPrivate, 2000);
        counters.record(Event::MrfWritePrivate, 1000);
        let dynamic = u128::from(price(&sram, &counters).ok()??.total().0);
        let leakage = u128::from(sram.leakage.as_ref().ok()?.energy(1000)?.0);
        Some(fixed(100 * leakage, dynamic + leakage, 2) + " %")
    };
    Some(vec![
        ("share of SRAM's energy that Figure 8's -32 % with +49 % needs", needed + " %"),
        ("as printed, of 2 reads and a write in every cycle", share("warrf-gtx480-as-printed")?),
        ("in mW", share("warrf-gtx480")?),
    ])
}

pub(super) fn area_68() -> Option<Numbers> {
    let saved = |name: &str| {
        let saved = cost::cost(&design(name)?).area?.saved_per_mille()?;
        Some(fixed(u128::try_from(saved).ok()?, 10, 1) + " %")
    };
    Some(vec![
        ("saved without the pool", saved("sttram")?),
        ("saved with the pool's array in SRAM", saved("warrf")?),
    ])
}
