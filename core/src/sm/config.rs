//! What an SM is made of: limits, units, schedulers; and how many CTAs of a kernel fit.

pub use super::active_limit::ActiveLimitKind;
use super::expansion::hardware::OTHER_BANKS;
use super::expansion::{Capacity, CtaNeeds, Occupancy, Split, Threshold};
pub use super::memory::MemoryKind;
use super::operand_delivery::{
    COLLECTOR_CYCLES, CollectorSettings, MAX_ACCESS_CYCLES, MAX_COLLECTOR_UNITS, MAX_FIXED_BANKS,
    OperandDelivery,
};
use super::partition::Limits;
pub use super::policies::{
    BarrierRule, ReplacementRule, Scheduler, Schedulers, ShortWait, ShortWaits, WarpReplacement,
};
use super::residency::most_ctas;
pub use super::residency::{CtaTooLarge, Launch, Limit, MAX_RESIDENT_CTAS, Residency};
pub use super::storage::StorageKind;
pub use super::timing::{MAX_LATENCY, Timing};
use crate::arbiter::BankPorts;
use crate::bank_layout::BankLayout;
use crate::organisation::{Organisation, Scheduling};
use crate::split_bank_write::MAX_BANKS;
use crate::units::LANES;
pub use crate::units::MAX_RESIDENT_WARPS;
use crate::write_pool::{MAX_ACCESSES, MAX_ENTRIES};

/// What an SM is made of, before it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmSettings {
    /// Register file cache and levels of scheduling.
    pub organisation: Organisation,
    /// How operands come from the main register file to the units.
    pub operand_delivery: OperandDelivery,
    /// Which warp issues.
    pub scheduler: Scheduler,
    /// When a warp leaves the active set to wait for data; with two-level scheduling only.
    pub replacement: WarpReplacement,
    /// Shorter waits for which it leaves as well; with two-level scheduling only.
    pub short_waits: ShortWaits,
    /// When a barrier makes a warp leave the active set; with two-level scheduling only.
    pub barrier: BarrierRule,
    /// Instructions that issue in a cycle, from different warps. Range: `1..=2`.
    pub issue_slots: u8,
    /// Which warps a slot chooses among; with two slots only.
    pub schedulers: Schedulers,
    /// Most resident warps. Range: `1..=MAX_RESIDENT_WARPS`.
    pub max_warps: u8,
    /// Most resident CTAs. Range: `1..=MAX_RESIDENT_CTAS`.
    pub max_ctas: u8,
    /// The main register file. Unit: bytes. Range: from 128.
    pub register_file_bytes: u32,
    /// Shared memory. Unit: bytes.
    pub shared_memory_bytes: u32,
    /// The memory behind the SM.
    pub memory: MemoryKind,
    /// How registers, shared memory and warp slots are shared out.
    pub storage: StorageKind,
    /// Most registers of a CTA in scratchpad memory, with [`StorageKind::Expars`].
    pub threshold: Threshold,
    /// What limits the active warps.
    pub active_limit: ActiveLimitKind,
    /// Latencies and throughputs.
    pub timing: Timing,
}

impl SmSettings {
    /// The SRAM baseline of `[WARRF]`: Table I, with two-level scheduling over 8 active warps. Not
    /// stated there, so assumed: latencies and units as in [`Timing::ISCA11`], the 48 warps and 8
    /// CTAs of Fermi, and of the GTX 480's 177 GB/s a fifteenth at 0.7 GHz, in whole sectors of 32
    /// bytes every two cycles.
    pub const WARRF_GTX480: Self = Self {
        organisation: Organisation::FLAT_TWO_LEVEL,
        operand_delivery: OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM),
        max_warps: 48,
        shared_memory_bytes: 48 * 1024,
        timing: Timing { dram_bytes_per_cycle: 16, ..Timing::ISCA11 },
        ..Self::ISCA11
    };

    /// The flat baseline of `[RFC2011]`: Table 4 and section 2.1; 8 CTAs are Fermi's limit.
    pub const ISCA11: Self = Self {
        organisation: Organisation::FLAT,
        operand_delivery: OperandDelivery::FOUR_BANKS,
        scheduler: Scheduler::Greedy,
        replacement: WarpReplacement::Preemptive,
        short_waits: ShortWaits::empty(),
        barrier: BarrierRule::Always,
        issue_slots: 1,
        schedulers: Schedulers::Shared,
        max_warps: 32,
        max_ctas: 8,
        register_file_bytes: 128 * 1024,
        shared_memory_bytes: 32 * 1024,
        memory: MemoryKind::FixedLatency,
        storage: StorageKind::Partitioned,
        threshold: Threshold::PAPER,
        active_limit: ActiveLimitKind::Constant,
        timing: Timing::ISCA11,
    };

    /// The flat baseline of `[DISS]`: Table 4.4 and section 2.4.
    pub const DISSERTATION: Self =
        Self { shared_memory_bytes: 64 * 1024, timing: Timing::DISSERTATION, ..Self::ISCA11 };

    /// The SM of `[MICRO2012]`, Table 2, and of `[DISS]` chapter 7, with a flat register file and
    /// two-level scheduling. No source prints a limit of CTAs (DEV-081).
    pub const MICRO12: Self = Self {
        organisation: Organisation::FLAT_TWO_LEVEL,
        max_ctas: MAX_RESIDENT_CTAS as u8,
        register_file_bytes: 256 * 1024,
        timing: Timing::MICRO12,
        ..Self::DISSERTATION
    };
}

