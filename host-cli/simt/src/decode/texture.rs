//! Decoding of texture and surface instructions.

use strata_ptx::module::Operand;
use strata_ptx::opcode::{AtomicOp, Opcode};
use strata_ptx::types::ScalarType;

use super::one::{Decoded, One, Problem};
use crate::arith::atomic::atomic;
use crate::micro::{
    Action, AddressSource, Args, Component, ImageQuery, Space, SurfaceBounds, SurfaceOperation,
    TextureAccess, TextureOperation,
};
use crate::texture::{Dimensions, ObjectKind};

/// Words that the executor does not carry out, with what they ask for.
const REFUSED: &[(&str, &str)] = &[
    ("grad", "level of detail by gradients (`.grad`)"),
    ("base", "mipmaps (`.base`)"),
    ("cube", "cube maps"),
    ("acube", "arrays of cube maps"),
    ("2dms", "multisampled textures"),
    ("a2dms", "multisampled textures"),
    ("p", "surface accesses with format conversion (`.p`)"),
];

/// Queries that have a number for an answer; those of others are codes that PTX does not give.
const QUERIES: &[(&str, ImageQuery)] = &[
    ("width", ImageQuery::Width),
    ("height", ImageQuery::Height),
    ("depth", ImageQuery::Depth),
    ("array_size", ImageQuery::ArraySize),
    ("normalized_coords", ImageQuery::NormalizedCoordinates),
];

