//! Heat conduction on a chip, in explicit time steps.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Physical constants, the same numbers as in the launch file.
const ACROSS: f64 = 0.9_f32 as f64;
const ALONG: f64 = 1.1_f32 as f64;
const SINK: f64 = 0.05_f32 as f64;
const AMBIENT: f64 = 318.0;
const SCALE: f64 = 0.125;

/// The difference equation in double precision; the field outside the chip mirrors its edge.
///
/// The kernel alternates between two fields, so the last two states are the results.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let steps = inputs.parameter("steps")?;
    bounded(&[columns, rows, steps])?;
    let cells = columns * rows;
    let widen = |values: Vec<f32>| -> Vec<f64> { values.into_iter().map(f64::from).collect() };
    let power = widen(inputs.f32("power", cells)?);
    let mut now = widen(inputs.f32("even", cells)?);
    let mut before = widen(inputs.f32("odd", cells)?);

    for _ in 0..steps {
        let mut next = Vec::with_capacity(cells);
        for y in 0..rows {
            for x in 0..columns {
                let at = |x: usize, y: usize| now[y * columns + x];
                let here = at(x, y);
                let flow_x = at(step_back(x), y) + at((x + 1).min(columns - 1), y) - 2.0 * here;
                let flow_y = at(x, step_back(y)) + at(x, (y + 1).min(rows - 1)) - 2.0 * here;
                let heat = power[y * columns + x]
                    + flow_x * ACROSS
                    + flow_y * ALONG
                    + (AMBIENT - here) * SINK;
                next.push(here + SCALE * heat);
            }
        }
        before = std::mem::replace(&mut now, next);
    }
    let (even, odd) = if steps % 2 == 0 { (now, before) } else { (before, now) };
    Ok(vec![("even", Values::F64(even)), ("odd", Values::F64(odd))])
}

/// The index before, staying at 0: how stencils mirror the first row and column.
pub(super) const fn step_back(index: usize) -> usize {
    index.saturating_sub(1)
}
