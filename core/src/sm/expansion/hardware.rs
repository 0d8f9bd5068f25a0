//! Hardware: bits of storage that an expanded register file adds to an SM.
//!
//! Models: operand cache, its tags, the prefetcher's bit vectors, the register allocation table,
//! the scheduler's counters and limit.
//! Does not model: logic, area. The paper prints 0.861 mm2 for 15 SMs, 0.163 % of the die (4.1).
//! Source: `[EXPARS]` 3.3.3, 3.3.4, 3.3.7.
//!
//! ```
//! use strata_core::sm::expansion::Capacity;
//! use strata_core::sm::expansion::hardware::Hardware;
//!
//! let fermi = Hardware::of(&Capacity::FERMI);
//! assert_eq!(fermi.operand_cache_bits / 8, 2048);
//! assert_eq!(fermi.allocation_table_bits(), 149);
//! ```

use super::Capacity;
use crate::units::LANES;

/// Banks of the operand cache, and of the register file: the two lowest bits of a register's
/// number.
pub const BANKS: u32 = 4;
/// Banks that the bank arbitrator has beside those of the register file: those of the operand
/// cache, and the way of results to scratchpad memory.
pub(in crate::sm) const OTHER_BANKS: u8 = BANKS as u8 + 1;
/// Sets of the operand cache: the next two bits.
pub const SETS: u32 = 4;
/// Lines of the operand cache. A register has one home line.
pub const LINES: u32 = BANKS * SETS;
/// Bits of a line: a register of all lanes.
pub const LINE_BITS: u32 = LANES * 32;
/// Bits of an instruction counter of a warp.
const COUNTER_BITS: u32 = 32;

/// Bits of storage of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Data of the operand cache.
    pub operand_cache_bits: u32,
    /// A line's tag: the warp, the upper bits of the register, whether it is valid and dirty.
    pub tag_bits_per_line: u32,
    /// The prefetcher's vectors: a bit for each register of each warp.
    pub bit_vector_bits: u32,
    /// The base register of each CTA slot.
    pub base_register_bits: u32,
    /// `Start_CTA`.
    pub start_cta_bits: u32,
    /// `Start_Reg` and `Max_Reg`, each.
    pub register_bits: u32,
    /// `Warps_Per_CTA`.
    pub warps_per_cta_bits: u32,
    /// Counters of the instructions of each warp.
    pub counter_bits: u32,
    /// The most active warps.
    pub limit_bits: u32,
}

impl Hardware {
    /// The bits of an SM. Without a limit of CTAs a slot for each warp.
    pub const fn of(capacity: &Capacity) -> Self {
        let warps = capacity.limits.warps;
        let ctas = match capacity.limits.ctas {
            Some(ctas) => ctas,
            None => warps,
        };
        let registers = capacity.most_registers as u32;
        let register_bits = to_tell(registers);
        let home_bits = LINES.ilog2();
        Self {
            operand_cache_bits: LINES * LINE_BITS,
            tag_bits_per_line: to_tell(warps) + register_bits.saturating_sub(home_bits) + 2,
            bit_vector_bits: warps.saturating_mul(registers),
            base_register_bits: ctas.saturating_mul(to_tell(capacity.scratchpad_bytes)),
            start_cta_bits: to_tell(ctas),
            register_bits,
            warps_per_cta_bits: to_count(warps),
            counter_bits: warps.saturating_mul(COUNTER_BITS),
            limit_bits: to_count(warps),
        }
    }

    /// Tags of all lines.
    pub const fn tag_bits(&self) -> u32 {
        LINES * self.tag_bits_per_line
    }

    /// The register allocation table.
    pub const fn allocation_table_bits(&self) -> u32 {
        let variables = self.start_cta_bits + 2 * self.register_bits + self.warps_per_cta_bits;
        self.base_register_bits.saturating_add(variables)
    }
}

/// Bits that tell so many things apart.
const fn to_tell(things: u32) -> u32 {
    u32::BITS - things.saturating_sub(1).leading_zeros()
}

/// Bits of a number up to this one.
const fn to_count(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}
