//! Partitions: the papers' cases by hand, and random ones against a search.

#[expect(dead_code, reason = "nothing here looks at lanes")]
mod random;

use random::Random;
use strata_core::sm::config::{CtaTooLarge, Launch, Limit};
use strata_core::sm::partition::{
    Areas, BANKS, CACHE_STEP, CacheRule, CacheSizes, DISABLED_STEP, Division, Limits, Needs,
    Partition, Region, tag_bits, tag_bytes,
};

const KB: u64 = 1024;

/// A CTA of one warp with so many registers and bytes of shared memory for each thread.
const fn warp(registers: u16, shared_eighths_of_a_byte: u32) -> Needs {
    Needs { threads_per_cta: 32, registers, shared_bytes: shared_eighths_of_a_byte * 32 / 8 }
}

/// `needle`: two tiles of words, of which one has a border; a thread for each row.
const fn needle(blocking_factor: u32) -> Needs {
    let (own, bordered) = (blocking_factor, blocking_factor + 1);
    let shared_bytes = 4 * (own * own + bordered * bordered);
    Needs { threads_per_cta: blocking_factor, registers: 18, shared_bytes }
}

fn partition(division: Division, needs: Needs) -> Result<Partition, CtaTooLarge> {
    division.partition(&needs, &Limits::MICRO12)
}

/// Bytes of registers, shared memory and cache, unused and disabled.
fn sizes(partition: &Partition) -> [u64; 5] {
    let [registers, shared, cache] =
        [partition.registers(), partition.shared(), partition.cache()].map(|region| region.bytes);
    [registers, shared, cache, partition.unused_bytes(), partition.disabled_bytes()]
}

fn ctas_and_threads(partition: &Partition) -> (u32, u32) {
    (partition.ctas(), partition.threads())
}

/// The eight workloads of `[MICRO2012]` Figure 9 by Table 1: registers of a thread, shared memory
/// of a thread in eighths of a byte; then, for 1024 threads, KB of registers and of shared memory,
/// the cache that is left by multiples of 2 KB, and by powers of two.
const FIGURE_9: [(&str, Needs, u64, u64, u64, u64); 8] = [
    ("needle", needle(32), 72 * KB, 264 * KB + 128, 46, 32),
    ("dgemm", warp(57, 532), 228 * KB, 66 * KB + 512, 88, 64),
    ("bfs", warp(9, 0), 36 * KB, 0, 348, 256),
    ("lu", warp(20, 768), 80 * KB, 96 * KB, 208, 128),
    ("pcr", warp(33, 160), 132 * KB, 20 * KB, 232, 128),
    ("ray", warp(42, 0), 168 * KB, 0, 216, 128),
    ("gpu-mummer", warp(21, 0), 84 * KB, 0, 300, 256),
    ("srad", warp(18, 192), 72 * KB, 24 * KB, 288, 256),
];

#[test]
fn unified_storage_of_384_kb() {
    for (name, needs, registers, shared, multiple, power) in FIGURE_9 {
        for (division, cache) in [
            (Division::micro12_unified(384), multiple),
            (Division::dissertation_unified(384), power),
        ] {
            let partition = partition(division, needs).expect(name);
            let unused = 384 * KB - registers - shared - cache * KB;
            assert_eq!(sizes(&partition), [registers, shared, cache * KB, unused, 0], "{name}");
            assert_eq!(ctas_and_threads(&partition), (32, 1024), "{name}");
            assert_eq!((partition.rule_threads(), partition.limit()), (1024, Limit::Warps));
        }
    }
}

/// `[MICRO2012]` Table 1's registers and shared memory, in smaller storages.
#[test]
fn threads_of_smaller_unified_storages() {
    for (kilobytes, needs, rule, used) in [
        (256, needle(32), 779, 768),
        (256, warp(57, 532), 890, 864),
        (256, warp(33, 1016), 1012, 992),
        (128, needle(32), 389, 384),
        (128, warp(57, 532), 445, 416),
        (128, warp(33, 1016), 506, 480),
        (128, warp(20, 768), 744, 736),
        (128, warp(33, 160), 862, 832),
        (128, warp(42, 0), 780, 768),
    ] {
        let partition = partition(Division::micro12_unified(kilobytes), needs).expect("it fits");
        assert_eq!((partition.rule_threads(), partition.threads()), (rule, used), "{needs:?}");
        assert_eq!(partition.limit(), Limit::UnifiedStorage);
        let (used, cache) = (sizes(&partition)[0] + sizes(&partition)[1], partition.cache().bytes);
        let left = u64::from(kilobytes) * KB - used - cache - partition.unused_bytes();
        assert_eq!(left, 0);
    }
}

