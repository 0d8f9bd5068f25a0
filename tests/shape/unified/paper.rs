//! What the papers print, from the project's own copy of their tables.

use std::sync::LazyLock;

use toml::{Table, Value};

static TABLES: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../../../host-cli/study/data/papers.toml");
    let mut all: Table = text.parse().expect("it is TOML");
    match all.remove("tables") {
        Some(Value::Table(tables)) => tables,
        _ => panic!("it has tables"),
    }
});

fn numbers(value: &Value) -> Vec<f64> {
    let number = |value: &Value| match value {
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        _ => panic!("{value} is no number"),
    };
    value.as_array().expect("a list").iter().map(number).collect()
}

/// What our workloads are called in the papers' tables.
fn name(input: &str) -> &str {
    match input {
        "suffixtree" => "gpu-mummer",
        "needle16" | "needle32" | "needle64" => "needle",
        "sobol" => "sobolqrng",
        other => other,
    }
}

fn row(paper: &str, table: &str, input: &str) -> Option<&'static Vec<Value>> {
    let rows = TABLES[paper][table]["rows"].as_array().expect("rows");
    let rows = rows.iter().filter_map(Value::as_array);
    rows.into_iter().find(|row| row[0].as_str() == Some(name(input)))
}

/// Performance and energy of an input in unified storage of 128, 256 and 384 KB (MICRO'12 Table 6).
pub(super) fn table6(input: &str) -> Option<[Vec<f64>; 2]> {
    let row = row("micro12", "table6_capacity", input)?;
    Some([numbers(&row[1]), numbers(&row[2])])
}

/// Instructions by their accesses to a bank, in percent: partitioned and unified (Table 5).
pub(super) fn table5() -> [Vec<f64>; 2] {
    let table = &TABLES["micro12"]["table5_max_accesses_per_bank_percent"];
    ["partitioned", "unified"].map(|design| numbers(&table[design]))
}

/// A row of MICRO'12 Table 1.
pub(super) struct Needs {
    /// Registers without spills.
    pub(super) registers: i64,
    /// Instructions with 18, 24, 32, 40 and 64 registers.
    pub(super) instructions: Vec<f64>,
    /// DRAM accesses with 0, 64 and 256 KB of cache.
    pub(super) dram: Vec<f64>,
}

/// The row of an input, if it is in the table.
pub(super) fn table1(input: &str) -> Option<Needs> {
    let row = row("micro12", "table1_workloads", input)?;
    let registers = row[1].as_integer().expect("registers");
    Some(Needs { registers, instructions: numbers(&row[2]), dram: numbers(&row[5]) })
}

/// The category of an input in Table 1: what it is limited by.
pub(super) fn category(input: &str) -> Option<&'static str> {
    Some(match name(input) {
        "needle" | "lu" => "shared memory",
        "gpu-mummer" | "bfs" | "matrixmul" | "nbody" | "vectoradd" | "srad" => "cache",
        "dgemm" | "pcr" | "ray" => "registers",
        "hotspot" | "scalarprod" | "sgemv" | "sobolqrng" | "dct8x8" => "balanced",
        _ => return None,
    })
}

/// Registers and threads with which an input runs fastest in 384 KB (dissertation Table 7.2).
pub(super) fn table7_2(input: &str) -> Option<[i64; 2]> {
    let row = row("dissertation", "table7_2_best_config_384kb", input)?;
    Some([1, 3].map(|place: usize| row[place].as_integer().expect("a number")))
}
