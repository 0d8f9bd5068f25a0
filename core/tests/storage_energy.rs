//! Energy of an SM with its storage: cases by hand, and random ones against another formula.

#[expect(dead_code, reason = "nothing here looks at lanes")]
mod random;

use core::num::NonZeroU32;

use random::Random;
use strata_core::energy::BankEnergy;
use strata_core::sm::memory::touched::{AddressSpace, Touched, TouchedLine};
use strata_core::sm::partition::{Areas, CacheRule, Division, Limits, Needs};
use strata_core::storage_energy::{
    CacheArray, MemoryAccesses, NoStorageEnergy, SramBank, SramLeakage, StorageArea,
    StorageConfiguration, StorageCounts, StorageEnergy, StorageEnergyTable, StoragePart,
};
use strata_core::units::{Femtojoules, LANES};

const KB: u32 = 1024;
/// Unit: femtojoules.
const MILLIJOULE: u64 = 1_000_000_000_000;

const fn bank(kilobytes: u32, read: u64, write: u64) -> SramBank {
    let access = BankEnergy { read: Femtojoules(read), write: Femtojoules(write) };
    SramBank { kilobytes, access }
}

/// `[DISS]` Table 4.7.
const DISSERTATION: [SramBank; 6] = [
    bank(1, 3_200, 3_900),
    bank(2, 3_900, 5_100),
    bank(4, 5_100, 7_300),
    bank(8, 9_800, 11_800),
    bank(12, 11_000, 13_500),
    bank(16, 12_200, 15_200),
];

/// `[DISS]` Table 4.7 with the 12 KB of `[MICRO2012]` Table 4.
const MICRO12: [SramBank; 6] = {
    let mut banks = DISSERTATION;
    banks[4] = bank(12, 12_100, 14_900);
    banks
};

const fn nonzero(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

const TABLE: StorageEnergyTable<'_> = StorageEnergyTable {
    banks: &MICRO12,
    crossbar_ppm: 100_000,
    core_dynamic_nw: 1_900_000_000,
    core_leakage_nw: 700_000_000,
    sram_leakage: SramLeakage { nanowatts: 200_000_000, kilobytes: nonzero(384) },
    dram_aj_per_bit: 40_000_000,
    clock_khz: nonzero(1_000_000),
};

const AS_PRINTED: StorageEnergyTable<'_> = StorageEnergyTable {
    sram_leakage: SramLeakage { nanowatts: 2_370_000, kilobytes: nonzero(1) },
    ..TABLE
};

const BASELINE: StorageConfiguration = StorageConfiguration::of(Division::BASELINE);

const fn unified(kilobytes: u32) -> StorageConfiguration {
    StorageConfiguration::of(Division::micro12_unified(kilobytes))
}

/// One part of the energy. Unit: femtojoules.
fn part(
    part: StoragePart,
    banks: &[SramBank],
    configuration: StorageConfiguration,
    counts: StorageCounts,
) -> u64 {
    let table = StorageEnergyTable { banks, ..TABLE };
    StorageEnergy::of(&table, &configuration, &counts).unwrap().part(part).0
}

#[test]
fn a_register_of_a_warp_costs_eight_accesses_and_no_crossbar() {
    let read = StorageCounts { register_reads: 1, ..StorageCounts::default() };
    let write = StorageCounts { register_writes: 1, ..StorageCounts::default() };
    let registers = |banks, configuration, counts| {
        part(StoragePart::RegisterBanks, banks, configuration, counts)
    };
    assert_eq!(registers(&MICRO12, BASELINE, read), 78_400);
    assert_eq!(registers(&MICRO12, BASELINE, write), 94_400);
    assert_eq!(registers(&MICRO12, unified(384), read), 96_800);
    assert_eq!(registers(&MICRO12, unified(384), write), 119_200);
    assert_eq!(registers(&DISSERTATION, unified(384), read), 88_000);
    assert_eq!(registers(&DISSERTATION, unified(384), write), 108_000);
}

