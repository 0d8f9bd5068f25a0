//! Statistics over workloads, each counting once.

/// Arithmetic mean; none of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of the values themselves, as a population; none of nothing.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_population() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(standard_deviation(&values), Some(2.0));
        assert_eq!(standard_deviation(&[3.0]), Some(0.0));
        assert_eq!((mean(&[]), standard_deviation(&[])), (None, None));
    }
}
