//! Residency: how many CTAs of a launch a GPU holds at once.
//!
//! Models: an A100, whatever the kernel's target. Source: CUDA C++ Programming Guide 12.6, "Compute
//! Capabilities", of 8.0; NVIDIA A100 Tensor Core GPU Architecture, for its SMs.

/// SMs.
const SMS: u64 = 108;
/// CTAs of an SM.
const CTAS: u64 = 32;
/// Warps of an SM.
const WARPS: u64 = 64;
/// 32-bit registers of an SM, and of an allocation, which is a warp's.
const REGISTERS: u64 = 64 << 10;
const REGISTER_UNIT: u64 = 256;
/// Shared memory of an SM, of which each CTA also takes what the system keeps. Unit: bytes.
const SHARED_BYTES: u64 = 164 << 10;
const SYSTEM_SHARED_BYTES: u64 = 1 << 10;
const SHARED_UNIT: u64 = 128;

/// Values of all resident threads that the executor keeps. Unit: bytes.
const KEPT_BYTES: u64 = 2 << 30;

/// What a CTA takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    pub(crate) warps: u32,
    /// 32-bit registers of a thread.
    pub(crate) registers: u32,
    /// Unit: bytes.
    pub(crate) shared: u32,
    /// Local memory of a thread. Unit: bytes.
    pub(crate) local: u64,
}

/// CTAs that can be resident at once: at least one of each SM, but for their local memory.
pub(crate) fn most(needs: Needs) -> u64 {
    let Needs { warps, registers, shared, local } = needs;
    let warps = u64::from(warps.max(1));
    let of_warp = (u64::from(registers) * 32).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT);
    let shared = (u64::from(shared) + SYSTEM_SHARED_BYTES).next_multiple_of(SHARED_UNIT);
    let of_sm =
        CTAS.min(WARPS / warps).min(REGISTERS / (of_warp * warps)).min(SHARED_BYTES / shared);
    let of_gpu = SMS * of_sm.max(1);
    let frames = KEPT_BYTES / (local.max(1) * 32 * warps);
    of_gpu.min(frames).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_resource_decides() {
        let small = Needs { warps: 2, registers: 32, shared: 0, local: 0 };
        assert_eq!(most(small), 108 * 32);
        assert_eq!(most(Needs { warps: 32, ..small }), 108 * 2);
        assert_eq!(most(Needs { warps: 8, registers: 128, ..small }), 108 * 2);
        assert_eq!(most(Needs { shared: 48 << 10, ..small }), 108 * 3);
        assert_eq!(most(Needs { shared: 200 << 10, ..small }), 108);
        assert_eq!(most(Needs { warps: 32, local: 512 << 10, ..small }), 4);
    }
}
