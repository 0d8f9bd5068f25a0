//! Timing: latencies and throughputs of an SM.
//!
//! Source: `[RFC2011]` 4 and Table 4, `[DISS]` 4.3 and Table 4.4.

/// Longest configurable latency. Unit: cycles.
pub const MAX_LATENCY: u16 = 4096;

/// Latencies and throughputs. Every latency is the cycles from the issue of an instruction to the
/// earliest issue of one that uses its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// Arithmetic and predicates. Unit: cycles. Range: `1..=MAX_LATENCY`, as of all latencies.
    pub alu_latency: u16,
    /// From a branch to the warp's next instruction, without a register file cache. Unit: cycles.
    pub branch_latency: u16,
    /// What the tag check of a register file cache adds to a branch. Unit: cycles.
    pub tag_check_cycles: u16,
    /// Double precision. Unit: cycles.
    pub double_latency: u16,
    /// Lanes of a warp that start double-precision operations in a cycle. Range: `1..=32`.
    pub double_lanes: u8,
    /// Special functions. Unit: cycles.
    pub special_function_latency: u16,
    /// Lanes that start special functions in a cycle. Range: `1..=32`.
    pub special_function_lanes: u8,
    /// Textures. Unit: cycles.
    pub texture_latency: u16,
    /// Lanes that start texture accesses in a cycle. Range: `1..=32`.
    pub texture_lanes: u8,
    /// Shared memory, for an access of up to one 32-bit word for each lane. Unit: cycles.
    pub shared_latency: u16,
    /// Bandwidth of shared memory. Unit: bytes in a cycle. Range: from 1.
    pub shared_bytes_per_cycle: u32,
    /// Constants and parameters. Unit: cycles.
    pub constant_latency: u16,
    /// DRAM, for an access of up to one 32-bit word for each lane that no other delays.
    pub dram_latency: u16,
    /// Bandwidth of DRAM. Unit: bytes in a cycle. Range: from 1.
    pub dram_bytes_per_cycle: u32,
    /// An access of global or local memory that hits a cache ([`super::MemoryAccess::hit`]), and
    /// how long it takes to know that another one misses. Unit: cycles.
    pub hit_latency: u16,
    /// From the last arrival at a barrier to the next instruction of the warps. Unit: cycles.
    pub barrier_latency: u16,
    /// Cycles in which an instruction may read its operands from the main register file without
    /// delay. Range: `1..=8`. Each cycle beyond delays its result and what issues after it.
    pub operand_window: u8,
}

impl Timing {
    /// `[RFC2011]` Table 4 and section 4. Not printed there, so assumed: branches take what ALU
    /// operations take, double precision runs at half rate, constants and caches are as far as
    /// shared memory, a barrier lets go in the next cycle.
    pub const ISCA11: Self = Self {
        alu_latency: 8,
        branch_latency: 8,
        tag_check_cycles: 1,
        double_latency: 8,
        double_lanes: 16,
        special_function_latency: 20,
        special_function_lanes: 8,
        texture_latency: 400,
        texture_lanes: 4,
        shared_latency: 20,
        shared_bytes_per_cycle: 32,
        constant_latency: 20,
        dram_latency: 400,
        dram_bytes_per_cycle: 32,
        hit_latency: 20,
        barrier_latency: 1,
        operand_window: 3,
    };

    /// `[DISS]` Table 4.4 and sections 4.2 and 4.3: less DRAM bandwidth, and a cycle for each
    /// access of an instruction to the same bank beyond the first.
    pub const DISSERTATION: Self =
        Self { dram_bytes_per_cycle: 16, operand_window: 1, ..Self::ISCA11 };

    /// `[MICRO2012]` Table 2: half of the dissertation's DRAM bandwidth, as there are twice as many
    /// SMs, and 32 banks of 4 bytes for shared memory.
    pub const MICRO12: Self =
        Self { shared_bytes_per_cycle: 128, dram_bytes_per_cycle: 8, ..Self::DISSERTATION };

    /// Latencies of what operand collectors start.
    pub(super) const fn collected(&self) -> [u16; 8] {
        [
            self.alu_latency,
            self.double_latency,
            self.special_function_latency,
            self.texture_latency,
            self.shared_latency,
            self.constant_latency,
            self.dram_latency,
            self.hit_latency,
        ]
    }

    pub(super) const fn latencies(&self) -> [u16; 10] {
        [
            self.alu_latency,
            self.branch_latency,
            self.double_latency,
            self.special_function_latency,
            self.texture_latency,
            self.shared_latency,
            self.constant_latency,
            self.dram_latency,
            self.hit_latency,
            self.barrier_latency,
        ]
    }
}