#[test]
fn the_searched_configurations_of_the_dissertation_fit() {
    // Table 7.2: registers of a thread, threads; shared memory of a thread by `[MICRO2012]` Table
    // 1, `needle` with a blocking factor of 64; the largest power of two that is left.
    for (needs, threads, cache) in [
        (warp(32, 0), 1024, 256),
        (warp(32, 0), 864, 256),
        (warp(64, 532), 1024, 32),
        (Needs { registers: 24, ..needle(64) }, 576, 32),
        (warp(40, 160), 640, 256),
        (warp(32, 96), 992, 128),
    ] {
        let limits = Limits { threads, ..Limits::MICRO12 };
        let division = Division::dissertation_unified(384);
        let partition = division.partition(&needs, &limits).expect("it fits");
        assert_eq!((partition.threads(), partition.cache().bytes), (threads, cache * KB));
    }
}

#[test]
fn needle_in_areas_of_fixed_sizes() {
    let [wide, narrow] = Division::MICRO12_LIMITED;
    let [fermi_narrow, fermi_wide] = Division::DISSERTATION_LIMITED;
    // Shared memory of 64, 96, 32, 48 and 16 KB. The 32 warps of the SM would be 32 CTAs.
    let divisions = [Division::BASELINE, wide, narrow, fermi_wide, fermi_narrow];
    let unlimited = Limits { warps: 64, ..Limits::MICRO12 };
    for (factor, expected) in
        [(16, [30, 45, 15, 22, 7]), (32, [7, 11, 3, 5, 1]), (64, [1, 2, 0, 1, 0])]
    {
        for (division, expected) in divisions.iter().zip(expected) {
            let ctas = division.partition(&needle(factor), &unlimited);
            let ctas = ctas.map_or(0, |partition| {
                assert_eq!(partition.limit(), Limit::SharedMemory);
                assert_eq!(partition.threads(), partition.ctas() * factor);
                partition.ctas()
            });
            assert_eq!(ctas, expected, "{division:?}, {factor}");
        }
    }
    let of_64_kb = |factor| partition(Division::BASELINE, needle(factor)).expect("it fits");
    assert_eq!(
        [16, 32, 64].map(|factor| ctas_and_threads(&of_64_kb(factor))),
        [(30, 480), (7, 224), (1, 64)]
    );
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let too_large = |limit, needed, available| CtaTooLarge { limit, needed, available };
    let refused = |division, needs| partition(division, needs).expect_err("it does not fit");
    let [_, narrow] = Division::MICRO12_LIMITED;
    let error = refused(narrow, needle(64));
    assert_eq!(error, too_large(Limit::SharedMemory, 33_284, 32_768));
    assert_eq!(error.to_string(), "a CTA needs 33284 bytes of shared memory, but an SM has 32768");
    assert_eq!(
        refused(Division::DISSERTATION_LIMITED[0], needle(64)),
        too_large(Limit::SharedMemory, 33_284, 16_384)
    );
    // Two warps of 72 bytes a thread and 33,284 bytes.
    let error = refused(Division::micro12_unified(36), needle(64));
    assert_eq!(error, too_large(Limit::UnifiedStorage, 37_892, 36_864));
    assert_eq!(
        error.to_string(),
        "a CTA needs 37892 bytes of unified storage, but an SM has 36864"
    );
    let large = Needs { threads_per_cta: 1024, registers: 65, shared_bytes: 0 };
    assert_eq!(refused(Division::BASELINE, large), too_large(Limit::Registers, 266_240, 262_144));
    let warps = Needs { threads_per_cta: 1025, registers: 1, shared_bytes: 0 };
    assert_eq!(refused(Division::BASELINE, warps), too_large(Limit::Warps, 33, 32));
    let limits = Limits { threads: 100, warps: 4, ctas: None };
    let threads = Needs { threads_per_cta: 128, registers: 1, shared_bytes: 0 };
    let error = Division::BASELINE.partition(&threads, &limits).expect_err("128 are too many");
    assert_eq!(error, too_large(Limit::Threads, 128, 100));
    assert_eq!(error.to_string(), "a CTA needs 128 threads, but an SM has 100");
    let none = Limits { ctas: Some(0), ..limits };
    let error = Division::BASELINE.partition(&warp(1, 0), &none).expect_err("no place");
    assert_eq!(error.to_string(), "a CTA needs 1 places for CTAs, but an SM has 0");
}

