//! Elaboration: parameters in range give no warning, others are refused with what they may be.
#![cfg(verilated)]

use std::path::Path;
use std::process::Command;

/// What Verilator's linter says of a module of `../rtl` with some parameters; empty if nothing.
fn lint(module: &str, parameters: &[(&str, u32)]) -> String {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl");
    let output = Command::new("verilator")
        .current_dir(rtl)
        .args(["--lint-only", "-Wall", "-y", ".", "--top-module", module])
        .args(parameters.iter().map(|(name, value)| format!("-G{name}={value}")))
        .arg("regmap_pkg.sv")
        .arg(format!("{module}.sv"))
        .output()
        .expect("the build found verilator");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), text.is_empty(), "{text}");
    text
}

/// The name of a parameter and its value.
type Parameters = &'static [(&'static str, u32)];

#[test]
fn the_smallest_and_odd_sizes_are_clean() {
    let smallest: Parameters =
        &[("Warps", 1), ("CacheEntries", 1), ("PoolEntries", 1), ("Lanes", 1), ("Batch", 1)];
    let clean: [(&str, Parameters); 9] = [
        ("prototype", smallest),
        ("prototype", &[("Batch", 1)]),
        ("prototype", &[("Warps", 2), ("Batch", 2)]),
        ("prototype", &[("Warps", 3), ("Lanes", 2), ("Batch", 4)]),
        ("prototype", &[("Warps", 4), ("CacheEntries", 15), ("PoolEntries", 63)]),
        ("main_register_file", &[("Warps", 1), ("PoolEntries", 1)]),
        ("register_file_cache", &[("Warps", 4), ("Entries", 16), ("Lanes", 32)]),
        ("event_counters", &[("Counters", 1)]),
        ("gpio", &[("Pins", 1)]),
    ];
    for (module, parameters) in clean {
        let said = lint(module, parameters);
        assert_eq!(said, "", "{module} {parameters:?}");
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let refused: [(&str, (&str, u32), &str); 17] = [
        ("prototype", ("Warps", 9), "prototype: Warps is 1 to 8"),
        ("prototype", ("Lanes", 5), "prototype: Warps is 1 to 8, Lanes 1 to 4"),
        ("prototype", ("Batch", 96), "Batch a power of two up to 128"),
        ("prototype", ("Batch", 256), "Batch a power of two up to 128"),
        ("prototype", ("CacheEntries", 16), "access_sequencer: CacheEntries is 1 to 15"),
        ("prototype", ("PoolEntries", 64), "write_pool: Entries is 1 to 63"),
        ("write_pool", ("Entries", 0), "write_pool: Entries is 1 to 63"),
        ("write_pool", ("Lanes", 33), "write_pool: Entries is 1 to 63, Warps at least 1, Lanes 1"),
        ("register_file_cache", ("Entries", 17), "Entries 1 to 16"),
        ("main_register_file", ("RegisterWidth", 9), "RegisterWidth 1 to 8"),
        ("main_register_file_bank", ("Rows", 1), "Rows is at least 2"),
        ("split_bank_write", ("Banks", 3), "Banks is a power of two from 2 on"),
        ("event_counters", ("AmountWidth", 0), "event_counters: a counter and a bit at least"),
        ("stream_fifo", ("Depth", 3), "Depth is a power of two from 2 on"),
        ("gpio", ("Pins", 33), "gpio: Pins is 1 to 32"),
        ("soc_memory", ("Bytes", 100), "Bytes is a power of two from 64 on"),
        ("soc_memory", ("Bytes", 32), "Bytes is a power of two from 64 on"),
    ];
    for (module, parameter, expected) in refused {
        let said = lint(module, &[parameter]);
        assert!(said.contains(expected), "{module} {parameter:?}: {said}");
    }
}
