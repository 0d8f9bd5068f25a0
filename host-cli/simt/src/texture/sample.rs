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

/// The integer below, or equal; zero of what is no number. `f64::floor` is a call where the host
/// has no instruction for it.
fn floor(value: f64) -> i64 {
    let towards_zero = value as i64;
    towards_zero - i64::from(towards_zero as f64 > value)
}

/// The lower of the two texels around a place, and the weight of the upper one in 256ths.
fn between(place: f64) -> (i64, u32) {
    let fixed = floor(place * 256.0 + 0.5) - 128;
    (fixed >> 8, (fixed & 0xff) as u32)
}

/// The two texels around a place along a dimension.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Their offsets in memory, the lower texel first; `None` is the border. Unit: bytes.
    offsets: [Option<u64>; 2],
    /// Their weights. Unit: 256ths.
    weights: [u32; 2],
}

/// A texture with a way to sample it: what lanes that read it have in common.
pub(crate) struct Reader<'t> {
    /// The image's bytes, from its address on.
    texels: &'t [u8],
    image: Image,
    sampler: Sampler,
    /// By dimension.
    modes: [AddressMode; 3],
    /// From a texel to the next, by dimension. Unit: bytes.
    strides: [u64; 3],
    /// Layers: 1 where there are none.
    layers: u32,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(texels: &'t [u8], image: Image, sampler: Sampler) -> Self {
        let modes = sampler.address_modes.map(|mode| effective(mode, sampler.normalized));
        let strides = [image.format.bytes(), image.pitch, image.pitch * u64::from(image.height)];
        let layers = if image.dimensions.layered() { image.depth } else { 1 };
        Self { texels, image, sampler, modes, strides, layers }
    }

    /// The place along a dimension, in texels.
    fn place(&self, dimension: usize, at: f32) -> f64 {
        let size = self.image.sizes()[dimension];
        scaled(at, size, self.sampler.normalized, self.modes[dimension])
    }

    /// The offset that a position along a dimension adds; `None` is the border.
    fn offset(&self, dimension: usize, position: i64, mode: AddressMode) -> Option<u64> {
        let size = self.image.sizes()[dimension];
        // Nearly every position lies inside.
        let folded = if (position as u64) < u64::from(size) {
            Some(position as u32)
        } else {
            fold(position, size, mode)
        };
        folded.map(|folded| u64::from(folded) * self.strides[dimension])
    }

    /// Where a layer begins.
    fn layer(&self, layer: u32) -> u64 {
        u64::from(layer) * self.strides[2]
    }

    /// Where the nearest layer begins.
    fn nearest_layer(&self, layer: u32) -> u64 {
        self.layer(layer.min(self.layers - 1))
    }

    fn pairs<const DIMENSIONS: usize>(&self, at: [f32; 3]) -> [Pair; DIMENSIONS] {
        let mut pairs = [Pair::default(); DIMENSIONS];
        for dimension in 0..DIMENSIONS {
            let (lower, weight) = between(self.place(dimension, at[dimension]));
            let mode = self.modes[dimension];
            pairs[dimension] = Pair {
                offsets: [0, 1].map(|upper| self.offset(dimension, lower + upper, mode)),
                weights: [256 - weight, weight],
            };
        }
        pairs
    }

    /// The bytes of a texel.
    fn texel(&self, offset: u64) -> &[u8] {
        let first = offset as usize;
        self.texels.get(first..first + self.strides[0] as usize).unwrap_or_default()
    }

    /// Four channels of a texel; those that the format lacks are zero.
    fn four(&self, offset: Option<u64>) -> [u32; 4] {
        let mut result = [0; 4];
        let Some(offset) = offset else { return result };
        let format = self.image.format;
        let bytes = self.texel(offset).chunks(format.channel.bytes() as usize);
        for (value, bytes) in result.iter_mut().zip(bytes) {
            *value = channel(bytes, format.channel);
        }
        result
    }

    /// Reads the texture; 0 is the layer where there are none. Of a layer that the image lacks the
    /// nearest is read, at integer coordinates zero.
    pub(crate) fn fetch(&self, at: Coordinates, layer: u32) -> [u32; 4] {
        let dimensions = self.image.dimensions.count();
        match at {
            Coordinates::Texels(at) => {
                let mut offset = (layer < self.layers).then(|| self.layer(layer));
                for (dimension, &position) in at.iter().enumerate().take(dimensions) {
                    // Whatever the address mode is.
                    let more = self.offset(dimension, position.into(), AddressMode::Border);
                    offset = offset.zip(more).map(|(offset, more)| offset + more);
                }
                self.four(offset)
            }
            Coordinates::Places(at) if self.sampler.filter == Filter::Linear => {
                let layer = self.nearest_layer(layer);
                match dimensions {
                    1 => self.filtered(&self.pairs::<1>(at), layer),
                    2 => self.filtered(&self.pairs::<2>(at), layer),
                    _ => self.filtered(&self.pairs::<3>(at), layer),
                }
            }
            Coordinates::Places(at) => {
                let mut offset = Some(self.nearest_layer(layer));
                for (dimension, &at) in at.iter().enumerate().take(dimensions) {
                    let position = floor(self.place(dimension, at));
                    let more = self.offset(dimension, position, self.modes[dimension]);
                    offset = offset.zip(more).map(|(offset, more)| offset + more);
                }
                self.four(offset)
            }
        }
    }

    /// The weighted mean in the format's channels.
    fn filtered<const DIMENSIONS: usize>(
        &self,
        pairs: &[Pair; DIMENSIONS],
        layer: u64,
    ) -> [u32; 4] {
        let format = self.image.format.channel;
        match format {
            Channel::F32 => self.mean(pairs, layer, u32::from_le_bytes),
            Channel::F16 => {
                self.mean(pairs, layer, |bytes| f32_from_f16(u16::from_le_bytes(bytes)))
            }
            _ if format.bytes() == 1 => {
                self.mean(pairs, layer, |bytes: [u8; 1]| channel(&bytes, format))
            }
            _ => self.mean(pairs, layer, |bytes: [u8; 2]| channel(&bytes, format)),
        }
    }

    /// The weighted mean: exact products, summed in double precision with x fastest, rounded once.
    /// `read` makes an f32 of a channel's bytes.
    fn mean<const DIMENSIONS: usize, const BYTES: usize>(
        &self,
        pairs: &[Pair; DIMENSIONS],
        layer: u64,
        read: impl Fn([u8; BYTES]) -> u32,
    ) -> [u32; 4] {
        let channels = usize::from(self.image.format.channels);
        let mut sums = [0.0; 4];
        for number in 0..1_usize << DIMENSIONS {
            let (mut weight, mut offset) = (1, Some(layer));
            for (dimension, pair) in pairs.iter().enumerate() {
                let upper = number >> dimension & 1;
                weight *= pair.weights[upper];
                offset = offset.zip(pair.offsets[upper]).map(|(offset, more)| offset + more);
            }
            // A texel without weight is not read: what it holds, an infinity even, does not matter.
            // Of the border every product is zero.
            let Some(offset) = offset.filter(|_| weight != 0) else { continue };
            let texel = self.texel(offset).as_chunks::<BYTES>().0;
            for (sum, &bytes) in sums.iter_mut().zip(texel) {
                *sum += f64::from(weight) * f64::from(f32::from_bits(read(bytes)));
            }
        }
        let mut result = [0; 4];
        let scale = f64::from(1_u32 << (8 * DIMENSIONS));
        for (value, sum) in result.iter_mut().zip(sums).take(channels) {
            *value = canonical((sum / scale) as f32);
        }
        result
    }

    /// One channel of the four texels that linear filtering in two dimensions would read:
    /// counter-clockwise from the lower left, where y grows downwards.
    pub(crate) fn gather(&self, at: [f32; 3], (channel, layer): (usize, u32)) -> [u32; 4] {
        let [x, y] = self.pairs(at);
        let layer = self.nearest_layer(layer);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, lower)| {
            let offsets = x.offsets[right].zip(y.offsets[lower]);
            let value = self.four(offsets.map(|(x, y)| layer + y + x))[channel & 3];
            // Signed bytes are brought to 16 bits first, as a GPU does it.
            match self.image.format.channel {
                Channel::Snorm8 => ((f32::from_bits(value) * 32767.0).round() / 32767.0).to_bits(),
                _ => value,
            }
        })
    }
}

/// The bits that a channel reads as.
fn channel(bytes: &[u8], channel: Channel) -> u32 {
    let bits = match *bytes {
        [a] => u32::from(a),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    };
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

/// NaNs become the one that arithmetic gives.
fn canonical(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}
