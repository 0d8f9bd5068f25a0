//! The matrix Q of magnetic resonance imaging.

use std::f64::consts::TAU;

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Squared magnitudes times complex exponentials, in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (samples, voxels) = (inputs.parameter("samples")?, inputs.parameter("voxels")?);
    bounded(&[samples, voxels])?;
    let places = inputs.f32("samples", 4 * samples)?;
    let (real, imaginary) = (inputs.f32("real", samples)?, inputs.f32("imaginary", samples)?);
    let [x, y, z] = [inputs.f32("x", voxels)?, inputs.f32("y", voxels)?, inputs.f32("z", voxels)?];
    let (mut q_real, mut q_imaginary) = (Vec::new(), Vec::new());
    for voxel in 0..voxels {
        let [x, y, z] = [x[voxel], y[voxel], z[voxel]].map(f64::from);
        let mut sums = [0.0, 0.0];
        for (sample, place) in places.as_chunks::<4>().0.iter().enumerate() {
            let place = place.map(f64::from);
            let (real, imaginary) = (f64::from(real[sample]), f64::from(imaginary[sample]));
            let magnitude = real * real + imaginary * imaginary;
            let (sin, cos) = (TAU * (place[0] * x + place[1] * y + place[2] * z)).sin_cos();
            sums[0] += magnitude * cos;
            sums[1] += magnitude * sin;
        }
        q_real.push(sums[0]);
        q_imaginary.push(sums[1]);
    }
    Ok(vec![("q_real", Values::F64(q_real)), ("q_imaginary", Values::F64(q_imaginary))])
}
