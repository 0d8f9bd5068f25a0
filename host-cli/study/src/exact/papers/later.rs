//! Facts of machines that are not built, of which few numbers are used or none: read in full, so
//! that a wrong key or type is refused.
#![expect(dead_code, reason = "facts that wait for their machines")]

use serde::Deserialize;

use super::rows::Rows;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Micro12Sim {
    pub(in crate::exact) rf_kb: u32,
    pub(in crate::exact) rf_bank_kb: u32,
    pub(in crate::exact) shared_kb: u32,
    pub(in crate::exact) cache_kb: u32,
    shared_bytes_per_cycle: u32,
    pub(in crate::exact) cache_line_bytes: u32,
    pub(in crate::exact) cache_ways: u32,
    pub(in crate::exact) dram_bytes_per_cycle: u32,
    alu_latency: u32,
    sfu_latency: u32,
    shared_latency: u32,
    tex_latency: u32,
    dram_latency: u32,
    pub(in crate::exact) sms: u32,
    pub(in crate::exact) max_threads: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Expars {
    pub(in crate::exact) table2_sim: ExparsSim,
    pub(in crate::exact) table3_benchmarks: Rows<Table3Kernel>,
    /// Kernels with one whole CTA fewer than the baseline's.
    pub(in crate::exact) section4_3_one_less: Vec<String>,
    pub(in crate::exact) figure2_oracle: Oracle,
    pub(in crate::exact) figures_13_and_14_means: ExpansionGains,
}

/// Short name, application and kernel, CTAs of an SM; a CTA's warps, bytes of scratchpad memory and
/// registers.
pub(in crate::exact) type Table3Kernel = (String, String, u32, u32, u32, u32);

/// Performance over the baseline with the same inner scheduler. Unit: percent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct ExpansionGains {
    pub(in crate::exact) lrr: f64,
    pub(in crate::exact) gto: f64,
    pub(in crate::exact) tl: f64,
    pub(in crate::exact) ltlws_lrr: f64,
    pub(in crate::exact) ltlws_gto: f64,
}

/// Percent: more CTAs, and utilization.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Oracle {
    pub(in crate::exact) more_ctas: f64,
    pub(in crate::exact) utilization: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct ExparsSim {
    pub(in crate::exact) fermi: Fermi,
    pub(in crate::exact) maxwell: Maxwell,
    pub(in crate::exact) tau: f64,
    pub(in crate::exact) operand_cache: OperandCache,
    l1_kb: u32,
    l2_kb: u32,
    gddr: Gddr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Fermi {
    sms: u32,
    clock_ghz: f64,
    pub(in crate::exact) threads: u32,
    pub(in crate::exact) ctas: u32,
    pub(in crate::exact) registers: u32,
    pub(in crate::exact) scratchpad_kb: u32,
    schedulers: u32,
    l1_kb: u32,
    pub(in crate::exact) max_regs_per_thread: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Maxwell {
    pub(in crate::exact) threads: u32,
    pub(in crate::exact) ctas: u32,
    pub(in crate::exact) registers: u32,
    pub(in crate::exact) scratchpad_kb: u32,
    pub(in crate::exact) max_regs_per_thread: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct OperandCache {
    pub(in crate::exact) bytes: u32,
    pub(in crate::exact) sets: u32,
    pub(in crate::exact) ways: u32,
    pub(in crate::exact) line_bits: u32,
    pub(in crate::exact) tag_bits: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gddr {
    channels: u32,
    banks: u32,
    mhz: u32,
    t_rrd: u32,
    t_rcd: u32,
    t_rp: u32,
    t_rc: u32,
    t_cl: u32,
    t_wr: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct WarrfSim {
    pub(in crate::exact) cores: u32,
    pub(in crate::exact) clock_ghz: f64,
    warp: u32,
    pub(in crate::exact) rf_kb: u32,
    pub(in crate::exact) rf_banks: u32,
    pub(in crate::exact) shared_kb: u32,
    l1_kb: u32,
    l2_kb: u32,
    shared_banks: u32,
    const_kb: u32,
    tex_kb: u32,
    icnt_ghz: f64,
    dram_ghz: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct Pair<T> {
    pub(in crate::exact) gtx580: T,
    pub(in crate::exact) hd7970: T,
}

/// Storage of a chip. Unit: KB, of each SM but for the L2 cache.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::exact) struct ChipStorage {
    pub(in crate::exact) threads: u128,
    pub(in crate::exact) sms: u128,
    pub(in crate::exact) register_file_kb: u128,
    pub(in crate::exact) l1_kb: Vec<u128>,
    pub(in crate::exact) l2_kb: u128,
    pub(in crate::exact) scratchpad_kb: Vec<u128>,
}
