//! Last result file (LRF): the one register that a warp's private datapath wrote last, in front of
//! the register file cache.
//!
//! Models: its tag, valid lanes and hint; writing in place, eviction, deaths, flush. Tags change at
//! issue, in program order.
//! Does not model: where an evicted value goes on to (`hierarchy`), values, time, energy.
//! Source: `[DISS]` 6.2.2, 6.5.2, Table 4.5; `docs/MODEL.md`, rule 24.

use crate::access::{Access, AccessSink};
use crate::units::{LaneMask, RegisterId};

/// What a last result file takes over from the cache behind it, fixed for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LastResultFileConfig {
    /// Last reads free the entry; nothing dead is written back.
    pub liveness: bool,
    /// A victim that no path reads before the warp's next deschedule skips the cache, too.
    pub liveness_aware_bypass: bool,
}

/// A value that moves from the last result file to the register file cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Its register.
    pub register: RegisterId,
    /// The lanes that were valid. Not empty.
    pub lanes: LaneMask,
    /// By the compiler's hint no path reads it before the next deschedule.
    pub unneeded: bool,
}

/// One warp's last result file: a single entry.
///
/// Its value is in no other level, so there is no clean state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastResultFile {
    // Invariant: the entry is vacant if and only if `lanes` is empty; then `register` and
    // `unneeded` mean nothing.
    lanes: LaneMask,
    register: RegisterId,
    unneeded: bool,
    config: LastResultFileConfig,
}

impl LastResultFile {
    /// Builds an empty last result file.
    pub const fn new(config: LastResultFileConfig) -> Self {
        Self { lanes: LaneMask::EMPTY, register: RegisterId(0), unneeded: false, config }
    }

    /// The register held, with its valid lanes.
    pub fn entry(&self) -> Option<(RegisterId, LaneMask)> {
        (!self.lanes.is_empty()).then_some((self.register, self.lanes))
    }

    /// The valid lanes of a register; none if another one is held.
    #[inline]
    pub fn lanes_of(&self, register: RegisterId) -> LaneMask {
        if self.register == register { self.lanes } else { LaneMask::EMPTY }
    }

    /// Serves one operand of the private datapath as far as it can, and returns the lanes that a
    /// lower level must serve. With `unneeded` no path reads the value again before the next
    /// deschedule.
    #[inline]
    pub fn read(
        &mut self,
        source: RegisterId,
        mask: LaneMask,
        unneeded: bool,
        sink: &mut impl AccessSink,
    ) -> LaneMask {
        let held = self.lanes_of(source);
        if held.is_empty() {
            return mask;
        }
        self.unneeded = unneeded;
        let hit = held.and(mask);
        let rest = mask.without(hit);
        if !hit.is_empty() {
            sink.access(Access::LrfRead, source, hit);
            if !rest.is_empty() {
                sink.access(Access::LrfPartialHit, source, hit);
            }
        }
        rest
    }

    /// The value of a register was read for the last time.
    #[inline]
    pub fn last_read(&mut self, register: RegisterId, sink: &mut impl AccessSink) {
        if self.config.liveness {
            self.invalidate(register, LaneMask::FULL, sink);
        }
    }

    /// Writes a result. Returns the evicted value, which moves to the register file cache.
    #[inline]
    pub fn write(
        &mut self,
        destination: RegisterId,
        mask: LaneMask,
        unneeded: bool,
        sink: &mut impl AccessSink,
    ) -> Option<Evicted> {
        sink.access(Access::LrfWrite, destination, mask);
        let held = self.lanes_of(destination);
        if !held.is_empty() {
            self.lanes = held.or(mask);
            self.unneeded = unneeded;
            return None;
        }
        let old = Evicted { register: self.register, lanes: self.lanes, unneeded: self.unneeded };
        let mut evicted = None;
        if !old.lanes.is_empty() {
            let skips = self.config.liveness_aware_bypass && old.unneeded;
            let access = if skips { Access::LrfWritebackEviction } else { Access::LrfEviction };
            sink.access(access, old.register, old.lanes);
            evicted = (!skips).then_some(old);
        }
        sink.access(Access::LrfAllocation, destination, mask);
        (self.register, self.lanes, self.unneeded) = (destination, mask, unneeded);
        evicted
    }

    /// Gives up lanes that a write to a lower level has overtaken.
    #[inline]
    pub fn invalidate(&mut self, register: RegisterId, mask: LaneMask, sink: &mut impl AccessSink) {
        let held = self.lanes_of(register);
        if held.is_empty() {
            return;
        }
        self.lanes = held.without(mask);
        if self.lanes.is_empty() {
            sink.access(Access::LrfDrop, register, held);
        }
    }

    /// Writes the entry back to the main register file and empties it.
    pub fn flush(&mut self, sink: &mut impl AccessSink) {
        self.empty(Access::LrfWritebackFlush, sink);
    }

    /// Empties the entry at the end of the warp: with liveness nothing is live any more, without it
    /// the entry is written back.
    pub fn exit(&mut self, sink: &mut impl AccessSink) {
        let access = if self.config.liveness { Access::LrfDrop } else { Access::LrfWritebackFlush };
        self.empty(access, sink);
    }

    fn empty(&mut self, access: Access, sink: &mut impl AccessSink) {
        if !self.lanes.is_empty() {
            sink.access(access, self.register, self.lanes);
            self.lanes = LaneMask::EMPTY;
        }
    }
}
