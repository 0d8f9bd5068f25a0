//! Operand delivery: how operands come from the banks of the main register file to the units, and
//! results back, before it is checked.
//!
//! Source: `[RFC2011]` 2.1 for reads of fixed latency, `[WARRF]` 2.1, 3 and 4 for collectors, split
//! bank writes and the write pool.

use crate::arbiter::BankPorts;
use crate::bank_layout::BankLayout;
use crate::named;
use crate::write_pool::PoolPorts;

/// Most banks of a main register file without collectors.
pub const MAX_FIXED_BANKS: usize = 8;
/// Most collector units.
pub const MAX_COLLECTOR_UNITS: usize = 32;
/// Longest access of a bank. Unit: cycles.
pub const MAX_ACCESS_CYCLES: u8 = 32;
/// Cycles of an instruction between issue and the end of its result's write that it spends outside
/// its unit, when no other delays it: it reads an operand, starts, and writes.
pub const COLLECTOR_CYCLES: u16 = 3;

named! {
    /// How operands come from the main register file to the units, without the parameters: see
    /// [`OperandDelivery`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DeliveryKind {
        /// In a window of cycles from issue on.
        FixedLatency = "fixed-latency",
        /// Through operand collectors and an arbiter.
        Collectors = "collectors",
    }
}

/// How operands come from the main register file to the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandDelivery {
    /// In a window of cycles from issue on, over logical banks with a read and a write a cycle
    /// each; everything is decided at issue.
    FixedLatency {
        /// Logical banks: a warp operand uses the same bank in all clusters. Registers are
        /// interleaved over them. Range: a power of two, at most [`MAX_FIXED_BANKS`].
        banks: u8,
    },
    /// Through operand collectors and an arbiter, over banks of one port.
    Collectors(CollectorSettings),
}

impl Default for OperandDelivery {
    fn default() -> Self {
        Self::FOUR_BANKS
    }
}

impl OperandDelivery {
    /// The 4 logical banks of `[RFC2011]` 2.1.
    pub const FOUR_BANKS: Self = Self::FixedLatency { banks: 4 };

    /// The way without its parameters, which has a name.
    pub const fn kind(self) -> DeliveryKind {
        match self {
            Self::FixedLatency { .. } => DeliveryKind::FixedLatency,
            Self::Collectors(_) => DeliveryKind::Collectors,
        }
    }
}

/// Operand collectors, arbiter and the banks behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectorSettings {
    /// Collector units; each holds an instruction from its issue to the start of its execution.
    /// Range: `1..=MAX_COLLECTOR_UNITS`.
    pub units: u8,
    /// Banks of the main register file, a warp-wide register wide. Range:
    /// `1..=split_bank_write::MAX_BANKS`.
    pub banks: u8,
    /// What each of them does at a time.
    pub bank_ports: BankPorts,
    /// Where registers lie in them.
    pub bank_layout: BankLayout,
    /// Cycles for which a read takes its bank. Range: `1..=MAX_ACCESS_CYCLES`.
    pub read_cycles: u8,
    /// Cycles for which a write takes its bank. Range: `1..=MAX_ACCESS_CYCLES`.
    pub write_cycles: u8,
    /// A read and a write of one bank may overlap where they are in different subarrays.
    pub split_bank_write: bool,
    /// Entries of the write pool; 0 without one. Range:
    /// `0..=write_pool::MAX_ENTRIES`.
    pub write_pool_entries: u8,
    /// What the write pool does in a cycle.
    pub write_pool_ports: PoolPorts,
}

impl CollectorSettings {
    /// `[WARRF]` Table I: 16 banks, SRAM with reads and writes of one cycle. The number of units is
    /// not stated there: as many as banks.
    pub const WARRF_SRAM: Self = Self {
        units: 16,
        banks: 16,
        bank_ports: BankPorts::One,
        bank_layout: BankLayout::WarpSkewed,
        read_cycles: 1,
        write_cycles: 1,
        split_bank_write: false,
        write_pool_entries: 0,
        write_pool_ports: PoolPorts::OneReadOneWrite,
    };
}