#[test]
fn the_dissertations_fixed_designs() {
    let kilobytes = Areas::DISSERTATION.map(|areas| {
        let partition = partition(Division::Partitioned(areas), warp(9, 0)).expect("it fits");
        let capacity = Division::Partitioned(areas).capacity();
        assert_eq!(
            partition.cache(),
            Region { start: capacity - u64::from(areas.cache), bytes: areas.cache.into() }
        );
        assert_eq!(partition.unused_bytes(), capacity - u64::from(areas.cache) - 36 * KB);
        assert_eq!(partition.disabled_bytes(), 0);
        capacity / KB
    });
    assert_eq!(kilobytes, [192, 256, 384, 768, 1536]);
    assert_eq!(Division::BASELINE.register_bank_bytes(), 8192);
    let banks = [128, 256, 384, 512].map(|kb| Division::micro12_unified(kb).register_bank_bytes());
    assert_eq!(banks, [4096, 8192, 12_288, 16_384]);
    let limited = [Division::MICRO12_LIMITED, Division::DISSERTATION_LIMITED];
    assert_eq!(limited.map(|both| both.map(|one| one.capacity() / KB)), [[384; 2], [320; 2]]);
}

#[test]
fn a_warp_with_idle_lanes_has_all_its_registers() {
    // 32 warps of 16 threads each: half of the threads of 32 full ones, the same registers.
    let partition = partition(Division::micro12_unified(384), needle(16)).expect("it fits");
    assert_eq!(ctas_and_threads(&partition), (32, 512));
    assert_eq!(sizes(&partition), [72 * KB, 32 * 2180, 242 * KB, 1920, 0]);
    assert_eq!((partition.rule_threads(), partition.limit()), (1024, Limit::Warps));
    let residency = partition.residency();
    assert_eq!((residency.ctas, residency.warps, residency.empty_registers), (32, 32, 0));
    // With room for 64 warps, 64 CTAs have 1024 threads.
    let division = Division::micro12_unified(384);
    let limits = Limits { warps: 64, ..Limits::MICRO12 };
    let partition = division.partition(&needle(16), &limits).expect("it fits");
    assert_eq!((partition.ctas(), partition.threads()), (64, 1024));
    assert_eq!(partition.registers().bytes, 144 * KB);
    assert_eq!(
        needle(64).launch(),
        Launch { warps_per_cta: 2, registers: 18, shared_bytes: 33_284 }
    );
}

#[test]
fn a_limit_of_ctas_takes_threads_from_needle() {
    let limits = Limits { ctas: Some(8), ..Limits::MICRO12 };
    let threads = |needs: Needs, limits: &Limits| {
        let partition = Division::micro12_unified(384).partition(&needs, limits).expect("it fits");
        (partition.threads(), partition.limit())
    };
    let both =
        |factor| [threads(needle(factor), &limits), threads(needle(factor), &Limits::MICRO12)];
    assert_eq!(both(16), [(128, Limit::Ctas), (512, Limit::Warps)]);
    assert_eq!(both(32), [(256, Limit::Ctas), (1024, Limit::Warps)]);
    assert_eq!(both(64), [(512, Limit::Ctas), (640, Limit::UnifiedStorage)]);
}

fn with_rule(kilobytes: u32, rule: CacheRule) -> Division {
    Division::Unified { bytes: kilobytes * 1024, cache: rule }
}

#[test]
fn a_cache_has_at_most_the_size_that_there_are_tags_for() {
    let rule =
        CacheRule { sizes: CacheSizes::Multiples, most: Some(256 * 1024), disable_unused: false };
    let sizes_with = |rule, needs| sizes(&partition(with_rule(384, rule), needs).expect("it fits"));
    assert_eq!(sizes_with(rule, warp(9, 0)), [36 * KB, 0, 256 * KB, 92 * KB, 0]);
    // What is left is less than there are tags for.
    assert_eq!(sizes_with(rule, warp(33, 160))[2..], [232 * KB, 0, 0]);
    // 92 KB are twice 32 KB and 28 KB that stay on.
    let off = CacheRule { disable_unused: true, ..rule };
    assert_eq!(sizes_with(off, warp(9, 0)), [36 * KB, 0, 256 * KB, 92 * KB, 64 * KB]);
    // Without a cache all that is left can be switched off.
    let none = CacheRule { most: Some(0), ..off };
    assert_eq!(sizes_with(none, warp(9, 0)), [36 * KB, 0, 0, 348 * KB, 320 * KB]);
    // A maximum that is no size of a cache is rounded down.
    let odd = CacheRule { most: Some(100_000), ..rule };
    assert_eq!(sizes_with(odd, warp(9, 0))[2], 96 * KB);
    let odd = CacheRule { sizes: CacheSizes::PowersOfTwo, ..odd };
    assert_eq!(sizes_with(odd, warp(9, 0))[2], 64 * KB);
}

