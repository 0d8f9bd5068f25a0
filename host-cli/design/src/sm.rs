//! The SM of a design: what a machine gives, and what a design file changes.

use serde::Deserialize;
use strata_core::organisation::Scheduling;
use strata_core::sm::config::{
    ActiveLimitKind, BarrierRule, MAX_LATENCY, MAX_RESIDENT_CTAS, MAX_RESIDENT_WARPS,
    ReplacementRule, Scheduler, Schedulers, ShortWait, ShortWaits, SmConfigError, SmSettings,
    StorageKind, Timing, WarpReplacement,
};
use strata_core::sm::expansion::Threshold;

use super::checks::range;
use super::delivery;
use super::machine::Machine;
use strata_config::ConfigError;
use strata_config::by_name::ByName;

/// Warps that have entries.
pub(super) fn warps(scheduling: Scheduling, sm: &SmSettings) -> u8 {
    match scheduling {
        Scheduling::SingleLevel => sm.max_warps,
        Scheduling::TwoLevel { active_warps } => active_warps,
    }
}

/// The SM of a machine with a flat register file.
pub(super) fn of_machine(machine: &Machine) -> SmSettings {
    let base = match machine.name.as_str() {
        "dissertation" => SmSettings::DISSERTATION,
        "warrf-gtx480" => SmSettings::WARRF_GTX480,
        "micro12" | "diss-ch7" => SmSettings::MICRO12,
        "expars-gtx480" | "expars-maxwell" => {
            SmSettings { scheduler: Scheduler::LooseRoundRobin, ..SmSettings::WARRF_GTX480 }
        }
        _ => SmSettings::ISCA11,
    };
    let (sm, latency) = (&machine.sm, &machine.latency_cycles);
    let cycles = |cycles: u32| cycles.min(u32::from(u16::MAX)) as u16;
    SmSettings {
        issue_slots: sm.issue_slots,
        schedulers: sm.schedulers.map_or(base.schedulers, |by_name| by_name.0),
        max_warps: sm.warps.min(u32::from(u8::MAX)) as u8,
        max_ctas: sm.ctas.unwrap_or(base.max_ctas),
        register_file_bytes: sm.register_file_kb * 1024,
        shared_memory_bytes: sm.shared_memory_kb * 1024,
        timing: Timing {
            alu_latency: cycles(latency.alu),
            double_latency: cycles(latency.alu),
            branch_latency: cycles(latency.alu),
            special_function_latency: cycles(latency.sfu),
            shared_latency: cycles(latency.shared_memory),
            constant_latency: cycles(latency.shared_memory),
            texture_latency: cycles(latency.texture),
            dram_latency: cycles(latency.dram),
            shared_bytes_per_cycle: sm.shared_memory_bytes_per_cycle,
            dram_bytes_per_cycle: sm.dram_bytes_per_cycle,
            ..base.timing
        },
        ..base
    }
}

/// Tables of numbers: each key once, with its range, its unit, how many of the core's units one of
/// its own is, and where the core's settings keep it.
macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $table:literal {
            $($key:ident: $least:literal..=$most:expr, $unit:literal x $scale:literal
                => $($field:ident).+;)+
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Default, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(super) struct $name {
                $($key: Option<i64>,)+
            }

            impl $name {
                pub(super) fn apply(
                    &self,
                    file: &str,
                    sm: &mut SmSettings,
                ) -> Result<(), ConfigError> {
                    $(if let Some(value) = self.$key {
                        let fits = ($least..=i64::from($most)).contains(&value);
                        if !fits {
                            let key = concat!($table, ".", stringify!($key));
                            return Err(range(file, key, value, $least, $most.into(), $unit));
                        }
                        sm.$($field).+ = (value * $scale) as _;
                    })+
                    Ok(())
                }
            }
        )+

        /// Every number with its key and its value in a file's unit.
        fn numbers(sm: &SmSettings) -> Vec<(&'static str, u64)> {
            vec![$($((
                concat!($table, ".", stringify!($key)),
                u64::from(sm.$($field).+) / $scale,
            ),)+)+]
        }
    };
}