impl<'a> One<'_, 'a> {
    pub(super) fn texture(&mut self) -> Decoded {
        for &(word, what) in REFUSED {
            if self.instruction.modifiers.has(word) {
                return Err(self.unsupported(what));
            }
        }
        let access = match self.instruction.opcode {
            Opcode::Tex | Opcode::Tld4 => self.sampling()?,
            Opcode::Istypep => self.is_type()?,
            Opcode::Txq | Opcode::Suq => self.image_query()?,
            _ => self.surface()?,
        };
        let index = self.decoder.textures.len() as u32;
        self.decoder.textures.push(access);
        Ok((Action::Texture(index), Args::default()))
    }

    /// An access to the object of an operand, without coordinates.
    fn access(&mut self, object: AddressSource, operation: TextureOperation) -> TextureAccess {
        let zero = self.constant(0, ScalarType::U32);
        TextureAccess {
            object,
            sampler: None,
            dimensions: Dimensions::One,
            coordinates: [zero; 3],
            layer: zero,
            operation,
            components: [Component::default(); 4],
            count: 1,
        }
    }

    /// The object that the first source names: a reference, or a register with a handle.
    fn object(&mut self) -> Result<AddressSource, Problem> {
        match self.address(Some(strata_ptx::module::StateSpace::Global))? {
            (Space::Global, source) => Ok(source),
            _ => Err(self.unsupported("a texture, surface or sampler that is a parameter")),
        }
    }

    fn handle(&mut self, operand: &Operand) -> Result<AddressSource, Problem> {
        match operand {
            Operand::Register(register) if self.register_type(*register)?.bits() <= 32 => {
                let row = self.operand(operand, ScalarType::U32)?;
                Ok(AddressSource::Narrow { row, offset: 0 })
            }
            _ => {
                let row = self.operand(operand, ScalarType::U64)?;
                Ok(AddressSource::Wide { row, offset: 0 })
            }
        }
    }

    fn image_dimensions(&self) -> Result<Dimensions, Problem> {
        let all = [
            Dimensions::One,
            Dimensions::Two,
            Dimensions::Three,
            Dimensions::LayersOfOne,
            Dimensions::LayersOfTwo,
        ];
        let named = |of: &Dimensions| self.instruction.modifiers.has(of.name());
        all.into_iter().find(named).ok_or_else(|| self.unsupported("an unknown geometry"))
    }

    /// Sets an access's dimensions and coordinates; gives the number of the source after them.
    /// Components beyond those that the dimensions need are not read.
    fn coordinates(
        &mut self,
        access: &mut TextureAccess,
        ty: ScalarType,
    ) -> Result<usize, Problem> {
        access.dimensions = self.image_dimensions()?;
        let sources = &self.instruction.sources;
        let is_vector = |operand: &Operand| matches!(operand, Operand::Vector(_));
        let at = sources.iter().position(is_vector);
        let at = at.ok_or_else(|| self.malformed("coordinates are missing"))?;
        let Some(Operand::Vector(elements)) = sources.get(at) else {
            return Err(self.malformed("coordinates are missing"));
        };
        let mut elements = elements.as_slice();
        match at {
            1 => {}
            2 => access.sampler = Some(self.handle(&sources[1])?),
            _ => return Err(self.malformed("too many operands before the coordinates")),
        }
        if access.dimensions.layered() {
            let Some((layer, rest)) = elements.split_first() else {
                return Err(self.malformed("a layer is missing"));
            };
            access.layer = self.operand(layer, ScalarType::U32)?;
            elements = rest;
        }
        let count = access.dimensions.count();
        if elements.len() < count {
            return Err(self.malformed("coordinates are missing"));
        }
        for (row, element) in access.coordinates.iter_mut().zip(&elements[..count]) {
            *row = self.operand(element, ty)?;
        }
        Ok(at + 1)
    }

    fn sampling(&mut self) -> Result<TextureAccess, Problem> {
        let ty = self.ty(0)?;
        if !matches!(ty, ScalarType::U32 | ScalarType::S32 | ScalarType::F32) {
            return Err(self.unsupported("packed results"));
        }
        let coordinate = self.ty(1)?;
        let modifiers = &self.instruction.modifiers;
        let operation = if self.instruction.opcode == Opcode::Tld4 {
            let channel = ["r", "g", "b", "a"].iter().position(|word| modifiers.has(word));
            let channel = channel.ok_or_else(|| self.malformed("no component"))?;
            TextureOperation::Gather { ty, channel }
        } else {
            TextureOperation::Fetch { ty, places: coordinate == ScalarType::F32 }
        };
        let levels = usize::from(modifiers.has("level"));
        let object = self.object()?;
        let mut access = self.access(object, operation);
        let after = self.coordinates(&mut access, coordinate)?;
        // The images have one level, which every level of detail is clamped to.
        if self.instruction.sources.len() > after + levels {
            return Err(self.unsupported("texel offsets and depth comparison"));
        }
        if self.instruction.destinations.len() != 1 {
            return Err(self.unsupported("the predicate of residency"));
        }
        let elements = self.elements(self.destination(0)?)?;
        if elements.len() != 4 {
            return Err(self.malformed("the result has four components"));
        }
        for (component, element) in access.components.iter_mut().zip(elements) {
            *component = self.component(element, ty, true)?;
        }
        access.count = 4;
        Ok(access)
    }

    fn elements(&self, operand: &'a Operand) -> Result<&'a [Operand], Problem> {
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            single => std::slice::from_ref(single),
        };
        if matches!(elements.len(), 1 | 2 | 4) {
            return Ok(elements);
        }
        Err(self.malformed("a vector has 1, 2 or 4 components"))
    }

    fn image_query(&mut self) -> Result<TextureAccess, Problem> {
        let modifiers = &self.instruction.modifiers;
        let found = QUERIES.iter().find(|(word, _)| modifiers.has(word));
        let Some(&(_, query)) = found.filter(|_| !modifiers.has("level")) else {
            let words = modifiers.other.join(".");
            return Err(self.unsupported(&format!("the query `.{words}`")));
        };
        let kind = match self.instruction.opcode {
            Opcode::Txq => ObjectKind::Texture,
            _ => ObjectKind::Surface,
        };
        let object = self.object()?;
        let mut access = self.access(object, TextureOperation::Query(query, kind));
        access.components[0] = self.component(self.destination(0)?, ScalarType::B32, true)?;
        Ok(access)
    }

    fn is_type(&mut self) -> Result<TextureAccess, Problem> {
        let kind = match self.ty(0)? {
            ScalarType::Texref => ObjectKind::Texture,
            ScalarType::Surfref => ObjectKind::Surface,
            _ => ObjectKind::Sampler,
        };
        let handle = self.handle(self.source(0)?)?;
        let predicate = self.predicate_result(0)?;
        Ok(self.access(handle, TextureOperation::IsKind(kind, predicate)))
    }

    fn surface(&mut self) -> Result<TextureAccess, Problem> {
        let ty = self.ty(0)?;
        let modifiers = &self.instruction.modifiers;
        let bounds = match () {
            () if modifiers.has("trap") => SurfaceBounds::Trap,
            () if modifiers.has("clamp") => SurfaceBounds::Clamp,
            () if modifiers.has("zero") => SurfaceBounds::Zero,
            () => return Err(self.malformed("no rule for what lies outside")),
        };
        let bytes = ty.bytes();
        let operation = match self.instruction.opcode {
            Opcode::Suld => SurfaceOperation::Load { bytes },
            Opcode::Sust => SurfaceOperation::Store { bytes },
            _ => self.reduction(ty)?,
        };
        let object = self.object()?;
        let mut access = self.access(object, TextureOperation::Surface(operation, bounds));
        let after = self.coordinates(&mut access, ScalarType::S32)?;
        let load = matches!(operation, SurfaceOperation::Load { .. });
        let values = if load { self.destination(0)? } else { self.source(after)? };
        let elements = self.elements(values)?;
        for (component, element) in access.components.iter_mut().zip(elements) {
            *component = self.component(element, ty, load)?;
        }
        access.count = elements.len() as u32;
        Ok(access)
    }

    fn reduction(&self, ty: ScalarType) -> Result<SurfaceOperation, Problem> {
        const OPERATIONS: [(&str, AtomicOp); 5] = [
            ("add", AtomicOp::Add),
            ("min", AtomicOp::Min),
            ("max", AtomicOp::Max),
            ("and", AtomicOp::And),
            ("or", AtomicOp::Or),
        ];
        let named = |(word, _): &&(&str, _)| self.instruction.modifiers.has(word);
        match OPERATIONS.iter().find(named) {
            Some(&(_, operation)) if atomic(operation, ty, 0, 0, 0, false).is_some() => {
                Ok(SurfaceOperation::Reduce { operation, ty })
            }
            _ => Err(self.unsupported("no such reduction")),
        }
    }
}
