//! Arithmetic of PTX: pure scalar functions on bit patterns, one lane at a time.
//!
//! Nothing here knows of warps, masks or registers. Every function is total (no panic, whatever
//! the bits), has no state, and gives the same bits on every host: integer operations, exact
//! integer significand arithmetic, the native IEEE operations that every host rounds alike
//! (`+ - * /` and square root), and the `libm` crate; never the host's mathematical library and
//! never a fused multiply-add instruction.
//!
//! # Tour
//!
//! - [`integer`]: `add sub mul mad div rem neg abs min max sad shl shr` by type
//!   ([`integer::Integer`]: `U16 S16 U32 S32 U64 S64`), carries, `mul24 mad24`, `dp4a dp2a`.
//! - [`bits`]: `popc clz cnot bfind brev bfe bfi bmsk szext fns prmt lop3 shf`.
//! - [`video`]: `vadd vsub vabsdiff vmin vmax vshl vshr vmad vset` on selected bytes and halves.
//! - [`float`]: `add sub mul fma div rcp sqrt min max abs neg copysign testp` by format
//!   ([`float::Float`]: `F16 Bf16 F32 F64`) with every rounding, `.ftz`, `.sat`, `.relu`.
//! - [`native`]: the same for the modes that hot loops use, `.rn` without `.ftz` and `.sat`,
//!   branch-free; rounding to integral values.
//! - [`compare`]: comparisons of integers and floats, `set setp slct`.
//! - [`convert`]: `cvt` between all types, and the usual pairs as functions of their own.
//! - [`transcendental`]: `sin cos ex2 lg2 tanh rsqrt rcp sqrt div`, `.approx` and `.full`.
//! - [`matrix`]: `mma` of integers, bits and f64, on matrices.
//! - [`tensor`]: `mma` of narrower floats.
//! - [`atomic`]: what `atom` and `red` write, given what was there.
//!
//! Behind them, `soft` computes exactly on integer significands in any format and rounding, and
//! `directed` does the same for f32 through f64, faster.
//!
//! # Scope
//!
//! Models: the results that the PTX ISA (9.1, chapter 9) defines, and a documented choice wherever
//! it says "unspecified": integer division by zero ([`integer::Integer::div`]), NaN payloads
//! (below), results of `.approx` instructions within their bounds ([`transcendental`]), `fns` from
//! a bit beyond 31.
//!
//! Does not model: stochastic rounding (`cvt.rs`), floats of 8 bits and less, `cvt.pack`, SIMD
//! video instructions, `.oob`.
//!
//! # Conventions
//!
//! - Values are unsigned integers holding the bits of a register operand: `u16` for 16-bit types,
//!   `u32` for 32-bit ones (and packed pairs, the first element in the low half), `u64` for 64-bit
//!   ones. The type of the operation gives them meaning.
//! - 8-bit types exist only in [`convert`], as in PTX.
//! - A NaN result of floating-point arithmetic is the format's canonical NaN
//!   ([`float::Float::NAN`]): `0x7fff` for both 16-bit formats, `0x7fffffff` for f32, and for f64
//!   `0xfff8000000000000`, which CUDA's headers call NaN. PTX lets f64 operations keep the payload
//!   of an input NaN without saying of which one, so we do not. `abs`, `neg` and `copysign` change
//!   the sign bit and nothing else.
//! - Signalling NaNs are treated as quiet ones; there are no exceptions and no flags.

pub mod atomic;
pub mod bits;
pub mod compare;
pub mod convert;
mod directed;
pub mod float;
mod half;
pub mod integer;
pub mod matrix;
pub mod native;
pub mod simd;
mod soft;
pub mod tensor;
pub mod transcendental;
pub mod video;

pub use strata_ptx::opcode::Rounding;

/// The modifiers that change the result of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// How the exact result is rounded. `.rni` and its kin mean what `.rn` and its kin mean.
    pub rounding: Rounding,
    /// Subnormal inputs and results become zero of the same sign.
    pub ftz: bool,
    /// The result is clamped to `[+0, 1]`, a NaN becomes `+0`.
    pub sat: bool,
    /// Negative results and `-0` become `+0`; a NaN becomes the canonical NaN.
    pub relu: bool,
}

impl Mode {
    /// `.rn` and nothing else.
    pub const NEAREST: Self =
        Self { rounding: Rounding::NearestEven, ftz: false, sat: false, relu: false };
}

/// Modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MinMax {
    /// Subnormal inputs become zero of the same sign.
    pub ftz: bool,
    /// `.NaN`: a NaN input gives the canonical NaN.
    pub propagate_nan: bool,
    /// `.xorsign.abs`: compares magnitudes; the sign is the exclusive or of the inputs' signs.
    pub xorsign_abs: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Self::NEAREST
    }
}
