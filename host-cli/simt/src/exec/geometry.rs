//! Geometry of a launch: its grid, blocks and shared memory, and the special registers that say so.

use strata_compiler::RESERVED_SHARED_BYTES;
use strata_ptx::module::{ReservedPlace, SpecialRegister};

use crate::fault::Thread;
use crate::micro::axis;

/// Facts of a launch that threads can ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) threads: u32,
    pub(crate) warps: u32,
    pub(crate) ctaid: [u32; 3],
    /// Address of the workspace of a cooperative launch, or 0.
    pub(crate) workspace: u64,
    pub(crate) dynamic_shared: u32,
    /// Shared memory that threads may access.
    pub(crate) shared: u32,
    /// Shared memory of a CTA as the machine gives it: in whole units.
    pub(crate) total_shared: u32,
    /// Of it, what the system software has.
    pub(crate) reserved_shared: u32,
}

impl Geometry {
    /// Thread index of a lane.
    pub(crate) fn thread(&self, warp: u32, lane: u32) -> Thread {
        Thread { ctaid: self.ctaid, tid: self.tid(warp, lane) }
    }

    fn tid(&self, warp: u32, lane: u32) -> [u32; 3] {
        let linear = warp * 32 + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / (x * y)]
    }

    /// One lane's value of a special register.
    pub(crate) fn special(&self, register: SpecialRegister, warp: u32, lane: u32) -> u32 {
        use SpecialRegister as S;
        let bit = 1u32 << lane;
        match register {
            S::Tid(a) => axis(self.tid(warp, lane), a),
            S::Ntid(a) => axis(self.block, a),
            // A cluster has one CTA (DEV-143).
            S::Ctaid(a) | S::Clusterid(a) => axis(self.ctaid, a),
            S::Nctaid(a) | S::Nclusterid(a) => axis(self.grid, a),
            S::Laneid => lane,
            S::Warpid => warp,
            S::Nwarpid => self.warps,
            S::LanemaskEq => bit,
            S::LanemaskLt => bit - 1,
            S::LanemaskLe => bit | (bit - 1),
            S::LanemaskGt => !(bit | (bit - 1)),
            S::LanemaskGe => !(bit - 1),
            // Where `grid.sync()` of cooperative groups looks for its workspace.
            S::Envreg(1) => (self.workspace >> 32) as u32,
            S::Envreg(2) => self.workspace as u32,
            S::DynamicSmemSize => self.dynamic_shared,
            S::TotalSmemSize => self.total_shared - self.reserved_shared,
            S::AggrSmemSize => self.total_shared,
            S::ReservedSmem(place) => reserved(place),
            // The model has one SM and one grid; performance counters, other environment registers
            // read as zero, and so does the place of a CTA in its cluster. Clocks never come here.
            S::ClusterNctaid(_) | S::ClusterNctarank | S::Nsmid => 1,
            _ => 0,
        }
    }
}

/// A place in the shared memory that the system software has (DEV-175). Unit: bytes.
fn reserved(place: ReservedPlace) -> u32 {
    match place {
        ReservedPlace::Begin | ReservedPlace::First => 0,
        ReservedPlace::Second => 64,
        ReservedPlace::End | ReservedPlace::Cap => RESERVED_SHARED_BYTES as u32,
    }
}
