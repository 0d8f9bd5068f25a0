//! Sampling: the texels that coordinates select, and their weighted mean.

use super::{AddressMode, Channel, Filter, Image, Sampler};
use crate::arith::convert::f32_from_f16;

/// Coordinates of one lane: x, y, z; those beyond the image's dimensions do not count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// Indices of texels.
    Texels([i32; 3]),
    /// Places between texels.
    Places([f32; 3]),
}

/// Where a coordinate with its address mode leads to: fixed point with 8 bits of fraction.
///
/// Beyond this bound every coordinate is outside of every image. Unit: texels.
const FAR: f64 = (1_u64 << 40) as f64;

/// The texel of a position along a dimension; `None` is the border.
fn fold(position: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let size = i64::from(size);
    let folded = match mode {
        AddressMode::Clamp => position.clamp(0, size - 1),
        AddressMode::Border if (0..size).contains(&position) => position,
        AddressMode::Border => return None,
        AddressMode::Wrap => position.rem_euclid(size),
        AddressMode::Mirror => {
            let there = position.rem_euclid(2 * size);
            there.min(2 * size - 1 - there)
        }
    };
    Some(folded as u32)
}

/// How a dimension is addressed: wrapping needs normalised coordinates.
const fn effective(mode: AddressMode, normalized: bool) -> AddressMode {
    match mode {
        AddressMode::Wrap | AddressMode::Mirror if !normalized => AddressMode::Clamp,
        _ => mode,
    }
}

/// A place in texels, exactly, near enough for integers: where an image repeats, places far away
/// are brought back by whole periods.
fn scaled(place: f32, size: u32, normalized: bool, mode: AddressMode) -> f64 {
    let place = f64::from(place) * if normalized { f64::from(size) } else { 1.0 };
    if place.abs() < FAR {
        return place;
    }
    match mode {
        AddressMode::Wrap | AddressMode::Mirror => place % (2.0 * f64::from(size)),
        AddressMode::Clamp | AddressMode::Border => place.clamp(-FAR, FAR),
    }
}

/// The lower of the two texels around a place, and the weight of the upper one in 256ths.
fn between(place: f64) -> (i64, u64) {
    let fixed = (place * 256.0 + 0.5).floor() as i64 - 128;
    (fixed >> 8, (fixed & 0xff) as u64)
}

/// Of each dimension the lower texel and the weight of the upper one.
type Footprint = [(i64, u64); 3];

fn footprint(image: &Image, modes: [AddressMode; 3], normalized: bool, at: [f32; 3]) -> Footprint {
    let mut footprint = [(0, 0); 3];
    for dimension in 0..image.dimensions.count() {
        let size = image.sizes()[dimension];
        let place = scaled(at[dimension], size, normalized, modes[dimension]);
        footprint[dimension] = between(place);
    }
    footprint
}

/// One corner of a footprint: bit `d` of its number says whether it is the upper texel of dimension
/// `d`. `None` is the border.
fn corner(
    image: &Image,
    modes: [AddressMode; 3],
    footprint: &Footprint,
    number: usize,
    layer: u32,
) -> Option<[u32; 3]> {
    let mut place = [0, 0, layer];
    for dimension in 0..image.dimensions.count() {
        let position = footprint[dimension].0 + (number >> dimension & 1) as i64;
        place[dimension] = fold(position, image.sizes()[dimension], modes[dimension])?;
    }
    Some(place)
}

/// Layers of an image: 1 where it has none.
fn layers(image: &Image) -> u32 {
    if image.dimensions.layered() { image.depth } else { 1 }
}

/// The bytes of a texel; `texels` begins at the image's address.
fn texel<'t>(texels: &'t [u8], image: &Image, [x, y, z]: [u32; 3]) -> &'t [u8] {
    let row = u64::from(z) * u64::from(image.height) + u64::from(y);
    let first = (row * image.pitch + u64::from(x) * image.format.bytes()) as usize;
    texels.get(first..first + image.format.bytes() as usize).unwrap_or_default()
}

/// The bits that a channel reads as.
fn channel(bytes: &[u8], channel: Channel) -> u32 {
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u32::from_le_bytes(word);
    let normal = |value: i32, most: f32| (value as f32 / most).max(-1.0).to_bits();
    match channel {
        Channel::U8 | Channel::U16 | Channel::U32 | Channel::S32 | Channel::F32 => bits,
        Channel::S8 => bits as i8 as u32,
        Channel::S16 => bits as i16 as u32,
        Channel::Unorm8 => normal(bits as i32, 255.0),
        Channel::Snorm8 => normal(i32::from(bits as i8), 127.0),
        Channel::Unorm16 => normal(bits as i32, 65535.0),
        Channel::Snorm16 => normal(i32::from(bits as i16), 32767.0),
        Channel::F16 => f32_from_f16(bits as u16),
    }
}