/// A register of a warp: 32 bits of each lane.
const REGISTER_BYTES: u64 = LANES as u64 * 4;

impl SmSettings {
    /// The smallest register file in which so many warps with so many registers are resident. Unit:
    /// bytes.
    pub fn register_file_for(&self, warps: u32, registers: u16) -> u32 {
        warps * self.registers(registers).0 * REGISTER_BYTES as u32
    }

    /// What a warp with so many registers takes of the register file, in registers; and how much of
    /// the register file warps can take, in bytes.
    fn registers(&self, registers: u16) -> (u32, u64) {
        match self.operand_delivery {
            OperandDelivery::FixedLatency { .. } => {
                (u32::from(registers), u64::from(self.register_file_bytes))
            }
            OperandDelivery::Collectors(CollectorSettings { banks, bank_layout, .. }) => {
                let all = self.register_file_bytes / REGISTER_BYTES as u32;
                let available = u64::from(bank_layout.available(banks, all)) * REGISTER_BYTES;
                (bank_layout.taken(banks, registers), available)
            }
        }
    }
}

impl SmSettings {
    /// Whether its storage can stand beside the other parts.
    fn check_storage(&self) -> Result<(), SmConfigError> {
        let refuse = |beside| Err(SmConfigError::Expansion { beside });
        match (self.storage, self.operand_delivery) {
            (StorageKind::Partitioned | StorageKind::Warpman, _) => Ok(()),
            (StorageKind::Expars, OperandDelivery::FixedLatency { .. }) => {
                refuse("operands of fixed latency: its bank arbitrator finds them by their place")
            }
            (StorageKind::Expars, OperandDelivery::Collectors(collectors)) => {
                if collectors.bank_layout == BankLayout::WarpSkewed {
                    return refuse(
                        "warps that take whole rows of the banks: lay registers out linearly",
                    );
                }
                if self.organisation.levels().is_compiler_managed() {
                    return refuse(
                        "a compiler-managed hierarchy, whose compiler would have to know of both",
                    );
                }
                if collectors.banks + OTHER_BANKS > collectors.most_banks() {
                    return refuse(
                        "so many banks: those of the operand cache come beside them, and the \
                         arbiter has 32 ports",
                    );
                }
                if collectors.split_bank_write || collectors.write_pool_entries != 0 {
                    return refuse("split bank writes or a write pool");
                }
                Ok(())
            }
        }
    }
}