tables! {
    /// `[sm]`: how much there is of everything.
    SmTable "sm" {
        warps: 1..=MAX_RESIDENT_WARPS as u32, "warps" x 1 => max_warps;
        ctas: 1..=MAX_RESIDENT_CTAS as u32, "CTAs" x 1 => max_ctas;
        register_file_kb: 1..=4096_u32, "KB" x 1024 => register_file_bytes;
        shared_memory_kb: 0..=4096_u32, "KB" x 1024 => shared_memory_bytes;
        shared_memory_bytes_per_cycle: 1..=65_536_u32, "bytes in a cycle" x 1
            => timing.shared_bytes_per_cycle;
        dram_bytes_per_cycle: 1..=65_536_u32, "bytes in a cycle" x 1
            => timing.dram_bytes_per_cycle;
        double_lanes_per_cycle: 1..=32_u32, "lanes in a cycle" x 1 => timing.double_lanes;
        sfu_lanes_per_cycle: 1..=32_u32, "lanes in a cycle" x 1 => timing.special_function_lanes;
        texture_lanes_per_cycle: 1..=32_u32, "lanes in a cycle" x 1 => timing.texture_lanes;
        operand_window_cycles: 1..=8_u32, "cycles" x 1 => timing.operand_window;
    }
    /// `[latency_cycles]`: from issue to the earliest issue of what waits for it.
    LatencyTable "latency_cycles" {
        alu: 1..=MAX_LATENCY, "cycles" x 1 => timing.alu_latency;
        branch: 1..=MAX_LATENCY, "cycles" x 1 => timing.branch_latency;
        tag_check: 0..=MAX_LATENCY, "cycles" x 1 => timing.tag_check_cycles;
        double: 1..=MAX_LATENCY, "cycles" x 1 => timing.double_latency;
        sfu: 1..=MAX_LATENCY, "cycles" x 1 => timing.special_function_latency;
        shared_memory: 1..=MAX_LATENCY, "cycles" x 1 => timing.shared_latency;
        constant: 1..=MAX_LATENCY, "cycles" x 1 => timing.constant_latency;
        texture: 1..=MAX_LATENCY, "cycles" x 1 => timing.texture_latency;
        dram: 1..=MAX_LATENCY, "cycles" x 1 => timing.dram_latency;
        barrier: 1..=MAX_LATENCY, "cycles" x 1 => timing.barrier_latency;
    }
}

impl SmTable {
    /// A key that gives the size of storage, if the table has one.
    pub(super) fn divided_key(&self) -> Option<&'static str> {
        let registers = self.register_file_kb.map(|_| "sm.register_file_kb");
        registers.or(self.shared_memory_kb.map(|_| "sm.shared_memory_kb"))
    }

    /// The key of the bandwidth of DRAM, if the table has it.
    pub(super) fn dram_key(&self) -> Option<&'static str> {
        self.dram_bytes_per_cycle.map(|_| "sm.dram_bytes_per_cycle")
    }
}

impl LatencyTable {
    /// The key of the latency of DRAM, if the table has it.
    pub(super) fn dram_key(&self) -> Option<&'static str> {
        self.dram.map(|_| "latency_cycles.dram")
    }

    /// The table with what no machine prints filled in as the machines do it: branches and double
    /// precision take what the ALUs take, constants what shared memory takes.
    pub(super) fn completed(mut self) -> Self {
        self.branch = self.branch.or(self.alu);
        self.double = self.double.or(self.alu);
        self.constant = self.constant.or(self.shared_memory);
        self
    }
}

/// What a design file says about scheduling in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    pub(super) scheduler: Option<Scheduler>,
    pub(super) issue_slots: Option<i64>,
    pub(super) schedulers: Option<Schedulers>,
    pub(super) replacement: Option<ReplacementRule>,
    pub(super) threshold: Option<i64>,
    pub(super) also_leaves_for: Option<ShortWaits>,
    pub(super) barrier: Option<BarrierRule>,
    pub(super) active_limit: Option<ActiveLimitKind>,
    /// Whether the design has a data cache that loads can hit.
    pub(super) data_cache: bool,
}

