//! Expansion: the paper's cases by hand, and random kernels against searches.

#[expect(dead_code, reason = "nothing here looks at lanes")]
mod random;

use std::collections::BTreeSet;

use random::Random;
use strata_core::chip_power::Ratio;
use strata_core::sm::config::{CtaTooLarge, Limit};
use strata_core::sm::expansion::bundles::{Bundles, BundlesError, HomeLine, Prefetch, RegisterSet};
use strata_core::sm::expansion::equations::{Case, Printed, corrected, printed};
use strata_core::sm::expansion::hardware::Hardware;
use strata_core::sm::expansion::homes::{Home, Homes, WARP_REGISTER_BYTES};
use strata_core::sm::expansion::{Capacity, CtaNeeds, Horizontal, Occupancy, Split, Threshold};
use strata_core::sm::partition::{Limits, Needs};
use strata_core::units::RegisterId;

const FERMI: Capacity = Capacity::FERMI;

/// A CTA of so many warps, with so many registers and bytes of scratchpad memory.
const fn cta(warps: u32, registers: u32, scratchpad_bytes: u32) -> CtaNeeds {
    CtaNeeds { threads: warps * 32, registers, scratchpad_bytes }
}

const fn tenths(numerator: u16) -> Threshold {
    Threshold::new(numerator, 10).expect("between 0 and 1")
}

