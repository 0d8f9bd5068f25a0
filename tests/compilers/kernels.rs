//! The kernels of every compiler: where they are, how they are called, and what is expected.

use crate::tasks::{Launch, Task};

/// A compiler, by the name of its folder.
pub(crate) struct Compiler {
    /// The folder's name.
    pub(crate) name: &'static str,
    /// The machines that it compiles for, `sm_NN`.
    pub(crate) machines: &'static [u32],
    /// All kernels of its files.
    pub(crate) kernels: &'static [Kernel],
}

/// A kernel as a compiler made it.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// The PTX file, without its ending.
    pub(crate) file: &'static str,
    /// Part of its name, which no other kernel of the file has.
    pub(crate) name: &'static str,
    /// What it computes.
    pub(crate) task: Task,
    /// How it is launched, if a launch file can say so.
    pub(crate) launch: Option<Launch>,
    /// The types of the buffers of its template, if it is one that runs as it is.
    pub(crate) template: Option<&'static [&'static str]>,
    /// Machines and the instruction for which the kernel does not run there.
    pub(crate) refused: &'static [(u32, &'static str)],
}

impl Kernel {
    /// The instruction for which the kernel does not run on a machine.
    pub(crate) fn refused_on(&self, machine: u32) -> Option<&'static str> {
        self.refused
            .iter()
            .find(|(there, _)| *there == machine)
            .map(|(_, instruction)| *instruction)
    }

    const fn new(file: &'static str, name: &'static str, task: Task, launch: Launch) -> Self {
        let template: &[&str] = match task {
            Task::Saxpy | Task::Reduce => &["f32", "f32"],
            Task::Histogram => &["u32", "u32"],
            Task::Matmul => &["f32", "f32", "f32"],
            Task::HalfMatmul => &["f16", "f16", "f32"],
        };
        Self { file, name, task, launch: Some(launch), template: Some(template), refused: &[] }
    }

    const fn saxpy(file: &'static str, arguments: &'static str) -> Self {
        Self::new(file, "saxpy", Task::Saxpy, launch("[8]", "[128]", arguments))
    }

    const fn reduce(file: &'static str, arguments: &'static str) -> Self {
        Self::new(file, "reduce", Task::Reduce, launch("[8]", "[128]", arguments))
    }

    const fn histogram(file: &'static str, arguments: &'static str) -> Self {
        Self::new(file, "histogram", Task::Histogram, launch("[8]", "[128]", arguments))
    }

    /// A thread computes an element of the product.
    const fn matmul(file: &'static str, arguments: &'static str) -> Self {
        Self::new(file, "matmul", Task::Matmul, launch("[32]", "[128]", arguments))
    }

    /// A block of 16 x 16 threads computes a tile.
    const fn tiled_matmul(file: &'static str, arguments: &'static str) -> Self {
        Self::new(file, "matmul", Task::Matmul, launch("[4, 4]", "[16, 16]", arguments))
    }
}

const fn launch(grid: &'static str, block: &'static str, arguments: &'static str) -> Launch {
    Launch { grid, block, shared: 0, arguments, variables: false }
}

/// All machines.
const ALL: &[u32] = &[80, 90, 100];

/// Arguments where a compiler takes what its source says.
const SAXPY: &str = r#"{ s32 = 1000 }, { f32 = 2 }, "x", "y""#;
const REDUCE: &str = r#"{ s32 = 1000 }, "x", "sums""#;
const HISTOGRAM: &str = r#"{ s32 = 1000 }, "values", "bins""#;
const MATMUL: &str = r#"{ s32 = 64 }, "left", "right", "product""#;

/// Clang, without CUDA's headers.
pub(crate) const CLANG: Compiler = Compiler { name: "clang", machines: ALL, kernels: C_LIKE };

/// NVIDIA's compiler.
pub(crate) const NVCC: Compiler = Compiler { name: "nvcc", machines: ALL, kernels: C_LIKE };

const C_LIKE: &[Kernel] = &[
    Kernel::saxpy("kernels", SAXPY),
    Kernel::reduce("kernels", REDUCE),
    Kernel::histogram("kernels", HISTOGRAM),
    Kernel::tiled_matmul("kernels", MATMUL),
];

/// llvmlite, of LLVM's own language.
pub(crate) const LLVMLITE: Compiler = Compiler {
    name: "llvmlite",
    machines: ALL,
    kernels: &[
        Kernel::saxpy("kernels", SAXPY),
        Kernel::reduce("kernels", REDUCE),
        Kernel::histogram("kernels", HISTOGRAM),
    ],
};

