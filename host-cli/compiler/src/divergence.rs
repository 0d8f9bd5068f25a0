//! Where lanes of a warp may wait while others execute (rule 10).
//!
//! When a branch diverges, the warp executes one side up to the reconvergence point, then the next.
//! While a block of one side executes, lanes may wait at the reconvergence point (their side is
//! done), at the first block of every other side (theirs is still to come), and within another side
//! where it lets others go on ([`Stop`]): then at any place where its own branches have lanes wait.
//! Lanes that wait within a side for lanes at its reconvergence point wait there while these go on
//! to the end. Nothing here depends on which side goes first. Every guarded or indexed branch
//! counts as divergent.

use std::collections::BTreeMap;

use crate::cfg::Graph;
use crate::flow::ControlFlow;
use crate::limits::{MAX_WAITING_PAIRS, TooLarge};
use crate::order::Stop;

/// The effect of divergence on the order of execution.
#[derive(Clone, Debug)]
pub(crate) struct Divergence {
    /// For each block, the blocks at whose start lanes may wait while it executes. Ascending.
    pub(crate) waiting: Vec<Vec<u32>>,
    /// Those of them where a branch leaves lanes: the values of these lanes do not share registers.
    /// Values of lanes that wait within a side may share registers with others' results: each lane
    /// has its own part of a register, but a last use is that of all lanes.
    pub(crate) keeping: Vec<Vec<u32>>,
}

/// A first block of a side and its reconvergence point. Sides that several branches share are
/// walked once.
type Side = (usize, usize);

/// Lanes that wait at a place while sides of one reconvergence point execute. Sides of many
/// branches that leave lanes at one place are walked together: 20,000 early exits to one label cost
/// as many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Left {
    /// Where the sides reconverge.
    join: usize,
    /// Where the lanes wait.
    place: u32,
    /// Whether a branch left them there, and not a stop within another side.
    keeping: bool,
}

/// First blocks of the sides that lanes wait for, each with the block of a branch that leads there.
type Heads = BTreeMap<Left, Vec<(usize, usize)>>;

impl Divergence {
    /// Finds the waiting places of every block.
    pub(crate) fn new(code: &impl ControlFlow, graph: &Graph) -> Result<Self, TooLarge> {
        let heads = heads(code, graph, &Stops::new(code, graph)?);
        let none = vec![Vec::new(); graph.exit()];
        let mut this = Self { waiting: none.clone(), keeping: none };
        let mut walks = Walks::new(graph);
        for (left, heads) in heads {
            this.add(&mut walks, left, heads)?;
        }
        for (waiting, keeping) in this.waiting.iter_mut().zip(&mut this.keeping) {
            keeping.sort_unstable();
            keeping.dedup();
            waiting.extend(&*keeping);
            waiting.sort_unstable();
            waiting.dedup();
        }
        Ok(this)
    }

    /// Lanes may wait elsewhere while any of the sides executes.
    fn add(
        &mut self,
        walks: &mut Walks<'_>,
        Left { join, place, keeping }: Left,
        heads: Vec<(usize, usize)>,
    ) -> Result<(), TooLarge> {
        let of = if keeping { &mut self.keeping } else { &mut self.waiting };
        walks.count += 1;
        for (head, branch) in heads {
            walks.walk((head, join), branch, |block| of[block].push(place))?;
        }
        Ok(())
    }
}

/// Finds who waits for which sides.
fn heads(code: &impl ControlFlow, graph: &Graph, stops: &Stops) -> Heads {
    let exit = graph.exit();
    let mut found = Heads::new();
    for branch in 0..graph.blocks.len() {
        let (sides, join) = (graph.sides(code, branch), graph.post_dominator[branch]);
        let mut leave = |(side, join), place, keeping| {
            let heads = found.entry(Left { join, place, keeping }).or_default();
            heads.push((side, branch));
        };
        for &side in &sides {
            for &other in sides.iter().filter(|&&other| other != side) {
                leave((side, join), other as u32, true);
                for &place in stops.within(other, join) {
                    leave((side, join), place, false);
                }
            }
            if join != exit {
                leave((side, join), join as u32, true);
            }
        }
        // Lanes that stopped on any of the sides stay behind while others go on to the end.
        let go_on =
            graph.is_before_end(join) && sides.iter().any(|&side| stops.has_members(side, join));
        for &side in sides.iter().filter(|_| go_on) {
            for &place in stops.within(side, join) {
                leave((join, exit), place, false);
            }
        }
    }
    found
}

