//! The papers' facts, embedded.

use std::sync::LazyLock;

use serde::Deserialize;

/// `data/papers.toml`, as far as it is used.
#[derive(Deserialize)]
pub(super) struct Papers {
    pub(super) exact: Vec<Exact>,
    pub(super) inconsistent: Vec<Inconsistent>,
    pub(super) claim: Vec<Claim>,
    pub(super) tables: Tables,
}

/// A figure that a paper measured on its own workloads: shown beside ours, never fitted.
#[derive(Clone, Debug, Deserialize)]
pub struct Claim {
    /// Its key.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Names of the designs that it is about.
    #[serde(default)]
    pub designs: Vec<String>,
    /// What the paper says.
    pub text: String,
}

#[derive(Deserialize)]
pub(super) struct Exact {
    pub(super) id: String,
    #[serde(default)]
    pub(super) what: String,
}

#[derive(Deserialize)]
pub(super) struct Inconsistent {
    pub(super) id: String,
    pub(super) printed: String,
    pub(super) computed: String,
}

#[derive(Deserialize)]
pub(super) struct Tables {
    pub(super) isca11: Isca11,
    pub(super) dissertation: Dissertation,
    pub(super) micro12: Micro12,
    pub(super) warrf: Warrf,
}

#[derive(Deserialize)]
pub(super) struct Isca11 {
    /// Entries, warps, area, read, write.
    pub(super) table2_rfc_128bit: Rows<(u8, u8, u64, f64, f64)>,
    pub(super) table3_model: Table3,
    /// Distance to the main register file, to the cache, energy of compute, of shaders.
    pub(super) table5_access_plus_wire: Rows<(f64, f64, f64, f64)>,
}

#[derive(Deserialize)]
pub(super) struct Rows<T> {
    pub(super) rows: Vec<T>,
}

#[derive(Deserialize)]
pub(super) struct Table3 {
    pub(super) wire_capacitance_ff_per_mm: u128,
    pub(super) voltage_v: f64,
    pub(super) wire_pj_per_mm_per_32bit: f64,
}

#[derive(Deserialize)]
pub(super) struct Dissertation {
    pub(super) table4_5_bank_energy: Table4Dot5,
    pub(super) table6_1_mrf_reads_per_instruction: Table6Dot1,
    pub(super) table2_1_chips: Pair<ChipStorage>,
    pub(super) table2_2_bytes_per_thread: Pair<[toml::Value; 4]>,
}

#[derive(Deserialize)]
pub(super) struct Table4Dot5 {
    pub(super) lrf: Bank,
    /// Entries, read, write.
    pub(super) orf_rfc: Vec<(u8, f64, f64)>,
    pub(super) mrf: Bank,
}

#[derive(Deserialize)]
pub(super) struct Bank {
    pub(super) read_pj: f64,
    pub(super) write_pj: f64,
}

#[derive(Deserialize)]
pub(super) struct Table6Dot1 {
    pub(super) baseline: f64,
}

#[derive(Deserialize)]
pub(super) struct Pair<T> {
    pub(super) gtx580: T,
    pub(super) hd7970: T,
}

/// Storage of a chip. Unit: KB, of each SM but for the L2 cache.
#[derive(Deserialize)]
pub(super) struct ChipStorage {
    pub(super) threads: u128,
    pub(super) sms: u128,
    pub(super) register_file_kb: u128,
    pub(super) l1_kb: Vec<u128>,
    pub(super) l2_kb: u128,
    pub(super) scratchpad_kb: Vec<u128>,
}

#[derive(Deserialize)]
pub(super) struct Micro12 {
    /// Name, registers without spills, dynamic instructions with fewer, and more that is not read.
    pub(super) table1_workloads: Rows<Table1Row>,
    pub(super) table2_sim: Micro12Sim,
}

pub(super) type Table1Row = (String, u16, Vec<f64>, toml::Value, toml::Value, toml::Value);

#[derive(Deserialize)]
pub(super) struct Micro12Sim {
    pub(super) sms: u32,
    pub(super) dram_bytes_per_cycle: u32,
}

#[derive(Deserialize)]
pub(super) struct Warrf {
    pub(super) table1_sim: WarrfSim,
    pub(super) table2_technology_22nm: WarrfTechnology,
    pub(super) figures_7_and_8_means: WarrfMeans,
}

/// Means of the figures. Unit: percent of SRAM's; of the writes, of those without a pool.
#[derive(Deserialize)]
pub(super) struct WarrfMeans {
    pub(super) sttram_dynamic: u32,
    pub(super) sttram_total: u32,
    pub(super) warrf_total: u32,
    pub(super) warrf_writes: u32,
}

#[derive(Deserialize)]
pub(super) struct WarrfSim {
    pub(super) cores: u32,
    pub(super) clock_ghz: f64,
    pub(super) rf_kb: u32,
    pub(super) rf_banks: u32,
    pub(super) shared_kb: u32,
}

#[derive(Deserialize)]
pub(super) struct WarrfTechnology {
    pub(super) sram: WarrfMemory,
    pub(super) sttram: WarrfMemory,
    pub(super) wpool: WarrfPool,
}

#[derive(Deserialize)]
pub(super) struct WarrfMemory {
    pub(super) cell_f2: u32,
    pub(super) read_ns: f64,
    pub(super) write_ns: f64,
    pub(super) read_pj_bit: f64,
    pub(super) write_pj_bit: f64,
    /// The printed number, whose unit is in doubt.
    pub(super) leak_per_bank: f64,
    pub(super) area_mm2: f64,
}

#[derive(Deserialize)]
pub(super) struct WarrfPool {
    pub(super) entries: u8,
    pub(super) access_pj_bit: f64,
}

/// The facts.
pub(super) fn papers() -> &'static Papers {
    static PAPERS: LazyLock<Papers> = LazyLock::new(|| {
        toml::from_str(include_str!("../../data/papers.toml"))
            .expect("invariant: a test parses the embedded file")
    });
    &PAPERS
}
