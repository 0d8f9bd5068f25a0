//! Results compared with what is expected, element by element.

use std::sync::Arc;

use strata_ptx::diagnostic::counted;

use super::buffer::BufferPlan;
use super::element::Number;
use super::plan::LaunchPlan;
use super::reference::{Inputs, Reference, ReferenceError, Values};

/// How far a result may lie from what is expected: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// In the unit of the elements.
    pub absolute: f64,
    /// As a fraction of the expected value.
    pub relative: f64,
}

impl Tolerance {
    /// Whether `found` is near enough to `expected`. Not-a-number is near itself only; infinities
    /// are near themselves only.
    fn accepts(self, found: Number, expected: Number) -> bool {
        let (real, wanted) = (found.real(), expected.real());
        if real.is_nan() || wanted.is_nan() {
            return real.is_nan() && wanted.is_nan();
        }
        if real.is_infinite() || wanted.is_infinite() {
            return real.total_cmp(&wanted).is_eq();
        }
        found.distance(expected) <= self.absolute + self.relative * wanted.abs()
    }
}

/// Where the expected contents of a buffer come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expectation {
    /// The plan's host reference.
    Reference,
    /// A file: its name, and its elements as the buffer's are, little endian.
    File(String, Arc<[u8]>),
}

/// A buffer that is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CheckedBuffer {
    /// Index into the plan's buffers.
    pub(super) buffer: usize,
    pub(super) tolerance: Tolerance,
    /// Elements that may be too far off.
    pub(super) at_most_differing: u64,
    pub(super) expectation: Expectation,
}

/// What a plan's results are compared with.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// Invariant: there is one if a buffer expects one.
    pub(super) reference: Option<Reference>,
    pub(super) buffers: Vec<CheckedBuffer>,
}

/// The first element that is too far off.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Its place: one index for each side of the buffer's shape, slowest first.
    pub place: Vec<u64>,
    /// What the kernels left.
    pub found: Number,
    /// What was expected.
    pub expected: Number,
}

/// The comparison of one buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The buffer's name.
    pub buffer: String,
    /// What it is compared with, in words.
    pub with: String,
    /// Elements compared.
    pub elements: u64,
    /// How near they had to be.
    pub tolerance: Tolerance,
    /// Elements that may be too far off.
    pub at_most_differing: u64,
    /// Largest absolute difference of an element; not-a-number and infinities are left out.
    pub largest_error: f64,
    /// Elements that are too far off.
    pub mismatches: u64,
    /// The first of them.
    pub first: Option<Mismatch>,
}

impl Comparison {
    /// Whether no more elements are too far off than may be.
    pub const fn passed(&self) -> bool {
        self.mismatches <= self.at_most_differing
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { buffer, with, elements, tolerance, mismatches, first, .. } = self;
        let Some(Mismatch { place, found, expected }) = first else {
            let verb = if *elements == 1 { "matches" } else { "match" };
            let elements = counted(elements, "element");
            return write!(formatter, "`{buffer}`: {elements} {verb} {with}");
        };
        let place: Vec<_> = place.iter().map(u64::to_string).collect();
        write!(
            formatter,
            "`{buffer}[{}]` is {found}, {with} says {expected} (tolerance: {} absolute, {} \
             relative); {mismatches} of {} {}",
            place.join(", "),
            tolerance.absolute,
            tolerance.relative,
            counted(elements, "element"),
            if *mismatches == 1 { "differs" } else { "differ" },
        )?;
        match self.at_most_differing {
            0 => Ok(()),
            allowed => write!(formatter, ", at most {allowed} may"),
        }
    }
}

/// Why results could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The reference could not be computed.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The reference does not define a buffer that the launch file wants compared.
    #[error("the host reference says nothing about buffer `{buffer}`")]
    NoExpectation {
        /// The buffer.
        buffer: String,
    },
    /// The reference or the result has another size than the buffer.
    #[error(
        "buffer `{buffer}` has {}, {found} were handed in or computed",
        counted(*expected, "element")
    )]
    Size {
        /// The buffer.
        buffer: String,
        /// Elements of the plan's buffer.
        expected: u64,
        /// Elements found.
        found: u64,
    },
}

impl CheckPlan {
    /// Compares the final contents of all the plan's buffers with what is expected.
    ///
    /// `finals` holds one entry for each buffer of the plan, little endian. Cost: one run of the
    /// reference, which is sequential.
    pub fn compare(
        &self,
        plan: &LaunchPlan,
        finals: &[Vec<u8>],
    ) -> Result<Vec<Comparison>, CompareError> {
        let computed = match self.reference {
            Some(reference) => reference(Inputs::new(plan))?,
            None => Vec::new(),
        };
        let mut comparisons = Vec::with_capacity(self.buffers.len());
        for checked in &self.buffers {
            let buffer = &plan.buffers[checked.buffer];
            let name = || buffer.name.clone();
            let read;
            let values = match &checked.expectation {
                Expectation::Reference => computed
                    .iter()
                    .find_map(|(expected, values)| (*expected == buffer.name).then_some(values))
                    .ok_or_else(|| CompareError::NoExpectation { buffer: name() })?,
                Expectation::File(_, bytes) => {
                    read = Values::Bytes(buffer.element, Arc::clone(bytes));
                    &read
                }
            };
            let bytes = finals.get(checked.buffer).map_or(&[][..], Vec::as_slice);
            let size = |found| CompareError::Size { buffer: name(), expected: buffer.count, found };
            if values.len() != buffer.count {
                return Err(size(values.len()));
            }
            if bytes.len() as u64 != buffer.bytes() {
                return Err(size(bytes.len() as u64 / buffer.element.bytes()));
            }
            comparisons.push(compare(buffer, bytes, values, checked));
        }
        Ok(comparisons)
    }
}

