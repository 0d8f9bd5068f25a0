//! What an arbiter serves, and which configurations are refused.

use crate::bank_layout::BankLayout;
use crate::split_bank_write::MAX_BANKS;
use crate::write_pool::{PoolPorts, PoolTooLarge};

/// What an arbiter serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArbiterConfig {
    /// Banks. Range: `1..=MAX_BANKS`.
    pub banks: u8,
    /// Where registers lie in them.
    pub bank_layout: BankLayout,
    /// Cycles of a read. At least 1.
    pub read_cycles: u8,
    /// Cycles of a write. At least 1.
    pub write_cycles: u8,
    /// A read and a write of one bank may overlap in different subarrays.
    pub split_bank_write: bool,
    /// Entries of the write pool; 0 without one. Range: `0..=MAX_ENTRIES`.
    pub write_pool_entries: u8,
    /// What the write pool does in a cycle; at least one access.
    pub write_pool_ports: PoolPorts,
    /// Registers of each warp. At least 1.
    pub registers_per_warp: u16,
}

/// Why an arbiter cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArbiterError {
    /// Banks outside `1..=MAX_BANKS`.
    Banks(u8),
    /// Warps without a register.
    NoRegisters,
    /// A write pool of more entries than fit.
    WritePool(PoolTooLarge),
}

impl core::fmt::Display for ArbiterError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Banks(banks) => {
                write!(to, "{banks} banks are outside the range 1 to {MAX_BANKS}")
            }
            Self::NoRegisters => to.write_str("warps without registers have none to read or write"),
            Self::WritePool(error) => error.fmt(to),
        }
    }
}

impl core::error::Error for ArbiterError {}

impl ArbiterConfig {
    /// The checks before registers are laid out.
    pub(super) fn check(&self) -> Result<(), ArbiterError> {
        if !(1..=MAX_BANKS).contains(&usize::from(self.banks)) {
            return Err(ArbiterError::Banks(self.banks));
        }
        if self.registers_per_warp == 0 {
            return Err(ArbiterError::NoRegisters);
        }
        Ok(())
    }
}
