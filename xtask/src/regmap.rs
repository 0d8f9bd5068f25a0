//! The prototype's register map: one table of registers, the fields of their words, the codes of
//! those and the counters, from which the hardware's package, the model's types and constants and a
//! page of the documents are written.

mod check;
mod document;
mod map;
mod read;
mod rust;
mod system_verilog;
mod text;

pub(crate) use map::{Map, SOURCE};

impl Map {
    /// What is written from the table: paths from the root, and texts.
    pub(crate) fn outputs(&self) -> [(&'static str, String); 3] {
        [
            ("core/src/prototype/regmap.rs", rust::text(self)),
            ("fpga-softcore/rtl/regmap_pkg.sv", system_verilog::text(self)),
            ("docs/hw/registers.md", document::text(self)),
        ]
    }
}

#[cfg(test)]
mod tests;
