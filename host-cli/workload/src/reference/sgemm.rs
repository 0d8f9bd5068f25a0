//! `c = a * b` in single precision, by columns.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The definition, with fused products in the order of the inner dimension: results are equal.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let [m, n, k] = [inputs.parameter("m")?, inputs.parameter("n")?, inputs.parameter("k")?];
    bounded(&[m, n, k])?;
    let (a, b) = (inputs.f32("a", m * k)?, inputs.f32("b", k * n)?);
    let mut c = Vec::with_capacity(m * n);
    for column in 0..n {
        for row in 0..m {
            let products = (0..k).map(|inner| (a[inner * m + row], b[column * k + inner]));
            c.push(products.fold(0.0_f32, |sum, (left, right)| left.mul_add(right, sum)));
        }
    }
    Ok(vec![("c", Values::F32(c))])
}
