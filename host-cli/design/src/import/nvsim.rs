//! NVSim: the text after `DESIGN SPECIFICATION` and `RESULT`, of a memory that is no cache.

use super::array::{Array, Read, per_bit};
use super::error::ImportError;
use super::number::{nothing, number};
use super::output::{Figure, Line, Lines};
use crate::memory::MemoryKind;
use strata_config::quantity::{Area, EnergyPerBit, Power, Time};

const CAPACITY: &str = "Capacity   :";
const WIDTH: &str = "Data Width :";
const CELL: &str = "Memory Cell:";
const READ_ENERGY: &str = "Read Dynamic Energy =";
const WRITE_ENERGY: &str = "Write Dynamic Energy =";
const READ_LATENCY: &str = "Read Latency =";
const WRITE_LATENCY: &str = "Write Latency =";
const LEAKAGE: &str = "Leakage Power =";
const AREA: &str = "Total Area =";

/// What a line of the output begins with, beside the figures that are read.
const KNOWN: &str = include_str!("nvsim.txt");

/// What the name of a part of a figure ends with.
const PARTS: [&str; 5] = ["Area", "Latency", "Duration", "Energy", "Leakage Power"];

/// Units with their power of ten beside the smallest that a value is kept in.
type Units = [(&'static str, i32)];

const JOULES: [(&str, i32); 5] = [("pJ", 6), ("nJ", 9), ("uJ", 12), ("mJ", 15), ("J", 18)];
const SECONDS: [(&str, i32); 5] = [("ps", 3), ("ns", 6), ("us", 9), ("ms", 12), ("s", 15)];
const WATTS: [(&str, i32); 5] = [("pW", -3), ("nW", 0), ("uW", 3), ("mW", 6), ("W", 9)];
const SQUARES: [(&str, i32); 4] = [("nm^2", -6), ("um^2", 0), ("mm^2", 6), ("m^2", 12)];
const METRES: [(&str, i32); 4] = [("nm", 0), ("um", 3), ("mm", 6), ("m", 9)];
/// Powers of two.
const BYTES: [(&str, u32); 3] = [("KB", 10), ("MB", 20), ("GB", 30)];

/// The unit behind the number that `rest` is, and what the table has for it.
fn unit<T: Copy>(
    line: Line<'_>,
    rest: &str,
    units: &[(&'static str, T)],
) -> Result<T, ImportError> {
    let (_, behind) = number(line, rest, 0)?;
    let found = units.iter().find(|(name, _)| *name == behind.trim());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = units.iter().map(|(name, _)| format!("`{name}`")).collect();
        line.wrong(format!("its unit is none of {}", names.join(", ")))
    })
}

/// A value with the unit that is all that follows it.
fn value((line, rest): Figure<'_>, units: &Units) -> Result<u128, ImportError> {
    let power = unit(line, rest, units)?;
    Ok(number(line, rest, power)?.0)
}

/// A value of 64 bits.
fn short((line, rest): Figure<'_>, units: &Units) -> Result<Read<u64>, ImportError> {
    let value = u64::try_from(value((line, rest), units)?).map_err(|_| line.too_large())?;
    Ok(Read { value, line: line.text.to_owned() })
}

fn capacity((line, rest): Figure<'_>) -> Result<u64, ImportError> {
    let shift = unit(line, rest, &BYTES)?;
    let (units, _) = number(line, rest, 0)?;
    let bytes = units.checked_mul(1 << shift).filter(|&bytes| bytes < 1 << 60);
    Ok(bytes.ok_or_else(|| line.too_large())? as u64)
}

/// `NBits`, and behind it the same in bytes where these are whole.
fn width((line, rest): Figure<'_>) -> Result<u64, ImportError> {
    let (bits, behind) = number(line, rest, 0)?;
    let bits = u64::try_from(bits).map_err(|_| line.too_large())?;
    let Some(behind) = behind.strip_prefix("Bits").filter(|_| bits != 0) else {
        return Err(line.wrong("there is no number of `Bits`"));
    };
    let bytes = format!("({}Bytes)", bits / 8);
    if behind.trim() != bytes {
        nothing(line, behind)?;
    }
    Ok(bits)
}

/// `HEIGHT x WIDTH = AREA`, or the area alone.
fn area((line, rest): Figure<'_>) -> Result<Read<Area>, ImportError> {
    let area = match rest.split_once('=') {
        None => rest,
        Some((sides, area)) => {
            let Some((height, width)) = sides.split_once(" x ") else {
                return Err(line.wrong("there is no ` x ` between height and width"));
            };
            value((line, height), &METRES)?;
            value((line, width), &METRES)?;
            area
        }
    };
    let area = short((line, area), &SQUARES)?;
    Ok(Read { value: Area(area.value), line: area.line })
}

fn energy(figure: Figure<'_>, bits: u64) -> Result<Read<EnergyPerBit>, ImportError> {
    let line = figure.0;
    let all = value(figure, &JOULES)?;
    let value = per_bit(all, bits).ok_or_else(|| line.too_large())?;
    Ok(Read { value, line: format!("{}, of {bits} bits", line.text) })
}

fn time(figure: Figure<'_>) -> Result<Read<Time>, ImportError> {
    let Read { value, line } = short(figure, &SECONDS)?;
    Ok(Read { value: Time(value), line })
}

pub(super) fn read(output: &Lines<'_>) -> Result<Array, ImportError> {
    let bytes = capacity(output.required(CAPACITY)?)?;
    let bits = width(output.required(WIDTH)?)?;
    let area = area(output.required(AREA)?)?;
    // In the order in which they are printed, so that of several missing lines the first is named.
    let read_latency = time(output.required(READ_LATENCY)?)?;
    let write_latency = time(output.required(WRITE_LATENCY)?)?;
    let read_energy = energy(output.required(READ_ENERGY)?, bits)?;
    let write_energy = energy(output.required(WRITE_ENERGY)?, bits)?;
    let leakage = short(output.required(LEAKAGE)?, &WATTS)?;
    let kind = kind(output)?;
    output.all_known("NVSim", is_known)?;
    Ok(Array {
        kind,
        bytes,
        banks: 1,
        read_energy,
        write_energy,
        read_latency,
        write_latency,
        leakage: Read { value: Power(leakage.value), line: leakage.line },
        area,
    })
}

/// The kind of memory, where the output says it.
fn kind(output: &Lines<'_>) -> Result<Option<MemoryKind>, ImportError> {
    let Some((_, cell)) = output.find(CELL)? else { return Ok(None) };
    Ok(match cell {
        "SRAM" => Some(MemoryKind::Sram),
        "MRAM (Magnetoresistive)" => Some(MemoryKind::Sttram),
        _ => None,
    })
}

fn is_known(line: Line<'_>) -> bool {
    if line.part {
        let name = line.text.split_once('=').map_or("", |(name, _)| name.trim_end());
        return PARTS.iter().any(|part| name.ends_with(part));
    }
    let read = [
        CAPACITY,
        WIDTH,
        CELL,
        READ_ENERGY,
        WRITE_ENERGY,
        READ_LATENCY,
        WRITE_LATENCY,
        LEAKAGE,
        AREA,
    ];
    read.into_iter().chain(KNOWN.lines()).any(|known| line.text.starts_with(known))
}
