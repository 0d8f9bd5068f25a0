//! Switches of tests: environment variables that are 1, or not set.

use std::ffi::OsStr;

/// Whether a switch is on.
///
/// # Panics
/// It has another value.
pub(crate) fn is_on(name: &str) -> bool {
    of(name, std::env::var_os(name).as_deref()).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn of(name: &str, value: Option<&OsStr>) -> Result<bool, String> {
    match value {
        None => Ok(false),
        Some(value) if value == "1" => Ok(true),
        Some(value) => Err(format!("{name} is `{}`: set it to 1, or not at all", value.display())),
    }
}

#[test]
fn a_switch_is_1_or_not_set() {
    let of = |value| of("STRATA_X", value);
    assert_eq!((of(None), of(Some(OsStr::new("1")))), (Ok(false), Ok(true)));
    for value in ["0", "", "yes", "true", "1 "] {
        let wrong = of(Some(OsStr::new(value))).unwrap_err();
        assert!(wrong.contains("STRATA_X") && wrong.contains(&format!("`{value}`")), "{wrong}");
    }
}
