//! An array, as NVSim or CACTI prints it.

use crate::memory::MemoryKind;
use strata_config::quantity::{Area, EnergyPerBit, Power, Time};

/// A value with the line that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read<T> {
    pub(super) value: T,
    pub(super) line: String,
}

/// What an output says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) kind: Option<MemoryKind>,
    pub(super) bytes: u64,
    pub(super) banks: u32,
    pub(super) read_energy: Read<EnergyPerBit>,
    pub(super) write_energy: Read<EnergyPerBit>,
    pub(super) read_latency: Read<Time>,
    pub(super) write_latency: Read<Time>,
    /// Of the whole array.
    pub(super) leakage: Read<Power>,
    pub(super) area: Read<Area>,
}

/// An energy over this many bits, as the energy of each in attojoules, rounded to the nearest.
pub(super) fn per_bit(attojoules: u128, bits: u64) -> Option<EnergyPerBit> {
    let bits = u128::from(bits);
    let rounded = attojoules.checked_mul(2)?.checked_add(bits)?.checked_div(2 * bits)?;
    u64::try_from(rounded).ok().map(EnergyPerBit)
}
