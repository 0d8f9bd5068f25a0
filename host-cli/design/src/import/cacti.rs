//! CACTI, versions 6.5 and 7: the figures between `Cache Parameters` and `Time Components`. What is
//! behind these is of single arrays, with some of the same keys.
//!
//! Its energy of an access is that of as many bits as its bus is wide (`num_do_b_subbank = out_w`
//! in its `parameter.cc`), not of a block, and the width is not printed. Only a RAM of SRAM cells
//! is read: energy, leakage and area of a cache include its tags, and those of DRAM leave refreshes
//! out.

use super::array::{Array, Read, per_bit};
use super::error::ImportError;
use super::number::{nothing, number, only};
use super::output::{Figure, Line, Lines};
use crate::memory::MemoryKind;
use strata_config::quantity::{Area, EnergyPerBit, Power, Time};

const SIZE: &str = "Total cache size (bytes):";
const BANKS: &str = "Number of banks:";
const BLOCK: &str = "Block size (bytes):";
const ACCESS: &str = "Access time (ns):";
const READ_ENERGY: &str = "Total dynamic read energy per access (nJ):";
const WRITE_ENERGY: &str = "Total dynamic write energy per access (nJ):";
const LEAKAGE: &str = "Total leakage power of a bank (mW):";
const GATE_LEAKAGE: &str = "Total gate leakage power of a bank (mW):";
const AREA: &str = "Cache height x width (mm):";

/// The first and the last line of the figures of the whole.
const SUMMARY: [&str; 2] = ["Cache Parameters:", "Time Components:"];

/// What the lines begin with that only a cache with tags has.
const TAGS: [&str; 4] = ["Best Nt", "Tag array,", "Tag array:", "Tag side"];

/// What a line of the output begins with, beside the figures that are read.
const KNOWN: &str = include_str!("cacti.txt");

fn whole((line, rest): Figure<'_>) -> Result<u64, ImportError> {
    let value = only(line, rest, 0)?;
    if value == 0 { Err(line.wrong("it is 0")) } else { Ok(value) }
}

fn energy((line, rest): Figure<'_>, bits: u64) -> Result<Read<EnergyPerBit>, ImportError> {
    // A nanojoule is 10^9 attojoules.
    let (all, behind) = number(line, rest, 9)?;
    nothing(line, behind)?;
    let value = per_bit(all, bits).ok_or_else(|| line.too_large())?;
    Ok(Read { value, line: format!("{}, of {bits} bits (`--bits`)", line.text) })
}

/// Bits of an access, which are at most those of a block.
fn access_bits((line, rest): Figure<'_>, bits: Option<u32>) -> Result<u64, ImportError> {
    let most = whole((line, rest))?.checked_mul(8).ok_or_else(|| line.too_large())?;
    let bits = u64::from(bits.ok_or(ImportError::Bits { most })?);
    if bits > most { Err(ImportError::Width { bits, most }) } else { Ok(bits) }
}

/// Refuses what is not a RAM of SRAM cells, at the first line that says so.
fn plain_ram(output: &Lines<'_>) -> Result<(), ImportError> {
    for line in output.iter() {
        let text = line.text;
        let value = text.split_once(':').map_or("", |(_, value)| value.trim());
        let begins = |keys: &[&str]| keys.iter().any(|key| text.starts_with(key));
        let is_cache = begins(&TAGS) || (begins(&["array type "]) && value == "Cache");
        let is_searched = begins(&["search ports:", "Total dynamic associative search energy"])
            || (begins(&["Associativity:"]) && value == "fully associative")
            || (begins(&["array type "]) && value == "CAM");
        let is_main = begins(&["Model as memory ", "Model as 3D memory "]) && value != "0";
        let is_dram = (text.contains("DRAM") && begins(&["---------- CACTI"]))
            || (begins(&["Data array cell type "]) && ["3", "4"].contains(&value));
        let what = match () {
            () if is_cache => "this is a cache, whose energy, leakage and area include its tags",
            () if is_searched => "this array is searched by contents",
            () if is_main => "this is a main memory, which is read by pages",
            () if is_dram => "this is DRAM, whose refreshes are not in the energy of an access",
            () => continue,
        };
        return Err(line.wrong(format!(
            "{what}: run CACTI with `-cache type \"ram\"`, cells of SRAM and an associativity of 1"
        )));
    }
    Ok(())
}

