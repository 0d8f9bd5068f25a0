use std::collections::BTreeMap;

use strata_compiler::program::Image;
use strata_core::count::count_path;
use strata_core::event::{Counters, Event};
use strata_core::image::{CheckedImage, Flags, Unit};
use strata_core::path::PathStep;
use strata_core::prototype::counters::{Counter, Designs, SUMS};
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::regmap::OpCode;
use strata_core::prototype::sequencer::Prototype;
use strata_core::prototype::settings::Settings;
use strata_simt::paths::{PathDictionary, WarpPath};

use super::*;
use crate::plan::POOL_ENTRIES;
use strata_design as design;
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::subject::Subject;

type Twin = Prototype<WARPS, { MAX_ENTRIES as usize }, { POOL_ENTRIES as usize }>;

fn plan(design: &str) -> Plan {
    Plan::new(&design::resolve(design).unwrap()).unwrap()
}

fn material(input: &str, accesses: u64) -> Material {
    let source = Source::of(Scale::Small);
    let request = Request::new(&source).unwrap();
    let subject = Subject::new(input, &source, &Silent).unwrap();
    Material::new(&subject, &request, accesses, &Silent).unwrap()
}

/// What count mode makes of the same launches, of whose masks only these lanes are left.
fn counted(material: &Material, design: &str) -> Counters {
    let config = *design::resolve(design).unwrap().organisation();
    let mut total = Counters::default();
    for launch in &material.launches {
        let image = CheckedImage::new(launch.image.borrow()).unwrap();
        let mut awaited = vec![LaneMask::EMPTY; usize::from(launch.image.registers)];
        for (path, warps) in launch.paths.iter() {
            let lanes =
                |step: &PathStep| PathStep { mask: LaneMask(step.mask.0 & CLUSTER), ..*step };
            let counters = count_path(&config, image, &mut awaited, path.iter().map(lanes));
            total = total.checked_add(&counters.unwrap().checked_mul(warps).unwrap()).unwrap();
        }
    }
    total
}

/// How often each operation occurs, by its code.
type Operations = BTreeMap<u32, u64>;

fn run(material: &Material, plan: &Plan) -> (Twin, Made, Operations) {
    let mut twin = Twin::new(plan.settings(material.registers)).unwrap();
    let mut stream = Stream::once(material, plan);
    let mut operations = Operations::new();
    let mut outcomes = [Outcome::default(); 128];
    loop {
        let batch: Vec<_> = stream.by_ref().take(outcomes.len()).collect();
        if batch.is_empty() {
            break;
        }
        for command in &batch {
            assert!(command.pack().is_some() && usize::from(command.warp) < WARPS);
            assert!(command.register.0 < material.registers);
            assert!(!command.lanes.is_empty() && command.lanes.0 & !CLUSTER == 0);
            *operations.entry(command.operation.code().code()).or_default() += 1;
        }
        twin.run(&batch, &mut outcomes);
    }
    (twin, stream.made(), operations)
}

/// The sums of the register map's table that are of the twin's design.
fn assert_sums(twin: &Twin, counted: &Counters, what: &str) {
    let Settings { cache, write_pool_entries, .. } = *twin.settings();
    let is_of = |designs: Designs| match designs {
        Designs::Cache => cache.is_some(),
        Designs::Banks => write_pool_entries == 0,
        Designs::Pool => write_pool_entries > 0 && cache.is_none(),
    };
    let mut checked = 0;
    for sum in SUMS.iter().filter(|sum| is_of(sum.of)) {
        let ours: u64 = sum.counters.iter().map(|&counter| twin.counters().get(counter)).sum();
        let theirs: u64 = sum.events.iter().map(|&event| counted.get(event)).sum();
        assert_eq!(ours, theirs, "{what}: {:?}", sum.counters);
        checked += 1;
    }
    assert!(checked > 1, "{what}");
}

/// The prototype's counters over a whole stream are count mode's of the same lanes.
fn agrees(input: &str, designs: &[&str]) {
    let material = material(input, u64::MAX);
    for design in designs {
        let plan = plan(design);
        let (twin, made, operations) = run(&material, &plan);
        let counted = counted(&material, design);
        assert_sums(&twin, &counted, &format!("{input}, {design}"));
        let of = |event: Event| counted.get(event);
        let operation = |code: OpCode| operations.get(&code.code()).copied().unwrap_or(0);
        let direct = of(Event::MrfWritePrivate) + of(Event::MrfWriteShared);
        let results = of(Event::RfcWritePrivate) + of(Event::RfcWriteShared);
        for (what, ours, theirs) in [
            ("instructions", made.instructions + made.left_out, of(Event::WarpInstruction)),
            ("deschedules", made.deschedules, of(Event::Deschedule) + of(Event::BarrierDeschedule)),
            ("accesses", made.accesses, counted.operand_reads() + counted.operand_writes()),
            ("reads", operation(OpCode::Read), counted.operand_reads()),
            ("writes", operation(OpCode::Write), results),
            ("bypasses", operation(OpCode::Bypass), direct),
        ] {
            assert_eq!(ours, theirs, "{input}, {design}: {what}");
        }
        let commands = twin.counters().get(Counter::Commands);
        assert!(made.accesses > 1_000 && commands == made.commands, "{input}");
    }
}