/// The walks of sides so far.
struct Walks<'a> {
    graph: &'a Graph,
    seen: Vec<usize>,
    count: usize,
    pairs: usize,
}

impl<'a> Walks<'a> {
    fn new(graph: &'a Graph) -> Self {
        Self { graph, seen: vec![usize::MAX; graph.exit()], count: 0, pairs: 0 }
    }

    /// Visits the blocks of a side that this walk, whose number is the count, has not visited;
    /// `branch` is the block whose end leads there.
    fn walk(
        &mut self,
        side: Side,
        branch: usize,
        mut visit: impl FnMut(usize),
    ) -> Result<(), TooLarge> {
        if self.seen[side.0] == self.count {
            return Ok(());
        }
        let (graph, pairs) = (self.graph, &mut self.pairs);
        graph.walk_side(side, (&mut self.seen, self.count), |block| {
            visit(block);
            *pairs += 1;
            if *pairs > MAX_WAITING_PAIRS {
                return Err(TooLarge::nesting(graph.blocks[branch].end - 1));
            }
            Ok(())
        })
    }
}

/// Where lanes stop within sides.
struct Stops {
    /// For each block, why lanes may stop at its end, and the blocks where they go on.
    of: Vec<Vec<(Stop, usize)>>,
    /// For each side in which lanes stop, where its lanes may then be, and whether some may wait
    /// for members.
    within: BTreeMap<Side, (Vec<u32>, bool)>,
}

impl Stops {
    fn new(code: &impl ControlFlow, graph: &Graph) -> Result<Self, TooLarge> {
        let mut of: Vec<Vec<(Stop, usize)>> = vec![Vec::new(); graph.blocks.len()];
        for (block, of) in of.iter_mut().enumerate() {
            let last = graph.blocks[block].end - 1;
            graph.order.stops(code, last, |stop, place| of.push((stop, graph.block_of[place])));
        }
        let mut this = Self { of, within: BTreeMap::new() };
        if this.of.iter().all(Vec::is_empty) {
            return Ok(this);
        }
        let mut walks = Walks::new(graph);
        for branch in 0..graph.blocks.len() {
            for side in graph.sides(code, branch) {
                this.find(&mut walks, (side, graph.post_dominator[branch]), branch)?;
            }
        }
        this.add_nested(code, &mut walks)?;
        Ok(this)
    }

    /// Finds the stops within a side of the branch that ends a block.
    fn find(&mut self, walks: &mut Walks<'_>, side: Side, branch: usize) -> Result<(), TooLarge> {
        if self.within.contains_key(&side) {
            return Ok(());
        }
        let (mut places, mut members) = (Vec::new(), false);
        walks.count += 1;
        walks.walk(side, branch, |block| {
            for &(stop, place) in &self.of[block] {
                places.push(place as u32);
                members |= stop == Stop::Members;
            }
        })?;
        if !places.is_empty() {
            self.within.insert(side, (places, members));
        }
        Ok(())
    }

    /// Adds where lanes of a side wait for those that stop, on account of branches within it.
    fn add_nested(
        &mut self,
        code: &impl ControlFlow,
        walks: &mut Walks<'_>,
    ) -> Result<(), TooLarge> {
        let graph = walks.graph;
        let nested: Vec<Vec<u32>> = (0..graph.blocks.len())
            .map(|block| {
                let (sides, join) = (graph.sides(code, block), graph.post_dominator[block]);
                if !sides.iter().any(|&side| self.within.contains_key(&(side, join))) {
                    return Vec::new();
                }
                let places = sides.iter().copied().chain([join]);
                places.filter(|&place| place != graph.exit()).map(|place| place as u32).collect()
            })
            .collect();
        let sides: Vec<Side> = self.within.keys().copied().collect();
        for side in sides {
            let mut found: Vec<u32> = Vec::new();
            walks.count += 1;
            graph.walk_side(side, (&mut walks.seen, walks.count), |block| {
                found.extend(&nested[block]);
                Ok(())
            })?;
            let Some((places, _)) = self.within.get_mut(&side) else { continue };
            places.extend(found);
            places.sort_unstable();
            places.dedup();
        }
        Ok(())
    }

    /// Where lanes of a side may be while others go on.
    fn within(&self, side: usize, join: usize) -> &[u32] {
        self.within.get(&(side, join)).map_or(&[], |(places, _)| places)
    }

    /// Whether lanes of a side may wait for members.
    fn has_members(&self, side: usize, join: usize) -> bool {
        self.within.get(&(side, join)).is_some_and(|&(_, members)| members)
    }
}
