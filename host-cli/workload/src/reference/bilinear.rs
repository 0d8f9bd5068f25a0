//! A picture seen through an affine map.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The map, the same numbers as in the launch file: (u, v) for each x, for each y, at the corner.
const MAP: [[f64; 2]; 3] = [[0.75, 0.25], [-0.25, 0.75], [9.5, -8.5]];

/// The mean of four samples for each pixel, each between four texels, in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let (width, height) = (inputs.parameter("width")?, inputs.parameter("height")?);
    bounded(&[width, height, 16])?;
    bounded(&[columns, rows, 4])?;
    let texels = inputs.f32("texels", 4 * columns * rows)?;
    let texels = texels.as_chunks::<4>().0;
    let at = |x: f64, y: f64, colour: usize| {
        let clamped = |at: f64, size: usize| (at.max(0.0) as usize).min(size.saturating_sub(1));
        let texel = texels.get(clamped(y, rows) * columns + clamped(x, columns));
        texel.map_or(0.0, |texel| f64::from(texel[colour]))
    };
    let sample = |u: f64, v: f64, colour: usize| {
        let (left, top) = (u.floor(), v.floor());
        let (across, down) = (u - left, v - top);
        (1.0 - down)
            * ((1.0 - across) * at(left, top, colour) + across * at(left + 1.0, top, colour))
            + down
                * ((1.0 - across) * at(left, top + 1.0, colour)
                    + across * at(left + 1.0, top + 1.0, colour))
    };
    let mut pixels = Vec::with_capacity(4 * width * height);
    for y in 0..height {
        for x in 0..width {
            for colour in 0..4 {
                let samples = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
                let sum: f64 = samples
                    .iter()
                    .map(|[right, down]| {
                        let (px, py) = (x as f64 + right, y as f64 + down);
                        let [u, v] =
                            [0, 1].map(|axis| MAP[0][axis] * px + MAP[1][axis] * py + MAP[2][axis]);
                        sample(u, v, colour)
                    })
                    .sum();
                pixels.push(sum / 4.0);
            }
        }
    }
    Ok(vec![("pixels", Values::F64(pixels))])
}
