//! A lattice Boltzmann fluid.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Relaxation, the same number as in the launch file.
const OMEGA: f64 = 1.25;

/// The directions of D3Q19, each behind the opposite one, and the weights of the equilibrium.
const DIRECTIONS: [([isize; 3], f64); 19] = {
    const AXIS: f64 = 1.0 / 18.0;
    const DIAGONAL: f64 = 1.0 / 36.0;
    [
        ([0, 0, 0], 1.0 / 3.0),
        ([1, 0, 0], AXIS),
        ([-1, 0, 0], AXIS),
        ([0, 1, 0], AXIS),
        ([0, -1, 0], AXIS),
        ([0, 0, 1], AXIS),
        ([0, 0, -1], AXIS),
        ([1, 1, 0], DIAGONAL),
        ([-1, -1, 0], DIAGONAL),
        ([1, -1, 0], DIAGONAL),
        ([-1, 1, 0], DIAGONAL),
        ([1, 0, 1], DIAGONAL),
        ([-1, 0, -1], DIAGONAL),
        ([1, 0, -1], DIAGONAL),
        ([-1, 0, 1], DIAGONAL),
        ([0, 1, 1], DIAGONAL),
        ([0, -1, -1], DIAGONAL),
        ([0, 1, -1], DIAGONAL),
        ([0, -1, 1], DIAGONAL),
    ]
};

/// The direction that points the other way.
const fn opposite(direction: usize) -> usize {
    if direction == 0 { 0 } else { ((direction - 1) ^ 1) + 1 }
}

/// Streaming and collision in double precision; solid cells send back what comes.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let [columns, rows, slabs] = ["columns", "rows", "slabs"].map(|name| inputs.parameter(name));
    let (columns, rows, slabs) = (columns?, rows?, slabs?);
    let steps = inputs.parameter("steps")?;
    bounded(&[columns + 2, rows + 2, slabs + 2, 20 * (steps + 1)])?;
    let strides = [1, columns + 2, (columns + 2) * (rows + 2)];
    let field = strides[2] * (slabs + 2);
    let solid: Vec<bool> = inputs.u8("chance", field)?.iter().map(|&one| one == 0).collect();
    let read = |name| -> Result<Vec<f64>, _> {
        Ok(inputs.f32(name, 19 * field)?.into_iter().map(f64::from).collect())
    };
    let (mut now, mut other) = (read("even")?, read("odd")?);
    for _ in 0..steps {
        for z in 1..=slabs {
            for y in 1..=rows {
                for x in 1..=columns {
                    let cell = x + y * strides[1] + z * strides[2];
                    let mut came = [0.0; 19];
                    for (direction, (velocity, _)) in DIRECTIONS.iter().enumerate() {
                        let step: isize = velocity
                            .iter()
                            .zip(strides)
                            .map(|(v, stride)| v * stride as isize)
                            .sum();
                        came[direction] = now[direction * field + cell.wrapping_add_signed(-step)];
                    }
                    let sent = if solid[cell] { returned(&came) } else { collided(&came) };
                    for (direction, value) in sent.into_iter().enumerate() {
                        other[direction * field + cell] = value;
                    }
                }
            }
        }
        std::mem::swap(&mut now, &mut other);
    }
    let (even, odd) = if steps % 2 == 0 { (now, other) } else { (other, now) };
    Ok(vec![("even", Values::F64(even)), ("odd", Values::F64(odd))])
}

fn returned(came: &[f64; 19]) -> [f64; 19] {
    std::array::from_fn(|direction| came[opposite(direction)])
}

/// Relaxation towards the equilibrium of the cell's density and velocity.
fn collided(came: &[f64; 19]) -> [f64; 19] {
    let density: f64 = came.iter().sum();
    let flow = |axis: usize| -> f64 {
        let parts = DIRECTIONS.iter().zip(came);
        parts.map(|((velocity, _), part)| velocity[axis] as f64 * part).sum::<f64>() / density
    };
    let velocity = [flow(0), flow(1), flow(2)];
    let square: f64 = velocity.iter().map(|part| part * part).sum();
    std::array::from_fn(|direction| {
        let (towards, weight) = DIRECTIONS[direction];
        let along: f64 = towards.iter().zip(velocity).map(|(&c, u)| c as f64 * u).sum();
        let equilibrium =
            weight * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square);
        came[direction] + OMEGA * (equilibrium - came[direction])
    })
}
