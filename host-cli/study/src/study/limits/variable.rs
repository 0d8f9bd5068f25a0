//! Variable allocation of the operand register file (`[DISS]` 6.6.1): what strands save with each
//! number of entries, when they execute, and what an oracle makes of it.

use strata_compiler::hierarchy::{Code, HierarchyConfig, fit};
use strata_compiler::program::Program;
use strata_core::count::count_path;
use strata_core::image::StaticInstruction;
use strata_core::path::PathStep;
use strata_core::placement::{MAX_ORF_ENTRIES, Placement, Upper};
use strata_core::sm::config::{MAX_RESIDENT_WARPS, SmSettings};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::{Issue, Observation, WarpPhase, WarpPhases};
use strata_core::units::LaneMask;

use super::assumed::{HOLDS, Hold};
use super::oracle::{Bracket, CHOICES, Curve, ENTRIES, Execution, Open, Oracle};
use strata_design::Design;
use strata_measure::evaluate::EvaluateError;
use strata_measure::levels::{FitError, Fitted};
use strata_measure::price;
use strata_measure::timing::{TimedLaunch, hear_launch_over};

/// What a program saves with each number of entries, instruction by instruction.
#[derive(Clone, Debug)]
pub(super) struct Savings {
    /// For each instruction, energy that one execution by a warp saves against a program that uses
    /// no entry; less than nothing where it fills entries for others. Unit: femtojoules.
    by_pc: Vec<[i64; CHOICES]>,
    /// For each instruction, the entries that it writes or reads with some number of them. Bit `i`:
    /// entry `i`.
    touched: Vec<u8>,
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
            .map_err(|problem| FitError::TooLarge(program.name.clone(), problem.message))?;
        let mut by_pc = vec![[0; CHOICES]; program.image.instructions.len()];
        let own = fit(&code, config).map_err(FitError::from)?;
        // The last result file comes first, so that it holds the same with any number of entries.
        let without: Vec<_> = own.placements.iter().map(|&placement| lowered(placement)).collect();
        let nothing = energies(program, design, &without)?;
        let mut touched = vec![0; program.image.instructions.len()];
        for entries in 1..=MAX_ORF_ENTRIES {
            let config = HierarchyConfig { orf_entries: entries, ..*config };
            let placements = fit(&code, &config).map_err(FitError::from)?.placements;
            for (all, instruction) in touched.iter_mut().zip(&program.image.instructions) {
                *all |= entries_of(instruction, &placements);
            }
            let spent = energies(program, design, &placements)?;
            for ((savings, before), after) in by_pc.iter_mut().zip(&nothing).zip(spent) {
                savings[usize::from(entries)] = before - after;
            }
        }
        let leaves = own.strands.leaves_all(&code);
        Ok(Self { by_pc, touched, leaves, without, own: own.placements })
    }
}

/// The placement without the operand register file.
fn lowered(placement: Placement) -> Placement {
    match placement.upper {
        Some(Upper::Orf(_)) => Placement::MAIN,
        Some(Upper::Lrf(_)) | None => placement,
    }
}

/// The entries that an instruction writes or reads. Bit `i`: entry `i`.
fn entries_of(instruction: &StaticInstruction, placements: &[Placement]) -> u8 {
    let slots = usize::from(instruction.sources) + usize::from(instruction.destinations);
    let own = &placements[instruction.first_slot as usize..][..slots];
    own.iter().fold(0, |all, placement| match placement.upper {
        Some(Upper::Orf(entry)) => all | 1 << entry,
        Some(Upper::Lrf(_)) | None => all,
    })
}

/// Energy of one execution of each instruction. Unit: femtojoules.
fn energies(
    program: &Program,
    design: &Design,
    placements: &[Placement],
) -> Result<Vec<i64>, EvaluateError> {
    let image = Fitted { placements: Some(placements), ..(&program.image).into() }.checked()?;
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
    /// Saved against no entries at all, in the order of [`HOLDS`].
    pub(super) brackets: [Bracket; HOLDS.len()],
    /// Cycles that warps were in a strand, summed over the warps.
    pub(super) strand_cycles: u64,
    /// What each number of entries saves if all warps have as many. Unit: femtojoules.
    #[cfg(test)]
    uniform: [i128; CHOICES],
}

