//! Links the program without the C library, its start files and the dynamic loader.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // On a device there is nothing to leave out.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        for argument in ["-nostartfiles", "-nostdlib", "-static", "-no-pie"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
