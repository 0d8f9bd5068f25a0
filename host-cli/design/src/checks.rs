//! Checks of the values in a design file, and the errors that refuse them.

use strata_config::ConfigError;

/// A whole number from 1 to `most`.
pub(super) fn small(file: &str, key: &str, value: i64, most: u8) -> Result<u8, ConfigError> {
    u8::try_from(value).ok().filter(|value| (1..=most).contains(value)).ok_or_else(|| {
        ConfigError::Range {
            file: file.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            allowed: format!("1 to {most}"),
        }
    })
}

/// A value out of its range, from `least` to `most` units.
pub(super) fn range(
    file: &str,
    key: &str,
    value: i64,
    least: u32,
    most: u32,
    unit: &str,
) -> ConfigError {
    ConfigError::Range {
        file: file.to_owned(),
        key: key.to_owned(),
        value: value.to_string(),
        allowed: format!("{least} to {most} {unit}"),
    }
}

/// Keys that contradict each other or the base, and a way out.
pub(super) fn combination(file: &str, problem: &str, hint: &str) -> ConfigError {
    ConfigError::Combination {
        file: file.to_owned(),
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    }
}
