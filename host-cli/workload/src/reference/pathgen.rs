//! Paths of a price.

use std::f64::consts::TAU;

use super::inputs::Inputs;
use super::values::{Expected, Values};
use super::xorwow::step;

/// The first price, drift and volatility: the same numbers as in the launch file.
const SPOT: f64 = 100.0;
const DRIFT: f64 = 0.001_f32 as f64;
const VOLATILITY: f64 = 0.03_f32 as f64;

/// Geometric Brownian motion in double precision: the same generator, the normal numbers of
/// Box-Muller, and all prices as powers of 2 of a sum; the means of prices and of their logarithms.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (paths, steps) = (inputs.parameter("paths")?, inputs.parameter("steps")?);
    let states = inputs.u32("states", 6 * paths)?;
    let mut prices = vec![0.0; 2 * paths * steps];
    let mut means = vec![0.0; 4 * paths];
    for path in 0..paths {
        let mut state: [u32; 6] = std::array::from_fn(|word| states[word * paths + path]);
        let mut fraction = || {
            state = step(state);
            let drawn = state[5].wrapping_add(state[4]);
            (f64::from(drawn >> 9) + 0.5) / f64::from(1 << 23)
        };
        let (mut normals, mut sum) = (Vec::new(), 0.0);
        for at in 0..steps {
            if normals.is_empty() {
                let radius = (-2.0 * fraction().ln()).sqrt();
                let (sine, cosine) = (TAU * fraction()).sin_cos();
                normals = vec![radius * sine, radius * cosine];
            }
            sum += normals.pop().unwrap_or(0.0);
            let drift = DRIFT * (at + 1) as f64;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let level = SPOT.log2() + drift + sign * VOLATILITY * sum;
                prices[(side * steps + at) * paths + path] = level.exp2();
                means[side * paths + path] += level.exp2() / steps as f64;
                means[(2 + side) * paths + path] += level / steps as f64;
            }
        }
    }
    Ok(vec![("prices", Values::F64(prices)), ("means", Values::F64(means))])
}
