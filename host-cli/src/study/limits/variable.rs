//! Variable allocation of the operand register file (`[DISS]` 6.6.1): what strands save with each
//! number of entries, when they execute, and what an oracle makes of it.

use strata_compiler::hierarchy::{Code, HierarchyConfig, fit};
use strata_compiler::program::Program;
use strata_core::count::count_path;
use strata_core::path::PathStep;
use strata_core::placement::{MAX_ORF_ENTRIES, Placement, Upper};
use strata_core::sm::config::{MAX_RESIDENT_WARPS, SmSettings};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::{Issue, Observation, WarpPhase, WarpPhases};
use strata_core::units::LaneMask;

use super::oracle::{Bracket, CHOICES, Curve, Execution, Open, Oracle};
use crate::design::Design;
use crate::evaluate::EvaluateError;
use crate::levels::{Fitted, LevelsError};
use crate::measure::price;
use crate::timing::{TimedLaunch, observe_launch};

/// What a program saves with each number of entries, instruction by instruction.
#[derive(Clone, Debug)]
pub(super) struct Savings {
    /// For each instruction, energy that one execution by a warp saves against a program that uses
    /// no entry; less than nothing where it fills entries for others. Unit: femtojoules.
    by_pc: Vec<[i64; CHOICES]>,
    /// For each instruction, whether a warp that comes to it leaves every strand that it is in.
    leaves: Vec<bool>,
    /// Placements without any entry of the operand register file.
    pub(super) without: Vec<Placement>,
    /// The design's own.
    pub(super) own: Vec<Placement>,
}

impl Savings {
    /// Fits a program with each number of entries, at the energies of `config`.
    pub(super) fn new(
        program: &Program,
        design: &Design,
        config: &HierarchyConfig,
    ) -> Result<Self, EvaluateError> {
        let code = Code::new(program)
            .map_err(|problem| LevelsError::TooLarge(program.name.clone(), problem.message))?;
        let mut by_pc = vec![[0; CHOICES]; program.image.instructions.len()];
        let own = fit(&code, config).map_err(LevelsError::from)?;
        // The last result file comes first, so that it holds the same with any number of entries.
        let without: Vec<_> = own.placements.iter().map(|&placement| lowered(placement)).collect();
        let nothing = energies(program, design, &without)?;
        for entries in 1..=MAX_ORF_ENTRIES {
            let config = HierarchyConfig { orf_entries: entries, ..*config };
            let spent = energies(
                program,
                design,
                &fit(&code, &config).map_err(LevelsError::from)?.placements,
            )?;
            for ((savings, before), after) in by_pc.iter_mut().zip(&nothing).zip(spent) {
                savings[usize::from(entries)] = before - after;
            }
        }
        let leaves = own.strands.leaves_all(&code);
        Ok(Self { by_pc, leaves, without, own: own.placements })
    }
}

/// The same without the operand register file.
fn lowered(placement: Placement) -> Placement {
    match placement.upper {
        Some(Upper::Orf(_)) => Placement::MAIN,
        Some(Upper::Lrf(_)) | None => placement,
    }
}

/// Energy of one execution of each instruction. Unit: femtojoules.
fn energies(
    program: &Program,
    design: &Design,
    placements: &[Placement],
) -> Result<Vec<i64>, EvaluateError> {
    let image = Fitted { image: &program.image, placements: Some(placements) }.checked()?;
    let mut awaited = vec![LaneMask::EMPTY; usize::from(image.registers)];
    let one = |pc: usize| {
        let step = PathStep { pc: pc as u32, length: 1, mask: LaneMask(u32::MAX) };
        let counters = count_path(design.organisation(), image, &mut awaited, [step])?;
        Ok(price(design, &counters)?.map_or(0, |energy| energy.total().0 as i64))
    };
    (0..image.instructions.len()).map(one).collect()
}

/// What a launch did in time, and what the oracle saved in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// Of the SM, with the design's own number of entries for each warp.
    pub(super) time: SmCounters,
    /// Saved against no entries at all.
    pub(super) bracket: Bracket,
    /// Cycles that warps were in a strand, summed over the warps.
    pub(super) strand_cycles: u64,
    /// What each number of entries saves if all warps have as many. Unit: femtojoules.
    #[cfg(test)]
    uniform: [i128; CHOICES],
}