/// Version 6.5 prints neither the energy of a write nor the leakage through gates.
fn is_version_6(output: &Lines<'_>) -> bool {
    output.iter().any(|line| line.text.contains("CACTI version 6"))
}

/// The write energy; of a version that prints none, that of a read.
fn write_energy(
    (output, summary): (&Lines<'_>, &Lines<'_>),
    bits: u64,
    read: &Read<EnergyPerBit>,
) -> Result<Read<EnergyPerBit>, ImportError> {
    match summary.find(WRITE_ENERGY)? {
        Some(found) => energy(found, bits),
        None if is_version_6(output) => {
            let line = format!("no energy of a write: that of a read, {}", read.line);
            Ok(Read { value: read.value, line })
        }
        None => Err(ImportError::Missing(WRITE_ENERGY)),
    }
}

/// What all banks leak, through gates too where the version has that apart.
fn leakage(
    (output, summary): (&Lines<'_>, &Lines<'_>),
    banks: u64,
) -> Result<Read<Power>, ImportError> {
    let (line, rest) = summary.required(LEAKAGE)?;
    let mut bank = only(line, rest, 6)?;
    let mut told = line.text.to_owned();
    match summary.find(GATE_LEAKAGE)? {
        Some((line, rest)) => {
            let gates = only(line, rest, 6)?;
            bank = bank.checked_add(gates).ok_or_else(|| line.too_large())?;
            told = format!("{told}, {}", line.text);
        }
        None if is_version_6(output) => {}
        None => return Err(ImportError::Missing(GATE_LEAKAGE)),
    }
    let all = bank.checked_mul(banks).ok_or_else(|| line.too_large())?;
    Ok(Read { value: Power(all), line: told })
}

fn area((line, rest): Figure<'_>) -> Result<Read<Area>, ImportError> {
    let (height, behind) = number(line, rest, 6)?;
    let Some(width) = behind.trim_start().strip_prefix('x') else {
        return Err(line.wrong("there is no `x` between height and width"));
    };
    let (width, behind) = number(line, width, 6)?;
    nothing(line, behind)?;
    // Square nanometres, a million to a square micrometre.
    let area = height.checked_mul(width).and_then(|area| area.checked_add(500_000));
    let area = area.and_then(|area| u64::try_from(area / 1_000_000).ok());
    let value = Area(area.ok_or_else(|| line.too_large())?);
    Ok(Read { value, line: line.text.to_owned() })
}

pub(super) fn read(output: &Lines<'_>, bits: Option<u32>) -> Result<Array, ImportError> {
    plain_ram(output)?;
    let [from, to] = SUMMARY;
    let summary = &output.between(from, to);
    let bytes = whole(summary.required(SIZE)?)?;
    let (banks_line, banks_text) = summary.required(BANKS)?;
    let banks = whole((banks_line, banks_text))?;
    let bits = access_bits(summary.required(BLOCK)?, bits)?;
    let (line, rest) = summary.required(ACCESS)?;
    let access = only(line, rest, 6)?;
    let read_energy = energy(summary.required(READ_ENERGY)?, bits)?;
    let array = Array {
        kind: Some(MemoryKind::Sram),
        bytes,
        banks: u32::try_from(banks).map_err(|_| banks_line.too_large())?,
        write_energy: write_energy((output, summary), bits, &read_energy)?,
        read_energy,
        read_latency: Read { value: Time(access), line: line.text.to_owned() },
        write_latency: Read {
            value: Time(access),
            line: format!("{}, which is that of reads and writes", line.text),
        },
        leakage: leakage((output, summary), banks)?,
        area: area(summary.required(AREA)?)?,
    };
    output.all_known("CACTI", is_known)?;
    Ok(array)
}

fn is_known(line: Line<'_>) -> bool {
    let read = [SIZE, BANKS, BLOCK, ACCESS, READ_ENERGY, WRITE_ENERGY, LEAKAGE, GATE_LEAKAGE, AREA];
    read.into_iter().chain(KNOWN.lines()).any(|known| line.text.starts_with(known))
}
