//! Ray tracing: spheres that reflect above a plane of squares.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// What is farther is the sky.
const FAR: f32 = 1e30;
/// What is nearer is the surface that a ray starts from.
const NEAR: f32 = 1e-3;
/// Where the light is, far away: a vector of length 1.
const LIGHT: Vector = [0.48, 0.8, -0.36];

type Vector = [f32; 3];

struct Sphere {
    centre: Vector,
    radius: f32,
    colour: Vector,
    /// The share of the light that is reflected as by a mirror.
    mirror: f32,
}

/// Each pixel by itself in single precision, operation by operation as the kernel states it: at an
/// edge a different rounding would change what a ray meets.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (columns, rows) = (inputs.parameter("columns")?, inputs.parameter("rows")?);
    let (count, bounces) = (inputs.parameter("spheres")?, inputs.parameter("bounces")?);
    bounded(&[columns * rows, 2 * count, bounces + 1])?;
    let read = |name| inputs.f32(name, count);
    let [xs, ys, zs] = [read("xs")?, read("ys")?, read("zs")?];
    let [reds, greens, blues] = [read("reds")?, read("greens")?, read("blues")?];
    let (radii, mirrors) = (read("radii")?, read("mirrors")?);
    let spheres: Vec<Sphere> = (0..count)
        .map(|at| Sphere {
            centre: [xs[at], ys[at], zs[at]],
            radius: radii[at],
            colour: [reds[at], greens[at], blues[at]],
            mirror: mirrors[at],
        })
        .collect();

    let mut pixels = Vec::with_capacity(inputs.u32("pixels", columns * rows)?.len());
    let scale = 2.0 / columns as f32;
    for row in 0..rows {
        for column in 0..columns {
            let right = (column as f32).mul_add(scale, -1.0);
            let up = (rows as f32 - (2 * row) as f32) * (scale * 0.5);
            let seen = trace(&spheres, normalized([right, up, 1.5]), bounces);
            let [red, green, blue] = seen.map(|value| value.min(1.0).mul_add(255.0, 0.5) as u32);
            pixels.push(red | green << 8 | blue << 16);
        }
    }
    Ok(vec![("pixels", Values::U32(pixels))])
}

/// The light that comes from a direction to the eye.
fn trace(spheres: &[Sphere], mut direction: Vector, bounces: usize) -> Vector {
    let mut origin = [0.0, 1.5, -6.0];
    let mut seen = [0.0; 3];
    let mut weight = 1.0_f32;
    for _ in 0..=bounces {
        let plane = if direction[1] < 0.0 { -origin[1] / direction[1] } else { FAR };
        let (mut distance, mut nearest) = (plane, None);
        for sphere in spheres {
            let found = meet(origin, direction, sphere);
            if found > NEAR && found < distance {
                (distance, nearest) = (found, Some(sphere));
            }
        }
        if distance >= FAR {
            let height = direction[1].max(0.0);
            let sky = [0.9 - 0.6 * height, 0.95 - 0.4 * height, 1.0];
            return std::array::from_fn(|i| weight.mul_add(sky[i], seen[i]));
        }

        let place = along(origin, direction, distance);
        let (normal, colour, mirror) = match nearest {
            Some(sphere) => {
                let outwards = std::array::from_fn(|i| place[i] - sphere.centre[i]);
                (normalized(outwards), sphere.colour, sphere.mirror)
            }
            None => ([0.0, 1.0, 0.0], square(place), 0.25),
        };
        origin = along(place, normal, NEAR);
        let lit = spheres.iter().all(|sphere| meet(origin, LIGHT, sphere) <= NEAR);
        direction = normalized(along(direction, normal, -2.0 * dot(direction, normal)));
        let (mut bright, mut shine) = (0.2, 0.0);
        if lit {
            bright = 0.8_f32.mul_add(dot(normal, LIGHT).max(0.0), bright);
            shine = dot(direction, LIGHT).max(0.0);
            // To the power of 16.
            for _ in 0..4 {
                shine *= shine;
            }
        }
        let matt = weight * (1.0 - mirror) * bright;
        let gloss = weight * (mirror * shine);
        seen = std::array::from_fn(|i| matt.mul_add(colour[i], seen[i]) + gloss);
        weight *= mirror;
    }
    seen
}

/// Colour of the plane at a place.
fn square(place: Vector) -> Vector {
    let number = |position: f32| position.floor() as i32;
    let dark = number(place[0]).wrapping_add(number(place[2])) & 1 != 0;
    if dark { [0.2, 0.25, 0.3] } else { [0.9, 0.9, 0.8] }
}

/// Where a ray enters a sphere that it starts outside of; not above 0 if it misses it.
fn meet(origin: Vector, direction: Vector, sphere: &Sphere) -> f32 {
    let to = std::array::from_fn(|i| sphere.centre[i] - origin[i]);
    let middle = dot(to, direction);
    let square = middle.mul_add(middle, sphere.radius.mul_add(sphere.radius, -dot(to, to)));
    if square > 0.0 { middle - square.sqrt() } else { 0.0 }
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// `from + direction * distance`.
fn along(from: Vector, direction: Vector, distance: f32) -> Vector {
    std::array::from_fn(|i| direction[i].mul_add(distance, from[i]))
}

fn normalized(a: Vector) -> Vector {
    let scale = 1.0 / dot(a, a).sqrt();
    a.map(|value| value * scale)
}
