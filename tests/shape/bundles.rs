//! Bundles of `[EXPARS]` in our kernels: how many instructions one has, and what it fetches.
//!
//! The tables are written to `docs/results/expars-bundles.md`; the test compares them with what is
//! committed there, so that no number moves unseen, and asserts what must hold. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_compiler::bundles::{BundleError, Bundled, Weights, bundle};
use strata_compiler::checker;
use strata_compiler::inline::inline;
use strata_core::sm::expansion::{Capacity, CtaNeeds, Threshold};
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::subject;
use strata_workload::Toolchain;

use crate::groups::general;
use crate::reports::hold_page;

/// PTX with 64-bit and with 32-bit addresses.
const PTX: [Toolchain; 2] = [Toolchain::Nvcc, Toolchain::Nvcc32];

/// Counts of a kernel's text.
#[derive(Clone, Copy, Default)]
struct Counts {
    instructions: usize,
    bundles: usize,
    /// Bundles that name no register.
    empty: usize,
    fetched: u32,
    allocated: u32,
    /// References to candidates.
    outside: usize,
    references: usize,
}

impl Counts {
    fn of(bundled: &Bundled, first: u16) -> Self {
        let prefetches = &bundled.prefetches;
        let slots = &bundled.program.image.slots;
        Self {
            instructions: bundled.program.instructions.len(),
            bundles: prefetches.len(),
            empty: prefetches.iter().filter(|one| one.registers().is_empty()).count(),
            fetched: prefetches.iter().map(|one| one.fetched.count()).sum(),
            allocated: prefetches.iter().map(|one| one.allocated.count()).sum(),
            outside: slots.iter().filter(|slot| slot.0 >= first).count(),
            references: slots.len(),
        }
    }

    fn add(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.bundles += other.bundles;
        self.empty += other.empty;
        self.fetched += other.fetched;
        self.allocated += other.allocated;
        self.outside += other.outside;
        self.references += other.references;
    }

    fn cells(&self) -> [String; 6] {
        let ratio = |a: usize, b: usize| format!("{:.2}", a as f64 / b as f64);
        [
            ratio(self.instructions, self.bundles),
            format!("{:.1}", 100.0 * self.empty as f64 / self.bundles as f64),
            ratio(self.fetched as usize, self.bundles),
            ratio(self.allocated as usize, self.bundles),
            ratio((self.fetched + self.allocated) as usize, self.instructions),
            format!("{:.1}", 100.0 * self.outside as f64 / self.references as f64),
        ]
    }
}

const THRESHOLDS: [u16; 3] = [4, 8, 9];

/// A kernel of a workload in all ways.
struct Divided {
    name: String,
    registers: u16,
    /// By threshold, sorted by references; none where operands of an instruction share a line.
    by_threshold: [Option<Counts>; THRESHOLDS.len()],
    /// With 0.8, sorted by references in loops.
    loops: Option<Counts>,
    /// With 0.8, as allocated: references to the candidates.
    unsorted: usize,
    /// For the launch's own split on Fermi, if it gains CTAs.
    launch: Option<Counts>,
}

/// Every kernel, by PTX. The checkers accept each.
static KERNELS: LazyLock<[Vec<Divided>; 2]> = LazyLock::new(|| {
    PTX.map(|toolchain| {
        let args = Source { ptx: Some(toolchain), ..Source::of(Scale::Default) };
        general().flat_map(|name| of_workload(name, &args)).collect()
    })
});

fn of_workload(name: &str, args: &Source) -> Vec<Divided> {
    let request = Request::new(args).expect("the options are valid");
    let loaded = subject::workload(name, args, &Silent).expect("the workload loads");
    let prepared =
        subject::prepare(&loaded, &request.size, &request.overrides).expect("it compiles");
    let needs = prepared.needs_of_kernels().expect("launches");
    let of_program = |program: &strata_compiler::program::Program| {
        let id = prepared.module.kernel(&program.name).expect("a kernel");
        let kernel = inline(&prepared.module, id).expect("it compiled");
        let registers = program.resident_registers;
        let divide = |weights, first| {
            let bundled = match bundle(program, weights, first) {
                Ok(bundled) => bundled,
                Err(BundleError::SharedLine { .. }) => return None,
                Err(error) => panic!("{name} {}: {error}", program.name),
            };
            checker::check(&kernel, &bundled.program)
                .unwrap_or_else(|wrong| panic!("{name} {}: {}", program.name, wrong[0]));
            checker::check_bundles(&kernel, &bundled.program, &bundled.prefetches, first)
                .unwrap_or_else(|wrong| panic!("{name} {}: {}", program.name, wrong[0]));
            Some(Counts::of(&bundled, first))
        };
        let first = Threshold::PAPER.first_candidate(registers);
        let split =
            needs.iter().filter(|(kernel, _)| *kernel == program.name).find_map(|(_, needs)| {
                Capacity::FERMI.vertical(&CtaNeeds::of(needs), Threshold::PAPER).ok()?
            });
        Divided {
            name: format!("{name}: {}", program.name),
            registers,
            by_threshold: THRESHOLDS.map(|tenths| {
                let threshold = Threshold::new(tenths, 10).expect("between 0 and 1");
                divide(Weights::References, threshold.first_candidate(registers))
            }),
            loops: divide(Weights::Loops, first),
            unsorted: program.image.slots.iter().filter(|slot| slot.0 >= first).count(),
            launch: split
                .and_then(|split| divide(Weights::References, split.start_register as u16)),
        }
    };
    prepared.programs.iter().map(of_program).collect()
}