/// Runs a launch in time, and gives each execution of a strand its share of `capacity` entries.
pub(super) fn run(
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    savings: &Savings,
    (capacity, fair): (u32, u8),
) -> Result<Outcome, EvaluateError> {
    let image = Fitted { placements: Some(&savings.own), ..launch.image };
    let launch = TimedLaunch { image, ..*launch };
    let mut follower = Follower {
        savings,
        oracle: Oracle::new(capacity, fair),
        strand_cycles: 0,
        #[cfg(test)]
        uniform: [0; CHOICES],
        running: vec![None; MAX_RESIDENT_WARPS],
        phases: WarpPhases::default(),
    };
    let timed = observe_launch(settings, &launch, |observation| follower.hear(&observation))?;
    follower.finish();
    let bracket = follower.oracle.bracket();
    Ok(Outcome {
        time: timed.counters,
        bracket,
        strand_cycles: follower.strand_cycles,
        #[cfg(test)]
        uniform: follower.uniform,
    })
}

/// A strand that a warp is in, with those that lanes of it may be in meanwhile.
#[derive(Clone, Copy, Debug)]
struct Running {
    from: u64,
    /// Cycle of its last issue so far.
    last: u64,
    saved: [i64; CHOICES],
    given: Option<u8>,
}

/// Follows every warp from strand to strand.
struct Follower<'a> {
    savings: &'a Savings,
    oracle: Oracle,
    strand_cycles: u64,
    #[cfg(test)]
    uniform: [i128; CHOICES],
    /// By the warp's place.
    running: Vec<Option<Running>>,
    /// Where the warps stood last.
    phases: WarpPhases,
}

impl Follower<'_> {
    fn hear(&mut self, observation: &Observation) {
        match observation {
            Observation::Issue(issue) => self.issue(issue),
            Observation::Cycles { warps, .. } => self.phases = *warps,
            Observation::CtaEnd { warps, .. } => {
                (0..self.running.len())
                    .filter(|place| warps >> place & 1 != 0)
                    .for_each(|place| self.end(place));
            }
            _ => {}
        }
    }

    fn issue(&mut self, issue: &Issue) {
        let (place, pc) = (usize::from(issue.place), issue.pc as usize);
        if self.savings.leaves[pc] {
            self.end(place);
            if self.oracle.is_full() {
                self.settle(issue.cycle);
            }
        }
        let new = Running { from: issue.cycle, last: 0, saved: [0; CHOICES], given: None };
        let running = self.running[place].get_or_insert(new);
        running.last = issue.cycle;
        if !issue.mask.is_empty() {
            let one = &self.savings.by_pc[pc];
            running.saved.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
        }
    }

    fn end(&mut self, place: usize) {
        let Some(running) = self.running[place].take() else { return };
        #[cfg(test)]
        for (sum, saved) in self.uniform.iter_mut().zip(running.saved) {
            *sum += i128::from(saved);
        }
        let curve = self.oracle.curve(Curve::new(running.saved));
        let (from, until, given) = (running.from, running.last + 1, running.given);
        self.strand_cycles += until - from;
        self.oracle.add(Execution { from, until, curve, given });
    }

    /// Ends an epoch. A warp that has left the active set, or has ended, is in no strand.
    fn settle(&mut self, now: u64) {
        let away = [
            WarpPhase::Outside,
            WarpPhase::OutsideBarrier,
            WarpPhase::Returnable,
            WarpPhase::Drain,
            WarpPhase::Ended,
        ];
        let away = away.iter().fold(0, |all, &phase| all | self.phases.warps(phase));
        for place in 0..self.running.len() {
            if away >> place & 1 != 0 {
                self.end(place);
            }
        }
        let running = || self.running.iter().flatten();
        let mut open: Vec<Open> =
            running().map(|running| Open { from: running.from, given: running.given }).collect();
        self.oracle.settle(now, &mut open);
        for (running, open) in self.running.iter_mut().flatten().zip(open) {
            running.given = open.given;
        }
    }

    fn finish(&mut self) {
        let last = self.running.iter().flatten().map(|running| running.last + 1).max();
        (0..self.running.len()).for_each(|place| self.end(place));
        let now = last.unwrap_or(0).max(self.oracle.latest());
        self.oracle.settle(now, &mut []);
    }
}

#[cfg(test)]
mod tests {
    use strata_compiler::{CompileOptions, compile};
    use strata_ptx::module::FunctionId;

    use super::*;
    use crate::cli::{Scale, SourceArgs};

    use crate::design;
    use crate::measure::{self, Request};
    use crate::printer::Printer;
    use crate::subject;
    use crate::workload::{Overrides, Toolchain, Workload};

