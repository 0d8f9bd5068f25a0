//! A seven-point stencil in three dimensions.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Weights, the same numbers as in the launch file.
const CENTRE: f64 = 0.4_f32 as f64;
const BESIDE: f64 = 0.1_f32 as f64;

/// Each inner cell by itself, in double precision; the outermost cells keep their values.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let [columns, rows, slabs] = ["columns", "rows", "slabs"].map(|name| inputs.parameter(name));
    let (columns, rows, slabs) = (columns?, rows?, slabs?);
    let steps = inputs.parameter("steps")?;
    bounded(&[columns, rows, slabs, steps])?;
    let read = |name| -> Result<Vec<f64>, _> {
        Ok(inputs.f32(name, columns * rows * slabs)?.into_iter().map(f64::from).collect())
    };
    let (mut now, mut other) = (read("even")?, read("odd")?);
    for _ in 0..steps {
        for z in 1..slabs - 1 {
            for y in 1..rows - 1 {
                for x in 1..columns - 1 {
                    let at = |x: usize, y: usize, z: usize| now[(z * rows + y) * columns + x];
                    let beside = at(x - 1, y, z)
                        + at(x + 1, y, z)
                        + at(x, y - 1, z)
                        + at(x, y + 1, z)
                        + at(x, y, z - 1)
                        + at(x, y, z + 1);
                    other[(z * rows + y) * columns + x] = CENTRE * at(x, y, z) + BESIDE * beside;
                }
            }
        }
        std::mem::swap(&mut now, &mut other);
    }
    let (even, odd) = if steps % 2 == 0 { (now, other) } else { (other, now) };
    Ok(vec![("even", Values::F64(even)), ("odd", Values::F64(odd))])
}
