//! One warp's register hierarchy, instruction by instruction: what count mode and cycle mode share.
//!
//! Models: the operand traffic of an instruction, which long-latency results are pending on the
//! warp's executed path, what a deschedule and the end of the warp do.
//! Does not model: when any of it happens.
//! Source: `docs/MODEL.md`, rules 7 to 18.

use crate::image::{Flags, StaticInstruction};
use crate::register_file_cache::{Observer, Operands, RegisterFileCache};
use crate::units::{LaneMask, RegisterId};

/// Hears what the hierarchy does, in order.
pub(crate) trait Listener: Observer {
    /// The flat main register file serves every slot of an instruction.
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask);
}

/// The registers of an instruction with its facts.
#[derive(Clone, Copy)]
pub(crate) struct Step<'i> {
    pub(crate) instruction: &'i StaticInstruction,
    pub(crate) sources: &'i [RegisterId],
    pub(crate) destinations: &'i [RegisterId],
    /// Lanes enabled. Not empty.
    pub(crate) mask: LaneMask,
}

/// One warp's hierarchy, wherever its parts are kept.
pub(crate) struct WarpHierarchy<'s, const CAPACITY: usize> {
    /// The warp's cache, if the design has one.
    pub(crate) cache: Option<&'s mut RegisterFileCache<CAPACITY>>,
    /// For each register, the lanes whose value is a long-latency result issued since the warp's
    /// last deschedule.
    pub(crate) pending: &'s mut [LaneMask],
    /// False only if all of `pending` is empty.
    pub(crate) anything_pending: &'s mut bool,
}

/// The first register of `sources` of which an enabled lane is a pending long-latency result.
#[inline]
pub(crate) fn awaited(
    pending: &[LaneMask],
    sources: &[RegisterId],
    mask: LaneMask,
) -> Option<RegisterId> {
    let waits = |source: &&RegisterId| !pending[usize::from(source.0)].and(mask).is_empty();
    sources.iter().find(waits).copied()
}

impl<const CAPACITY: usize> WarpHierarchy<'_, CAPACITY> {
    /// Executes one instruction. With `two_level`, long-latency results bypass the cache and are
    /// pending from now on.
    #[inline]
    pub(crate) fn execute(&mut self, step: Step<'_>, two_level: bool, to: &mut impl Listener) {
        let instruction = step.instruction;
        let long_latency = two_level && instruction.flags.contains(Flags::LONG_LATENCY);
        if let Some(cache) = &mut self.cache {
            let operands = Operands {
                sources: step.sources,
                last_use: instruction.last_use,
                last_use_before_deschedule: instruction.last_use_before_deschedule,
                destinations: step.destinations,
                not_read_before_deschedule: instruction.not_read_before_deschedule,
                bypass: long_latency,
                mask: step.mask,
            };
            cache.step(&operands, to);
        } else {
            to.flat(step.sources, step.destinations, step.mask);
        }
        if long_latency || *self.anything_pending {
            self.track(step.destinations, step.mask, long_latency);
        }
    }

    /// The warp leaves the active set.
    pub(crate) fn deschedule(&mut self, to: &mut impl Observer) {
        self.flush(to);
        if *self.anything_pending {
            self.pending.fill(LaneMask::EMPTY);
            *self.anything_pending = false;
        }
    }

    /// Writes the cache's dirty entries back and empties it.
    pub(crate) fn flush(&mut self, to: &mut impl Observer) {
        if let Some(cache) = &mut self.cache {
            cache.flush(to);
        }
    }

    /// The warp ends.
    pub(crate) fn exit(&mut self, to: &mut impl Observer) {
        if let Some(cache) = &mut self.cache {
            cache.exit(to);
        }
    }

    /// Notes which lanes hold long-latency results now. Exact by lane, because the two sides of a
    /// divergent branch may give a register values of both kinds.
    fn track(&mut self, destinations: &[RegisterId], mask: LaneMask, long_latency: bool) {
        for destination in destinations {
            let lanes = &mut self.pending[usize::from(destination.0)];
            *lanes = if long_latency { lanes.or(mask) } else { lanes.without(mask) };
        }
        *self.anything_pending |= long_latency && !destinations.is_empty();
    }
}
