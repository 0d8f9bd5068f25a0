//! The machines, and the storage that the hardware adds to an SM.

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::sm::expansion::Capacity;
use strata_core::sm::expansion::hardware::Hardware;

/// The machines.
pub const MACHINES: [(&str, Capacity); 2] =
    [("Fermi", Capacity::FERMI), ("Maxwell", Capacity::MAXWELL)];

/// A part of the hardware on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Storage {
    /// The machine.
    pub machine: String,
    /// The part.
    pub part: String,
    /// Its storage. Unit: bits.
    pub bits: u32,
}

/// The parts of both machines.
pub(super) fn storage() -> Vec<Storage> {
    let of_machine = |(machine, capacity): &(&str, _)| {
        let of = Hardware::of(capacity);
        [
            ("operand cache", of.operand_cache_bits),
            ("tags", of.tag_bits()),
            ("bit vectors of the prefetcher", of.bit_vector_bits),
            ("SBR of the register allocation table", of.base_register_bits),
            ("Start_CTA", of.start_cta_bits),
            ("Start_Reg", of.register_bits),
            ("Max_Reg", of.register_bits),
            ("Warps_Per_CTA", of.warps_per_cta_bits),
            ("instruction counters of LTLWS", of.counter_bits),
            ("W_opt of LTLWS", of.limit_bits),
        ]
        .map(|(part, bits)| Storage {
            machine: (*machine).to_owned(),
            part: part.to_owned(),
            bits,
        })
    };
    MACHINES.iter().flat_map(of_machine).collect()
}
