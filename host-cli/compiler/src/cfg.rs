//! Control flow graph: basic blocks, post-dominators, reconvergence points.
//!
//! Block `exit` (one past the last real block) stands for the end of the kernel. Blocks from which
//! no path reaches it (endless loops) get an edge there for post-dominance only: one from each
//! group of blocks that is left, found in block order.
//!
//! A block also ends behind an instruction that waits, if lanes may be left there while others of
//! their warp go on: where lanes wait is always the start of a block.

use crate::flow::{ControlFlow, Flow, flow};
use crate::limits::{MAX_BLOCKS, MAX_WAITING_PAIRS, TooLarge};
use crate::order::{Order, Stop};

/// A basic block: a range of instructions that control enters at the first and leaves at the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// First instruction.
    pub(crate) start: usize,
    /// One past the last instruction.
    pub(crate) end: usize,
    /// Blocks that may follow, without repeats; the exit is [`Graph::exit`].
    pub(crate) successors: Vec<usize>,
    /// Blocks that may precede, without repeats.
    pub(crate) predecessors: Vec<usize>,
    /// It goes on where the block before it ends by nothing but an instruction that waits.
    pub(crate) continues: bool,
}

/// The blocks of a kernel, in program order, and what post-dominates each.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) blocks: Vec<Block>,
    /// Block of each instruction.
    pub(crate) block_of: Vec<usize>,
    /// Immediate post-dominator of each block; the exit's is itself.
    pub(crate) post_dominator: Vec<usize>,
    pub(crate) order: Order,
}

impl Graph {
    /// Builds the graph of code that has at least one instruction.
    pub(crate) fn new(code: &impl ControlFlow) -> Result<Self, TooLarge> {
        Self::ordered(code, Order::of(code))
    }

    /// The graph of code whose lanes wait in an order that forgets something.
    #[cfg(test)]
    pub(crate) fn forgetting(
        code: &impl ControlFlow,
        forgotten: crate::order::Forgotten,
    ) -> Result<Self, TooLarge> {
        Self::ordered(code, Order::forgetting(code, forgotten))
    }

    fn ordered(code: &impl ControlFlow, order: Order) -> Result<Self, TooLarge> {
        let graph = Self::with_places(code, order, &[])?;
        let left = graph.places_left(code)?;
        if left.is_empty() { Ok(graph) } else { Self::with_places(code, graph.order, &left) }
    }

    /// The graph without regard to where lanes wait.
    pub(crate) fn basic(code: &impl ControlFlow) -> Result<Self, TooLarge> {
        Self::with_places(code, Order::of(code), &[])
    }

    /// `places`: instructions where lanes may be left behind.
    fn with_places(
        code: &impl ControlFlow,
        order: Order,
        places: &[usize],
    ) -> Result<Self, TooLarge> {
        let (mut blocks, block_of) = find_blocks(code, places);
        if blocks.len() > MAX_BLOCKS {
            let message = format!("has {} basic blocks, at most {MAX_BLOCKS} can be", blocks.len());
            return Err(TooLarge::kernel("kernel-too-large", message));
        }
        let exit = blocks.len();
        for index in 0..exit {
            let mut successors = Vec::new();
            code.successors(blocks[index].end - 1, |next| {
                let next = next.map_or(exit, |pc| block_of[pc]);
                if !successors.contains(&next) {
                    successors.push(next);
                }
            });
            for &next in successors.iter().filter(|&&next| next != exit) {
                blocks[next].predecessors.push(index);
            }
            blocks[index].successors = successors;
        }
        let post_dominator = post_dominators(&blocks);
        Ok(Self { blocks, block_of, post_dominator, order })
    }

    /// The sides of the divergent branch that ends a block: where lanes may go but for the
    /// reconvergence point.
    pub(crate) fn sides(&self, code: &impl ControlFlow, block: usize) -> Vec<usize> {
        let this = &self.blocks[block];
        if this.successors.len() < 2 || !code.may_diverge(this.end - 1) {
            return Vec::new();
        }
        let join = self.post_dominator[block];
        let targets = this.successors.iter().copied();
        targets.filter(|&next| next != self.exit() && next != join).collect()
    }

    /// Visits the blocks of a side before its reconvergence point. `seen` holds, for each block,
    /// the last walk that came there.
    pub(crate) fn walk_side(
        &self,
        (side, join): (usize, usize),
        (seen, walk): (&mut [usize], usize),
        mut visit: impl FnMut(usize) -> Result<(), TooLarge>,
    ) -> Result<(), TooLarge> {
        let mut work = vec![side];
        seen[side] = walk;
        while let Some(block) = work.pop() {
            for &next in &self.blocks[block].successors {
                let inside = next != join && next != self.exit();
                if inside && std::mem::replace(&mut seen[next], walk) != walk {
                    work.push(next);
                }
            }
            visit(block)?;
        }
        Ok(())
    }

