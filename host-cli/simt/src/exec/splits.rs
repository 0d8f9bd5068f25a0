//! Splits: where a warp's lanes are, as a stack of groups with a program counter each.
//!
//! Models: each split has its own program counter, lanes and reconvergence point. A divergent
//! branch leaves a placeholder at its immediate post-dominator and puts both sides above it; a side
//! that reaches its reconvergence point is removed. Normally the topmost split runs. A split that
//! waits (at a CTA barrier, or for lanes of a member mask) lets the splits below it run whose lanes
//! are not those of a split above, so that sides of a branch can wait for each other as they can on
//! hardware since Volta; so does one at the head of a loop that may wait for what others store,
//! once its slice is used up. When none can run, lanes that are waited for go on from a
//! reconvergence point that is before the end.
//! Does not model: what instructions do (`super::warp`).
//!
//! The stack stays small: a side is only put on top of a placeholder with another reconvergence
//! point, and reconvergence points on the stack are a chain in the post-dominator tree.

use super::digest::Digest;
use crate::micro::NO_RECONVERGENCE;

/// Most splits of a warp.
pub(crate) const MAX_SPLITS: usize = 1024;

/// What a split waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing.
    Ready,
    /// A CTA barrier: its number, the barrier instruction, the lanes that arrived.
    Barrier { id: u32, index: u32, arrived: u32 },
    /// Lanes of member masks: the lanes whose operation has not been executed yet.
    Members { arrived: u32 },
}

/// Lanes with a common program counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) reconvergence: u32,
    pub(crate) mask: u32,
    pub(crate) wait: Wait,
}

/// A warp would have more than [`MAX_SPLITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManySplits;

/// The splits of a warp.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    // Invariants: masks are not empty; a split's mask lies inside of the placeholder below it that
    // it will reconverge with; splits that are not related have no lane in common.
    stack: Vec<Split>,
    /// Lanes that have not exited.
    alive: u32,
    /// The split that ran last.
    last: usize,
    /// It has used up a slice since it was chosen.
    tired: bool,
    turn: Turn,
}

/// Which split runs next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// The topmost that can.
    #[default]
    Topmost,
    /// The one that ran last: its slice is used up, but it is not where others may go on.
    Last,
    /// Another one, if it can.
    Other,
}

impl Splits {
    /// Begins at the first instruction with these lanes.
    pub(crate) fn start(&mut self, mask: u32) {
        self.alive = mask;
        self.stack.clear();
        let reconvergence = NO_RECONVERGENCE;
        self.stack.push(Split { pc: 0, reconvergence, mask, wait: Wait::Ready });
        (self.last, self.tired, self.turn) = (0, false, Turn::Topmost);
    }

    /// All that decides how they go on.
    pub(super) fn digest(&self, digest: &mut Digest) {
        let Self { stack, alive, last, tired, turn } = self;
        digest.words(&[*alive, *last as u32, u32::from(*tired), *turn as u32]);
        digest.word(stack.len() as u64);
        for &Split { pc, reconvergence, mask, wait } in stack {
            let wait = match wait {
                Wait::Ready => [0; 4],
                Wait::Barrier { id, index, arrived } => [1, id, index, arrived],
                Wait::Members { arrived } => [2, arrived, 0, 0],
            };
            digest.words(&[pc, reconvergence, mask]);
            digest.words(&wait);
        }
    }

    /// Lanes that have not exited.
    pub(crate) fn alive(&self) -> u32 {
        self.alive
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.stack.len()
    }

    /// The one that ran last. Some lane is alive.
    pub(super) fn last(&self) -> Split {
        self.stack[self.last.min(self.stack.len() - 1)]
    }

