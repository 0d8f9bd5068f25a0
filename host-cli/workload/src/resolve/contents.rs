//! Initial contents of buffers: generators with their expressions evaluated and ranges checked.

use toml::Spanned;

use super::super::buffer::{BufferPlan, Contents, Target};
use super::super::document::{self, Formula, Generator, Literal};
use super::super::element::ElementType;
use super::super::error::Problem;
use super::super::mistakes::compares_fields;
use super::super::real;
use super::super::source::Place;
use super::super::suffix_tree::tree_words;
use super::{Failed, MAX_GRAPH, Resolver, Result};

impl Resolver<'_> {
    /// What a generator makes of a buffer. Whether it suits one whose `count` is wrong in the file
    /// is not known.
    pub(super) fn contents(
        &self,
        generator: &Generator,
        element: ElementType,
        count: Option<u64>,
        place: &Place,
    ) -> Result<Contents> {
        match self.made(generator, element, count.unwrap_or(1), place) {
            Err(Failed::Mistake(mistake))
                if count.is_none() && compares_fields(&mistake.problem) =>
            {
                Err(Failed::Follows)
            }
            made => made,
        }
    }

    fn made(
        &self,
        generator: &Generator,
        element: ElementType,
        count: u64,
        place: &Place,
    ) -> Result<Contents> {
        let unsuitable =
            |generator, because| unsuitable(place, generator, (count, element), because);
        let (_, highest) = element.integer_range();
        match generator {
            // The buffers that addresses name may follow; a file has been read.
            Generator::Zero | Generator::Addresses(_) | Generator::File(_) => Ok(Contents::Zero),
            Generator::Iota if count - 1 > highest as u64 => {
                Err(unsuitable("iota", range(element)))
            }
            Generator::Iota => Ok(Contents::Iota),
            Generator::Constant(literal) => {
                constant(*literal, element).map_err(|why| unsuitable("constant", why))
            }
            Generator::Uniform { low, high, seed } => {
                self.uniform((low.0, high.0), seed, (count, element), place)
            }
            Generator::Integers { low, high, seed } => {
                self.integers((low, high), seed, (count, element), place)
            }
            Generator::GraphOffsets(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(nodes) + 1 {
                    let why = format!("{nodes} nodes have {} u32 offsets", u64::from(nodes) + 1);
                    return Err(unsuitable("graph_offsets", why));
                }
                Ok(Contents::GraphOffsets { nodes, edges, seed: self.seed(&shape.seed, place)? })
            }
            Generator::GraphEdges(shape) => {
                let (nodes, edges) = self.graph(shape, place)?;
                if element != ElementType::U32 || count != u64::from(edges) {
                    let why = format!("{edges} edges have as many u32 targets");
                    return Err(unsuitable("graph_edges", why));
                }
                Ok(Contents::GraphEdges { nodes, edges, seed: self.seed(&shape.seed, place)? })
            }
            Generator::SuffixTree { letters, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let words = tree_words(letters);
                if element != ElementType::U32 || count != words {
                    let why = format!("the tree of {letters} letters has {words} u32 words");
                    return Err(unsuitable("suffix_tree", why));
                }
                Ok(Contents::SuffixTree { letters, seed: self.seed(seed, place)? })
            }
            Generator::Reads { letters, each, seed } => {
                let letters = self.size("the number of the text's letters", letters, place)?;
                let each = self.size("the number of a read's letters", each, place)?;
                if element != ElementType::U8 {
                    return Err(unsuitable("reads", "letters are of type u8".to_owned()));
                }
                Ok(Contents::Reads { letters, each, seed: self.seed(seed, place)? })
            }
        }
    }

    /// The addresses of buffers, once all are known, for the buffer with this number.
    pub(super) fn addresses(
        &self,
        targets: &[Spanned<document::Target>],
        index: usize,
        place: &Place,
    ) -> Result<Contents> {
        let suit = self.known(index).and_then(|buffer| self.suit(targets.len(), buffer, place));
        self.keep(suit);
        let targets = targets.iter().enumerate().map(|(index, target)| {
            let key = format!("{}.addresses[{index}]", place.key);
            self.target(target.get_ref(), &self.source.place(target.span(), key))
        });
        Ok(Contents::Addresses(self.keep_all(targets)?.into()))
    }

    /// Refuses a buffer that cannot hold so many addresses.
    fn suit(&self, targets: usize, buffer: &BufferPlan, place: &Place) -> Result<()> {
        let BufferPlan { element, count, .. } = *buffer;
        let bits = self.module.address_bits;
        let wanted = if bits == 32 { ElementType::U32 } else { ElementType::U64 };
        if element != wanted {
            let because = format!("the PTX has addresses of {bits} bits: {}", wanted.name());
            return Err(unsuitable(place, "addresses", (count, element), because));
        }
        if targets == 0 {
            return Err(place.mistake(Problem::EmptyList));
        }
        if targets as u64 > count {
            let because = format!("there are {targets} addresses");
            return Err(unsuitable(place, "addresses", (count, element), because));
        }
        Ok(())
    }

    /// Where an address points.
    fn target(&self, target: &document::Target, place: &Place) -> Result<Target> {
        let buffer = self.buffer(&target.buffer, place)?;
        let BufferPlan { count, element, .. } = &self.plan.buffers[buffer];
        let offset = match &target.offset {
            Some(offset) => self.evaluate(&offset.0, place)?,
            None => 0,
        };
        let high = i64::try_from(*count).unwrap_or(i64::MAX);
        if !(0..=high).contains(&offset) {
            let (what, value, low) = ("`offset`", offset, 0);
            return Err(place.mistake(Problem::OutOfRange { what, value, low, high }));
        }
        Ok(Target { buffer, offset: offset as u64 * element.bytes() })
    }

    /// Random numbers in `[low, high)`.
    fn uniform(
        &self,
        (low, high): (f64, f64),
        seed: &Formula,
        (count, element): (u64, ElementType),
        place: &Place,
    ) -> Result<Contents> {
        let refused =
            |because: &str| Err(unsuitable(place, "uniform", (count, element), because.to_owned()));
        if !element.is_float() {
            return refused("it makes floating-point numbers");
        }
        for bound in [low, high] {
            real::rounded(bound, element).map_err(|why| place.mistake(why))?;
        }
        if low.is_finite() && high.is_finite() && low <= high && (high - low).is_finite() {
            Ok(Contents::Uniform { low, high, seed: self.seed(seed, place)? })
        } else {
            refused("`low` must be finite and at most `high`")
        }
    }

    /// Random integers in `[low, high]`.
    fn integers(
        &self,
        (low, high): (&Formula, &Formula),
        seed: &Formula,
        (count, element): (u64, ElementType),
        place: &Place,
    ) -> Result<Contents> {
        let refused =
            |because: String| Err(unsuitable(place, "integers", (count, element), because));
        let (lowest, highest) = element.integer_range();
        let (low, high) = (self.evaluate(&low.0, place)?, self.evaluate(&high.0, place)?);
        if low < lowest || high > highest {
            return refused(range(element));
        }
        if low > high {
            return refused("`low` must be at most `high`".to_owned());
        }
        Ok(Contents::Integers { low, high, seed: self.seed(seed, place)? })
    }

    fn seed(&self, seed: &Formula, place: &Place) -> Result<u64> {
        let value = self.evaluate(&seed.0, place)?.saturating_add(self.more_seed);
        let (what, low, high) = ("the seed", 0, i64::MAX);
        let problem = Problem::OutOfRange { what, value, low, high };
        if value < 0 { Err(place.mistake(problem)) } else { Ok(value as u64) }
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
            .ok_or_else(|| place.mistake(Problem::OutOfRange { what, value, low: 1, high }))
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

/// The integers of a type, in words.
fn range(element: ElementType) -> String {
    let (lowest, highest) = element.integer_range();
    format!("its integers range from {lowest} to {highest}")
}

/// A generator that does not suit a buffer of so many elements of a type.
fn unsuitable(
    place: &Place,
    generator: &'static str,
    (count, element): (u64, ElementType),
    because: String,
) -> Failed {
    let element = element.name();
    place.mistake(Problem::Unsuitable { generator, count, element, because })
}