/// Words and rows of a load of 4 bytes for each lane.
fn load(address: impl Fn(u64) -> u64) -> MemoryAccesses {
    let addresses = || (0..u64::from(LANES)).map(&address);
    let words: std::collections::BTreeSet<_> = addresses().map(|address| address / 4).collect();
    let lanes = (0..LANES).zip(addresses());
    let touched = Touched::new(AddressSpace::Shared, 4, lanes);
    let rows = touched.lines().map(TouchedLine::rows);
    MemoryAccesses {
        read_words: words.len() as u64,
        read_rows: rows.sum::<u32>().into(),
        ..MemoryAccesses::default()
    }
}

#[test]
fn a_load_costs_words_of_4_bytes_or_rows_of_16() {
    type Case = (fn(u64) -> u64, u64, u64, u64);
    // Address of a lane; apart, unified by MICRO'12's 12 KB, by the dissertation's.
    let cases: [Case; 5] = [
        (|lane| 4 * lane, 31_200, 106_480, 96_800),
        (|lane| 4 * lane + 8, 31_200, 119_790, 108_900),
        (|lane| 132 * lane, 31_200, 425_920, 387_200),
        (|lane| 16 * lane, 31_200, 425_920, 387_200),
        (|_| 64, 975, 13_310, 12_100),
    ];
    for (number, (address, apart, micro12, dissertation)) in cases.into_iter().enumerate() {
        let accesses = load(address);
        for (area, counts) in [
            (StoragePart::SharedBanks, StorageCounts { shared: accesses, ..Default::default() }),
            (StoragePart::CacheBanks, StorageCounts { cache: accesses, ..Default::default() }),
        ] {
            assert_eq!(part(area, &MICRO12, BASELINE, counts), apart, "case {number}");
            assert_eq!(part(area, &MICRO12, unified(384), counts), micro12, "case {number}");
            assert_eq!(part(area, &DISSERTATION, unified(384), counts), dissertation);
        }
    }
}

#[test]
fn a_fill_writes_a_line() {
    let counts = StorageCounts { cache_fills: 1, ..StorageCounts::default() };
    let fill = |configuration| part(StoragePart::CacheBanks, &MICRO12, configuration, counts);
    // 32 words of 5.1 / 4 pJ; 8 rows of 14.9 x 1.1 pJ; of the limited array's 4 KB, 7.3 / 4.
    assert_eq!(fill(BASELINE), 40_800);
    assert_eq!(fill(unified(384)), 131_120);
    assert_eq!(fill(StorageConfiguration::limited(Division::MICRO12_LIMITED[0])), 58_400);
    let shared = StorageCounts {
        shared: MemoryAccesses { written_words: 32, written_rows: 8, ..Default::default() },
        ..StorageCounts::default()
    };
    assert_eq!(part(StoragePart::SharedBanks, &MICRO12, BASELINE, shared), 40_800);
    assert_eq!(part(StoragePart::SharedBanks, &MICRO12, unified(384), shared), 131_120);
}

