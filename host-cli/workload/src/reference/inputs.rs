//! What a reference starts from.

use super::error::ReferenceError;
use crate::element::ElementType;
use crate::plan::LaunchPlan;

/// What a reference starts from: the parameters and the initial contents of the buffers.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    plan: &'a LaunchPlan,
}

impl<'a> Inputs<'a> {
    /// The inputs of a plan.
    pub const fn new(plan: &'a LaunchPlan) -> Self {
        Self { plan }
    }

    /// A parameter between 0 and 2^31 - 1.
    pub fn parameter(self, name: &'static str) -> Result<usize, ReferenceError> {
        let value = self.plan.parameters.get(name).ok_or(ReferenceError::NoParameter { name })?;
        match i32::try_from(value) {
            Ok(small) if small >= 0 => Ok(small as usize),
            _ => Err(ReferenceError::Parameter { name, value }),
        }
    }

    fn bytes(
        self,
        name: &'static str,
        element: ElementType,
        count: usize,
    ) -> Result<Vec<u8>, ReferenceError> {
        let index = self.plan.buffer(name).ok_or(ReferenceError::NoBuffer { name })?;
        let buffer = &self.plan.buffers[index];
        if buffer.element != element || buffer.count != count as u64 {
            let (found_count, found_element) = (buffer.count, buffer.element.name());
            let element = element.name();
            return Err(ReferenceError::Buffer {
                name,
                count,
                element,
                found_count,
                found_element,
            });
        }
        Ok(buffer.initial())
    }

    /// The initial contents of a buffer of exactly `count` single-precision numbers.
    pub fn f32(self, name: &'static str, count: usize) -> Result<Vec<f32>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::F32, count)?;
        Ok(words(&bytes).map(f32::from_bits).collect())
    }

    /// The initial contents of a buffer of exactly `count` double-precision numbers.
    pub fn f64(self, name: &'static str, count: usize) -> Result<Vec<f64>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::F64, count)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    /// The initial contents of a buffer of exactly `count` unsigned 32-bit numbers.
    pub fn u32(self, name: &'static str, count: usize) -> Result<Vec<u32>, ReferenceError> {
        Ok(words(&self.bytes(name, ElementType::U32, count)?).collect())
    }

    /// The initial contents of a buffer of exactly `count` unsigned 64-bit numbers.
    pub fn u64(self, name: &'static str, count: usize) -> Result<Vec<u64>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::U64, count)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// The initial contents of a buffer of exactly `count` signed 32-bit numbers.
    pub fn s32(self, name: &'static str, count: usize) -> Result<Vec<i32>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::S32, count)?;
        Ok(words(&bytes).map(|word| word as i32).collect())
    }

    /// The initial contents of a buffer of exactly `count` bytes.
    pub fn u8(self, name: &'static str, count: usize) -> Result<Vec<u8>, ReferenceError> {
        self.bytes(name, ElementType::U8, count)
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}
