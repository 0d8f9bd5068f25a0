//! Escape times of the Mandelbrot set.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Corner and width of the picture, the same numbers as in the launch file.
const LEFT: f32 = -2.1;
const TOP: f32 = -1.1;
const WIDTH: f32 = 2.9;

/// The iteration in single precision, operation by operation as the kernel states it: a different
/// rounding anywhere would change escape times near the border.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let limit = inputs.parameter("limit")?;
    bounded(&[columns, rows, 4, limit])?;
    let pixels = inputs.u32("times", columns * rows)?.len();
    let spacing = WIDTH / (2 * columns) as f32;
    let mut times = Vec::with_capacity(pixels);
    for y in 0..rows {
        for x in 0..columns {
            let samples = [(0, 0), (1, 0), (0, 1), (1, 1)];
            let total: usize = samples
                .iter()
                .map(|(right, down)| {
                    let real = ((2 * x + right) as f32).mul_add(spacing, LEFT);
                    let imaginary = ((2 * y + down) as f32).mul_add(spacing, TOP);
                    escape_time(real, imaginary, limit)
                })
                .sum();
            times.push(total as u32);
        }
    }
    Ok(vec![("times", Values::U32(times))])
}

/// Iterations of `z = z * z + c` until `z` is farther than 2 from the origin.
fn escape_time(real: f32, imaginary: f32, limit: usize) -> usize {
    let (mut a, mut b) = (0.0_f32, 0.0_f32);
    for time in 0..limit {
        let (a_square, b_square) = (a * a, b * b);
        if a_square + b_square > 4.0 {
            return time;
        }
        b = (a + a).mul_add(b, imaginary);
        a = (a_square - b_square) + real;
    }
    limit
}