#[test]
fn two_runs_by_hand() {
    let counts = StorageCounts {
        cycles: 1_000_000,
        baseline_cycles: 1_000_000,
        dram_bytes: 10_000_000,
        ..StorageCounts::default()
    };
    let baseline = StorageEnergy::of(&TABLE, &BASELINE, &counts).unwrap();
    let parts: Vec<_> = baseline.parts().map(|(part, energy)| (part.name(), energy.0)).collect();
    let millijoules = |tenths: u64| tenths * MILLIJOULE / 10;
    assert_eq!(
        parts,
        [
            ("core_dynamic", millijoules(19)),
            ("core_leakage", millijoules(7)),
            ("sram_leakage", millijoules(2)),
            ("register_banks", 0),
            ("shared_banks", 0),
            ("cache_banks", 0),
            ("dram", millijoules(32)),
        ]
    );
    assert_eq!(baseline.total(), Femtojoules(6 * MILLIJOULE));
    // 6 W; the sixth part of the baseline's performance for each watt.
    assert_eq!(baseline.power_nw(), Some(6_000_000_000));
    assert_eq!(baseline.performance_ppm(), Some(1_000_000));
    assert_eq!(baseline.performance_per_watt_ppm(), Some(166_667));

    let counts = StorageCounts { cycles: 860_000, dram_bytes: 8_000_000, ..counts };
    let own = StorageEnergy::of(&TABLE, &unified(384), &counts).unwrap();
    assert_eq!(own.part(StoragePart::CoreDynamic), baseline.part(StoragePart::CoreDynamic));
    let leakage = own.part(StoragePart::CoreLeakage).0 + own.part(StoragePart::SramLeakage).0;
    assert_eq!(leakage, 774 * MILLIJOULE / 1000);
    assert_eq!(own.total(), Femtojoules(5_234 * MILLIJOULE / 1000));
    assert_eq!(own.performance_ppm(), Some(1_162_791));
    assert_eq!(own.power_nw(), Some(6_086_046_512));
    // 6 / 5.234 of the baseline's.
    assert_eq!(own.performance_per_watt_ppm(), Some(191_058));

    let nothing = StorageEnergy::of(&TABLE, &BASELINE, &StorageCounts::default()).unwrap();
    assert_eq!(nothing.total(), Femtojoules(0));
    assert_eq!((nothing.power_nw(), nothing.performance_ppm()), (None, None));
    assert_eq!(nothing.performance_per_watt_ppm(), None);
}

#[test]
fn both_readings_of_the_leakage() {
    let counts = StorageCounts { cycles: 1_000_000, ..StorageCounts::default() };
    let leakage = |table: &StorageEnergyTable<'_>, configuration| {
        let energy = StorageEnergy::of(table, &configuration, &counts).unwrap();
        assert_eq!(energy.part(StoragePart::CoreLeakage), Femtojoules(7 * MILLIJOULE / 10));
        energy.part(StoragePart::SramLeakage).0
    };
    // 0.2 and 0.91 mJ: together with the core 0.9 and 1.61 W for a millisecond.
    assert_eq!(leakage(&TABLE, BASELINE), MILLIJOULE / 5);
    assert_eq!(leakage(&AS_PRINTED, BASELINE), 910_080_000_000);
    assert_eq!(leakage(&AS_PRINTED, unified(512)), 1_213_440_000_000);
    assert_eq!(leakage(&TABLE, unified(128)), 66_666_666_667);
}

/// Storage that an application leaves unused is switched off in steps of 32 KB.
#[test]
fn what_is_switched_off_does_not_leak() {
    let rule = |disable_unused| {
        let mut division = Division::dissertation_unified(384);
        if let Division::Unified { cache, .. } = &mut division {
            *cache = CacheRule { disable_unused, ..*cache };
        }
        division
    };
    // bfs: 36 KB of registers, 256 of cache; 92 are unused.
    let needs = Needs { threads_per_cta: 32, registers: 9, shared_bytes: 0 };
    let leaking = |disable_unused| {
        let division = rule(disable_unused);
        let partition = division.partition(&needs, &Limits::MICRO12).unwrap();
        assert_eq!(partition.unused_bytes(), u64::from(92 * KB));
        (StorageConfiguration::of(division), partition.disabled_bytes())
    };
    let energy = |(configuration, disabled): (StorageConfiguration, u64)| {
        let disabled_byte_cycles = 384 * u128::from(disabled);
        let counts = StorageCounts {
            cycles: 384,
            register_reads: 1,
            disabled_byte_cycles,
            ..StorageCounts::default()
        };
        StorageEnergy::of(&TABLE, &configuration, &counts).unwrap()
    };
    let (all, some) = (energy(leaking(false)), energy(leaking(true)));
    let sram = |energy: &StorageEnergy| energy.part(StoragePart::SramLeakage).0;
    assert_eq!((sram(&all), sram(&some)), (76_800_000, 64_000_000));
    // Everything else costs the same.
    assert_eq!(all.total().0 - some.total().0, 12_800_000);
}

