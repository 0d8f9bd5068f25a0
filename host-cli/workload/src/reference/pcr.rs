//! Systems of equations with three diagonals.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Elimination downwards and substitution upwards in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (systems, length) = (inputs.parameter("systems")?, inputs.parameter("length")?);
    let read = |name| inputs.f32(name, systems * length);
    let (lower, diagonal) = (read("lower")?, read("diagonal")?);
    let (upper, right) = (read("upper")?, read("right")?);
    let mut solution = Vec::with_capacity(right.len());
    for first in (0..systems).map(|system| system * length) {
        // Row by row, the unknown of the row is `value - factor * the next unknown`.
        let mut rows: Vec<(f64, f64)> = Vec::with_capacity(length);
        for at in first..first + length {
            let below = if at > first { f64::from(lower[at]) } else { 0.0 };
            let above = if at + 1 < first + length { f64::from(upper[at]) } else { 0.0 };
            let (factor, value) = rows.last().copied().unwrap_or_default();
            let pivot = f64::from(diagonal[at]) - below * factor;
            rows.push((above / pivot, (f64::from(right[at]) - below * value) / pivot));
        }
        let mut next = 0.0;
        for (factor, value) in rows.iter_mut().rev() {
            next = *value - *factor * next;
            *value = next;
        }
        solution.extend(rows.into_iter().map(|(_, value)| value));
    }
    Ok(vec![("solution", Values::F64(solution))])
}