/// Settings that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmConfigError {
    /// Neither one nor two issue slots.
    IssueSlots(u8),
    /// A scheduler for each slot, and one slot.
    OneScheduler,
    /// Resident warps outside `1..=MAX_RESIDENT_WARPS`.
    Warps(u8),
    /// Resident CTAs outside `1..=MAX_RESIDENT_CTAS`.
    Ctas(u8),
    /// Less than one warp-wide register.
    RegisterFile(u32),
    /// A latency outside `1..=MAX_LATENCY`.
    Latency(u16),
    /// A unit that starts no lane, or more than a warp has, in a cycle.
    UnitLanes(u8),
    /// A memory without bandwidth.
    Bandwidth,
    /// An operand window outside `1..=8`.
    OperandWindow(u8),
    /// A reactive threshold of no cycles.
    Threshold,
    /// A rule about leaving the active set with a scheduler of one level.
    NeedsTwoLevel,
    /// A rule by which a warp leaves the active set within a strand, where a compiler-managed
    /// hierarchy still holds values that are nowhere else.
    LeavesMidStrand,
    /// A number of the operand collectors, of their banks or of the write pool out of its range.
    Collectors {
        /// Which.
        what: &'static str,
        /// The number.
        value: u8,
        /// Least.
        least: u8,
        /// Most.
        most: u8,
    },
    /// A latency too short to have an operand collected and a result written within it.
    ShorterThanCollection(u16),
    /// A storage whose registers lie in two places, and something that it cannot stand beside.
    Expansion {
        /// What it cannot stand beside.
        beside: &'static str,
    },
    /// Banks of a main register file without collectors that are no power of two up to
    /// [`MAX_FIXED_BANKS`].
    FixedBanks(u8),
    /// An active set with places for more warps than can be resident.
    ActiveWarps {
        /// Places.
        active: u8,
        /// Resident warps.
        resident: u8,
    },
}

impl core::fmt::Display for SmConfigError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::IssueSlots(slots) => write!(to, "{slots} issue slots are neither 1 nor 2"),
            Self::OneScheduler => {
                to.write_str("two schedulers, each with half of the warps, need two issue slots")
            }
            Self::Warps(warps) => {
                write!(to, "{warps} warps are outside the range 1 to {MAX_RESIDENT_WARPS}")
            }
            Self::Ctas(ctas) => {
                write!(to, "{ctas} CTAs are outside the range 1 to {MAX_RESIDENT_CTAS}")
            }
            Self::RegisterFile(bytes) => {
                write!(to, "a register file of {bytes} bytes holds no register of a warp")
            }
            Self::Latency(cycles) => {
                write!(to, "a latency of {cycles} cycles is outside the range 1 to {MAX_LATENCY}")
            }
            Self::UnitLanes(lanes) => {
                write!(to, "{lanes} lanes in a cycle are outside the range 1 to {LANES}")
            }
            Self::Bandwidth => {
                to.write_str("a memory needs a bandwidth of at least 1 byte a cycle")
            }
            Self::OperandWindow(cycles) => {
                write!(to, "an operand window of {cycles} cycles is outside the range 1 to 8")
            }
            Self::Threshold => to.write_str("a warp waits at least 1 cycle before it is replaced"),
            Self::NeedsTwoLevel => to.write_str(
                "rules for leaving the active set need two-level scheduling: with one level every \
                 warp stays",
            ),
            Self::LeavesMidStrand => to.write_str(
                "a warp with a compiler-managed hierarchy leaves the active set where its compiler \
                 says, and nowhere else: its values are lost otherwise",
            ),
            Self::Collectors { what, value, least, most } => {
                write!(to, "{value} {what} are outside the range {least} to {most}")
            }
            Self::ShorterThanCollection(cycles) => write!(
                to,
                "a latency of {cycles} cycles is too short for operand collectors, which take \
                 {COLLECTOR_CYCLES} to read an operand, start and write the result"
            ),
            Self::Expansion { beside } => {
                write!(to, "registers in scratchpad memory do not go together with {beside}")
            }
            Self::FixedBanks(banks) => write!(
                to,
                "{banks} banks are no power of two from 1 to {MAX_FIXED_BANKS}, which a main \
                 register file without operand collectors needs"
            ),
            Self::ActiveWarps { active, resident } => {
                write!(to, "{active} warps cannot be active where only {resident} are resident")
            }
        }
    }
}

impl core::error::Error for SmConfigError {}

impl CollectorSettings {
    /// Most banks that the arbiter has ports for.
    const fn most_banks(&self) -> u8 {
        match self.bank_ports {
            BankPorts::One => MAX_BANKS as u8,
            BankPorts::ReadAndWrite => MAX_BANKS as u8 / 2,
        }
    }

    fn check(self, timing: &Timing) -> Result<(), SmConfigError> {
        for (what, value, least, most) in [
            ("collector units", self.units, 1, MAX_COLLECTOR_UNITS as u8),
            ("banks", self.banks, 1, self.most_banks()),
            ("cycles of a read", self.read_cycles, 1, MAX_ACCESS_CYCLES),
            ("cycles of a write", self.write_cycles, 1, MAX_ACCESS_CYCLES),
            ("write pool entries", self.write_pool_entries, 0, MAX_ENTRIES as u8),
            ("accesses of the write pool", self.write_pool_ports.writes(), 1, MAX_ACCESSES),
        ] {
            if !(least..=most).contains(&value) {
                return Err(SmConfigError::Collectors { what, value, least, most });
            }
        }
        let too_short = timing.collected().into_iter().find(|&latency| latency <= COLLECTOR_CYCLES);
        too_short.map_or(Ok(()), |latency| Err(SmConfigError::ShorterThanCollection(latency)))
    }
}

