//! What a kernel does with textures, surfaces and samplers: a small image to begin with for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use strata_compiler::kernel::Kernel;
use strata_ptx::module::{Instruction, Module, Operand, VariableId, VirtualRegister};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;
use strata_simt::texture::{Channel, Dimensions, Format, ObjectKind};

use super::operands::registers;
use crate::bindings;
use crate::element::ElementType;

/// Most texels of an image that is tried.
const MOST_TEXELS: u64 = 1 << 22;

/// What instructions say about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectUse {
    pub(super) kind: ObjectKind,
    /// Of queries nothing is known.
    dimensions: Option<Dimensions>,
    format: Format,
}

impl ObjectUse {
    const fn new(kind: ObjectKind) -> Self {
        Self { kind, dimensions: None, format: Format { channel: Channel::F32, channels: 1 } }
    }

    /// Both, where they do not contradict each other.
    pub(super) fn and(self, other: Self) -> Self {
        let dimensions = match (self.dimensions, other.dimensions) {
            (Some(Dimensions::Linear), Some(Dimensions::One)) | (None, _) => other.dimensions,
            _ => self.dimensions,
        };
        let wider = self.format.bytes() < other.format.bytes() || self.dimensions.is_none();
        let format = if wider { other.format } else { self.format };
        Self { dimensions, format, ..self }
    }
}

/// Whether an instruction's first source names a texture or surface, and no memory.
pub(super) const fn names_object(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(opcode, O::Tex | O::Tld4 | O::Txq | O::Suq | O::Suld | O::Sust | O::Sured | O::Istypep)
}

/// The objects that an instruction names, and what it does with them. `read` are the registers that
/// any instruction reads.
pub(super) fn uses<'i>(
    instruction: &'i Instruction,
    read: &BTreeSet<VirtualRegister>,
) -> impl Iterator<Item = (&'i Operand, ObjectUse)> {
    let sources = &instruction.sources;
    let image = names_object(instruction.opcode).then(|| of_image(instruction, read));
    let image = sources.first().zip(image.flatten());
    // A sampler stands between the texture and the coordinates.
    let sampled = matches!(instruction.opcode, Opcode::Tex | Opcode::Tld4)
        && matches!(sources.get(2), Some(Operand::Vector(_)));
    let sampler = sources.get(1).filter(|_| sampled);
    image.into_iter().chain(sampler.map(|sampler| (sampler, ObjectUse::new(ObjectKind::Sampler))))
}

fn of_image(instruction: &Instruction, read: &BTreeSet<VirtualRegister>) -> Option<ObjectUse> {
    use Opcode as O;
    let kind = match (instruction.opcode, instruction.types.first()?) {
        (O::Tex | O::Tld4 | O::Txq, _) | (O::Istypep, ScalarType::Texref) => ObjectKind::Texture,
        (O::Istypep, ScalarType::Samplerref) => ObjectKind::Sampler,
        _ => ObjectKind::Surface,
    };
    let format = match instruction.opcode {
        O::Tex | O::Tld4 => sampled(instruction, read),
        O::Suld | O::Sust | O::Sured => stored(instruction),
        _ => ObjectUse::new(kind).format,
    };
    Some(ObjectUse { kind, dimensions: dimensions(instruction), format })
}

fn dimensions(instruction: &Instruction) -> Option<Dimensions> {
    let modifiers = &instruction.modifiers;
    let asks =
        |word: &str| matches!(instruction.opcode, Opcode::Txq | Opcode::Suq) && modifiers.has(word);
    match () {
        () if modifiers.has("1d") && instruction.types.get(1) == Some(&ScalarType::S32) => {
            Some(Dimensions::Linear)
        }
        () if modifiers.has("1d") => Some(Dimensions::One),
        () if modifiers.has("2d") || asks("height") => Some(Dimensions::Two),
        () if modifiers.has("3d") || asks("depth") => Some(Dimensions::Three),
        () if modifiers.has("a1d") || asks("array_size") => Some(Dimensions::LayersOfOne),
        () if modifiers.has("a2d") => Some(Dimensions::LayersOfTwo),
        () => None,
    }
}

/// Texels of the type of the result, with as many channels as are read of it.
fn sampled(instruction: &Instruction, read: &BTreeSet<VirtualRegister>) -> Format {
    let channel = match instruction.types.first() {
        Some(ScalarType::S32) => Channel::S32,
        Some(ScalarType::U32) => Channel::U32,
        _ => Channel::F32,
    };
    let results: Vec<_> = registers(&instruction.destinations).collect();
    let last = results.iter().rposition(|register| read.contains(register)).unwrap_or(0);
    let channels = match last {
        0 => 1,
        1 => 2,
        _ => 4,
    };
    // Gathering takes one channel of each of four texels.
    let gathers = instruction.opcode == Opcode::Tld4;
    Format { channel, channels: if gathers { 4 } else { channels } }
}

