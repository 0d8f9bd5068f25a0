//! The hardware's package.

use std::fmt::Write as _;

use super::map::{Codes, Map, Register, SOURCE};
use super::text::camel;

/// The package.
pub(super) fn text(map: &Map) -> String {
    let mut text = format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n//\n\
         // Registers of the prototype, the fields of its words, their codes, and its counters.\n\
         // Written by `cargo xtask regmap` from {}: change that.\n\n\
         package regmap_pkg;\n\n  \
         // No module uses all of them.\n  \
         // verilator lint_off UNUSEDPARAM\n\n  \
         localparam logic [31:0] Id      = 32'h{:08x};\n  \
         localparam logic [31:0] Version = 32'd{};\n\n  \
         // What a board's serial line runs at. Unit: bits a second.\n  \
         localparam int unsigned LineBaud = {};\n\n  \
         // Addresses. Unit: bytes.\n",
        SOURCE, map.id, map.version, map.line_baud,
    );
    let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let longest = width(&mut map.registers.iter().map(|register| camel(&register.name).len()));
    for register in &map.registers {
        let name = format!("{:<longest$}", camel(&register.name));
        let address = register.address;
        let _ = writeln!(text, "  localparam logic [11:0] Address{name} = 12'h{address:03x};");
    }
    text += "\n  // First bit of each field, and the words as structures of their fields.\n";
    map.registers.iter().for_each(|register| text += &structure(register));
    map.codes.iter().for_each(|codes| text += &code_list(codes));
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

/// A register's fields: their first bits, and the structure that they make up to the last.
fn structure(Register { name: register, fields, .. }: &Register) -> String {
    let mut text = String::new();
    let Some(last) = fields.last() else { return text };
    let (name, bits) = (camel(register), last.bit + last.width);
    for field in fields {
        let (field, bit) = (camel(&field.name), field.bit);
        let _ = writeln!(text, "  localparam int unsigned {name}{field}Bit = {bit};");
    }
    let _ = writeln!(text, "  localparam int unsigned {name}Width = {bits};");
    let mut members = Vec::new();
    let mut free = 0;
    for field in fields {
        if field.bit > free {
            members.push((field.bit - free, format!("unused_{free}")));
        }
        members.push((field.width, field.name.to_lowercase()));
        free = field.bit + field.width;
    }
    text += "  typedef struct packed {\n";
    for (width, member) in members.into_iter().rev() {
        let range = if width == 1 { String::new() } else { format!("[{}:0]", width - 1) };
        let _ = writeln!(text, "    logic {range:<6} {member};");
    }
    let _ = writeln!(text, "  }} {}_t;\n", register.to_lowercase());
    text
}

/// A list of codes.
fn code_list(Codes { name, width, values, .. }: &Codes) -> String {
    let mut text = String::new();
    let last = width - 1;
    for (code, value) in values.iter().enumerate() {
        let name = camel(name) + &camel(&value.name);
        let _ = writeln!(text, "  localparam logic [{last}:0] {name} = {width}'d{code};");
    }
    text + "\n"
}
