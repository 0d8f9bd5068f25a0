//! Factors of a matrix, lower times upper.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Elimination of one column after another in double precision, without changing places of rows:
/// factors below the diagonal, what is left on it and above.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let n = inputs.parameter("n")?;
    bounded(&[n, n, n])?;
    let mut matrix: Vec<f64> = inputs.f32("matrix", n * n)?.into_iter().map(f64::from).collect();
    // What the launch file adds to the diagonal.
    for at in 0..n {
        matrix[at * n + at] += n as f64;
    }
    for pivot in 0..n {
        let (above, below) = matrix.split_at_mut((pivot + 1) * n);
        let pivot_row = &above[pivot * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[pivot] / pivot_row[pivot];
            row[pivot] = factor;
            for (value, upper) in row.iter_mut().zip(pivot_row).skip(pivot + 1) {
                *value -= factor * upper;
            }
        }
    }
    Ok(vec![("matrix", Values::F64(matrix))])
}
