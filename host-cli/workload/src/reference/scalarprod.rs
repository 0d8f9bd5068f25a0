//! Scalar products of pairs of vectors.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The definition in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (pairs, length) = (inputs.parameter("pairs")?, inputs.parameter("length")?);
    let (a, b) = (inputs.f32("a", pairs * length)?, inputs.f32("b", pairs * length)?);
    let products = (0..pairs).map(|pair| {
        let (x, y) = (&a[pair * length..][..length], &b[pair * length..][..length]);
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    });
    Ok(vec![("products", Values::F64(products.collect()))])
}
