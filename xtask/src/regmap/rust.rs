//! The model's and the firmware's constants.

use std::fmt::Write as _;

use super::{Map, camel, sentence, wrapped};

/// A number with its thousands apart.
fn grouped(number: u32) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        above => format!("{}_{:03}", grouped(above), number % 1_000),
    }
}

/// The module.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "//! Registers and counters of the prototype. Written by `cargo xtask regmap` from\n\
         //! `{}`: change that.\n\n\
         /// What [`register::ID`] reads as.\n\
         pub const ID: u32 = {:#06x}_{:04x};\n\
         /// What [`register::VERSION`] reads as.\n\
         pub const VERSION: u32 = {};\n\n\
         /// What a board's serial line runs at. Unit: bits a second.\n\
         pub const LINE_BAUD: u32 = {};\n\n\
         /// Addresses of the registers. Unit: bytes from the prototype's first.\n\
         pub mod register {{\n",
        super::SOURCE,
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
    text += "}\n\n/// Fields of the registers: the first bit, and the number of bits.\n\
             pub mod field {\n";
    for register in &map.registers {
        for field in &register.fields {
            text += &wrapped("    ///", &sentence(&field.says), 100);
            let (name, bit, width) = (&field.name, field.bit, field.width);
            let register = &register.name;
            let _ =
                writeln!(text, "    pub const {register}_{name}: (u32, u32) = ({bit}, {width});");
        }
    }
    let _ = write!(
        text,
        "}}\n\n/// Number of counters.\npub const COUNTERS: usize = {};\n\n\
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
    text + "];\n"
}