/// A kernel of `[EXPARS]` Table 3 by hand: its CTA, the baseline's CTAs, whole and mixed CTAs, the
/// start register, warps, and Warpman's extra warps.
type ByHand = (&'static str, CtaNeeds, u32, [u32; 3], u32, u32);

const TABLE_3: [ByHand; 14] = [
    ("LBM", cta(4, 4608, 0), 7, [6, 2, 20], 32, 0),
    ("ST", cta(16, 14_436, 0), 2, [2, 1, 7], 48, 4),
    ("MQ", cta(8, 7168, 0), 4, [4, 2, 8], 48, 4),
    ("SGE", cta(4, 5632, 512), 5, [5, 2, 18], 28, 3),
    ("BT", cta(16, 12_288, 0), 2, [2, 1, 16], 48, 10),
    ("HS", cta(8, 9216, 3072), 3, [3, 1, 20], 32, 4),
    ("LEUK", cta(6, 4608, 0), 7, [6, 2, 13], 48, 0),
    ("MC", cta(8, 6144, 2048), 5, [5, 1, 8], 48, 2),
    ("CONV", cta(6, 4608, 0), 7, [6, 2, 13], 48, 0),
    ("EST", cta(8, 6144, 0), 5, [5, 1, 8], 48, 2),
    ("MERG", cta(16, 12_288, 8192), 2, [2, 1, 16], 48, 10),
    ("QUA", cta(12, 12_288, 0), 2, [2, 1, 21], 36, 8),
    ("SING1", cta(8, 6144, 0), 5, [5, 1, 8], 48, 2),
    ("SING2", cta(8, 7168, 0), 4, [4, 2, 8], 48, 4),
];

/// At least four fifths.
fn four_fifths(ratio: Ratio) -> bool {
    5 * ratio.numerator >= 4 * ratio.denominator
}

#[test]
fn the_papers_kernels_by_hand() {
    let mut well_used_by_warpman = Vec::new();
    for (name, needs, ctas, [whole, mixed, start_register], warps, extra) in TABLE_3 {
        let baseline = FERMI.baseline(&needs).expect(name);
        assert_eq!((baseline.ctas, baseline.limit), (ctas, Limit::Registers), "{name}");
        let split = FERMI.vertical(&needs, Threshold::PAPER).expect(name).expect(name);
        assert_eq!(split, Split { whole, mixed, start_register }, "{name}");
        let occupancy = split.occupancy(&needs);
        assert_eq!((occupancy.ctas, occupancy.warps), (whole + mixed, warps), "{name}");
        assert!(four_fifths(FERMI.utilization(&occupancy).both), "{name}");
        let warpman = FERMI.warpman(&needs).expect(name);
        assert_eq!(warpman.warps, baseline.warps + extra, "{name}");
        assert_eq!(warpman.ctas, ctas + u32::from(extra != 0), "{name}");
        if four_fifths(FERMI.utilization(&warpman).both) {
            well_used_by_warpman.push(name);
        }
    }
    assert_eq!(well_used_by_warpman, ["MERG"]);
}

#[test]
fn hotspot_as_the_text_splits_it() {
    let (_, needs, ..) = TABLE_3[5];
    let split = FERMI.split(&needs, 2, 2).expect("it fits");
    assert_eq!(split, Split { whole: 2, mixed: 2, start_register: 28 });
    assert_eq!(split.share_in_register_file(&needs), Ratio::new(28 * 256, 9216));
    // A fifth CTA, or none that is mixed, does not fit.
    assert_eq!(FERMI.split(&needs, 3, 2), None);
    assert_eq!(FERMI.split(&needs, 3, 0), None);
    assert_eq!(FERMI.split(&needs, 4, 1), None);
}

#[test]
fn a_threshold_that_is_reached_is_allowed() {
    // The introduction's example: 1024 registers of each mixed CTA's 5120 stay, a fifth.
    let needs = cta(4, 5120, 2048);
    let split = FERMI.vertical(&needs, Threshold::PAPER).expect("it fits").expect("a gain");
    assert_eq!(split, Split { whole: 6, mixed: 2, start_register: 8 });
    let occupancy = split.occupancy(&needs);
    let all = Occupancy { ctas: 8, warps: 32, registers: 32_768, scratchpad_bytes: 49_152 };
    assert_eq!((FERMI.baseline(&needs).expect("it fits").ctas, occupancy), (6, all));
    let below = Threshold::new(799, 1000).expect("between 0 and 1");
    let split = FERMI.vertical(&needs, below).expect("it fits").expect("a gain");
    // Three mixed CTAs would have 18.7 registers each in the register file, and the rest no room.
    assert_eq!((split.whole, split.mixed), (4, 4));
    assert_eq!([Threshold::new(0, 5), Threshold::new(5, 5), Threshold::new(5, 0)], [None; 3]);
    // A share so small that no register of a thread is one.
    let smallest = Threshold::new(1, u16::MAX).expect("between 0 and 1");
    for (name, needs, ..) in TABLE_3 {
        assert_eq!(FERMI.vertical(&needs, smallest).expect(name), None, "{name}");
    }
}

/// CTAs of all kernels of Table 3, and the splits of some, for thresholds of 0.4 to 0.9.
#[test]
fn the_threshold_moves_the_split_and_not_the_total() {
    let splits = |tenths_of: u16| {
        TABLE_3.map(|(name, needs, ..)| {
            let found = FERMI.vertical(&needs, tenths(tenths_of)).expect(name);
            found.map(|split| (split.whole, split.mixed)).expect(name)
        })
    };
    for tenths in 4..=9 {
        let total: u32 = splits(tenths).iter().map(|(whole, mixed)| whole + mixed).sum();
        assert_eq!(total, 77, "{tenths}");
    }
    let of = |place: usize| [4, 5, 6, 7, 8, 9].map(|tenths| splits(tenths)[place]);
    assert_eq!(of(0), [(5, 3), (6, 2), (6, 2), (6, 2), (6, 2), (7, 1)], "LBM");
    assert_eq!(of(1), [(1, 2), (1, 2), (1, 2), (1, 2), (2, 1), (2, 1)], "ST");
    assert_eq!(of(3), [(3, 4), (4, 3), (5, 2), (5, 2), (5, 2), (5, 2)], "SGE");
    // 22 of LEUK's 24 registers would be outside with seven whole CTAs: more than nine tenths.
    assert_eq!(of(6), [(5, 3), (6, 2), (6, 2), (6, 2), (6, 2), (6, 2)], "LEUK");
}

#[test]
fn the_printed_equations_where_they_fit_and_where_not() {
    let solved = |needs: &CtaNeeds| {
        let Printed { case, whole, mixed, denominator } =
            printed(&FERMI, needs, Threshold::PAPER).expect("it fits");
        (case, whole, mixed, denominator)
    };
    for (name, needs, _, [whole, mixed, _], ..) in TABLE_3 {
        let literal = match name {
            "SGE" => (6, 1),
            "BT" | "MERG" | "QUA" => (3, 0),
            _ => (i64::from(whole), i64::from(mixed)),
        };
        assert_eq!(solved(&needs), (Case::Nine, literal.0, literal.1, 1), "{name}");
        let closed = corrected(&FERMI, &needs, Threshold::PAPER).expect("it fits");
        assert_eq!(closed, (whole, mixed), "{name}");
    }
    // 8 CTAs by their places, the register file has room for 16: it would hold 16 whole ones.
    assert_eq!(solved(&cta(2, 2048, 0)), (Case::Seven, 16, 0, 1));
    assert_eq!(corrected(&FERMI, &cta(2, 2048, 0), Threshold::PAPER), Ok((8, 0)));

    // A tenth of two CTAs of 17,000 may be outside: there 1,232 of one are. Equation 8 has a fraction of a
    // CTA less than none.
    let tenth = printed(&FERMI, &cta(4, 17_000, 0), tenths(1)).expect("it fits");
    assert_eq!(tenth, Printed { case: Case::Eight, whole: 10 - 18, mixed: 2, denominator: 10 });
    assert_eq!(corrected(&FERMI, &cta(4, 17_000, 0), tenths(1)), Ok((1, 1)));
}

#[test]
fn other_limits_are_named_and_expansion_gains_nothing() {
    for (needs, limit, ctas) in [
        (cta(16, 512, 0), Limit::Warps, 3),
        (cta(2, 128, 0), Limit::Ctas, 8),
        (cta(2, 128, 10_000), Limit::SharedMemory, 4),
        (CtaNeeds { threads: 1, registers: 1, scratchpad_bytes: 0 }, Limit::Ctas, 8),
    ] {
        let baseline = FERMI.baseline(&needs).expect("it fits");
        assert_eq!((baseline.limit, baseline.ctas), (limit, ctas));
        assert_eq!(FERMI.vertical(&needs, Threshold::PAPER), Ok(None));
        let whole = FERMI.baseline_occupancy(&needs).expect("it fits");
        let Horizontal { scratchpad_warps, occupancy } = FERMI.horizontal(&needs).expect("it fits");
        assert_eq!((scratchpad_warps, occupancy), (0, whole));
        assert_eq!(FERMI.warpman(&needs), Ok(whole));
    }
    // 100 threads of a CTA, 250 threads of an SM: 3 of the 4 warps would fit, but only one's threads.
    let threads = Capacity { limits: Limits { threads: 250, warps: 12, ctas: Some(8) }, ..FERMI };
    let needs = CtaNeeds { threads: 100, registers: 128, scratchpad_bytes: 0 };
    let baseline = threads.baseline(&needs).expect("it fits");
    assert_eq!((baseline.limit, baseline.ctas), (Limit::Threads, 2));
    assert_eq!(threads.warpman(&needs).expect("it fits").warps, 8 + 1);
    let error = FERMI.baseline(&cta(8, 40_000, 0)).expect_err("too large");
    let expected = CtaTooLarge { limit: Limit::Registers, needed: 160_000, available: 131_072 };
    assert_eq!(error, expected);
    assert_eq!(FERMI.vertical(&cta(8, 40_000, 0), Threshold::PAPER), Err(expected));
}

#[test]
fn horizontal_ctas_by_hand() {
    // BT: 42 of 48 warps have their 768 registers in the register file; 6 take 18 KB.
    let (_, needs, ..) = TABLE_3[4];
    let found = FERMI.horizontal(&needs).expect("it fits");
    let occupancy =
        Occupancy { ctas: 3, warps: 48, registers: 42 * 768, scratchpad_bytes: 6 * 768 * 4 };
    assert_eq!(found, Horizontal { scratchpad_warps: 6, occupancy });
    // ST: 36 warps of 902.25 registers fit; 12 need 10,827.
    let (_, needs, ..) = TABLE_3[1];
    let found = FERMI.horizontal(&needs).expect("it fits");
    assert_eq!((found.scratchpad_warps, found.occupancy.scratchpad_bytes), (12, 10_827 * 4));
    // Kernels of Table 3 gain as many CTAs as mixed ones do.
    let total: u32 = TABLE_3
        .iter()
        .map(|(name, needs, ..)| FERMI.horizontal(needs).expect(name).occupancy.ctas)
        .sum();
    assert_eq!(total, 77);
}

#[test]
fn one_storage_for_both_by_hand() {
    let total = |capacity: &Capacity| {
        let ctas = |(name, needs, ..): &ByHand| capacity.oracle(needs).expect(name).ctas;
        TABLE_3.iter().map(ctas).sum::<u32>()
    };
    // As many as with mixed CTAs: only scratchpad memory of 48 KB and the threshold differ.
    assert_eq!((total(&FERMI), total(&Capacity::MAXWELL)), (77, 115));
    let (_, needs, ..) = TABLE_3[3];
    let oracle = FERMI.oracle(&needs).expect("it fits");
    let expected = Occupancy {
        ctas: 7,
        warps: 28,
        registers: 32_768,
        scratchpad_bytes: 7 * 512 + 4 * (7 * 5632 - 32_768),
    };
    assert_eq!(oracle, expected);
    // Without limits of either storage: 48 warps are 12 CTAs, but there is room for 8.
    let required = FERMI.required(&needs).expect("it fits");
    let expected = Occupancy { ctas: 8, warps: 32, registers: 8 * 5632, scratchpad_bytes: 4096 };
    assert_eq!(required, expected);
    assert_eq!(FERMI.required(&cta(8, 40_000, 60_000)).expect("it fits").ctas, 6);
}

#[test]
fn hardware_by_hand() {
    let bytes = |hardware: Hardware| {
        [
            hardware.operand_cache_bits,
            hardware.tag_bits(),
            hardware.bit_vector_bits,
            hardware.base_register_bits,
            hardware.counter_bits,
        ]
        .map(|bits| bits / 8)
    };
    let (fermi, maxwell) = (Hardware::of(&FERMI), Hardware::of(&Capacity::MAXWELL));
    assert_eq!(bytes(fermi), [2048, 20, 378, 16, 192]);
    assert_eq!(bytes(maxwell), [2048, 24, 2040, 64, 256]);
    assert_eq!([fermi.tag_bits_per_line, maxwell.tag_bits_per_line], [10, 12]);
    let variables = |hardware: Hardware| {
        [hardware.start_cta_bits, hardware.register_bits, hardware.warps_per_cta_bits]
    };
    assert_eq!((variables(fermi), fermi.limit_bits), ([3, 6, 6], 6));
    assert_eq!((variables(maxwell), maxwell.limit_bits), ([5, 8, 7], 7));
    assert_eq!([fermi.allocation_table_bits(), maxwell.allocation_table_bits()], [149, 540]);
}

fn homes(split: [u32; 3], registers: u16, program_bytes: u32) -> Homes {
    let [whole, mixed, start_register] = split;
    let split = Split { whole, mixed, start_register };
    Homes::new(&split, registers, 8, program_bytes, 48 * 1024).expect("it fits")
}

#[test]
fn addresses_by_hand() {
    let at = |homes: &Homes, warp, register| match homes.home(warp, register) {
        Some(Home::Scratchpad { address }) => address,
        other => panic!("{other:?}"),
    };
    let monte_carlo = homes([5, 1, 8], 24, 2048);
    assert_eq!([4, 5, 6].map(|slot| monte_carlo.base(slot)), [None, Some(32_768), None]);
    assert_eq!(at(&monte_carlo, 43, 10), 39_168);
    assert_eq!(at(&monte_carlo, 47, 23) + WARP_REGISTER_BYTES - 1, 49_151);
    assert_eq!(monte_carlo.slot(43), 5);
    assert!(matches!(monte_carlo.home(43, 7), Some(Home::RegisterFile { .. })));
    assert!(matches!(monte_carlo.home(39, 23), Some(Home::RegisterFile { .. })));
    assert_eq!((monte_carlo.home(48, 0), monte_carlo.home(0, 24)), (None, None));

    let mri = homes([4, 2, 8], 28, 0);
    assert_eq!([4, 5].map(|slot| mri.base(slot)), [Some(28_672), Some(8192)]);
    assert_eq!(at(&mri, 40, 9), 8320);

    let hotspot = homes([2, 2, 28], 36, 3072);
    assert_eq!([2, 3].map(|slot| hotspot.base(slot)), [Some(40_960), Some(32_768)]);
    assert_eq!(at(&hotspot, 17, 30), 42_240);
    assert_eq!([3, 4].map(|slot| hotspot.program_base(slot)), [Some(9216), None]);
    assert_eq!((hotspot.start_cta(), hotspot.start_register(), hotspot.warps()), (2, 28, 32));

    // A byte of the program's too many, no register outside, none mixed.
    let split = Split { whole: 2, mixed: 2, start_register: 28 };
    let of = |split: &Split, program_bytes| Homes::new(split, 36, 8, program_bytes, 48 * 1024);
    assert!(of(&split, 8192).is_some());
    assert_eq!(of(&split, 8193), None);
    assert_eq!(of(&Split { start_register: 36, ..split }, 0), None);
    assert_eq!(of(&Split { start_register: 37, ..split }, 0), None);
    assert_eq!(of(&Split { mixed: 0, ..split }, 0), None);
    assert_eq!(of(&Split { whole: 63, ..split }, 0), None);
}

fn some_capacity(random: &mut Random) -> Capacity {
    let ctas = random.chance(80).then(|| random.below(40));
    Capacity {
        limits: Limits { threads: random.below(2500), warps: random.below(65), ctas },
        registers: random.below(70_000),
        scratchpad_bytes: random.below(70_000),
        most_registers: 255,
    }
}

fn some_needs(random: &mut Random) -> CtaNeeds {
    let threads = if random.chance(50) { 100 } else { 600 };
    let scratchpad_bytes = if random.chance(50) { 0 } else { random.below(12_000) };
    let needs = Needs {
        threads_per_cta: 1 + random.below(threads),
        registers: random.below(60) as u16,
        shared_bytes: scratchpad_bytes,
    };
    let mut needs = CtaNeeds::of(&needs);
    if random.chance(20) {
        needs.registers = random.below(20_000);
    }
    needs
}

/// What the text says of a number of CTAs, whatever their registers.
fn allowed(capacity: &Capacity, needs: &CtaNeeds, ctas: u64) -> bool {
    let warps = u64::from(needs.threads).div_ceil(32);
    ctas <= 64
        && ctas * warps <= capacity.limits.warps.into()
        && ctas * u64::from(needs.threads) <= capacity.limits.threads.into()
        && capacity.limits.ctas.is_none_or(|most| ctas <= most.into())
        && ctas * u64::from(needs.scratchpad_bytes) <= capacity.scratchpad_bytes.into()
}

fn whole_ctas(capacity: &Capacity, needs: &CtaNeeds) -> u64 {
    let fits = |&ctas: &u64| {
        allowed(capacity, needs, ctas)
            && ctas * u64::from(needs.registers) <= capacity.registers.into()
    };
    (1..=100).take_while(fits).count() as u64
}

/// Every split with every start register, by the equations' conditions; the largest total, then the
/// most whole CTAs, then the highest start register.
fn best_split(
    capacity: &Capacity,
    needs: &CtaNeeds,
    threshold: Threshold,
) -> Option<(u64, u64, u64)> {
    let (numerator, denominator) = threshold.parts();
    let (numerator, denominator) = (u64::from(numerator), u64::from(denominator));
    let lanes = u64::from(needs.threads).div_ceil(32) * 32;
    let of_cta = u64::from(needs.registers);
    let mut best = None;
    for whole in 0..=64 {
        for mixed in 1..=64 {
            if !allowed(capacity, needs, whole + mixed) {
                break;
            }
            for start in 0..=of_cta / lanes {
                let inside = start * lanes;
                let outside = of_cta - inside;
                let registers = whole * of_cta + mixed * inside;
                let bytes =
                    (whole + mixed) * u64::from(needs.scratchpad_bytes) + 4 * mixed * outside;
                if outside * denominator <= numerator * of_cta
                    && registers <= capacity.registers.into()
                    && bytes <= capacity.scratchpad_bytes.into()
                {
                    best = best.max(Some((whole + mixed, whole, start)));
                }
            }
        }
    }
    best
}

/// Without whole registers: the most CTAs, then the most whole ones.
fn best_fractions(capacity: &Capacity, needs: &CtaNeeds, threshold: Threshold) -> (u64, u64) {
    let (numerator, denominator) = threshold.parts();
    let (numerator, denominator) = (u64::from(numerator), u64::from(denominator));
    let of_cta = u64::from(needs.registers);
    let file = u64::from(capacity.registers);
    let mut best = (0, 0);
    for mixed in 1..=64_u64 {
        for whole in 0..=64 - mixed {
            let ctas = whole + mixed;
            // Registers outside: all that the register file has no room for.
            let outside = (ctas * of_cta).saturating_sub(file);
            let bytes = ctas * u64::from(needs.scratchpad_bytes) + 4 * outside;
            if allowed(capacity, needs, ctas)
                && outside * denominator <= mixed * of_cta * numerator
                && bytes <= capacity.scratchpad_bytes.into()
            {
                best = best.max((ctas, whole));
            }
        }
    }
    best
}

#[test]
fn random_kernels_are_as_a_search_finds() {
    let mut random = Random(0x5eed);
    let (mut refused, mut gained, mut fractions) = (0, 0, 0);
    for case in 0..3000 {
        let (capacity, needs) = (some_capacity(&mut random), some_needs(&mut random));
        let denominator = 2 + random.below(1000) as u16;
        let numerator = 1 + random.below(u32::from(denominator) - 1) as u16;
        let threshold = Threshold::new(numerator, denominator).expect("between 0 and 1");
        let at = format!("case {case}: {capacity:?}, {needs:?}, {threshold:?}");
        let ctas = whole_ctas(&capacity, &needs);
        let Ok(baseline) = capacity.baseline(&needs) else {
            assert_eq!(ctas, 0, "{at}");
            assert!(capacity.vertical(&needs, threshold).is_err(), "{at}");
            refused += 1;
            continue;
        };
        assert_eq!(u64::from(baseline.ctas), ctas, "{at}");
        let best = best_split(&capacity, &needs, threshold).filter(|&(total, ..)| total > ctas);
        let found = capacity.vertical(&needs, threshold).expect(&at);
        let parts = |split: Split| {
            let whole = u64::from(split.whole);
            (whole + u64::from(split.mixed), whole, u64::from(split.start_register))
        };
        assert_eq!(found.map(parts), best, "{at}");
        gained += u32::from(found.is_some());
        if let Some(split) = found {
            let Occupancy { registers, scratchpad_bytes, .. } = split.occupancy(&needs);
            assert!(registers <= capacity.registers.into(), "{at}");
            assert!(scratchpad_bytes <= capacity.scratchpad_bytes.into(), "{at}");
        }
        let (total, whole) = best_fractions(&capacity, &needs, threshold);
        let (closed_whole, closed_mixed) = corrected(&capacity, &needs, threshold).expect(&at);
        let closed = (u64::from(closed_whole + closed_mixed), u64::from(closed_whole));
        let expected = if total > ctas { (total, whole) } else { (ctas, ctas) };
        assert_eq!(closed, expected, "{at}");
        // Whole registers of threads can only cost CTAs.
        let whole_registers = found.map_or(ctas, |split| u64::from(split.ctas()));
        assert!(whole_registers <= closed.0, "{at}");
        fractions += u32::from(whole_registers < closed.0);
    }
    assert!(refused > 100 && gained > 300 && fractions > 10, "{refused} {gained} {fractions}");
}

#[test]
fn random_extra_warps_and_ctas_are_as_a_search_finds() {
    let mut random = Random(0xca7);
    let (mut partial, mut outside) = (0, 0);
    for case in 0..5000 {
        let (capacity, needs) = (some_capacity(&mut random), some_needs(&mut random));
        let at = format!("case {case}: {capacity:?}, {needs:?}");
        let (Ok(baseline), Ok(warpman), Ok(horizontal), Ok(oracle)) = (
            capacity.baseline_occupancy(&needs),
            capacity.warpman(&needs),
            capacity.horizontal(&needs),
            capacity.oracle(&needs),
        ) else {
            continue;
        };
        let warps = u64::from(needs.threads).div_ceil(32);
        let (registers, of_cta) = (u64::from(capacity.registers), u64::from(needs.registers));
        let (ctas, bytes) = (u64::from(baseline.ctas), u64::from(needs.scratchpad_bytes));
        // One by one, as long as all that is left suffices.
        let fits = |&extra: &u64| {
            extra < warps
                && ctas < 64
                && capacity.limits.ctas.is_none_or(|most| ctas < most.into())
                && (ctas + 1) * bytes <= capacity.scratchpad_bytes.into()
                && ctas * warps + extra <= capacity.limits.warps.into()
                && ctas * u64::from(needs.threads) + 32 * extra <= capacity.limits.threads.into()
                && ctas * of_cta * warps + extra * of_cta <= registers * warps
        };
        let extra = (1..=100).take_while(fits).count() as u64;
        assert_eq!(u64::from(warpman.warps), ctas * warps + extra, "{at}");
        assert_eq!(warpman.ctas, baseline.ctas + u32::from(extra != 0), "{at}");
        partial += u32::from(extra != 0);

        let in_file = (1..=64).take_while(|warp| warp * of_cta <= registers * warps).count() as u64;
        let fits = |&total: &u64| {
            let scratchpad_warps = (total * warps).saturating_sub(in_file);
            allowed(&capacity, &needs, total)
                && scratchpad_warps * of_cta * 4
                    <= (u64::from(capacity.scratchpad_bytes) - total * bytes) * warps
        };
        let total = (1..=64).take_while(|total| *total <= ctas || fits(total)).count() as u64;
        assert_eq!(u64::from(horizontal.occupancy.ctas), total, "{at}");
        outside += u32::from(horizontal.scratchpad_warps != 0);

        let fits = |&total: &u64| {
            allowed(&capacity, &needs, total)
                && total * (4 * of_cta + bytes)
                    <= 4 * registers + u64::from(capacity.scratchpad_bytes)
        };
        assert_eq!(u64::from(oracle.ctas), (1..=100).take_while(fits).count() as u64, "{at}");
        for occupancy in [warpman, horizontal.occupancy, oracle] {
            assert!(occupancy.ctas >= baseline.ctas, "{at}");
            assert!(occupancy.registers <= registers, "{at}");
            assert!(occupancy.scratchpad_bytes <= capacity.scratchpad_bytes.into(), "{at}");
        }
    }
    assert!(partial > 300 && outside > 300, "{partial} {outside}");
}

/// Every register of every CTA has one home, and nothing shares a byte.
#[test]
fn random_registers_have_one_home_each() {
    let mut random = Random(0x40e);
    let mut mapped = 0;
    while mapped < 300 {
        let capacity = some_capacity(&mut random);
        let needs = Needs {
            threads_per_cta: 1 + random.below(400),
            registers: 1 + random.below(60) as u16,
            shared_bytes: if random.chance(50) { 0 } else { random.below(6000) },
        };
        let (registers, warps) = (needs.registers, needs.warps_per_cta());
        let of_cta = CtaNeeds::of(&needs);
        let Ok(Some(split)) = capacity.vertical(&of_cta, Threshold::PAPER) else { continue };
        mapped += 1;
        let at = format!("{capacity:?}, {needs:?}, {split:?}");
        let homes =
            Homes::new(&split, registers, warps, needs.shared_bytes, capacity.scratchpad_bytes)
                .expect(&at);
        let mut taken = BTreeSet::new();
        let mut places = BTreeSet::new();
        for slot in 0..split.ctas() {
            let base = homes.program_base(slot).expect(&at);
            let own = base..base + needs.shared_bytes;
            assert!(own.into_iter().all(|byte| taken.insert(byte)), "{at}");
        }
        for warp in 0..homes.warps() {
            for register in 0..registers {
                let home = homes.home(warp, register).expect(&at);
                let mixed = warp / warps >= split.whole;
                match home {
                    Home::RegisterFile { place } => {
                        assert!(!mixed || u32::from(register) < split.start_register, "{at}");
                        assert!(places.insert(place), "{at}: {place} twice");
                    }
                    Home::Scratchpad { address } => {
                        assert!(mixed && u32::from(register) >= split.start_register, "{at}");
                        let bytes = address..address + WARP_REGISTER_BYTES;
                        assert!(bytes.into_iter().all(|byte| taken.insert(byte)), "{at}");
                    }
                }
            }
        }
        let occupancy = split.occupancy(&of_cta);
        assert_eq!(places.len() as u64 * 32, occupancy.registers, "{at}");
        assert_eq!(taken.len() as u64, occupancy.scratchpad_bytes, "{at}");
        assert!(taken.last().is_none_or(|&byte| byte < capacity.scratchpad_bytes), "{at}");
        // The register file's places have no gap.
        assert!(places.iter().copied().eq(0..places.len() as u32), "{at}");
    }
}

fn set(registers: &[u16]) -> RegisterSet {
    RegisterSet::of(registers.iter().copied().map(RegisterId)).expect("below 256")
}

fn prefetch(pc: u32, fetched: &[u16], allocated: &[u16]) -> Prefetch {
    Prefetch { pc, fetched: set(fetched), allocated: set(allocated) }
}

#[test]
fn sets_of_registers_by_hand() {
    let registers = set(&[255, 3, 64]);
    assert_eq!(registers.iter().collect::<Vec<_>>(), [3, 64, 255].map(RegisterId));
    assert_eq!((registers.count(), registers.is_empty()), (3, false));
    assert_eq!(registers.without(set(&[64, 7])), set(&[3, 255]));
    assert_eq!(registers.and(set(&[64, 7])), set(&[64]));
    assert_eq!(registers.or(set(&[7])), set(&[3, 7, 64, 255]));
    assert_eq!(RegisterSet::of([RegisterId(256)]), None);
    assert!(!registers.contains(RegisterId(256)) && !registers.contains(RegisterId(4)));
}

#[test]
fn home_lines_by_hand() {
    assert_eq!(HomeLine::of(RegisterId(5)), HomeLine { bank: 1, set: 1 });
    let numbers: BTreeSet<_> = (16..32).map(|r| HomeLine::of(RegisterId(r)).number()).collect();
    assert_eq!(numbers, (0..16).collect());
}

#[test]
fn bundles_keep_their_rules() {
    let good = [prefetch(0, &[5, 20], &[6]), prefetch(4, &[], &[]), prefetch(7, &[21], &[])];
    let bundles = Bundles::new(&good, 9).expect("they keep the rules");
    assert_eq!(bundles.all(), good);
    assert_eq!((bundles.before(4), bundles.before(5)), (Some(&good[1]), None));
    assert_eq!((bundles.around(6), bundles.around(8)), (Some(&good[1]), Some(&good[2])));
    assert_eq!(Bundles::new(&[], 0).expect("nothing").around(0), None);
    let all: Vec<u16> = (32..48).collect();
    assert!(Bundles::new(&[prefetch(0, &all, &[])], 1).is_ok());

    let wrong = |prefetches: &[Prefetch], instructions| {
        let error = Bundles::new(prefetches, instructions).expect_err("it breaks a rule");
        (error, error.to_string())
    };
    let (error, text) = wrong(&[prefetch(0, &[5], &[21])], 1);
    let registers = [RegisterId(5), RegisterId(21)];
    assert_eq!(error, BundlesError::SharedLine { pc: 0, registers });
    assert_eq!(text, "R5 and R21 of the bundle at 0 have one home line");
    let (error, text) = wrong(&[prefetch(0, &[5], &[5])], 1);
    assert_eq!(error, BundlesError::Twice { pc: 0, register: RegisterId(5) });
    assert_eq!(text, "the bundle at 0 fetches and allocates R5");
    assert_eq!(wrong(&good[1..], 9).0, BundlesError::NoFirst);
    assert_eq!(wrong(&[], 1).0, BundlesError::NoFirst);
    assert_eq!(wrong(&good[..1], 0).0, BundlesError::NoFirst);
    assert_eq!(wrong(&good, 7).0, BundlesError::Order { pc: 7 });
    assert_eq!(wrong(&[good[0], good[2], good[1]], 9).0, BundlesError::Order { pc: 4 });
}
