//! Hands the linker the start-up code's script, the memory map that it includes, and the script of
//! logs.

/// Names a file of `strata trace embed`. With one the program is for the simulated board, whose
/// memory holds it; without one it is for an FPGA.
const WORKLOAD: &str = "STRATA_WORKLOAD";

fn main() {
    let map = if std::env::var_os(WORKLOAD).is_some() {
        println!("cargo::rustc-cfg=launch");
        "simulated"
    } else {
        "fpga"
    };
    println!("cargo::rustc-check-cfg=cfg(launch)");
    println!("cargo::rerun-if-env-changed={WORKLOAD}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={map}/memory.x");
    println!("cargo::rerun-if-changed=accesses.x");
    println!("cargo::rustc-link-search={}/{map}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    // Before the start-up code's, which takes all code that is left.
    println!("cargo::rustc-link-arg-bins=-Taccesses.x");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
}
