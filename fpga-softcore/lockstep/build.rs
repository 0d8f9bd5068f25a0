//! Translates the RTL to C++ with Verilator and compiles it, where Verilator is. Elsewhere nothing
//! is built and the tests report themselves as ignored; continuous integration has to have it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A block that is simulated.
struct Block {
    /// Its module, and its C++ in `src/shim`.
    name: &'static str,
    /// Files in `../rtl` beside the module's own.
    parts: &'static [&'static str],
    /// Each is a model of its own; the block's C++ and Rust name the same.
    elaborations: &'static [Elaboration],
}

impl Block {
    fn files(&self) -> impl Iterator<Item = String> {
        // A package comes before those that use it.
        let modules = self.parts.iter().copied().chain([self.name]);
        modules.map(|module| match module {
            "sequencer_bench" => format!("src/shim/{module}.sv"),
            _ => format!("../rtl/{module}.sv"),
        })
    }

    /// The assertions of its own interface, and of those within it.
    fn interfaces(&self) -> impl Iterator<Item = String> {
        let modules = self.parts.iter().copied().chain([self.name]);
        let path = |module| format!("{INTERFACES}/{module}_interface.sv");
        modules.map(path).filter(|path| Path::new(path).is_file())
    }
}

/// The contract of each block's requester, as assertions that bind to the block.
const INTERFACES: &str = "../formal/interfaces";

