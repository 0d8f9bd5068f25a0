//! Results compared with a host reference, element by element.

use super::buffer::{BufferPlan, ElementType};
use super::plan::LaunchPlan;
use super::reference::{Inputs, Reference, ReferenceError, Values};

/// How far a result may lie from its reference: `absolute + relative * |expected|`.
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
    fn accepts(self, found: f64, expected: f64) -> bool {
        if found.is_nan() || expected.is_nan() {
            return found.is_nan() && expected.is_nan();
        }
        if found.is_infinite() || expected.is_infinite() {
            return found.total_cmp(&expected).is_eq();
        }
        (found - expected).abs() <= self.absolute + self.relative * expected.abs()
    }
}

/// A buffer that is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CheckedBuffer {
    /// Index into the plan's buffers.
    pub(super) buffer: usize,
    pub(super) tolerance: Tolerance,
}

/// What a plan's results are compared with.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    pub(super) reference: Reference,
    pub(super) buffers: Vec<CheckedBuffer>,
}

/// The first element that is too far off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mismatch {
    /// Unit: elements.
    pub index: u64,
    /// What the kernels left.
    pub found: f64,
    /// What the reference says.
    pub expected: f64,
}

/// The comparison of one buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The buffer's name.
    pub buffer: String,
    /// Elements compared.
    pub elements: u64,
    /// How near they had to be.
    pub tolerance: Tolerance,
    /// Largest absolute difference of an element; not-a-number and infinities are left out.
    pub largest_error: f64,
    /// Elements that are too far off.
    pub mismatches: u64,
    /// The first of them.
    pub first: Option<Mismatch>,
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { buffer, elements, tolerance, mismatches, first, .. } = self;
        let Some(Mismatch { index, found, expected }) = first else {
            return write!(formatter, "`{buffer}`: {elements} elements match");
        };
        write!(
            formatter,
            "`{buffer}[{index}]` is {found}, the host reference says {expected} (tolerance: \
             {} absolute, {} relative); {mismatches} of {elements} elements differ",
            tolerance.absolute, tolerance.relative
        )
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
    #[error("buffer `{buffer}` has {expected} elements, {found} were handed in or computed")]
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
    /// Compares the final contents of all the plan's buffers with the host reference.
    ///
    /// `finals` holds one entry for each buffer of the plan, little endian. Cost: one run of the
    /// reference, which is sequential.
    pub fn compare(
        &self,
        plan: &LaunchPlan,
        finals: &[Vec<u8>],
    ) -> Result<Vec<Comparison>, CompareError> {
        let expected = (self.reference)(Inputs::new(plan))?;
        let mut comparisons = Vec::with_capacity(self.buffers.len());
        for checked in &self.buffers {
            let buffer = &plan.buffers[checked.buffer];
            let name = || buffer.name.clone();
            let values = expected
                .iter()
                .find_map(|(expected, values)| (*expected == buffer.name).then_some(values))
                .ok_or_else(|| CompareError::NoExpectation { buffer: name() })?;
            let bytes = finals.get(checked.buffer).map_or(&[][..], Vec::as_slice);
            let size = |found| CompareError::Size { buffer: name(), expected: buffer.count, found };
            if values.len() != buffer.count {
                return Err(size(values.len()));
            }
            if bytes.len() as u64 != buffer.bytes() {
                return Err(size(bytes.len() as u64 / buffer.element.bytes()));
            }
            comparisons.push(compare(buffer, bytes, values, checked.tolerance));
        }
        Ok(comparisons)
    }
}

fn compare(buffer: &BufferPlan, bytes: &[u8], values: &Values, tolerance: Tolerance) -> Comparison {
    let mut largest_error = 0.0_f64;
    let mut mismatches = 0;
    let mut first = None;
    let elements = bytes.chunks_exact(buffer.element.bytes() as usize);
    for (index, element) in elements.enumerate() {
        let found = element_value(buffer.element, element);
        let expected = values.at(index, buffer.element);
        let difference = (found - expected).abs();
        if difference.is_finite() {
            largest_error = largest_error.max(difference);
        }
        if !tolerance.accepts(found, expected) {
            mismatches += 1;
            first.get_or_insert(Mismatch { index: index as u64, found, expected });
        }
    }
    let (buffer, elements) = (buffer.name.clone(), buffer.count);
    Comparison { buffer, elements, tolerance, largest_error, mismatches, first }
}

/// One element as a number. Integers of 64 bits beyond 2^53 are rounded, which no reference needs.
fn element_value(element: ElementType, bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match element {
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => bits as f64,
        ElementType::S32 => f64::from(bits as u32 as i32),
        ElementType::F32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::F64 => f64::from_bits(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Contents;
    use super::*;

    fn buffer(element: ElementType, count: u64) -> BufferPlan {
        BufferPlan { name: "b".to_owned(), element, count, contents: Contents::Zero }
    }

    #[test]
    fn the_first_mismatch_is_reported() {
        let bytes: Vec<u8> =
            [1.0_f32, 2.0, 3.5, 5.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let values = Values::F64(vec![1.0, 2.0, 3.0, 4.0]);
        let exact = compare(&buffer(ElementType::F32, 4), &bytes, &values, Tolerance::default());
        assert_eq!(exact.mismatches, 2);
        assert_eq!(exact.first, Some(Mismatch { index: 2, found: 3.5, expected: 3.0 }));
        assert_eq!(
            exact.to_string(),
            "`b[2]` is 3.5, the host reference says 3 (tolerance: 0 absolute, 0 relative); 2 of 4 \
             elements differ"
        );
        let tolerance = Tolerance { absolute: 0.5, relative: 0.125 };
        let near = compare(&buffer(ElementType::F32, 4), &bytes, &values, tolerance);
        assert_eq!((near.mismatches, near.first), (0, None));
        assert_eq!(near.largest_error.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn special_values_match_only_themselves() {
        let loose = Tolerance { absolute: 1e9, relative: 1.0 };
        let inf = f64::INFINITY;
        assert!(loose.accepts(f64::NAN, f64::NAN));
        assert!(!loose.accepts(f64::NAN, 1.0));
        assert!(!loose.accepts(1.0, f64::NAN));
        assert!(loose.accepts(inf, inf));
        assert!(!loose.accepts(-inf, inf));
        assert!(!loose.accepts(1.0, inf));
        assert!(!loose.accepts(inf, 1.0));
        assert!(Tolerance::default().accepts(0.0, -0.0));
    }

    #[test]
    fn elements_are_read_by_type() {
        for (element, bytes, expected) in [
            (ElementType::S32, &(-5_i32).to_le_bytes()[..], -5.0_f64),
            (ElementType::U32, &u32::MAX.to_le_bytes(), 4_294_967_295.0),
            (ElementType::U8, &[200], 200.0),
            (ElementType::U16, &[1, 2], 513.0),
            (ElementType::F32, &0.1_f32.to_le_bytes(), f64::from(0.1_f32)),
            (ElementType::F64, &2.5_f64.to_le_bytes(), 2.5),
        ] {
            assert_eq!(element_value(element, bytes).to_bits(), expected.to_bits());
        }
    }
}
