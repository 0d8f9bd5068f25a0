//! Long kernels in few registers, and what compilers wrote: what is made of them, the checker accepts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata_compiler::checker::check;
use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::{RegisterLimit, allocate};
use strata_ptx::module::FunctionId;

use crate::common::Random;

/// Values that a made-up kernel uses again and again: more than it has registers.
const VALUES: usize = 48;
/// Instructions between its branches.
const BLOCK: usize = 8;
/// Instructions of a loop.
const LOOP: usize = 80;

/// A kernel of about `length` instructions, with branches and loops if `branches`.
pub(crate) fn made_up(length: usize, branches: bool) -> Kernel {
    let length = length / LOOP * LOOP;
    let mut text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry made_up(.param .u64 at) {{\n.reg .b32 %r<{}>;\n.reg .b64 %rd<1>;\n\
         .reg .pred %p<1>;\nld.param.u64 %rd0, [at];\nsetp.eq.u64 %p0, %rd0, 9;\n",
        VALUES + length
    );
    for value in 0..VALUES {
        let _ = writeln!(text, "ld.global.u32 %r{value}, [%rd0+{}];", 4 * value);
    }
    // The register of each value, of which most instructions make a new one, as compilers do.
    let mut values: Vec<usize> = (0..VALUES).collect();
    let mut random = Random::new(length as u64);
    for at in 0..length {
        let (which, from, with) =
            (random.below(VALUES), random.below(VALUES), random.below(VALUES));
        let (from, with, offset) = (values[from], values[with], 4 * from);
        let old = values[which];
        let skipped = branches && (3..=6).contains(&(at % BLOCK));
        if !(skipped || matches!(at % BLOCK, 1 | 2)) {
            values[which] = VALUES + at;
        }
        let to = values[which];
        if branches && at % LOOP == 0 {
            let _ = writeln!(text, "LOOP{}:", at / LOOP);
        }
        let _ = match at % BLOCK {
            1 => writeln!(text, "setp.lt.s32 %p0, %r{from}, %r{with};"),
            2 if branches => writeln!(text, "@%p0 bra SKIP{};", at / BLOCK),
            2 => writeln!(text, "st.global.u32 [%rd0+{offset}], %r{with};"),
            3 => writeln!(text, "mad.lo.s32 %r{to}, %r{from}, %r{with}, %r{old};"),
            5 => writeln!(text, "ld.global.u32 %r{to}, [%rd0+{offset}];"),
            _ => writeln!(text, "add.s32 %r{to}, %r{from}, %r{with};"),
        };
        if branches && at % BLOCK == 6 {
            let _ = writeln!(text, "SKIP{}:", at / BLOCK);
        }
        if branches && at % LOOP == LOOP - 1 {
            let _ = writeln!(text, "@%p0 bra LOOP{};", at / LOOP);
        }
    }
    for (place, value) in values.iter().enumerate() {
        let _ = writeln!(text, "st.global.u32 [%rd0+{}], %r{value};", 4 * place);
    }
    text.push_str("ret;\n}\n");
    let parsed = strata_ptx::parse(&text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics.first());
    inline(&parsed.module, FunctionId(0)).expect("no calls")
}

#[test]
fn the_checker_accepts_long_kernels_that_spill() {
    for branches in [false, true] {
        for registers in [16, 24] {
            let kernel = made_up(3_000, branches);
            let program = allocate(&kernel, RegisterLimit::new(registers)).expect("operands fit");
            assert!(program.spill_bytes > 0 && program.instructions.len() > 4_000);
            if let Err(violations) = check(&kernel, &program) {
                panic!("{registers} registers, branches {branches}: {}", violations[0]);
            }
        }
    }
}

/// The kernels of PTX that compilers wrote: our workloads', and those of the parser's tests.
fn compiled() -> Vec<(String, Kernel)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<PathBuf> = ptx_files(&crates.join("ptx/tests/corpus"));
    for workload in std::fs::read_dir(crates.join("workloads")).expect("the workloads") {
        files.extend(ptx_files(&workload.expect("a workload").path()));
    }
    files.sort();
    let mut kernels = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let parsed = strata_ptx::parse(&text);
        for (id, function) in parsed.module.kernels() {
            if let Ok(kernel) = inline(&parsed.module, id) {
                let file = file.file_name().expect("a name").to_string_lossy();
                kernels.push((format!("{file}, {}", function.name), kernel));
            }
        }
    }
    kernels
}

fn ptx_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect()
}

#[test]
fn the_checker_accepts_what_compilers_wrote_at_every_limit() {
    let kernels = compiled();
    assert!(kernels.len() > 30, "only {} kernels", kernels.len());
    let (mut checked, mut spilled) = (0, 0);
    for (name, kernel) in &kernels {
        for registers in [16, 20, 32, 255] {
            // An instruction may have more operands than there are registers.
            let Ok(program) = allocate(kernel, RegisterLimit::new(registers)) else { continue };
            checked += 1;
            spilled += usize::from(program.spill_bytes > 0);
            if let Err(violations) = check(kernel, &program) {
                panic!("{name} in {registers} registers: {}", violations[0]);
            }
        }
    }
    assert!(checked > 3 * kernels.len(), "{checked} of {} kernels", kernels.len());
    assert!(spilled > 10, "only {spilled} programs spill");
}
