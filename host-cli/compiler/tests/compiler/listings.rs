//! Annotated listings: PTX in, text out.
//!
//! The expected texts lie in `tests/listings`; set `STRATA_REWRITE=1` to write them anew, and read
//! what changed before committing it.

use std::fmt::Write as _;
use std::path::Path;

use strata_compiler::listing::Listing;
use strata_compiler::{RegisterLimit, compile_within};
use strata_ptx::module::FunctionId;

use crate::kernels::{SPILLING, TEXTS};

#[test]
fn listings_are_as_committed() {
    for (name, text) in TEXTS {
        compare(name, text, None);
    }
}

#[test]
fn spilled_listings_are_as_committed() {
    compare("spill", SPILLING, RegisterLimit::new(16));
}

fn compare(name: &str, text: &str, limit: Option<RegisterLimit>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings");
    let module = strata_ptx::parse(text).module;
    let mut found = String::new();
    for (index, function) in module.functions.iter().enumerate().filter(|(_, f)| f.kernel) {
        let program = compile_within(&module, FunctionId(index as u32), limit);
        let program = program.expect("real kernels compile");
        let values = function.name == "guarded";
        let listing = Listing { module: &module, program: &program, values, margin: &[] };
        let _ = writeln!(found, "{listing}");
    }
    let file = folder.join(name).with_extension("txt");
    if std::env::var_os("STRATA_REWRITE").is_some() {
        std::fs::write(&file, &found).expect("the folder can be written");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {name}.txt", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}.txt");
}
