//! What an arbiter serves, and which configurations are refused.

use crate::bank_layout::BankLayout;
use crate::named;
use crate::split_bank_write::MAX_BANKS;
use crate::write_pool::{PoolPorts, PoolTooLarge};

named! {
    /// What a bank without subarrays does at a time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum BankPorts {
        /// A read or a write.
        #[default]
        One = "one",
        /// A read and a write, in any of its rows.
        ReadAndWrite = "read-and-write",
    }
}

/// What an arbiter serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArbiterConfig {
    /// Banks. Range: `1..=MAX_BANKS`.
    pub banks: u8,
    /// Banks behind those, of other memories, that registers can be [moved] to; their accesses take
    /// a cycle.
    ///
    /// [moved]: super::Arbiter::move_register
    pub other_banks: u8,
    /// Where registers lie in the first ones.
    pub bank_layout: BankLayout,
    /// Cycles of a read. At least 1.
    pub read_cycles: u8,
    /// Cycles of a write. At least 1.
    pub write_cycles: u8,
    /// What a bank does at a time.
    pub bank_ports: BankPorts,
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
    /// Banks, those of other memories included, outside `1..=MAX_BANKS`, or half of it where each
    /// has a port for reads and one for writes.
    Banks(u8),
    /// Warps without a register.
    NoRegisters,
    /// A write pool of more entries than fit.
    WritePool(PoolTooLarge),
    /// Banks of other memories beside split banks or a write pool.
    OtherBanks,
}

impl core::fmt::Display for ArbiterError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Banks(banks) => {
                write!(
                    to,
                    "{banks} banks are outside the range 1 to {MAX_BANKS}, or to {} with two \
                     ports each",
                    MAX_BANKS / 2
                )
            }
            Self::NoRegisters => to.write_str("warps without registers have none to read or write"),
            Self::WritePool(error) => error.fmt(to),
            Self::OtherBanks => to.write_str(
                "registers cannot be moved to banks of other memories beside split banks or a \
                 write pool",
            ),
        }
    }
}

impl core::error::Error for ArbiterError {}

impl ArbiterConfig {
    /// How far the port for writes of a bank is from that for reads, in ports of banks; 0 where
    /// they are one.
    pub(super) const fn write_port(&self) -> usize {
        match self.bank_ports {
            BankPorts::One => 0,
            BankPorts::ReadAndWrite => MAX_BANKS / 2,
        }
    }

    /// The checks before registers are laid out.
    pub(super) fn check(&self) -> Result<(), ArbiterError> {
        let all = usize::from(self.banks) + usize::from(self.other_banks);
        if self.banks == 0 || all + self.write_port() > MAX_BANKS {
            return Err(ArbiterError::Banks(all.min(usize::from(u8::MAX)) as u8));
        }
        if self.other_banks != 0 && (self.split_bank_write || self.write_pool_entries != 0) {
            return Err(ArbiterError::OtherBanks);
        }
        if self.registers_per_warp == 0 {
            return Err(ArbiterError::NoRegisters);
        }
        Ok(())
    }
}
