//! Rounding of what is a quotient.

/// Six decimals: more would be noise of the division.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
