//! Derived ratios: what a paper would put on an axis, each a quotient of two integers.

use std::collections::{BTreeMap, BTreeSet};

use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::sm::counters::SmCounters;
use strata_core::value_usage::ValueUsage;

use super::data_cache::DataCacheCounts;
use super::in_time::{Against, EnergyInTime};
use super::rounded::rounded;
use crate::crossings::Crossings;
use strata_design::Design;

/// Lines of loads that the data cache had, of all lines of loads.
pub const LOAD_HITS: &str = "data_cache_load_hits_percent";

/// Lines that the second level had, of all that it was asked to read.
const L2_HITS: &str = "l2_read_hits_percent";
/// Lines whose row was open in DRAM, of all.
const ROW_HITS: &str = "gddr_row_hits_percent";
/// Instructions with spilling, of those without, where registers are limited.
pub const SPILLED: &str = "instructions_relative_percent";

/// What the ratios are made of.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The design.
    pub design: &'a Design,
    /// Its counters.
    pub counters: &'a Counters,
    /// Counters of the flat register file on the same paths, in the same unit.
    pub flat: &'a Counters,
    /// Energy of the design, where known.
    pub energy: Option<&'a EnergyBreakdown>,
    /// Energy of the flat register file.
    pub baseline: Option<&'a EnergyBreakdown>,
    /// How the values of these paths are used.
    pub usage: &'a ValueUsage,
    /// What crosses the boundaries of its strands, if the compiler manages its hierarchy.
    pub crossings: Option<&'a Crossings>,
    /// Counters in time, in cycle mode.
    pub time: Option<&'a SmCounters>,
    /// Energy with leakage beside the baseline's, where both are known.
    pub in_time: Option<&'a Against>,
    /// What the memory counted, if it is one with addresses.
    pub data_cache: Option<&'a DataCacheCounts>,
}

/// Every ratio by name; the last word of a name is its unit. None where the divisor is zero or the
/// energy unknown.
pub fn ratios(inputs: &Inputs<'_>) -> BTreeMap<String, Option<f64>> {
    let Inputs { counters, flat, usage, .. } = *inputs;
    let instructions = counters.warp_instructions();
    let mut ratios = vec![
        ("mrf_reads_per_instruction", quotient(counters.mrf_reads(), instructions)),
        ("mrf_writes_per_instruction", quotient(counters.mrf_writes(), instructions)),
        ("operand_reads_per_instruction", quotient(flat.mrf_reads(), instructions)),
        ("operand_writes_per_instruction", quotient(flat.mrf_writes(), instructions)),
        (
            "lanes_per_instruction",
            quotient(counters.thread_instructions(), counters.warp_instructions()),
        ),
        ("mrf_reads_avoided_percent", avoided(counters.mrf_reads(), flat.mrf_reads())),
        ("mrf_writes_avoided_percent", avoided(counters.mrf_writes(), flat.mrf_writes())),
        (
            "rfc_writebacks_per_100_instructions",
            quotient(counters.rfc_writebacks() * 100, instructions),
        ),
        ("rfc_reads_share_percent", percent(counters.rfc_reads(), flat.mrf_reads())),
        ("lrf_reads_share_percent", percent(counters.lrf_reads(), flat.mrf_reads())),
        ("overhead_writes_percent", percent(counters.overhead_writes(), flat.mrf_writes())),
        ("mrf_operands_0_percent", percent(counters.mrf_operands_0(), instructions)),
        ("mrf_operands_1_percent", percent(counters.mrf_operands_1(), instructions)),
        ("mrf_operands_2_percent", percent(counters.mrf_operands_2(), instructions)),
        ("mrf_operands_3_percent", percent(counters.mrf_operands_3(), instructions)),
        ("mrf_operands_over_3_percent", percent(counters.mrf_operands_over_3(), instructions)),
    ];
    let values = usage.values();
    let read_exactly = |times: usize| percent(usage.reads[times], values);
    let within: u64 = usage.lifetime_of_read_once[..3].iter().sum();
    let [from_private, from_shared] = usage.read_by_shared;
    let read_by_shared = from_private + from_shared;
    ratios.extend([
        ("values_never_read_percent", read_exactly(0)),
        ("values_read_once_percent", read_exactly(1)),
        ("values_read_twice_percent", read_exactly(2)),
        ("values_read_over_2_times_percent", percent(usage.read_at_least(3), values)),
        ("values_read_over_3_times_percent", percent(usage.read_at_least(4), values)),
        (
            "values_read_once_after_1_instruction_percent",
            percent(usage.lifetime_of_read_once[0], values),
        ),
        ("values_read_once_within_3_instructions_percent", percent(within, values)),
        ("values_read_by_shared_datapath_percent", percent(read_by_shared, values)),
        ("values_read_by_shared_made_by_private_percent", percent(from_private, read_by_shared)),
    ]);
    if let Some(crossings) = inputs.crossings {
        ratios.extend([
            ("live_in_per_instruction", quotient(crossings.live_in, instructions)),
            ("live_out_per_instruction", quotient(crossings.live_out, instructions)),
        ]);
    }
    ratios.extend(energies(inputs));
    if let Some(time) = inputs.time {
        // As the papers count it: 32 is the peak of one issue slot.
        ratios.push(("ipc", quotient(counters.thread_instructions(), time.cycles())));
        ratios.push(("warp_ipc", quotient(instructions, time.cycles())));
    }
    if let Some(in_time) = inputs.in_time {
        ratios.extend(in_time.ratios());
    }
    if let Some(cache) = inputs.data_cache {
        let (hits, all) = cache.load_hits();
        ratios.push((LOAD_HITS, percent(hits, all)));
        for (name, hits) in [(L2_HITS, cache.second_level_hits()), (ROW_HITS, cache.row_hits())] {
            ratios.extend(hits.map(|(hits, all)| (name, percent(hits, all))));
        }
    }
    ratios.into_iter().map(|(name, ratio)| (name.to_owned(), ratio.map(rounded))).collect()
}

