//! The number of our runs beside each number of the papers, and the rule by which it agrees.

use super::measures::{ENERGY, Key, Of, Rule, Value};

/// Families of designs, `{}` for the entries.
pub(super) const HARDWARE_TWO: &str = "diss-rfc{}";
pub(super) const HARDWARE_THREE: &str = "diss-rfc{}-lrf";
pub(super) const SOFTWARE_TWO: &str = "diss-orf{}";
pub(super) const SOFTWARE_THREE: &str = "diss-orf{}-lrf-split";

/// A number beside the papers'.
pub(super) struct Measured {
    pub(super) id: &'static str,
    pub(super) value: Value,
    pub(super) rule: Rule,
    pub(super) deviation: Option<&'static str>,
}

const fn counted(design: &'static str, key: Key) -> Of {
    Of { design, timed: false, key }
}

const fn timed(design: &'static str, key: Key) -> Of {
    Of { design, timed: true, key }
}

const fn ratio(design: &'static str, key: &'static str) -> Of {
    counted(design, Key::Ratio(key))
}

const fn measured(
    id: &'static str,
    value: Value,
    rule: Rule,
    deviation: Option<&'static str>,
) -> Measured {
    Measured { id, value, rule, deviation }
}

const READS: &str = "mrf_reads_avoided_percent";
const WRITES: &str = "mrf_writes_avoided_percent";
const ACCESSES: Key = Key::Counters(&["mrf_reads", "mrf_writes"]);
const MRF_READS: Key = Key::Counters(&["mrf_reads"]);
const MRF_WRITES: Key = Key::Counters(&["mrf_writes"]);
const WRITEBACKS: &str = "rfc_writebacks_per_100_instructions";
const WRITEBACKS_COUNT: Key = Key::Counters(&["rfc_writebacks"]);
const LRF_READS: &str = "lrf_reads_share_percent";
const OVERHEAD: &str = "overhead_writes_percent";
const IPC: Key = Key::Ratio("ipc");
const ENERGY_IN_TIME: Key = Key::Ratio("total_energy_relative_percent");
const DYNAMIC: Key = Key::Ratio("dynamic_energy_relative_percent");
const DELAYED: Key = Key::Ratio("energy_delay_relative_percent");
const SPLIT_3: &str = "diss-orf3-lrf-split";
const NO_OPTIMISATION: &str = "diss-orf3-lrf-split-noforward-noreadoperands-nopartial";
const FORWARD: &str = "diss-orf3-lrf-split-noreadoperands-nopartial";
const READ_OPERANDS: &str = "diss-orf3-lrf-split-nopartial";
const SRAM: &str = "warrf-gtx480";
const STTRAM: &str = "sttram";
const WARRF: &str = "warrf";
/// Reads that hit the pool at the price of a bank's.
const AT_BANK: &str = "warrf-bank";

