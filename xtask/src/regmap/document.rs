//! The page of the documents.

use std::fmt::Write as _;

use super::{Field, Map};

/// The page.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "# Registers\n\n\
         The prototype's registers as its bus shows them: 32 bits each, addresses in bytes.\n\
         Written by `cargo xtask regmap` from `{}`: change that.\n\
         What they are for: [prototype.md](prototype.md).\n\n\
         ID reads as {:#010x}, VERSION as {}. A board's serial line runs at {} baud.\n\n\
         | address | register | access | |\n| --- | --- | --- | --- |\n",
        super::SOURCE,
        map.id,
        map.version,
        map.line_baud,
    );
    for register in &map.registers {
        let (address, name) = (register.address, &register.name);
        let last = address + 4 * (register.words - 1);
        let at = if register.words == 1 {
            format!("{address:#05x}")
        } else {
            format!("{address:#05x} .. {last:#05x}")
        };
        let _ = writeln!(text, "| {at} | {name} | {} | {} |", register.access, register.says);
    }
    text += "\n## Fields\n\n| register | bits | field | |\n| --- | --- | --- | --- |\n";
    for register in &map.registers {
        for Field { name, bit, width, says } in &register.fields {
            let last = bit + width - 1;
            let bits = if *width == 1 { bit.to_string() } else { format!("{last}:{bit}") };
            let _ = writeln!(text, "| {} | {bits} | {name} | {says} |", register.name);
        }
    }
    let first = map.registers.iter().find(|register| register.name == "COUNTERS");
    let first = first.map_or(0, |register| register.address);
    text += "\n## Counters\n\n\
             The model has the same, of 64 bits; the hardware's have 48 and start again from 0.\n\n\
             | address | counter | |\n| --- | --- | --- |\n";
    for (index, counter) in map.counters.iter().enumerate() {
        let address = first + 8 * index as u32;
        let _ = writeln!(text, "| {address:#05x} | `{}` | {} |", counter.name, counter.says);
    }
    text
}
