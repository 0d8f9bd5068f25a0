//! What a reference computes.

use std::sync::Arc;

use super::error::ReferenceError;
use crate::element::{ElementType, Number};

/// Expected contents of buffers, by name.
pub type Expected = Result<Vec<(&'static str, Values)>, ReferenceError>;

/// Expected contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Bytes.
    U8(Vec<u8>),
    /// Unsigned words.
    U32(Vec<u32>),
    /// Signed words.
    S32(Vec<i32>),
    /// Single precision: for results that must be equal.
    F32(Vec<f32>),
    /// Double precision: also for single-precision buffers that are compared with a tolerance.
    F64(Vec<f64>),
    /// Elements of a type, little endian.
    Bytes(ElementType, Arc<[u8]>),
}

impl Values {
    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        let length = match self {
            Self::U8(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::S32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bytes(element, bytes) => bytes.len() / element.bytes() as usize,
        };
        length as u64
    }

    /// One value, rounded to the precision of the buffer it is compared with.
    pub(crate) fn at(&self, index: usize, element: ElementType) -> Number {
        let value = match self {
            Self::U8(values) => return Number::Integer(values[index].into()),
            Self::U32(values) => return Number::Integer(values[index].into()),
            Self::S32(values) => return Number::Integer(values[index].into()),
            Self::Bytes(element, bytes) => {
                let size = element.bytes() as usize;
                return Number::of_bytes(*element, &bytes[index * size..][..size]);
            }
            Self::F32(values) => f64::from(values[index]),
            Self::F64(values) => values[index],
        };
        Number::Real(element.nearest(value))
    }
}