#[test]
fn banks_of_every_design_of_the_papers_are_known_and_no_other_is_estimated() {
    let energy = |configuration: StorageConfiguration| {
        StorageEnergy::of(&TABLE, &configuration, &StorageCounts::default())
    };
    for areas in Areas::DISSERTATION {
        assert!(energy(StorageConfiguration::of(Division::Partitioned(areas))).is_ok());
    }
    for limited in Division::MICRO12_LIMITED.into_iter().chain(Division::DISSERTATION_LIMITED) {
        assert!(energy(StorageConfiguration::limited(limited)).is_ok());
    }
    for kilobytes in [128, 256, 384, 512] {
        assert!(energy(unified(kilobytes)).is_ok());
    }
    // Areas of their own would have banks of 3 KB.
    let own = energy(StorageConfiguration::of(Division::MICRO12_LIMITED[0]));
    let shared = NoStorageEnergy::Bank { area: StorageArea::Shared, array_bytes: 96 * 1024 };
    assert_eq!(own, Err(shared));
    assert_eq!(
        shared.to_string(),
        "no energy is known of a bank of 3072 bytes, of which 32 hold shared memory"
    );
    let registers = NoStorageEnergy::Bank { area: StorageArea::Registers, array_bytes: 192 * 1024 };
    assert_eq!(energy(unified(192)), Err(registers));
}

#[test]
fn what_does_not_exist_costs_nothing_and_cannot_be_accessed() {
    let areas = Areas { registers: 256 * KB, shared: 64 * KB, cache: 0 };
    let configuration = StorageConfiguration::of(Division::Partitioned(areas));
    let energy = |counts| StorageEnergy::of(&TABLE, &configuration, &counts);
    let shared = MemoryAccesses { read_words: 4, ..MemoryAccesses::default() };
    let fine = energy(StorageCounts { shared, ..StorageCounts::default() }).unwrap();
    assert_eq!(fine.total(), Femtojoules(3_900));
    assert_eq!(fine.banks(), fine.total());
    for counts in [
        StorageCounts { cache: shared, ..StorageCounts::default() },
        StorageCounts { cache_fills: 1, ..StorageCounts::default() },
    ] {
        let refused = energy(counts).unwrap_err();
        assert_eq!(refused, NoStorageEnergy::Area(StorageArea::Cache));
        assert!(refused.to_string().contains("cache"), "{refused}");
    }
}

/// A number of events, of any size.
fn some(random: &mut Random) -> u64 {
    let number = u64::from(random.below(u32::MAX)) * 4;
    number >> random.below(33)
}

fn accesses(random: &mut Random) -> MemoryAccesses {
    MemoryAccesses {
        read_words: some(random),
        read_rows: some(random),
        written_words: some(random),
        written_rows: some(random),
    }
}

/// Arrays whose banks have a known size. Unit: KB.
const SIZES: [u32; 6] = [32, 64, 128, 256, 384, 512];

/// KB of registers, shared memory and cache, and where the cache lies: a whole number of banks of
/// a known size.
fn configuration(random: &mut Random) -> StorageConfiguration {
    let mut pick = |sizes: &[u32]| sizes[random.below(sizes.len() as u32) as usize];
    let registers = pick(&SIZES) * KB;
    match pick(&[0, 1, 2]) {
        0 => {
            let (shared, cache) = (pick(&SIZES) * KB, pick(&SIZES) * KB);
            StorageConfiguration::of(Division::Partitioned(Areas { registers, shared, cache }))
        }
        1 => {
            let together = pick(&SIZES) * KB;
            let shared = together / pick(&[1, 2, 4, 32]);
            let areas = Areas { registers, shared, cache: together - shared };
            StorageConfiguration::limited(Division::Partitioned(areas))
        }
        _ => unified(pick(&SIZES)),
    }
}

