//! Facts of machines that are not built, of which few numbers are used or none: read in full, so
//! that a wrong key or type is refused.
#![expect(dead_code, reason = "facts that wait for their machines")]

use serde::Deserialize;

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
    table2_sim: ExparsSim,
    table3_benchmarks: super::Rows<(String, String, u32, u32, u32, u32)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExparsSim {
    fermi: Fermi,
    maxwell: Maxwell,
    tau: f64,
    operand_cache: OperandCache,
    l1_kb: u32,
    l2_kb: u32,
    gddr: Gddr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fermi {
    sms: u32,
    clock_ghz: f64,
    threads: u32,
    ctas: u32,
    registers: u32,
    scratchpad_kb: u32,
    schedulers: u32,
    l1_kb: u32,
    max_regs_per_thread: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Maxwell {
    threads: u32,
    ctas: u32,
    registers: u32,
    scratchpad_kb: u32,
    max_regs_per_thread: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandCache {
    bytes: u32,
    sets: u32,
    ways: u32,
    line_bits: u32,
    tag_bits: u32,
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
