//! Made-up programs that are cut down to the smallest that still shows a difference.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};
use strata_core::prototype::cache_block::CacheSettings;
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::regmap::field;
use strata_core::prototype::settings::Settings;
use strata_core::register_file_cache::Replacement;
use strata_core::units::{LaneMask, RegisterId};
use strata_lockstep::access_sequencer::{Elaboration, LARGEST, Rtl, SMALLEST, USUAL, WIDE};

use super::bench::{Bench, port_settings};

/// Registers that a program uses.
const REGISTERS: u8 = 24;

/// A step of a warp.
#[derive(Clone, Debug)]
enum Step {
    /// Operands, each with its last-use mark, and a result; a bypass or not.
    Instruction {
        reads: Vec<(u8, bool)>,
        write: Option<(u8, bool)>,
    },
    Fill(u8),
    Whole(Operation),
    /// A new batch begins.
    EndBatch,
}

/// A program: its settings, the distance from one register to the next, steps with warp and lanes.
#[derive(Clone, Debug)]
struct Program {
    settings: Settings,
    stride: u16,
    steps: Vec<(u8, u32, Step)>,
}

impl Program {
    fn register(&self, register: u8) -> RegisterId {
        let of_warp = u16::from(self.settings.registers_per_warp);
        RegisterId(u16::from(register) * self.stride % of_warp)
    }

    fn batches(&self) -> Vec<Vec<Command>> {
        let mut batches = vec![Vec::new()];
        for &(warp, lanes, ref step) in &self.steps {
            let Some(batch) = batches.last_mut() else { break };
            let mut push = |operation, register| {
                let register = self.register(register);
                batch.push(Command { warp, operation, register, lanes: LaneMask(lanes) });
            };
            match step {
                Step::Instruction { reads, write } => {
                    for (index, &(register, last_use)) in reads.iter().enumerate() {
                        let more = index + 1 < reads.len();
                        push(Operation::Read { last_use, more }, register);
                    }
                    if let &Some((register, bypass)) = write {
                        let operation = if bypass { Operation::Bypass } else { Operation::Write };
                        push(operation, register);
                    }
                }
                Step::Fill(register) => push(Operation::Fill, *register),
                Step::Whole(operation) => push(*operation, 0),
                Step::EndBatch => batches.push(Vec::new()),
            }
        }
        batches
    }
}

fn settings(elaboration: Elaboration) -> impl Strategy<Value = Settings> {
    let limit = (1_024 / elaboration.warps).min(255) as u8;
    let cache = (0..=elaboration.cache as u8, any::<bool>(), any::<bool>());
    let cache = cache.prop_map(|(entries, lru, liveness)| {
        let replacement = if lru { Replacement::Lru } else { Replacement::Fifo };
        (entries > 0).then_some(CacheSettings { entries, replacement, liveness })
    });
    let pool = 0..=elaboration.pool as u8;
    let cycles = prop_oneof![9 => 1..=4_u8, 1 => Just(15_u8)];
    (cache, pool, any::<bool>(), cycles, REGISTERS..=limit).prop_map(
        |(cache, write_pool_entries, split_bank_write, write_cycles, registers_per_warp)| {
            let banks = (split_bank_write, write_cycles, registers_per_warp);
            let (split_bank_write, write_cycles, registers_per_warp) = banks;
            Settings {
                cache,
                write_pool_entries,
                split_bank_write,
                write_cycles,
                registers_per_warp,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let register = 0..REGISTERS;
    let reads = prop::collection::vec((register.clone(), prop::bool::weighted(0.2)), 0..=3);
    let write = prop::option::weighted(0.7, (register.clone(), prop::bool::weighted(0.2)));
    let whole = prop::sample::select(vec![
        Operation::Flush,
        Operation::Exit,
        Operation::Demote,
        Operation::Drop,
    ]);
    prop_oneof![
        16 => (reads, write).prop_map(|(reads, write)| Step::Instruction { reads, write }),
        2 => register.prop_map(Step::Fill),
        2 => whole.prop_map(Step::Whole),
        1 => Just(Step::EndBatch),
    ]
}

fn program(elaboration: Elaboration) -> impl Strategy<Value = Program> {
    let full = u32::MAX >> (32 - elaboration.lanes);
    let lanes = prop_oneof![Just(full), any::<u32>().prop_map(move |it| (it & full).max(1))];
    let steps = prop::collection::vec((0..elaboration.warps as u8, lanes, step()), 1..400);
    let stride = prop::sample::select(vec![1_u16, 3, 16, 17]);
    (settings(elaboration), stride, steps).prop_map(|(settings, stride, steps)| Program {
        settings,
        stride,
        steps,
    })
}

/// Runs this many programs; always the same ones.
fn run<const WARPS: usize, const CAPACITY: usize, const POOL: usize>(
    elaboration: Elaboration,
    programs: u32,
) {
    let config = Config { cases: programs, failure_persistence: None, ..Config::default() };
    let random = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, random);
    let first =
        Settings::unpack(field::SETTINGS_WRITE_CYCLES.put(1) | field::SETTINGS_REGISTERS.put(1));
    let idle = RefCell::new(Some(Rtl::new(elaboration, port_settings(first))));
    let outcome = runner.run(&program(elaboration), |program| {
        let rtl = idle.borrow_mut().take();
        let rtl = rtl.unwrap_or_else(|| Rtl::new(elaboration, port_settings(first)));
        let mut bench = Bench::<WARPS, CAPACITY, POOL>::over(rtl, program.settings);
        let mut batches = program.batches().into_iter().filter(|batch| !batch.is_empty());
        let outcome = batches.try_for_each(|batch| bench.run(&batch));
        let outcome = outcome.and_then(|()| bench.compare_counters());
        idle.replace(Some(bench.into_rtl()));
        outcome.map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn programs_of_the_largest_size() {
    run::<8, 13, 60>(LARGEST, 96);
}

#[test]
fn programs_of_the_usual_size() {
    run::<8, 6, 24>(USUAL, 96);
}

#[test]
fn programs_of_the_smallest_size() {
    run::<3, 1, 1>(SMALLEST, 64);
}

#[test]
fn programs_of_whole_warps() {
    run::<4, 3, 5>(WIDE, 48);
}
