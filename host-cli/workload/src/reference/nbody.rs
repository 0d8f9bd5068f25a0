//! Bodies that attract each other.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Time step and squared softening length, the same numbers as in the launch file.
const STEP: f64 = 0.0005_f32 as f64;
const SOFTENING: f64 = 0.01_f32 as f64;

type Vector = [f64; 4];

/// All pairs in double precision: velocities first, then positions with the new velocities.
///
/// The kernel alternates between two sets of arrays, so the last two states are the results.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (count, steps) = (inputs.parameter("bodies")?, inputs.parameter("steps")?);
    bounded(&[count, count, steps])?;
    let read = |name| Ok(vectors(&inputs.f32(name, 4 * count)?));
    let mut bodies: Vec<Vector> = read("bodies_even")?;
    let mut velocities: Vec<Vector> = read("velocities_even")?;
    let mut bodies_before: Vec<Vector> = read("bodies_odd")?;
    let mut velocities_before: Vec<Vector> = read("velocities_odd")?;
    for _ in 0..steps {
        let mut next_bodies = bodies.clone();
        let mut next_velocities = velocities.clone();
        for (body, velocity) in next_bodies.iter_mut().zip(&mut next_velocities) {
            let pull = acceleration(body, &bodies);
            for axis in 0..3 {
                velocity[axis] += pull[axis] * STEP;
                body[axis] += velocity[axis] * STEP;
            }
        }
        bodies_before = std::mem::replace(&mut bodies, next_bodies);
        velocities_before = std::mem::replace(&mut velocities, next_velocities);
    }
    let even = steps % 2 == 0;
    let order = |now: Vec<Vector>, before: Vec<Vector>| {
        let (even, odd) = if even { (now, before) } else { (before, now) };
        (Values::F64(even.concat()), Values::F64(odd.concat()))
    };
    let (bodies_even, bodies_odd) = order(bodies, bodies_before);
    let (velocities_even, velocities_odd) = order(velocities, velocities_before);
    Ok(vec![
        ("bodies_even", bodies_even),
        ("bodies_odd", bodies_odd),
        ("velocities_even", velocities_even),
        ("velocities_odd", velocities_odd),
    ])
}

fn vectors(values: &[f32]) -> Vec<Vector> {
    values.as_chunks::<4>().0.iter().map(|vector| vector.map(f64::from)).collect()
}

/// The pull of all bodies on one.
fn acceleration(body: &Vector, bodies: &[Vector]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for other in bodies {
        let way = [other[0] - body[0], other[1] - body[1], other[2] - body[2]];
        let square = way.iter().map(|side| side * side).sum::<f64>() + SOFTENING;
        let pull = other[3] / (square * square.sqrt());
        for (total, side) in sum.iter_mut().zip(way) {
            *total += side * pull;
        }
    }
    sum
}
