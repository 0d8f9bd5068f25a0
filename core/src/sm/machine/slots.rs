//! Issue slots: the warps that issue in a cycle, and what becomes of the other slots.

use super::Sm;
use crate::sm::counters::StallReason;
use crate::sm::fault::Fault;
use crate::sm::observe::SmObserver;
use crate::sm::trace::Trace;

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Issues up to `slots` instructions of different warps. Returns how many, and what became of
    /// the other slots.
    #[expect(clippy::inline_always, reason = "the body of the loop over cycles")]
    #[inline(always)]
    pub(super) fn issue_slots<const COLLECTED: bool>(
        &mut self,
        slots: u64,
    ) -> Result<(u64, StallReason), Fault> {
        if !COLLECTED && self.register_file.blocked_until() > self.run.now {
            let first = self.blocked();
            self.idle = [first, self.blocked()];
            return Ok((0, first));
        }
        let (mut slot, mut refused) = (0, 0);
        let (mut issued, mut reason) = (slots, StallReason::Issued);
        while slot < slots {
            let Some(warp) = self.front_end.pick(slot, self.held::<COLLECTED>() | refused) else {
                self.asks_again = refused != 0;
                reason = self.front_end.reason();
                if !self.front_end.is_divided() {
                    return Ok((slot, reason));
                }
                self.idle[slot as usize] = reason;
                self.front_end.end_slot();
                (slot, issued) = (slot + 1, issued - 1);
                continue;
            };
            if self.issue::<COLLECTED>(slot, warp)? {
                slot += 1;
                self.front_end.end_slot();
            } else {
                refused |= 1 << warp;
            }
        }
        Ok((issued, reason))
    }

    /// What becomes of a slot while operands of the instruction before are read.
    fn blocked(&mut self) -> StallReason {
        let held = self.front_end.has_ready();
        let reason = if held { StallReason::OperandRead } else { self.front_end.reason() };
        self.front_end.end_slot();
        reason
    }

    /// Charges cycles in which nothing issues.
    #[inline]
    pub(super) fn charge_idle(&mut self, reason: StallReason, cycles: u64) {
        if self.front_end.is_divided() {
            for reason in self.idle {
                self.run.counters.charge(reason, cycles);
            }
        } else {
            self.run.counters.charge(reason, u64::from(self.issue_slots) * cycles);
        }
    }

    /// What became of each slot.
    pub(super) fn became(&self, issued: u64, reason: StallReason) -> [StallReason; 2] {
        match issued {
            0 if self.front_end.is_divided() => self.idle,
            1 if self.idle[0] != StallReason::Issued => [reason, StallReason::Issued],
            _ => [0, 1].map(|slot| if slot < issued { StallReason::Issued } else { reason }),
        }
    }

    /// Ready warps whose unit is still starting another, or without a collector unit.
    #[inline]
    fn held<const COLLECTED: bool>(&self) -> u64 {
        if COLLECTED {
            let full = if self.register_file.is_full() { self.front_end.collecting() } else { 0 };
            return full | self.front_end.held();
        }
        self.front_end.held_by(self.execution.units(), self.run.now)
    }
}