    /// From the lowest to the topmost.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Split> {
        self.stack.iter()
    }

    /// One of them.
    pub(crate) fn get(&self, index: usize) -> Split {
        self.stack[index]
    }

    /// The split to run: the topmost that waits for nothing and whose lanes no split above has, or
    /// after a slice the last one again, or the next such one below it.
    pub(crate) fn choose(&mut self) -> Option<usize> {
        let turn = std::mem::take(&mut self.turn);
        if turn == Turn::Last {
            return Some(self.last);
        }
        self.tired = false;
        let mut above = 0;
        let mut chosen = None;
        for (index, split) in self.stack.iter().enumerate().rev() {
            if split.wait == Wait::Ready && split.mask & above == 0 {
                if turn == Turn::Topmost || index < self.last {
                    chosen = Some(index);
                    break;
                }
                chosen = chosen.or(Some(index));
            }
            above |= split.mask;
        }
        self.last = chosen.unwrap_or(self.last);
        chosen
    }

    /// The slice of a split is used up: it goes on at `pc`, before any other.
    pub(crate) fn pause(&mut self, index: usize, pc: u32) {
        self.stack[index].pc = pc;
        (self.last, self.tired, self.turn) = (index, true, Turn::Last);
    }

    /// Whether the running split has used up a slice.
    pub(crate) fn is_tired(&self) -> bool {
        self.tired
    }

    /// The running split goes on at `pc`, but another one first, if it can.
    pub(crate) fn let_others_go_on(&mut self, index: usize, pc: u32) {
        self.stack[index].pc = pc;
        (self.last, self.turn) = (index, Turn::Other);
    }

    /// A split reached its reconvergence point: its lanes go on in the placeholder.
    pub(crate) fn reconverge(&mut self, index: usize) {
        self.stack.remove(index);
    }

    /// A split goes on at `pc` when it is chosen again.
    pub(crate) fn resume_at(&mut self, index: usize, pc: u32) {
        self.stack[index].pc = pc;
    }

    /// A split waits at `pc`.
    pub(crate) fn wait(&mut self, index: usize, pc: u32, wait: Wait) {
        let split = &mut self.stack[index];
        (split.pc, split.wait) = (pc, wait);
    }

    /// A split waits no longer, and goes on behind the instruction where it waited.
    pub(crate) fn release(&mut self, index: usize) {
        let split = &mut self.stack[index];
        (split.pc, split.wait) = (split.pc + 1, Wait::Ready);
    }

    /// Splits a split. `sides`: where lanes go; the last one runs first.
    pub(crate) fn diverge(
        &mut self,
        current: usize,
        reconvergence: u32,
        sides: &[(u32, u32)],
    ) -> Result<(), TooManySplits> {
        if self.stack.len() + sides.len() > MAX_SPLITS {
            return Err(TooManySplits);
        }
        let outer = self.stack[current].reconvergence;
        let position = if outer == reconvergence {
            // Lanes that are done wait in the placeholder that this split itself reconverges with.
            self.stack.remove(current);
            current
        } else {
            self.stack[current].pc = reconvergence;
            current + 1
        };
        let there = |&&(pc, mask): &&(u32, u32)| pc != reconvergence && mask != 0;
        for &(pc, mask) in sides.iter().filter(there).rev() {
            self.stack.insert(position, Split { pc, reconvergence, mask, wait: Wait::Ready });
        }
        Ok(())
    }

    /// Lanes of the current split exit; others of it go on behind `pc`.
    pub(crate) fn exit(&mut self, current: usize, pc: u32, lanes: u32) {
        debug_assert!(self.stack[current].mask & lanes == lanes);
        self.alive &= !lanes;
        self.stack[current].pc = pc + 1;
        for split in &mut self.stack {
            split.mask &= !lanes;
            // Lanes that left are neither waited for nor given a result.
            match &mut split.wait {
                Wait::Ready => {}
                Wait::Barrier { arrived, .. } | Wait::Members { arrived } => *arrived &= !lanes,
            }
        }
        self.stack.retain(|split| split.mask != 0);
    }

    /// Lanes that wait at `pc` for members.
    pub(crate) fn arrived(&self, pc: u32) -> u32 {
        let here = |split: &&Split| split.pc == pc;
        self.stack.iter().filter(here).fold(0, |all, split| match split.wait {
            Wait::Members { arrived } => all | arrived,
            Wait::Ready | Wait::Barrier { .. } => all,
        })
    }

    /// The operation at `pc` has been executed for lanes that waited. Splits none of whose lanes
    /// waits any more go on behind it.
    pub(crate) fn release_members(&mut self, pc: u32, lanes: u32) {
        for split in self.stack.iter_mut().filter(|split| split.pc == pc) {
            if let Wait::Members { arrived } = &mut split.wait {
                *arrived &= !lanes;
                if *arrived == 0 {
                    (split.pc, split.wait) = (pc + 1, Wait::Ready);
                }
            }
        }
    }

    /// Where splits wait for members.
    pub(crate) fn waiting_for_members(&self) -> Vec<u32> {
        let waits = |split: &&Split| matches!(split.wait, Wait::Members { .. });
        self.stack.iter().filter(waits).map(|split| split.pc).collect()
    }

    /// Has lanes go on that wait at the innermost reconvergence point, if one of them is `missing`
    /// and the point is one that lanes may leave. True when there are such lanes.
    pub(crate) fn leave(
        &mut self,
        missing: u32,
        may_leave: impl Fn(u32) -> bool,
    ) -> Result<bool, TooManySplits> {
        let mut above = 0;
        for index in (0..self.stack.len()).rev() {
            let split = self.stack[index];
            let here = split.mask & !above;
            // A split whose lanes are all here waits elsewhere, or it could run.
            let rests = split.wait == Wait::Ready && split.mask & above != 0;
            if rests && here & missing != 0 && may_leave(split.pc) {
                if self.stack.len() >= MAX_SPLITS {
                    return Err(TooManySplits);
                }
                self.stack[index].mask &= above;
                self.stack.insert(index, Split { mask: here, ..split });
                return Ok(true);
            }
            above |= split.mask;
        }
        Ok(false)
    }
}
