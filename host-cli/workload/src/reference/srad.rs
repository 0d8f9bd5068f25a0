//! Speckle reducing anisotropic diffusion.

use super::error::bounded;
use super::hotspot::step_back;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Step size of the diffusion, the same number as in the launch file.
const LAMBDA: f64 = 0.5;

/// The published difference scheme in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let iterations = inputs.parameter("iterations")?;
    bounded(&[columns, rows, iterations])?;
    let cells = columns * rows;
    let image = inputs.f32("image", cells)?;
    let mut field: Vec<f64> = image.iter().map(|&value| (f64::from(value) / 255.0).exp()).collect();
    for _ in 0..iterations {
        field = iterate(&field, columns, rows);
    }
    let result = field.iter().map(|value| value.ln() * 255.0).collect();
    Ok(vec![("result", Values::F64(result))])
}

fn iterate(field: &[f64], columns: usize, rows: usize) -> Vec<f64> {
    let cells = field.len() as f64;
    let mean = field.iter().sum::<f64>() / cells;
    let variance = field.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / cells;
    let speckle = variance / (mean * mean);

    let at = |x: usize, y: usize| field[y * columns + x];
    let south_of = |y: usize| (y + 1).min(rows - 1);
    let east_of = |x: usize| (x + 1).min(columns - 1);
    let coefficient = |x: usize, y: usize| {
        let here = at(x, y);
        let differences = [
            at(x, step_back(y)) - here,
            at(x, south_of(y)) - here,
            at(step_back(x), y) - here,
            at(east_of(x), y) - here,
        ];
        let gradient = differences.iter().map(|d| d * d).sum::<f64>() / (here * here);
        let laplacian = differences.iter().sum::<f64>() / here;
        let variation = (gradient / 2.0 - laplacian * laplacian / 16.0)
            / ((1.0 + laplacian / 4.0) * (1.0 + laplacian / 4.0));
        let ratio = (variation - speckle) / (speckle * (1.0 + speckle));
        (1.0 / (1.0 + ratio)).clamp(0.0, 1.0)
    };
    let mut next = Vec::with_capacity(field.len());
    for y in 0..rows {
        for x in 0..columns {
            let (here, own) = (at(x, y), coefficient(x, y));
            let divergence = own * (at(x, step_back(y)) - here)
                + coefficient(x, south_of(y)) * (at(x, south_of(y)) - here)
                + own * (at(step_back(x), y) - here)
                + coefficient(east_of(x), y) * (at(east_of(x), y) - here);
            next.push(here + LAMBDA / 4.0 * divergence);
        }
    }
    next
}