fn compare(
    buffer: &BufferPlan,
    bytes: &[u8],
    values: &Values,
    checked: &CheckedBuffer,
) -> Comparison {
    let mut largest_error = 0.0_f64;
    let mut mismatches = 0;
    let mut first = None;
    let elements = bytes.chunks_exact(buffer.element.bytes() as usize);
    for (index, element) in elements.enumerate() {
        let found = Number::of_bytes(buffer.element, element);
        let expected = values.at(index, buffer.element);
        let difference = found.distance(expected);
        if difference.is_finite() {
            largest_error = largest_error.max(difference);
        }
        if !checked.tolerance.accepts(found, expected) {
            mismatches += 1;
            let place = || place(index as u64, &buffer.shape);
            first.get_or_insert_with(|| Mismatch { place: place(), found, expected });
        }
    }
    let with = match &checked.expectation {
        Expectation::Reference => "the host reference".to_owned(),
        Expectation::File(file, _) => format!("`{file}`"),
    };
    let (tolerance, at_most_differing) = (checked.tolerance, checked.at_most_differing);
    let (buffer, elements) = (buffer.name.clone(), buffer.count);
    Comparison {
        buffer,
        with,
        elements,
        tolerance,
        at_most_differing,
        largest_error,
        mismatches,
        first,
    }
}

/// The indices of an element, slowest first.
fn place(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut place = vec![0; shape.len()];
    for (at, &side) in place.iter_mut().zip(shape).rev() {
        (*at, index) = (index % side.max(1), index / side.max(1));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Contents;
    use super::super::element::ElementType;
    use super::*;

    fn buffer(element: ElementType, shape: &[u64]) -> BufferPlan {
        let (count, shape) = (shape.iter().product(), shape.to_vec());
        let (name, variable, contents) = ("b".to_owned(), None, Contents::Zero);
        BufferPlan { name, element, count, shape, variable, contents }
    }

    fn checked(tolerance: Tolerance) -> CheckedBuffer {
        let expectation = Expectation::Reference;
        CheckedBuffer { buffer: 0, tolerance, at_most_differing: 0, expectation }
    }

    #[test]
    fn the_first_mismatch_is_reported() {
        let bytes: Vec<u8> =
            [1.0_f32, 2.0, 3.5, 5.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let values = Values::F64(vec![1.0, 2.0, 3.0, 4.0]);
        let mut exact = checked(Tolerance::default());
        let compared = compare(&buffer(ElementType::F32, &[4]), &bytes, &values, &exact);
        assert_eq!((compared.mismatches, compared.passed()), (2, false));
        assert_eq!(
            compared.to_string(),
            "`b[2]` is 3.5, the host reference says 3 (tolerance: 0 absolute, 0 relative); 2 of 4 \
             elements differ"
        );
        exact.expectation = Expectation::File("y.npy".to_owned(), Arc::default());
        for (allowed, passed) in [(1, false), (2, true), (3, true)] {
            exact.at_most_differing = allowed;
            let compared = compare(&buffer(ElementType::F32, &[2, 2]), &bytes, &values, &exact);
            assert_eq!(compared.passed(), passed, "{allowed}");
            assert_eq!(
                compared.to_string(),
                format!(
                    "`b[1, 0]` is 3.5, `y.npy` says 3 (tolerance: 0 absolute, 0 relative); 2 of 4 \
                     elements differ, at most {allowed} may"
                )
            );
        }
        let near = checked(Tolerance { absolute: 0.5, relative: 0.125 });
        let near = compare(&buffer(ElementType::F32, &[4]), &bytes, &values, &near);
        assert_eq!((near.mismatches, near.first), (0, None));
        assert_eq!(near.largest_error.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn special_values_match_only_themselves() {
        let loose = Tolerance { absolute: 1e9, relative: 1.0 };
        let accepts = |tolerance: Tolerance, found, expected| {
            tolerance.accepts(Number::Real(found), Number::Real(expected))
        };
        let inf = f64::INFINITY;
        assert!(accepts(loose, f64::NAN, f64::NAN));
        assert!(!accepts(loose, f64::NAN, 1.0));
        assert!(!accepts(loose, 1.0, f64::NAN));
        assert!(accepts(loose, inf, inf));
        assert!(!accepts(loose, -inf, inf));
        assert!(!accepts(loose, 1.0, inf));
        assert!(!accepts(loose, inf, 1.0));
        assert!(accepts(Tolerance::default(), 0.0, -0.0));
    }

    /// In double precision they would be equal.
    #[test]
    fn large_integers_that_differ_by_one_differ() {
        for (element, one, two) in [
            (ElementType::U64, u64::MAX, u64::MAX - 1),
            (ElementType::S64, i64::MIN as u64, (i64::MIN + 1) as u64),
        ] {
            let number = |bits: u64| Number::of_bytes(element, &bits.to_le_bytes());
            assert!(!Tolerance::default().accepts(number(one), number(two)), "{element:?}");
            assert!(Tolerance::default().accepts(number(one), number(one)), "{element:?}");
            let off_by_one = Tolerance { absolute: 1.0, relative: 0.0 };
            assert!(off_by_one.accepts(number(one), number(two)), "{element:?}");
        }
    }
}