/// Four channels of a texel; those that the format lacks are zero.
fn four(texels: &[u8], image: &Image, place: Option<[u32; 3]>) -> [u32; 4] {
    let mut result = [0; 4];
    let Some(place) = place else { return result };
    let bytes = texel(texels, image, place).chunks(image.format.channel.bytes() as usize);
    for (value, bytes) in result.iter_mut().zip(bytes) {
        *value = channel(bytes, image.format.channel);
    }
    result
}

/// Reads a texture; 0 is the layer where there are none. Of a layer that the image lacks the
/// nearest is read, at integer coordinates zero.
pub(crate) fn fetch(
    texels: &[u8],
    image: &Image,
    sampler: Sampler,
    at: Coordinates,
    layer: u32,
) -> [u32; 4] {
    let modes = sampler.address_modes.map(|mode| effective(mode, sampler.normalized));
    let dimensions = image.dimensions.count();
    let nearest_layer = layer.min(layers(image) - 1);
    match at {
        Coordinates::Texels(at) => {
            let mut place = (layer < layers(image)).then_some([0, 0, layer]);
            for (dimension, &position) in at.iter().enumerate().take(dimensions) {
                // Whatever the address mode is.
                let size = image.sizes()[dimension];
                let folded = fold(i64::from(position), size, AddressMode::Border);
                place = place.zip(folded).map(|(mut place, folded)| {
                    place[dimension] = folded;
                    place
                });
            }
            four(texels, image, place)
        }
        Coordinates::Places(at) if sampler.filter == Filter::Linear => {
            let footprint = footprint(image, modes, sampler.normalized, at);
            filtered(texels, image, modes, &footprint, nearest_layer)
        }
        Coordinates::Places(at) => {
            let mut nearest = [(0, 0); 3];
            for dimension in 0..dimensions {
                let size = image.sizes()[dimension];
                let place = scaled(at[dimension], size, sampler.normalized, modes[dimension]);
                nearest[dimension].0 = place.floor() as i64;
            }
            four(texels, image, corner(image, modes, &nearest, 0, nearest_layer))
        }
    }
}

/// The weighted mean: exact products, summed in double precision with x fastest, rounded once.
fn filtered(
    texels: &[u8],
    image: &Image,
    modes: [AddressMode; 3],
    footprint: &Footprint,
    layer: u32,
) -> [u32; 4] {
    let dimensions = image.dimensions.count();
    let channels = usize::from(image.format.channels);
    let mut sums = [0.0; 4];
    for number in 0..1_usize << dimensions {
        let mut weight = 1;
        for (dimension, &(_, upper)) in footprint.iter().enumerate().take(dimensions) {
            weight *= if number >> dimension & 1 == 1 { upper } else { 256 - upper };
        }
        // A texel without weight is not read: what it holds, an infinity even, does not matter.
        if weight == 0 {
            continue;
        }
        let values = four(texels, image, corner(image, modes, footprint, number, layer));
        for (sum, value) in sums.iter_mut().zip(values).take(channels) {
            *sum += weight as f64 * f64::from(f32::from_bits(value));
        }
    }
    let mut result = [0; 4];
    let scale = f64::from(1_u32 << (8 * dimensions));
    for (value, sum) in result.iter_mut().zip(sums).take(channels) {
        *value = canonical((sum / scale) as f32);
    }
    result
}

/// NaNs become the one that arithmetic gives.
fn canonical(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// One channel of the four texels that linear filtering in two dimensions would read:
/// counter-clockwise from the lower left, where y grows downwards.
pub(crate) fn gather(
    texels: &[u8],
    image: &Image,
    sampler: Sampler,
    at: [f32; 3],
    (channel, layer): (usize, u32),
) -> [u32; 4] {
    let modes = sampler.address_modes.map(|mode| effective(mode, sampler.normalized));
    let footprint = footprint(image, modes, sampler.normalized, at);
    let layer = layer.min(layers(image) - 1);
    [2, 3, 1, 0].map(|number| {
        let place = corner(image, modes, &footprint, number, layer);
        let value = four(texels, image, place)[channel & 3];
        // Signed bytes are brought to 16 bits first, as a GPU does it.
        match image.format.channel {
            Channel::Snorm8 => ((f32::from_bits(value) * 32767.0).round() / 32767.0).to_bits(),
            _ => value,
        }
    })
}
