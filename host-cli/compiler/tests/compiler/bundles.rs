//! Bundles: each rule on its own, what the checker accepts, and what it rejects.

use std::collections::BTreeSet;

use strata_compiler::bundles::{BundleError, Bundled, Weights, bundle};
use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::program::{Location, Program};
use strata_compiler::{allocate, checker};
use strata_core::image::Flags;
use strata_core::sm::expansion::Threshold;
use strata_core::sm::expansion::bundles::{Bundles, Prefetch, RegisterSet};
use strata_core::units::RegisterId;
use strata_ptx::module::FunctionId;

use crate::common::{Random, random_kernel, shapes};
use crate::facts::{compiled, module};
use crate::kernels::{kernels, spilling};

/// Candidates of a program: all registers, those of several thresholds, and the last one.
fn firsts(program: &Program) -> BTreeSet<u16> {
    let registers = program.image.registers;
    let of = |tenths| {
        let threshold = Threshold::new(tenths, 10).expect("between 0 and 1");
        threshold.first_candidate(registers)
    };
    BTreeSet::from([0, of(9), of(8), of(4), registers.saturating_sub(1), registers])
}

/// The program, sorted and divided, if operands of no instruction share a line; checked.
fn checked(kernel: &Kernel, program: &Program, weights: Weights, first: u16) -> Option<Bundled> {
    let bundled = match bundle(program, weights, first) {
        Ok(bundled) => bundled,
        Err(BundleError::SharedLine { .. }) => return None,
        Err(error) => panic!("{}: {error}", kernel.name),
    };
    let at = || format!("{} from {first}", kernel.name);
    if let Err(violations) = checker::check(kernel, &bundled.program) {
        panic!("{}: {}", at(), violations[0]);
    }
    let found = checker::check_bundles(kernel, &bundled.program, &bundled.prefetches, first);
    if let Err(violations) = found {
        panic!("{}: {}", at(), violations[0]);
    }
    let instructions = bundled.program.instructions.len() as u32;
    Bundles::new(&bundled.prefetches, instructions)
        .unwrap_or_else(|error| panic!("{}: {error}", at()));
    assert_eq!(bundled.program.image.registers, program.image.registers, "{}", at());
    Some(bundled)
}

#[test]
fn the_checkers_accept_real_kernels() {
    let (mut made, mut refused) = (0, 0);
    for kernel in kernels().into_iter().chain(spilling()) {
        for limit in [None, strata_compiler::RegisterLimit::new(20)] {
            let Ok(program) = allocate(&kernel, limit) else { continue };
            for first in firsts(&program) {
                for weights in [Weights::References, Weights::Loops] {
                    let found = checked(&kernel, &program, weights, first);
                    made += u32::from(found.is_some());
                    refused += u32::from(found.is_none());
                    let few = first >= program.image.registers.saturating_sub(16);
                    assert!(
                        found.is_some() || !few,
                        "{}: 16 candidates have a line each",
                        kernel.name
                    );
                }
            }
        }
    }
    assert!(made > 20 * refused, "{made} made, {refused} refused");
}

#[test]
fn the_checkers_accept_random_kernels() {
    let mut made = 0;
    for seed in 0..20 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let program = allocate(&kernel, None).expect("random kernels are small");
            for first in firsts(&program) {
                made += u32::from(checked(&kernel, &program, Weights::References, first).is_some());
            }
        }
    }
    assert!(made > 200, "{made}");
}

/// References to each register of a program.
fn references(program: &Program) -> Vec<usize> {
    let mut of = vec![0; usize::from(program.image.registers)];
    program.image.slots.iter().for_each(|slot| of[usize::from(slot.0)] += 1);
    of
}

#[test]
fn the_last_registers_have_the_fewest_references() {
    for kernel in kernels() {
        let program = allocate(&kernel, None).expect("small");
        // No register is a candidate: nothing is exchanged for lines.
        let first = program.image.registers;
        let sorted =
            checked(&kernel, &program, Weights::References, first).expect("it has none").program;
        let (before, after) = (references(&program), references(&sorted));
        let (mut a, mut b) = (before.clone(), after.clone());
        a.sort_unstable();
        b.sort_unstable();
        assert_eq!(a, b, "{}: it is a renumbering", kernel.name);
        let wide = sorted.registers.iter().any(
            |register| matches!(register.location, Location::General { count, .. } if count > 1),
        );
        // In twos, which values of two registers keep together; of four in fours.
        let size = if sorted
            .registers
            .iter()
            .any(|register| matches!(register.location, Location::General { count: 4, .. }))
        {
            4
        } else if wide {
            2
        } else {
            1
        };
        let sums: Vec<usize> = after.chunks_exact(size).map(|two| two.iter().sum()).collect();
        assert!(sums.is_sorted_by(|a, b| a >= b), "{}: {after:?}", kernel.name);
    }
}

