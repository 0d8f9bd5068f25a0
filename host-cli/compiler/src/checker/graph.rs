//! The kernel's flow, where lanes wait, and post-dominance by its textbook equation.
//!
//! Lanes wait where their branch leaves them: at its other targets and where its sides meet. They
//! also stop on a side, behind an instruction that waits and at the head of a loop that sees what
//! others store, and leave the rest to other sides. Lanes that wait for members on a side let lanes
//! go on that are where it ends, if nothing but the exit follows there.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use strata_ptx::module::Instruction;
use strata_ptx::opcode::{MemoryOrder, Modifiers, Opcode};

use super::facts::waits_at_barrier;
use super::violation::{Problem, Report};
use crate::flow::{ControlFlow, Flow, flow};
use crate::kernel::Kernel;
use crate::program::Program;

/// A run of instructions that control enters at `start` and leaves behind `end - 1`.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) next: BTreeSet<usize>,
    pub(super) exits: bool,
    /// Lanes may leave it for different places.
    splits: bool,
    /// Where the program says that they meet again; `None` is the exit.
    join: Option<usize>,
    /// Where lanes go on that let others run at its end.
    stops: BTreeSet<usize>,
    /// What they wait for there.
    waits: Option<For>,
}

/// What an instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Lanes that a member mask names.
    Members,
    /// Threads of the CTA.
    Barrier,
}

/// The runs of a kernel.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// For each node, whether lanes at its start get to the exit without waiting and without a
    /// loop.
    before_exit: Vec<bool>,
}

/// Lanes wait at the start of node `at`: since the branch that ends node `branch` diverged, or
/// (`None`) because others of their branch went on to the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wait {
    branch: Option<usize>,
    pub(super) at: usize,
    /// They stopped within another side.
    pub(super) stopped: bool,
}

/// For each node, the lanes that may wait while it executes.
pub(super) type Waiting = Vec<BTreeSet<Wait>>;

/// For each edge out of a divergent branch, where lanes of its other sides may be besides their
/// beginnings and ends.
type Left = BTreeMap<(usize, usize), BTreeSet<usize>>;

impl Graph {
    pub(super) fn new(kernel: &Kernel, program: &Program) -> Self {
        let mut starts = BTreeSet::from([0]);
        let waits = |pc: usize| {
            let instruction = &kernel.instructions[pc];
            let barrier = waits_at_barrier(instruction).then_some(For::Barrier);
            barrier.or(names_members(instruction).then_some(For::Members))
        };
        for (pc, instruction) in kernel.instructions.iter().enumerate() {
            if flow(instruction) != Flow::Next || waits(pc).is_some() {
                starts.insert(pc + 1);
                kernel.successors(pc, |next| starts.extend(next));
            }
        }
        starts.remove(&kernel.instructions.len());
        let starts: Vec<usize> = starts.into_iter().collect();
        let node_at: BTreeMap<usize, usize> =
            starts.iter().enumerate().map(|(node, &start)| (start, node)).collect();
        let ends = starts.iter().skip(1).copied().chain([kernel.instructions.len()]);
        let nodes = starts.iter().zip(ends).map(|(&start, end)| {
            let (mut next, mut exits) = (BTreeSet::new(), false);
            kernel.successors(end - 1, |to| match to.and_then(|to| node_at.get(&to)) {
                Some(&node) => drop(next.insert(node)),
                None => exits = true,
            });
            let last = &kernel.instructions[end - 1];
            let divergent = match flow(last) {
                Flow::Branch(_) => last.guard.is_some(),
                Flow::Table(_) => true,
                Flow::Next | Flow::Exit => false,
            };
            let join = program.instructions[end - 1].reconvergence;
            let join = join.and_then(|pc| node_at.get(&(pc as usize)).copied());
            let waits = waits(end - 1);
            let turns = |&to: &usize| {
                let body = starts[to]..end;
                starts[to] < end && kernel.instructions[body].iter().any(sees_stores)
            };
            let stops = next.iter().copied().filter(|to| waits.is_some() || turns(to)).collect();
            let join = join.filter(|_| divergent);
            Node { start, end, next, exits, splits: divergent, join, stops, waits }
        });
        let nodes: Vec<Node> = nodes.collect();
        let before_exit = before_exit(&nodes);
        Self { nodes, before_exit }
    }

