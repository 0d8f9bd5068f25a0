//! Loops, and how often each block executes by a static guess.
//!
//! A loop is the natural loop of an edge back to a block that the depth-first walk is still in. The
//! guess: a block executes eight times as often as what encloses its loop, and half as often as the
//! loop's head (or the kernel's start) when control may pass it by.

use crate::cfg::Graph;

/// Levels of nesting that the guess tells apart.
const MAX_DEPTH: u32 = 6;
/// Blocks visited to find the bodies of loops; blocks beyond the limit count as outside. Natural
/// loops of real kernels need a few visits for each block.
const MAX_VISITS: usize = 1 << 22;

/// What is known about the loops of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    /// Loops around each block.
    pub(crate) depth: Vec<u32>,
    /// Guessed executions of each block, in sixteenths of the kernel's.
    pub(crate) frequency: Vec<u64>,
    /// The blocks, each after its predecessors but for edges back.
    pub(crate) order: Vec<usize>,
}

impl Loops {
    /// Finds the loops of a graph.
    pub(crate) fn new(graph: &Graph) -> Self {
        let (order, back_edges) = walk(graph);
        let count = graph.blocks.len();
        let mut depth = vec![0; count];
        let mut head = vec![0; count];
        let mut seen = vec![usize::MAX; count];
        let mut visits = 0;
        // Outer loops begin earlier in the order, so that a block's last head is the inner one.
        let mut place = vec![0; count];
        for (index, &block) in order.iter().enumerate() {
            place[block] = index;
        }
        let mut heads: Vec<usize> = back_edges.iter().map(|&(_, head)| head).collect();
        heads.sort_unstable_by_key(|&head| place[head]);
        heads.dedup();
        let mut latches: Vec<Vec<usize>> = vec![Vec::new(); count];
        for &(latch, head) in &back_edges {
            latches[head].push(latch);
        }
        for this in heads {
            seen[this] = this;
            let mut body = vec![this];
            let mut work = std::mem::take(&mut latches[this]);
            while let Some(block) = work.pop() {
                visits += 1;
                if visits > MAX_VISITS || std::mem::replace(&mut seen[block], this) == this {
                    continue;
                }
                body.push(block);
                work.extend(&graph.blocks[block].predecessors);
            }
            for block in body {
                depth[block] += 1;
                head[block] = this;
            }
        }
        let frequency = (0..count)
            .map(|block| {
                let passed = if always_reached(graph, head[block], block) { 16 } else { 8 };
                passed << (3 * depth[block].min(MAX_DEPTH))
            })
            .collect();
        Self { depth, frequency, order }
    }
}

/// Whether every path from one block to the exit passes another, as far as a short walk tells.
fn always_reached(graph: &Graph, from: usize, block: usize) -> bool {
    let mut at = from;
    for _ in 0..64 {
        if at == block {
            return true;
        }
        if at == graph.exit() {
            return false;
        }
        at = graph.post_dominator[at];
    }
    false
}

/// Reverse post-order, and the edges back to a block that the walk is still in.
fn walk(graph: &Graph) -> (Vec<usize>, Vec<(usize, usize)>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let count = graph.blocks.len();
    let mut state = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    let mut back = Vec::new();
    let mut stack = vec![(0, 0)];
    state[0] = State::Open;
    while let Some((block, next)) = stack.last_mut() {
        let block = *block;
        let Some(&to) = graph.blocks[block].successors.get(*next) else {
            state[block] = State::Done;
            order.push(block);
            stack.pop();
            continue;
        };
        *next += 1;
        if to == graph.exit() {
            continue;
        }
        match state[to] {
            State::New => {
                state[to] = State::Open;
                stack.push((to, 0));
            }
            State::Open => back.push((block, to)),
            State::Done => {}
        }
    }
    order.reverse();
    (order, back)
}
