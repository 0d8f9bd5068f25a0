//! Compiling: the built-in workloads from PTX text to programs, fitted to every compiler-managed
//! hierarchy that the dissertation sweeps; made-up kernels of several lengths to programs; and the
//! proof of such programs, which spill, by the checker.
//!
//! What a piece of work returns counts static instructions, once for each program that they are in.

use std::hint::black_box;
use std::time::{Duration, Instant};

use strata_compiler::checker::check;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_compiler::{CompileOptions, RegisterLimit, allocate, compile};
use strata_design as design;
use strata_measure::levels::fitted;
use strata_ptx::module::FunctionId;
use strata_workload::{Toolchain, Workload, names};

use crate::fitting;
use crate::work::{Prepared, Work};

/// One of both steps, and kernels of a length.
pub const WORK: &[Work] = &[
    Work { name: "compile_workloads", prepare: || Box::new(|| instructions(&programs())) },
    Work { name: "fit_workloads", prepare: fit_all },
    Work { name: "compile_straight_1k", prepare: || made_up(1_000, false) },
    Work { name: "compile_straight_10k", prepare: || made_up(10_000, false) },
    Work { name: "compile_branchy_1k", prepare: || made_up(1_000, true) },
    Work { name: "compile_branchy_10k", prepare: || made_up(10_000, true) },
    Work { name: "check_spilled_1k", prepare: || checked(1_000) },
    Work { name: "check_spilled_10k", prepare: || checked(10_000) },
];

/// Both steps again for each hierarchy, and long kernels. Only timed.
pub const LONG: &[Work] = &[
    Work { name: "compile_and_fit_workloads", prepare: compile_and_fit },
    Work { name: "compile_straight_100k", prepare: || made_up(100_000, false) },
    Work { name: "compile_branchy_100k", prepare: || made_up(100_000, true) },
];

/// Every kernel of every workload, from its text.
fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for name in names() {
        let workload = Workload::builtin(name, Toolchain::Nvcc).expect("a built-in workload");
        let module = strata_ptx::parse(&workload.ptx).module;
        for (index, _) in module.functions.iter().enumerate().filter(|(_, f)| f.kernel) {
            programs.push(
                compile(&module, FunctionId(index as u32), CompileOptions::default())
                    .expect("it compiles"),
            );
        }
    }
    programs
}

fn instructions(programs: &[Program]) -> u64 {
    programs.iter().map(|program| program.instructions.len() as u64).sum()
}

/// 1 to 8 entries, each with every kind of last result file.
fn configs() -> Vec<HierarchyConfig> {
    let files = ["", "-lrf-unified", "-lrf-split"];
    let names = (1..=8).flat_map(|entries| files.map(|file| format!("diss-orf{entries}{file}")));
    names.map(|name| config(&name)).collect()
}

fn config(name: &str) -> HierarchyConfig {
    let design = design::resolve(name).expect("a built-in design");
    let table = design.energy.expect("every size is priced");
    design.managed.expect("the compiler manages it").config(&table)
}

fn fit(programs: &[Program], config: &HierarchyConfig) -> u64 {
    for program in programs {
        black_box(fitted(program, config).expect("it fits"));
    }
    instructions(programs)
}

fn fit_all() -> Prepared {
    let (programs, configs) = (programs(), configs());
    Box::new(move || configs.iter().map(|config| fit(&programs, config)).sum())
}

fn compile_and_fit() -> Prepared {
    let configs = configs();
    Box::new(move || configs.iter().map(|config| fit(&programs(), config)).sum())
}

/// The largest kernel of a PTX text, and how long it takes.
#[derive(Clone, Debug)]
pub struct Largest {
    /// As the text has it.
    pub name: String,
    /// Static instructions of its program.
    pub instructions: usize,
    /// To a program, from the parsed text: the least of several times.
    pub compiling: Duration,
    /// To 3 entries and a split last result file: the same.
    pub fitting: Duration,
}

/// How often each step is timed.
const TIMES: usize = 5;

fn least<T>(mut step: impl FnMut() -> T) -> Duration {
    let mut once = || {
        let start = Instant::now();
        black_box(step());
        start.elapsed()
    };
    let first = once();
    (1..TIMES).map(|_| once()).fold(first, Duration::min)
}

/// Times the kernel of a text that becomes the longest program; none if no kernel can be compiled.
pub fn largest(text: &str) -> Option<Largest> {
    let module = strata_ptx::parse(text).module;
    let kernels = module.functions.iter().enumerate().filter(|(_, function)| function.kernel);
    let programs = kernels.filter_map(|(index, function)| {
        let id = FunctionId(index as u32);
        Some((id, function, compile(&module, id, CompileOptions::default()).ok()?))
    });
    let (id, function, program) =
        programs.max_by_key(|(_, _, program)| program.instructions.len())?;
    let config = config("diss-orf3-lrf-split");
    Some(Largest {
        name: function.name.clone(),
        instructions: program.instructions.len(),
        compiling: least(|| compile(&module, id, CompileOptions::default())),
        fitting: least(|| fitted(&program, &config)),
    })
}

fn made_up(length: usize, branches: bool) -> Prepared {
    let text = fitting::text(length, branches, fitting::REGISTERS);
    Box::new(move || fitting::program(&text).instructions.len() as u64)
}

/// Registers of kernels that are made to spill, and how many their programs have.
const SPILLED: (u32, u16) = (48, 24);

/// A made-up kernel with branches and loops, and its program, which spills.
fn spilled(length: usize) -> (Kernel, Program) {
    let parsed = strata_ptx::parse(&fitting::text(length, true, SPILLED.0));
    let kernel = inline(&parsed.module, FunctionId(0)).expect("no calls");
    let program = allocate(&kernel, RegisterLimit::new(SPILLED.1)).expect("operands fit");
    (kernel, program)
}

fn checked(length: usize) -> Prepared {
    let (kernel, program) = spilled(length);
    Box::new(move || {
        check(&kernel, &program).expect("it does what its kernel says");
        program.instructions.len() as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_compiled_and_fitted_to_24_hierarchies() {
        assert_eq!(configs().len(), 24);
        let programs = programs();
        assert!(programs.len() >= names().count(), "{}", programs.len());
        let once = instructions(&programs);
        assert!(once > 1_000, "{once}");
        let [compile, fit, ..] = WORK else { panic!("two steps") };
        assert_eq!((compile.prepare)()(), once);
        assert_eq!((fit.prepare)()(), 24 * once);
        assert_eq!((LONG[0].prepare)()(), 24 * once);
    }

    #[test]
    fn what_is_checked_spills_and_fills() {
        let (_, program) = spilled(1_000);
        let length = program.instructions.len();
        assert!(program.spill_bytes > 0 && length > 1_300, "{length}");
        assert_eq!(checked(1_000)(), length as u64);
    }

    #[test]
    fn the_largest_kernel_is_found() {
        let long = fitting::text(200, true, 16).replace("made_up", "long");
        let short = fitting::text(40, false, 16);
        let kernel = short.find(".visible").expect("its first line");
        let found = largest(&(long + &short[kernel..])).expect("both are fine");
        assert_eq!(found.name, "long");
        assert!(found.instructions > 150, "{}", found.instructions);
        assert!(largest(".version 7.0\n.target sm_70\n.address_size 64\n").is_none());
    }
}