    fn compiled(body: &str) -> Program {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .b32 %r<9>;\n.reg .pred %p<3>;\n{body}\nret;\n}}\n"
        );
        let parsed = strata_ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        compile(&parsed.module, FunctionId(0), CompileOptions::default()).unwrap()
    }

    fn savings(program: &Program, name: &str) -> Savings {
        let design = design::resolve(name).unwrap();
        let config = design.managed.unwrap().config(design.energy.as_ref().unwrap());
        Savings::new(program, &design, &config).unwrap()
    }

    /// Of 128 bits, in Tables 4.5 and 4.6 with 3 entries: the main register file reads at 15.6 and
    /// writes at 18.6 pJ, wires included, the operand register file at 2.72 and 5.92.
    #[test]
    fn strands_save_what_the_tables_say() {
        let program = compiled(
            "mov.u32 %r1, %tid.x;
             bar.sync 0;
             add.s32 %r2, %r1, 1;
             add.s32 %r3, %r2, %r2;
             add.s32 %r4, %r3, %r2;",
        );
        let savings = savings(&program, "diss-orf3");
        let strand = |entries: usize| -> i64 {
            savings.by_pc[2..5].iter().map(|of| of[entries]).sum::<i64>() / 8
        };
        // A value saves its write and 12.88 for each read: 51.32 for %r2, 25.56 for %r3 and 12.68
        // for %r4, which nothing reads. %r2 pays best for each of its two slots, %r3 overlaps it.
        assert_eq!([0, 1, 2, 3, 8].map(strand), [0, 64_000, 89_560, 89_560, 89_560]);
        // What leaves its strand is in the main register file.
        assert!(savings.by_pc[..2].iter().flatten().all(|&saved| saved == 0));
        assert_eq!(&savings.leaves[..6], [true, false, true, false, false, false]);
        assert!(savings.without.iter().all(|&placement| placement == Placement::MAIN));
        let program = compiled(
            "mov.u32 %r1, %tid.x;
             bar.sync 0;
             add.s32 %r2, %r1, 1;
             add.s32 %r3, %r1, 2;",
        );
        let filled = self::savings(&program, "diss-orf3").by_pc;
        let with = |entries: usize| [filled[2][entries] / 8, filled[3][entries] / 8];
        // %r2 and %r3 save 12.68 each; with a second entry the first read of %r1 leaves it there
        // for the bank's 4.4, and its second finds it.
        assert_eq!(with(1), [12_680, 12_680]);
        assert_eq!(with(2), [12_680 - 4_400, 12_680 + 12_880]);
    }

    fn each_launch(
        name: &str,
        visit: impl FnMut(&measure::Counted<'_>) -> Result<(), EvaluateError>,
    ) {
        let workload = Workload::builtin(name, Toolchain::Nvcc).unwrap();
        let mut request = Request::new(&SourceArgs::of(Scale::Small)).unwrap();
        request.options.accesses = true;
        let prepared = subject::prepare(&workload, "small", &Overrides::new()).unwrap();
        measure::each_launch(&workload, &prepared, &request, &Printer::new(true), visit).unwrap();
    }

    /// What is added up strand by strand, as the SM issues, is what count mode counts: with every
    /// number of entries. The oracle is at least as good as equal shares, and its bound no worse
    /// than all entries for everyone.
    #[test]
    fn strands_add_up_to_the_launch() {
        let design = design::resolve("diss-orf3-lrf-split").unwrap();
        let config = design.managed.unwrap().config(design.energy.as_ref().unwrap());
        let energy = |counters| price(&design, &counters).unwrap().unwrap().total().0;
        for name in ["reduction", "mandelbrot", "bfs"] {
            let mut launches = 0;
            each_launch(name, |launch| {
                let savings = Savings::new(launch.program().unwrap(), &design, &config)?;
                let settings = design.sm;
                let outcome = run(settings, &launch.timed(), &savings, (24, 3))?;
                let nothing = launch.count_under(design.organisation(), Some(&savings.without))?;
                for entries in 1..=MAX_ORF_ENTRIES {
                    let config = HierarchyConfig { orf_entries: entries, ..config };
                    let counted = energy(launch.count_fitted(design.organisation(), &config)?);
                    let saved = i128::from(energy(nothing)) - i128::from(counted);
                    let summed = outcome.uniform[usize::from(entries)];
                    assert_eq!(summed, saved, "{name}, {entries} entries");
                }
                let Bracket { attained, bound } = outcome.bracket;
                assert!(outcome.uniform[3] <= attained && attained <= bound, "{name}");
                launches += 1;
                Ok(())
            });
            assert!(launches > 0, "{name}");
        }
    }
}