/// A class's name, and parameters that are not the module's defaults.
type Elaboration = (&'static str, &'static [(&'static str, u32)]);

const BLOCKS: [Block; 6] = [
    Block {
        name: "register_file_cache",
        parts: &["regmap_pkg"],
        elaborations: &[
            ("Vcache_8_13_4", &[("Warps", 8), ("Entries", 13), ("Lanes", 4)]),
            ("Vcache_8_6_4", &[("Warps", 8), ("Entries", 6), ("Lanes", 4)]),
            ("Vcache_2_3_32", &[("Warps", 2), ("Entries", 3), ("Lanes", 32)]),
            ("Vcache_1_1_1", &[("Warps", 1), ("Entries", 1), ("Lanes", 1)]),
        ],
    },
    Block {
        name: "split_bank_write",
        parts: &[],
        elaborations: &[("Vsplit_16", &[("Banks", 16)]), ("Vsplit_2", &[("Banks", 2)])],
    },
    Block {
        name: "write_pool",
        parts: &["regmap_pkg"],
        elaborations: &[
            ("Vpool_60_8_4", &[("Entries", 60)]),
            (SYNTHESISED, &[("Entries", 60)]),
            ("Vpool_8_8_4", &[("Entries", 8)]),
            ("Vpool_2_2_32", &[("Entries", 2), ("Warps", 2), ("Lanes", 32)]),
            ("Vpool_1_1_1", &[("Entries", 1), ("Warps", 1), ("Lanes", 1)]),
        ],
    },
    Block {
        name: "main_register_file",
        parts: &["regmap_pkg", "main_register_file_bank", "split_bank_write", "write_pool"],
        elaborations: &[
            ("Vmain_8_60_4", &[("PoolEntries", 60), ("TagWidth", 8)]),
            ("Vmain_8_8_4", &[("PoolEntries", 8), ("TagWidth", 8)]),
            ("Vmain_4_2_32", &[("Warps", 4), ("PoolEntries", 2), ("Lanes", 32), ("TagWidth", 8)]),
        ],
    },
    Block {
        name: "sequencer_bench",
        parts: &SEQUENCER,
        elaborations: &[
            ("Vsequencer_8_13_60_4", &[("CacheEntries", 13)]),
            ("Vsequencer_8_6_24_4", &[("PoolEntries", 24)]),
            ("Vsequencer_3_1_1_2", &SMALLEST),
            ("Vsequencer_4_3_5_32", &WIDE),
        ],
    },
    Block {
        name: "prototype",
        parts: &SEQUENCER,
        elaborations: &[("Vprototype_8_6_24_4", &[("PoolEntries", 24)])],
    },
];

/// The one that is translated as it is synthesised.
const SYNTHESISED: &str = "Vpool_synthesised";

/// Tells the RTL that it is simulated, so that it leaves out work without effect.
const SIMULATION: &str = "-DSTRATA_SIMULATION";

const SMALLEST: [(&str, u32); 4] =
    [("Warps", 3), ("CacheEntries", 1), ("PoolEntries", 1), ("Lanes", 2)];

const WIDE: [(&str, u32); 4] =
    [("Warps", 4), ("CacheEntries", 3), ("PoolEntries", 5), ("Lanes", 32)];

/// The access sequencer and what it consists of.
const SEQUENCER: [&str; 8] = [
    "regmap_pkg",
    "access_sequencer",
    "event_counters",
    "main_register_file",
    "main_register_file_bank",
    "register_file_cache",
    "split_bank_write",
    "write_pool",
];

/// C++ compilers, the one whose models run fastest first; `CXX` names another.
const COMPILERS: [&str; 3] = ["clang++", "clang++-19", "c++"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(verilated)");
    println!("cargo::rerun-if-changed=src/shim");
    println!("cargo::rerun-if-changed={INTERFACES}");
    for file in BLOCKS.iter().flat_map(Block::files) {
        println!("cargo::rerun-if-changed={file}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let compiler = COMPILERS.into_iter().find(|compiler| answers(compiler));
    let (Some(root), Some(compiler)) = (verilator_root(), compiler) else {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
        assert!(!is_ci, "verilator or c++ is not on the search path; run: cargo xtask setup");
        // A file that is never there: the next build looks again.
        println!("cargo::rerun-if-changed={}", out.join("verilator-is-missing").display());
        return;
    };
    let include = root.join("include");
    let mut build = cc::Build::new();
    // As fast in tests as in a release: all that they do is to run these models.
    build.cpp(true).std("c++17").opt_level(3).debug(false).warnings(false);
    println!("cargo::rerun-if-env-changed=CXX");
    if std::env::var_os("CXX").is_none() {
        build.compiler(compiler);
    }
    build.include(&include).file(include.join("verilated.cpp"));
    build.file(include.join("verilated_threads.cpp"));
    build.file("src/shim/harness.cpp");
    for block in BLOCKS {
        build.file(format!("src/shim/{}.cpp", block.name));
        for elaboration in block.elaborations {
            let folder = out.join(elaboration.0);
            translate(&block, elaboration, &folder);
            build.include(&folder).file(joined(&folder, elaboration.0));
        }
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

fn translate(block: &Block, (class, parameters): &Elaboration, folder: &Path) {
    // Files of an earlier translation would be compiled too.
    if folder.is_dir() {
        std::fs::remove_dir_all(folder).expect("the build folder can be emptied");
    }
    let status = Command::new("verilator")
        .args(["--cc", "-Wall", "-O3", "--no-timing", "--x-assign", "fast", "--x-initial", "fast"])
        .arg("--assert")
        .args(["--top-module", block.name, "--prefix", class, "-Mdir"])
        .arg(folder)
        .args((*class != SYNTHESISED).then_some(SIMULATION))
        .args(parameters.iter().map(|(name, value)| format!("-G{name}={value}")))
        .args(block.files())
        .args(block.interfaces())
        .status()
        .expect("verilator can be started");
    assert!(status.success(), "verilator refuses {} as {class}", block.name);
}

/// One file that includes all that Verilator has made of a model: headers are read once, not once
/// for each of its files.
fn joined(folder: &Path, class: &str) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("verilator has made the folder");
    let mut names: Vec<String> = files
        .map(|file| file.expect("the folder can be listed").file_name())
        .map(|name| name.into_string().expect("verilator's names are ASCII"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    names.sort();
    let includes = format!("#include \"{}\"\n", names.join("\"\n#include \""));
    let path = folder.join(format!("{class}_joined.cpp"));
    std::fs::write(&path, includes).expect("the build folder can be written");
    path
}
