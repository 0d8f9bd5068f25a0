//! The Python package beside the program: `cargo xtask python` builds and installs it, and runs
//! this, which runs its tests.

use std::path::Path;
use std::process::Command;

/// The Python that has the package.
const PYTHON: &str = "STRATA_PACKAGE_PYTHON";

#[test]
fn the_package_has_the_numbers_of_the_program() {
    let python = std::env::var(PYTHON).expect("`cargo xtask python` names a Python");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-cli/python/tests");
    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"]).arg(tests);
    pytest.env("STRATA_PROGRAM", env!("CARGO_BIN_EXE_strata-under-test"));
    pytest.env("PYTHONDONTWRITEBYTECODE", "1");
    let status = pytest.status().expect("Python starts");
    assert!(status.success(), "pytest: {status}");
}