/// Texels of as many bytes as one access has.
fn stored(instruction: &Instruction) -> Format {
    let ty = instruction.types.first().copied().unwrap_or(ScalarType::B32);
    let bytes = ty.bytes() * u32::from(instruction.modifiers.vector.max(1));
    let (channel, channels) = match bytes {
        1 => (Channel::U8, 1),
        2 => (Channel::U16, 1),
        8 => (Channel::U32, 2),
        16 => (Channel::U32, 4),
        _ => (Channel::U32, 1),
    };
    Format { channel, channels }
}

/// The references of a module that a kernel uses.
pub(super) fn references(
    body: &Kernel,
    module: &Module,
    read: &BTreeSet<VirtualRegister>,
) -> BTreeMap<VariableId, ObjectUse> {
    let mut all: BTreeMap<VariableId, ObjectUse> = BTreeMap::new();
    for instruction in &body.instructions {
        for operand in &instruction.sources {
            if let Some((id, kind)) = bindings::reference(operand, module) {
                all.entry(id).or_insert(ObjectUse::new(kind));
            }
        }
        for (operand, used) in uses(instruction, read) {
            if let Some((id, _)) = bindings::reference(operand, module) {
                all.entry(id).and_modify(|known| *known = known.and(used));
            }
        }
    }
    all
}

/// A table of a launch file, with the buffer of its texels.
#[derive(Clone, Debug)]
pub(super) struct ObjectTable {
    pub(super) name: String,
    pub(super) kind: ObjectKind,
    /// The reference of the PTX that it is bound to.
    pub(super) reference: Option<String>,
    /// The PTX says how it samples.
    pub(super) initialised: bool,
    dimensions: Dimensions,
    format: Format,
    /// Width, height, and depth or layers. Unit: texels.
    sides: [u64; 3],
}

impl ObjectTable {
    pub(super) fn new(name: String, reference: Option<String>, used: ObjectUse) -> Self {
        let dimensions = used.dimensions.unwrap_or(Dimensions::Two);
        let sides = match dimensions {
            Dimensions::Linear | Dimensions::One => [1024, 1, 1],
            Dimensions::Two => [128, 128, 1],
            Dimensions::Three => [128, 16, 16],
            Dimensions::LayersOfOne => [512, 1, 4],
            Dimensions::LayersOfTwo => [128, 32, 4],
        };
        let (kind, format) = (used.kind, used.format);
        Self { name, kind, reference, initialised: false, dimensions, format, sides }
    }

    /// The buffer of the texels.
    pub(super) fn buffer(&self) -> String {
        format!("{}_texels", self.name)
    }

    pub(super) const fn element(&self) -> ElementType {
        match self.format.channel {
            Channel::F32 => ElementType::F32,
            Channel::S32 => ElementType::S32,
            Channel::U16 => ElementType::U16,
            Channel::U8 => ElementType::U8,
            _ => ElementType::U32,
        }
    }

    /// Elements of the buffer.
    pub(super) fn count(&self) -> u64 {
        self.sides.iter().product::<u64>() * u64::from(self.format.channels)
    }

    /// Doubles the sides that a place lies beyond, its x in bytes.
    pub(super) fn grow(&mut self, [x, y, z]: [i32; 3]) -> bool {
        let texel = i64::from(x) / self.format.bytes() as i64;
        let mut grown = false;
        for (side, at) in self.sides.iter_mut().zip([texel, y.into(), z.into()]) {
            if u64::try_from(at).is_ok_and(|at| at >= *side) {
                *side *= 2;
                grown = true;
            }
        }
        grown && self.sides.iter().product::<u64>() <= MOST_TEXELS
    }
}

/// The table, without the buffer.
impl fmt::Display for ObjectTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, dimensions, sides: [width, height, depth], format, .. } = self;
        writeln!(f, "[[{kind}]]\nname = \"{name}\"")?;
        if *kind != ObjectKind::Sampler {
            writeln!(f, "buffer = \"{}\"\ndimensions = \"{}\"", self.buffer(), dimensions.name())?;
            writeln!(f, "width = {width}")?;
            if dimensions.count() > 1 {
                writeln!(f, "height = {height}")?;
            }
            if dimensions.count() > 2 {
                writeln!(f, "depth = {depth}")?;
            } else if dimensions.layered() {
                writeln!(f, "{:<30}  # layers", format!("depth = {depth}"))?;
            }
            let format = format!("format = \"{format}\"");
            writeln!(f, "{format:<30}  # what a texel is; perhaps f32x4, unorm8x4")?;
        }
        if self.initialised {
            writeln!(f, "# filter, address and normalized are as the PTX says, unless given here")?;
        } else if *kind != ObjectKind::Surface {
            writeln!(f, "filter = \"point\"                # or linear")?;
            writeln!(f, "address = [\"clamp\"]             # or wrap, mirror, border")?;
            writeln!(f, "normalized = false              # true: coordinates are fractions")?;
        }
        if let Some(reference) = &self.reference {
            let line = format!("reference = \"{reference}\"");
            writeln!(f, "{line:<30}  # the {kind} reference of the PTX")?;
        }
        Ok(())
    }
}
