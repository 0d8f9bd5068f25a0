//! Fourier transforms of 512 points.

use std::f64::consts::TAU;

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

const POINTS: usize = 512;

/// The definition of the discrete transform, in double precision.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let transforms = inputs.parameter("transforms")?;
    bounded(&[transforms, POINTS, POINTS])?;
    let count = transforms * POINTS;
    let (real, imaginary) = (inputs.f32("real", count)?, inputs.f32("imaginary", count)?);
    let roots: Vec<(f64, f64)> =
        (0..POINTS).map(|turn| (-TAU * turn as f64 / POINTS as f64).sin_cos()).collect();
    let (mut to_real, mut to_imaginary) = (Vec::new(), Vec::new());
    for (real, imaginary) in real.chunks_exact(POINTS).zip(imaginary.chunks_exact(POINTS)) {
        let (real, imaginary): (Vec<f64>, Vec<f64>) =
            real.iter().zip(imaginary).map(|(&re, &im)| (f64::from(re), f64::from(im))).unzip();
        for frequency in 0..POINTS {
            let (mut sum_real, mut sum_imaginary) = (0.0, 0.0);
            for point in 0..POINTS {
                let (sin, cos) = roots[frequency * point % POINTS];
                sum_real += real[point] * cos - imaginary[point] * sin;
                sum_imaginary += real[point] * sin + imaginary[point] * cos;
            }
            to_real.push(sum_real);
            to_imaginary.push(sum_imaginary);
        }
    }
    Ok(vec![("to_real", Values::F64(to_real)), ("to_imaginary", Values::F64(to_imaginary))])
}