/// Runs a launch in time, and gives each execution of a strand its share of some entries: all that
/// warps share, and how many each has in the design.
pub(super) fn run(
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    savings: &Savings,
    entries: (u32, u8),
) -> Result<Outcome, EvaluateError> {
    let image = Fitted { placements: Some(&savings.own), ..launch.image };
    let launch = TimedLaunch { image, ..*launch };
    let mut follower = Follower::new(savings, entries);
    let mut hear = |observation| follower.hear(&observation);
    let timed = hear_launch_over(None, settings, &launch, &mut hear)?;
    follower.finish();
    Ok(Outcome {
        time: timed.counters,
        brackets: follower.oracles.each_ref().map(Oracle::bracket),
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
    /// Of each entry, the cycles of the first and the last issue so far that touch it.
    touched: [Option<(u64, u64)>; ENTRIES],
    /// In the order of [`HOLDS`].
    given: [Option<u8>; HOLDS.len()],
}

impl Running {
    fn new(from: u64) -> Self {
        Self {
            from,
            last: from,
            saved: [0; CHOICES],
            touched: [None; ENTRIES],
            given: [None; HOLDS.len()],
        }
    }

    /// The cycles that it holds each entry, the first and the one after the last.
    fn held(&self, hold: Hold) -> [(u64, u64); ENTRIES] {
        match hold {
            Hold::Strand => [(self.from, self.last + 1); ENTRIES],
            Hold::Entry => self.touched.map(|touched| {
                touched.map_or((self.from, self.from), |(first, last)| (first, last + 1))
            }),
        }
    }
}

/// Follows every warp from strand to strand.
struct Follower<'a> {
    savings: &'a Savings,
    /// In the order of [`HOLDS`]; all have the same executions.
    oracles: [Oracle; HOLDS.len()],
    strand_cycles: u64,
    #[cfg(test)]
    uniform: [i128; CHOICES],
    /// By the warp's place.
    running: Vec<Option<Running>>,
    /// Where the warps stood last.
    phases: WarpPhases,
}

impl<'a> Follower<'a> {
    fn new(savings: &'a Savings, (capacity, fair): (u32, u8)) -> Self {
        Self {
            savings,
            oracles: HOLDS.map(|_| Oracle::new(capacity, fair)),
            strand_cycles: 0,
            #[cfg(test)]
            uniform: [0; CHOICES],
            running: vec![None; MAX_RESIDENT_WARPS],
            phases: WarpPhases::default(),
        }
    }

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
            if self.oracles[0].is_full() {
                self.settle(issue.cycle);
            }
        }
        let running = self.running[place].get_or_insert(Running::new(issue.cycle));
        running.last = issue.cycle;
        if !issue.mask.is_empty() {
            let one = &self.savings.by_pc[pc];
            running.saved.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
            let now = self.savings.touched[pc];
            for (entry, touched) in running.touched.iter_mut().enumerate() {
                if now >> entry & 1 != 0 {
                    touched.get_or_insert((issue.cycle, 0)).1 = issue.cycle;
                }
            }
        }
    }

    fn end(&mut self, place: usize) {
        let Some(running) = self.running[place].take() else { return };
        #[cfg(test)]
        for (sum, saved) in self.uniform.iter_mut().zip(running.saved) {
            *sum += i128::from(saved);
        }
        let (from, until) = (running.from, running.last + 1);
        self.strand_cycles += until - from;
        for ((oracle, hold), given) in self.oracles.iter_mut().zip(HOLDS).zip(running.given) {
            let curve = oracle.curve(Curve::new(running.saved));
            oracle.add(Execution { from, until, held: running.held(hold), curve, given });
        }
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
        for (place, oracle) in self.oracles.iter_mut().enumerate() {
            let running = self.running.iter().flatten();
            let open = |running: &Running| Open { from: running.from, given: running.given[place] };
            let mut open: Vec<Open> = running.map(open).collect();
            oracle.settle(now, &mut open);
            for (running, open) in self.running.iter_mut().flatten().zip(open) {
                running.given[place] = open.given;
            }
        }
    }

    fn finish(&mut self) {
        let last = self.running.iter().flatten().map(|running| running.last + 1).max();
        (0..self.running.len()).for_each(|place| self.end(place));
        for oracle in &mut self.oracles {
            let now = last.unwrap_or(0).max(oracle.latest());
            oracle.settle(now, &mut []);
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_compiler::{CompileOptions, compile};
    use strata_ptx::module::FunctionId;

    use super::super::assumed::CLOCKS;
    use super::*;
    use strata_measure::options::{Scale, Source};

    use strata_design as design;
    use strata_measure::notes::Silent;
    use strata_measure::subject;
    use strata_measure::{self as measure, Request};
    use strata_workload::{Overrides, Toolchain, Workload};

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
        // The first entry has %r2 from its write to its last read, and %r4 from then on; the second
        // has %r3.
        assert_eq!(savings.touched[..6], [0, 0, 0b01, 0b11, 0b11, 0]);
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
        let mut request = Request::new(&Source::of(Scale::Small)).unwrap();
        request.options.accesses = true;
        let prepared = subject::prepare(&workload, "small", &Overrides::new()).unwrap();
        measure::each_launch(&workload, &prepared, &request, &Silent, visit).unwrap();
    }

    /// The strand of [`strands_save_what_the_tables_say`], in cycles 10, 20 and 30: %r2 in the
    /// first entry from 10 on, %r3 in the second from 20 on, both read last in 30.
    #[test]
    fn entries_are_held_from_their_first_write_to_their_last_read() {
        let program = compiled(
            "mov.u32 %r1, %tid.x;
             bar.sync 0;
             add.s32 %r2, %r1, 1;
             add.s32 %r3, %r2, %r2;
             add.s32 %r4, %r3, %r2;",
        );
        let savings = savings(&program, "diss-orf3");
        let mut follower = Follower::new(&savings, (24, 3));
        let mut issue = |cycle: u64, pc: u32, mask: u32| {
            let mask = LaneMask(mask);
            follower.issue(&Issue { cycle, slot: 0, place: 5, cta: 0, warp: 0, pc, mask });
            follower.running[5].unwrap()
        };
        assert_eq!(issue(10, 2, 1).held(Hold::Entry)[..3], [(10, 11), (10, 10), (10, 10)]);
        // Without an enabled lane nothing is written or read.
        assert_eq!(issue(15, 3, 0).held(Hold::Entry)[..3], [(10, 11), (10, 10), (10, 10)]);
        assert_eq!(issue(20, 3, 1).held(Hold::Entry)[..3], [(10, 21), (20, 21), (10, 10)]);
        let last = issue(30, 4, 1);
        assert_eq!(last.held(Hold::Entry)[..3], [(10, 31), (20, 31), (10, 10)]);
        assert_eq!(last.held(Hold::Strand), [(10, 31); ENTRIES]);
        // The next strand begins without any.
        assert_eq!(issue(40, 2, 1).held(Hold::Entry)[..2], [(40, 41), (40, 40)]);
    }

    /// Without stalls an instruction issues in nearly every cycle. In turn the active warps are all
    /// within strands; one after another hardly more than one is, which gets all that it can use.
    #[test]
    fn without_stalls_an_instruction_issues_in_every_cycle() {
        let design = design::resolve("diss-orf3-lrf-split").unwrap();
        let config = design.managed.unwrap().config(design.energy.as_ref().unwrap());
        for name in ["matrixmul", "scalarprod"] {
            each_launch(name, |launch| {
                let savings = Savings::new(launch.program().unwrap(), &design, &config)?;
                let [stalled, in_turn, one] = CLOCKS.map(|clock| {
                    run(clock.settings(design.sm), &launch.timed(), &savings, (24, 3)).unwrap()
                });
                let within =
                    |outcome: &Outcome| outcome.strand_cycles as f64 / outcome.time.cycles() as f64;
                let issued = in_turn.time.accesses.warp_instructions();
                for unstalled in [&in_turn, &one] {
                    let cycles = unstalled.time.cycles();
                    assert!((issued..issued + issued / 50).contains(&cycles), "{name}: {cycles}");
                    assert_eq!(unstalled.uniform, stalled.uniform, "{name}");
                }
                assert!(stalled.time.cycles() > in_turn.time.cycles(), "{name}");
                let [sm, turn, alone] = [&stalled, &in_turn, &one].map(within);
                assert!(sm < turn && turn > 6.5 && alone < 2.0, "{name}: {sm}, {turn}, {alone}");
                let [strand, entry] = one.brackets;
                assert_eq!((strand.attained, entry.attained), (strand.bound, strand.bound));
                assert!(strand.attained >= stalled.brackets[0].bound, "{name}");
                Ok(())
            });
        }
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
                for Bracket { attained, bound } in outcome.brackets {
                    assert!(outcome.uniform[3] <= attained && attained <= bound, "{name}");
                }
                let [strand, entry] = outcome.brackets;
                assert!(strand.attained <= entry.bound, "{name}: {strand:?}, {entry:?}");
                launches += 1;
                Ok(())
            });
            assert!(launches > 0, "{name}");
        }
    }
}
