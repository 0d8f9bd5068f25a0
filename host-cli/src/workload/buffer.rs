//! Buffers of a plan: their element types, sizes and initial contents.

use super::generator::{SplitMix64, random_graph};
use super::suffix_tree::{random_text, reads, suffix_tree};

/// Type of one element of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// 8-bit unsigned.
    U8,
    /// 16-bit unsigned.
    U16,
    /// 32-bit unsigned.
    U32,
    /// 32-bit signed.
    S32,
    /// 64-bit unsigned.
    U64,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl ElementType {
    /// Size of one element. Unit: bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }

    /// The spelling in launch files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// True for `f32` and `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Smallest and largest integer that an element holds exactly together with all between; for
    /// `u64` up to the largest `i64`, because launch files write no more.
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Self::U8 => (0, u8::MAX as i64),
            Self::U16 => (0, u16::MAX as i64),
            Self::U32 => (0, u32::MAX as i64),
            Self::S32 => (i32::MIN as i64, i32::MAX as i64),
            Self::U64 => (0, i64::MAX),
            Self::F32 => (-(1 << 24), 1 << 24),
            Self::F64 => (-(1 << 53), 1 << 53),
        }
    }

    /// Appends `value`, which lies in [`Self::integer_range`], as one element.
    fn push_integer(self, value: i64, bytes: &mut Vec<u8>) {
        match self {
            Self::F32 | Self::F64 => self.push_real(value as f64, bytes),
            _ => bytes.extend_from_slice(&value.to_le_bytes()[..self.bytes() as usize]),
        }
    }

    /// Appends `value` rounded to the element's precision; integers take the nearest one.
    fn push_real(self, value: f64, bytes: &mut Vec<u8>) {
        match self {
            Self::F32 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
            Self::F64 => bytes.extend_from_slice(&value.to_le_bytes()),
            _ => self.push_integer(value as i64, bytes),
        }
    }
}

/// Initial contents, with every expression evaluated and every range checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Contents {
    Zero,
    Iota,
    Integer(i64),
    Real(f64),
    Uniform { low: f64, high: f64, seed: u64 },
    Integers { low: i64, high: i64, seed: u64 },
    GraphOffsets { nodes: u32, edges: u32, seed: u64 },
    GraphEdges { nodes: u32, edges: u32, seed: u64 },
    SuffixTree { letters: u32, seed: u64 },
    Reads { letters: u32, each: u32, seed: u64 },
}

/// A buffer in device memory.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferPlan {
    /// Name in the launch file.
    pub name: String,
    /// Type of one element.
    pub element: ElementType,
    /// Unit: elements; at least 1.
    pub count: u64,
    // Invariant: fits `element` and `count`; `plan` checks it.
    pub(super) contents: Contents,
}

impl BufferPlan {
    /// Size. Unit: bytes.
    pub const fn bytes(&self) -> u64 {
        self.count * self.element.bytes()
    }

    /// The initial contents, little endian. Cost: proportional to [`Self::bytes`]; the same bytes
    /// on every call and every host.
    pub fn initial(&self) -> Vec<u8> {
        let size = self.bytes() as usize;
        let mut bytes = Vec::with_capacity(size);
        match self.contents {
            Contents::Zero => bytes.resize(size, 0),
            Contents::Integer(value) => return self.filled(value, 0.0),
            Contents::Real(value) => return self.filled(0, value),
            Contents::Iota => {
                for value in 0..self.count {
                    self.element.push_integer(value as i64, &mut bytes);
                }
            }
            Contents::Uniform { low, high, seed } => {
                let mut random = SplitMix64::new(seed);
                for _ in 0..self.count {
                    self.element.push_real(low + (high - low) * random.unit(), &mut bytes);
                }
            }
            Contents::Integers { low, high, seed } => {
                let mut random = SplitMix64::new(seed);
                let bound = low.abs_diff(high).saturating_add(1);
                for _ in 0..self.count {
                    let value = low.wrapping_add_unsigned(random.below(bound));
                    self.element.push_integer(value, &mut bytes);
                }
            }
            Contents::GraphOffsets { nodes, edges, seed } => {
                for offset in random_graph(nodes, edges, seed).offsets {
                    bytes.extend_from_slice(&offset.to_le_bytes());
                }
            }
            Contents::GraphEdges { nodes, edges, seed } => {
                for target in random_graph(nodes, edges, seed).edges {
                    bytes.extend_from_slice(&target.to_le_bytes());
                }
            }
            Contents::SuffixTree { letters, seed } => {
                for word in suffix_tree(&random_text(letters, seed)) {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
            }
            Contents::Reads { letters, each, seed } => {
                return reads(self.count, each, &random_text(letters, seed), seed);
            }
        }
        bytes
    }

    /// The buffer filled with one value: the integer one unless it is 0.
    fn filled(&self, integer: i64, real: f64) -> Vec<u8> {
        let mut element = Vec::with_capacity(8);
        if integer == 0 {
            self.element.push_real(real, &mut element);
        } else {
            self.element.push_integer(integer, &mut element);
        }
        element.repeat(self.count as usize)
    }

    /// The contents after a reset to `value`.
    pub(super) fn reset(&self, value: Contents) -> Vec<u8> {
        Self { contents: value, ..self.clone() }.initial()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initial(element: ElementType, count: u64, contents: Contents) -> Vec<u8> {
        BufferPlan { name: "b".to_owned(), element, count, contents }.initial()
    }

    #[test]
    fn every_element_type_is_written_little_endian() {
        let constant = |element| initial(element, 1, Contents::Integer(7));
        assert_eq!(constant(ElementType::U8), [7]);
        assert_eq!(constant(ElementType::U16), [7, 0]);
        assert_eq!(constant(ElementType::U32), [7, 0, 0, 0]);
        assert_eq!(constant(ElementType::U64), 7_u64.to_le_bytes());
        assert_eq!(constant(ElementType::F32), 7_f32.to_le_bytes());
        assert_eq!(constant(ElementType::F64), 7_f64.to_le_bytes());
        let negative = initial(ElementType::S32, 2, Contents::Integer(-2));
        assert_eq!(negative, [254, 255, 255, 255, 254, 255, 255, 255]);
        assert_eq!(initial(ElementType::F32, 1, Contents::Real(0.5)), 0.5_f32.to_le_bytes());
        assert_eq!(initial(ElementType::U16, 3, Contents::Iota), [0, 0, 1, 0, 2, 0]);
    }

    #[test]
    fn random_contents_are_repeatable_and_in_range() {
        let contents = Contents::Integers { low: -3, high: 3, seed: 9 };
        let bytes = initial(ElementType::S32, 1000, contents);
        assert_eq!(bytes, initial(ElementType::S32, 1000, contents));
        let mut seen = [0; 7];
        for chunk in bytes.chunks_exact(4) {
            let value = i32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            seen[usize::try_from(value + 3).expect("at least -3")] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");

        let bytes =
            initial(ElementType::F64, 1000, Contents::Uniform { low: -1.0, high: 2.0, seed: 5 });
        for chunk in bytes.chunks_exact(8) {
            let value = f64::from_le_bytes(chunk.try_into().expect("eight bytes"));
            assert!((-1.0..2.0).contains(&value));
        }
    }
}
