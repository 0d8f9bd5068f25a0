//! Kernels that read textures.

use std::fmt::Write as _;

use strata_ptx::types::ScalarType;
use strata_simt::Device;
use strata_simt::texture::{
    AddressMode, Dimensions, Filter, Format, Image, Object, Sampler, Texture,
};

use crate::cases::{Arrays, Case, Group, entry};

/// A texture of a case, for our device and as a line of the list.
#[derive(Clone, Debug)]
pub(crate) struct TextureCase {
    dimensions: Dimensions,
    format: &'static str,
    sizes: [u32; 3],
    /// Where its texels are in the arrays. Unit: bytes.
    place: usize,
    sampler: Sampler,
}

fn mode_name(mode: AddressMode) -> &'static str {
    match mode {
        AddressMode::Wrap => "wrap",
        AddressMode::Clamp => "clamp",
        AddressMode::Mirror => "mirror",
        AddressMode::Border => "border",
    }
}

impl std::fmt::Display for TextureCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.sizes;
        let filter = if self.sampler.filter == Filter::Point { "point" } else { "linear" };
        let modes = self.sampler.address_modes.map(mode_name);
        let normalized = if self.sampler.normalized { "normalized" } else { "texels" };
        let (name, format, place) = (self.dimensions.name(), self.format, self.place);
        write!(
            f,
            "{name} {format} {x} {y} {z} {place} {} {} {} {filter} {normalized}",
            modes[0], modes[1], modes[2]
        )
    }
}

impl TextureCase {
    /// The handle of the texture, whose texels lie in the arrays at `input`.
    pub(crate) fn create(&self, device: &mut Device, input: u64) -> u64 {
        let format = Format::from_name(self.format).expect("a format");
        let address = input + self.place as u64;
        let image = Image::packed(address, self.dimensions, self.sizes, format);
        let texture = Texture { image, sampler: self.sampler };
        device.create_object("texture", Object::Texture(texture)).expect("a texture")
    }
}

const SHAPES: [(Dimensions, [u32; 3]); 5] = [
    (Dimensions::One, [7, 1, 1]),
    (Dimensions::Two, [5, 4, 1]),
    (Dimensions::Three, [3, 4, 5]),
    (Dimensions::LayersOfOne, [6, 1, 4]),
    (Dimensions::LayersOfTwo, [4, 3, 3]),
];

const FORMATS: [&str; 14] = [
    "f32",
    "f32x4",
    "f16",
    "f16x4",
    "unorm8",
    "unorm8x4",
    "snorm8x2",
    "unorm16x4",
    "snorm16",
    "u8x4",
    "s16x2",
    "u32",
    "s32x4",
    "s8",
];

/// All cases of textures.
pub(crate) fn textures(arrays: &mut Arrays) -> Group {
    let mut cases = Vec::new();
    let modes = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
    for (number, &(dimensions, sizes)) in SHAPES.iter().enumerate() {
        for (at, format) in FORMATS.into_iter().enumerate() {
            for choice in 0..6 {
                let filter = if choice % 2 == 0 { Filter::Point } else { Filter::Linear };
                let floats = Format::from_name(format).expect("a format").channel.reads_floats();
                if filter == Filter::Linear && !floats {
                    continue;
                }
                let normalized = choice >= 2;
                let first = if normalized { at + number + choice } else { 1 + 2 * (at + choice) };
                let address = [0, 1, 2].map(|axis| {
                    modes[if normalized { first + axis } else { first + 2 * axis } % 4]
                });
                let sampler = Sampler { address_modes: address, filter, normalized };
                let kind = match format {
                    "f32" | "f32x4" => "memory.f32",
                    "f16" | "f16x4" => "memory.f16",
                    _ => "b64",
                };
                let place = arrays.place(kind, 8 + number);
                let case = TextureCase { dimensions, format, sizes, place, sampler };
                cases.extend(reads(&case, arrays));
            }
        }
    }
    Group { opcode: "textures", cases }
}

/// The reads of a texture: at coordinates that are floats, at texels, of four neighbours.
fn reads(case: &TextureCase, arrays: &mut Arrays) -> Vec<Case> {
    let channel = case.format.trim_end_matches("x2").trim_end_matches("x4");
    let result = match channel.chars().next() {
        Some('u') if !channel.starts_with("un") => "u32",
        Some('s') if !channel.starts_with("sn") => "s32",
        _ => "f32",
    };
    let geometry = case.dimensions.name();
    let mut instructions = vec![(format!("tex.{geometry}.v4.{result}.f32"), "f32")];
    if !case.sampler.normalized && case.sampler.filter == Filter::Point {
        instructions.push((format!("tex.{geometry}.v4.{result}.s32"), "s32"));
    }
    if case.dimensions == Dimensions::Two || case.dimensions == Dimensions::LayersOfTwo {
        let component = ["r", "g", "b", "a"][case.sizes[0] as usize % 4];
        instructions.push((format!("tld4.{component}.{geometry}.v4.{result}.f32"), "f32"));
    }
    instructions.into_iter().map(|(text, ty)| read(case, &text, ty, arrays)).collect()
}

fn read(case: &TextureCase, instruction: &str, ty: &str, arrays: &mut Arrays) -> Case {
    let kind = match (ty, case.sampler.normalized) {
        ("s32", _) => "texel",
        (_, true) => "period",
        (_, false) => "place",
    };
    let mut body = String::new();
    let axes = match case.dimensions {
        Dimensions::One | Dimensions::LayersOfOne | Dimensions::Linear => 1,
        Dimensions::Two | Dimensions::LayersOfTwo => 2,
        Dimensions::Three => 3,
    };
    for axis in 0..axes {
        let place = arrays.place(kind, axis);
        let _ = writeln!(body, "ld.global.b32 %r{}, [%d2+{place}];", 8 + axis);
    }
    let layers = matches!(case.dimensions, Dimensions::LayersOfOne | Dimensions::LayersOfTwo);
    if layers {
        let place = arrays.place("texel", 5);
        let _ = writeln!(body, "ld.global.b32 %r12, [%d2+{place}];");
    }
    let coordinates = match (axes, layers) {
        (1, false) => "{%r8}",
        (1, true) => "{%r12, %r8}",
        (2, false) => "{%r8, %r9}",
        (2, true) => "{%r12, %r8, %r9, %r9}",
        _ => "{%r8, %r9, %r10, %r10}",
    };
    let _ = writeln!(body, "{instruction} {{%r16, %r17, %r18, %r19}}, [%d5, {coordinates}];");
    body.push_str("st.global.v4.b32 [%d3], {%r16, %r17, %r18, %r19};\n");
    let name = format!("{instruction}#{case}");
    let ty = if instruction.contains(".f32.") { ScalarType::F32 } else { ScalarType::B32 };
    let text = entry("", 2, &body);
    Case { name, text, outputs: vec![ty; 2], texture: Some(case.clone()) }
}
