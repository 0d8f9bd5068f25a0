//! The independent checker over every kernel of every workload, by both compilers, fitted to
//! hierarchies of every size with every kind of last result file, with the optimisations and the
//! encoding's restrictions off and on, in few registers and many, in every order of instructions.
//!
//! Every two values of every two of these occur together in each run of the tests; with the variable
//! `STRATA_FULL_TESTS` set, as `cargo xtask test --full` does, every combination. A workload's own
//! size is none of them: its kernels are the same at every size.

mod covering;
#[path = "../../../tests/switch.rs"]
mod switch;

use covering::{covering, product};
use strata_compiler::checker::{LevelsChecker, check, check_order};
use strata_compiler::hierarchy::HierarchyConfig;
use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_compiler::{Order, RegisterLimit, allocate, schedule};
use strata_core::placement::Placement;
use strata_design as design;
use strata_measure::levels::fitted;
use strata_ptx::module::FunctionId;
use strata_workload::{Options, Overrides, Prepared, Toolchain, Workload, all_names};

/// Parts of a design's name, in the order in which a name has them.
const PARTS: [&[&str]; 6] = [
    &[
        "diss-orf1",
        "diss-orf2",
        "diss-orf3",
        "diss-orf4",
        "diss-orf5",
        "diss-orf6",
        "diss-orf7",
        "diss-orf8",
    ],
    &["", "-lrf-unified", "-lrf-split"],
    &["", "-noforward"],
    &["", "-noreadoperands"],
    &["", "-nopartial"],
    &["", "-samename", "-duallrf", "-onelevel"],
];
/// Registers that a thread may have.
const REGISTERS: [Option<u16>; 5] = [None, Some(16), Some(18), Some(24), Some(32)];

/// How many values each factor has: the name's parts, registers, order.
fn sizes() -> Vec<usize> {
    let own = [REGISTERS.len(), Order::ALL.len()];
    PARTS.iter().map(|values| values.len()).chain(own).collect()
}

/// A combination.
struct Case {
    design: String,
    /// Indices into [`REGISTERS`] and [`Order::ALL`].
    code: [usize; 2],
}

impl Case {
    fn new(row: &[usize]) -> Self {
        let (parts, code) = row.split_at(PARTS.len());
        let design = PARTS.iter().zip(parts).map(|(values, &value)| values[value]).collect();
        Self { design, code: [code[0], code[1]] }
    }

    fn registers(&self) -> Option<RegisterLimit> {
        REGISTERS[self.code[0]].and_then(RegisterLimit::new)
    }

    /// What `strata inspect` has to be told to show it.
    fn told(&self, input: &str) -> String {
        let registers =
            REGISTERS[self.code[0]].map(|registers| format!(" --registers {registers}"));
        let (registers, order) = (registers.unwrap_or_default(), Order::ALL[self.code[1]].name());
        format!("{input} --design {}{registers} --order {order}", self.design)
    }

    fn config(&self) -> HierarchyConfig {
        let design =
            design::resolve(&self.design).unwrap_or_else(|e| panic!("{}: {e}", self.design));
        let table = design.energy.expect(&self.design);
        design.managed.expect("an operand register file").config(&table)
    }
}

/// A kernel as one compiler wrote it, allocated and, where it has to be, spilled and scheduled.
struct Subject {
    name: String,
    /// By the order of instructions, then by registers.
    orders: [(Kernel, Vec<Program>); Order::ALL.len()],
}

/// For each program of a subject, by the same indices.
type Checkers<'a> = [Vec<LevelsChecker<'a>>; Order::ALL.len()];

/// Every kernel of every workload.
fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for workload in all_names() {
        for toolchain in [Toolchain::Nvcc, Toolchain::Clang] {
            let found = Workload::builtin(workload, toolchain).expect(workload);
            let module = strata_ptx::parse(&found.ptx).module;
            for (index, function) in module.functions.iter().enumerate() {
                if function.kernel {
                    let name = format!("{workload}/{} by {}", function.name, toolchain.name());
                    let kernel = inline(&module, FunctionId(index as u32)).expect(&name);
                    subjects.push(Subject::new(name, &kernel));
                }
            }
        }
    }
    subjects
}

impl Subject {
    fn new(name: String, kernel: &Kernel) -> Self {
        let orders = Order::ALL.map(|order| {
            let reordered = schedule(kernel, order).expect(&name);
            if let Err(violations) = check_order(kernel, &reordered) {
                panic!("{name} in order {}: {}", order.name(), violations[0]);
            }
            let kernel = reordered.kernel;
            let programs = REGISTERS.map(|registers| {
                let limit = registers.and_then(RegisterLimit::new);
                let program = allocate(&kernel, limit).expect(&name);
                let most = registers.unwrap_or(RegisterLimit::MAX);
                assert!(program.general_registers <= most, "{name} in {registers:?}");
                if let Err(violations) = check(&kernel, &program) {
                    panic!("{name} in {registers:?}: {}", violations[0]);
                }
                program
            });
            (kernel, programs.into())
        });
        Self { name, orders }
    }

