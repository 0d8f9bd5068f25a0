//! Operations on registers: which function executes an instruction, chosen when decoding.
//!
//! Each file decodes the operands of its opcodes and picks a function that was monomorphised for
//! the types and the usual modes; unusual modes are read from [`crate::micro::Extra`] at run time.

pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod matrix;
pub(crate) mod simd;
pub(crate) mod video;
pub(crate) mod warp;

/// The function `$f` for an integer type, as a [`crate::micro::Run`].
macro_rules! for_integer {
    ($ty:expr, $f:ident) => {
        match $ty {
            ScalarType::U16 => Some($f::<U16> as Run),
            ScalarType::S16 => Some($f::<S16> as Run),
            ScalarType::U32 => Some($f::<U32> as Run),
            ScalarType::S32 => Some($f::<S32> as Run),
            ScalarType::U64 => Some($f::<U64> as Run),
            ScalarType::S64 => Some($f::<S64> as Run),
            _ => None,
        }
    };
}
pub(crate) use for_integer;
