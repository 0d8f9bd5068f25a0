//! `[WARRF]`: what its tables imply, through the designs and the cost model of the product.

use strata_core::event::{Counters, Event};
use strata_core::sm::operand_delivery::OperandDelivery;

use super::context::Context;
use super::fixed::{fixed, scaled};
use super::numbers::{Numbers, Row};
use super::papers::{WarrfMeans, WarrfMemory};
use strata_design::Design;
use strata_design::cost::{self, register_file_bytes};
use strata_design::memory::Memory;
use strata_measure::price;
use strata_report::{Against, EnergyInTime};

/// Cycles of a read and of a write.
fn cycles(design: &Design) -> Option<(u8, u8)> {
    match design.sm.operand_delivery {
        OperandDelivery::Collectors(settings) => {
            Some((settings.read_cycles, settings.write_cycles))
        }
        OperandDelivery::FixedLatency { .. } => None,
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
fn tables(of: Context<'_>) -> Option<Vec<Row>> {
    let facts = &of.facts.tables.warrf;
    let (own, sram) = (&of.product.warrf_as_printed, &of.product.sram_as_printed);
    let (table1, table2) = (&facts.table1_sim, &facts.table2_technology_22nm);
    let machine = own.machine;
    let sm = &machine.sm;
    let printed_sm = [table1.cores, table1.rf_kb, table1.rf_banks, table1.shared_kb];
    let banks = sm.register_file_kb.checked_div(sm.register_bank_kb)?;
    let own_sm = [sm.count, sm.register_file_kb, banks, sm.shared_memory_kb];
    let words = |numbers: [u32; 4]| numbers.map(|number| number.to_string()).join(" ");
    let clock = fixed(machine.clock.0.into(), 1_000_000, 1);
    let ours = |design: &Design| Some(row(design.memory.as_ref()?.memory()));
    let pool = own.memory.as_ref()?.technology.write_pool.as_ref()?;
    Some(vec![
        Row::beside("SMs, KB, banks, shared KB", words(own_sm), words(printed_sm)),
        Row::beside("clock, GHz", clock, fixed(scaled(table1.clock_ghz, 1), 10, 1)),
        Row::beside("SRAM, Table II", ours(sram)?, printed_row(&table2.sram)),
        Row::beside("STT-RAM, Table II", ours(own)?, printed_row(&table2.sttram)),
        Row::beside(
            "write pool, pJ/bit",
            fixed(pool.access_energy.value.0.into(), 1_000_000, 2),
            fixed(scaled(table2.wpool.access_pj_bit, 2), 100, 2),
        ),
        Row::beside(
            "entries of the pool",
            own.write_pool_entries().to_string(),
            table2.wpool.entries.to_string(),
        ),
    ])
}

/// Tables, costs and energy times delay: where one cannot be computed the others still are.
pub(super) fn rows(of: Context<'_>) -> Vec<Row> {
    let mut rows = tables(of).unwrap_or_default();
    rows.extend(costs(of).unwrap_or_default());
    let means = &of.facts.tables.warrf.figures_7_and_8_means;
    rows.extend(energy_delay(means).map(|ratio| Row::listed("EDP of WarRF to SRAM", ratio)));
    rows
}

fn costs(of: Context<'_>) -> Option<Vec<Row>> {
    let (own, sram) = (&of.product.warrf_as_printed, &of.product.sram_as_printed);
    let table2 = &of.facts.tables.warrf.table2_technology_22nm;
    let collectors = cost::cost(own).collectors?;
    let pool = collectors.write_pool?;
    let main = u128::from(register_file_bytes(own.machine));
    let (read, write) = cycles(own)?;
    let (sram_read, sram_write) = cycles(sram)?;
    let leakage = |design: &Design| Some(u128::from(design.leakage.as_ref().ok()?.nanowatts()?));
    let sram_leakage = leakage(sram).filter(|&leakage| leakage != 0)?;
    Some(vec![
        Row::listed("SBW buffers, bits", collectors.split_bank_write_bits?.to_string()),
        Row::listed("pool array, bytes", pool.array_bytes.to_string()),
        Row::listed(
            "of the register file, %",
            fixed(u128::from(pool.array_bytes) * 100, main.max(1), 1),
        ),
        Row::beside(
            "cycles of an STT-RAM write",
            write.to_string(),
            table2.sttram.write_cycles.to_string(),
        ),
        Row::listed("cycles of an STT-RAM read", read.to_string()),
        Row::beside(
            "cycles of an SRAM access",
            format!("{sram_read} {sram_write}"),
            format!("{0} {0}", table2.sram.write_cycles),
        ),
        Row::listed("STT-RAM's leakage of SRAM's, %", fixed(100 * leakage(own)?, sram_leakage, 1)),
    ])
}

/// Energy times delay of the printed energy and the printed loss of performance, as reports compute
/// it.
fn energy_delay(means: &WarrfMeans) -> Option<String> {
    let energy = |percent: u32| EnergyInTime {
        dynamic_fj: u64::from(percent),
        leakage_fj: 0,
        total_fj: u64::from(percent),
        average_power_mw: 0.0,
        energy_delay_fj_s: 0.0,
    };
    let against = Against {
        own: energy(means.warrf_total),
        baseline: energy(100),
        cycles: 1000 + u64::try_from(scaled(means.warrf_slower, 1)).ok()?,
        baseline_cycles: 1000,
    };
    let percent =
        against.ratios().into_iter().find(|(name, _)| *name == "energy_delay_relative_percent");
    Some(fixed(scaled(percent?.1?, 2), 10_000, 2))
}

/// What all banks leak, beside what a busy register file spends: Figure 8's totals need the leakage
/// to be about half of both.
pub(super) fn leakage_unit(of: Context<'_>) -> Option<Numbers> {
    let means = &of.facts.tables.warrf.figures_7_and_8_means;
    let leakage = |design: &Design| Some(u128::from(design.leakage.as_ref().ok()?.nanowatts()?));
    let (sram, sttram) = (leakage(&of.product.sram)?, leakage(&of.product.sttram)?);
    // With a share l of leakage in SRAM and k of it left, 1.49 (1 - l) + k l = 0.68.
    let lost = u128::from(means.sttram_dynamic.checked_sub(means.sttram_total)?);
    let whole = (u128::from(means.sttram_dynamic) * sram).checked_sub(100 * sttram)?;
    let needed = fixed(100 * lost * sram, whole.max(1), 0);
    let share = |sram: &Design| {
        let mut counters = Counters::default();
        // Two operands and a result for each of a thousand cycles.
        counters.record(Event::MrfReadPrivate, 2000);
        counters.record(Event::MrfWritePrivate, 1000);
        let dynamic = u128::from(price(sram, &counters).ok()??.total().0);
        let leakage = u128::from(sram.leakage.as_ref().ok()?.energy(1000)?.0);
        Some(fixed(100 * leakage, dynamic + leakage, 2) + " %")
    };
    Some(vec![
        ("share of SRAM's energy that Figure 8's -32 % with +49 % needs", needed + " %"),
        ("as printed, of 2 reads and a write in every cycle", share(&of.product.sram_as_printed)?),
        ("in mW", share(&of.product.sram)?),
    ])
}

pub(super) fn area_68(of: Context<'_>) -> Option<Numbers> {
    let saved = |design: &Design| {
        let saved = cost::cost(design).area?.saved_per_mille()?;
        Some(fixed(u128::try_from(saved).ok()?, 10, 1) + " %")
    };
    Some(vec![
        ("saved without the pool", saved(&of.product.sttram)?),
        ("saved with the pool's array in SRAM", saved(&of.product.warrf)?),
    ])
}
