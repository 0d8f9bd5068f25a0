//! How each compiler is installed and started.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::job::{Recipe, sources, succeed};
use crate::hardware_tools;
use crate::installation::{self, Missing};
use crate::packages::{Need, SYSTEM_RUSTC, Tools};
use crate::process::{self, Failure};

/// The PTX version that a machine needs at least, where a compiler must be told.
fn oldest_version(machine: u32) -> u32 {
    match machine {
        80 => 70,
        90 => 78,
        _ => 86,
    }
}

/// A script of our own, which imports the compiler and is told the machine and the folder.
fn script(name: &'static str, tools: Tools) -> Result<Recipe, Missing> {
    let python = hardware_tools::ensure(tools)?.program("python3");
    Ok(Box::new(move |job| {
        let mut command = process::command(&python);
        command.arg(sources().join(name)).arg(job.machine.to_string()).arg(&job.folder);
        // Neither files beside the sources nor the user's caches.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("HOME", &job.scratch);
        succeed(&mut command)
    }))
}

pub(super) fn cutlass() -> Result<Recipe, Missing> {
    script("cutlass_kernels.py", Tools::Cutlass)
}

pub(super) fn llvmlite() -> Result<Recipe, Missing> {
    script("llvmlite_kernels.py", Tools::Llvmlite)
}

pub(super) fn numba() -> Result<Recipe, Missing> {
    script("numba_kernels.py", Tools::Numba)
}

pub(super) fn triton() -> Result<Recipe, Missing> {
    script("triton_kernels.py", Tools::Triton)
}

pub(super) fn warp() -> Result<Recipe, Missing> {
    script("warp_kernels.py", Tools::Warp)
}

pub(super) fn clang() -> Result<Recipe, Missing> {
    installation::ensure_packages(Need::Clang)?;
    Ok(Box::new(|job| {
        let mut clang = process::command("clang-22");
        clang.current_dir(sources());
        clang.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O2", "-S"]);
        clang.arg(format!("--cuda-gpu-arch=sm_{}", job.machine));
        clang.arg(format!("--cuda-feature=+ptx{}", oldest_version(job.machine)));
        succeed(clang.args(["kernels.cu", "-o"]).arg(job.folder.join("kernels.ptx")))
    }))
}

pub(super) fn nvcc() -> Result<Recipe, Missing> {
    installation::ensure_packages(Need::Cpp)?;
    let tools = hardware_tools::ensure(Tools::Nvcc)?;
    Ok(Box::new(move |job| {
        let mut nvcc = process::command(tools.cuda()?.join("nvcc"));
        nvcc.current_dir(sources());
        nvcc.args(["-ptx", "-O3"]).arg(format!("-arch=compute_{}", job.machine));
        succeed(nvcc.args(["kernels.cu", "-o"]).arg(job.folder.join("kernels.ptx")))
    }))
}

/// GCC makes PTX of `OpenACC` while it links a program, and keeps the linked PTX when asked to.
pub(super) fn gcc() -> Result<Recipe, Missing> {
    installation::ensure_packages(Need::OffloadingGcc)?;
    Ok(Box::new(|job| {
        let mut gcc = process::command("gcc-12");
        gcc.current_dir(&job.scratch);
        gcc.args(["-O2", "-fopenacc", "-foffload=nvptx-none", "-save-temps"]);
        gcc.arg(format!("-foffload-options=nvptx-none=-misa=sm_{} -O2", job.machine));
        succeed(gcc.args(["-o", "program"]).arg(sources().join("kernels.c")))?;
        let kept = job.scratch.join("program.xnvptx-none.mkoffload");
        let told = |error| Failure(format!("cannot copy {}: {error}", kept.display()));
        std::fs::copy(&kept, job.folder.join("kernels.ptx")).map(drop).map_err(told)
    }))
}

