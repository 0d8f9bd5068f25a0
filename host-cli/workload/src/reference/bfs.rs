//! Breadth-first search: the distance of every node from the source.

use std::collections::VecDeque;

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The textbook's queue. Distances are unique: equal to the kernels'.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (nodes, edges) = (inputs.parameter("nodes")?, inputs.parameter("edges")?);
    let source = inputs.parameter("source")?;
    let offsets = inputs.u32("offsets", nodes + 1)?;
    let targets = inputs.u32("edges", edges)?;
    let mut levels = vec![-1; nodes];
    let mut queue = VecDeque::new();
    if let Some(level) = levels.get_mut(source) {
        *level = 0;
        queue.push_back(source);
    }
    while let Some(node) = queue.pop_front() {
        let row = offsets[node] as usize..offsets[node + 1] as usize;
        // A user's own buffers need not hold a graph: what lies outside is no edge.
        for &target in targets.get(row).unwrap_or_default() {
            let target = target as usize;
            if levels.get(target) == Some(&-1) {
                levels[target] = levels[node] + 1;
                queue.push_back(target);
            }
        }
    }
    Ok(vec![("levels", Values::S32(levels))])
}