/// Candidates from register 0 of a body, as compiled: places of bundles, and registers of each.
fn bundles_of(body: &str, first: u16) -> (Bundled, Vec<(u32, u32, u32)>) {
    let bundled = bundle(&compiled(body), Weights::References, first).expect("few registers");
    let counts =
        bundled.prefetches.iter().map(|one| (one.pc, one.fetched.count(), one.allocated.count()));
    let counts = counts.collect();
    (bundled, counts)
}

#[test]
fn sources_and_live_ins_are_fetched_and_results_get_a_line() {
    // Two results out of nothing; a block that reads one and writes another.
    let (_, found) = bundles_of(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra L;
         add.u32 %r3, %r2, 1;
         L: ret;",
        0,
    );
    assert_eq!(found[0], (0, 0, 2));
    // %r2, and a result without a reader.
    assert_eq!(found[1], (5, 1, 1));
}

#[test]
fn a_definition_under_a_guard_fetches_what_other_lanes_keep() {
    let body = |guard: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.eq.u32 %p1, %r1, 0; bar.sync 0;
             {guard} mov.u32 %r2, 7;
             st.global.u32 [%rd1], %r2;"
        )
    };
    // The bundle behind the barrier: the address, and the register if some lanes keep it.
    let fetched = |guard| {
        let (_, found) = bundles_of(&body(guard), 0);
        let behind = found.iter().find(|(pc, ..)| *pc >= 4).expect("the barrier ends a bundle");
        (behind.1, behind.2)
    };
    let (with, without) = (fetched("@%p1"), fetched(""));
    assert_eq!((with.0 - without.0, without.1 - with.1), (1, 1), "{with:?} {without:?}");
}

#[test]
fn a_consumer_of_a_long_latency_result_and_a_barrier_part_bundles() {
    let (bundled, found) = bundles_of(
        "ld.global.u32 %r1, [%rd1];
         add.u32 %r2, %r1, 1;
         bar.sync 0;
         add.u32 %r3, %r2, 1;
         st.global.u32 [%rd1], %r3;",
        0,
    );
    let flags = |flag| {
        let mut records = bundled.program.image.instructions.iter();
        records.position(|record| record.flags.contains(flag)).expect("there is one") as u32
    };
    let starts: Vec<u32> = found.iter().map(|one| one.0).collect();
    assert_eq!(starts, [0, flags(Flags::DESCHEDULE_BEFORE), flags(Flags::BARRIER) + 1]);
}

/// A load's result takes no line: it goes to scratchpad memory when it arrives.
#[test]
fn a_long_latency_result_takes_no_line() {
    let (bundled, _) = bundles_of(
        "ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %tid.x;
         add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;",
        0,
    );
    let image = bundled.program.image.borrow();
    let load = bundled.program.image.instructions.iter();
    let load = load.rev().find(|record| record.flags.contains(Flags::LONG_LATENCY)).expect("it");
    let result = image.destinations(load)[0];
    assert!(!bundled.prefetches[0].registers().contains(result));
    assert!(bundled.prefetches[1].fetched.contains(result));
}

#[test]
fn more_registers_than_lines_part_a_bundle() {
    // 20 values live at once: at most 16 of them in one bundle.
    let makes = |n: usize| format!("mov.u32 %q{n}, %tid.x; ");
    let uses = |n: usize| format!("add.u32 %q0, %q0, %q{n}; ");
    let body: String = std::iter::once(".reg .b32 %q<20>; ".to_owned())
        .chain((0..20).map(makes))
        .chain((1..20).map(uses))
        .chain(["st.global.u32 [%rd1], %q0;".to_owned()])
        .collect();
    let (bundled, found) = bundles_of(&body, 0);
    assert!(found.len() > 1, "{found:?}");
    // The first ends where one more register would share a line.
    let both = bundled.prefetches[0].registers().or(bundled.prefetches[1].registers());
    let lines: BTreeSet<u16> = both.iter().map(|one| one.0 % 16).collect();
    assert!((lines.len() as u32) < both.count());
    for prefetch in &bundled.prefetches {
        let lines: BTreeSet<u16> = prefetch.registers().iter().map(|one| one.0 % 16).collect();
        assert_eq!(lines.len() as u32, prefetch.registers().count());
    }
    // No register may lie in scratchpad memory: bundles are basic blocks.
    let (_, found) = bundles_of(&body, bundled.program.image.registers);
    assert_eq!(found, [(0, 0, 0)]);
}