    /// A checker for each of its programs.
    fn checkers(&self) -> Checkers<'_> {
        self.orders.each_ref().map(|(kernel, programs)| {
            let ready = |program| LevelsChecker::new(kernel, program).expect(&self.name);
            programs.iter().map(ready).collect()
        })
    }

    /// Fits it to a combination, has the checker prove the result, and counts the slots that are
    /// not only in the main register file.
    fn upper_slots(&self, case: &Case, config: &HierarchyConfig, checkers: &Checkers<'_>) -> usize {
        let [registers, order] = case.code;
        let program = &self.orders[order].1[registers];
        let hierarchy =
            fitted(program, config).unwrap_or_else(|e| panic!("{}: {e}", self.told(case)));
        if let Err(violations) = checkers[order][registers].check(&hierarchy, config) {
            panic!("{}: {}", self.told(case), violations[0]);
        }
        hierarchy.placements.iter().filter(|placement| placement.upper.is_some()).count()
    }

    fn told(&self, case: &Case) -> String {
        case.told(&self.name)
    }
}

/// Checks all kernels under all these combinations.
fn check_all(rows: &[Vec<usize>]) {
    let subjects = subjects();
    assert!(subjects.len() >= 2 * all_names().count(), "{} kernels", subjects.len());
    let checkers: Vec<Checkers<'_>> = subjects.iter().map(Subject::checkers).collect();
    let cases: Vec<Case> = rows.iter().map(|row| Case::new(row)).collect();
    let kept: Vec<usize> = cases
        .iter()
        .map(|case| {
            let config = case.config();
            let all = subjects.iter().zip(&checkers);
            all.map(|(subject, checkers)| subject.upper_slots(case, &config, checkers)).sum()
        })
        .collect();
    println!("{} kernels under {} combinations", subjects.len(), cases.len());
    for (case, kept) in cases.iter().zip(kept) {
        // What is proven of a hierarchy that holds nothing would prove little.
        assert!(kept > 10 * subjects.len(), "{}: {kept} slots above", case.told("every kernel"));
    }
}

/// Whether `cargo xtask test --full` runs the tests.
fn is_full() -> bool {
    switch::is_on("STRATA_FULL_TESTS")
}

#[test]
fn every_kernel_is_right_under_every_pair_of_switches() {
    check_all(&if is_full() { product(&sizes()) } else { covering(&sizes()) });
}

/// Runs a workload, with its values in the levels of a combination if there is one.
fn finals(name: &str, case: Option<&Case>) -> Vec<Vec<u8>> {
    let told = || case.map_or_else(|| name.to_owned(), |case| case.told(name));
    let mut workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    workload.options.registers = case.and_then(Case::registers);
    workload.options.order = case.map(|case| Order::ALL[case.code[1]]).unwrap_or_default();
    let mut prepared = Prepared::new(&workload, "small", &Overrides::new()).expect(name);
    if let Some(case) = case {
        let config = case.config();
        let placements = |program| fitted(program, &config).expect(name).placements;
        let all: Vec<Vec<Placement>> = prepared.programs.iter().map(placements).collect();
        let lists: Vec<&[Placement]> = all.iter().map(Vec::as_slice).collect();
        prepared = prepared.with_levels(&lists).unwrap_or_else(|e| panic!("{}: {e}", told()));
    }
    // The budget stops loops that a wrong value makes endless.
    let options = Options { max_instructions: 400_000, cta: Some(0), ..Options::default() };
    prepared.execute(&options, |_| {}).unwrap_or_else(|e| panic!("{}: {e}", told()))
}

/// Compares every bit of the results with those of a plain run: of one workload under each row of
/// the pairs, or of all.
#[test]
fn workloads_compute_the_same_under_every_pair_of_switches() {
    let cases: Vec<Case> = covering(&sizes()).iter().map(|row| Case::new(row)).collect();
    let names: Vec<&str> = all_names().collect();
    for (number, name) in names.iter().enumerate() {
        let plain = finals(name, None);
        for (row, case) in cases.iter().enumerate() {
            if is_full() || row % names.len() == number {
                assert!(finals(name, Some(case)) == plain, "{}: other results", case.told(name));
            }
        }
    }
}
