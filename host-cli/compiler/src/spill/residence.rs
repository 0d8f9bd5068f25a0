//! Which values are in registers, where: at the start of each block, and when they come and go.
//!
//! Every value begins as resident wherever it is live. Blocks are then walked with as many
//! registers as there may be. Where room is short, the value goes whose next read is farthest for
//! what it costs to bring it back; a value that goes is read from its slot (or made again) before
//! its next read. What is not in a register at the end of every predecessor is brought back there
//! when those execute less often than the block, and otherwise is no longer resident at its start.
//!
//! Lanes that wait at the start of a block keep what is resident there (rule 10), so it
//! takes room in every block that executes meanwhile. To make that room the value has to leave
//! before the lanes begin to wait: it stops being resident at the start of that block too. A value
//! that leaves while lanes wait for it in the same register would be lost to them, so it too stops
//! being resident where they wait.
//!
//! Residence at the starts of blocks only ever shrinks, so this ends.

use crate::cfg::Graph;
use crate::divergence::Divergence;
use crate::flow::{Flow, flow};
use crate::intervals::Intervals;
use crate::kernel::Kernel;
use crate::loops::Loops;
use crate::values::Values;

use super::steps::{DEAD, EXIT, Steps};

/// What residence is computed from.
pub(super) struct Input<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) graph: &'a Graph,
    pub(super) divergence: &'a Divergence,
    pub(super) values: &'a Values,
    pub(super) intervals: &'a Intervals,
    pub(super) loops: &'a Loops,
    pub(super) steps: &'a Steps,
    /// For each web, whether its definition can be made again instead of being kept.
    pub(super) repeatable: &'a [bool],
    /// Guessed executions of each web's definitions together.
    pub(super) defined: &'a [u64],
    /// Registers that each block may use. Unit: 32-bit registers.
    pub(super) capacity: &'a [u32],
    /// Before a block is walked, remove values that do not arrive there. Otherwise only afterwards:
    /// this makes more room early, and that needs fewer late fills. Neither is always better.
    pub(super) arriving: bool,
    /// A value that leaves at the exit of a loop is stored after it.
    pub(super) behind_loops: bool,
}

/// A value that enters a register or leaves it, before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) pc: usize,
    pub(super) web: u32,
    pub(super) kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// It enters.
    Fill,
    /// It is live and leaves.
    Leave,
}

/// The plan of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockPlan {
    /// In program order; at one instruction, leaving values may come after entering ones.
    pub(super) events: Vec<Event>,
    /// Values in registers at the end, before `fills`.
    pub(super) at_end: Vec<u32>,
    /// Values that come at the end, before the instruction that ends the block if it is a branch.
    pub(super) fills: Vec<u32>,
}

/// The result.
#[derive(Clone, Debug)]
pub(super) struct Residence {
    pub(super) plans: Vec<BlockPlan>,
    /// For each block, in the order of its `live_in`.
    pub(super) at_start: Vec<Vec<bool>>,
    /// For each block, those that execute while lanes wait at its start.
    pub(super) waits_for: Vec<Vec<usize>>,
}

/// Finds where values are in registers. An instruction that alone needs more registers than its
/// block may use gets exactly those.
pub(super) fn residence(input: &Input<'_>) -> Residence {
    let blocks = input.graph.blocks.len();
    let webs = input.values.webs.len();
    let general = |web: u32| input.steps.slots[web as usize] > 0;
    let at_start = |live: &Vec<crate::values::LiveIn>| {
        live.iter().map(|live| live.defined && general(live.web)).collect()
    };
    let mut waits_for = vec![Vec::new(); blocks];
    for (block, places) in input.divergence.keeping.iter().enumerate() {
        for &place in places {
            waits_for[place as usize].push(block);
        }
    }
    let mut finder = Finder {
        input,
        at_start: input.values.live_in.iter().map(at_start).collect(),
        plans: vec![BlockPlan::default(); blocks],
        waits_for,
        stale: vec![true; blocks],
        walked: vec![false; blocks],
        left: vec![false; webs],
        room: Room::new(webs),
    };
    let mut again = true;
    while again {
        for &block in &input.loops.order {
            if std::mem::replace(&mut finder.stale[block], false) {
                // What does not arrive must not take the room of what does.
                if input.arriving {
                    finder.join_at(block);
                }
                finder.walk(block);
            }
        }
        finder.join();
        again = finder.stale.contains(&true);
    }
    let Finder { plans, at_start, waits_for, .. } = finder;
    Residence { plans, at_start, waits_for }
}

