//! The table in memory: registers, the fields of their words, codes and counters.

/// Where the table is, from the root.
pub(crate) const SOURCE: &str = "fpga-softcore/regmap.toml";

/// A register of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Register {
    pub(super) name: String,
    pub(super) address: u32,
    pub(super) words: u32,
    pub(super) access: String,
    pub(super) says: String,
    pub(super) fields: Vec<Field>,
}

/// Some bits of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(super) name: String,
    pub(super) bit: u32,
    pub(super) width: u32,
    /// The list of codes that says what its values are.
    pub(super) codes: Option<String>,
    pub(super) says: String,
}

/// A list of codes; the place in it is the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Codes {
    pub(super) name: String,
    /// Unit: bits.
    pub(super) width: u32,
    pub(super) says: String,
    pub(super) values: Vec<Value>,
}

/// What one code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(super) name: String,
    pub(super) says: String,
}

/// A counter; its place in the table is its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(super) name: String,
    pub(super) says: String,
}

/// Counters whose sum is that of some events of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Which designs: one of [`DESIGNS`].
    pub(super) of: String,
    pub(super) counters: Vec<String>,
    /// As the core's `Event` names them.
    pub(super) events: Vec<String>,
}

/// Designs of which a sum can be: the name, and what it means.
pub(super) const DESIGNS: [(&str, &str); 3] = [
    ("cache", "with a register file cache"),
    ("banks", "without a write pool"),
    ("pool", "with a write pool and no cache"),
];

/// The whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Map {
    pub(super) id: u32,
    pub(super) version: u32,
    /// What a board's serial line runs at. Unit: bits a second.
    pub(super) line_baud: u32,
    pub(super) registers: Vec<Register>,
    pub(super) codes: Vec<Codes>,
    pub(super) counters: Vec<Counter>,
    pub(super) sums: Vec<Sum>,
}
