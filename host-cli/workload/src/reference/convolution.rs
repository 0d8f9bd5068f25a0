//! Convolution of the rows of a picture.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Weights to each side of the one in the middle.
const RADIUS: usize = 8;

/// Each pixel by itself, in double precision; beyond the edge the last pixel repeats.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let picture = inputs.f32("picture", columns * rows)?;
    let weights = inputs.f32("weights", 2 * RADIUS + 1)?;
    let mut result = Vec::with_capacity(picture.len());
    for row in picture.chunks_exact(columns.max(1)) {
        for x in 0..columns {
            let products = weights.iter().enumerate().map(|(i, &weight)| {
                let from = (x + i).saturating_sub(RADIUS).min(columns - 1);
                f64::from(weight) * f64::from(row[from])
            });
            result.push(products.sum());
        }
    }
    Ok(vec![("result", Values::F64(result))])
}