/// What an SM is made of: settings that were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmConfig(SmSettings);

impl SmConfig {
    /// Checks settings.
    pub fn new(settings: SmSettings) -> Result<Self, SmConfigError> {
        if !(1..=2).contains(&settings.issue_slots) {
            return Err(SmConfigError::IssueSlots(settings.issue_slots));
        }
        if settings.issue_slots == 1 && settings.schedulers != Schedulers::Shared {
            return Err(SmConfigError::OneScheduler);
        }
        if !(1..=MAX_RESIDENT_WARPS).contains(&usize::from(settings.max_warps)) {
            return Err(SmConfigError::Warps(settings.max_warps));
        }
        if !(1..=MAX_RESIDENT_CTAS).contains(&usize::from(settings.max_ctas)) {
            return Err(SmConfigError::Ctas(settings.max_ctas));
        }
        if settings.register_file_bytes < LANES * 4 {
            return Err(SmConfigError::RegisterFile(settings.register_file_bytes));
        }
        let timing = &settings.timing;
        let fits = |latency: &u16| (1..=MAX_LATENCY).contains(latency);
        if let Some(&latency) = timing.latencies().iter().find(|latency| !fits(latency)) {
            return Err(SmConfigError::Latency(latency));
        }
        if timing.tag_check_cycles > MAX_LATENCY {
            return Err(SmConfigError::Latency(timing.tag_check_cycles));
        }
        let lanes = [timing.double_lanes, timing.special_function_lanes, timing.texture_lanes];
        if let Some(&lanes) = lanes.iter().find(|&&lanes| lanes == 0 || u32::from(lanes) > LANES) {
            return Err(SmConfigError::UnitLanes(lanes));
        }
        if timing.shared_bytes_per_cycle == 0 || timing.dram_bytes_per_cycle == 0 {
            return Err(SmConfigError::Bandwidth);
        }
        if !(1..=8).contains(&timing.operand_window) {
            return Err(SmConfigError::OperandWindow(timing.operand_window));
        }
        if settings.replacement == (WarpReplacement::Reactive { threshold: 0 }) {
            return Err(SmConfigError::Threshold);
        }
        let one_level =
            matches!(settings.organisation.settings().scheduling, Scheduling::SingleLevel);
        let rules = settings.active_limit != ActiveLimitKind::Constant
            || settings.replacement != WarpReplacement::Preemptive
            || !settings.short_waits.is_empty()
            || settings.barrier != BarrierRule::Always;
        if one_level && rules {
            return Err(SmConfigError::NeedsTwoLevel);
        }
        let elsewhere =
            settings.replacement != WarpReplacement::Preemptive || !settings.short_waits.is_empty();
        if settings.organisation.levels().is_compiler_managed() && elsewhere {
            return Err(SmConfigError::LeavesMidStrand);
        }
        match settings.operand_delivery {
            OperandDelivery::Collectors(collectors) => collectors.check(timing)?,
            OperandDelivery::FixedLatency { banks } => {
                if !banks.is_power_of_two() || usize::from(banks) > MAX_FIXED_BANKS {
                    return Err(SmConfigError::FixedBanks(banks));
                }
            }
        }
        settings.check_storage()?;
        if let Scheduling::TwoLevel { active_warps } = settings.organisation.settings().scheduling
            && active_warps > settings.max_warps
        {
            let resident = settings.max_warps;
            return Err(SmConfigError::ActiveWarps { active: active_warps, resident });
        }
        Ok(Self(settings))
    }

    /// The settings.
    pub const fn settings(&self) -> &SmSettings {
        &self.0
    }

    /// Banks of a main register file without collectors; of one with collectors, any number.
    pub(crate) const fn fixed_banks(&self) -> u8 {
        match self.0.operand_delivery {
            OperandDelivery::FixedLatency { banks } => banks,
            OperandDelivery::Collectors(_) => 1,
        }
    }