/// The name of every ratio that a report may have, in their order.
pub fn names() -> BTreeSet<String> {
    let (counters, usage, time) = <(Counters, ValueUsage, SmCounters)>::default();
    let (crossings, cache) = <(Crossings, DataCacheCounts)>::default();
    let energy = EnergyInTime {
        dynamic_fj: 0,
        leakage_fj: 0,
        total_fj: 0,
        average_power_mw: 0.0,
        energy_delay_fj_s: 0.0,
    };
    let against = Against { own: energy, baseline: energy, cycles: 0, baseline_cycles: 0 };
    let designs = strata_design::list();
    let ratios = designs.iter().take(1).flat_map(|design| {
        ratios(&Inputs {
            design,
            counters: &counters,
            flat: &counters,
            energy: None,
            baseline: None,
            usage: &usage,
            crossings: Some(&crossings),
            time: Some(&time),
            in_time: Some(&against),
            data_cache: Some(&cache),
        })
    });
    let some = [L2_HITS, ROW_HITS, SPILLED].map(str::to_owned);
    ratios.map(|(name, _)| name).chain(some).collect()
}

/// Energy against the baseline, and what that means for a chip.
fn energies(inputs: &Inputs<'_>) -> Vec<(&'static str, Option<f64>)> {
    let totals = inputs.energy.zip(inputs.baseline);
    let totals = totals.map(|(own, flat)| (own.total().0, flat.total().0));
    let relative = totals.and_then(|(own, flat)| percent(own, flat));
    let saving = totals.and_then(|(own, flat)| {
        let bits = inputs.design.encoding_bits();
        inputs.design.machine.chip_power()?.saving(flat, own, bits)
    });
    let watts = |nanowatts: i128| nanowatts as f64 / 1e9;
    vec![
        ("energy_relative_percent", relative),
        ("chip_power_saved_watts", saving.map(|saving| watts(saving.saved_nw.into()))),
        ("chip_power_encoding_watts", saving.map(|saving| watts(saving.encoding_nw.into()))),
        ("chip_power_net_saved_watts", saving.map(|saving| watts(saving.net_nw()))),
    ]
}

fn quotient(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator != 0).then(|| numerator as f64 / denominator as f64)
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    quotient(part, whole).map(|ratio| ratio * 100.0)
}

/// Negative when the design makes more accesses than the baseline.
fn avoided(own: u64, flat: u64) -> Option<f64> {
    percent(own, flat).map(|left| 100.0 - left)
}
