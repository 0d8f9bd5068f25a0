//! Hands the linker the start-up code's script, and each program's memory map that it includes.

fn main() {
    // Not in the crate's own folder, where the linker would find it first for both.
    let folder = env!("CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=report/memory.x");
    println!("cargo::rerun-if-changed=prototype/memory.x");
    println!("cargo::rustc-link-arg-bin=qemu-riscv=-L{folder}/report");
    println!("cargo::rustc-link-arg-bin=prototype=-L{folder}/prototype");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bin=prototype=-Tdefmt.x");
}
