//! The write pool in hardware beside the model: the same requests are decided in the same way, with
//! the values that were written; entries and their order are the same.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_hardware_is_the_model() {}

#[cfg(verilated)]
mod write_pool {
    mod compare;

    use strata_lockstep::write_pool::{Elaboration, SMALL, SMALLEST, SYNTHESISED, USUAL, WIDE};

    use compare::{Bench, Coverage, Traffic};

    /// Every kind of stream for pools of this many entries, with and without waits.
    fn traffic(index: u32, entries: u8, warps: u32) -> Traffic {
        let warps = 1 + index % warps;
        Traffic {
            warps,
            numbers: (u32::from(entries) * [3, 2, 6][index as usize % 3] / 2 / warps).max(2),
            stalls: [0, 30][index as usize / 2 % 2],
            moves: [15, 50, 0, 3][index as usize / 3 % 4],
        }
    }

    fn every_size<const POOL: usize, const LANES: usize>(
        elaboration: Elaboration,
        streams: u32,
        clocks: usize,
        batch: usize,
    ) -> Coverage {
        let sizes = 1..=elaboration.entries as u8;
        let mut bench = Bench::<POOL, LANES>::new(elaboration, 1);
        for (index, entries) in (0..streams).zip(sizes.cycle()) {
            bench.restart(entries, index.is_multiple_of(4));
            let traffic = traffic(index, entries, elaboration.warps as u32);
            bench.run(u64::from(index) + 1, traffic, clocks, batch);
        }
        bench.coverage
    }

    fn assert_everything_happened(coverage: &Coverage) {
        let Coverage { outcomes, held, overtaken, .. } = coverage;
        // Reads: bank, hit, partial hit. Writes: hit, allocation, replacement.
        let seen = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (1, 5), (2, 6), (2, 0), (3, 6), (3, 0)];
        for (op, outcome) in seen {
            assert!(outcomes[op][outcome] > 0, "op {op}, outcome {outcome}: {coverage:?}");
        }
        assert!(*held > 0 && overtaken.iter().all(|&times| times > 0), "{coverage:?}");
    }

    #[test]
    fn sixty_entries() {
        assert_everything_happened(&every_size::<60, 4>(USUAL, 60, 8_192, 128));
    }

    /// The hardware works the order of use out in every clock, which other simulations leave out.
    #[test]
    fn sixty_entries_as_synthesised() {
        let mut bench = Bench::<60, 4>::new(SYNTHESISED, 1);
        for (index, entries) in (0..).zip([60, 59, 33, 2, 1, 60]) {
            bench.restart(entries, index % 2 == 0);
            let traffic = traffic(index, entries, SYNTHESISED.warps as u32);
            bench.run(u64::from(index) + 1, traffic, 4_096, 128);
        }
        assert_everything_happened(&bench.coverage);
    }

    #[test]
    fn eight_entries() {
        assert_everything_happened(&every_size::<8, 4>(SMALL, 160, 4_096, 16));
    }

    #[test]
    fn two_entries_of_32_lanes() {
        assert_everything_happened(&every_size::<2, 32>(WIDE, 48, 4_096, 8));
    }

    #[test]
    fn one_entry_of_one_lane_of_one_warp() {
        let coverage = every_size::<1, 1>(SMALLEST, 24, 4_096, 8);
        let seen = [(0, 1), (0, 2), (1, 2), (1, 4), (1, 5), (2, 6), (2, 0), (3, 6), (3, 0)];
        assert!(seen.iter().all(|&(op, outcome)| coverage.outcomes[op][outcome] > 0));
    }

    #[test]
    fn without_entries_writes_pass_by() {
        let mut bench = Bench::<8, 4>::new(SMALL, 0);
        bench.run(7, traffic(2, 8, 8), 4_096, 64);
        let outcomes = &bench.coverage.outcomes;
        let seen = [(0, 1), (1, 1), (2, 0), (3, 0)];
        assert!(seen.iter().all(|&(op, outcome)| outcomes[op][outcome] > 0), "{outcomes:?}");
    }
}
