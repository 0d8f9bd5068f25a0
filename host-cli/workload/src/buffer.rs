//! Buffers of a plan: their sizes and initial contents.

use std::sync::Arc;

use super::element::ElementType;
use super::generator::{SplitMix64, random_graph};
use super::suffix_tree::{random_text, reads, suffix_tree};

/// Initial contents, with every expression evaluated and every range checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Contents {
    /// What the module's variable is initialised with.
    Kept,
    /// Read from a file.
    Bytes(Arc<[u8]>),
    Zero,
    /// Addresses, which are known once all buffers are allocated.
    Addresses(Arc<[Target]>),
    Iota,
    Integer(i64),
    Real(f64),
    Uniform {
        low: f64,
        high: f64,
        seed: u64,
    },
    Integers {
        low: i64,
        high: i64,
        seed: u64,
    },
    GraphOffsets {
        nodes: u32,
        edges: u32,
        seed: u64,
    },
    GraphEdges {
        nodes: u32,
        edges: u32,
        seed: u64,
    },
    SuffixTree {
        letters: u32,
        seed: u64,
    },
    Reads {
        letters: u32,
        each: u32,
        seed: u64,
    },
}

/// Where an address in a buffer points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Number of the buffer.
    pub(super) buffer: usize,
    /// Unit: bytes from its start.
    pub(super) offset: u64,
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
    /// Sides, slowest first; their product is `count`. As the launch file or the array file has
    /// them, otherwise the count alone.
    pub shape: Vec<u64>,
    /// The variable of the module that the buffer is; otherwise it is allocated.
    pub variable: Option<String>,
    // Invariant: fits `element` and `count`; `plan` checks it.
    pub(super) contents: Contents,
}

impl BufferPlan {
    /// Size. Unit: bytes.
    pub const fn bytes(&self) -> u64 {
        self.count * self.element.bytes()
    }

    /// The initial contents, little endian; of a variable that keeps what the module says, and of
    /// addresses, zeros.
    /// Cost: proportional to [`Self::bytes`]; the same bytes on every call and every host.
    pub fn initial(&self) -> Vec<u8> {
        let size = self.bytes() as usize;
        let mut bytes = Vec::with_capacity(size);
        match self.contents {
            Contents::Bytes(ref read) => return read.to_vec(),
            Contents::Kept | Contents::Zero | Contents::Addresses(_) => bytes.resize(size, 0),
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

    /// The initial contents of a buffer of addresses, when the buffers lie at `addresses`; `None`
    /// of any other.
    pub(super) fn addresses(&self, addresses: &[u64]) -> Option<Vec<u8>> {
        let Contents::Addresses(targets) = &self.contents else { return None };
        let mut bytes = Vec::with_capacity(self.bytes() as usize);
        for target in targets.iter().cycle().take(self.count as usize) {
            let address = addresses[target.buffer] + target.offset;
            bytes.extend_from_slice(&address.to_le_bytes()[..self.element.bytes() as usize]);
        }
        Some(bytes)
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
    pub(super) fn reset(&self, value: &Contents) -> Vec<u8> {
        let (name, variable, shape) = (String::new(), None, Vec::new());
        let (element, count, contents) = (self.element, self.count, value.clone());
        Self { name, element, count, shape, variable, contents }.initial()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initial(element: ElementType, count: u64, contents: Contents) -> Vec<u8> {
        let (shape, variable) = (vec![count], None);
        BufferPlan { name: "b".to_owned(), element, count, shape, variable, contents }.initial()
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
        assert_eq!(constant(ElementType::F16), [0x00, 0x47]);
        assert_eq!(constant(ElementType::S64), 7_i64.to_le_bytes());
        assert_eq!(initial(ElementType::S8, 1, Contents::Integer(-2)), [254]);
        assert_eq!(initial(ElementType::S16, 1, Contents::Integer(-2)), [254, 255]);
        assert_eq!(initial(ElementType::F16, 1, Contents::Real(0.1)), [0x66, 0x2e]);
        let negative = initial(ElementType::S32, 2, Contents::Integer(-2));
        assert_eq!(negative, [254, 255, 255, 255, 254, 255, 255, 255]);
        assert_eq!(initial(ElementType::F32, 1, Contents::Real(0.5)), 0.5_f32.to_le_bytes());
        assert_eq!(initial(ElementType::U16, 3, Contents::Iota), [0, 0, 1, 0, 2, 0]);
    }

    #[test]
    fn random_contents_are_repeatable_and_in_range() {
        let contents = Contents::Integers { low: -3, high: 3, seed: 9 };
        let bytes = initial(ElementType::S32, 1000, contents.clone());
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
