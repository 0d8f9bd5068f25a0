//! What follows from the papers' parameters where they print something else, one function for each
//! figure.

use strata_core::level::Level;
use strata_core::units::Femtojoules;

use super::context::Context;
use super::figures::{accesses_per_100, all_in};
use super::fixed::{fixed, scaled, share};
use super::numbers::Numbers;
use super::papers::Inconsistent;
use super::{expars, pool_reads, storage, storage_energy, warrf};

/// The numbers of a contradiction; `None` if it is not built yet.
pub(super) fn numbers(figure: &Inconsistent, of: Context<'_>) -> Option<Vec<(String, String)>> {
    let given = figure.given.first().copied();
    let numbers = match figure.id.as_str() {
        "chip-power-54" => chip_power_54(of)?,
        "cache-tags-kb" => storage::cache_tags(of, &figure.given)?,
        "expars-eq9-split" => expars::equation_9(of)?,
        "expars-hotspot-split" => expars::hotspot_split(of)?,
        "expars-oracle" => expars::oracle(of)?,
        "expars-st-registers" => expars::st_registers(of)?,
        "ideal-rfc-58" => ideal_rfc_58(of, given?)?,
        "isca11-table5" => isca11_table5(of)?,
        "micro11-relative" => micro11_relative(of)?,
        "micro12-sram-leakage" => storage_energy::sram_leakage(of)?,
        "warrf-leakage-unit" => warrf::leakage_unit(of)?,
        "warrf-area-68" => warrf::area_68(of)?,
        "warrf-pool-reads" => pool_reads::numbers(of.facts),
        _ => return None,
    };
    Some(numbers.into_iter().map(|(label, number)| (label.to_owned(), number)).collect())
}

fn chip_power_54(of: Context<'_>) -> Option<Numbers> {
    let chip = of.product.dissertation.machine.chip_power()?;
    let saved = of.facts.tables.dissertation.section6_5_4.three_levels_software;
    let saving = chip.saving(100, 100_u64.checked_sub(saved)?, 0)?;
    let saved_nw = u64::try_from(saving.saved_nw).ok()?;
    Some(vec![
        ("of the chip's dynamic power", share(saved_nw, saving.dynamic_nw, 2) + " %"),
        ("of the SMs", share(saved_nw, saving.sm_nw * chip.sms, 1) + " %"),
    ])
}

fn ideal_rfc_58(of: Context<'_>, printed: u64) -> Option<Numbers> {
    let table = of.product.cache.energy.as_ref().ok()?;
    let (mrf, rfc) = (table.mrf.bank, table.level(Level::Rfc)?.bank);
    let (reads, writes) = accesses_per_100(of.facts);
    let (flat, ideal) = all_in(rfc, mrf, reads, writes)?;
    // With r reads for each write the share left is (RFC read * r + RFC write) / (MRF read * r +
    // MRF write); what is saved is the printed number between half a percent less and more.
    let fj = |energy: Femtojoules| i128::from(energy.0);
    let left = 1000 - 10 * i128::from(printed);
    let reads_for = |share_per_mille: i128| {
        let numerator = 1000 * fj(rfc.write) - share_per_mille * fj(mrf.write);
        let denominator = share_per_mille * fj(mrf.read) - 1000 * fj(rfc.read);
        let denominator = u128::try_from(denominator).ok().filter(|&number| number != 0)?;
        Some(fixed(u128::try_from(numerator).ok()?, denominator, 2))
    };
    Some(vec![
        ("at 1.54 reads for each write", fixed(100 * (flat - ideal), flat, 1) + " %"),
        ("reads for each write that 58 % needs, at least", reads_for(left + 5)?),
        ("and at most", reads_for(left - 5)?),
    ])
}

fn isca11_table5(of: Context<'_>) -> Option<Numbers> {
    let rows = &of.facts.tables.isca11.table5_access_plus_wire.rows;
    let row = |rfc_mm: u128| {
        let wanted =
            |row: &&(f64, f64, f64, f64)| scaled(row.0, 1) == 10 && scaled(row.1, 1) == rfc_mm;
        rows.iter().find(wanted).map(|row| (scaled(row.2, 2), scaled(row.3, 2)))
    };
    // The cache's wire energy, and nothing else, grows with its distance.
    let ((near_compute, near_shaders), (far_compute, far_shaders)) = (row(0)?, row(10)?);
    let table = of.product.cache.energy.as_ref().ok()?;
    let wire = |um| Some(u128::from(table.wire_per_128bit(um)?.0));
    let (short, long) = (wire(200)?, wire(1000)?);
    let at_02 = |near: u128, far: u128| fixed((long - short) * near + short * far, long * 100, 3);
    let without = rows.iter().find(|row| scaled(row.0, 1) == 0)?;
    let without = (scaled(without.2, 2), scaled(without.3, 2));
    Some(vec![
        ("compute at 0.2 mm", at_02(near_compute, far_compute)),
        ("shaders at 0.2 mm", at_02(near_shaders, far_shaders)),
        ("wires of flat ones at 1 mm, compute", wires_of_flat(of, without.0, far_compute)?),
        ("wires of flat ones at 1 mm, shaders", wires_of_flat(of, without.1, far_shaders)?),
    ])
}

/// Wires that values travel over with both levels at 1 mm, of those that they travel over in the
/// flat design, from its relative energy without wires and with them. Unit of both: 1/100.
fn wires_of_flat(of: Context<'_>, without: u128, with: u128) -> Option<String> {
    let table = of.product.isca11.energy.as_ref().ok()?;
    let fj = |energy: Femtojoules| u128::from(energy.0);
    let (reads, writes) = accesses_per_100(of.facts);
    let (reads, writes) = (u128::from(reads), u128::from(writes));
    let banks = reads * fj(table.mrf.bank.read) + writes * fj(table.mrf.bank.write);
    let wires = (reads + writes) * fj(table.wire_per_128bit(1000)?);
    Some(fixed((with * (banks + wires)).checked_sub(without * banks)?, 100 * wires, 2))
}

/// Gain in energy efficiency: the inverse of the energy left, against that of the design before.
fn micro11_relative(of: Context<'_>) -> Option<Numbers> {
    let saved = &of.facts.tables.dissertation.section6_5_4;
    let gain = |before: u64, now: u64| {
        let left = |saved: u64| Some(u128::from(100_u64.checked_sub(saved)?));
        let (before, now) = (left(before)?, left(now)?);
        (now != 0).then_some(())?;
        Some(fixed(100 * before.checked_sub(now)?, now, 1) + " %")
    };
    let (two, three) = (saved.two_levels_hardware, saved.three_levels_hardware);
    let (own_two, own_three) = (saved.two_levels_software, saved.three_levels_software);
    Some(vec![
        ("two-level, 34 % saved in hardware to 45 % in software", gain(two, own_two)?),
        ("two-level hardware, 34 %, to three-level software, 54 %", gain(two, own_three)?),
        ("three-level, 41 % in hardware to 54 % in software", gain(three, own_three)?),
    ])
}
