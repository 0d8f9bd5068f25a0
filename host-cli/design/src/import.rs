//! Technology import: what NVSim and CACTI print about an array, as a technology file.
//!
//! Reads the text that these programs write to their terminal, and writes the TOML that
//! [`crate::memory`] reads: energy for each bit of an access, each value with the line that
//! it was taken from.

mod array;
mod cacti;
mod error;
mod number;
mod nvsim;
mod output;

use std::fmt::Write as _;

use crate::memory::MemoryKind;
use array::Array;
pub use error::ImportError;
use output::Lines;
use strata_config::quantity::Power;
use strata_files::output::Kind;

/// An example of a technology file, with every key.
pub const FORMAT: &str = include_str!("import/format.toml");

/// What [`import`] makes, as a file.
pub const KIND: Kind = Kind {
    name: "what `strata technology import` writes",
    begins: b"# Written by `strata technology import`",
};

/// A program whose output can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// NVSim.
    NvSim,
    /// CACTI.
    Cacti,
}

/// What is asked for beside the output itself.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Name of the technology.
    pub name: String,
    /// The file, as sources name it.
    pub file: String,
    /// The program; found out if absent.
    pub tool: Option<Tool>,
    /// The kind of memory; what the output says if absent.
    pub kind: Option<MemoryKind>,
    /// Banks that the array stands for; what the output says if absent.
    pub banks: Option<u32>,
    /// Bits that an access of CACTI's array reads or writes: the width of its bus.
    pub bits: Option<u32>,
}

/// Makes a technology file of the output of NVSim or CACTI.
///
/// # Errors
/// A line that is missing, unknown, there twice, or cannot be read; an array of CACTI that is a
/// cache, a main memory or DRAM, or whose width is not given.
pub fn import(output: &str, wanted: &Wanted) -> Result<String, ImportError> {
    let tool = wanted.tool.or_else(|| recognised(output)).ok_or(ImportError::Unknown)?;
    let lines = &Lines::of(output);
    let (array, name) = match tool {
        Tool::NvSim if wanted.bits.is_some() => return Err(ImportError::OwnWidth),
        Tool::NvSim => (nvsim::read(lines)?, "NVSim"),
        Tool::Cacti => (cacti::read(lines, wanted.bits)?, "CACTI"),
    };
    let kind = wanted.kind.or(array.kind).ok_or(ImportError::Kind)?;
    let banks = wanted.banks.unwrap_or(array.banks).max(1);
    let uneven = ImportError::Banks { bytes: array.bytes, banks };
    if array.bytes == 0 || !array.bytes.is_multiple_of(1024 * u64::from(banks)) {
        return Err(uneven);
    }
    let kb = array.bytes / 1024;
    let source = |line: &str| text(&format!("{name}, {}: {line}", wanted.file));
    let bank_nw = array.leakage.value.0.saturating_add(u64::from(banks) / 2) / u64::from(banks);
    let each = match array.banks {
        own if own == banks => String::new(),
        1 => format!(", divided among {banks} banks"),
        own => format!(", {own} of them as {banks} banks"),
    };
    let mut toml = String::from("# Written by `strata technology import`, which replaces it.\n");
    let _ = writeln!(toml, "name = {}", text(&wanted.name));
    let _ = writeln!(toml, "source = {}", text(&format!("{name}, {}", wanted.file)));
    let _ = writeln!(toml, "\n[{}]", kind.name());
    let mut line = |key: &str, value: String, from: String| {
        let _ = writeln!(toml, "{key} = {{ value = {}, source = {from} }}", text(&value));
    };
    let Array { read_energy, write_energy, read_latency, write_latency, .. } = &array;
    line("read_energy", read_energy.value.to_string(), source(&read_energy.line));
    line("write_energy", write_energy.value.to_string(), source(&write_energy.line));
    line("read_latency", read_latency.value.to_string(), source(&read_latency.line));
    line("write_latency", write_latency.value.to_string(), source(&write_latency.line));
    let leakage = format!("{}{each}", array.leakage.line);
    line("leakage_per_bank", Power(bank_nw).to_string(), source(&leakage));
    line("area", array.area.value.to_string(), source(&array.area.line));
    let _ = writeln!(toml, "bank_kb = {}\narea_kb = {kb}", kb / u64::from(banks));
    Ok(toml)
}

/// The program that printed this, if it can be told.
fn recognised(output: &str) -> Option<Tool> {
    if output.contains("CACTI") || output.contains("Cache Parameters:") {
        return Some(Tool::Cacti);
    }
    let nvsim = output.contains("NVSim") || output.contains("DESIGN SPECIFICATION");
    nvsim.then_some(Tool::NvSim)
}

/// A text as TOML writes it.
fn text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
