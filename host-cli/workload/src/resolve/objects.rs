//! Textures, surfaces and samplers.

use strata_simt::texture::{Channel, Dimensions, Format, Sampler};

use super::super::document::{self, Document, Formula, Names};
use super::super::error::Problem;
use super::super::object::{
    ADDRESS_MODES, DIMENSIONS, FILTERS, ImagePlan, ObjectPlan, SamplerKeys, Shape,
};
use super::super::source::Place;
use super::{Failed, Resolver, Result, list};

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
    pub(super) fn objects(&mut self, document: &Document) {
        for (index, texture) in document.texture.iter().enumerate() {
            let place = self.source.place(texture.span(), format!("texture[{index}]"));
            let texture = texture.get_ref();
            let shape = self.texture(texture, &place);
            self.object(&texture.name, texture.reference.as_ref(), shape, &place);
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
            let shape = self.image(&keys, &place).map(Shape::Surface);
            self.object(&surface.name, surface.reference.as_ref(), shape, &place);
        }
        for (index, given) in document.sampler.iter().enumerate() {
            let place = self.source.place(given.span(), format!("sampler[{index}]"));
            let given = given.get_ref();
            let (filter, address) = (given.filter.as_deref(), given.address.as_ref());
            let shape = self.sampler(filter, address, given.normalized, &place).map(Shape::Sampler);
            self.object(&given.name, given.reference.as_ref(), shape, &place);
        }
    }

    fn texture(&self, texture: &document::Texture, place: &Place) -> Result<Shape> {
        let keys = Keys {
            buffer: &texture.buffer,
            dimensions: &texture.dimensions,
            sides: [Some(&texture.width), texture.height.as_ref(), texture.depth.as_ref()],
            format: &texture.format,
        };
        let image = self.keep(self.image(&keys, place));
        let (filter, address) = (texture.filter.as_deref(), texture.address.as_ref());
        let keys = self.sampler(filter, address, Some(texture.normalized), place)?;
        let image = image.ok_or(Failed::Follows)?;
        Ok(Shape::Texture(image, keys.over(Sampler::default())))
    }

    /// Adds an object, so that its name is known, whether or not its keys are right.
    fn object(
        &mut self,
        name: &str,
        reference: Option<&String>,
        shape: Result<Shape>,
        place: &Place,
    ) {
        if self.plan.objects.iter().any(|other| other.name == name) {
            let (what, name) = ("texture, surface or sampler", name.to_owned());
            self.keep(Err::<(), _>(place.mistake(Problem::Duplicate { what, name })));
        }
        let shape = self.keep(shape).unwrap_or(Shape::Sampler(SamplerKeys::default()));
        let (name, reference) = (name.to_owned(), reference.cloned());
        self.plan.objects.push(ObjectPlan { name, reference, shape });
    }

    fn image(&self, keys: &Keys<'_>, place: &Place) -> Result<ImagePlan> {
        let buffer = self.keep(self.buffer(keys.buffer, place));
        let named = DIMENSIONS.into_iter().find(|known| known.name() == keys.dimensions);
        let known = DIMENSIONS.into_iter().map(Dimensions::name);
        let dimensions =
            named.ok_or_else(|| unknown("kind of dimensions", keys.dimensions, known, place));
        let dimensions = self.keep(dimensions);
        let channels = Channel::ALL.into_iter().map(|(_, name)| name);
        let format = Format::from_name(keys.format)
            .ok_or_else(|| unknown("format of texels", keys.format, channels, place));
        let format = self.keep(format);
        let sides = keys.sides.map(|side| self.side(side, place));
        let sides = self.keep_all(sides)?;
        let (Some(buffer), Some(dimensions), Some(format)) = (buffer, dimensions, format) else {
            return Err(Failed::Follows);
        };
        // Of layers of lines the third key is the number of layers.
        let texels = sides.iter().try_fold(1_u64, |all, &side| all.checked_mul(side.into()));
        let needed = texels.and_then(|texels| texels.checked_mul(format.bytes()));
        let found = self.known(buffer)?.bytes();
        if needed.is_none_or(|needed| needed > found) {
            let (needed, buffer) = (needed.unwrap_or(u64::MAX), keys.buffer.to_owned());
            return Err(place.mistake(Problem::ImageSize { buffer, found, needed }));
        }
        let sides = [sides[0], sides[1], sides[2]];
        Ok(ImagePlan { buffer, dimensions, sides, format })
    }

    /// A side of an image; one that is not given is 1.
    fn side(&self, side: Option<&Formula>, place: &Place) -> Result<u32> {
        let Some(Formula(side)) = side else { return Ok(1) };
        let value = self.evaluate(side, place)?;
        let (what, low, high) = ("a side", 1, MAX_SIDE);
        if (low..=high).contains(&value) {
            Ok(value as u32)
        } else {
            Err(place.mistake(Problem::OutOfRange { what, value, low, high }))
        }
    }

    fn sampler(
        &self,
        filter: Option<&str>,
        address: Option<&Names>,
        normalized: Option<bool>,
        place: &Place,
    ) -> Result<SamplerKeys> {
        let mut sampler = SamplerKeys { normalized, ..SamplerKeys::default() };
        let filter = filter.map(|name| {
            let found = FILTERS.iter().find(|(known, _)| *known == name);
            let known = FILTERS.iter().map(|(known, _)| *known);
            found.map(|(_, filter)| *filter).ok_or_else(|| unknown("filter", name, known, place))
        });
        let filter = self.keep(filter.transpose());
        let Some(Names(names)) = address else {
            sampler.filter = filter.ok_or(Failed::Follows)?;
            return Ok(sampler);
        };
        let modes = names.iter().map(|name| {
            let found = ADDRESS_MODES.iter().find(|(known, _)| known == name);
            let known = ADDRESS_MODES.iter().map(|(known, _)| *known);
            found.map(|(_, mode)| *mode).ok_or_else(|| unknown("address mode", name, known, place))
        });
        sampler.address_modes = match self.keep_all(modes)?[..] {
            [all] => Some([all; 3]),
            [x, y] => Some([x, y, y]),
            [x, y, z] => Some([x, y, z]),
            ref other => return Err(place.mistake(Problem::Dimensions { found: other.len() })),
        };
        sampler.filter = filter.ok_or(Failed::Follows)?;
        Ok(sampler)
    }
}

fn unknown<'n>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
    place: &Place,
) -> Failed {
    let (name, known) = (name.to_owned(), list(known));
    place.mistake(Problem::UnknownName { what, name, known })
}
