//! Cost of operand collectors, split bank writes and a write pool, and area of the main register
//! file.

use strata_core::sm::DeliverySize;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::units::LANES;

use super::sizes::{REGISTER_BYTES, TAG_BITS};
use crate::Design;

/// Operands that a collector unit holds: those of a fused multiply-add.
const UNIT_OPERANDS: u64 = 3;
/// Subarrays of a bank.
const SUBARRAYS: u64 = 2;

/// Storage of operand collectors and what is around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectorCost {
    /// Operands in all collector units. Unit: bytes.
    pub operand_bytes: u64,
    /// Their destinations: warp, register, lanes, and which have arrived. Unit: bits.
    pub state_bits: u64,
    /// Buffers of split bank writes, of a design that has them. Unit: bits.
    pub split_bank_write_bits: Option<u64>,
    /// The write pool, of a design that has one.
    pub write_pool: Option<WritePoolCost>,
}

/// Storage of a write pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePoolCost {
    /// Entries of a register of a warp.
    pub entries: u64,
    /// Its array. Unit: bytes.
    pub array_bytes: u64,
    /// The four fields of its indicator: warp, register, dirty, place. Unit: bits.
    pub indicator_bits: u64,
    /// Masks of the lanes that its entries hold, which the source does not have. Unit: bits.
    pub lane_bits: u64,
    /// The order of replacement. Unit: bits.
    pub order_bits: u64,
}

/// Area of the main register file of an SM, with a write pool. Unit: square micrometres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaCost {
    /// Of its banks.
    pub banks_um2: u64,
    /// Of the write pool's array, as SRAM.
    pub write_pool_um2: u64,
    /// Of the SRAM register file that it is compared with.
    pub baseline_um2: u64,
}

/// Bits that distinguish this many things.
fn bits(things: u64) -> u64 {
    u64::from(things.next_power_of_two().trailing_zeros())
}

/// Buffers of split bank writes: for each bank, the cycles that a write still takes, and its
/// subarray. Unit: bits.
pub fn split_bank_write_bits(banks: u64, write_cycles: u64) -> u64 {
    banks * (bits(write_cycles) + bits(SUBARRAYS))
}

/// The array of a write pool. Unit: bytes.
pub fn write_pool_bytes(entries: u64) -> u64 {
    entries * u64::from(LANES) * REGISTER_BYTES
}

pub(super) fn collector_cost(design: &Design) -> Option<CollectorCost> {
    let OperandDelivery::Collectors(settings) = design.sm.operand_delivery else { return None };
    let units = u64::from(settings.units);
    let operands = units * UNIT_OPERANDS;
    let warp_bits = bits(design.sm.max_warps.into());
    let lanes = u64::from(LANES);
    let (banks, write_cycles) = (settings.banks.into(), settings.write_cycles.into());
    let entries = u64::from(settings.write_pool_entries);
    Some(CollectorCost {
        operand_bytes: operands * lanes * REGISTER_BYTES,
        state_bits: units * (1 + warp_bits + lanes) + operands * (TAG_BITS + 2),
        split_bank_write_bits: settings
            .split_bank_write
            .then(|| split_bank_write_bits(banks, write_cycles)),
        write_pool: (entries != 0).then(|| WritePoolCost {
            entries,
            array_bytes: write_pool_bytes(entries),
            indicator_bits: entries * (warp_bits + TAG_BITS + 1 + bits(entries)),
            lane_bits: entries * lanes,
            order_bits: entries * bits(entries),
        }),
    })
}

/// Memory of the model for operand collectors, with this many registers of all warps in use. Unit:
/// bytes.
pub(super) fn model_bytes(design: &Design, registers: usize) -> usize {
    let OperandDelivery::Collectors(settings) = design.sm.operand_delivery else { return 0 };
    let size = DeliverySize {
        collectors: 1,
        reads: usize::from(settings.units) * UNIT_OPERANDS as usize,
        registers,
        cells: (design.sm.register_file_bytes / (LANES * REGISTER_BYTES as u32)) as usize,
    };
    size.bytes()
}