/// A program of Mojo prints the PTX of a kernel that it was compiled with.
pub(super) fn mojo() -> Result<Recipe, Missing> {
    let mojo = hardware_tools::ensure(Tools::Mojo)?.program("mojo");
    Ok(Box::new(move |job| {
        let program = job.scratch.join("kernels");
        if !program.exists() {
            let mut build = process::command(&mojo);
            build.args(["build", "--disable-warnings", "-o"]).arg(&program);
            succeed(build.arg(sources().join("kernels.mojo")))?;
        }
        for kernel in ["saxpy", "reduce", "histogram", "matmul"] {
            let mut show = process::command(&program);
            let ptx = process::output(show.args([kernel, &job.machine.to_string()]))?;
            let path = job.folder.join(kernel).with_extension("ptx");
            let told = |error| Failure(format!("cannot write {}: {error}", path.display()));
            std::fs::write(&path, ptx).map_err(told)?;
        }
        Ok(())
    }))
}

pub(super) fn zig() -> Result<Recipe, Missing> {
    let tools = hardware_tools::ensure(Tools::Zig)?;
    Ok(Box::new(move |job| {
        let zig = tools.package_file("ziglang/zig");
        let zig = zig.ok_or_else(|| Failure("the wheel holds no `ziglang/zig`".to_owned()))?;
        let mut command = process::command(zig);
        command.args(["build-obj", "-target", "nvptx64-cuda", "-O", "ReleaseFast"]);
        command.args(["-mcpu", &format!("sm_{}", job.machine), "-fno-emit-bin"]);
        command.arg(format!("-femit-asm={}", job.folder.join("kernels.ptx").display()));
        command.arg("--cache-dir").arg(&job.scratch);
        command.arg("--global-cache-dir").arg(&job.scratch);
        succeed(command.arg(sources().join("kernels.zig")))
    }))
}

/// Rust's core library comes from Debian's sources. It is compiled as far as rustc reads it,
/// without code: PTX holds what the kernels call.
pub(super) fn rustc() -> Result<Recipe, Missing> {
    installation::ensure_packages(Need::Devices)?;
    Ok(Box::new(|job| {
        if !job.scratch.join("libcompiler_builtins.rmeta").exists() {
            core_library(&job.scratch)?;
        }
        let mut kernels = rustc_for_gpus("kernels");
        kernels.args(["-Copt-level=3", &format!("-Ctarget-cpu=sm_{}", job.machine)]);
        kernels.arg(format!("--emit=asm={}", job.folder.join("kernels.ptx").display()));
        succeed(kernels.arg("-L").arg(&job.scratch).arg(sources().join("kernels.rs")))
    }))
}

fn core_library(folder: &Path) -> Result<(), Failure> {
    let sysroot = process::output(debian_rustc().args(["--print", "sysroot"]))?;
    let library = PathBuf::from(sysroot.trim()).join("lib/rustlib/src/rust/library");
    for (name, path) in [
        ("core", "core/src/lib.rs"),
        ("compiler_builtins", "compiler-builtins/compiler-builtins/src/lib.rs"),
    ] {
        let mut core = rustc_for_gpus(name);
        core.args(["-Zforce-unstable-if-unmarked", "-Zalways-encode-mir", "--emit=metadata"]);
        core.args(["--cap-lints", "allow", "--cfg", "feature=\"compiler-builtins\""]);
        core.arg("-L").arg(folder).arg("--out-dir").arg(folder);
        succeed(core.arg(library.join(path)))?;
    }
    Ok(())
}

fn rustc_for_gpus(name: &str) -> Command {
    let mut command = debian_rustc();
    command.args(["--crate-name", name, "--edition", "2024", "--crate-type", "rlib"]);
    command.args(["--target", "nvptx64-nvidia-cuda", "-Cpanic=abort"]);
    command
}

/// Debian's compiler, and what is not stable yet.
fn debian_rustc() -> Command {
    let mut command = process::foreign(SYSTEM_RUSTC);
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}
