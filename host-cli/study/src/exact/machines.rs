//! Parameters of the simulated machines, beside the tables that print them.

use super::context::Context;
use super::fixed::{fixed, picojoules};
use super::numbers::Row;
use strata_core::level::Level;
use strata_core::organisation::Scheduling;
use strata_design::Design;

/// The numbers of a list in one line.
fn line(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Register file, its bank, shared memory; bytes of shared memory and of DRAM in a cycle.
fn sizes(design: &Design) -> String {
    let sm = &design.sm;
    line(&[
        sm.register_file_bytes / 1024,
        design.machine.sm.register_bank_kb,
        sm.shared_memory_bytes / 1024,
        sm.timing.shared_bytes_per_cycle,
        sm.timing.dram_bytes_per_cycle,
    ])
}

/// ALU, special functions, shared memory, textures, DRAM.
fn latencies(design: &Design) -> String {
    let timing = &design.sm.timing;
    let all = [
        timing.alu_latency,
        timing.special_function_latency,
        timing.shared_latency,
        timing.texture_latency,
        timing.dram_latency,
    ];
    line(&all.map(u32::from))
}

const SIZES: &str = "KB of registers, a bank, shared memory; bytes a cycle";
const LATENCIES: &str = "latencies of ALU, SFU, shared, texture, DRAM";

pub(super) fn rows(of: Context<'_>) -> Option<Vec<Row>> {
    let mut rows = isca11(of)?;
    rows.extend(dissertation(of)?);
    Some(rows)
}

fn isca11(of: Context<'_>) -> Option<Vec<Row>> {
    let tables = &of.facts.tables.isca11;
    let (model, sim) = (&tables.table3_model, &tables.table4_sim);
    let own = &of.product.isca11;
    let timing = &own.sm.timing;
    let technology = &of.product.isca11_tables;
    let mrf = own.energy.as_ref().ok()?.mrf;
    let area = technology.mrf.area.map_or(0, |area| area.0);
    let bank = format!("{} {} {area}", picojoules(mrf.bank.read), picojoules(mrf.bank.write));
    let latency =
        [sim.alu_latency, sim.sfu_latency, sim.shared_latency, sim.tex_latency, sim.dram_latency];
    let size = [
        sim.rf_kb,
        sim.rf_bank_kb,
        sim.shared_kb,
        sim.shared_bytes_per_cycle,
        sim.dram_bytes_per_cycle,
    ];
    let rates = [timing.special_function_lanes, timing.texture_lanes].map(u32::from);
    Some(vec![
        Row::beside(
            "ISCA, MRF, pJ and um2",
            bank,
            format!(
                "{:.1} {:.1} {}",
                model.mrf_read_pj, model.mrf_write_pj, model.mrf_bank_area_um2
            ),
        ),
        Row::beside(
            "ISCA, MRF to ALU, mm",
            fixed(mrf.wires.private_um.into(), 1000, 1),
            format!("{:.1}", model.mrf_to_alu_mm),
        ),
        Row::beside(format!("ISCA, {SIZES}"), sizes(own), line(&size)),
        Row::beside(format!("ISCA, {LATENCIES}"), latencies(own), line(&latency)),
        Row::beside(
            "ISCA, SFU and texture operations a cycle",
            line(&rates),
            line(&[sim.sfu_ops_per_cycle, sim.tex_ops_per_cycle]),
        ),
        Row::beside(
            "ISCA, lanes and warps",
            line(&[own.machine.sm.lanes, own.sm.max_warps.into()]),
            line(&[sim.lanes, sim.max_warps]),
        ),
    ])
}

fn dissertation(of: Context<'_>) -> Option<Vec<Row>> {
    let tables = &of.facts.tables.dissertation;
    let (sim, wire) = (&tables.table4_4_sim, &tables.table4_6_wire);
    let (flat, managed) = (&of.product.dissertation, &of.product.managed);
    let latency =
        [sim.alu_latency, sim.sfu_latency, sim.shared_latency, sim.tex_latency, sim.dram_latency];
    let size = [
        sim.rf_kb,
        sim.rf_bank_kb,
        sim.shared_kb,
        sim.shared_bytes_per_cycle,
        sim.dram_bytes_per_cycle,
    ];
    let Scheduling::TwoLevel { active_warps } = managed.organisation().settings().scheduling else {
        return None;
    };
    let waiting = flat.sm.max_warps.checked_sub(active_warps)?;
    let table = managed.energy.as_ref().ok()?;
    let wires = |level| Some(table.level(level)?.wires);
    let (mrf, orf) = (table.mrf.wires, wires(Level::Orf)?);
    let lrf = wires(Level::Lrf)?.private_um;
    let lengths = [mrf.private_um, orf.private_um, lrf, mrf.shared_um, orf.shared_um];
    let printed = [
        wire.mrf_to_private_mm,
        wire.orf_to_private_mm,
        wire.lrf_to_private_mm,
        wire.mrf_to_shared_mm,
        wire.orf_to_shared_mm,
    ];
    let lengths = lengths.map(|um| fixed(um.into(), 1000, 2)).join(" ");
    Some(vec![
        Row::beside(format!("dissertation, {SIZES}"), sizes(flat), line(&size)),
        Row::beside(format!("dissertation, {LATENCIES}"), latencies(flat), line(&latency)),
        Row::beside(
            "dissertation, active and pending warps",
            line(&[active_warps.into(), waiting.into()]),
            line(&[sim.active_warps, sim.pending_warps]),
        ),
        Row::beside(
            "dissertation, MRF, ORF, LRF to private, MRF, ORF to shared, mm",
            lengths,
            printed.map(|mm| format!("{mm:.2}")).join(" "),
        ),
    ])
}
