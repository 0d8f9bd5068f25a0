//! `c = a + b`.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// One IEEE addition for each element: equal to the kernel's.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let n = inputs.parameter("n")?;
    let (a, b) = (inputs.f32("a", n)?, inputs.f32("b", n)?);
    let c = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    Ok(vec![("c", Values::F32(c))])
}