const DESIGNS: [&str; 9] = [
    "isca11-rfc6",
    "isca11-rfc1",
    "isca11-rfc13-lru",
    "isca11-rfc3-nolive",
    "isca11-rfc4-reads",
    "isca11-rfc2-lru-nolive-single-reads",
    "diss-rfc6-backflush",
    "warrf-rfc6",
    "sttram-rfc3",
];

#[test]
fn barriers_and_loops_count_as_in_count_mode() {
    agrees("hotspot", &DESIGNS);
}

#[test]
fn divergence_counts_as_in_count_mode() {
    agrees("mandelbrot", &DESIGNS);
}

#[test]
fn launches_one_after_another_count_as_in_count_mode() {
    agrees("bfs", &DESIGNS[..5]);
}

#[test]
fn designs_without_a_cache_count_accesses() {
    let material = material("hotspot", u64::MAX);
    for design in ["isca11", "warrf-gtx480", "sttram", "sttram-sbw"] {
        let plan = plan(design);
        let (twin, made, operations) = run(&material, &plan);
        let counted = counted(&material, design);
        assert_sums(&twin, &counted, design);
        assert_eq!(made.accesses, made.commands, "{design}");
        let is_access = |&code: &u32| code <= OpCode::Bypass.code();
        assert!(operations.keys().all(is_access), "{design}: {operations:?}");
    }
    let (twin, made, operations) = run(&material, &plan("warrf"));
    assert_sums(&twin, &counted(&material, "warrf"), "warrf");
    // A demotion for each deschedule, a drop for each warp, and no flush or exit of a cache.
    let times = |code: OpCode| operations.get(&code.code());
    assert_eq!(times(OpCode::Demote), Some(&made.deschedules));
    assert_eq!(times(OpCode::Drop), Some(&made.warps));
    assert!(times(OpCode::Flush).is_none() && times(OpCode::Exit).is_none());
}

/// An image of instructions, each given by its flags, sources and destinations.
fn image(instructions: &[(Flags, &[u16], &[u16])]) -> Image {
    let mut slots = Vec::new();
    let instructions = instructions.iter().map(|(flags, sources, destinations)| {
        let first_slot = slots.len() as u32;
        slots.extend(sources.iter().chain(*destinations).map(|&register| RegisterId(register)));
        StaticInstruction {
            first_slot,
            sources: sources.len() as u8,
            destinations: destinations.len() as u8,
            flags: *flags,
            last_use: 1,
            ..StaticInstruction::new(Unit::Alu)
        }
    });
    let instructions = instructions.collect();
    Image { instructions, slots, registers: 8 }
}

fn launch(image: &Image, paths: &[&[(u32, u32, u32)]]) -> Launch {
    let (mut steps, mut ends) = (Vec::new(), Vec::new());
    for path in paths {
        steps.extend(path.iter().map(|&(pc, length, mask)| PathStep {
            pc,
            length,
            mask: LaneMask(mask),
        }));
        ends.push(steps.len());
    }
    let warps = (0..paths.len() as u32).map(|path| WarpPath { cta: 0, warp: path, path });
    let paths = PathDictionary::from_parts(steps, ends, warps.collect()).unwrap();
    Launch { image: image.clone(), paths }
}

fn made_of(launches: Vec<Launch>) -> Material {
    Material { name: "made up".to_owned(), launches, accesses: 1, left_out: 0, registers: 8 }
}

/// Each command as a few letters: warp, operation, register, lanes, marks of a read.
fn letters(commands: impl Iterator<Item = Command>) -> Vec<String> {
    let letters = |command: Command| {
        let Command { warp, operation, register: RegisterId(register), lanes } = command;
        let lanes = lanes.0;
        match operation {
            Operation::Read { last_use, more } => {
                let marks =
                    format!("{}{}", if last_use { "!" } else { "" }, if more { "+" } else { "" });
                format!("{warp}: r{register}/{lanes:x}{marks}")
            }
            Operation::Write => format!("{warp}: write r{register}/{lanes:x}"),
            Operation::Bypass => format!("{warp}: bypass r{register}/{lanes:x}"),
            Operation::Fill => format!("{warp}: fill r{register}/{lanes:x}"),
            other => format!("{warp}: {other:?}"),
        }
    };
    commands.map(letters).collect()
}

