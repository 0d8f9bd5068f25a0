//! `c = a * b` for square row-major matrices.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The definition in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let n = inputs.parameter("n")?;
    bounded(&[n, n, n])?;
    let (a, b) = (inputs.f32("a", n * n)?, inputs.f32("b", n * n)?);
    let mut c = vec![0.0_f64; n * n];
    // The middle loop runs over the inner dimension so that rows are read in order.
    for row in 0..n {
        let c_row = &mut c[row * n..][..n];
        for k in 0..n {
            let factor = f64::from(a[row * n + k]);
            for (sum, value) in c_row.iter_mut().zip(&b[k * n..][..n]) {
                *sum += factor * f64::from(*value);
            }
        }
    }
    Ok(vec![("c", Values::F64(c))])
}