impl Rules {
    pub(super) fn apply(&self, file: &str, sm: &mut SmSettings) -> Result<(), ConfigError> {
        sm.scheduler = self.scheduler.unwrap_or(sm.scheduler);
        if let Some(slots) = self.issue_slots {
            if !(1..=2).contains(&slots) {
                return Err(range(file, "issue_slots", slots, 1, 2, "instructions in a cycle"));
            }
            sm.issue_slots = slots as u8;
            if slots == 1 {
                sm.schedulers = Schedulers::Shared;
            }
        }
        sm.schedulers = self.schedulers.unwrap_or(sm.schedulers);
        sm.barrier = self.barrier.unwrap_or(sm.barrier);
        sm.active_limit = self.active_limit.unwrap_or(sm.active_limit);
        sm.short_waits = self.also_leaves_for.unwrap_or(sm.short_waits);
        self.replacement(file, sm)
    }

    fn replacement(&self, file: &str, sm: &mut SmSettings) -> Result<(), ConfigError> {
        let wrong = |problem: &str, hint: &str| ConfigError::Combination {
            file: file.to_owned(),
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        };
        match (self.replacement, self.threshold) {
            (None | Some(ReplacementRule::Preemptive), None) => {}
            (Some(ReplacementRule::Reactive), Some(cycles)) => {
                let most = u32::from(MAX_LATENCY);
                if !(1..=i64::from(most)).contains(&cycles) {
                    let key = "reactive_threshold_cycles";
                    return Err(range(file, key, cycles, 1, most, "cycles"));
                }
                sm.replacement = WarpReplacement::Reactive { threshold: cycles as u16 };
            }
            (Some(ReplacementRule::Reactive), None) => {
                return Err(wrong(
                    "`replacement = \"reactive\"` does not say how long a warp waits",
                    "add for example `reactive_threshold_cycles = 20`",
                ));
            }
            (Some(ReplacementRule::CacheMiss), None) if self.data_cache => {
                sm.replacement = WarpReplacement::CacheMiss;
            }
            (Some(ReplacementRule::CacheMiss), None) => {
                return Err(wrong(
                    "`replacement = \"cache-miss\"` needs to know which loads hit, but the design \
                     has no data cache: every access to global memory goes to DRAM",
                    "give it a `[data_cache]`, or use `preemptive` or `reactive`",
                ));
            }
            (None | Some(ReplacementRule::Preemptive | ReplacementRule::CacheMiss), Some(_)) => {
                return Err(wrong(
                    "`reactive_threshold_cycles` has no meaning without reactive replacement",
                    "remove it, or set `replacement = \"reactive\"`",
                ));
            }
        }
        Ok(())
    }
}

/// An SM that cannot be, of a design whose numbers are each in range.
pub(super) fn refuse(error: SmConfigError, origin: &str) -> ConfigError {
    let hint = match error {
        SmConfigError::NeedsTwoLevel => {
            "set `scheduling = \"two-level\"`, or remove `replacement`, \
             `also_leaves_for`, `barrier` and `active_limit`"
        }
        SmConfigError::LeavesMidStrand => {
            "remove `replacement` and `also_leaves_for`, or give the design a register file cache"
        }
        SmConfigError::Collectors { .. } => {
            "give other values in `[collectors]`, or another technology: the cycles of an access \
             follow from its latency"
        }
        SmConfigError::OneScheduler => {
            "set `issue_slots = 2` as well, or `schedulers = \"shared\"`"
        }
        SmConfigError::ShorterThanCollection(_) => "raise it in `[latency_cycles]`",
        SmConfigError::Expansion { .. } => {
            "set `manager = \"partitioned\"` or \"warpman\" in `[registers]`, or start from a base \
             such as `expars-lrr`"
        }
        SmConfigError::ActiveWarps { .. } => "lower `active_warps`, or raise `sm.warps`",
        _ => "`strata designs --help` lists the keys with their ranges",
    };
    ConfigError::Combination {
        file: origin.to_owned(),
        problem: error.to_string(),
        hint: hint.to_owned(),
    }
}

/// A rule of replacement in words.
fn replacement_name(replacement: WarpReplacement) -> String {
    let rule = replacement.rule().name();
    match replacement {
        WarpReplacement::Reactive { threshold } => format!("{rule} after {threshold} cycles"),
        WarpReplacement::Preemptive | WarpReplacement::CacheMiss => rule.to_owned(),
    }
}

