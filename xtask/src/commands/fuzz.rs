//! `fuzz`: feeds made-up bytes to one of the fuzz targets, on the stable compiler.
//!
//! libFuzzer needs to see which branches an input takes; that instrumentation is the compiler's
//! own, without a sanitizer, which the libraries have little use for: they hold no unsafe code.

use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::Need;
use crate::process::{self, Failure};
use crate::status::Status;

/// The crate of the targets, outside the workspace.
const MANIFEST: &str = "fuzz/Cargo.toml";

/// The targets: programs below `fuzz/fuzz_targets`.
const TARGETS: [&str; 11] = [
    "arbiter",
    "array",
    "compile",
    "design",
    "import",
    "launch",
    "link",
    "parse",
    "recording",
    "technology",
    "trace",
];

/// What stands for every target.
const ALL: &str = "all";

/// What makes branches and comparisons visible to libFuzzer, and panics of overflows.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cdebug-assertions \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Inputs that take longer than this are a fault. Unit: seconds.
const SLOWEST_INPUT: u32 = 20;

/// Inputs that take more memory than this are a fault. Unit: MiB.
const MOST_MEMORY: u32 = 2048;

/// The target of that name, or every target for `all`; otherwise an error that lists the names.
pub(crate) fn targets(name: &str) -> Result<&'static [&'static str], String> {
    if name == ALL {
        return Ok(&TARGETS);
    }
    let found = TARGETS.iter().position(|target| *target == name);
    let unknown = || format!("`fuzz` knows {ALL}, {}, not `{name}`", TARGETS.join(", "));
    found.map(|at| &TARGETS[at..=at]).ok_or_else(unknown)
}

/// Runs each of the targets for so long, whatever the others find.
pub(crate) fn run(targets: &[&str], seconds: u32) -> Status {
    if let Err(Missing { what, remedy }) = installation::ensure_packages(Need::Cpp) {
        eprintln!("error: missing {what}; run: {remedy}");
        return Status::Unusable;
    }
    let mut status = Status::Done;
    for target in targets {
        if let Err(Failure(why)) = feed(target, seconds) {
            eprintln!("error: target `{target}`: {why}");
            status = Status::Failed;
        }
    }
    status
}

fn feed(target: &str, seconds: u32) -> Result<(), Failure> {
    let host = machine::output("rustc", &["--print", "host-tuple"])
        .ok_or_else(|| Failure("`rustc --print host-tuple` fails".to_owned()))?;
    let products = machine::target_folder().join("fuzz");
    // With a target named, the flags are not those of build scripts.
    let mut build = process::cargo(&["build", "--locked", "--release", "--manifest-path"]);
    build.args([MANIFEST, "--bin", target, "--target", &host]);
    process::run(build.arg("--target-dir").arg(&products).env("RUSTFLAGS", FLAGS))?;

    let corpus = products.join("corpus").join(target);
    std::fs::create_dir_all(&corpus)
        .map_err(|error| Failure(format!("cannot create {}: {error}", corpus.display())))?;
    let mut fuzz = process::command(products.join(&host).join("release").join(target));
    fuzz.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={SLOWEST_INPUT}"));
    fuzz.arg(format!("-rss_limit_mb={MOST_MEMORY}"));
    fuzz.arg(format!("-artifact_prefix={}/{target}-", products.display()));
    // What is found goes into the first folder; the seeds stay as they are.
    let seeds = machine::root().join("fuzz/corpus").join(target);
    process::run(fuzz.arg(corpus).arg(seeds))
}

/// Checks the targets without libFuzzer, which takes a C++ compiler.
pub(crate) fn clippy() -> Result<(), Failure> {
    let mut check = process::cargo(&["clippy", "--locked", "--manifest-path", MANIFEST]);
    // A library that is named is not built; what is only checked is not linked with it either.
    check.env("CUSTOM_LIBFUZZER_PATH", "/nonexistent/libfuzzer.a");
    check.arg("--target-dir").arg(machine::target_folder());
    process::run(check.args(["--", "-D", "warnings"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_target_or_all_can_be_named() {
        assert_eq!(targets("trace"), Ok(&["trace"][..]));
        assert_eq!(targets("all"), Ok(&TARGETS[..]));
        assert!(targets("traces").is_err_and(|message| message.contains("all, arbiter, array")));
    }

    #[test]
    fn every_target_is_listed_and_has_seeds() {
        let names = |folder: &str| -> Vec<String> {
            let entries = std::fs::read_dir(machine::root().join(folder)).expect("it is there");
            let stem = |entry: std::io::Result<std::fs::DirEntry>| {
                let path = entry.expect("it can be read").path();
                path.file_stem().expect("it has a name").to_string_lossy().into_owned()
            };
            let mut names: Vec<_> = entries.map(stem).collect();
            names.sort();
            names
        };
        assert_eq!(names("fuzz/fuzz_targets"), TARGETS);
        assert_eq!(names("fuzz/corpus"), TARGETS);
    }
}