    /// Warps that can be active at a time.
    pub(crate) const fn active_warps(&self) -> usize {
        match self.0.organisation.settings().scheduling {
            Scheduling::SingleLevel => self.0.max_warps as usize,
            Scheduling::TwoLevel { active_warps } => active_warps as usize,
        }
    }

    /// Places of the active set. Warps that wait for registers from scratchpad memory take one and
    /// do not count as active, so that there is one for each resident warp; but levels above the
    /// main register file are those of a place.
    pub(crate) fn places(&self) -> usize {
        let expands = self.0.storage == StorageKind::Expars;
        if expands && self.0.organisation.levels().cache().is_none() {
            return usize::from(self.0.max_warps);
        }
        self.active_warps()
    }

    /// True when a warp may leave the active set because it waits, wherever marks are.
    pub(crate) fn leaves_while_waiting(&self) -> bool {
        self.two_level()
            && (self.0.replacement != WarpReplacement::Preemptive || !self.0.short_waits.is_empty())
    }

    /// True when only some warps are active.
    pub(crate) const fn two_level(&self) -> bool {
        matches!(self.0.organisation.settings().scheduling, Scheduling::TwoLevel { .. })
    }
}

impl SmConfig {
    /// How many CTAs of a launch are resident at a time.
    ///
    /// # Errors
    /// Not even one CTA fits, with all its registers in the register file.
    pub fn residency(&self, launch: &Launch) -> Result<Residency, CtaTooLarge> {
        let whole = self.whole_ctas(launch)?;
        let (capacity, needs) = self.expansion(launch);
        match self.0.storage {
            StorageKind::Partitioned => Ok(whole),
            StorageKind::Warpman => {
                let Occupancy { ctas, warps, .. } = capacity.warpman(&needs)?;
                Ok(Residency { ctas, warps, ..whole })
            }
            StorageKind::Expars => {
                let Some(split) = self.split(launch)? else { return Ok(whole) };
                let (ctas, warps) = (split.ctas(), split.ctas() * needs.warps());
                Ok(Residency { ctas, warps, ..whole })
            }
        }
    }

    /// The CTAs of a launch that are whole and those that have registers in scratchpad memory; none
    /// if no CTA is gained, or on any other SM than one with [`StorageKind::Expars`].
    ///
    /// # Errors
    /// Not even one CTA fits, with all its registers in the register file.
    pub fn split(&self, launch: &Launch) -> Result<Option<Split>, CtaTooLarge> {
        if self.0.storage != StorageKind::Expars {
            return Ok(None);
        }
        let (capacity, needs) = self.expansion(launch);
        capacity.vertical(&needs, self.0.threshold)
    }

    /// The SM and a CTA of a launch, as [`expansion`](super::expansion) sees them.
    fn expansion(&self, launch: &Launch) -> (Capacity, CtaNeeds) {
        let settings = &self.0;
        let warps = u32::from(settings.max_warps);
        let limits = Limits { threads: warps * LANES, warps, ctas: Some(settings.max_ctas.into()) };
        let (taken, register_file) = settings.registers(launch.registers);
        let capacity = Capacity {
            limits,
            registers: (register_file / 4) as u32,
            scratchpad_bytes: settings.shared_memory_bytes,
            most_registers: launch.registers,
        };
        let warps_per_cta = launch.warps_per_cta.max(1);
        let threads = warps_per_cta.saturating_mul(LANES);
        let registers = threads.saturating_mul(taken);
        (capacity, CtaNeeds { threads, registers, scratchpad_bytes: launch.shared_bytes })
    }

    /// How many CTAs of a launch are resident at a time with all their registers in the register
    /// file.
    fn whole_ctas(&self, launch: &Launch) -> Result<Residency, CtaTooLarge> {
        let settings = &self.0;
        let warps = u64::from(launch.warps_per_cta.max(1));
        let (taken, register_file) = settings.registers(launch.registers);
        let registers = warps * u64::from(taken) * REGISTER_BYTES;
        let (ctas, binding) = most_ctas(&[
            (Limit::Warps, warps, settings.max_warps.into()),
            (Limit::Ctas, 1, settings.max_ctas.into()),
            (Limit::Registers, registers, register_file),
            (Limit::SharedMemory, launch.shared_bytes.into(), settings.shared_memory_bytes.into()),
        ])?;
        let warps = ctas * warps as u32;
        let empty_registers = warps * (taken - u32::from(launch.registers));
        Ok(Residency { ctas, warps, limit: binding, empty_registers })
    }
}