    /// The waiting lanes of each node: those that branches leave behind, and those that follow from
    /// places where lanes stop.
    pub(super) fn waiting(&self) -> Waiting {
        let mut waiting: Waiting = vec![BTreeSet::new(); self.nodes.len()];
        let mut left = Left::new();
        self.spread(&left, &mut waiting);
        if self.nodes.iter().all(|node| node.stops.is_empty()) {
            return waiting;
        }
        loop {
            let known = left.clone();
            let seeds = self.leave(&waiting, &mut left);
            let before: usize = waiting.iter().map(BTreeSet::len).sum();
            for (at, waits) in seeds {
                waiting[at].extend(waits);
            }
            self.spread(&left, &mut waiting);
            let after: usize = waiting.iter().map(BTreeSet::len).sum();
            if left == known && before == after {
                return waiting;
            }
        }
    }

    /// Follows control forwards: a divergent branch leaves lanes at its reconvergence point, at its
    /// other targets and where its other sides stop, until the reconvergence point is reached.
    fn spread(&self, left: &Left, waiting: &mut Waiting) {
        let mut work: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(from) = work.pop() {
            for &to in &self.nodes[from].next {
                let mut flowing = waiting[from].clone();
                let targets = &self.nodes[from].next;
                if self.nodes[from].splits && targets.len() > 1 {
                    let others = targets.iter().copied().filter(|&other| other != to);
                    let places = others.chain(self.nodes[from].join);
                    let wait = |stopped| move |at| Wait { branch: Some(from), at, stopped };
                    flowing.extend(places.map(wait(false)));
                    let stopped = left.get(&(from, to)).into_iter().flatten().copied();
                    flowing.extend(stopped.map(wait(true)));
                }
                flowing.retain(|wait| self.join(*wait) != Some(to));
                let before = waiting[to].len();
                waiting[to].extend(flowing);
                if waiting[to].len() != before {
                    work.push(to);
                }
            }
        }
    }

    /// Where lanes that waited are no longer left behind.
    fn join(&self, wait: Wait) -> Option<usize> {
        wait.branch.and_then(|branch| self.nodes[branch].join)
    }

    /// Finds where lanes of each side may be while others run, and which lanes wait at the start of
    /// the code that lanes execute on their way to the exit.
    fn leave(&self, waiting: &Waiting, left: &mut Left) -> BTreeMap<usize, BTreeSet<Wait>> {
        let mut seeds: BTreeMap<usize, BTreeSet<Wait>> = BTreeMap::new();
        for (branch, node) in self.nodes.iter().enumerate() {
            if !node.splits || node.next.len() < 2 {
                continue;
            }
            let (mut stay, mut leave) = (BTreeSet::new(), false);
            for &side in node.next.iter().filter(|&&side| Some(side) != node.join) {
                let region = self.region(side, node.join);
                let stopping =
                    || region.iter().filter(|&&inside| !self.nodes[inside].stops.is_empty());
                let mut places = BTreeSet::new();
                for &stop in stopping() {
                    places.extend(&self.nodes[stop].stops);
                    let nested = |wait: &&Wait| wait.branch.is_some_and(|b| region.contains(&b));
                    places.extend(waiting[stop].iter().filter(nested).map(|wait| wait.at));
                }
                leave |= stopping().any(|&stop| self.nodes[stop].waits == Some(For::Members));
                stay.extend(places.iter().map(|&at| Wait { branch: None, at, stopped: true }));
                for &other in node.next.iter().filter(|&&other| other != side) {
                    if Some(other) != node.join {
                        left.entry((branch, other)).or_default().extend(&places);
                    }
                }
            }
            if let Some(join) = node.join.filter(|&join| leave && self.before_exit[join]) {
                seeds.entry(join).or_default().extend(stay);
            }
        }
        seeds
    }

    /// Nodes that lanes may get to from one of them before they get to `join`.
    fn region(&self, from: usize, join: Option<usize>) -> BTreeSet<usize> {
        let mut region = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(node) = work.pop() {
            for &next in &self.nodes[node].next {
                if Some(next) != join && region.insert(next) {
                    work.push(next);
                }
            }
        }
        region
    }

