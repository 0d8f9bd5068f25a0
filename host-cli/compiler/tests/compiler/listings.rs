//! Annotated listings: PTX in, text out.
//!
//! The expected texts lie in `tests/listings`; set `STRATA_REWRITE=1` to write them again, and read
//! what changed before committing it.

use std::fmt::Write as _;
use std::path::Path;

use strata_compiler::hierarchy::{Code, Lrf, fit};
use strata_compiler::listing::Listing;
use strata_compiler::{CompileOptions, RegisterLimit, compile};

use crate::hierarchy::config;
use crate::kernels::{SPILLING, TEXTS};

#[test]
fn listings_are_as_committed() {
    for (name, text) in TEXTS {
        check(name, text, None);
    }
}

#[test]
fn spilled_listings_are_as_committed() {
    check("spill", SPILLING, RegisterLimit::new(16));
}

fn check(name: &str, text: &str, limit: Option<RegisterLimit>) {
    let module = strata_ptx::parse(text).module;
    let mut found = String::new();
    for (id, function) in module.kernels() {
        let program =
            compile(&module, id, CompileOptions { registers: limit, ..CompileOptions::default() });
        let program = program.expect("real kernels compile");
        let values = function.name == "guarded";
        let (module, program) = (&module, &program);
        let listing = Listing { module, program, values, hierarchy: None, margin: &[] };
        let _ = writeln!(found, "{listing}");
    }
    compare(name, &found);
}

/// Two of the kernels, fitted to three entries and a split last result file.
#[test]
fn listings_with_levels_are_as_committed() {
    let module = strata_ptx::parse(TEXTS[0].1).module;
    let mut found = String::new();
    for (id, _) in module.kernels().take(2) {
        let program =
            compile(&module, id, CompileOptions::default()).expect("real kernels compile");
        let code = Code::new(&program).expect("small");
        let hierarchy = fit(&code, &config(Lrf::Split)).expect("a good config");
        let listing = Listing {
            module: &module,
            program: &program,
            values: true,
            hierarchy: Some(&hierarchy),
            margin: &[],
        };
        let _ = writeln!(found, "{listing}");
    }
    compare("nvcc-levels", &found);
}

fn compare(name: &str, found: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings");
    let file = folder.join(name).with_extension("txt");
    if crate::switch::is_on("STRATA_REWRITE") {
        std::fs::write(&file, found).expect("the folder can be written");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {name}.txt", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}.txt");
}
