//! Random traffic.

use strata_core::arbiter::{ArbiterConfig, BankPorts};
use strata_core::bank_layout::BankLayout;
use strata_core::write_pool::PoolPorts;

use super::random::Random;
use super::reference::Situations;
use super::stream::{Done, Shape, Stream};

/// Traffic of a seed, through an arbiter that the seed determines too unless one is given.
fn run(seed: u64, config: Option<ArbiterConfig>, cycles: u64) -> Done {
    let mut random = Random(seed);
    let mut choose = |limit| random.below(limit);
    let mut shape = Shape::choose(&mut choose);
    if let Some(config) = config {
        shape.hot.1 = shape.hot.1.min(config.registers_per_warp);
        shape.config = config;
    }
    Stream::new(format!("seed {seed}"), shape, &mut choose).run(cycles)
}

#[test]
fn any_arbiter_does_what_the_reference_does_and_loses_nothing() {
    let mut met = Situations::new();
    let mut reads = 0;
    for seed in 0..400 {
        let done = run(seed, None, 2_500);
        reads += done.totals.reads_granted;
        for (situation, times) in done.situations {
            *met.entry(situation).or_default() += times;
        }
    }
    // The traffic is worth something only if it meets everything that can happen.
    let all = [
        "a later read overtakes one of the other subarray",
        "a partial hit",
        "a read beside a write",
        "a read hit",
        "a read of a bank",
        "a read waits for a read of its bank",
        "a read waits for a write of its bank",
        "a read waits for its unit",
        "a read waits for the pool",
        "a write beside a read",
        "a write follows another of its register",
        "a write has a port of its own",
        "a write waits for a read of its bank",
        "a write waits for a read of its register",
        "a write waits for a write of its bank",
        "a write waits for its victim's bank",
        "demoted entries move",
        "the pool serves a read of a busy bank",
    ];
    assert_eq!(met.keys().copied().collect::<Vec<_>>(), all);
    assert!(met.values().all(|&times| times > 1_000) && reads > 500_000, "{reads} reads, {met:?}");
}

#[test]
fn the_designs_of_the_source_do_what_the_reference_does_and_lose_nothing() {
    let designs = [(1, false, 0), (3, false, 0), (3, true, 0), (3, false, 60), (3, true, 60)];
    for (seed, (write_cycles, split_bank_write, entries)) in (1000..).zip(designs.repeat(6)) {
        let config = ArbiterConfig {
            banks: 16,
            other_banks: 0,
            bank_ports: BankPorts::One,
            bank_layout: if seed % 3 == 0 { BankLayout::Linear } else { BankLayout::WarpSkewed },
            read_cycles: 1,
            write_cycles,
            split_bank_write,
            write_pool_entries: entries,
            write_pool_ports: [PoolPorts::OneReadOneWrite, PoolPorts::Any(1)][seed as usize % 2],
            registers_per_warp: 21,
        };
        run(seed, Some(config), 5_000);
    }
}
