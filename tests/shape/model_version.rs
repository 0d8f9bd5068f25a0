//! The model's version: a number that moves needs a new one.
//!
//! `tests/shape/model-version.txt` has the version with a digest of all pages under `docs/results`
//! and one of the counters of every workload at size small. Set `STRATA_BLESS=1` to write it again
//! with a new version.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use strata_core::MODEL_VERSION;
use strata_design::{self as design, Design};
use strata_measure::options::Mode;
use strata_study::sweep::key::Digest;
use strata_workload as workload;

use crate::reports::Reports;

/// Designs under which every workload is counted.
const COUNTED: [&str; 4] = ["isca11", "isca11-rfc6", "diss-rfc3-lrf", "diss-orf3-lrf-split"];
/// Design on which the suite runs in time: not every other workload fits it. What other designs do
/// in time is on the pages.
const IN_TIME: [&str; 1] = ["isca11-rfc6"];

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A digest of the pages' names and texts.
fn pages() -> String {
    let folder = root("../docs/results");
    let entries = fs::read_dir(&folder).expect("the pages");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert!(names.len() >= 20, "{names:?}");
    let mut digest = Digest::default();
    for name in names {
        digest.text(&name.to_string_lossy());
        digest.text(&fs::read_to_string(folder.join(&name)).expect("a page"));
    }
    digest.key().to_string()
}

/// A digest of the counters of every workload.
fn counters() -> String {
    let mut text = String::new();
    let designs = |names: &[&str]| -> Vec<Design> {
        names.iter().map(|name| design::resolve(name).expect("the design exists")).collect()
    };
    let Reports(counted) = Reports::run(Mode::Count, workload::all_names(), &designs(&COUNTED));
    let Reports(in_time) = Reports::in_mode(Mode::Cycle, &designs(&IN_TIME));
    for report in counted.iter().chain(&in_time) {
        writeln!(text, "{} {} {}", report.workload, report.design, report.digest)
            .expect("a string takes everything");
    }
    let lines = text.lines().count();
    assert!(lines >= 160, "{lines}");
    let mut digest = Digest::default();
    digest.text(&text);
    digest.key().to_string()
}

#[test]
fn a_number_that_moves_needs_a_new_version() {
    let path = root("shape/model-version.txt");
    let now = format!("version {MODEL_VERSION}\npages {}\ncounters {}\n", pages(), counters());
    let before = fs::read_to_string(&path).unwrap_or_default();
    if now == before {
        return;
    }
    let version = format!("version {MODEL_VERSION}\n");
    assert!(
        !before.starts_with(&version),
        "numbers that the model prints have moved, but its version is still {MODEL_VERSION}: raise \
         `strata_core::MODEL_VERSION`, say in the changelog under **Model** what moved, and renew \
         tests/shape/model-version.txt with `STRATA_BLESS=1 cargo test -p strata-tests --test shape \
         -- model_version`\nbefore:\n{before}now:\n{now}"
    );
    assert!(
        crate::switch::is_on("STRATA_BLESS"),
        "the model's version is new: renew tests/shape/model-version.txt with `STRATA_BLESS=1 \
         cargo test -p strata-tests --test shape -- model_version`\nbefore:\n{before}now:\n{now}"
    );
    fs::write(path, now).expect("the file can be written");
}