/// The numbers, in the order of the papers' list.
pub(super) const MEASURES: &[Measured] = &[
    measured(
        "values-read-once",
        Value::Mean(ratio("isca11", "values_read_once_percent")),
        Rule::Within(5.0),
        None,
    ),
    measured(
        "values-read-often",
        Value::Mean(ratio("isca11", "values_read_over_2_times_percent")),
        Rule::Within(5.0),
        None,
    ),
    measured(
        "values-read-soon",
        Value::Mean(ratio("isca11", "values_read_once_within_3_instructions_percent")),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "single-reads",
        Value::Mean(ratio("isca11-rfc6-single", READS)),
        Rule::Within(0.0),
        Some("DEV-020"),
    ),
    measured(
        "single-writes",
        Value::Mean(ratio("isca11-rfc6-nolive-single", WRITES)),
        Rule::Within(0.0),
        Some("DEV-020"),
    ),
    measured(
        "single-liveness",
        Value::Points(
            ratio("isca11-rfc6-single", WRITES),
            ratio("isca11-rfc6-nolive-single", WRITES),
        ),
        Rule::Within(5.0),
        None,
    ),
    measured(
        "single-13-reads",
        Value::Mean(ratio("isca11-rfc13-single", READS)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "single-13-writes",
        Value::Mean(ratio("isca11-rfc13-single", WRITES)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "two-level-reads",
        Value::Mean(ratio("isca11-rfc6", READS)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "two-level-writes-plain",
        Value::Mean(ratio("isca11-rfc6-nolive", WRITES)),
        Rule::Within(0.0),
        Some("DEV-020"),
    ),
    measured(
        "two-level-writes",
        Value::Mean(ratio("isca11-rfc6", WRITES)),
        Rule::Within(0.0),
        Some("DEV-020"),
    ),
    measured(
        "flush-reads",
        Value::Points(ratio("isca11-rfc6-single", READS), ratio("isca11-rfc6", READS)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "flush-writes",
        Value::Points(ratio("isca11-rfc6-single", WRITES), ratio("isca11-rfc6", WRITES)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "beyond-six",
        Value::Points(ratio("isca11-rfc8", READS), ratio("isca11-rfc6", READS)),
        Rule::AtMost(5.0),
        Some("DEV-020"),
    ),
    measured(
        "lru-accesses",
        Value::Change(counted("isca11-rfc6-lru", ACCESSES), counted("isca11-rfc6", ACCESSES)),
        Rule::Direction,
        None,
    ),
    measured(
        "allocate-reads",
        Value::Change(
            counted("isca11-rfc13-single-reads", MRF_READS),
            counted("isca11-rfc13-single", MRF_READS),
        ),
        Rule::Direction,
        None,
    ),
    measured(
        "allocate-writes",
        Value::Change(
            counted("isca11-rfc13-single-reads", MRF_WRITES),
            counted("isca11-rfc13-single", MRF_WRITES),
        ),
        Rule::Direction,
        None,
    ),
    measured(
        "bypass-accesses",
        Value::Change(counted("isca11-rfc6-bypass", ACCESSES), counted("isca11-rfc6", ACCESSES)),
        Rule::Direction,
        None,
    ),
    measured(
        "bypass-writebacks",
        Value::MeanChange(
            ratio("isca11-rfc6-bypass", WRITEBACKS),
            ratio("isca11-rfc6", WRITEBACKS),
        ),
        Rule::HalfToTwice,
        None,
    ),
    measured(
        "backflush-energy",
        Value::EnergyChange("isca11-rfc6-backflush", "isca11-rfc6"),
        Rule::HalfToTwice,
        Some("DEV-048"),
    ),
    measured(
        "ipc-8",
        Value::Share(timed("isca11-active8", IPC), timed("isca11", IPC)),
        Rule::AtLeast(95.0),
        Some("DEV-020"),
    ),
    measured(
        "ipc-6",
        Value::Share(timed("isca11-active6", IPC), timed("isca11", IPC)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "ipc-4",
        Value::Share(timed("isca11-active4", IPC), timed("isca11", IPC)),
        Rule::AtMost(95.0),
        Some("DEV-020"),
    ),
    measured(
        "ipc-alu",
        Value::Change(timed("isca11-active4-alu4", IPC), timed("isca11-active4", IPC)),
        Rule::HalfToTwice,
        Some("DEV-020"),
    ),
    measured(
        "ipc-round-robin",
        Value::Change(timed("isca11-robin", IPC), timed("isca11", IPC)),
        Rule::AtMost(0.0),
        None,
    ),
    measured(
        "ipc-tag-check",
        Value::Change(timed("isca11-rfc6-no-tag-check", IPC), timed("isca11-rfc6", IPC)),
        Rule::AtMost(1.0),
        Some("DEV-021"),
    ),
    measured(
        "energy-without-wires",
        Value::Mean(counted("isca11-rfc6-no-wires", ENERGY)),
        Rule::Within(5.0),
        Some("DEV-068"),
    ),
    measured(
        "energy",
        Value::Mean(counted("isca11-rfc6", ENERGY)),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured(
        "hardware-two-size",
        Value::BestSize(HARDWARE_TWO),
        Rule::Within(0.0),
        Some("DEV-020"),
    ),
    measured(
        "hardware-two-saving",
        Value::BestSaving(HARDWARE_TWO),
        Rule::Within(5.0),
        Some("DEV-020"),
    ),
    measured("hardware-three-size", Value::BestSize(HARDWARE_THREE), Rule::Within(0.0), None),
    measured(
        "hardware-three-saving",
        Value::BestSaving(HARDWARE_THREE),
        Rule::Within(5.0),
        Some("DEV-013"),
    ),
    measured("software-two-size", Value::BestSize(SOFTWARE_TWO), Rule::Within(0.0), None),
    measured(
        "software-two-saving",
        Value::BestSaving(SOFTWARE_TWO),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured("software-three-size", Value::BestSize(SOFTWARE_THREE), Rule::Within(0.0), None),
    measured(
        "software-three-saving",
        Value::BestSaving(SOFTWARE_THREE),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "efficiency-two",
        Value::Efficiency(SOFTWARE_TWO, HARDWARE_TWO),
        Rule::Direction,
        Some("DEV-075"),
    ),
    measured(
        "efficiency-three-two",
        Value::Efficiency(SOFTWARE_THREE, HARDWARE_TWO),
        Rule::Direction,
        Some("DEV-075"),
    ),
    measured(
        "efficiency-three",
        Value::Efficiency(SOFTWARE_THREE, HARDWARE_THREE),
        Rule::Direction,
        Some("DEV-075"),
    ),
    measured(
        "added-reads",
        Value::Share(counted("diss-rfc3", WRITEBACKS_COUNT), counted("dissertation", MRF_READS)),
        Rule::HalfToTwice,
        Some("DEV-020"),
    ),
    measured(
        "orf-writes",
        Value::Change(
            counted("diss-orf3", Key::Counters(&["orf_writes"])),
            counted("diss-rfc3", Key::Counters(&["rfc_writes"])),
        ),
        Rule::HalfToTwice,
        None,
    ),
    measured(
        "lrf-hardware",
        Value::Mean(ratio("diss-rfc6-lrf", LRF_READS)),
        Rule::HalfToTwice,
        Some("DEV-013"),
    ),
    measured(
        "lrf-unified",
        Value::Mean(ratio("diss-orf3-lrf-unified", LRF_READS)),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "lrf-split",
        Value::MeanChange(ratio(SPLIT_3, LRF_READS), ratio("diss-orf3-lrf-unified", LRF_READS)),
        Rule::Within(5.0),
        None,
    ),
    measured(
        "overhead-hardware",
        Value::Mean(ratio("diss-rfc3-lrf", OVERHEAD)),
        Rule::HalfToTwice,
        None,
    ),
    measured("overhead-software", Value::Mean(ratio(SPLIT_3, OVERHEAD)), Rule::HalfToTwice, None),
    measured("forward", Value::EnergyChange(FORWARD, NO_OPTIMISATION), Rule::HalfToTwice, None),
    measured("read-operands", Value::EnergyChange(READ_OPERANDS, FORWARD), Rule::HalfToTwice, None),
    measured(
        "partial",
        Value::EnergyChange(SPLIT_3, READ_OPERANDS),
        Rule::Direction,
        Some("DEV-045"),
    ),
    measured(
        "optimisations",
        Value::EnergyChange(SPLIT_3, NO_OPTIMISATION),
        Rule::HalfToTwice,
        None,
    ),
    measured("saving-reduction", Value::SavedIn("reduction", SPLIT_3), Rule::HalfToTwice, None),
    measured("saving-scalarprod", Value::SavedIn("scalarprod", SPLIT_3), Rule::Within(5.0), None),
    measured(
        "reads-flat",
        Value::Mean(ratio("dissertation", "operand_reads_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "writes-flat",
        Value::Mean(ratio("dissertation", "operand_writes_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "reads-3",
        Value::Mean(ratio(SPLIT_3, "mrf_reads_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "reads-6",
        Value::Mean(ratio("diss-orf6-lrf-split", "mrf_reads_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "live-in",
        Value::Mean(ratio(SPLIT_3, "live_in_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "live-out",
        Value::Mean(ratio(SPLIT_3, "live_out_per_instruction")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "two-operands",
        Value::Mean(ratio(SPLIT_3, "mrf_operands_2_percent")),
        Rule::Within(0.0),
        Some("DEV-046"),
    ),
    measured(
        "shared-values",
        Value::Mean(ratio("dissertation", "values_read_by_shared_datapath_percent")),
        Rule::HalfToTwice,
        Some("DEV-075"),
    ),
    measured(
        "shared-private",
        Value::Mean(ratio("dissertation", "values_read_by_shared_made_by_private_percent")),
        Rule::HalfToTwice,
        None,
    ),
    measured(
        "one-level",
        Value::EnergyChange("diss-orf3-lrf-split-onelevel", SPLIT_3),
        Rule::HalfToTwice,
        None,
    ),
    measured(
        "dual-lrf",
        Value::EnergyChange("diss-orf3-lrf-split-duallrf", SPLIT_3),
        Rule::HalfToTwice,
        None,
    ),
    measured(
        "sttram-ipc",
        Value::Change(timed(STTRAM, IPC), timed(SRAM, IPC)),
        Rule::Direction,
        Some("DEV-070"),
    ),
    measured(
        "sbw-ipc",
        Value::Change(timed("sttram-sbw", IPC), timed(STTRAM, IPC)),
        Rule::Direction,
        Some("DEV-052"),
    ),
    measured(
        "pool-ipc",
        Value::Change(timed(WARRF, IPC), timed("sttram-sbw", IPC)),
        Rule::Direction,
        Some("DEV-053"),
    ),
    measured(
        "both-ipc",
        Value::Change(timed(WARRF, IPC), timed(STTRAM, IPC)),
        Rule::Direction,
        Some("DEV-053"),
    ),
    measured(
        "both-sram",
        Value::Change(timed(WARRF, IPC), timed(SRAM, IPC)),
        Rule::Within(5.0),
        Some("DEV-053"),
    ),
    measured(
        "both-writes",
        Value::Change(timed(WARRF, MRF_WRITES), timed(STTRAM, MRF_WRITES)),
        Rule::Direction,
        Some("DEV-053"),
    ),
    measured(
        "sttram-dynamic",
        Value::Points(timed(STTRAM, DYNAMIC), timed(SRAM, DYNAMIC)),
        Rule::Within(5.0),
        None,
    ),
    measured(
        "sttram-energy",
        Value::Points(timed(STTRAM, ENERGY_IN_TIME), timed(SRAM, ENERGY_IN_TIME)),
        Rule::Within(5.0),
        Some("DEV-050"),
    ),
    measured(
        "both-energy",
        Value::Points(timed(WARRF, ENERGY_IN_TIME), timed(SRAM, ENERGY_IN_TIME)),
        Rule::HalfToTwice,
        Some("DEV-053"),
    ),
    measured(
        "both-energy-bank",
        Value::Points(timed(AT_BANK, ENERGY_IN_TIME), timed(SRAM, ENERGY_IN_TIME)),
        Rule::HalfToTwice,
        Some("DEV-053"),
    ),
    measured(
        "both-over-sttram",
        Value::Change(timed(WARRF, ENERGY_IN_TIME), timed(STTRAM, ENERGY_IN_TIME)),
        Rule::Direction,
        Some("DEV-053"),
    ),
    measured(
        "both-over-sttram-bank",
        Value::Change(timed(AT_BANK, ENERGY_IN_TIME), timed(STTRAM, ENERGY_IN_TIME)),
        Rule::Direction,
        Some("DEV-053"),
    ),
    measured("both-edp", Value::Mean(timed(WARRF, DELAYED)), Rule::HalfToTwice, Some("DEV-053")),
    measured(
        "both-edp-bank",
        Value::Mean(timed(AT_BANK, DELAYED)),
        Rule::Within(5.0),
        Some("DEV-053"),
    ),
];
