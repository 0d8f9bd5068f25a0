//! The model's and the firmware's types and constants.

use std::fmt::Write as _;

use super::map::{Codes, DESIGNS, Map, SOURCE, Sum};
use super::text::{camel, sentence, wrapped};

/// A number with its thousands apart.
fn grouped(number: u32) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        above => format!("{}_{:03}", grouped(above), number % 1_000),
    }
}

/// The type of a sum.
const SUM: &str = "\
/// Counters whose sum is that of some events, over the same accesses of the same lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// In these designs.
    pub of: Designs,
    /// The prototype's counters.
    pub counters: &'static [Counter],
    /// The model's events in count mode, which has no write pool.
    pub events: &'static [Event],
}
";

/// The module.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "//! Registers of the prototype, the fields of its words, their codes, and its counters.\n\
         //! Written by `cargo xtask regmap` from `{}`: change that.\n\n\
         use crate::event::Event;\n\n\
         /// What [`register::ID`] reads as.\n\
         pub const ID: u32 = {:#06x}_{:04x};\n\
         /// What [`register::VERSION`] reads as.\n\
         pub const VERSION: u32 = {};\n\n\
         /// What a board's serial line runs at. Unit: bits a second.\n\
         pub const LINE_BAUD: u32 = {};\n\n\
         /// Addresses of the registers. Unit: bytes from the prototype's first.\n\
         pub mod register {{\n",
        SOURCE,
        map.id >> 16,
        map.id & 0xffff,
        map.version,
        grouped(map.line_baud),
    );
    for register in &map.registers {
        let says =
            format!("{}: {}.", sentence(&register.access).trim_end_matches('.'), register.says);
        text += &wrapped("    ///", &says, 100);
        let _ = writeln!(text, "    pub const {}: u32 = {:#05x};", register.name, register.address);
    }
    text += "}\n\n/// Fields of the registers' words.\npub mod field {\n    \
             use crate::prototype::field::Field;\n\n";
    for register in &map.registers {
        for field in &register.fields {
            text += &wrapped("    ///", &sentence(&field.says), 100);
            let (name, bit, width) = (&field.name, field.bit, field.width);
            let register = &register.name;
            let _ = writeln!(
                text,
                "    pub const {register}_{name}: Field = Field::new({bit}, {width});"
            );
        }
    }
    text += "}\n";
    map.codes.iter().for_each(|codes| text += &enumeration(codes));
    let _ = write!(
        text,
        "\n/// Number of counters.\npub const COUNTERS: usize = {};\n\n\
         /// A counter; its number is its place in the map.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n\
         pub enum Counter {{\n",
        map.counters.len()
    );
    for counter in &map.counters {
        text += &wrapped("    ///", &sentence(&counter.says), 100);
        let _ = writeln!(text, "    {},", camel(&counter.name));
    }
    text += "}\n\n/// Name of each counter.\npub const COUNTER_NAMES: [&str; COUNTERS] = [\n";
    for counter in &map.counters {
        let _ = writeln!(text, "    \"{}\",", counter.name);
    }
    text += "];\n\n/// Designs that a [`Sum`] holds for.\n\
             #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum Designs {\n";
    for (name, says) in DESIGNS {
        text += &wrapped("    ///", &sentence(says), 100);
        let _ = writeln!(text, "    {},", camel(name));
    }
    text += "}\n\n";
    text += SUM;
    text += "\n/// The counters in terms of the model's events.\n#[rustfmt::skip]\n\
             pub const SUMS: &[Sum] = &[\n";
    map.sums.iter().for_each(|sum| text += &equation(sum));
    text + "];\n"
}

/// A list of codes.
fn enumeration(Codes { name, says, values, width }: &Codes) -> String {
    let name = camel(name);
    let mut text = format!(
        "\n{}#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum {name} {{\n",
        wrapped("///", &format!("{} Its code has {width} bits.", sentence(says)), 100)
    );
    for value in values {
        text += &wrapped("    ///", &sentence(&value.says), 100);
        let _ = writeln!(text, "    {},", camel(&value.name));
    }
    let _ = write!(
        text,
        "}}\n\nimpl {name} {{\n    /// Its code.\n    #[inline]\n    \
         pub const fn code(self) -> u32 {{\n        self as u32\n    }}\n\n    \
         /// The one that has a code; `None` if none has.\n    #[inline]\n    \
         pub const fn of(code: u32) -> Option<Self> {{\n        match code {{\n"
    );
    for (code, value) in values.iter().enumerate() {
        let _ = writeln!(text, "            {code} => Some(Self::{}),", camel(&value.name));
    }
    text + "            _ => None,\n        }\n    }\n}\n"
}

/// Counters that are events.
fn equation(Sum { of, counters, events }: &Sum) -> String {
    let listed = |kind: &str, names: &mut dyn Iterator<Item = String>| {
        let line = |text: String, name: String| text + "            " + kind + "::" + &name + ",\n";
        names.fold(String::new(), line)
    };
    format!(
        "    Sum {{\n        of: Designs::{},\n        counters: &[\n{}        ],\n        \
         events: &[\n{}        ],\n    }},\n",
        camel(of),
        listed("Counter", &mut counters.iter().map(|name| camel(name))),
        listed("Event", &mut events.iter().cloned()),
    )
}
