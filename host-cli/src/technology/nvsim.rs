//! NVSim: the text after `DESIGN SPECIFICATION` and `RESULT`, of a memory that is no cache.

use super::number::number;
use super::{Array, ImportError, Read, find, per_bit, required};
use crate::config::quantity::{Area, Power, Time};
use crate::design::memory::MemoryKind;

const CAPACITY: &str = "Capacity   :";
const WIDTH: &str = "Data Width :";
const READ_ENERGY: &str = "Read Dynamic Energy =";
const WRITE_ENERGY: &str = "Write Dynamic Energy =";
const READ_LATENCY: &str = "Read Latency =";
const WRITE_LATENCY: &str = "Write Latency =";
const LEAKAGE: &str = "Leakage Power =";
const AREA: &str = "Total Area =";

/// Units with their power of ten beside the smallest that a value is kept in.
type Units = [(&'static str, i32)];

const JOULES: [(&str, i32); 5] = [("pJ", 6), ("nJ", 9), ("uJ", 12), ("mJ", 15), ("J", 18)];
const SECONDS: [(&str, i32); 5] = [("ps", 3), ("ns", 6), ("us", 9), ("ms", 12), ("s", 15)];
const WATTS: [(&str, i32); 5] = [("pW", -3), ("nW", 0), ("uW", 3), ("mW", 6), ("W", 9)];
const SQUARES: [(&str, i32); 3] = [("nm^2", -6), ("um^2", 0), ("mm^2", 6)];

/// A value of a line with the unit that follows it.
fn value(line: &str, rest: &str, units: &Units) -> Result<u128, ImportError> {
    // The unit decides the power, and stands behind the number.
    let (_, behind) = number(line, rest, 0)?;
    let unit = behind.split_whitespace().next().unwrap_or("");
    let Some((_, power)) = units.iter().find(|(name, _)| *name == unit) else {
        let names: Vec<_> = units.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(ImportError::Value {
            line: line.to_owned(),
            problem: format!("its unit is none of {}", names.join(", ")),
        });
    };
    Ok(number(line, rest, *power)?.0)
}

/// A value of 64 bits.
fn short(output: &str, key: &'static str, units: &Units) -> Result<Read<u64>, ImportError> {
    let (line, rest) = required(output, key)?;
    let value = value(line, rest, units)?;
    let value = u64::try_from(value).map_err(|_| too_large(line))?;
    Ok(Read { value, line: line.to_owned() })
}

fn too_large(line: &str) -> ImportError {
    ImportError::Value { line: line.to_owned(), problem: "the number is too large".to_owned() }
}

pub(super) fn read(output: &str) -> Result<Array, ImportError> {
    let (line, rest) = required(output, CAPACITY)?;
    let bytes = value(line, rest, &[("KB", 0), ("MB", 0), ("GB", 0)])?;
    let shift = ["KB", "MB", "GB"].iter().position(|unit| rest.ends_with(unit)).unwrap_or(0);
    let bytes = bytes.checked_shl(10 + 10 * shift as u32).filter(|&bytes| bytes < 1 << 60);
    let bytes = bytes.ok_or_else(|| too_large(line))? as u64;
    let (line, rest) = required(output, WIDTH)?;
    let (bits, behind) = super::number::short(line, rest, 0)?;
    if bits == 0 || !behind.starts_with("Bits") {
        let problem = "there is no number of `Bits`".to_owned();
        return Err(ImportError::Value { line: line.to_owned(), problem });
    }
    let energy = |key| {
        let (line, rest) = required(output, key)?;
        let all = value(line, rest, &JOULES)?;
        let value = per_bit(all, bits).ok_or_else(|| too_large(line))?;
        Ok(Read { value, line: format!("{line}, of {bits} bits") })
    };
    let time = |key| {
        let Read { value, line } = short(output, key, &SECONDS)?;
        Ok(Read { value: Time(value), line })
    };
    let (area_line, rest) = required(output, AREA)?;
    // `HEIGHT x WIDTH = AREA`, or the area alone.
    let area = rest.rsplit_once('=').map_or(rest, |(_, area)| area);
    let area = u64::try_from(value(area_line, area, &SQUARES)?);
    let area = Area(area.map_err(|_| too_large(area_line))?);
    // In the order in which they are printed, so that of several missing lines the first is named.
    let (read_latency, write_latency) = (time(READ_LATENCY)?, time(WRITE_LATENCY)?);
    let (read_energy, write_energy) = (energy(READ_ENERGY)?, energy(WRITE_ENERGY)?);
    let leakage = short(output, LEAKAGE, &WATTS)?;
    Ok(Array {
        kind: kind(output),
        bytes,
        banks: 1,
        read_energy,
        write_energy,
        read_latency,
        write_latency,
        leakage: Read { value: Power(leakage.value), line: leakage.line },
        area: Read { value: area, line: area_line.to_owned() },
    })
}

/// The kind of memory, where the output says it.
fn kind(output: &str) -> Option<MemoryKind> {
    let (_, cell) = find(output, "Memory Cell:")?;
    match cell.split_whitespace().next()? {
        "SRAM" => Some(MemoryKind::Sram),
        "MRAM" | "STT-RAM" | "STTRAM" => Some(MemoryKind::Sttram),
        _ => None,
    }
}