struct Finder<'a> {
    input: &'a Input<'a>,
    at_start: Vec<Vec<bool>>,
    plans: Vec<BlockPlan>,
    /// For each block, those that execute while lanes wait at its start.
    waits_for: Vec<Vec<usize>>,
    /// Blocks to be walked again.
    stale: Vec<bool>,
    /// Blocks that were walked, so that it is known what is in registers at their ends.
    walked: Vec<bool>,
    /// Webs that left somewhere, so that a slot is kept for them already.
    left: Vec<bool>,
    room: Room,
}

/// The registers of one block while it is walked.
struct Room {
    /// Own values in registers, and where each is read next.
    own: Vec<(u32, u32)>,
    /// Values that waiting lanes keep, and about where they are read next.
    held: Vec<(u32, u32)>,
    is_own: Vec<bool>,
    is_held: Vec<bool>,
    /// Live, but nothing has defined it yet: needs no register.
    undefined: Vec<bool>,
    /// Registers taken by `own` and `held` together.
    taken: u32,
}

impl Room {
    fn new(webs: usize) -> Self {
        Self {
            own: Vec::new(),
            held: Vec::new(),
            is_own: vec![false; webs],
            is_held: vec![false; webs],
            undefined: vec![false; webs],
            taken: 0,
        }
    }

    fn has(&self, web: u32) -> bool {
        self.is_own[web as usize] || self.is_held[web as usize]
    }

    fn add_own(&mut self, web: u32, next: u32, slots: u32) {
        if !self.has(web) {
            self.taken += slots;
        }
        if std::mem::replace(&mut self.is_own[web as usize], true) {
            self.set_next(web, next);
        } else {
            self.own.push((web, next));
        }
    }

    fn remove_own(&mut self, web: u32, slots: u32) {
        if std::mem::replace(&mut self.is_own[web as usize], false) {
            self.own.retain(|&(other, _)| other != web);
            if !self.has(web) {
                self.taken -= slots;
            }
        }
    }

    fn remove_held(&mut self, web: u32, slots: u32) {
        if std::mem::replace(&mut self.is_held[web as usize], false) {
            self.held.retain(|&(other, _)| other != web);
            if !self.has(web) {
                self.taken -= slots;
            }
        }
    }

    fn set_next(&mut self, web: u32, next: u32) {
        if let Some(entry) = self.own.iter_mut().find(|entry| entry.0 == web) {
            entry.1 = next;
        }
    }
}

