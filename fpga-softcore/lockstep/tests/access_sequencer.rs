//! The whole hierarchy in hardware beside its model: the same commands give the same outcomes in
//! the same clocks, the same state and counters, and the values that a program would see.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_hardware_is_the_model() {}

#[cfg(verilated)]
mod access_sequencer {
    mod bench;
    mod shadow;
    mod shrinking;
    mod stream;
    mod workloads;

    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use strata_core::prototype::cache_block::CacheSettings;
    use strata_core::prototype::outcome::Outcome;
    use strata_core::prototype::sequencer::Prototype;
    use strata_core::prototype::settings::Settings;
    use strata_core::register_file_cache::Replacement;
    use strata_lockstep::access_sequencer::{Elaboration, LARGEST, SMALLEST, USUAL, WIDE};
    use strata_lockstep::random::Random;

    use bench::Bench;
    use stream::{Mix, Stream};

    /// Commands of a long stream.
    const COMMANDS: usize = 16_384;

    /// Settings with this many entries; all else differs from seed to seed.
    fn settings(random: &mut Random, cache: u8, pool: u8, warps: usize) -> Settings {
        let replacement = if random.chance(50) { Replacement::Lru } else { Replacement::Fifo };
        let liveness = random.chance(50);
        let limit = (1_024 / warps as u32).min(255);
        Settings {
            cache: (cache > 0).then_some(CacheSettings { entries: cache, replacement, liveness }),
            write_pool_entries: pool,
            split_bank_write: random.chance(50),
            write_cycles: if random.chance(10) { 15 } else { 1 + random.below(4) as u8 },
            registers_per_warp: (32 + random.below(limit - 31)) as u8,
        }
    }

    /// Runs a long stream of batches.
    fn run<const WARPS: usize, const CAPACITY: usize, const POOL: usize>(
        elaboration: Elaboration,
        seed: u64,
        (cache, pool): (u8, u8),
        warps: u32,
    ) {
        let mut random = Random(seed);
        let settings = settings(&mut random, cache, pool, WARPS);
        let mut bench = Bench::<WARPS, CAPACITY, POOL>::new(elaboration, settings);
        let mix = Mix::any(&mut random, warps, settings, elaboration.lanes);
        let mut stream = Stream::new(random, mix);
        let mut left = COMMANDS;
        while left > 0 {
            // Mostly long batches, and every short one.
            let length = [1 + stream.random.below(16), 128, 4_096][stream.random.below(3) as usize];
            let length = left.min(length as usize);
            left -= length;
            let commands = stream.batch(length);
            if let Err(difference) = bench.run(&commands) {
                panic!("seed {seed}, {settings:?}, {mix:?}: {difference}");
            }
        }
        bench.compare_counters().unwrap();
    }

    /// This thread's processor time, or the time of day where the system does not say.
    fn now() -> Duration {
        let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanoseconds = said.split(' ').next().and_then(|it| it.parse().ok());
        let of_day = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        nanoseconds.map_or_else(of_day, Duration::from_nanos)
    }

    /// Says how fast long batches are.
    fn rate<const WARPS: usize, const CAPACITY: usize, const POOL: usize>(
        elaboration: Elaboration,
        (cache, pool): (u8, u8),
    ) {
        const ROUNDS: u32 = 8;
        let accesses = 1 << 17;
        let mut random = Random(50_000);
        let settings = settings(&mut random, cache, pool, WARPS);
        let mix = Mix::any(&mut random, WARPS as u32, settings, elaboration.lanes);
        let mut stream = Stream::new(random, mix);
        let batches: Vec<_> = (0..accesses / 4_096).map(|_| stream.batch(4_096)).collect();
        let mut bench = Bench::<WARPS, CAPACITY, POOL>::new(elaboration, settings);
        let start = now();
        for commands in &batches {
            bench.run(commands).unwrap();
        }
        let both = now().saturating_sub(start);
        bench.compare_counters().unwrap();
        let mut model = Prototype::<WARPS, CAPACITY, POOL>::new(settings).unwrap();
        let mut outcomes = vec![Outcome::default(); 4_096];
        let start = now();
        // Often enough for a clock of milliseconds.
        for _ in 0..ROUNDS {
            model = Prototype::new(settings).unwrap();
            for commands in &batches {
                model.run(commands, &mut outcomes);
            }
        }
        let alone = now().saturating_sub(start) / ROUNDS;
        assert_eq!(model.counters(), bench.model().counters());
        let rate = |time: Duration| f64::from(accesses) / time.as_secs_f64() / 1e6;
        println!(
            "cache of {cache}, pool of {pool}, in hardware for {CAPACITY} and {POOL}: {:.2} million \
             accesses a second in lock-step, {:.1} of the model alone",
            rate(both),
            rate(alone)
        );
    }

    /// `cargo test -p strata-lockstep --test access_sequencer rates -- --nocapture` says how fast it
    /// is.
    #[test]
    fn rates_of_long_batches() {
        rate::<8, 6, 24>(USUAL, (6, 0));
        rate::<8, 6, 24>(USUAL, (0, 24));
        rate::<8, 6, 24>(USUAL, (6, 24));
        for sizes in [(6, 0), (0, 60), (6, 60)] {
            rate::<8, 13, 60>(LARGEST, sizes);
        }
    }

    #[test]
    fn every_cache_with_and_without_a_pool() {
        for cache in 0..=13 {
            for pool in [0, 1 + cache * 4] {
                let seed = u64::from(cache) * 100 + u64::from(pool);
                let warps = 1 + u32::from(cache + pool) % 8;
                run::<8, 13, 60>(LARGEST, seed, (cache, pool), warps);
            }
        }
    }

    #[test]
    fn every_pool_with_every_number_of_warps() {
        for pool in 1..=60 {
            let seed = 10_000 + u64::from(pool);
            let cache = [0, 6][usize::from(pool % 2)];
            run::<8, 13, 60>(LARGEST, seed, (cache, pool), 1 + u32::from(pool) % 8);
        }
    }

    #[test]
    fn the_usual_size() {
        for seed in 0..12_u8 {
            let seed_of_all = 20_000 + u64::from(seed);
            run::<8, 6, 24>(USUAL, seed_of_all, (seed % 7, seed * 2), 8);
        }
    }

    #[test]
    fn as_little_as_can_be() {
        for seed in 0..8_u8 {
            let seed_of_all = 30_000 + u64::from(seed);
            run::<3, 1, 1>(SMALLEST, seed_of_all, (seed & 1, seed >> 1 & 1), 3);
        }
    }

    #[test]
    fn whole_warps_of_32_lanes() {
        for seed in 0..6_u8 {
            let seed_of_all = 40_000 + u64::from(seed);
            run::<4, 3, 5>(WIDE, seed_of_all, (seed % 4, 5 - seed), 4);
        }
    }
}
