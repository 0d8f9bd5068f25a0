//! What an option pays after random walks of its price.

use std::f64::consts::TAU;

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Price, strike, and drift and volatility of a step: the same numbers as in the launch file.
const PRICE: f64 = 1.0;
const STRIKE: f64 = 0.95_f32 as f64;
const DRIFT: f64 = -0.0015_f32 as f64;
const VOLATILITY: f64 = 0.06_f32 as f64;

/// The walks in double precision, from the same random integers.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let walkers = inputs.parameter("walkers")?;
    let (paths, pairs) = (inputs.parameter("paths")?, inputs.parameter("pairs")?);
    bounded(&[walkers, paths, pairs])?;
    let seeds = inputs.u32("seeds", 4 * walkers)?;
    let (mut sums, mut squares) = (Vec::new(), Vec::new());
    for seeds in seeds.as_chunks::<4>().0 {
        let mut random = Random::new(*seeds);
        let (mut sum, mut square) = (0.0, 0.0);
        for _ in 0..paths {
            let logarithm: f64 = (0..pairs).map(|_| random.two_steps()).sum();
            let paid = (PRICE * logarithm.exp() - STRIKE).max(0.0);
            sum += paid;
            square += paid * paid;
        }
        sums.push(sum);
        squares.push(square);
    }
    Ok(vec![("sums", Values::F64(sums)), ("squares", Values::F64(squares))])
}

/// Three Tausworthe generators and a linear congruential one.
struct Random {
    shifted: [u32; 3],
    linear: u32,
}

impl Random {
    fn new([a, b, c, linear]: [u32; 4]) -> Self {
        Self { shifted: [a, b, c].map(|seed| seed | 128), linear }
    }

    fn next(&mut self) -> u32 {
        let constants = [(13, 19, 12, 1), (2, 25, 4, 7), (3, 11, 17, 15)];
        for (state, (left, right, up, dropped)) in self.shifted.iter_mut().zip(constants) {
            let low = ((*state << left) ^ *state) >> right;
            *state = ((*state & !dropped) << up) ^ low;
        }
        self.linear = self.linear.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.shifted.iter().fold(self.linear, |word, state| word ^ state)
    }

    /// In (0, 1): the middle of one of 2^23 steps.
    fn uniform(&mut self) -> f64 {
        (f64::from(self.next() >> 9) + 0.5) / f64::from(1 << 23)
    }

    /// The change of the price's logarithm in two steps: Box and Muller's two normal numbers.
    fn two_steps(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (TAU * self.uniform()).sin_cos();
        2.0 * DRIFT + VOLATILITY * radius * (cos + sin)
    }
}
