//! The kernel's flow, where lanes wait, and post-dominance by its textbook equation.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use super::{Problem, Report};
use crate::kernel::{ControlFlow, Flow, Kernel, flow};
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
}

/// The runs of a kernel.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// Lanes wait at the start of node `at` since the branch that ends node `branch` diverged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wait {
    branch: usize,
    pub(super) at: usize,
}

/// For each node, who may wait while it executes.
pub(super) type Waiting = Vec<BTreeSet<Wait>>;

impl Graph {
    pub(super) fn new(kernel: &Kernel, program: &Program) -> Self {
        let mut starts = BTreeSet::from([0]);
        for (pc, instruction) in kernel.instructions.iter().enumerate() {
            if flow(instruction) != Flow::Next {
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
            Node { start, end, next, exits, splits: divergent, join: join.filter(|_| divergent) }
        });
        Self { nodes: nodes.collect() }
    }

    /// Who waits where, following control forwards: a divergent branch leaves lanes at its
    /// reconvergence point and at its other targets until the reconvergence point is reached.
    pub(super) fn waiting(&self) -> Waiting {
        let mut waiting: Waiting = vec![BTreeSet::new(); self.nodes.len()];
        let mut work: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(from) = work.pop() {
            for &to in &self.nodes[from].next {
                let mut flowing = waiting[from].clone();
                let targets = &self.nodes[from].next;
                if self.nodes[from].splits && targets.len() > 1 {
                    let others = targets.iter().copied().filter(|&other| other != to);
                    let places = others.chain(self.nodes[from].join);
                    flowing.extend(places.map(|at| Wait { branch: from, at }));
                }
                flowing.retain(|wait| self.nodes[wait.branch].join != Some(to));
                let before = waiting[to].len();
                waiting[to].extend(flowing);
                if waiting[to].len() != before {
                    work.push(to);
                }
            }
        }
        waiting
    }

    /// Nodes that a warp may execute next after a node: its successors, and where lanes of another
    /// side wait once this side is done.
    pub(super) fn warp_next(&self, node: usize, waiting: &Waiting) -> BTreeSet<usize> {
        let this = &self.nodes[node];
        let mut next = this.next.clone();
        let mut waits = waiting[node].clone();
        if this.splits && this.next.len() > 1 {
            let targets = this.next.iter().copied().filter(|&at| Some(at) != this.join);
            waits.extend(targets.map(|at| Wait { branch: node, at }));
        }
        for wait in waits {
            let join = self.nodes[wait.branch].join;
            if this.exits || join.is_some_and(|join| this.next.contains(&join)) {
                next.insert(wait.at);
            }
        }
        next
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
