//! Textures, surfaces and samplers.

use strata_simt::texture::{Channel, Dimensions, Format, Sampler};

use super::super::document::{self, Document, Formula, Names};
use super::super::error::Problem;
use super::super::object::{
    ADDRESS_MODES, DIMENSIONS, FILTERS, ImagePlan, ObjectPlan, SamplerKeys, Shape,
};
use super::super::plan::Place;
use super::{Resolver, Result, list};

/// Largest side of an image. Unit: texels.
const MAX_SIDE: i64 = 1 << 28;

/// The keys of an image.
struct Keys<'d> {
    buffer: &'d str,
    dimensions: &'d str,
    sides: [Option<&'d Formula>; 3],
    format: &'d str,
}

impl Resolver<'_> {
    pub(super) fn objects(&mut self, document: &Document) -> Result<()> {
        for (index, texture) in document.texture.iter().enumerate() {
            let place = self.source.place(texture.span(), format!("texture[{index}]"));
            let document::Texture { name, reference, .. } = texture.get_ref();
            let texture = texture.get_ref();
            let keys = Keys {
                buffer: &texture.buffer,
                dimensions: &texture.dimensions,
                sides: [Some(&texture.width), texture.height.as_ref(), texture.depth.as_ref()],
                format: &texture.format,
            };
            let image = self.image(&keys, &place)?;
            let normalized = Some(texture.normalized);
            let keys =
                sampler(texture.filter.as_deref(), texture.address.as_ref(), normalized, &place)?;
            let sampler = keys.over(Sampler::default());
            self.object(name, reference.as_ref(), Shape::Texture(image, sampler), &place)?;
        }
        for (index, surface) in document.surface.iter().enumerate() {
            let place = self.source.place(surface.span(), format!("surface[{index}]"));
            let surface = surface.get_ref();
            let keys = Keys {
                buffer: &surface.buffer,
                dimensions: &surface.dimensions,
                sides: [Some(&surface.width), surface.height.as_ref(), surface.depth.as_ref()],
                format: &surface.format,
            };
            let image = self.image(&keys, &place)?;
            let (name, reference) = (&surface.name, surface.reference.as_ref());
            self.object(name, reference, Shape::Surface(image), &place)?;
        }
        for (index, given) in document.sampler.iter().enumerate() {
            let place = self.source.place(given.span(), format!("sampler[{index}]"));
            let given = given.get_ref();
            let sampler =
                sampler(given.filter.as_deref(), given.address.as_ref(), given.normalized, &place)?;
            let reference = given.reference.as_ref();
            self.object(&given.name, reference, Shape::Sampler(sampler), &place)?;
        }
        Ok(())
    }

    fn object(
        &mut self,
        name: &str,
        reference: Option<&String>,
        shape: Shape,
        place: &Place,
    ) -> Result<()> {
        if self.plan.objects.iter().any(|other| other.name == name) {
            let (what, name) = ("texture, surface or sampler", name.to_owned());
            return Err(place.error(Problem::Duplicate { what, name }));
        }
        let (name, reference) = (name.to_owned(), reference.cloned());
        self.plan.objects.push(ObjectPlan { name, reference, shape });
        Ok(())
    }

    fn image(&self, keys: &Keys<'_>, place: &Place) -> Result<ImagePlan> {
        let buffer = self.buffer(keys.buffer, place)?;
        let named = DIMENSIONS.into_iter().find(|known| known.name() == keys.dimensions);
        let known = DIMENSIONS.into_iter().map(Dimensions::name);
        let dimensions =
            named.ok_or_else(|| unknown("kind of dimensions", keys.dimensions, known, place))?;
        let channels = Channel::ALL.into_iter().map(|(_, name)| name);
        let format = Format::from_name(keys.format)
            .ok_or_else(|| unknown("format of texels", keys.format, channels, place))?;
        let mut sides = [1_u32; 3];
        for (side, given) in sides.iter_mut().zip(keys.sides) {
            let Some(Formula(given)) = given else { continue };
            let value = self.evaluate(given, place)?;
            let (what, low, high) = ("a side", 1, MAX_SIDE);
            let problem = Problem::OutOfRange { what, value, low, high };
            if !(low..=high).contains(&value) {
                return Err(place.error(problem));
            }
            *side = value as u32;
        }
        // Of layers of lines the third key is the number of layers.
        let texels = sides.iter().try_fold(1_u64, |all, &side| all.checked_mul(side.into()));
        let needed = texels.and_then(|texels| texels.checked_mul(format.bytes()));
        let found = self.plan.buffers[buffer].bytes();
        if needed.is_none_or(|needed| needed > found) {
            let (needed, buffer) = (needed.unwrap_or(u64::MAX), keys.buffer.to_owned());
            return Err(place.error(Problem::ImageSize { buffer, found, needed }));
        }
        Ok(ImagePlan { buffer, dimensions, sides, format })
    }
}

fn sampler(
    filter: Option<&str>,
    address: Option<&Names>,
    normalized: Option<bool>,
    place: &Place,
) -> Result<SamplerKeys> {
    let mut sampler = SamplerKeys { normalized, ..SamplerKeys::default() };
    if let Some(name) = filter {
        let found = FILTERS.iter().find(|(known, _)| *known == name);
        let known = FILTERS.iter().map(|(known, _)| *known);
        sampler.filter = Some(found.ok_or_else(|| unknown("filter", name, known, place))?.1);
    }
    let Some(Names(names)) = address else { return Ok(sampler) };
    let modes = names.iter().map(|name| {
        let found = ADDRESS_MODES.iter().find(|(known, _)| known == name);
        let known = ADDRESS_MODES.iter().map(|(known, _)| *known);
        found.map(|(_, mode)| *mode).ok_or_else(|| unknown("address mode", name, known, place))
    });
    match modes.collect::<Result<Vec<_>>>()?[..] {
        [all] => sampler.address_modes = Some([all; 3]),
        [x, y] => sampler.address_modes = Some([x, y, y]),
        [x, y, z] => sampler.address_modes = Some([x, y, z]),
        ref other => {
            let problem = Problem::Dimensions { found: other.len() };
            return Err(place.error(problem));
        }
    }
    Ok(sampler)
}

fn unknown<'n>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
    place: &Place,
) -> Box<super::LaunchFileError> {
    let (name, known) = (name.to_owned(), list(known));
    place.error(Problem::UnknownName { what, name, known })
}
