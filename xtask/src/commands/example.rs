//! The example of the library `strata`: a program outside of the workspace, built and run.

use crate::machine;
use crate::process::{self, Failure};

/// The example's package.
pub(super) const MANIFEST: &str = "host-cli/strata/example/Cargo.toml";

/// What it prints (`saxpy.ptx` under two designs).
const PRINTED: &str = "isca11: 7021 cycles, 2179.7 nJ\nisca11-rfc6: 7113 cycles, 1322.7 nJ\n";

/// The page of the book that shows it.
const PAGE: &str = "docs/book/from-rust.md";

/// Builds it, runs it, and compares what it prints; the page has the same program.
pub(super) fn check() -> Result<(), Failure> {
    let text = |path: &str| {
        let read = std::fs::read_to_string(machine::root().join(path));
        read.map_err(|error| Failure(format!("{path}: {error}")))
    };
    let source = MANIFEST.replace("Cargo.toml", "src/main.rs");
    let page = text(PAGE)?;
    if !page.contains(&text(&source)?) || !page.contains(PRINTED) {
        return Err(Failure(format!("{PAGE} does not show {source} and what it prints")));
    }
    let mut run = process::cargo(&["run", "--quiet", "--locked", "--manifest-path", MANIFEST]);
    run.arg("--target-dir").arg(machine::target_folder());
    let mut printed = String::new();
    let status = process::watch(&mut run, |line| {
        printed.push_str(line);
        printed.push('\n');
    })?;
    process::check(&run, status)?;
    if printed == PRINTED {
        return Ok(());
    }
    Err(Failure(format!("{MANIFEST} prints\n{printed}in the place of\n{PRINTED}")))
}

/// Looks at it with clippy.
pub(super) fn clippy() -> Result<(), Failure> {
    let mut clippy = process::cargo(&["clippy", "--locked", "--manifest-path", MANIFEST]);
    clippy.arg("--target-dir").arg(machine::target_folder());
    process::run(clippy.args(["--", "-D", "warnings"]))
}