/// Rust, without shared memory.
pub(crate) const RUSTC: Compiler = Compiler {
    name: "rustc",
    machines: ALL,
    kernels: &[
        Kernel::saxpy("kernels", SAXPY),
        Kernel::histogram("kernels", HISTOGRAM),
        Kernel::matmul("kernels", MATMUL),
    ],
};

/// Zig.
pub(crate) const ZIG: Compiler = Compiler {
    name: "zig",
    machines: ALL,
    kernels: &[
        Kernel::saxpy("kernels", SAXPY),
        Kernel::reduce("kernels", REDUCE),
        Kernel::histogram("kernels", HISTOGRAM),
        Kernel::matmul("kernels", MATMUL),
    ],
};

/// Mojo: a file a kernel.
pub(crate) const MOJO: Compiler = Compiler {
    name: "mojo",
    machines: ALL,
    kernels: &[
        Kernel::saxpy("saxpy", SAXPY),
        Kernel::reduce("reduce", REDUCE),
        Kernel::histogram("histogram", HISTOGRAM),
        Kernel::matmul("matmul", MATMUL),
    ],
};

/// The CUTLASS DSL, whose tensors are structures of a pointer.
pub(crate) const CUTLASS: Compiler = Compiler {
    name: "cutlass",
    machines: ALL,
    kernels: &[
        Kernel::saxpy(
            "saxpy",
            r#"{ s32 = 1000 }, { f32 = 2 }, { fields = ["x"] }, { fields = ["y"] }"#,
        ),
        Kernel::reduce("reduce", r#"{ s32 = 1000 }, { fields = ["x"] }, { fields = ["sums"] }"#),
        Kernel::histogram(
            "histogram",
            r#"{ s32 = 1000 }, { fields = ["values"] }, { fields = ["bins"] }"#,
        ),
    ],
};

/// Numba, by pointers and by arrays: two unused pointers, elements, bytes of one, the data, shape
/// and strides.
pub(crate) const NUMBA: Compiler = Compiler {
    name: "numba",
    machines: ALL,
    kernels: &[
        Kernel::saxpy("saxpy", SAXPY),
        Kernel::saxpy(
            "saxpy_arrays",
            r#"{ s32 = 1000 }, { f32 = 2 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 1000 }, { s64 = 4 }, "x", { s64 = 1000 }, { s64 = 4 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 1000 }, { s64 = 4 }, "y", { s64 = 1000 }, { s64 = 4 }"#,
        ),
        Kernel::reduce("reduce", REDUCE),
        Kernel::reduce(
            "reduce_arrays",
            r#"{ s32 = 1000 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 1000 }, { s64 = 4 }, "x", { s64 = 1000 }, { s64 = 4 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 8 }, { s64 = 4 }, "sums", { s64 = 8 }, { s64 = 4 }"#,
        ),
        Kernel::histogram(
            "histogram_arrays",
            r#"{ s32 = 1000 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 1000 }, { s64 = 4 }, "values", { s64 = 1000 }, { s64 = 4 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 16 }, { s64 = 4 }, "bins", { s64 = 16 }, { s64 = 4 }"#,
        ),
        Kernel::tiled_matmul("matmul", MATMUL),
        Kernel::tiled_matmul(
            "matmul_arrays",
            r#"{ s32 = 64 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 4096 }, { s64 = 4 }, "left", { s64 = 4096 }, { s64 = 4 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 4096 }, { s64 = 4 }, "right", { s64 = 4096 }, { s64 = 4 },
            { u64 = 0 }, { u64 = 0 }, { s64 = 4096 }, { s64 = 4 }, "product", { s64 = 4096 }, { s64 = 4 }"#,
        ),
    ],
};

/// Triton: behind its arguments stand two pointers to scratch memory, which these kernels do not
/// use.
pub(crate) const TRITON: Compiler = Compiler {
    name: "triton",
    machines: ALL,
    kernels: &[
        Kernel::saxpy(
            "saxpy",
            r#"{ s32 = 1000 }, { f32 = 2 }, "x", "y", { u64 = 0 }, { u64 = 0 }"#,
        ),
        Kernel::new(
            "reduce",
            "reduce",
            Task::Reduce,
            Launch {
                shared: 16,
                ..launch("[8]", "[128]", r#"{ s32 = 1000 }, "x", "sums", { u64 = 0 }, { u64 = 0 }"#)
            },
        ),
        Kernel::histogram(
            "histogram",
            r#"{ s32 = 1000 }, "values", "bins", { u64 = 0 }, { u64 = 0 }"#,
        ),
        Kernel {
            refused: &[(90, "wgmma"), (100, "tcgen05")],
            ..Kernel::new(
                "matmul",
                "matmul",
                Task::HalfMatmul,
                Launch {
                    shared: 49152,
                    ..launch(
                        "[2, 2]",
                        "[128]",
                        r#"{ s32 = 64 }, "left", "right", "product", { u64 = 0 }, { u64 = 0 }"#,
                    )
                },
            )
        },
    ],
};

/// Warp: the extent of the launch is the first argument; an array is its data, its gradient, four
/// sides, four strides in bytes, the number of sides, and what fills the structure.
pub(crate) const WARP: Compiler = Compiler {
    name: "warp",
    machines: ALL,
    kernels: &[
        Kernel::saxpy(
            "kernels",
            r#"{ fields = [{ u32 = 1000 }, { u64 = 1000 }, { u64 = 1 }] }, { s32 = 1000 }, { f32 = 2 },
            { fields = ["x", { u64 = 0 }, { s32 = 1000 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] },
            { fields = ["y", { u64 = 0 }, { s32 = 1000 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] }"#,
        ),
        // The last tile has 104 elements: what lies behind the array is zero.
        Kernel::reduce(
            "kernels",
            r#"{ fields = [{ u32 = 8 }, { u64 = 1024 }, { u64 = 128 }] },
            { fields = ["x", { u64 = 0 }, { s32 = 1000 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] },
            { fields = ["sums", { u64 = 0 }, { s32 = 8 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] }"#,
        ),
        Kernel::histogram(
            "kernels",
            r#"{ fields = [{ u32 = 1000 }, { u64 = 1000 }, { u64 = 1 }] },
            { fields = ["values", { u64 = 0 }, { s32 = 1000 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] },
            { fields = ["bins", { u64 = 0 }, { s32 = 16 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 0 }, { s32 = 1 }, { s32 = 0 }] }"#,
        ),
        Kernel::matmul(
            "kernels",
            r#"{ fields = [{ u32 = 64 }, { u32 = 64 }, { u64 = 4096 }, { u64 = 1 }] },
            { fields = ["left", { u64 = 0 }, { s32 = 64 }, { s32 = 64 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 256 }, { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 2 }, { s32 = 0 }] },
            { fields = ["right", { u64 = 0 }, { s32 = 64 }, { s32 = 64 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 256 }, { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 2 }, { s32 = 0 }] },
            { fields = ["product", { u64 = 0 }, { s32 = 64 }, { s32 = 64 }, { s32 = 0 }, { s32 = 0 },
                { s32 = 256 }, { s32 = 4 }, { s32 = 0 }, { s32 = 0 }, { s32 = 2 }, { s32 = 0 }] }"#,
        ),
    ],
};

/// GCC, of `OpenACC`: the kernels work on variables and take the address of nothing. Version 12 knows
/// no machine above `sm_80`.
pub(crate) const GCC: Compiler = Compiler {
    name: "gcc",
    machines: &[80],
    kernels: &[
        Kernel::of_variables("saxpy$", Task::Saxpy, "[8]", "[32]"),
        Kernel::of_variables("reduce$", Task::Reduce, "[8]", "[32, 4]"),
        Kernel::of_variables("histogram$", Task::Histogram, "[8]", "[32]"),
        Kernel::of_variables("matmul$", Task::Matmul, "[8]", "[32]"),
        // Its argument is the address of a structure of addresses, which no launch file can write.
        Kernel {
            launch: None,
            template: None,
            ..Kernel::of_variables("saxpy_pointers$", Task::Saxpy, "[8]", "[32]")
        },
    ],
};

impl Kernel {
    const fn of_variables(
        name: &'static str,
        task: Task,
        grid: &'static str,
        block: &'static str,
    ) -> Self {
        let launch = Launch { variables: true, ..launch(grid, block, "{ u64 = 0 }") };
        let template: &[&str] = match task {
            Task::Saxpy => &["f32", "f32", "f32"],
            _ => return Self::new("kernels", name, task, launch),
        };
        Self { template: Some(template), ..Self::new("kernels", name, task, launch) }
    }
}