#[test]
fn the_committed_page_of_bundles_holds_these_numbers() {
    hold_page("expars-bundles.md", &page());
}

/// A launch's own split has no more candidates than the threshold allows, so that its bundles are
/// no shorter.
#[test]
fn a_launch_needs_no_more_bundles_than_the_threshold() {
    let mut gaining = 0;
    for kernel in KERNELS.iter().flatten() {
        let (Some(launch), Some(by_threshold)) = (kernel.launch, kernel.by_threshold[1]) else {
            continue;
        };
        gaining += 1;
        assert!(launch.bundles <= by_threshold.bundles, "{}", kernel.name);
        assert!(launch.outside <= by_threshold.outside, "{}", kernel.name);
    }
    assert!(gaining > 10, "{gaining}");
}

#[test]
fn sorting_moves_references_into_the_register_file() {
    for kernels in &*KERNELS {
        let both = kernels.iter().filter_map(|one| Some((one.unsorted, one.by_threshold[1]?)));
        let both: Vec<_> = both.collect();
        let before: usize = both.iter().map(|(unsorted, _)| unsorted).sum();
        let after: usize = both.iter().map(|(_, sorted)| sorted.outside).sum();
        assert!(10 * after < 9 * before, "{before} to {after}");
    }
}

fn total<'a>(of: impl Iterator<Item = &'a Counts>) -> Counts {
    let mut total = Counts::default();
    of.for_each(|counts| total.add(*counts));
    total
}

/// Kernels that no order of registers was found for.
fn refused() -> String {
    let mut text = String::from("\nNo order of registers was found, and so no bundles");
    let mut none = true;
    for (toolchain, kernels) in PTX.iter().zip(&*KERNELS) {
        for (place, tenths) in THRESHOLDS.into_iter().enumerate() {
            for kernel in kernels.iter().filter(|kernel| kernel.by_threshold[place].is_none()) {
                let separator = if none { ":" } else { "," };
                let (name, toolchain) = (&kernel.name, toolchain.name());
                let _ = write!(text, "{separator}\n`{name}` of {toolchain} with 0.{tenths}");
                none = false;
            }
        }
    }
    text + if none { ": nowhere.\n" } else { ".\n" }
}

const HEADER: &str = "instructions of a bundle | empty, % | fetched | allocated | registers for an \
                      instruction | references to candidates, %";

fn page() -> String {
    let mut text = String::from(
        "# Bundles\n\n\
         What the compiler makes of our kernels for registers that may lie in scratchpad memory \
         ([rules 42 and 43](../MODEL.md#registers-expanded-into-scratchpad-memory)).\nCounts are of \
         the programs' text, not of what is executed. *Fetched*, *allocated*: registers that PREF \
         names, for each bundle;\n*empty*: bundles whose PREF names none. Checked by `cargo test -p \
         strata-tests --test shape`.\n\n## All kernels\n\n",
    );
    let _ = writeln!(text, "| PTX | candidates | {HEADER} |");
    text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (toolchain, kernels) in PTX.iter().zip(&*KERNELS) {
        let mut row = |candidates: &str, counts: Counts| {
            let cells = counts.cells().join(" | ");
            let _ = writeln!(text, "| {} | {candidates} | {cells} |", toolchain.name());
        };
        for (place, tenths) in THRESHOLDS.into_iter().enumerate() {
            let counts = total(kernels.iter().filter_map(|one| one.by_threshold[place].as_ref()));
            row(&format!("threshold 0.{tenths}"), counts);
        }
        row("0.8, loops weigh more", total(kernels.iter().filter_map(|one| one.loops.as_ref())));
        let gaining = || kernels.iter().filter(|kernel| kernel.launch.is_some());
        row(
            "0.8, kernels that gain CTAs",
            total(gaining().filter_map(|one| one.by_threshold[1].as_ref())),
        );
        row("the launch's own, the same", total(gaining().filter_map(|one| one.launch.as_ref())));
    }
    for (toolchain, kernels) in PTX.iter().zip(&*KERNELS) {
        let divided = || kernels.iter().filter(|one| one.by_threshold[1].is_some());
        let unsorted: usize = divided().map(|kernel| kernel.unsorted).sum();
        let all = total(divided().filter_map(|kernel| kernel.by_threshold[1].as_ref()));
        let share = |of: usize| 100.0 * of as f64 / all.references as f64;
        let _ = writeln!(
            text,
            "\nWith registers as allocated {:.1} % of the references of {} would be to candidates (0.8), \
             sorted {:.1} %.",
            share(unsorted),
            toolchain.name(),
            share(all.outside)
        );
    }
    text += &refused();
    text += "\n## Kernels\n\n";
    let _ = writeln!(text, "nvcc, threshold 0.8.\n\n| kernel | registers | {HEADER} |");
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for kernel in &KERNELS[0] {
        let cells = kernel.by_threshold[1].map(|counts| counts.cells().join(" | "));
        let cells = cells.unwrap_or_else(|| "operands share a line | | | | |".to_owned());
        let _ = writeln!(text, "| {} | {} | {cells} |", kernel.name, kernel.registers);
    }
    text
}