    /// Instructions behind those that wait on a side of a branch, where lanes may be left while
    /// another side goes on, or while lanes at the reconvergence point go on to the end.
    fn places_left(&self, code: &impl ControlFlow) -> Result<Vec<usize>, TooLarge> {
        let mut left = Vec::new();
        if self.order.waits(0..code.count()).is_empty() {
            return Ok(left);
        }
        let mut seen = vec![usize::MAX; self.blocks.len()];
        let mut walked = std::collections::BTreeMap::new();
        let (mut walks, mut steps) = (0, 0);
        for number in 0..self.blocks.len() {
            let (sides, join) = (self.sides(code, number), self.post_dominator[number]);
            let goes_on = self.is_before_end(join);
            for &side in &sides {
                let which = (sides.len() > 1, goes_on);
                let done = walked.entry((side, join)).or_insert((false, false));
                if *done == which || which == (false, false) {
                    continue;
                }
                *done = (done.0 || which.0, done.1 || which.1);
                walks += 1;
                let mut inside: Vec<(usize, Stop)> = Vec::new();
                self.walk_side((side, join), (&mut seen, walks), |block| {
                    steps += 1;
                    let block = &self.blocks[block];
                    inside.extend(self.order.waits(block.start..block.end));
                    if steps > MAX_WAITING_PAIRS {
                        return Err(TooLarge::nesting(self.blocks[number].end - 1));
                    }
                    Ok(())
                })?;
                if which.0 || inside.iter().any(|&(_, stop)| stop == Stop::Members) {
                    left.extend(inside.iter().map(|&(pc, _)| pc + 1));
                }
            }
        }
        left.sort_unstable();
        left.dedup();
        Ok(left)
    }

    /// Whether lanes at the start of a block exit without waiting and without a loop.
    pub(crate) fn is_before_end(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(|block| self.order.is_before_end(block.start))
    }

    /// Number of the virtual block behind every real one.
    pub(crate) fn exit(&self) -> usize {
        self.blocks.len()
    }

    /// Where the branch that ends a block reconverges, when it is one that may diverge: a guarded
    /// branch (`.uni` or not: nothing proves it) or an indexed one.
    pub(crate) fn reconvergence(&self, code: &impl ControlFlow, pc: usize) -> Option<u32> {
        if !code.may_diverge(pc) {
            return None;
        }
        let at = self.post_dominator[self.block_of[pc]];
        self.blocks.get(at).map(|block| block.start as u32)
    }
}

fn find_blocks(code: &impl ControlFlow, places: &[usize]) -> (Vec<Block>, Vec<usize>) {
    let count = code.count();
    let mut leader = vec![false; count + 1];
    leader[0] = true;
    for pc in 0..count {
        if flow(code.instruction(pc)) != Flow::Next {
            leader[pc + 1] = true;
            code.successors(pc, |next| {
                if let Some(next) = next {
                    leader[next] = true;
                }
            });
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = Vec::with_capacity(count);
    for (pc, leads) in leader.iter().take(count).enumerate() {
        let continues = !leads && places.binary_search(&pc).is_ok();
        if *leads || continues {
            let (successors, predecessors) = (Vec::new(), Vec::new());
            blocks.push(Block { start: pc, end: pc, successors, predecessors, continues });
        }
        block_of.push(blocks.len() - 1);
        if let Some(block) = blocks.last_mut() {
            block.end = pc + 1;
        }
    }
    (blocks, block_of)
}

/// Immediate post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy on the
/// reversed graph.
fn post_dominators(blocks: &[Block]) -> Vec<usize> {
    let exit = blocks.len();
    let mut sources: Vec<usize> =
        (0..exit).filter(|&block| blocks[block].successors.contains(&exit)).collect();
    let order = reverse_post_order(blocks, &mut sources);
    let mut rank = vec![usize::MAX; exit + 1];
    for (index, &block) in order.iter().enumerate() {
        rank[block] = index;
    }
    let mut leaves = vec![false; exit];
    for &block in &sources {
        leaves[block] = true;
    }
    let mut dominator = vec![usize::MAX; exit + 1];
    dominator[exit] = exit;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let real = blocks[block].successors.iter().copied().filter(|&next| next != exit);
            let next = real.chain(leaves[block].then_some(exit));
            let new = next.filter(|&next| dominator[next] != usize::MAX).reduce(|mut a, mut b| {
                while a != b {
                    while rank[a] > rank[b] {
                        a = dominator[a];
                    }
                    while rank[b] > rank[a] {
                        b = dominator[b];
                    }
                }
                a
            });
            if let Some(new) = new.filter(|&new| new != dominator[block]) {
                dominator[block] = new;
                changed = true;
            }
        }
    }
    dominator
}

/// Blocks in reverse post-order of a walk against the edges from the exit. Adds to `sources` (the
/// blocks with an edge to the exit) one block of each group that cannot reach it.
fn reverse_post_order(blocks: &[Block], sources: &mut Vec<usize>) -> Vec<usize> {
    let exit = blocks.len();
    let mut seen = vec![false; exit + 1];
    seen[exit] = true;
    let mut post_order = Vec::with_capacity(exit + 1);
    let walk = |root: usize, seen: &mut Vec<bool>, post_order: &mut Vec<usize>| {
        if std::mem::replace(&mut seen[root], true) {
            return;
        }
        let mut stack = vec![(root, 0)];
        while let Some((block, next)) = stack.last_mut() {
            if let Some(&before) = blocks[*block].predecessors.get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[before], true) {
                    stack.push((before, 0));
                }
            } else {
                post_order.push(*block);
                stack.pop();
            }
        }
    };
    for &source in sources.iter() {
        walk(source, &mut seen, &mut post_order);
    }
    // What is left cannot reach the exit. Later blocks first, so that a loop's last block, where
    // its back edge usually is, becomes the one that leaves.
    for block in (0..exit).rev() {
        if !seen[block] {
            sources.push(block);
            walk(block, &mut seen, &mut post_order);
        }
    }
    post_order.push(exit);
    post_order.reverse();
    post_order
}