pub(super) fn area_cost(design: &Design) -> Option<AreaCost> {
    let bytes = u64::from(design.sm.register_file_bytes);
    let sram = design.baseline().memory?;
    Some(AreaCost {
        banks_um2: design.memory.as_ref()?.area_um2(bytes)?,
        write_pool_um2: sram.area_um2(write_pool_bytes(design.write_pool_entries().into()))?,
        baseline_um2: sram.area_um2(bytes)?,
    })
}

impl AreaCost {
    /// All of it.
    pub fn total_um2(&self) -> u64 {
        self.banks_um2 + self.write_pool_um2
    }

    /// Saved against the baseline, in tenths of a percent, rounded to nearest; negative if it is
    /// larger.
    pub fn saved_per_mille(&self) -> Option<i64> {
        let left = i128::from(self.baseline_um2) - i128::from(self.total_um2());
        let whole = i128::from(self.baseline_um2);
        let rounded = (2 * 1000 * left + whole).checked_div_euclid(2 * whole)?;
        i64::try_from(rounded).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cost;
    use super::*;
    use crate::resolve;

    fn of(name: &str) -> super::super::Cost {
        cost(&resolve(name).unwrap())
    }

    #[test]
    fn warrf_by_hand() {
        let cost = of("warrf");
        let collectors = cost.collectors.unwrap();
        // 16 units of 3 registers of 128 bytes; occupied, 6 bits of a warp and 32 lanes for each,
        // a register number of 8 bits, wanted and ready for each operand.
        assert_eq!(collectors.operand_bytes, 6144);
        assert_eq!(collectors.state_bits, 16 * 39 + 48 * 10);
        assert_eq!(collectors.split_bank_write_bits, Some(48));
        let pool = collectors.write_pool.unwrap();
        assert_eq!((pool.entries, pool.array_bytes), (60, 7680));
        assert_eq!(pool.indicator_bits, 60 * (6 + 8 + 1 + 6));
        assert_eq!((pool.lane_bits, pool.order_bits), (1920, 360));
        // A sixteenth of 1.1 and 4.1 mm2; 7680 bytes of SRAM.
        let area = cost.area.unwrap();
        assert_eq!((area.banks_um2, area.baseline_um2), (68_750, 256_250));
        assert_eq!(area.write_pool_um2, 15_015);
        assert_eq!(area.saved_per_mille(), Some(673));
        assert!(cost.assumed.iter().any(|text| text.contains("in proportion")));
    }

    #[test]
    fn the_model_needs_memory_for_collectors() {
        // Of 1024 registers, 48 warps have 21 each.
        let registers = 48 * 21;
        let bytes = |name: &str| model_bytes(&resolve(name).unwrap(), registers);
        let state = bytes("warrf-gtx480");
        assert_eq!(bytes("warrf"), state);
        // At least the times of 1024 cells' writes and, for each register, its lanes in its queue
        // and in its result.
        assert!(state > 1024 * 8 + registers * 8, "{state}");
        assert_eq!(bytes("isca11-rfc6"), 0);
        let (own, without) = (of("sttram-rfc6"), of("diss-rfc6"));
        assert!(own.model_host_bytes > without.model_host_bytes + state / 2);
        let levels = own.model_host_bytes - own.model_device_bytes.unwrap();
        let bare = without.model_host_bytes - without.model_device_bytes.unwrap();
        assert_eq!(levels, bare, "both capacities have the collectors");
    }

    #[test]
    fn only_what_a_design_has_is_charged() {
        let sram = of("warrf-gtx480");
        let collectors = sram.collectors.unwrap();
        assert_eq!((collectors.split_bank_write_bits, collectors.write_pool), (None, None));
        assert_eq!(sram.area.unwrap().saved_per_mille(), Some(0));
        assert_eq!(of("sttram-sbw").area.unwrap().saved_per_mille(), Some(732));
        assert_eq!(of("sttram-sbw").collectors.unwrap().split_bank_write_bits, Some(48));
        assert_eq!((of("isca11").collectors, of("isca11").area), (None, None));
        // No number but 0 to count down from.
        assert_eq!(split_bank_write_bits(16, 1), 16);
        let larger = AreaCost { banks_um2: 150, write_pool_um2: 50, baseline_um2: 100 };
        assert_eq!(larger.saved_per_mille(), Some(-1000));
        assert_eq!(AreaCost { baseline_um2: 0, ..larger }.saved_per_mille(), None);
    }
}
