//! Where lanes of a warp may wait while others execute (rule 10).
//!
//! When a branch diverges, the warp executes one side up to the reconvergence point, then the next.
//! While a block of one side executes, lanes may wait at the reconvergence point (their side is
//! done) and at the first block of every other side (theirs is still to come). Nothing here depends
//! on which side goes first. Every guarded or indexed branch counts as divergent.

use std::collections::BTreeMap;

use crate::cfg::Graph;
use crate::kernel::ControlFlow;
use crate::limits::{Limit, MAX_WAITING_PAIRS};

/// What divergence does to the order of execution.
#[derive(Clone, Debug)]
pub(crate) struct Divergence {
    /// For each block, the blocks at whose start lanes may wait while it executes. Ascending.
    pub(crate) waiting: Vec<Vec<u32>>,
    /// Pairs (block that ends one side, first block of another side that may execute next).
    pub(crate) side_edges: Vec<(usize, usize)>,
}

impl Divergence {
    /// Finds the waiting places of every block.
    pub(crate) fn new(code: &impl ControlFlow, graph: &Graph) -> Result<Self, Limit> {
        let exit = graph.exit();
        // For each (first block of a side, its reconvergence point): where others may wait. Sides
        // that several branches share are walked once.
        let mut sides: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for (index, block) in graph.blocks.iter().enumerate() {
            if block.successors.len() < 2 || !code.may_diverge(block.end - 1) {
                continue;
            }
            let join = graph.post_dominator[index];
            let heads = block.successors.iter().copied().filter(|&next| next != exit);
            for side in heads.clone().filter(|&side| side != join) {
                let places = sides.entry((side, join)).or_default();
                let others = heads.clone().filter(|&other| other != side && other != join);
                places.extend(others.map(|other| other as u32));
                if join != exit {
                    places.push(join as u32);
                }
            }
        }
        Self::walk_sides(graph, sides)
    }

    fn walk_sides(graph: &Graph, sides: BTreeMap<(usize, usize), Vec<u32>>) -> Result<Self, Limit> {
        let exit = graph.exit();
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); exit];
        let mut side_edges = Vec::new();
        let mut visited = vec![usize::MAX; exit];
        let mut pairs = 0_usize;
        for (number, ((side, join), mut places)) in sides.into_iter().enumerate() {
            places.sort_unstable();
            places.dedup();
            let mut work = vec![side];
            visited[side] = number;
            while let Some(block) = work.pop() {
                waiting[block].extend(&places);
                pairs += places.len();
                if pairs > MAX_WAITING_PAIRS {
                    return Err(Limit::nesting());
                }
                let mut ends = false;
                for &next in &graph.blocks[block].successors {
                    if next == join || next == exit {
                        ends = true;
                    } else if visited[next] != number {
                        visited[next] = number;
                        work.push(next);
                    }
                }
                if ends {
                    let others = places.iter().map(|&place| place as usize);
                    let others = others.filter(|&place| place != join);
                    side_edges.extend(others.map(|other| (block, other)));
                    if side_edges.len() > MAX_WAITING_PAIRS {
                        return Err(Limit::nesting());
                    }
                }
            }
        }
        for places in &mut waiting {
            places.sort_unstable();
            places.dedup();
        }
        side_edges.sort_unstable();
        side_edges.dedup();
        Ok(Self { waiting, side_edges })
    }
}
