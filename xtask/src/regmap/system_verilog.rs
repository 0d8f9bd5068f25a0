//! The hardware's package.

use std::fmt::Write as _;

use super::{Map, camel};

/// The package.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n//\n\
         // Registers and counters of the prototype. Written by `cargo xtask regmap` from\n\
         // {}: change that.\n\n\
         package regmap_pkg;\n\n  \
         // Nobody needs all of them.\n  \
         // verilator lint_off UNUSEDPARAM\n\n  \
         localparam logic [31:0] Id      = 32'h{:08x};\n  \
         localparam logic [31:0] Version = 32'd{};\n\n  \
         // What a board's serial line runs at. Unit: bits a second.\n  \
         localparam int unsigned LineBaud = {};\n\n  \
         // Addresses. Unit: bytes.\n",
        super::SOURCE,
        map.id,
        map.version,
        map.line_baud,
    );
    let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let longest = width(&mut map.registers.iter().map(|register| camel(&register.name).len()));
    for register in &map.registers {
        let name = format!("{:<longest$}", camel(&register.name));
        let address = register.address;
        let _ = writeln!(text, "  localparam logic [11:0] Address{name} = 12'h{address:03x};");
    }
    text += "\n  // First bit and number of bits of each field.\n";
    for register in &map.registers {
        for field in &register.fields {
            let name = camel(&register.name) + &camel(&field.name);
            let (bit, width) = (field.bit, field.width);
            let _ = writeln!(text, "  localparam int unsigned {name}Bit = {bit};");
            let _ = writeln!(text, "  localparam int unsigned {name}Width = {width};");
        }
    }
    let longest = width(&mut map.counters.iter().map(|counter| camel(&counter.name).len()));
    let count = map.counters.len();
    let _ = write!(
        text,
        "\n  localparam int unsigned Counters = {count};\n\n  // Number of each counter.\n"
    );
    for (index, counter) in map.counters.iter().enumerate() {
        let name = format!("{:<longest$}", camel(&counter.name));
        let _ = writeln!(text, "  localparam int unsigned Count{name} = {index};");
    }
    text + "\n  // verilator lint_on UNUSEDPARAM\n\nendpackage\n"
}
