//! Initial contents of buffers: generators with their expressions evaluated and ranges checked.

use super::super::buffer::{Contents, ElementType};
use super::super::document::{self, Formula, Generator, Literal, Number};
use super::super::error::Problem;
use super::super::plan::Place;
use super::super::real;
use super::super::suffix_tree::tree_words;
use super::{MAX_GRAPH, Resolver, Result};

impl Resolver<'_> {
    pub(super) fn contents(
        &self,
        generator: &Generator,
        element: ElementType,
        count: u64,
        place: &Place,
    ) -> Result<Contents> {
        let unsuitable = |generator: &'static str, because: String| {
            let element = element.name();
            place.error(Problem::Unsuitable { generator, count, element, because })
        };
        let (lowest, highest) = element.integer_range();
        let range = format!("its integers range from {lowest} to {highest}");
        match generator {
            Generator::Zero => Ok(Contents::Zero),
            Generator::Iota if count - 1 > highest as u64 => Err(unsuitable("iota", range)),
            Generator::Iota => Ok(Contents::Iota),
            Generator::Constant(literal) => {
                constant(*literal, element).map_err(|why| unsuitable("constant", why))
            }
            Generator::Uniform { .. } if !element.is_float() => {
                Err(unsuitable("uniform", "it makes floating-point numbers".to_owned()))
            }
            Generator::Uniform { low: Number(low), high: Number(high), seed } => {
                for bound in [*low, *high] {
                    real::rounded(bound, element).map_err(|why| place.error(why))?;
                }
                if low.is_finite() && high.is_finite() && low <= high && (high - low).is_finite() {
                    Ok(Contents::Uniform { low: *low, high: *high, seed: *seed })
                } else {
                    Err(unsuitable("uniform", "`low` must be finite and at most `high`".to_owned()))
                }
            }
            Generator::Integers { low, high, seed } => {
                let (low, high) = (self.evaluate(&low.0, place)?, self.evaluate(&high.0, place)?);
                if low < lowest || high > highest {
                    return Err(unsuitable("integers", range));
                }
                if low > high {
                    return Err(unsuitable("integers", "`low` must be at most `high`".to_owned()));
                }
                Ok(Contents::Integers { low, high, seed: *seed })
            }
            Generator::GraphOffsets(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(nodes) + 1 {
                    let why = format!("{nodes} nodes have {} u32 offsets", u64::from(nodes) + 1);
                    return Err(unsuitable("graph_offsets", why));
                }
                Ok(Contents::GraphOffsets { nodes, edges, seed: shape.seed })
            }
            Generator::GraphEdges(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(edges) {
                    let why = format!("{edges} edges have as many u32 targets");
                    return Err(unsuitable("graph_edges", why));
                }
                Ok(Contents::GraphEdges { nodes, edges, seed: shape.seed })
            }
            Generator::SuffixTree { letters, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let words = tree_words(letters);
                if element != ElementType::U32 || count != words {
                    let why = format!("the tree of {letters} letters has {words} u32 words");
                    return Err(unsuitable("suffix_tree", why));
                }
                Ok(Contents::SuffixTree { letters, seed: *seed })
            }
            Generator::Reads { letters, each, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let each = self.size("the number of a read's letters", each, place)?;
                if element != ElementType::U8 {
                    return Err(unsuitable("reads", "letters are of type u8".to_owned()));
                }
                Ok(Contents::Reads { letters, each, seed: *seed })
            }
        }
    }

    fn graph(&self, shape: &document::GraphShape, place: &Place) -> Result<(u32, u32)> {
        Ok((
            self.size("the number of nodes", &shape.nodes, place)?,
            self.size("the number of edges", &shape.edges, place)?,
        ))
    }

    /// How large something that a generator builds is, from 1 to [`MAX_GRAPH`].
    fn size(&self, what: &'static str, formula: &Formula, place: &Place) -> Result<u32> {
        let value = self.evaluate(&formula.0, place)?;
        let high = MAX_GRAPH;
        u32::try_from(value)
            .ok()
            .filter(|_| (1..=high).contains(&value))
            .ok_or_else(|| place.error(Problem::OutOfRange { what, value, low: 1, high }))
    }
}

/// A literal as the contents of a buffer of this type, or why that is impossible.
pub(super) fn constant(
    literal: Literal,
    element: ElementType,
) -> std::result::Result<Contents, String> {
    let (lowest, highest) = element.integer_range();
    match literal {
        Literal::Integer(value) if element.is_float() => {
            let real = real::of_integer(value, element).map_err(|why| why.to_string())?;
            Ok(Contents::Real(real))
        }
        Literal::Integer(value) if (lowest..=highest).contains(&value) => {
            Ok(Contents::Integer(value))
        }
        Literal::Integer(_) => Err(format!("its integers range from {lowest} to {highest}")),
        Literal::Real(value) if element.is_float() => {
            let real = real::rounded(value, element).map_err(|why| why.to_string())?;
            Ok(Contents::Real(real))
        }
        Literal::Real(_) => Err("its elements are integers".to_owned()),
    }
}
