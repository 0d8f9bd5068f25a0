//! The page of the documents.

use std::fmt::Write as _;

use super::map::{Codes, DESIGNS, Field, Map, SOURCE, Sum};

/// The page.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "# Registers\n\n\
         The prototype's registers as its bus shows them: 32 bits each, addresses in bytes.\n\
         Written by `cargo xtask regmap` from `{}`: change that.\n\
         What they are for: [prototype.md](prototype.md).\n\n\
         ID reads as {:#010x}, VERSION as {}. A board's serial line runs at {} baud.\n\n\
         | address | register | access | |\n| --- | --- | --- | --- |\n",
        SOURCE, map.id, map.version, map.line_baud,
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
        for Field { name, bit, width, codes, says } in &register.fields {
            let last = bit + width - 1;
            let bits = if *width == 1 { bit.to_string() } else { format!("{last}:{bit}") };
            let codes = codes.as_ref().map_or(String::new(), |codes| format!(": {codes}"));
            let _ = writeln!(text, "| {} | {bits} | {name} | {says}{codes} |", register.name);
        }
    }
    text += "\n## Codes\n\n| list | code | name | |\n| --- | --- | --- | --- |\n";
    for Codes { name, says, values, .. } in &map.codes {
        let _ = writeln!(text, "| {name} | | | {says} |");
        for (code, value) in values.iter().enumerate() {
            let _ = writeln!(text, "| {name} | {code} | {} | {} |", value.name, value.says);
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
    text += "\n## Counters and events\n\n\
             Over the same accesses of the same lanes the sum of these counters is the sum of \
             these events of\ncount mode, which has no write pool of its own; a test of the host's \
             streams compares them.\n\n\
             | designs | counters | events |\n| --- | --- | --- |\n";
    for Sum { of, counters, events } in &map.sums {
        let designs = DESIGNS.iter().find(|(design, _)| design == of);
        let designs = designs.map_or(of.as_str(), |(_, says)| says);
        let _ = writeln!(text, "| {designs} | {} | {} |", names(counters), names(events));
    }
    text
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" + ")
}
