//! Matrix times vector.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Factors of the product and of what was there before, the same numbers as in the launch file.
const ALPHA: f64 = 1.5;
const BETA: f64 = -0.75;

/// The definition in double precision; the matrix stands column after column.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (rows, columns) = (inputs.parameter("rows")?, inputs.parameter("columns")?);
    let matrix = inputs.f32("matrix", rows * columns)?;
    let x = inputs.f32("x", columns)?;
    let y = inputs.f32("y", rows)?;
    let mut result: Vec<f64> = y.into_iter().map(|before| BETA * f64::from(before)).collect();
    for (column, factor) in matrix.chunks_exact(rows.max(1)).zip(x) {
        for (sum, element) in result.iter_mut().zip(column) {
            *sum += ALPHA * f64::from(*element) * f64::from(factor);
        }
    }
    Ok(vec![("y", Values::F64(result))])
}