#[test]
fn commands_come_in_the_order_of_the_machine() {
    let load = Flags::LONG_LATENCY;
    let image = image(&[
        (load, &[0], &[1]),
        (Flags::empty(), &[2, 3], &[4]),
        (Flags::DESCHEDULE_BEFORE, &[1], &[5, 6]),
        (Flags::BARRIER, &[], &[]),
    ]);
    // The second warp has no lane of ours in the first two instructions.
    let both = [launch(&image, &[&[(0, 4, 0xffff_ffff)], &[(0, 2, 0xfff0), (2, 2, 0x32)]])];
    let material = made_of(both.to_vec());
    let plan = plan("warrf-rfc6");
    let mut stream = Stream::once(&material, &plan);
    let expected = [
        "0: r0/f!",
        "0: bypass r1/f",
        "1: r1/2!",
        "1: write r5/2",
        "1: write r6/2",
        "0: r2/f!+",
        "0: r3/f",
        "0: write r4/f",
        "1: Flush",
        "1: Demote",
        // Its load is awaited.
        "0: Flush",
        "0: Demote",
        "0: r1/f!",
        "0: write r5/f",
        "0: write r6/f",
        "1: Exit",
        "1: Drop",
        "0: Flush",
        "0: Demote",
        "0: Exit",
        "0: Drop",
    ];
    assert_eq!(letters(stream.by_ref()), expected);
    let made = Made {
        commands: 21,
        accesses: 11,
        instructions: 6,
        left_out: 2,
        warps: 2,
        deschedules: 3,
        launches: 1,
    };
    assert_eq!(stream.made(), made);
}

#[test]
fn a_warp_that_ends_makes_room_and_launches_do_not_overlap() {
    let image = image(&[(Flags::empty(), &[], &[1])]);
    let long: &[(u32, u32, u32)] = &[(0, 1, 15), (0, 1, 15), (0, 1, 15)];
    let short: &[(u32, u32, u32)] = &[(0, 1, 15)];
    let mut paths = vec![long];
    paths.extend([short; 9]);
    let material = made_of(vec![launch(&image, &paths), launch(&image, &[short])]);
    let plan = plan("sttram");
    let places: Vec<_> = Stream::once(&material, &plan).map(|command| command.warp).collect();
    // Ten warps in eight places; the places of short ones are free for the ninth and tenth after
    // their turn in which they end.
    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 1, 2, 0]);
}

#[test]
fn a_stream_stops_with_the_instruction_that_is_enough_and_repeats_if_need_be() {
    let image = image(&[(Flags::empty(), &[0, 1], &[1])]);
    let material = made_of(vec![launch(&image, &[&[(0, 1, 15)]])]);
    let plan = plan("isca11-rfc6");
    for (wanted, commands, launches) in [(1, 3, 1), (3, 3, 1), (4, 7, 2), (10, 15, 4)] {
        let mut stream = Stream::of_accesses(&material, &plan, wanted);
        assert_eq!(stream.by_ref().count(), commands, "{wanted}");
        assert_eq!(stream.made().launches, launches, "{wanted}");
        assert_eq!(stream.made().accesses, wanted.div_ceil(3) * 3, "{wanted}");
    }
    // As much as is kept is enough.
    let few = self::material("hotspot", 5_000);
    assert!(few.accesses >= 5_000);
    let mut stream = Stream::of_accesses(&few, &plan, 5_000);
    assert!(stream.by_ref().count() >= 5_000);
    assert!((5_000..5_100).contains(&stream.made().accesses));
}

#[test]
fn liveness_aware_bypass_is_the_requester_s() {
    let mut unread = image(&[(Flags::empty(), &[], &[1])]);
    unread.instructions[0].not_read_before_deschedule = 1;
    let material = made_of(vec![launch(&unread, &[&[(0, 1, 15)]])]);
    let mut plan = plan("isca11-rfc6");
    assert_eq!(letters(Stream::once(&material, &plan))[0], "0: write r1/f");
    plan.cache = plan.cache.map(|mut cache| {
        cache.liveness_aware_bypass = true;
        cache
    });
    assert_eq!(letters(Stream::once(&material, &plan))[0], "0: bypass r1/f");
}