    /// Checks every divergent branch's reconvergence point.
    pub(super) fn check_reconvergence(
        &self,
        kernel: &Kernel,
        program: &Program,
        report: &mut Report<'_>,
    ) {
        let dominators = self.post_dominators();
        let endless = self.may_run_forever();
        for (number, node) in self.nodes.iter().enumerate() {
            if !node.splits {
                continue;
            }
            let pc = node.end - 1;
            let found = program.instructions[pc].reconvergence;
            let strict: Vec<usize> = dominators[number].ones().filter(|&n| n != number).collect();
            // The nearest is the one that all others dominate too.
            let nearest = strict
                .iter()
                .copied()
                .find(|&near| dominators[near].count_ones(..) == strict.len());
            let expected = nearest.map(|node| self.nodes[node].start as u32);
            let good = if endless[number] {
                // Among endless paths there is more than one right choice.
                let starts = |pc: u32| strict.iter().any(|&n| self.nodes[n].start == pc as usize);
                found.is_none_or(starts)
            } else {
                found == expected
            };
            if !good || found.is_some_and(|pc| pc as usize >= kernel.instructions.len()) {
                report.add(pc, Problem::Reconvergence { found, expected });
            }
        }
    }

    /// For each node the nodes that every path from it to the exit passes, itself included.
    fn post_dominators(&self) -> Vec<FixedBitSet> {
        let count = self.nodes.len();
        let mut all = FixedBitSet::with_capacity(count);
        all.insert_range(..);
        let mut sets = vec![all.clone(); count];
        let mut changed = true;
        while changed {
            changed = false;
            for node in (0..count).rev() {
                let mut set = all.clone();
                if self.nodes[node].exits {
                    set.clear();
                }
                for &next in &self.nodes[node].next {
                    set.intersect_with(&sets[next]);
                }
                set.insert(node);
                if set != sets[node] {
                    sets[node] = set;
                    changed = true;
                }
            }
        }
        sets
    }

    /// Whether a node can get to one from which there is no way to the exit.
    fn may_run_forever(&self) -> Vec<bool> {
        let spread = |mut flags: Vec<bool>| {
            let mut changed = true;
            while changed {
                changed = false;
                for node in (0..flags.len()).rev() {
                    if !flags[node] && self.nodes[node].next.iter().any(|&next| flags[next]) {
                        flags[node] = true;
                        changed = true;
                    }
                }
            }
            flags
        };
        let ends = spread(self.nodes.iter().map(|node| node.exits).collect());
        spread(ends.into_iter().map(|ends| !ends).collect())
    }
}

/// Whether an instruction has a member mask, whose lanes it waits for.
fn names_members(instruction: &Instruction) -> bool {
    use Opcode as O;
    let Modifiers { sync, warp, .. } = instruction.modifiers;
    let between_lanes =
        matches!(instruction.opcode, O::Elect | O::Match | O::Redux | O::Shfl | O::Vote);
    let of_matrices =
        matches!(instruction.opcode, O::Ldmatrix | O::Mma | O::Movmatrix | O::Stmatrix | O::Wmma);
    of_matrices
        || sync && between_lanes
        || warp && matches!(instruction.opcode, O::Bar | O::Barrier)
}

/// Whether an instruction has a result that what other threads store meanwhile may decide.
fn sees_stores(instruction: &Instruction) -> bool {
    let weak = matches!(instruction.modifiers.order, None | Some(MemoryOrder::Weak));
    match instruction.opcode {
        Opcode::Ld => !weak,
        Opcode::Atom => true,
        Opcode::Mbarrier => ["arrive", "arrive_drop", "test_wait", "try_wait"]
            .iter()
            .any(|word| instruction.modifiers.has(word)),
        _ => false,
    }
}

/// Whether lanes at the start of each node get to the exit without waiting and without a loop.
fn before_exit(nodes: &[Node]) -> Vec<bool> {
    let mut found = vec![false; nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, node) in nodes.iter().enumerate().rev() {
            let ends = node.waits.is_none() && node.next.iter().all(|&next| found[next]);
            if ends && !std::mem::replace(&mut found[number], true) {
                changed = true;
            }
        }
    }
    found
}
