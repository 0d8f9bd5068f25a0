//! The hardware beside the model, clock by clock: the same requests under the same back-pressure
//! give the same responses, the same state, and the values that a program would see.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_hardware_is_the_model() {}

#[cfg(verilated)]
mod register_file_cache {
    mod compare;
    mod stream;

    use strata_core::prototype::cache_block::CacheSettings;
    use strata_core::register_file_cache::Replacement;
    use strata_lockstep::register_file_cache::{LARGEST, SMALLEST, USUAL, WIDE};

    use compare::Bench;
    use stream::Traffic;

    /// Clocks of each stream.
    const CLOCKS: usize = 8_192;

    fn configs(entries: u8) -> impl Iterator<Item = CacheSettings> {
        let policies = [Replacement::Fifo, Replacement::Lru];
        policies.into_iter().flat_map(move |replacement| {
            [false, true].map(|liveness| CacheSettings { entries, replacement, liveness })
        })
    }

    #[test]
    fn every_size_policy_and_number_of_warps() {
        for entries in 1..=13 {
            for (index, config) in configs(entries).enumerate() {
                let mut bench = Bench::<8, 13>::new(LARGEST, config);
                let warps = 1 + (usize::from(entries) + index * 3) % 8;
                let seed = u64::from(entries) * 100 + index as u64;
                bench.run(seed, Traffic { warps, stalls: index % 2 == 1 }, CLOCKS);
            }
        }
    }

    #[test]
    fn the_usual_size_with_every_number_of_warps() {
        for warps in 1..=8 {
            for (index, config) in configs(6).enumerate() {
                let mut bench = Bench::<8, 6>::new(USUAL, config);
                let seed = 10_000 + (warps * 10 + index) as u64;
                bench.run(seed, Traffic { warps, stalls: index % 2 == 0 }, CLOCKS);
            }
        }
    }

    #[test]
    fn whole_warps_of_32_lanes() {
        for config in (1..=3).flat_map(configs) {
            let mut bench = Bench::<2, 3>::new(WIDE, config);
            bench.run(20_000, Traffic { warps: 2, stalls: true }, CLOCKS);
        }
    }

    #[test]
    fn one_entry_of_one_lane_of_one_warp() {
        for config in configs(1) {
            let mut bench = Bench::<1, 1>::new(SMALLEST, config);
            bench.run(30_000, Traffic { warps: 1, stalls: true }, CLOCKS);
        }
    }

    #[test]
    fn a_reset_empties_every_cache() {
        for config in configs(6) {
            let mut bench = Bench::<8, 6>::new(USUAL, config);
            bench.run(40_000, Traffic { warps: 8, stalls: true }, 999);
            bench.reset();
            bench.run(40_001, Traffic { warps: 8, stalls: true }, 999);
        }
    }
}