/// Joules in all, by sums over what moved instead of over areas and parts.
fn joules(
    banks: &[SramBank],
    milliwatts_per_kb: f64,
    configuration: StorageConfiguration,
    counts: &StorageCounts,
) -> [f64; 7] {
    let picojoules = |bytes: u32| {
        let found = banks.iter().find(|bank| bank.kilobytes * 32 == bytes / KB).unwrap();
        let SramBank { access: BankEnergy { read, write }, .. } = found;
        (read.0 as f64 / 1000.0, write.0 as f64 / 1000.0)
    };
    let (sizes, all) = match (configuration.division, configuration.cache_array) {
        (Division::Unified { bytes, .. }, _) => ([bytes; 3], bytes),
        (Division::Partitioned(areas), array) => {
            let Areas { registers, shared, cache } = areas;
            let sizes = match array {
                CacheArray::Own => [registers, shared, cache],
                CacheArray::WithSharedMemory => [registers, shared + cache, shared + cache],
            };
            (sizes, registers + shared + cache)
        }
    };
    let unified = matches!(configuration.division, Division::Unified { .. });
    // Accesses of 16 bytes, whole ones or quarters.
    let moved = |accesses: &MemoryAccesses, fills: u64| {
        let lines = 8.0 * fills as f64;
        if unified {
            (1.1 * accesses.read_rows as f64, 1.1 * (accesses.written_rows as f64 + lines))
        } else {
            (accesses.read_words as f64 / 4.0, accesses.written_words as f64 / 4.0 + lines)
        }
    };
    let registers = (8.0 * counts.register_reads as f64, 8.0 * counts.register_writes as f64);
    let of = [registers, moved(&counts.shared, 0), moved(&counts.cache, counts.cache_fills)];
    let mut spent = [0.0; 3];
    for ((spent, bytes), (reads, writes)) in spent.iter_mut().zip(sizes).zip(of) {
        let (read, write) = picojoules(bytes);
        *spent = (reads * read + writes * write) * 1e-12;
    }
    let seconds = counts.cycles as f64 * 1e-9;
    let leaking = u128::from(all) * u128::from(counts.cycles) - counts.disabled_byte_cycles;
    let leaking = leaking as f64 / 1024.0 * 1e-9;
    let [registers, shared, cache] = spent;
    [
        1.9 * counts.baseline_cycles as f64 * 1e-9,
        0.7 * seconds,
        leaking * milliwatts_per_kb * 1e-3,
        registers,
        shared,
        cache,
        counts.dram_bytes as f64 * 8.0 * 40e-12,
    ]
}

#[test]
fn random_runs_cost_what_another_formula_says() {
    let mut random = Random(86);
    for case in 0..5_000 {
        let configuration = configuration(&mut random);
        let cycles = 100 + some(&mut random);
        // Nothing, a bank of 32 KB for half of the time, all of it for all of the time.
        let disabled = [
            0,
            u128::from(32 * KB) * u128::from(cycles / 2),
            u128::from(configuration.division.capacity()) * u128::from(cycles),
        ];
        let counts = StorageCounts {
            register_reads: some(&mut random),
            register_writes: some(&mut random),
            shared: accesses(&mut random),
            cache: accesses(&mut random),
            cache_fills: some(&mut random),
            dram_bytes: some(&mut random),
            disabled_byte_cycles: disabled[random.below(3) as usize],
            cycles,
            baseline_cycles: some(&mut random),
        };
        let banks = if random.chance(50) { &MICRO12 } else { &DISSERTATION };
        let (table, per_kb) =
            if random.chance(50) { (TABLE, 200.0 / 384.0) } else { (AS_PRINTED, 2.37) };
        let table = StorageEnergyTable { banks, ..table };
        let energy = StorageEnergy::of(&table, &configuration, &counts).unwrap();
        let expected = joules(banks, per_kb, configuration, &counts);
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-15 + 1e-12 * expected;
        for ((part, found), expected) in energy.parts().zip(expected) {
            let found = found.0 as f64 * 1e-15;
            let name = part.name();
            assert!(near(found, expected), "case {case}, {name}: {found} instead of {expected}");
        }
        let total = energy.parts().map(|(_, part)| part.0).sum::<u64>();
        assert_eq!(energy.total().0, total);
        let watts = expected.iter().sum::<f64>() / (counts.cycles as f64 * 1e-9);
        let power = energy.power_nw().unwrap() as f64 * 1e-9;
        assert!((power - watts).abs() <= 1e-6 * watts + 1e-9, "case {case}: {power}, {watts}");
    }
}
