//! The papers' facts, embedded.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::strict;

/// `data/papers.toml`, as far as it is used; a test lists what is not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Papers {
    pub(super) exact: Vec<Exact>,
    pub(super) inconsistent: Vec<Inconsistent>,
    pub(super) claim: Vec<Claim>,
    pub(super) tables: Tables,
}

/// A figure that a paper measured on its own workloads: shown beside ours, never fitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
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
    pub(super) what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub(super) struct Pair<T> {
    pub(super) gtx580: T,
    pub(super) hd7970: T,
}

/// Storage of a chip. Unit: KB, of each SM but for the L2 cache.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub(super) struct WarrfPool {
    pub(super) entries: u8,
    pub(super) access_pj_bit: f64,
}

/// The facts.
pub(super) fn papers() -> &'static Papers {
    static PAPERS: LazyLock<Papers> = LazyLock::new(|| {
        strict::from_str(include_str!("../../data/papers.toml"))
            .expect("invariant: a test parses the embedded file")
    });
    &PAPERS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use toml::Value;

    use super::*;

    /// What stands in the file for machines and figures that are not built, or for people.
    const NOT_READ: &[&str] = &[
        "exact.baseline",
        "exact.expars",
        "exact.value",
        "exact.warpman",
        "tables.dissertation.chapter7",
        "tables.dissertation.chip_power",
        "tables.dissertation.table4_4_sim",
        "tables.dissertation.table4_5_bank_energy.lrf.entries",
        "tables.dissertation.table4_5_bank_energy.mrf.entries",
        "tables.dissertation.table4_6_wire",
        "tables.dissertation.table4_7_sram_16byte",
        "tables.dissertation.table6_1_mrf_reads_per_instruction.lower_bound_reads",
        "tables.dissertation.table6_1_mrf_reads_per_instruction.lower_bound_writes",
        "tables.dissertation.table6_1_mrf_reads_per_instruction.orf_entries",
        "tables.dissertation.table7_2_best_config_384kb",
        "tables.expars",
        "tables.isca11.table3_model.mrf_bank_area_um2",
        "tables.isca11.table3_model.mrf_read_pj",
        "tables.isca11.table3_model.mrf_to_alu_mm",
        "tables.isca11.table3_model.mrf_write_pj",
        "tables.isca11.table4_sim",
        "tables.micro12.table2_sim.alu_latency",
        "tables.micro12.table2_sim.cache_kb",
        "tables.micro12.table2_sim.cache_line_bytes",
        "tables.micro12.table2_sim.cache_ways",
        "tables.micro12.table2_sim.dram_latency",
        "tables.micro12.table2_sim.max_threads",
        "tables.micro12.table2_sim.rf_bank_kb",
        "tables.micro12.table2_sim.rf_kb",
        "tables.micro12.table2_sim.sfu_latency",
        "tables.micro12.table2_sim.shared_bytes_per_cycle",
        "tables.micro12.table2_sim.shared_kb",
        "tables.micro12.table2_sim.shared_latency",
        "tables.micro12.table2_sim.tex_latency",
        "tables.micro12.table3_energy",
        "tables.micro12.table4_bank_energy",
        "tables.micro12.table5_max_accesses_per_bank_percent",
        "tables.micro12.table6_capacity",
        "tables.warrf.table1_sim.const_kb",
        "tables.warrf.table1_sim.dram_ghz",
        "tables.warrf.table1_sim.icnt_ghz",
        "tables.warrf.table1_sim.l1_kb",
        "tables.warrf.table1_sim.l2_kb",
        "tables.warrf.table1_sim.shared_banks",
        "tables.warrf.table1_sim.tex_kb",
        "tables.warrf.table1_sim.warp",
        "tables.warrf.table2_technology_22nm.sram.write_cycles",
        "tables.warrf.table2_technology_22nm.sttram.write_cycles",
    ];

    /// Renames every key of a value, one at a time, and asks whether anyone misses it.
    fn unread(root: &Value, at: &mut Vec<String>, value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Table(table) => {
                for (key, inside) in table {
                    at.push(key.clone());
                    if read(&renamed(root, at)).is_ok() {
                        let keys = at.iter().filter(|key| key.parse::<usize>().is_err());
                        found.insert(keys.map(String::as_str).collect::<Vec<_>>().join("."));
                    } else {
                        unread(root, at, inside, found);
                    }
                    at.pop();
                }
            }
            Value::Array(list) => {
                for (index, inside) in list.iter().enumerate() {
                    at.push(index.to_string());
                    unread(root, at, inside, found);
                    at.pop();
                }
            }
            _ => {}
        }
    }

    fn read(root: &Value) -> Result<Papers, toml::de::Error> {
        strict::from_str(&toml::to_string(root).expect("it was read from a file"))
    }

    fn renamed(root: &Value, path: &[String]) -> Value {
        let mut root = root.clone();
        let (key, above) = path.split_last().expect("a key");
        let inside = above.iter().fold(&mut root, |value, key| match value {
            Value::Array(list) => &mut list[key.parse::<usize>().expect("a number")],
            table => &mut table[key.as_str()],
        });
        let table = inside.as_table_mut().expect("it has keys");
        let value = table.remove(key).expect("it is there");
        table.insert(format!("{key}s"), value);
        root
    }

    #[test]
    fn every_key_is_read_or_listed_as_unread() {
        let root: Value = toml::from_str(include_str!("../../data/papers.toml")).expect("TOML");
        read(&root).expect("its own text");
        let mut found = BTreeSet::new();
        unread(&root, &mut Vec::new(), &root, &mut found);
        let listed: BTreeSet<String> = NOT_READ.iter().map(|&key| key.to_owned()).collect();
        assert_eq!(found, listed);
    }
}
