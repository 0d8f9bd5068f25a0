//! The potential of point charges.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Spacing of the grid, the same number as in the launch file; its plane is at height 0.
const SPACING: f64 = 0.01_f32 as f64;

/// Charges over distances in double precision, added to what was there.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let count = inputs.parameter("atoms")?;
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    bounded(&[count, columns, rows])?;
    let atoms = inputs.f32("atoms", 4 * count)?;
    let atoms: Vec<[f64; 4]> =
        atoms.as_chunks::<4>().0.iter().map(|atom| atom.map(f64::from)).collect();
    let before = inputs.f32("potential", columns * rows)?;
    let mut potential = Vec::with_capacity(before.len());
    for row in 0..rows {
        for column in 0..columns {
            let (x, y) = (SPACING * column as f64, SPACING * row as f64);
            let energies = atoms.iter().map(|[at_x, at_y, at_z, charge]| {
                charge / ((x - at_x).powi(2) + (y - at_y).powi(2) + at_z.powi(2)).sqrt()
            });
            potential.push(f64::from(before[row * columns + column]) + energies.sum::<f64>());
        }
    }
    Ok(vec![("potential", Values::F64(potential))])
}
