//! `cost`: storage, area, energy per access of a design, and the size of its model.

use std::fmt::Write as _;

use strata_core::units::Femtojoules;

use crate::printer::Printer;
use strata_design::cost::{self, AreaCost, CollectorCost, Cost, DataBytes};
use strata_design::{self as design, MainMemory};
use strata_files::failure::{ExitStatus, Failure};

/// Prints the cost of one design.
pub fn run(name: &str, printer: &Printer) -> Result<ExitStatus, Failure> {
    let design = design::resolve(name)?;
    let cost = cost::cost(&design);
    let mut text = format!("design {}: {}\n", design.name, design.source);
    for (axis, value) in design.axes() {
        let _ = writeln!(text, "  {axis}: {value}");
    }
    let main = cost.register_file_bytes;
    let _ = writeln!(text, "\nmain register file    {main} bytes for each SM");
    text += &upper_levels(&cost);
    if let Some(collectors) = &cost.collectors {
        text += &describe(collectors, main);
    }
    if let Some(area) = &cost.area {
        text += &describe_area(area);
    }
    let _ = writeln!(text, "instruction encoding  {} extra bits", cost.encoding_bits);
    match &cost.accesses {
        Ok(accesses) => {
            text.push_str("\nenergy of one access of a whole warp (pJ)     bank     wire\n");
            for access in accesses {
                let (bank, wire) = (picojoules(access.bank), picojoules(access.wire));
                let _ = writeln!(text, "  {:42} {bank:>7} {wire:>8}", access.what);
            }
        }
        Err(reason) => {
            let _ = writeln!(text, "\nenergy: {reason}");
        }
    }
    let _ = writeln!(
        text,
        "\nmodel's own state     {} bytes for one SM on the host",
        cost.model_host_bytes
    );
    let _ = match cost.model_device_bytes {
        Some(bytes) => writeln!(text, "                      {bytes} bytes on a device"),
        None => writeln!(text, "                      too many entries for the device's capacity"),
    };
    // A user's values are among what a file changed.
    let built_in = design.memory.iter().filter(|memory| memory.technology.built_in);
    for source in built_in.flat_map(MainMemory::told) {
        let _ = writeln!(text, "source: {source}");
    }
    for changed in &design.changed {
        let _ = writeln!(text, "changed: {changed}");
    }
    for assumed in &cost.assumed {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    printer.data(&text)
}

/// Storage of the levels above the main register file.
fn upper_levels(cost: &Cost) -> String {
    let mut text = String::new();
    if let Some(cache) = &cost.cache {
        let _ = writeln!(
            text,
            "register file cache   {} bytes for each SM, {} for each lane\n\
             \x20                     {} bits of tags, {} bits of state",
            cache.data_bytes, cache.data_bytes_per_lane, cache.tag_bits, cache.state_bits
        );
        let _ = match (cache.area_um2_per_lane, cache.area_um2) {
            (Some(lane), Some(all)) => {
                writeln!(text, "                      {lane} um2 for each lane, {all} um2 in all")
            }
            _ => writeln!(text, "                      area: no table prints this size"),
        };
    }
    if let Some(last) = &cost.last_result_file {
        let _ = writeln!(
            text,
            "last result file      {} bytes for each SM, {} for each lane\n\
             \x20                     {} bits of tags, {} bits of state",
            last.data_bytes, last.data_bytes_per_lane, last.tag_bits, last.state_bits
        );
    }
    if let Some(managed) = &cost.managed {
        let mut level = |name: &str, data: DataBytes| {
            let DataBytes { sm, lane } = data;
            let _ = writeln!(text, "{name:<21} {sm} bytes for each SM, {lane} for each lane");
        };
        level("operand register file", managed.operand_register_file);
        if let Some(last) = managed.last_result_file {
            level("last result file", last);
        }
    }
    text
}

/// Collectors, buffers of split bank writes and the write pool, beside a register file of this many
/// bytes.
fn describe(collectors: &CollectorCost, main: u64) -> String {
    let mut text = format!(
        "operand collectors    {} bytes of operands, {} bits of state\n",
        collectors.operand_bytes, collectors.state_bits
    );
    if let Some(bits) = collectors.split_bank_write_bits {
        let _ = writeln!(text, "split bank writes     {bits} bits of buffers");
    }
    if let Some(pool) = &collectors.write_pool {
        let _ = writeln!(
            text,
            "write pool            {} bytes of {} entries, {} % of the main register file\n\
             \x20                     {} bits of indicator, {} of lanes, {} of order",
            pool.array_bytes,
            pool.entries,
            tenths((2000 * pool.array_bytes + main) / (2 * main).max(1)),
            pool.indicator_bits,
            pool.lane_bits,
            pool.order_bits
        );
    }
    text
}

fn describe_area(area: &AreaCost) -> String {
    let AreaCost { banks_um2, write_pool_um2, baseline_um2 } = area;
    let mut text = format!("area                  {banks_um2} um2 of banks");
    if *write_pool_um2 != 0 {
        let _ = write!(text, ", {write_pool_um2} um2 of write pool");
    }
    let _ = write!(text, "; {baseline_um2} um2 as SRAM");
    if let Some(saved) = area.saved_per_mille() {
        let sign = if saved < 0 { "-" } else { "" };
        let _ = write!(text, ", {sign}{} % saved", tenths(saved.unsigned_abs()));
    }
    text + "\n"
}

/// Tenths with a decimal point.
fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Femtojoules as picojoules with three decimals: exact.
fn picojoules(energy: Femtojoules) -> String {
    format!("{}.{:03}", energy.0 / 1000, energy.0 % 1000)
}
