//! The main register file in hardware beside the model, clock by clock: the same requests are taken
//! and answered in the same clocks, with the same outcomes and with the values that were written;
//! write pool and banks are in the same state.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_hardware_is_the_model() {}

#[cfg(verilated)]
mod main_register_file {
    mod compare;
    mod stream;

    use strata_core::prototype::main_register_file::MainAccess;
    use strata_core::prototype::outcome::MainOutcome;
    use strata_lockstep::main_register_file::{SMALL, Settings as Configuration, USUAL, WIDE};

    use compare::{Bench, Coverage};
    use stream::Traffic;

    /// Registers that make most accesses meet in the pool.
    fn traffic(index: u8, entries: u8, warps: u8) -> Traffic {
        let warps = 1 + index % warps;
        let hot = (u32::from(entries) * [3, 2, 5][usize::from(index % 3)] / 2) / u32::from(warps);
        Traffic {
            warps,
            hot: hot.clamp(6, 120) as u8,
            stride: [1, 1, 16, 3][usize::from(index % 4)],
            idle: [0, 0, 30][usize::from(index / 2 % 3)],
            moves: [20, 60, 0, 5][usize::from(index / 3 % 4)],
        }
    }

    fn configuration(index: u8, pool_entries: u8, registers: u8) -> Configuration {
        let write_cycles = [1, 3, 2, 15, 6][usize::from(index % 5)];
        Configuration { pool_entries, split: index / 4 % 2 == 1, write_cycles, registers }
    }

    /// Asserts that accesses have had these outcomes.
    fn assert_outcomes(coverage: &Coverage, seen: &[(MainAccess, MainOutcome)]) {
        for &(access, outcome) in seen {
            let times = coverage.outcomes[access as usize][outcome as usize];
            assert!(times > 0, "{access:?} never was {outcome:?}: {coverage:?}");
        }
    }

    fn assert_everything_happened(coverage: &Coverage) {
        use MainAccess::{Demote, Drop, Nothing, Read, Write};
        assert_outcomes(
            coverage,
            &[
                (Read, MainOutcome::Bank),
                (Read, MainOutcome::PoolHit),
                (Read, MainOutcome::PoolPartialHit),
                (Write, MainOutcome::PoolHit),
                (Write, MainOutcome::PoolAllocation),
                (Write, MainOutcome::PoolReplacement),
                (Demote, MainOutcome::PoolMoved),
                (Demote, MainOutcome::Nothing),
                (Drop, MainOutcome::PoolMoved),
                (Nothing, MainOutcome::Nothing),
            ],
        );
        let Coverage { waited, beside_write, overtaken, .. } = coverage;
        assert!(waited.iter().chain(overtaken).all(|&times| times > 0), "{coverage:?}");
        let rare = [*beside_write, coverage.replaced_before, coverage.dropped_before];
        assert!(rare.iter().all(|&times| times > 0), "{coverage:?}");
        assert!(coverage.held_up > 0, "{coverage:?}");
    }

    #[test]
    fn pools_of_1_to_60_entries() {
        let mut bench = Bench::<60, 4>::new(USUAL, configuration(0, 60, 128));
        for (index, entries) in (1..=60).enumerate() {
            let index = index as u8;
            bench.restart(configuration(index, entries, 128), index.is_multiple_of(4));
            bench.run(u64::from(entries), traffic(index, entries, 8), 8_192, 256);
        }
        assert_everything_happened(&bench.coverage);
    }

    #[test]
    fn pools_of_1_to_8_entries() {
        let mut bench = Bench::<8, 4>::new(SMALL, configuration(0, 8, 128));
        for (index, entries) in (1..=8).cycle().take(120).enumerate() {
            let index = index as u8;
            let registers = [128, 16, 100, 61][usize::from(index / 8 % 4)];
            bench.restart(configuration(index, entries, registers), index.is_multiple_of(4));
            let seed = 1_000 + u64::from(index);
            bench.run(seed, traffic(index, entries, 8), 4_096, 16);
        }
        assert_everything_happened(&bench.coverage);
    }

    #[test]
    fn without_a_pool() {
        let mut bench = Bench::<60, 4>::new(USUAL, configuration(0, 0, 128));
        for index in 0..20 {
            bench.restart(configuration(index, 0, 128), false);
            bench.run(2_000 + u64::from(index), traffic(index, 20, 8), 4_096, 256);
        }
        let coverage = &bench.coverage;
        let seen = [
            (MainAccess::Read, MainOutcome::Bank),
            (MainAccess::Write, MainOutcome::Bank),
            (MainAccess::Demote, MainOutcome::Nothing),
            (MainAccess::Drop, MainOutcome::Nothing),
        ];
        assert_outcomes(coverage, &seen);
        assert!(coverage.waited.iter().all(|&times| times > 0) && coverage.beside_write > 0);
    }

    #[test]
    fn whole_warps_of_32_lanes() {
        let mut bench = Bench::<2, 32>::new(WIDE, configuration(0, 2, 255));
        for index in 0..30 {
            let entries = 1 + index % 2;
            bench.restart(configuration(index, entries, 255), index.is_multiple_of(4));
            bench.run(3_000 + u64::from(index), traffic(index, 4, 4), 4_096, 32);
        }
        assert_everything_happened(&bench.coverage);
    }
}
