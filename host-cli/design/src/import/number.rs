//! Numbers as C++ prints them: decimals, with or without an exponent, read without floating point.

use super::error::ImportError;
use super::output::Line;

/// Most digits before and behind the point, and the largest exponent; C++ prints six digits.
const MOST_DIGITS: usize = 18;
const MOST_EXPONENT: i32 = 30;

/// A number at the start of `rest`, in units of `10^-power`, rounded to the nearest, ties up; and
/// the text behind it. `line` is for messages.
pub(super) fn number<'a>(
    line: Line<'_>,
    rest: &'a str,
    power: i32,
) -> Result<(u128, &'a str), ImportError> {
    let no_number =
        || line.wrong("there is no plain decimal number, such as 1.25, where one must be");
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, mut behind) = rest.split_at(end);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || decimals.contains('.') {
        return Err(no_number());
    }
    if behind.starts_with(',') {
        return Err(line.wrong("the number has a comma: decimals stand behind a point"));
    }
    if whole.len() > MOST_DIGITS || decimals.len() > MOST_DIGITS {
        return Err(line.wrong("the number has too many digits"));
    }
    let mut exponent = 0;
    if let Some(after) = behind.strip_prefix(['e', 'E'])
        && let Some((value, left)) = read_exponent(after)
    {
        (exponent, behind) = (value, left);
    }
    if exponent.abs() > MOST_EXPONENT {
        return Err(line.wrong("the number's exponent is too large"));
    }
    let mantissa: u128 = format!("{whole}{decimals}").parse().map_err(|_| no_number())?;
    let scale = exponent + power - decimals.len() as i32;
    let factor = 10_u128.checked_pow(scale.unsigned_abs());
    let value = match factor {
        Some(factor) if scale >= 0 => mantissa.checked_mul(factor),
        Some(factor) => Some((mantissa + factor / 2) / factor),
        // Smaller than the unit by more than a number of 128 bits can say.
        None => (scale < 0).then_some(0),
    };
    Ok((value.ok_or_else(|| line.too_large())?, behind))
}

fn read_exponent(text: &str) -> Option<(i32, &str)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let value: i32 = digits.get(..digits.len().min(9))?.parse().ok()?;
    Some((if negative { -value } else { value }, rest))
}

/// A number that is all that is left of its line and fits 64 bits.
pub(super) fn only(line: Line<'_>, rest: &str, power: i32) -> Result<u64, ImportError> {
    let (value, behind) = number(line, rest, power)?;
    nothing(line, behind)?;
    u64::try_from(value).map_err(|_| line.too_large())
}

/// Refuses what is left of a line.
pub(super) fn nothing(line: Line<'_>, behind: &str) -> Result<(), ImportError> {
    if behind.trim().is_empty() {
        return Ok(());
    }
    Err(line.wrong(format!("`{}` behind the value means nothing", behind.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Line<'_> = Line { number: 1, text: "line", part: false };

    #[test]
    fn decimals_and_exponents_are_exact() {
        let of = |text: &str, power| number(LINE, text, power).map(|(value, _)| value);
        assert_eq!(of("0.69", 6), Ok(690_000));
        assert_eq!(of(" 1.13442nJ", 9), Ok(1_134_420_000));
        assert_eq!(of("1.5e-05", 6), Ok(15));
        assert_eq!(of("1.5E+2", 0), Ok(150));
        assert_eq!(of("2.5", 0), Ok(3));
        assert_eq!(of("2.4", 0), Ok(2));
        assert_eq!(of("1e-29", 0), Ok(0));
        assert_eq!(number(LINE, "17 x 3", 0), Ok((17, " x 3")));
        for text in ["", "-1", ".5", "nan", "inf", "1.2.3", "x", "0,69", "1,234.5"] {
            assert!(of(text, 0).is_err(), "{text}");
        }
        for text in
            ["1e31", "1e-31", "1e999999999999", "9999999999999999999", "999999999999999999e30"]
        {
            let message = of(text, 9).unwrap_err().to_string();
            assert!(message.contains("too large") || message.contains("too many"), "{message}");
        }
        assert!(only(LINE, "99999999999", 12).is_err());
    }

    #[test]
    fn nothing_may_follow() {
        assert_eq!(only(LINE, " 17 ", 0), Ok(17));
        for text in ["17 x", "17e", "17'000", "17_000", "1 7"] {
            let message = only(LINE, text, 0).unwrap_err().to_string();
            assert!(message.contains("behind the value means nothing"), "{text}: {message}");
        }
    }
}
