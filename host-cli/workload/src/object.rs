//! Textures, surfaces and samplers of a plan: buffers as images, and ways to sample them.

use strata_ptx::module::{Module, SamplerInitializer};
use strata_simt::texture::{
    AddressMode, Dimensions, Filter, Format, Image, Object, Sampler, Texture,
};

use super::bindings::initial_sampler;

/// What an object is, before its buffer has an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// An image with the way to sample it.
    Texture(ImagePlan, Sampler),
    /// An image.
    Surface(ImagePlan),
    /// A way to sample.
    Sampler(SamplerKeys),
}

/// The keys of a sampler that a launch file gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SamplerKeys {
    pub(super) filter: Option<Filter>,
    pub(super) address_modes: Option<[AddressMode; 3]>,
    pub(super) normalized: Option<bool>,
}

impl SamplerKeys {
    /// The sampler; what is not given is as in `base`.
    pub(super) fn over(self, base: Sampler) -> Sampler {
        Sampler {
            filter: self.filter.unwrap_or(base.filter),
            address_modes: self.address_modes.unwrap_or(base.address_modes),
            normalized: self.normalized.unwrap_or(base.normalized),
        }
    }

    /// The sampler that is bound to a reference, which the module may have initialised.
    fn object(self, initial: Option<&SamplerInitializer>) -> Object {
        match initial.map(Object::initial) {
            Some(Object::SamplerOfTexture(base)) if self.normalized.is_none() => {
                Object::SamplerOfTexture(self.over(base))
            }
            Some(Object::Sampler(base) | Object::SamplerOfTexture(base)) => {
                Object::Sampler(self.over(base))
            }
            _ => Object::Sampler(self.over(Sampler::default())),
        }
    }
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
    /// The object with its buffer at its address, or over what the module initialises the
    /// reference with.
    pub(super) fn placed(&self, addresses: &[u64], module: &Module) -> Object {
        match &self.shape {
            Shape::Texture(image, sampler) => {
                Object::Texture(Texture { image: image.placed(addresses), sampler: *sampler })
            }
            Shape::Surface(image) => Object::Surface(image.placed(addresses)),
            Shape::Sampler(keys) => {
                let name = self.reference.as_deref();
                keys.object(name.and_then(|name| initial_sampler(module, name)))
            }
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

#[cfg(test)]
mod tests {
    use strata_ptx::module;

    use super::*;

    #[test]
    fn keys_of_a_launch_file_take_precedence_over_initial_values() {
        let initial = SamplerInitializer {
            address_modes: [Some(module::AddressMode::ClampToBorder); 3],
            linear: Some(true),
            unnormalized: false,
        };
        let bordered = Sampler {
            address_modes: [AddressMode::Border; 3],
            filter: Filter::Linear,
            normalized: false,
        };
        let none = SamplerKeys::default();
        assert_eq!(none.object(Some(&initial)), Object::SamplerOfTexture(bordered));
        let forced = SamplerInitializer { unnormalized: true, ..initial };
        assert_eq!(none.object(Some(&forced)), Object::Sampler(bordered));
        assert_eq!(none.object(None), Object::Sampler(Sampler::default()));
        let point = SamplerKeys { filter: Some(Filter::Point), ..none };
        let expected = Sampler { filter: Filter::Point, ..bordered };
        assert_eq!(point.object(Some(&initial)), Object::SamplerOfTexture(expected));
        let fractions = SamplerKeys { normalized: Some(true), ..none };
        let expected = Sampler { normalized: true, ..bordered };
        assert_eq!(fractions.object(Some(&initial)), Object::Sampler(expected));
        assert_eq!(fractions.object(Some(&forced)), Object::Sampler(expected));
    }
}