#[test]
fn tags_by_their_width() {
    // 64 KB with its own 18 bits; up to 256 and 384 KB with the 19 bits that 32 KB need.
    assert_eq!(tag_bytes(64 * 1024, tag_bits(64 * 1024)), 1152);
    let smallest = tag_bits(32 * 1024);
    assert_eq!([256, 384].map(|kb| tag_bytes(kb * 1024, smallest)), [4864, 7296]);
    let own = [32, 46, 64, 256, 384].map(|kb| tag_bits(kb * 1024));
    assert_eq!(own, [19, 19, 18, 16, 16]);
    // 25 bits of a line's number, all of them tag where there is one set.
    assert_eq!([0, 512, 1024, 1536].map(tag_bits), [25, 25, 24, 24]);
    assert_eq!(tag_bytes(128, 19), 3);
}

fn some_division(random: &mut Random) -> Division {
    if random.chance(30) {
        let mut area = || random.below(600) * 1024;
        return Division::Partitioned(Areas { registers: area(), shared: area(), cache: area() });
    }
    let sizes = CacheSizes::ALL[random.below(2) as usize];
    let most = random.chance(40).then(|| random.below(400_000));
    let bytes = if random.chance(50) { random.below(600) * 1024 } else { random.below(600_000) };
    let disable_unused = random.chance(50);
    Division::Unified { bytes, cache: CacheRule { sizes, most, disable_unused } }
}

fn some_needs(random: &mut Random) -> (Needs, Limits) {
    let threads = if random.chance(50) { 100 } else { 1100 };
    let needs = Needs {
        threads_per_cta: 1 + random.below(threads),
        registers: random.below(80) as u16,
        shared_bytes: if random.chance(30) { 0 } else { random.below(40_000) },
    };
    let ctas = random.chance(40).then(|| random.below(20));
    let limits = Limits { threads: random.below(1600), warps: random.below(64), ctas };
    (needs, limits)
}

/// What keeps so many CTAs from fitting, if anything does: from the text of the rule, not from
/// divisions.
fn exceeds(division: &Division, needs: &Needs, limits: &Limits, ctas: u64) -> Vec<Limit> {
    let warps = u64::from(needs.threads_per_cta).div_ceil(32);
    let registers = ctas * warps * 32 * 4 * u64::from(needs.registers);
    let shared = ctas * u64::from(needs.shared_bytes);
    let mut exceeded = Vec::new();
    let mut at_most = |limit, needed, available: u32| {
        if needed > u64::from(available) {
            exceeded.push(limit);
        }
    };
    at_most(Limit::Warps, ctas * warps, limits.warps);
    at_most(Limit::Ctas, ctas, limits.ctas.unwrap_or(u32::MAX));
    match *division {
        Division::Partitioned(areas) => {
            at_most(Limit::Registers, registers, areas.registers);
            at_most(Limit::SharedMemory, shared, areas.shared);
        }
        Division::Unified { bytes, .. } => {
            at_most(Limit::UnifiedStorage, registers + shared, bytes);
        }
    }
    at_most(Limit::Threads, ctas * u64::from(needs.threads_per_cta), limits.threads);
    exceeded
}

/// Whether so many threads, of which each takes its part of a CTA's shared memory, need no more than
/// the storage has.
fn fit_by_thread(division: &Division, needs: &Needs, threads: u64) -> bool {
    let of_cta = u64::from(needs.threads_per_cta);
    let registers = threads * of_cta * 4 * u64::from(needs.registers);
    let shared = threads * u64::from(needs.shared_bytes);
    let has = |bytes: u32| u64::from(bytes) * of_cta;
    match *division {
        Division::Partitioned(areas) => {
            registers <= has(areas.registers) && shared <= has(areas.shared)
        }
        Division::Unified { bytes, .. } => registers + shared <= has(bytes),
    }
}

