//! Path: what one warp executed, as runs of consecutive instructions under one effective mask.

use crate::units::LaneMask;

/// A run: instructions `pc`, `pc + 1`, ... `pc + length - 1`, each under `mask`.
///
/// The effective mask of an instruction is the warp's active lanes of which the guard holds. An
/// instruction issued with no lane enabled (its guard false in all) is a run with an empty mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathStep {
    /// First instruction. An index into the kernel image.
    pub pc: u32,
    /// Instructions in the run. At least 1.
    pub length: u32,
    /// Effective mask of every instruction of the run.
    pub mask: LaneMask,
}
