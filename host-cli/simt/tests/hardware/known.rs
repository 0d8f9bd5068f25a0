//! Where a GPU has other bits than we, and why (`docs/DEVIATIONS.md`).

/// PTX bounds the error, not the bits.
const APPROXIMATION: &str = "approximations";
/// DEV-150.
const VIDEO: &str = "video instructions that the GPU emulates in 32 bits";
/// DEV-151.
const FLUSHED: &str = "subnormal inputs of conversions to f16";
/// DEV-130.
const FILTER: &str = "linear filtering";
/// DEV-131.
const FETCH: &str = "integer coordinates of one dimension";
/// DEV-140.
const EMULATED: &str = "products that the GPU emulates";
/// Refused by name.
const REFUSED: &str = "operands out of bounds (`.oob`)";

/// Why a case may differ.
pub(crate) fn difference(opcode: &str, name: &str) -> Option<&'static str> {
    let has = |word: &str| name.split(['.', '#', ' ']).any(|own| own == word);
    let video = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad"];
    let wide = ["sat", "shr7", "shr15", "min", "max"].into_iter().any(has);
    Some(match opcode {
        _ if has("approx") || name.starts_with("div.full") => APPROXIMATION,
        _ if video.contains(&opcode) && wide => VIDEO,
        "cvt" if has("ftz") && name.ends_with(".f16.f32") && (has("rm") || has("rp")) => FLUSHED,
        "textures" if has("linear") && has("tex") => FILTER,
        "textures" if name.contains(".s32#1d") || name.contains(".s32#a1d") => FETCH,
        "mma" if name.contains("m8n8k4") && has("f16") && !has("f32") => EMULATED,
        "fma" if has("oob") => REFUSED,
        _ => return None,
    })
}

/// How many cases are equal, and how many differ for each reason.
pub(crate) fn counts() -> (usize, Vec<(&'static str, usize)>) {
    let differing = vec![
        (APPROXIMATION, 30),
        (FETCH, 14),
        (FILTER, 135),
        (REFUSED, 8),
        (EMULATED, 2),
        (FLUSHED, 3),
        (VIDEO, 186),
    ];
    (6567, differing)
}
