//! `cvt` between f32 and the formats of 16 bits.

/// `cvt.f32.f16`; exact.
#[inline]
pub fn f32_from_f16(a: u16) -> u32 {
    let sign = u32::from(a & 0x8000) << 16;
    let magnitude = u32::from(a & 0x7fff) << 13;
    let normal = magnitude.wrapping_add((127 - 15) << 23);
    // A subnormal's fraction above the implicit bit of 2^-14; subtracting that leaves its value.
    let implicit = 0x3880_0000;
    let subnormal = (f32::from_bits(magnitude | implicit) - f32::from_bits(implicit)).to_bits();
    let finite = if magnitude < 0x0080_0000 { subnormal } else { normal };
    let bits = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { finite };
    if magnitude > 0x0f80_0000 { 0x7fff_ffff } else { bits | sign }
}

/// `cvt.f32.bf16`; exact.
#[inline]
pub fn f32_from_bf16(a: u16) -> u32 {
    if a & 0x7fff > 0x7f80 { 0x7fff_ffff } else { u32::from(a) << 16 }
}

/// `cvt.rn.f16.f32`.
#[inline]
pub fn f16_from_f32(a: u32) -> u16 {
    let sign = (a >> 16) & 0x8000;
    let magnitude = a & 0x7fff_ffff;
    // Half a unit less one, and the last kept bit, make the addition round to nearest even.
    let odd = (magnitude >> 13) & 1;
    let rounded = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + odd);
    let normal = rounded >> 13;
    // The unit of 0.5 in f32 is the unit of subnormal f16 numbers: adding 0.5 rounds to it.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let small = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let number = if magnitude >= 0x4780_0000 { 0x7c00 } else { small };
    (if magnitude > 0x7f80_0000 { 0x7fff } else { number | sign }) as u16
}

/// `cvt.rn.bf16.f32`.
#[inline]
pub fn bf16_from_f32(a: u32) -> u16 {
    let odd = (a >> 16) & 1;
    let rounded = a.wrapping_add(0x7fff + odd) >> 16;
    (if a & 0x7fff_ffff > 0x7f80_0000 { 0x7fff } else { rounded }) as u16
}
