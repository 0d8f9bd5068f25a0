//! Printed tables that stand beside measurements of ours.

use super::papers::papers;

/// A row of `[RFC2011]` Table 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessAndWire {
    /// Of the main register file and of the cache to the ALUs. Unit: millimetres.
    pub distances_mm: (f64, f64),
    /// Energy of the compute traces, relative to the flat register file's.
    pub compute: f64,
    /// Of the shader traces.
    pub shaders: f64,
}

/// The rows of `[RFC2011]` Table 5.
pub fn access_and_wire() -> impl Iterator<Item = AccessAndWire> {
    let rows = papers().tables.isca11.table5_access_plus_wire.rows.iter();
    rows.map(|&(mrf, rfc, compute, shaders)| AccessAndWire {
        distances_mm: (mrf, rfc),
        compute,
        shaders,
    })
}

/// Reads of the main register file for each instruction with 1 to 8 entries of an ORF, and with a
/// flat register file (`[DISS]` Table 6.1).
pub fn mrf_reads() -> ([f64; 8], f64) {
    let table = &papers().tables.dissertation.table6_1_mrf_reads_per_instruction;
    (table.orf_entries, table.baseline)
}

/// Performance and energy of an input in unified storage of 128, 256 and 384 KB, relative to
/// partitioned storage (`[MICRO2012]` Table 6); `average` is that of all.
pub fn capacity(input: &str) -> Option<[[f64; 3]; 2]> {
    let rows = &papers().tables.micro12.table6_capacity.rows;
    let row = rows.iter().find(|row| row.0 == name(input))?;
    Some([row.1, row.2])
}

/// Instructions by their accesses to the bank that they access most, one to more than four, in
/// partitioned and unified storage (`[MICRO2012]` Table 5). Unit: percent.
pub fn bank_accesses() -> [[f64; 5]; 2] {
    let table = &papers().tables.micro12.table5_max_accesses_per_bank_percent;
    [table.partitioned, table.unified]
}

/// Performance of EXPARS over the baseline with the same scheduler: LRR, GTO, TL, and of the lazy
/// two-level scheduler over LRR and GTO (`[EXPARS]` Figures 13 and 14). Unit: percent.
pub fn expansion_gains() -> [f64; 5] {
    let means = &papers().tables.expars.figures_13_and_14_means;
    [means.lrr, means.gto, means.tl, means.ltlws_lrr, means.ltlws_gto]
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