/// Registers of loops come first where loops count.
#[test]
fn loops_weigh_more_where_they_are_asked_for() {
    let body = "mov.u32 %r1, 0; mov.u32 %r2, %tid.x;
        add.u32 %r2, %r2, %r2; add.u32 %r2, %r2, %r2; add.u32 %r2, %r2, %r2; add.u32 %r2, %r2, %r2;
        L: add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 9;
        @%p1 bra L;
        st.global.u32 [%rd1], %r2;";
    let program = compiled(body);
    let register = |weights| {
        let sorted = bundle(&program, weights, 0).expect("few registers").program;
        let place = sorted.registers.iter().find(|one| one.name == "%r1").expect("it").location;
        match place {
            Location::General { first, .. } => first,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(register(Weights::Loops), 0);
    assert_ne!(register(Weights::References), 0);
}

/// One fault in bundles that the pass made.
struct Mutator {
    name: &'static str,
    mutate: fn(&Bundled, usize, u16) -> Option<Vec<Prefetch>>,
    due: fn(&checker::Problem) -> bool,
}

fn changed(bundled: &Bundled, place: usize, change: impl FnOnce(&mut Prefetch)) -> Vec<Prefetch> {
    let mut all = bundled.prefetches.clone();
    change(&mut all[place]);
    all
}

fn one(register: RegisterId) -> RegisterSet {
    RegisterSet::of([register]).expect("below 256")
}

const MUTATORS: [Mutator; 8] = [
    Mutator {
        name: "forget a register that is fetched",
        mutate: |bundled, place, _| {
            let register = bundled.prefetches[place].fetched.iter().next()?;
            Some(changed(bundled, place, |one_of| {
                one_of.fetched = one_of.fetched.without(one(register));
            }))
        },
        due: |problem| matches!(problem, checker::Problem::NotInBundle(_)),
    },
    Mutator {
        name: "forget a register that gets a line",
        mutate: |bundled, place, _| {
            let register = bundled.prefetches[place].allocated.iter().next()?;
            Some(changed(bundled, place, |one_of| {
                one_of.allocated = one_of.allocated.without(one(register));
            }))
        },
        due: |problem| matches!(problem, checker::Problem::NotInBundle(_)),
    },
    Mutator {
        name: "do not fetch what is read first",
        mutate: |bundled, place, first| {
            let prefetch = bundled.prefetches[place];
            let record = &bundled.program.image.instructions[prefetch.pc as usize];
            let sources = bundled.program.image.borrow().sources(record);
            let register = *sources.iter().find(|register| register.0 >= first)?;
            Some(changed(bundled, place, |one_of| {
                one_of.fetched = one_of.fetched.without(one(register));
                one_of.allocated.insert(register);
            }))
        },
        due: |problem| matches!(problem, checker::Problem::NotFetched(_, "this read")),
    },
    Mutator {
        name: "join two bundles",
        mutate: |bundled, place, _| {
            let mut all = bundled.prefetches.clone();
            let gone = (place > 0).then(|| all.remove(place))?;
            let before = &mut all[place - 1];
            let known = before.registers();
            before.fetched = before.fetched.or(gone.fetched.without(known));
            before.allocated = before.allocated.or(gone.allocated.without(before.registers()));
            Some(all)
        },
        due: |problem| {
            matches!(
                problem,
                checker::Problem::NoBundleStart
                    | checker::Problem::OneLine(..)
                    | checker::Problem::TooManyLines(_)
                    | checker::Problem::PendingInBundle(_)
            )
        },
    },
    Mutator {
        name: "leave out the first bundle",
        mutate: |bundled, place, _| (place == 0).then(|| bundled.prefetches[1..].to_vec()),
        due: |problem| matches!(problem, checker::Problem::NoBundleStart),
    },
    Mutator {
        name: "name a register of the same line",
        mutate: |bundled, place, _| {
            let registers = bundled.prefetches[place].registers();
            let other = RegisterId(registers.iter().next()?.0 + 16);
            let there = other.0 < bundled.program.image.registers && !registers.contains(other);
            there.then(|| {
                changed(bundled, place, |one_of| {
                    one_of.fetched.insert(other);
                })
            })
        },
        due: |problem| matches!(problem, checker::Problem::OneLine(..)),
    },
    Mutator {
        name: "name a register that is never in scratchpad memory",
        mutate: |bundled, place, first| {
            let below = first.checked_sub(1)?;
            Some(changed(bundled, place, |one_of| {
                one_of.fetched.insert(RegisterId(below));
            }))
        },
        due: |problem| matches!(problem, checker::Problem::NoCandidate(_)),
    },
    Mutator {
        name: "exchange two bundles",
        mutate: |bundled, place, _| {
            let mut all = bundled.prefetches.clone();
            (place > 0).then(|| all.swap(place - 1, place))?;
            Some(all)
        },
        due: |problem| matches!(problem, checker::Problem::Different(_)),
    },
];

#[test]
fn every_mutant_is_rejected_for_its_reason() {
    let mut killed = [0; MUTATORS.len()];
    for kernel in kernels() {
        let program = allocate(&kernel, None).expect("small");
        for first in firsts(&program) {
            let Some(bundled) = checked(&kernel, &program, Weights::References, first) else {
                continue;
            };
            for (mutator, killed) in MUTATORS.iter().zip(&mut killed) {
                let all = bundled.prefetches.len();
                for place in (0..all).step_by(1 + all / 12) {
                    let Some(mutant) = (mutator.mutate)(&bundled, place, first) else { continue };
                    let found = checker::check_bundles(&kernel, &bundled.program, &mutant, first);
                    let at = format!("{} at {place} of {} from {first}", mutator.name, kernel.name);
                    let violations = match found {
                        Err(violations) => violations,
                        // Bundles that need not have been two.
                        Ok(()) if mutator.name == "join two bundles" => continue,
                        Ok(()) => panic!("{at} is accepted"),
                    };
                    let due = violations.iter().any(|violation| (mutator.due)(&violation.problem));
                    assert!(due, "{at}: {}", violations[0]);
                    *killed += 1;
                }
            }
        }
    }
    for (mutator, killed) in MUTATORS.iter().zip(killed) {
        assert!(killed >= 3, "{}: {killed}", mutator.name);
    }
}

/// A register that only some lanes write, or that waiting lanes keep, and that is not fetched.
#[test]
fn values_of_other_lanes_are_fetched() {
    let because = |body: &str, of_lanes: &str| {
        let kernel = inline(&module(body), FunctionId(0)).expect("nothing to inline");
        let program = compiled(body);
        let bundled = checked(&kernel, &program, Weights::References, 0).expect("few registers");
        let mut found = 0;
        for place in 0..bundled.prefetches.len() {
            for register in bundled.prefetches[place].fetched.iter() {
                let mutant = changed(&bundled, place, |one_of| {
                    one_of.fetched = one_of.fetched.without(one(register));
                    one_of.allocated.insert(register);
                });
                let checked = checker::check_bundles(&kernel, &bundled.program, &mutant, 0);
                let violations = checked.err().unwrap_or_default();
                found += violations
                    .iter()
                    .filter(|violation| match violation.problem {
                        checker::Problem::NotFetched(_, why) => why == of_lanes,
                        _ => false,
                    })
                    .count();
            }
        }
        found
    };
    let guarded = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.eq.u32 %p1, %r1, 0; bar.sync 0;
        @%p1 mov.u32 %r2, 7;
        st.global.u32 [%rd1], %r2;";
    assert_ne!(because(guarded, "lanes without the guard"), 0);
    // Lanes of the other side keep %r2 while this one writes it.
    let divergent = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.eq.u32 %p1, %r1, 0;
        @%p1 bra ELSE;
        mov.u32 %r2, 7;
        bra JOIN;
        ELSE: add.u32 %r2, %r2, %r1;
        JOIN: st.global.u32 [%rd1], %r2;";
    assert_ne!(because(divergent, "lanes that wait"), 0);
}
