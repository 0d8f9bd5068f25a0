//! Cosine transform of 8 x 8 blocks, weights, and the inverse transform.

use std::f64::consts::PI;

use super::inputs::Inputs;
use super::values::{Expected, Values};

const SIDE: usize = 8;

type Block = [[f64; SIDE]; SIDE];

/// The defining sums in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let cells = columns * rows;
    let image = inputs.u8("image", cells)?;
    let weights = inputs.f32("weights", SIDE * SIDE)?;
    let basis = basis();
    let mut coefficients = vec![0.0; cells];
    let mut filtered = vec![0.0; cells];
    for top in (0..rows / SIDE * SIDE).step_by(SIDE) {
        for left in (0..columns / SIDE * SIDE).step_by(SIDE) {
            let at = |x: usize, y: usize| (top + y) * columns + left + x;
            let mut block = Block::default();
            for (y, row) in block.iter_mut().enumerate() {
                for (x, value) in row.iter_mut().enumerate() {
                    *value = f64::from(image[at(x, y)]) - 128.0;
                }
            }
            let mut spectrum = product(&product(&basis, &block), &transposed(&basis));
            for (v, row) in spectrum.iter_mut().enumerate() {
                for (u, value) in row.iter_mut().enumerate() {
                    coefficients[at(u, v)] = *value;
                    *value *= f64::from(weights[v * SIDE + u]);
                }
            }
            let block = product(&product(&transposed(&basis), &spectrum), &basis);
            for (y, row) in block.iter().enumerate() {
                for (x, value) in row.iter().enumerate() {
                    filtered[at(x, y)] = value + 128.0;
                }
            }
        }
    }
    Ok(vec![("coefficients", Values::F64(coefficients)), ("filtered", Values::F64(filtered))])
}

/// The orthonormal cosine basis: one row for each frequency.
fn basis() -> Block {
    let mut basis = Block::default();
    for (frequency, row) in basis.iter_mut().enumerate() {
        let norm = if frequency == 0 { (1.0_f64 / 8.0).sqrt() } else { 0.5 };
        for (at, value) in row.iter_mut().enumerate() {
            *value = norm * ((2 * at + 1) as f64 * frequency as f64 * PI / 16.0).cos();
        }
    }
    basis
}

fn product(a: &Block, b: &Block) -> Block {
    let mut c = Block::default();
    for (a_row, c_row) in a.iter().zip(&mut c) {
        for (factor, b_row) in a_row.iter().zip(b) {
            for (sum, value) in c_row.iter_mut().zip(b_row) {
                *sum += factor * value;
            }
        }
    }
    c
}

fn transposed(a: &Block) -> Block {
    let mut b = Block::default();
    for (y, row) in a.iter().enumerate() {
        for (x, value) in row.iter().enumerate() {
            b[x][y] = *value;
        }
    }
    b
}
