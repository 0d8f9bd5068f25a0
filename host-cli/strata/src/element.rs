//! Elements of slices that kernels get the addresses of, and numbers that they get by value.

use half::{bf16, f16};
use strata_workload::element::ElementType;

use crate::call::CallArgument;

mod sealed {
    pub trait Sealed {}
}

/// A number of Rust that is an element of an array in a GPU's memory, little endian.
pub trait Element: Copy + sealed::Sealed {
    /// What a launch file calls it.
    #[doc(hidden)]
    const TYPE: ElementType;

    #[doc(hidden)]
    fn append_to(self, bytes: &mut Vec<u8>);

    #[doc(hidden)]
    fn of(bytes: &[u8]) -> Option<Self>;
}

/// Elements by their type of Rust.
macro_rules! elements {
    ($($rust:ty: $name:ident,)*) => {$(
        impl sealed::Sealed for $rust {}

        impl Element for $rust {
            const TYPE: ElementType = ElementType::$name;

            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn of(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}

elements! {
    u8: U8,
    i8: S8,
    u16: U16,
    i16: S16,
    u32: U32,
    i32: S32,
    u64: U64,
    i64: S64,
    f16: F16,
    bf16: Bf16,
    f32: F32,
    f64: F64,
}

/// A number that a kernel gets by value, as its parameter's type has it: one that the type cannot
/// hold is an error when it is launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number.
    Integer(i128),
    /// A number with decimals.
    Real(f64),
}

/// Scalars of whole numbers.
macro_rules! integers {
    ($($rust:ty)*) => {$(
        impl From<$rust> for Scalar {
            fn from(value: $rust) -> Self {
                Self::Integer(value.into())
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 i128);

impl From<f32> for Scalar {
    fn from(value: f32) -> Self {
        Self::Real(value.into())
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Scalar> for CallArgument {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Integer(value) => Self::Integer(value),
            Scalar::Real(value) => Self::Real(value),
        }
    }
}
