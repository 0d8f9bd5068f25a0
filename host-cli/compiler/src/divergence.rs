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
use crate::kernel::ControlFlow;
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

impl Divergence {
    /// Finds the waiting places of every block.
    pub(crate) fn new(code: &impl ControlFlow, graph: &Graph) -> Result<Self, TooLarge> {
        let stops = Stops::new(code, graph)?;
        let exit = graph.exit();
        let mut sides: BTreeMap<Side, Others> = BTreeMap::new();
        // For each reconvergence point that lanes may leave for the end, where they leave others.
        let mut leaving: BTreeMap<usize, Others> = BTreeMap::new();
        for index in 0..graph.blocks.len() {
            let (heads, join) = (graph.sides(code, index), graph.post_dominator[index]);
            for &side in &heads {
                let others = sides.entry((side, join)).or_default();
                for &other in heads.iter().filter(|&&other| other != side) {
                    others.keeping.push(other as u32);
                    others.stopped.extend(stops.within(other, join));
                }
                if join != exit {
                    others.keeping.push(join as u32);
                }
            }
            // Lanes that stopped on any of the sides stay behind.
            let leave = graph.is_before_end(join)
                && heads.iter().any(|&side| stops.has_members(side, join));
            for &side in heads.iter().filter(|_| leave) {
                let others = leaving.entry(join).or_default();
                others.stopped.extend(stops.within(side, join));
            }
        }
        let none = vec![Vec::new(); exit];
        let mut this = Self { waiting: none.clone(), keeping: none };
        let mut walks = Walks { graph, seen: vec![usize::MAX; exit], count: 0, pairs: 0 };
        for (side, others) in sides {
            this.add(&mut walks, side, others)?;
        }
        for (join, others) in leaving {
            this.add(&mut walks, (join, exit), others)?;
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

    /// Lanes may wait elsewhere while a side executes.
    fn add(
        &mut self,
        walks: &mut Walks<'_>,
        (side, join): Side,
        Others { mut keeping, mut stopped }: Others,
    ) -> Result<(), TooLarge> {
        for places in [&mut keeping, &mut stopped] {
            places.sort_unstable();
            places.dedup();
        }
        walks.count += 1;
        let (graph, seen) = (walks.graph, (&mut walks.seen[..], walks.count));
        graph.walk_side((side, join), seen, |block| {
            self.keeping[block].extend(&keeping);
            self.waiting[block].extend(&stopped);
            walks.pairs += keeping.len() + stopped.len();
            if walks.pairs > MAX_WAITING_PAIRS { Err(TooLarge::nesting()) } else { Ok(()) }
        })
    }
}

/// Where lanes may wait while a side executes.
#[derive(Clone, Debug, Default)]
struct Others {
    /// Where the branch left them.
    keeping: Vec<u32>,
    /// Within other sides.
    stopped: Vec<u32>,
}

/// The walks of sides so far.
struct Walks<'a> {
    graph: &'a Graph,
    seen: Vec<usize>,
    count: usize,
    pairs: usize,
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
        let mut walks =
            Walks { graph, seen: vec![usize::MAX; graph.blocks.len()], count: 0, pairs: 0 };
        for index in 0..graph.blocks.len() {
            for side in graph.sides(code, index) {
                this.find(&mut walks, (side, graph.post_dominator[index]))?;
            }
        }
        this.add_nested(code, &mut walks)?;
        Ok(this)
    }

    /// Finds the stops within a side.
    fn find(&mut self, walks: &mut Walks<'_>, side: Side) -> Result<(), TooLarge> {
        if self.within.contains_key(&side) {
            return Ok(());
        }
        let (mut places, mut members) = (Vec::new(), false);
        walks.count += 1;
        walks.graph.walk_side(side, (&mut walks.seen, walks.count), |block| {
            for &(stop, place) in &self.of[block] {
                places.push(place as u32);
                members |= stop == Stop::Members;
            }
            walks.pairs += 1;
            if walks.pairs > MAX_WAITING_PAIRS { Err(TooLarge::nesting()) } else { Ok(()) }
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
