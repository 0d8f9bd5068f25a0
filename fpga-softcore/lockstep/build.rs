//! Translates the RTL to C++ with Verilator and compiles it, where Verilator is. Elsewhere nothing
//! is built and the tests report themselves as ignored; continuous integration has to have it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Warps, entries and lanes of the caches that are elaborated; `src/rtl.rs` names the same.
const ELABORATIONS: [(u32, u32, u32); 4] = [(8, 13, 4), (8, 6, 4), (2, 3, 32), (1, 1, 1)];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(verilated)");
    println!("cargo::rerun-if-env-changed=CI");
    println!("cargo::rerun-if-env-changed=PATH");
    let rtl = Path::new("../rtl/register_file_cache.sv");
    println!("cargo::rerun-if-changed={}", rtl.display());
    println!("cargo::rerun-if-changed=src/shim.cpp");
    let Some(root) = verilator_root() else {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
        assert!(!is_ci, "verilator is not on the search path; run: cargo xtask setup");
        return;
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let include = root.join("include");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).debug(false).warnings(false);
    build.include(&include).file(include.join("verilated.cpp"));
    build.file(include.join("verilated_threads.cpp")).file("src/shim.cpp");
    // Verilator's headers expect a translation unit per module to be small.
    build.flag("-fno-strict-aliasing");
    for (warps, entries, lanes) in ELABORATIONS {
        let name = format!("Vcache_{warps}_{entries}_{lanes}");
        let folder = out.join(&name);
        translate(rtl, &name, &folder, (warps, entries, lanes));
        build.include(&folder).files(sources(&folder));
    }
    build.compile("strata_rtl");
    println!("cargo::rustc-cfg=verilated");
}

/// Where Verilator's own sources are.
fn verilator_root() -> Option<PathBuf> {
    let output = Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]).output().ok()?;
    let root = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !root.trim().is_empty()).then(|| PathBuf::from(root.trim()))
}

fn translate(rtl: &Path, name: &str, folder: &Path, size: (u32, u32, u32)) {
    // What an earlier translation left would be compiled too.
    if folder.is_dir() {
        std::fs::remove_dir_all(folder).expect("the build folder can be emptied");
    }
    let (warps, entries, lanes) = size;
    let status = Command::new("verilator")
        .args(["--cc", "-Wall", "-O3", "--no-timing", "--x-assign", "fast", "--x-initial", "fast"])
        .args(["--top-module", "register_file_cache", "--prefix", name, "-Mdir"])
        .arg(folder)
        .arg(format!("-GWarps={warps}"))
        .arg(format!("-GEntries={entries}"))
        .arg(format!("-GLanes={lanes}"))
        .arg(rtl)
        .status()
        .expect("verilator can be started");
    assert!(status.success(), "verilator refuses {}", rtl.display());
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("verilator has made the folder");
    let mut sources: Vec<PathBuf> = files
        .map(|file| file.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    sources.sort();
    sources
}
