//! Equations: the numbers of whole and mixed CTAs in closed form.
//!
//! Models: equations 7 to 9 as printed, and the closed form that solves equations 1, 2 and 5.
//! Does not model: anything that runs. Residency is the exact solution in whole registers
//! ([`Capacity::vertical`]); these stand beside it.
//! Source: `[EXPARS]` 3.3.1; `docs/DEVIATIONS.md`, DEV-100.

use super::{Capacity, CtaNeeds, Threshold};
use crate::named;
use crate::sm::residency::CtaTooLarge;

named! {
    /// The cases of the printed solution.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Case {
        /// Equation 7: the register file does not limit.
        Seven = "equation 7",
        /// Equation 8: the threshold limits.
        Eight = "equation 8",
        /// Equation 9: another limit does.
        Nine = "equation 9",
    }
}

/// The printed solution. Its numbers may be fractions (equation 8), or CTAs that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The case that applies.
    pub case: Case,
    /// `CTA_RF`, as so many parts of [`Self::denominator`].
    pub whole: i64,
    /// `CTA_Mix`.
    pub mixed: i64,
    /// What `CTA_RF` is divided by: 1, or the threshold's denominator in equation 8.
    pub denominator: i64,
}

/// Equations 7 to 9 as printed.
///
/// # Errors
/// Those of [`Capacity::baseline`].
pub fn printed(
    capacity: &Capacity,
    needs: &CtaNeeds,
    threshold: Threshold,
) -> Result<Printed, CtaTooLarge> {
    capacity.baseline(needs)?;
    let (numerator, denominator) = threshold.parts();
    let (numerator, denominator) = (i64::from(numerator), i64::from(denominator));
    let (file, of_cta) = (i64::from(capacity.registers), i64::from(needs.registers).max(1));
    let (lower, upper) = (file / of_cta, i64::from(capacity.upper(needs)));
    if lower >= upper {
        return Ok(Printed { case: Case::Seven, whole: lower, mixed: 0, denominator: 1 });
    }
    let kept = denominator - numerator;
    let mixed = file * denominator / (of_cta * kept);
    if mixed <= upper {
        let whole = lower * denominator - mixed * kept;
        return Ok(Printed { case: Case::Eight, whole, mixed, denominator });
    }
    let of_file = file * denominator / (of_cta * numerator);
    let of_upper = upper * denominator / numerator;
    let (whole, mixed) = (of_file + upper - of_upper, of_upper - of_file);
    Ok(Printed { case: Case::Nine, whole, mixed, denominator: 1 })
}

/// Whole and mixed CTAs if a CTA's registers could be divided anywhere: the largest total that
/// equations 1, 2 and 5 allow, of which `ceil((total * R_CTA - R) / (tau * R_CTA))` are mixed.
/// None mixed: the baseline.
///
/// # Errors
/// Those of [`Capacity::baseline`].
pub fn corrected(
    capacity: &Capacity,
    needs: &CtaNeeds,
    threshold: Threshold,
) -> Result<(u32, u32), CtaTooLarge> {
    let baseline = capacity.baseline(needs)?.ctas;
    let (numerator, denominator) = threshold.parts();
    let (numerator, denominator) = (u64::from(numerator), u64::from(denominator));
    let (file, of_cta) = (u64::from(capacity.registers), u64::from(needs.registers));
    // All CTAs mixed, each with no more than the threshold outside of the register file.
    let most = (file * denominator).checked_div(of_cta * (denominator - numerator));
    let total = most.unwrap_or(u64::MAX).min(capacity.upper(needs).into()) as u32;
    if total <= baseline {
        return Ok((baseline, 0));
    }
    let excess = (u64::from(total) * of_cta).saturating_sub(file);
    let mixed = (excess * denominator).div_ceil(of_cta * numerator) as u32;
    Ok((total - mixed, mixed))
}
