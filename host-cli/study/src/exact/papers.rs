//! The papers' facts, embedded.

pub(super) mod later;
mod rows;

use std::sync::LazyLock;

use serde::Deserialize;

use rows::Rows;
use strata_config::{Mistake, strict};

/// `data/papers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Papers {
    pub(super) exact: Vec<Exact>,
    pub(super) inconsistent: Vec<Inconsistent>,
    pub(super) claim: Vec<Claim>,
    pub(super) tables: Tables,
}

impl Papers {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// No TOML, a key that is not known or missing, or a value of the wrong type, with its place.
    pub(super) fn read(text: &str) -> Result<Self, Mistake> {
        strict::from_str(text)
    }
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
    /// Its numbers, as far as our runs have them.
    #[serde(default)]
    pub number: Vec<Number>,
}

/// A number that a paper claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Its key.
    pub id: String,
    /// What is measured.
    pub what: String,
    /// What the paper says of it.
    pub printed: String,
    /// The least and the most that it says, where it says a number.
    pub range: Option<[f64; 2]>,
}

/// A figure that must come out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exact {
    pub(super) id: String,
    pub(super) what: String,
    /// Labels and numbers that are printed and stand in no table.
    #[serde(default)]
    pub(super) printed: Vec<(String, String)>,
    /// What a computed number may be off by, where the printed ones are rounded in more than one
    /// way.
    #[serde(default)]
    pub(super) tolerance: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inconsistent {
    pub(super) id: String,
    pub(super) printed: String,
    pub(super) computed: String,
    /// The printed numbers that the computation starts from, where no table has them.
    #[serde(default)]
    pub(super) given: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tables {
    pub(super) isca11: Isca11,
    pub(super) dissertation: Dissertation,
    pub(super) micro12: Micro12,
    pub(super) expars: later::Expars,
    pub(super) warrf: Warrf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Isca11 {
    /// Entries, warps, area, read, write.
    pub(super) table2_rfc_128bit: Rows<(u8, u8, u64, f64, f64)>,
    pub(super) table3_model: Table3,
    pub(super) table4_sim: Table4,
    /// Distance to the main register file, to the cache, energy of compute, of shaders.
    pub(super) table5_access_plus_wire: Rows<(f64, f64, f64, f64)>,
    pub(super) section5_5: Saved,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table3 {
    pub(super) mrf_read_pj: f64,
    pub(super) mrf_write_pj: f64,
    pub(super) mrf_bank_area_um2: u64,
    pub(super) mrf_to_alu_mm: f64,
    pub(super) wire_capacitance_ff_per_mm: u128,
    pub(super) voltage_v: f64,
    pub(super) wire_pj_per_mm_per_32bit: f64,
    pub(super) wires: u128,
    pub(super) switching_fraction: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table4 {
    pub(super) lanes: u32,
    pub(super) rf_kb: u32,
    pub(super) rf_bank_kb: u32,
    pub(super) shared_kb: u32,
    pub(super) shared_bytes_per_cycle: u32,
    pub(super) dram_bytes_per_cycle: u32,
    pub(super) alu_latency: u32,
    pub(super) sfu_latency: u32,
    pub(super) shared_latency: u32,
    pub(super) tex_latency: u32,
    pub(super) dram_latency: u32,
    pub(super) sfu_ops_per_cycle: u32,
    pub(super) tex_ops_per_cycle: u32,
    pub(super) max_warps: u32,
}

/// What a chip saves. Unit: percent of the register file's energy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    pub(super) saved_percent: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dissertation {
    pub(super) table4_4_sim: Table4Dot4,
    pub(super) table4_5_bank_energy: Table4Dot5,
    pub(super) table4_6_wire: Table4Dot6,
    /// KB, read, write.
    pub(super) table4_7_sram_16byte: Rows<(u32, f64, f64)>,
    pub(super) table6_1_mrf_reads_per_instruction: Table6Dot1,
    #[expect(dead_code, reason = "its machine is not built")]
    table7_2_best_config_384kb: Rows<(String, u32, u32, u32)>,
    pub(super) chapter7: Chapter7,
    #[cfg_attr(not(test), expect(dead_code, reason = "its chips are none of the product's"))]
    pub(super) table2_1_chips: later::Pair<later::ChipStorage>,
    pub(super) table2_2_bytes_per_thread: later::Pair<PerThread>,
    pub(super) chip_power: ChipFacts,
    pub(super) section6_5_4: Savings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table4Dot4 {
    pub(super) rf_kb: u32,
    pub(super) rf_bank_kb: u32,
    pub(super) shared_kb: u32,
    pub(super) shared_bytes_per_cycle: u32,
    pub(super) dram_bytes_per_cycle: u32,
    #[expect(dead_code, reason = "the product moves sectors of 32 bytes")]
    dram_min_transaction_bytes: u32,
    pub(super) alu_latency: u32,
    pub(super) sfu_latency: u32,
    pub(super) shared_latency: u32,
    pub(super) tex_latency: u32,
    pub(super) dram_latency: u32,
    pub(super) active_warps: u32,
    pub(super) pending_warps: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table4Dot5 {
    pub(super) lrf: Bank,
    /// Entries, read, write.
    pub(super) orf_rfc: Vec<(u8, f64, f64)>,
    pub(super) mrf: Bank,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bank {
    #[expect(dead_code, reason = "entries of a thread, which the levels' names say")]
    entries: u8,
    pub(super) read_pj: f64,
    pub(super) write_pj: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table4Dot6 {
    pub(super) mrf_to_private_mm: f64,
    pub(super) orf_to_private_mm: f64,
    pub(super) lrf_to_private_mm: f64,
    pub(super) mrf_to_shared_mm: f64,
    pub(super) orf_to_shared_mm: f64,
    pub(super) wire_pj_per_mm_per_32bit: f64,
}

/// Unit: accesses of the main register file for each instruction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table6Dot1 {
    pub(super) baseline: f64,
    pub(super) baseline_writes: f64,
    pub(super) orf_entries: [f64; 8],
    #[expect(dead_code, reason = "measured on the paper's workloads")]
    lower_bound_reads: f64,
    #[expect(dead_code, reason = "measured on the paper's workloads")]
    lower_bound_writes: f64,
}

/// Register file, L1, L2 and scratchpad, each as printed. Unit: bytes.
pub(super) type PerThread = [String; 4];

/// A chip's power and its parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChipFacts {
    pub(super) chip_w: f64,
    pub(super) leakage_fraction: f64,
    pub(super) memory_system_fraction: f64,
    pub(super) sm_fraction: f64,
    pub(super) sms: u32,
    pub(super) rf_fraction_of_sm: f64,
    pub(super) encoding_bit_chip_fraction: f64,
    pub(super) fetch_decode_fraction: f64,
    pub(super) instruction_bits: u32,
}

/// Register file energy saved. Unit: percent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Savings {
    pub(super) two_levels_hardware: u64,
    pub(super) three_levels_hardware: u64,
    pub(super) two_levels_software: u64,
    pub(super) three_levels_software: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Micro12 {
    /// Name, registers without spills, dynamic instructions with fewer, KB of registers, bytes of
    /// shared memory, accesses of DRAM.
    pub(super) table1_workloads: Rows<Table1Row>,
    pub(super) table2_sim: later::Micro12Sim,
    pub(super) table3_energy: Micro12Energy,
    pub(super) table4_bank_energy: Micro12Banks,
    pub(super) table5_max_accesses_per_bank_percent: Table5,
    pub(super) table6_capacity: Rows<Table6Row>,
}

/// Power and energy of an SM at 32 nm.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Micro12Energy {
    pub(super) sm_dynamic_w: f64,
    pub(super) sm_leakage_w: f64,
    pub(super) sm_leakage_core_w: f64,
    pub(super) sm_leakage_sram_384kb_w: f64,
    pub(super) sram_leakage_mw_per_kb: f64,
    pub(super) dram_pj_per_bit: u32,
    pub(super) crossbar_overhead_fraction: f64,
}

/// Reads and writes of banks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Micro12Banks {
    pub(super) rf_8kb: [f64; 2],
    pub(super) shared_2kb: [f64; 2],
    pub(super) cache_2kb: [f64; 2],
    pub(super) unified_12kb: [f64; 2],
}

/// Name, performance and energy with 128, 256 and 384 KB.
pub(super) type Table6Row = (String, [f64; 3], [f64; 3]);

/// Percent of the instructions with at most 1, with 2, 3, 4 and more accesses of a bank.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table5 {
    pub(super) partitioned: [f64; 5],
    pub(super) unified: [f64; 5],
}

/// Designs of `[DISS]` chapter 7.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chapter7 {
    pub(super) designs_kb: Vec<String>,
    pub(super) limited: Vec<String>,
    pub(super) unified_kb: Vec<u32>,
    pub(super) needle_blocking: [u32; 3],
}

pub(super) type Table1Row = (String, u16, Vec<f64>, u32, f64, [f64; 3]);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Warrf {
    pub(super) table1_sim: later::WarrfSim,
    pub(super) table2_technology_22nm: WarrfTechnology,
    pub(super) figures_7_and_8_means: WarrfMeans,
}

/// Means of the figures. Unit: percent of SRAM's; of the writes, of those without a pool; of the
/// performance, what is lost.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WarrfMeans {
    pub(super) sttram_dynamic: u32,
    pub(super) sttram_total: u32,
    pub(super) warrf_total: u32,
    pub(super) warrf_writes: u32,
    pub(super) warrf_slower: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WarrfTechnology {
    pub(super) sram: WarrfMemory,
    pub(super) sttram: WarrfMemory,
    pub(super) wpool: WarrfPool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WarrfMemory {
    pub(super) cell_f2: u32,
    pub(super) read_ns: f64,
    pub(super) write_ns: f64,
    pub(super) read_pj_bit: f64,
    pub(super) write_pj_bit: f64,
    /// The printed number, whose unit is in doubt.
    pub(super) leak_per_bank: f64,
    pub(super) area_mm2: f64,
    pub(super) write_cycles: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WarrfPool {
    pub(super) entries: u8,
    pub(super) access_pj_bit: f64,
}

/// The text of the file.
pub(super) const TEXT: &str = include_str!("../../data/papers.toml");

/// The facts.
pub(super) fn papers() -> &'static Papers {
    static PAPERS: LazyLock<Papers> =
        LazyLock::new(|| Papers::read(TEXT).expect("invariant: a test parses the embedded file"));
    &PAPERS
}

#[cfg(test)]
pub(super) mod tests {
    use toml::Value;

    use super::*;

    /// The file as a value.
    pub(in crate::exact) fn root() -> Value {
        toml::from_str(TEXT).expect("TOML")
    }

    /// What a change of the file is read as.
    pub(in crate::exact) fn read(root: &Value) -> Result<Papers, Mistake> {
        Papers::read(&toml::to_string(root).expect("it was read from a file"))
    }

    /// The places of all values below one that are no table and no list, and of all keys.
    fn places(value: &Value, at: &mut Vec<String>, keys: bool, found: &mut Vec<Vec<String>>) {
        match value {
            Value::Table(table) => {
                for (key, inside) in table {
                    at.push(key.clone());
                    if keys {
                        found.push(at.clone());
                    }
                    places(inside, at, keys, found);
                    at.pop();
                }
            }
            Value::Array(list) => {
                for (index, inside) in list.iter().enumerate() {
                    at.push(index.to_string());
                    places(inside, at, keys, found);
                    at.pop();
                }
            }
            _ if keys => {}
            _ => found.push(at.clone()),
        }
    }

    /// Places of single values.
    pub(in crate::exact) fn leaves(root: &Value) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        places(root, &mut Vec::new(), false, &mut found);
        found
    }

    /// The value at a place.
    pub(in crate::exact) fn at<'a>(root: &'a mut Value, place: &[String]) -> &'a mut Value {
        place.iter().fold(root, |value, key| match value {
            Value::Array(list) => &mut list[key.parse::<usize>().expect("a number")],
            table => &mut table[key.as_str()],
        })
    }

    fn refused_at_its_place(root: &Value, place: &[String]) {
        let Err(error) = read(root) else { panic!("{} is read", place.join(".")) };
        let message = error.to_string();
        assert!(!message.starts_with('`'), "{}: {message}", place.join("."));
        assert!(error.position.is_some(), "{}: {message}", place.join("."));
    }

    #[test]
    fn every_key_is_known() {
        let root = root();
        read(&root).expect("its own text");
        let mut keys = Vec::new();
        places(&root, &mut Vec::new(), true, &mut keys);
        assert!(keys.len() > 300, "{} keys", keys.len());
        for place in keys {
            let (key, above) = place.split_last().expect("a key");
            let mut renamed = root.clone();
            let table = at(&mut renamed, above).as_table_mut().expect("it has keys");
            let value = table.remove(key).expect("it is there");
            table.insert(format!("{key}s"), value);
            let Err(error) = read(&renamed) else { panic!("{} is read", place.join(".")) };
            // Of a table that lost its last key the parser names the table's own line.
            assert!(error.position.is_some(), "{}: {error}", place.join("."));
        }
    }

    #[test]
    fn every_value_has_its_type() {
        let root = root();
        for place in leaves(&root) {
            let mut other = root.clone();
            let value = at(&mut other, &place);
            *value = match value {
                Value::String(_) => Value::Boolean(true),
                _ => Value::String("1".to_owned()),
            };
            refused_at_its_place(&other, &place);
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let with = TEXT.replacen("lanes = 32", "lanes = 32\nlane = 1", 1);
        let line = 1 + with.lines().position(|line| line == "lane = 1").expect("it was put there");
        let message = Papers::read(&with).err().expect("no such key").to_string();
        assert!(message.starts_with(&format!("{line}:1: ")), "{message}");
        assert!(message.contains("there is no key `lane` here"), "{message}");
    }
}