/// The largest size of a cache within so many bytes, by trying all of them.
fn largest_cache(rule: &CacheRule, left: u64) -> u64 {
    let most = rule.most.map_or(left, |most| left.min(most.into()));
    let allowed = |bytes: &u64| match rule.sizes {
        CacheSizes::Multiples => true,
        CacheSizes::PowersOfTwo => bytes.is_power_of_two(),
    };
    let step = CACHE_STEP as usize;
    (0..=most).step_by(step).filter(|bytes| *bytes == 0 || allowed(bytes)).last().unwrap_or(0)
}

#[test]
fn random_partitions_are_what_a_search_finds() {
    let mut random = Random(0x5eed);
    let (mut fitted, mut refused) = (0, 0);
    let mut limits_seen = std::collections::BTreeSet::new();
    for case in 0..20_000 {
        let division = some_division(&mut random);
        let (needs, limits) = some_needs(&mut random);
        let at = format!("case {case}: {division:?}, {needs:?}, {limits:?}");
        let found = division.partition(&needs, &limits);
        assert_eq!(found, division.partition(&needs, &limits), "{at}");
        let exceeds = |ctas| exceeds(&division, &needs, &limits, ctas);
        let fitting = (1..=u64::from(limits.threads)).take_while(|&ctas| exceeds(ctas).is_empty());
        let ctas = fitting.count() as u64;
        let partition = match found {
            Err(error) => {
                // The error names the first of the limits that one CTA exceeds.
                assert_eq!((ctas, exceeds(1)[0]), (0, error.limit), "{at}");
                assert!(error.needed > error.available, "{at}");
                refused += 1;
                continue;
            }
            Ok(partition) => partition,
        };
        fitted += 1;
        assert_eq!(u64::from(partition.ctas()), ctas, "{at}");
        assert_eq!(partition.threads(), partition.ctas() * needs.threads_per_cta, "{at}");
        let fitting = (1..=limits.threads)
            .take_while(|&threads| fit_by_thread(&division, &needs, threads.into()));
        assert_eq!(partition.rule_threads() as usize, fitting.count(), "{at}");
        assert!(partition.threads() <= partition.rule_threads(), "{at}");
        assert_eq!(partition.limit(), exceeds(ctas + 1)[0], "{at}");
        limits_seen.insert(partition.limit());
        let residency = partition.residency();
        assert_eq!(residency.warps, residency.ctas * needs.threads_per_cta.div_ceil(32), "{at}");

        let [registers, shared, cache, unused, disabled] = sizes(&partition);
        assert_eq!(registers + shared + cache + unused, division.capacity(), "{at}");
        assert_eq!(
            registers,
            u64::from(residency.warps) * 128 * u64::from(needs.registers),
            "{at}"
        );
        assert_eq!(shared, ctas * u64::from(needs.shared_bytes), "{at}");
        match &division {
            Division::Partitioned(areas) => {
                assert_eq!((cache, disabled), (areas.cache.into(), 0), "{at}");
            }
            Division::Unified { cache: rule, bytes } => {
                let left = u64::from(*bytes) - registers - shared;
                assert_eq!(cache, largest_cache(rule, left), "{at}");
                let steps =
                    (0..).take_while(|steps| (steps + 1) * u64::from(DISABLED_STEP) <= unused);
                let off = if rule.disable_unused { 32 * KB * steps.count() as u64 } else { 0 };
                assert_eq!(disabled, off, "{at}");
            }
        }
        let mut regions = [partition.registers(), partition.shared(), partition.cache()];
        regions.sort_by_key(|region| (region.start, region.end()));
        for pair in regions.windows(2) {
            assert!(pair[0].end() <= pair[1].start, "{at}: {regions:?}");
        }
        assert!(regions[2].end() <= division.capacity(), "{at}: {regions:?}");
        if let Division::Unified { .. } = division {
            // The cache begins at the banks' first row, registers and shared memory with a line.
            assert_eq!(partition.cache().start % u64::from(16 * BANKS), 0, "{at}");
            let starts = [partition.registers().start, partition.shared().start];
            assert_eq!(starts.map(|start| start % 128), [0, 0], "{at}");
        }
    }
    assert!(fitted > 5_000 && refused > 2_000, "{fitted} fit, {refused} do not");
    assert_eq!(limits_seen.len(), Limit::ALL.len(), "{limits_seen:?}");
}

