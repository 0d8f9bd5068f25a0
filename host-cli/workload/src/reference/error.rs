//! Why a reference has no results, and how long one may take.

use strata_ptx::diagnostic::counted;

/// Most innermost steps of a reference: some minutes. A kernel within the usual budget of
/// instructions has fewer.
const MOST_STEPS: u128 = 1 << 37;

/// Why a reference cannot be computed: the launch file does not offer what it starts from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A parameter is missing.
    #[error("the host reference needs a parameter `{name}`")]
    NoParameter {
        /// The parameter.
        name: &'static str,
    },
    /// A parameter has a value that the algorithm does not define.
    #[error("the host reference needs `{name}` between 0 and 2^31 - 1, it is {value}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: i64,
    },
    /// It would take too long.
    #[error("the host reference would take {steps} steps, and at most {MOST_STEPS} are allowed")]
    TooLong {
        /// Its innermost steps.
        steps: u128,
    },
    /// A buffer is missing.
    #[error("the host reference needs a buffer `{name}`")]
    NoBuffer {
        /// The buffer.
        name: &'static str,
    },
    /// A buffer has another element type or size.
    #[error(
        "the host reference needs buffer `{name}` with {} of type {element}, it has {found_count} \
         of type {found_element}", counted(*count, "element")
    )]
    Buffer {
        /// The buffer.
        name: &'static str,
        /// Elements needed.
        count: usize,
        /// Type needed.
        element: &'static str,
        /// Elements found.
        found_count: u64,
        /// Type found.
        found_element: &'static str,
    },
}

/// Makes sure that a reference ends in time: `sides` are those of its nested loops, where they are
/// not bounded by a buffer alone.
///
/// # Errors
/// Too many steps.
pub(super) fn bounded(sides: &[usize]) -> Result<(), ReferenceError> {
    // At most four sides of 31 bits.
    let steps = sides.iter().map(|&side| side.max(1) as u128).product();
    if steps > MOST_STEPS { Err(ReferenceError::TooLong { steps }) } else { Ok(()) }
}
