//! Global alignment with a linear gap penalty.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The recurrence, row by row. Integers: equal to the kernel's.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (n, penalty) = (inputs.parameter("n")?, inputs.parameter("penalty")? as i32);
    let similarity = inputs.s32("similarity", n * n)?;
    let mut rows: Vec<Vec<i32>> = Vec::with_capacity(n + 1);
    rows.push((0..=n as i32).map(|gaps| gaps.wrapping_mul(-penalty)).collect());
    for (y, matches) in similarity.chunks_exact(n.max(1)).enumerate() {
        let above = &rows[y];
        let mut row = Vec::with_capacity(n + 1);
        let mut beside = (y as i32 + 1).wrapping_mul(-penalty);
        row.push(beside);
        for (x, similarity) in matches.iter().enumerate() {
            let matched = above[x].wrapping_add(*similarity);
            let gap = above[x + 1].max(beside).wrapping_sub(penalty);
            beside = matched.max(gap);
            row.push(beside);
        }
        rows.push(row);
    }
    Ok(vec![("scores", Values::S32(rows.concat()))])
}