#[test]
fn kernels_of_an_application_share_a_partition() {
    let unified = Division::micro12_unified(384);
    let limits = &Limits::MICRO12;
    // `needle` fills its borders in CTAs of 64 threads without shared memory.
    let border = Needs { threads_per_cta: 64, registers: 7, shared_bytes: 0 };
    let alone = unified.partition(&needle(32), limits).expect("it fits");
    assert_eq!(unified.partition_for(&[border, needle(32)], limits), Ok(alone));
    // The most registers and the most shared memory are of two kernels.
    let [registers, shared] = [warp(60, 0), warp(9, 8 * 96)];
    let both = unified.partition_for(&[registers, shared], limits).expect("they fit");
    assert_eq!(sizes(&both), [240 * KB, 96 * KB, 48 * KB, 0, 0]);
    // Together they are too large for as many threads: a warp of each has 7,680 + 5,760 bytes.
    let shared = warp(9, 8 * 180);
    let both = unified.partition_for(&[registers, shared], limits).expect("they fit");
    assert_eq!(sizes(&both)[..2], [29 * 7680, 29 * 5760]);
    assert_eq!(ctas_and_threads(&both), (29, 928));
    // Each fits alone, but not beside the other.
    let large = |registers, shared_bytes| Needs { threads_per_cta: 1024, registers, shared_bytes };
    let error = unified.partition_for(&[large(64, 0), large(1, 256 * 1024)], limits);
    let (limit, available) = (Limit::UnifiedStorage, 384 * KB);
    assert_eq!(error, Err(CtaTooLarge { limit, needed: 512 * KB, available }));
    let none = CtaTooLarge { limit: Limit::Ctas, needed: 1, available: 0 };
    assert_eq!(unified.partition_for(&[], limits), Err(none));
}

#[test]
fn random_applications_have_room_for_each_of_their_kernels() {
    let mut random = Random(0x5eed_0088);
    let (mut shared_out, mut refused) = (0, 0);
    for turn in 0..4_000 {
        let division = some_division(&mut random);
        let (first, limits) = some_needs(&mut random);
        let kernels = [first, some_needs(&mut random).0, some_needs(&mut random).0];
        let alone = kernels.map(|needs| division.partition(&needs, &limits));
        assert_eq!(division.partition_for(&kernels[..1], &limits), alone[0], "turn {turn}");
        let Ok(all) = division.partition_for(&kernels, &limits) else {
            refused += 1;
            continue;
        };
        let used = sizes(&all)[..4].iter().sum::<u64>();
        assert_eq!(used, division.capacity(), "turn {turn}");
        for (needs, alone) in kernels.iter().zip(alone) {
            let alone = alone.expect("what fits with others fits alone");
            let launch = needs.launch();
            let of_cta = u64::from(launch.warps_per_cta) * 128 * u64::from(launch.registers);
            assert!(all.registers().bytes >= of_cta, "turn {turn}");
            assert!(all.shared().bytes >= u64::from(needs.shared_bytes), "turn {turn}");
            let whole = all.threads() == alone.threads() && alone.registers() == all.registers();
            shared_out += usize::from(!whole);
        }
    }
    assert!(shared_out > 1_000 && refused > 100, "{shared_out} {refused}");
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let most = u32::MAX;
    let limits = Limits { threads: most, warps: most, ctas: None };
    let needs = Needs { threads_per_cta: most, registers: u16::MAX, shared_bytes: most };
    let all = Areas { registers: most, shared: most, cache: most };
    let rule = CacheRule { sizes: CacheSizes::PowersOfTwo, most: None, disable_unused: true };
    for division in [Division::Partitioned(all), Division::Unified { bytes: most, cache: rule }] {
        let error = division.partition(&needs, &limits).expect_err("registers do not fit");
        assert!(error.needed > error.available);
        let few = Needs { registers: 0, shared_bytes: 0, ..needs };
        let partition = division.partition(&few, &limits).expect("nothing is needed of it");
        assert_eq!((partition.threads(), partition.rule_threads()), (most, most));
        let none = Needs { threads_per_cta: 0, ..few };
        let partition = division.partition(&none, &limits).expect("nothing is needed of it");
        assert_eq!((partition.ctas(), partition.threads()), (most, most));
    }
    assert_eq!(Division::micro12_unified(most).capacity(), u64::from(most));
    assert_eq!(tag_bits(most), 3);
    assert_eq!(tag_bytes(most, 32), u64::from(most / 128) * 4);
}