impl Finder<'_> {
    fn slots(&self, web: u32) -> u32 {
        self.input.steps.slots[web as usize]
    }

    /// Takes a web off those resident at the start of a block, and off those of every place whose
    /// lanes wait while the block executes.
    fn drop_at_start(&mut self, block: usize, web: u32) {
        let mut work = vec![block];
        while let Some(place) = work.pop() {
            let Some(index) = self.input.values.live_in_index(place, web) else { continue };
            if !std::mem::replace(&mut self.at_start[place][index], false) {
                continue;
            }
            self.stale[place] = true;
            for &block in &self.waits_for[place] {
                self.stale[block] = true;
            }
            work.extend(self.input.divergence.keeping[place].iter().map(|&place| place as usize));
        }
    }

    /// Takes a web off the starts of all places whose lanes wait while a block executes.
    fn drop_where_waiting(&mut self, block: usize, web: u32) {
        for index in 0..self.input.divergence.keeping[block].len() {
            let place = self.input.divergence.keeping[block][index] as usize;
            self.drop_at_start(place, web);
        }
    }

    fn enter(&mut self, number: usize) {
        let Input { values, divergence, steps, loops, graph, .. } = *self.input;
        let start = graph.blocks[number].start as u32;
        for (index, live) in values.live_in[number].iter().enumerate() {
            if !live.defined {
                self.room.undefined[live.web as usize] = true;
            }
            if self.at_start[number][index] {
                let next = start.saturating_add(steps.distance[number][index]);
                self.room.add_own(live.web, next, steps.slots[live.web as usize]);
            }
        }
        for &place in &divergence.keeping[number] {
            let place = place as usize;
            let away = (graph.blocks[place].start as u32).saturating_sub(start);
            let left = loops.depth[number].saturating_sub(loops.depth[place]) * EXIT;
            for (index, live) in values.live_in[place].iter().enumerate() {
                if !self.at_start[place][index] {
                    continue;
                }
                let distance = steps.distance[place][index].saturating_add(away + left);
                let next = start.saturating_add(distance).min(DEAD - 1);
                let room = &mut self.room;
                if !room.has(live.web) {
                    room.taken += steps.slots[live.web as usize];
                }
                if std::mem::replace(&mut room.is_held[live.web as usize], true) {
                    if let Some(entry) = room.held.iter_mut().find(|entry| entry.0 == live.web) {
                        entry.1 = entry.1.min(next);
                    }
                } else {
                    room.held.push((live.web, next));
                }
            }
        }
    }

    fn leave(&mut self, number: usize) -> Vec<u32> {
        let at_end: Vec<u32> = self.room.own.iter().map(|&(web, _)| web).collect();
        for (web, _) in self.room.own.drain(..) {
            self.room.is_own[web as usize] = false;
        }
        for (web, _) in self.room.held.drain(..) {
            self.room.is_held[web as usize] = false;
        }
        for live in &self.input.values.live_in[number] {
            self.room.undefined[live.web as usize] = false;
        }
        self.room.taken = 0;
        at_end
    }

    fn walk(&mut self, number: usize) {
        let block = &self.input.graph.blocks[number];
        let capacity = self.input.capacity[number];
        let mut plan = BlockPlan::default();
        self.enter(number);
        while self.room.taken > capacity {
            let Some((web, own)) = self.farthest(number, block.start as u32, |_| false) else {
                break;
            };
            if own {
                self.room.remove_own(web, self.slots(web));
                self.drop_at_start(number, web);
            }
            self.release(number, web);
        }
        // What was dropped so far is settled for this block; only others have to look again.
        self.stale[number] = false;
        for pc in block.start..block.end {
            self.step(number, pc, &mut plan);
        }
        plan.at_end = self.leave(number);
        plan.at_end.sort_unstable();
        self.plans[number] = plan;
        self.walked[number] = true;
    }

    /// What waiting lanes keep in the register of a web is given up.
    fn release(&mut self, number: usize, web: u32) {
        if self.room.is_held[web as usize] {
            self.room.remove_held(web, self.slots(web));
            self.drop_where_waiting(number, web);
        }
    }

    fn step(&mut self, number: usize, pc: usize, plan: &mut BlockPlan) {
        let step = &self.input.steps.of[pc];
        let missing: Vec<u32> = step
            .reads
            .iter()
            .map(|read| read.web)
            .filter(|&web| !self.room.is_own[web as usize] && !self.room.undefined[web as usize])
            .collect();
        let news: u32 =
            missing.iter().filter(|&&web| !self.room.has(web)).map(|&web| self.slots(web)).sum();
        let read = |web: u32| step.reads.iter().any(|touch| touch.web == web);
        self.make_room(number, pc, news, plan, read);
        for web in missing {
            plan.events.push(Event { pc, web, kind: EventKind::Fill });
            self.room.add_own(web, pc as u32, self.slots(web));
        }
        for touch in &step.reads {
            if touch.next == DEAD {
                self.room.remove_own(touch.web, self.slots(touch.web));
            } else {
                self.room.set_next(touch.web, touch.next);
            }
        }
        let written = |web: u32| step.writes.iter().any(|touch| touch.web == web);
        let news: u32 = step
            .writes
            .iter()
            .filter(|touch| !self.room.has(touch.web))
            .map(|touch| self.slots(touch.web))
            .sum();
        self.make_room(number, pc, news, plan, written);
        for touch in &step.writes {
            self.room.undefined[touch.web as usize] = false;
            if touch.next == DEAD {
                self.room.remove_own(touch.web, self.slots(touch.web));
            } else {
                self.room.add_own(touch.web, touch.next, self.slots(touch.web));
            }
        }
    }

    fn make_room(
        &mut self,
        number: usize,
        pc: usize,
        news: u32,
        plan: &mut BlockPlan,
        pinned: impl Fn(u32) -> bool,
    ) {
        let capacity = self.input.capacity[number];
        while self.room.taken + news > capacity {
            let Some((web, own)) = self.farthest(number, pc as u32, &pinned) else {
                return;
            };
            if own {
                self.room.remove_own(web, self.slots(web));
                self.left[web as usize] = true;
                plan.events.push(Event { pc, web, kind: EventKind::Leave });
            }
            self.release(number, web);
        }
    }

    /// The value to give up: the one with the greatest product of the distance to its next read
    /// and the registers it frees, for what it costs to keep it elsewhere. Says whether it is one
    /// of the block's own.
    fn farthest(
        &self,
        number: usize,
        at: u32,
        pinned: impl Fn(u32) -> bool,
    ) -> Option<(u32, bool)> {
        let here = self.input.loops.frequency[number];
        let worth = |(web, next): (u32, u32)| {
            let distance = u64::from(next.saturating_sub(at)) + 1;
            let index = web as usize;
            // In twelfths of a fill: making again is cheaper than a load, and a store is due
            // unless there is one already (DEV-030).
            let cost = if self.input.repeatable[index] {
                6
            } else if self.left[index] {
                12
            } else {
                12 + (12 * self.input.defined[index].min(here) / here.max(1)).min(12)
            };
            distance * u64::from(self.slots(web)) * 24 / cost
        };
        let own = self.room.own.iter().filter(|entry| !pinned(entry.0));
        let own = own.map(|&entry| (worth(entry), entry.0, true));
        let held = self.room.held.iter().filter(|entry| !pinned(entry.0));
        let held = held.filter(|entry| !self.room.is_own[entry.0 as usize]);
        let held = held.map(|&entry| (worth(entry), entry.0, false));
        own.chain(held).max().map(|(_, web, own)| (web, own))
    }

    /// Makes the ends of blocks agree with the starts of those that follow.
    fn join(&mut self) {
        for plan in &mut self.plans {
            plan.fills.clear();
        }
        for block in 0..self.plans.len() {
            for (before, web) in self.join_at(block) {
                self.plans[before].fills.push(web);
            }
        }
    }

    /// Makes the start of a block agree with the ends of those before it, as far as they are known;
    /// says what has to come back at which of these.
    fn join_at(&mut self, block: usize) -> Vec<(usize, u32)> {
        let Input { graph, values, .. } = *self.input;
        let mut fills = Vec::new();
        for index in 0..values.live_in[block].len() {
            if !self.at_start[block][index] {
                continue;
            }
            let web = values.live_in[block][index].web;
            let before = graph.blocks[block].predecessors.iter().copied();
            let lacking: Vec<usize> = before
                .filter(|&before| self.walked[before] && !self.ends_with(before, web))
                .collect();
            if lacking.is_empty() {
                continue;
            }
            if self.worth_filling(block, index, &lacking) {
                fills.extend(lacking.into_iter().map(|before| (before, web)));
            } else {
                self.drop_at_start(block, web);
            }
        }
        fills
    }

    /// Whether a web is in its register at the end of a block, or need not be because nothing
    /// defines it on the way there.
    fn ends_with(&self, block: usize, web: u32) -> bool {
        let plan = &self.plans[block];
        if plan.at_end.binary_search(&web).is_ok() || plan.fills.contains(&web) {
            return true;
        }
        let index = self.input.values.live_in_index(block, web);
        index.is_some_and(|index| !self.input.values.live_in[block][index].defined)
            && !self.defines(block, web)
    }

    fn defines(&self, block: usize, web: u32) -> bool {
        let block = &self.input.graph.blocks[block];
        let steps = &self.input.steps.of[block.start..block.end];
        steps.iter().any(|step| step.writes.iter().any(|write| write.web == web))
    }

    /// Whether to bring a web back at the ends of some predecessors rather than behind the start.
    fn worth_filling(&self, block: usize, index: usize, lacking: &[usize]) -> bool {
        let Input { graph, loops, kernel, values, steps, .. } = *self.input;
        let web = values.live_in[block][index].web;
        let cost: u64 = lacking.iter().map(|&before| loops.frequency[before]).sum();
        steps.distance[block][index] < EXIT
            && cost < loops.frequency[block]
            && lacking.iter().all(|&before| {
                let last = graph.blocks[before].end - 1;
                let table = matches!(flow(&kernel.instructions[last]), Flow::Table(_));
                !table && self.room_at_end(before) >= self.slots(web)
            })
    }

    /// Registers free at the end of a block.
    fn room_at_end(&self, block: usize) -> u32 {
        let plan = &self.plans[block];
        let mut taken: Vec<u32> = plan.at_end.iter().chain(&plan.fills).copied().collect();
        for &place in &self.input.divergence.keeping[block] {
            let place = place as usize;
            let live = self.input.values.live_in[place].iter().zip(&self.at_start[place]);
            taken.extend(live.filter(|(_, resident)| **resident).map(|(live, _)| live.web));
        }
        taken.sort_unstable();
        taken.dedup();
        let taken: u32 = taken.iter().map(|&web| self.slots(web)).sum();
        self.input.capacity[block].saturating_sub(taken)
    }
}
