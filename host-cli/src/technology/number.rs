//! Numbers as C++ prints them: decimals, with or without an exponent, read without floating point.

use super::ImportError;

/// Most digits before and behind the point, and the largest exponent; C++ prints six digits.
const MOST_DIGITS: usize = 18;
const MOST_EXPONENT: i32 = 30;

/// A number at the start of `rest`, in units of `10^-power`, rounded to the nearest, ties up; and
/// the text behind it. `line` is for messages.
pub(super) fn number<'a>(
    line: &str,
    rest: &'a str,
    power: i32,
) -> Result<(u128, &'a str), ImportError> {
    let wrong =
        |problem: &str| ImportError::Value { line: line.to_owned(), problem: problem.to_owned() };
    let no_number = || wrong("there is no plain decimal number where one must be");
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, mut behind) = rest.split_at(end);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || decimals.contains('.') {
        return Err(no_number());
    }
    if whole.len() > MOST_DIGITS || decimals.len() > MOST_DIGITS {
        return Err(wrong("the number has too many digits"));
    }
    let mut exponent = 0;
    if let Some(after) = behind.strip_prefix(['e', 'E'])
        && let Some((value, left)) = read_exponent(after)
    {
        (exponent, behind) = (value, left);
    }
    if exponent.abs() > MOST_EXPONENT {
        return Err(wrong("the number's exponent is too large"));
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
    Ok((value.ok_or_else(|| wrong("the number is too large"))?, behind))
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

/// A number that fits 64 bits.
pub(super) fn short<'a>(
    line: &str,
    rest: &'a str,
    power: i32,
) -> Result<(u64, &'a str), ImportError> {
    let (value, behind) = number(line, rest, power)?;
    let too_large = || ImportError::Value {
        line: line.to_owned(),
        problem: "the number is too large".to_owned(),
    };
    Ok((u64::try_from(value).map_err(|_| too_large())?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_exponents_are_exact() {
        let of = |text: &str, power| number("line", text, power).map(|(value, _)| value);
        assert_eq!(of("0.69", 6), Ok(690_000));
        assert_eq!(of(" 1.13442nJ", 9), Ok(1_134_420_000));
        assert_eq!(of("1.5e-05", 6), Ok(15));
        assert_eq!(of("1.5E+2", 0), Ok(150));
        assert_eq!(of("2.5", 0), Ok(3));
        assert_eq!(of("2.4", 0), Ok(2));
        assert_eq!(of("1e-29", 0), Ok(0));
        assert_eq!(number("line", "17 x 3", 0), Ok((17, " x 3")));
        for text in ["", "-1", ".5", "nan", "inf", "1.2.3", "x"] {
            assert!(of(text, 0).is_err(), "{text}");
        }
        for text in
            ["1e31", "1e-31", "1e999999999999", "9999999999999999999", "999999999999999999e30"]
        {
            let message = of(text, 9).unwrap_err().to_string();
            assert!(message.contains("too large") || message.contains("too many"), "{message}");
        }
        assert!(short("line", "99999999999", 12).is_err());
    }
}
