//! `c = alpha * a * b + beta * c` in double precision.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Factors, the same numbers as in the launch file.
const ALPHA: f64 = 1.5;
const BETA: f64 = -0.7;

/// The definition, with fused products in the order of the inner dimension: results are equal.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let [m, n, k] = [inputs.parameter("m")?, inputs.parameter("n")?, inputs.parameter("k")?];
    bounded(&[m, n, k])?;
    let (a, b) = (inputs.f64("a", m * k)?, inputs.f64("b", k * n)?);
    let mut c = inputs.f64("c", m * n)?;
    for row in 0..m {
        for column in 0..n {
            let mut sum = 0.0;
            for inner in 0..k {
                sum = a[row * k + inner].mul_add(b[inner * n + column], sum);
            }
            let entry = &mut c[row * n + column];
            *entry = ALPHA.mul_add(sum, BETA * *entry);
        }
    }
    Ok(vec![("c", Values::F64(c))])
}
