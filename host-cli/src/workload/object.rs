//! Textures, surfaces and samplers of a plan: buffers as images, and ways to sample them.

use strata_simt::texture::{
    AddressMode, Dimensions, Filter, Format, Image, Object, Sampler, Texture,
};

/// What an object is, before its buffer has an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// An image with the way to sample it.
    Texture(ImagePlan, Sampler),
    /// An image.
    Surface(ImagePlan),
    /// A way to sample.
    Sampler(Sampler),
}

/// A buffer as an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ImagePlan {
    /// Index into the plan's buffers.
    pub(super) buffer: usize,
    pub(super) dimensions: Dimensions,
    /// Width, height and depth, or layers. Unit: texels.
    pub(super) sides: [u32; 3],
    pub(super) format: Format,
}

impl ImagePlan {
    /// The image in a buffer at `addresses[buffer]`.
    fn placed(&self, addresses: &[u64]) -> Image {
        Image::packed(addresses[self.buffer], self.dimensions, self.sides, self.format)
    }
}

/// A texture, surface or sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPlan {
    /// Name in the launch file.
    pub name: String,
    /// The reference of the module that it is bound to, too.
    pub reference: Option<String>,
    pub(super) shape: Shape,
}

impl ObjectPlan {
    /// The object with its buffer at its address.
    pub(super) fn placed(&self, addresses: &[u64]) -> Object {
        match &self.shape {
            Shape::Texture(image, sampler) => {
                Object::Texture(Texture { image: image.placed(addresses), sampler: *sampler })
            }
            Shape::Surface(image) => Object::Surface(image.placed(addresses)),
            Shape::Sampler(sampler) => Object::Sampler(*sampler),
        }
    }
}

/// Address modes by name.
pub(super) const ADDRESS_MODES: [(&str, AddressMode); 4] = [
    ("wrap", AddressMode::Wrap),
    ("clamp", AddressMode::Clamp),
    ("mirror", AddressMode::Mirror),
    ("border", AddressMode::Border),
];

/// Filters by name.
pub(super) const FILTERS: [(&str, Filter); 2] =
    [("point", Filter::Point), ("linear", Filter::Linear)];

/// Dimensions by name.
pub(super) const DIMENSIONS: [Dimensions; 6] = [
    Dimensions::Linear,
    Dimensions::One,
    Dimensions::Two,
    Dimensions::Three,
    Dimensions::LayersOfOne,
    Dimensions::LayersOfTwo,
];
