//! Bytes: what is written is read again, what was not written is refused.

use proptest::prelude::*;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireCharge, WireLengths};
use strata_core::image::{Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use strata_core::level::Level;
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::placement::{Placement, Upper};
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::units::{Femtojoules, LaneMask, RegisterId};
use strata_explorer::{
    Axis, Catalogue, Counted, Input, Kernel, Path, Problem, Refused, Setting, explore,
};

const CACHE: RegisterFileCacheConfig = RegisterFileCacheConfig {
    entries: 6,
    replacement: Replacement::Lru,
    allocation: Allocation::WritesAndReads,
    liveness: true,
    liveness_aware_bypass: false,
    liveness_aware_eviction: true,
};

/// Two levels, of which a slider matters with the second: a flat register file, and three caches of
/// which the last is refused.
fn catalogue() -> Catalogue {
    let axis = |texts: &[&str], applies| Axis {
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        applies,
    };
    let levels =
        CachedLevels { cache: CACHE, last_result_file: true, flush_at_backward_branches: true };
    let cached = OrganisationSettings {
        levels: LevelSettings::Cached(levels),
        scheduling: Scheduling::TwoLevel { active_warps: 5 },
    };
    let managed = OrganisationSettings { levels: LevelSettings::CompilerManaged, ..cached };
    let level = |energy, um| LevelEnergy {
        bank: BankEnergy { read: Femtojoules(energy), write: Femtojoules(2 * energy) },
        operand_read: Some(Femtojoules(energy + 1)),
        wires: WireLengths { private_um: um, shared_um: um + 1 },
    };
    let flat = EnergyTable::flat(level(8000, 1000), Femtojoules(1900), WireCharge::EachTrip);
    let whole = flat
        .with(Level::Rfc, Some(level(1000, 200)))
        .with(Level::Lrf, Some(level(700, 50)))
        .with(Level::Orf, Some(level(900, 200)))
        .with(Level::WritePool, Some(level(500, 900)));
    let counted = |organisation, fit, energy| {
        Setting::Counted(Counted { organisation, fit, energy, flat: 0 })
    };
    Catalogue {
        axes: vec![axis(&["flat", "cached,"], 0b11), axis(&["a=1", "a=2", "a=3", "a=4"], 0b10)],
        levels: 0,
        settings: vec![
            counted(0, None, 0),
            counted(1, None, 1),
            counted(2, Some(1), 1),
            counted(1, None, 2),
            Setting::Refused(0),
        ],
        refused: vec![Refused { message: "{}: no".to_owned(), hint: String::new() }],
        organisations: [*Organisation::FLAT.settings(), cached, managed]
            .map(|settings| Organisation::new(settings).unwrap())
            .to_vec(),
        energies: vec![Ok(flat), Ok(whole), Err("no table prints it".to_owned())],
    }
}

/// `r2 = r0 + r1`, a load of `r1` over `r2`, in two paths.
fn input() -> Input {
    let add = StaticInstruction {
        sources: 2,
        destinations: 1,
        predicates: Predicates { read: 1, written: 2 },
        last_use: 1,
        ..StaticInstruction::new(Unit::Alu)
    };
    let load = StaticInstruction {
        first_slot: 3,
        sources: 1,
        destinations: 1,
        unit: Unit::Memory,
        space: Some(MemorySpace::Shared),
        flags: Flags::LOAD.union(Flags::EXIT),
        never_read: 1,
        not_read_before_deschedule: 1,
        last_use_before_deschedule: 1,
        private_reads: 1,
        ..add
    };
    let run = |pc, length, mask| PathStep { pc, length, mask: LaneMask(mask) };
    let whole = vec![run(0, 2, u32::MAX), run(0, 1, 0xff), run(1, 1, 0)];
    let main = Placement::MAIN;
    let orf = |main| Placement { main, upper: Some(Upper::Orf(7)) };
    let lrf = Placement { main: false, upper: Some(Upper::Lrf(2)) };
    let kernel = Kernel {
        instructions: vec![add, load],
        slots: [0, 1, 2, 2, 1].map(RegisterId).to_vec(),
        registers: 3,
        paths: vec![
            Path { warps: 3, steps: whole },
            Path { warps: 1, steps: vec![run(1, 1, 0x8000_0000)] },
        ],
        placements: vec![vec![main; 5], vec![main, lrf, orf(true), orf(false), main]],
        fits: vec![0, 1],
    };
    Input { workload: "made-up".to_owned(), scale: "small".to_owned(), kernels: vec![kernel] }
}

#[test]
fn what_is_written_is_read_again() {
    let catalogue = catalogue();
    assert_eq!(Catalogue::decode(&catalogue.encode().unwrap()).as_ref(), Ok(&catalogue));
    let input = input();
    assert_eq!(Input::decode(&input.encode().unwrap()).as_ref(), Ok(&input));
}

#[test]
fn every_choice_has_one_place_and_its_text() {
    let catalogue = catalogue();
    assert_eq!((catalogue.len(), catalogue.is_empty()), (Some(5), false));
    let choices: Vec<_> = (0..5).map(|place| catalogue.choice(place).unwrap()).collect();
    for (place, choice) in choices.iter().enumerate() {
        assert_eq!(catalogue.place(choice), Ok(place));
    }
    let texts: Vec<_> = choices.iter().map(|choice| catalogue.design(choice).unwrap()).collect();
    assert_eq!(texts, ["flat", "cached,a=1", "cached,a=2", "cached,a=3", "cached,a=4"]);
    // Where the slider does not matter, it changes nothing.
    assert_eq!(
        (catalogue.place(&[0, 3]), catalogue.design(&[0, 3]).unwrap().as_str()),
        (Ok(0), "flat")
    );
    assert_eq!(catalogue.choice(5), None);
    for bad in [&[][..], &[0], &[0, 4], &[2, 0], &[0, 0, 0]] {
        assert_eq!(catalogue.place(bad), Err(Problem::Choice), "{bad:?}");
        assert_eq!(catalogue.design(bad), Err(Problem::Choice), "{bad:?}");
    }
}

#[test]
fn answers_are_lines_of_what_is_known() {
    let (catalogue, input) = (catalogue().encode().unwrap(), input().encode().unwrap());
    let answer = |choice: [u8; 2]| explore(&catalogue, &input, &choice).unwrap();
    let flat = answer([0, 0]);
    let begins = "design\tflat\ncommand\tstrata run made-up --design flat --scale small\ndigest\t";
    assert!(flat.starts_with(begins), "{flat}");
    assert!(flat.contains("\nrelative\t100.000000\n"), "{flat}");
    // Warps in three, two reads of the sum and one of the load in the first, one in the other.
    assert!(flat.contains("\ncounter\tmrf_reads\t16\n"), "{flat}");
    assert!(answer([1, 0]).contains("--design 'cached,a=1' --scale"));
    assert!(answer([1, 1]).contains("\ncounter\torf_reads\t4\n"), "{}", answer([1, 1]));
    let unknown = answer([1, 2]);
    assert!(unknown.contains("\nunavailable\tno table prints it\n"), "{unknown}");
    assert!(!unknown.contains("\nenergy\t") && !unknown.contains("\nrelative\t"), "{unknown}");
    assert!(answer([1, 3]).ends_with("\nrefused\tcached,a=4: no\n"), "{}", answer([1, 3]));
}

#[test]
fn what_the_core_refuses_is_a_problem() {
    let good = catalogue().encode().unwrap();
    let told = |change: fn(&mut Kernel)| {
        let mut input = input();
        change(&mut input.kernels[0]);
        explore(&good, &input.encode().unwrap(), &[1, 1]).unwrap_err().to_string()
    };
    assert!(told(|kernel| kernel.slots[4] = RegisterId(3)).contains("register 3"));
    assert!(told(|kernel| kernel.placements[1].truncate(4)).contains("4 placements"));
    assert!(told(|kernel| kernel.fits.truncate(1)).contains("placement"));
    assert!(told(|kernel| kernel.paths[0].steps[0].length = 3).contains("runs 3 instructions"));
    assert!(told(|kernel| kernel.paths[0].warps = u64::MAX).contains("64 bits"));
    let mut few = catalogue();
    few.settings.pop();
    let bytes = few.encode().unwrap();
    assert_eq!(Catalogue::decode(&bytes), Err(Problem::Malformed("catalogue")));
}

proptest! {
    /// A changed, cut or longer text of bytes is an answer or a problem.
    #[test]
    fn bytes_that_no_host_wrote_never_panic(
        at in any::<prop::sample::Index>(),
        with in any::<u8>(),
        cut in any::<prop::sample::Index>(),
        more in prop::collection::vec(any::<u8>(), 0..9),
        choice in prop::collection::vec(0_u8..5, 0..4),
    ) {
        let good = [catalogue().encode().unwrap(), input().encode().unwrap()];
        for place in 0..2 {
            let mut changed = good.clone();
            let index = at.index(changed[place].len());
            changed[place][index] = with;
            let _ = explore(&changed[0], &changed[1], &choice);
            let length = cut.index(changed[place].len());
            changed[place].truncate(length);
            changed[place].extend(&more);
            let _ = explore(&changed[0], &changed[1], &choice);
        }
    }

    #[test]
    fn bytes_at_random_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let good = catalogue().encode().unwrap();
        let _ = explore(&bytes, &bytes, &[0, 0]);
        let _ = explore(&good, &bytes, &[1, 1]);
    }
}
