//! Numbers to a printed precision, from integers.

use strata_core::units::Femtojoules;

/// `numerator / denominator` with this many decimals, rounded to nearest, ties up.
///
/// The denominator is not 0, and the numbers are those of tables: their products fit.
pub(super) fn fixed(numerator: u128, denominator: u128, decimals: u32) -> String {
    let scale = 10_u128.pow(decimals);
    let rounded = (2 * numerator * scale + denominator) / (2 * denominator);
    let (whole, rest) = (rounded / scale, rounded % scale);
    if decimals == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:0width$}", width = decimals as usize)
}

/// An energy in picojoules, to one decimal.
pub(super) fn picojoules(energy: Femtojoules) -> String {
    fixed(energy.0.into(), 1000, 1)
}

/// A part of a whole in percent.
pub(super) fn share(part: u64, whole: u64, decimals: u32) -> String {
    fixed(100 * u128::from(part), u128::from(whole), decimals)
}

/// A printed decimal as an integer number of 10^-`decimals`; the tables' numbers have no more.
pub(super) fn scaled(number: f64, decimals: i32) -> u128 {
    (number * 10_f64.powi(decimals)).round() as u128
}

/// Whether both texts have as many numbers of two decimals with one space between them, of which
/// none differs by more than so many hundredths.
pub(super) fn within(a: &str, b: &str, hundredths: u128) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.split(' ').collect(), b.split(' ').collect());
    let close = |(a, b): (&&str, &&str)| match (in_hundredths(a), in_hundredths(b)) {
        (Some(a), Some(b)) => a.abs_diff(b) <= hundredths,
        _ => false,
    };
    hundredths != 0 && a.len() == b.len() && a.iter().zip(&b).all(close)
}

fn in_hundredths(number: &str) -> Option<u128> {
    let (whole, decimals) = number.split_once('.').filter(|(_, decimals)| decimals.len() == 2)?;
    Some(100 * whole.parse::<u128>().ok()? + decimals.parse::<u128>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_nearest_with_ties_up() {
        assert_eq!(fixed(1, 3, 2), "0.33");
        assert_eq!(fixed(2, 3, 2), "0.67");
        assert_eq!(fixed(5, 100, 1), "0.1");
        assert_eq!(fixed(4999, 100_000, 1), "0.0");
        assert_eq!(fixed(1999, 1000, 0), "2");
        assert_eq!(fixed(131_072, 6144, 0), "21");
        assert!(within("98.63 7.59", "98.62 7.59", 1) && within("1.00", "0.99", 1));
        assert!(!within("98.64 7.59", "98.62 7.59", 1) && !within("1.00", "1.00", 0));
        assert!(!within("1.00 2.00", "1.00", 1) && !within("1.00", "1.00 ", 1));
        assert!(!within("1.0", "1.0", 1) && !within("nothing", "1.00", 1));
        assert_eq!(scaled(0.9, 1), 9);
        assert_eq!(scaled(6.7, 3), 6700);
    }
}