/// The names that a design file uses for short waits.
fn short_wait_names(waits: ShortWaits) -> String {
    let names: Vec<_> = waits.each().map(ShortWait::name).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// What distinguishes an SM whose warps leave the active set by other rules, or issue in pairs.
pub(super) fn axes(sm: &SmSettings) -> Vec<(&'static str, String)> {
    let mut axes = Vec::new();
    if sm.issue_slots != 1 {
        axes.push(("issue slots", sm.issue_slots.to_string()));
    }
    if sm.schedulers != Schedulers::Shared {
        axes.push(("schedulers", sm.schedulers.name().to_owned()));
    }
    if sm.replacement != WarpReplacement::default() {
        axes.push(("replacement", replacement_name(sm.replacement)));
    }
    if !sm.short_waits.is_empty() {
        axes.push(("also leaves for", short_wait_names(sm.short_waits)));
    }
    if sm.barrier != BarrierRule::default() {
        axes.push(("leaves at barriers", sm.barrier.name().to_owned()));
    }
    if sm.active_limit != ActiveLimitKind::Constant {
        axes.push(("active limit", sm.active_limit.name().to_owned()));
    }
    match sm.storage {
        StorageKind::Partitioned => {}
        StorageKind::Warpman => axes.push(("registers", "warp by warp (Warpman)".to_owned())),
        StorageKind::Expars => axes.push((
            "registers",
            format!("expand into scratchpad memory (EXPARS), at most {}", share(sm.threshold)),
        )),
    }
    axes
}

/// A share of registers, in percent.
fn share(threshold: Threshold) -> String {
    let (numerator, denominator) = threshold.parts();
    format!("{} %", 100.0 * f64::from(numerator) / f64::from(denominator))
}

/// `[registers]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegistersTable {
    manager: Option<ByName<StorageKind>>,
    scratchpad_percent: Option<i64>,
    sorted: Option<bool>,
}

impl RegistersTable {
    /// Whether registers are sorted in every launch.
    pub(super) fn sorted(&self) -> bool {
        self.sorted.unwrap_or(false)
    }

    pub(super) fn apply(&self, file: &str, sm: &mut SmSettings) -> Result<(), ConfigError> {
        sm.storage = self.manager.map_or(sm.storage, |manager| manager.0);
        let Some(percent) = self.scratchpad_percent else { return Ok(()) };
        let threshold = u16::try_from(percent).ok().and_then(|some| Threshold::new(some, 100));
        let key = "registers.scratchpad_percent";
        sm.threshold = threshold.ok_or_else(|| range(file, key, percent, 1, 99, "percent"))?;
        Ok(())
    }
}

/// Every parameter of an SM, by the key of a design file and its value.
pub(super) fn parameters(sm: &SmSettings) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("scheduler", sm.scheduler.name().to_owned()),
        ("issue_slots", sm.issue_slots.to_string()),
        ("schedulers", sm.schedulers.name().to_owned()),
        ("replacement", replacement_name(sm.replacement)),
        ("also_leaves_for", short_wait_names(sm.short_waits)),
        ("barrier", sm.barrier.name().to_owned()),
        ("active_limit", sm.active_limit.name().to_owned()),
        ("registers.manager", sm.storage.name().to_owned()),
        ("registers.scratchpad_percent", share(sm.threshold)),
    ];
    all.extend(delivery::parameters(sm.operand_delivery));
    all.extend(numbers(sm).into_iter().map(|(key, value)| (key, value.to_string())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{self as design, machines};

    #[test]
    fn the_machines_tables_are_the_core_s_settings() {
        for (name, settings) in [
            ("isca11", SmSettings::ISCA11),
            ("dissertation", SmSettings::DISSERTATION),
            ("warrf-gtx480", SmSettings::WARRF_GTX480),
            ("micro12-flat", SmSettings::MICRO12),
            ("diss-ch7-flat", SmSettings::MICRO12),
        ] {
            assert_eq!(design::resolve(name).unwrap().sm, settings, "{name}");
        }
        assert_eq!(machines().len(), 7);
    }
}
