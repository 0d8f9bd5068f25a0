//! Translates the RTL to C++ with Verilator and compiles it, where Verilator is. Elsewhere nothing
//! is built and the tests report themselves as ignored; continuous integration has to have it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Warps, entries and lanes of the caches that are elaborated; `src/rtl.rs` names the same.
const ELABORATIONS: [(u32, u32, u32); 4] = [(8, 13, 4), (8, 6, 4), (2, 3, 32), (1, 1, 1)];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(verilated)");
    let rtl = Path::new("../rtl/register_file_cache.sv");
    println!("cargo::rerun-if-changed={}", rtl.display());
    println!("cargo::rerun-if-changed=src/shim.cpp");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let Some(root) = verilator_root().filter(|_| answers("c++")) else {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
        assert!(!is_ci, "verilator or c++ is not on the search path; run: cargo xtask setup");
        // A file that is never there: the next build looks again.
        println!("cargo::rerun-if-changed={}", out.join("verilator-is-missing").display());
        return;
    };
    let include = root.join("include");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).debug(false).warnings(false);
    build.include(&include).file(include.join("verilated.cpp"));
    build.file(include.join("verilated_threads.cpp")).file("src/shim.cpp");
    for (warps, entries, lanes) in ELABORATIONS {
        let name = format!("Vcache_{warps}_{entries}_{lanes}");
        let folder = out.join(&name);
        translate(rtl, &name, &folder, (warps, entries, lanes));
        build.include(&folder).file(joined(&folder));
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

fn answers(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
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

/// One file that includes all that Verilator has made of a model: headers are read once, not once
/// for each of its files.
fn joined(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("verilator has made the folder");
    let mut names: Vec<String> = files
        .map(|file| file.expect("the folder can be listed").file_name())
        .map(|name| name.into_string().expect("verilator's names are ASCII"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    names.sort();
    let includes = format!("#include \"{}\"\n", names.join("\"\n#include \""));
    let path = folder.join("joined.cpp");
    std::fs::write(&path, includes).expect("the build folder can be written");
    path
}
