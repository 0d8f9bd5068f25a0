//! CACTI, versions 6.5 and 7: the text from `Cache Parameters` on.

use super::number::{number, short};
use super::{Array, ImportError, Read, find, per_bit, required};
use crate::config::quantity::{Area, EnergyPerBit, Power, Time};
use crate::design::memory::MemoryKind;

const SIZE: &str = "Total cache size (bytes):";
const BANKS: &str = "Number of banks:";
const BLOCK: &str = "Block size (bytes):";
const ACCESS: &str = "Access time (ns):";
const READ_ENERGY: &str = "Total dynamic read energy per access (nJ):";
const WRITE_ENERGY: &str = "Total dynamic write energy per access (nJ):";
const LEAKAGE: &str = "Total leakage power of a bank (mW):";
const GATE_LEAKAGE: &str = "Total gate leakage power of a bank (mW):";
const AREA: &str = "Cache height x width (mm):";

fn whole(output: &str, key: &'static str) -> Result<u64, ImportError> {
    let (line, rest) = required(output, key)?;
    let (value, _) = short(line, rest, 0)?;
    if value == 0 {
        let problem = "it is 0".to_owned();
        return Err(ImportError::Value { line: line.to_owned(), problem });
    }
    Ok(value)
}

fn energy(found: (&str, &str), bits: u64) -> Result<Read<EnergyPerBit>, ImportError> {
    let (line, rest) = found;
    // A nanojoule is 10^9 attojoules.
    let (all, _) = number(line, rest, 9)?;
    let value = per_bit(all, bits).ok_or_else(|| too_large(line))?;
    Ok(Read { value, line: format!("{line}, of {bits} bits") })
}

fn too_large(line: &str) -> ImportError {
    ImportError::Value { line: line.to_owned(), problem: "the number is too large".to_owned() }
}

/// The write energy; of a version that prints none, that of a read.
fn write_energy(
    output: &str,
    bits: u64,
    read: &Read<EnergyPerBit>,
) -> Result<Read<EnergyPerBit>, ImportError> {
    match find(output, WRITE_ENERGY) {
        Some(found) => energy(found, bits),
        None if output.contains("CACTI version 6") => {
            let line = format!("no energy of a write: that of a read, {}", read.line);
            Ok(Read { value: read.value, line })
        }
        None => Err(ImportError::Missing(WRITE_ENERGY)),
    }
}

/// What all banks leak, through gates too where the output has that apart.
fn leakage(output: &str, banks: u64) -> Result<Read<Power>, ImportError> {
    let (line, rest) = required(output, LEAKAGE)?;
    let (mut bank, _) = short(line, rest, 6)?;
    let mut told = line.to_owned();
    if let Some((line, rest)) = find(output, GATE_LEAKAGE) {
        let (gates, _) = short(line, rest, 6)?;
        bank = bank.checked_add(gates).ok_or_else(|| too_large(line))?;
        told = format!("{told}, {line}");
    }
    let all = bank.checked_mul(banks).ok_or_else(|| too_large(line))?;
    Ok(Read { value: Power(all), line: told })
}

fn area(output: &str) -> Result<Read<Area>, ImportError> {
    let (line, rest) = required(output, AREA)?;
    let (height, behind) = number(line, rest, 6)?;
    let Some(width) = behind.trim_start().strip_prefix('x') else {
        let problem = "there is no `x` between height and width".to_owned();
        return Err(ImportError::Value { line: line.to_owned(), problem });
    };
    let (width, _) = number(line, width, 6)?;
    // Square nanometres, a million to a square micrometre.
    let area = height.checked_mul(width).and_then(|area| area.checked_add(500_000));
    let area = area.and_then(|area| u64::try_from(area / 1_000_000).ok());
    Ok(Read { value: Area(area.ok_or_else(|| too_large(line))?), line: line.to_owned() })
}

pub(super) fn read(output: &str) -> Result<Array, ImportError> {
    let bytes = whole(output, SIZE)?;
    let banks = whole(output, BANKS)?;
    let block = whole(output, BLOCK)?;
    let (block_line, _) = required(output, BLOCK)?;
    let bits = block.checked_mul(8).ok_or_else(|| too_large(block_line))?;
    let (line, rest) = required(output, ACCESS)?;
    let (access, _) = short(line, rest, 6)?;
    let read_energy = energy(required(output, READ_ENERGY)?, bits)?;
    let (banks_line, _) = required(output, BANKS)?;
    Ok(Array {
        kind: Some(MemoryKind::Sram),
        bytes,
        banks: u32::try_from(banks).map_err(|_| too_large(banks_line))?,
        write_energy: write_energy(output, bits, &read_energy)?,
        read_energy,
        read_latency: Read { value: Time(access), line: line.to_owned() },
        write_latency: Read {
            value: Time(access),
            line: format!("{line}, which is that of reads and writes"),
        },
        leakage: leakage(output, banks)?,
        area: area(output)?,
    })
}
