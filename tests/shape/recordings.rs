//! Recordings of workloads: they replay as what they were recorded from, and come back from another
//! simulator's format with everything that it can carry.

use std::collections::BTreeSet;
use std::path::Path;

use strata_compiler::Order;
use strata_core::image::{Flags, StaticInstruction};
use strata_core::path::PathStep;
use strata_design as design;
use strata_files::output::Output;
use strata_files::partial_folder::PartialFolder;
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::RunReport;
use strata_trace::store::{self, Recording, StoreError, StoreProblem, Stored};
use strata_trace::{EXPORT, Entry, Keep, Reach, TracedLaunch, entries, export};
use strata_workload as workload;

use crate::groups::fitting;

/// Workloads that load and store four registers at a time, and the first such instruction that the
/// format cannot carry.
const VECTORS: [(&str, &str); 4] =
    [("nbody", "LDG.E.128"), ("cp", "LDG.E.128"), ("mriq", "LDS.128"), ("bilinear", "LDG.E.128")];

const DESIGNS: [&str; 3] = ["isca11", "isca11-rfc6", "dissertation"];

fn source(order: Order) -> Source {
    Source { orders: vec![order], ..Source::of(Scale::Small) }
}

/// Records a workload in PTX order and gives the name of the file.
fn recorded(name: &str, folder: &Path) -> String {
    recorded_in(Order::Ptx, name, folder)
}

fn recorded_in(order: Order, name: &str, folder: &Path) -> String {
    record_as(name, &source(order), &folder.join(format!("{name}.strata")))
}

/// Records a workload, with some of its sizes set, as a file; gives the file's name.
pub(crate) fn record(name: &str, set: &[&str], file: &Path) -> String {
    let set = set.iter().map(|&set| set.to_owned()).collect();
    record_as(name, &Source { set, ..Source::of(Scale::Small) }, file)
}

fn record_as(name: &str, args: &Source, file: &Path) -> String {
    let workload = subject::workload(name, args, &Silent).expect("the workload loads");
    let request = Request::new(args).expect("the options are valid");
    let output = Output::new(file, store::KIND, false, &[]).expect("a new file");
    measure::record(&workload, &output, &request, &Silent).expect("it is recorded");
    file.to_str().expect("the path is UTF-8").to_owned()
}

fn reports(name: &str, order: Order, recording: Option<&str>) -> Vec<RunReport> {
    let args = source(order);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    let designs: Vec<_> =
        DESIGNS.iter().map(|name| design::resolve(name).expect("the design exists")).collect();
    let printer = Silent;
    let reports = if let Some(file) = recording {
        measure::trace_reports(file, &designs, &request, &printer)
    } else {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        measure::reports(&workload, &designs, &request, &printer)
    };
    reports.expect("it runs")
}

/// To the last cycle: addresses and bytes are the same whether a kernel runs or is replayed.
#[test]
fn recordings_replay_in_time_as_their_workloads_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_ptx_order = fitting().map(|name| (name, Order::Ptx));
    let others = [Order::Scheduled, Order::ScheduledRenamed, Order::Close];
    for (name, order) in in_ptx_order.chain(others.map(|order| ("dct8x8", order))) {
        let file = recorded_in(order, name, folder.path());
        let ran = reports(name, order, None);
        for (ran, replayed) in ran.iter().zip(reports(name, order, Some(&file))) {
            let at = format!("{name}, {}, {}", ran.design, order.name());
            assert_eq!((&*ran.order, &*replayed.order), (order.name(), order.name()), "{at}");
            assert!(ran.counters["cycles"] > 0, "{at}");
            assert_eq!(replayed.counters, ran.counters, "{at}");
            assert_eq!(replayed.launches.len(), ran.launches.len(), "{at}");
            for (one, other) in replayed.launches.iter().zip(&ran.launches) {
                assert_eq!(one.counters, other.counters, "{at}, launch {}", one.index);
                assert_eq!((one.registers, one.warps), (other.registers, other.warps), "{at}");
                assert_eq!(one.residency, other.residency, "{at}");
            }
        }
    }
}

/// What every executed instruction of each warp is: program counter and mask.
fn executed<'a>(
    path: &'a [PathStep],
    pc: impl Fn(u32) -> u64 + 'a,
) -> impl Iterator<Item = (u64, u32)> + 'a {
    let each = |step: &PathStep| {
        let mask = step.mask.0;
        (step.pc..step.pc + step.length).map(move |pc| (pc, mask))
    };
    path.iter().flat_map(each).map(move |(number, mask)| (pc(number), mask))
}

/// Compares a launch that came back with what was recorded; returns the instructions whose operands
/// the format cannot carry.
fn compare(before: &Stored, after: &TracedLaunch, at: &str) -> BTreeSet<String> {
    assert_eq!(after.header.name, before.header.name, "{at}");
    assert_eq!(after.header.grid, before.header.grid, "{at}");
    assert_eq!(after.header.windows(), before.header.windows(), "{at}");
    assert_eq!(after.instructions, before.warp_instructions(), "{at}");
    assert_eq!(after.paths.warps().len(), before.paths.warps().len(), "{at}");
    for (one, other) in after.paths.warps().iter().zip(before.paths.warps()) {
        assert_eq!((one.cta, one.warp), (other.cta, other.warp), "{at}");
        let after =
            executed(after.paths.path(one.path), |n| after.code.instructions[n as usize].pc);
        let before =
            executed(before.paths.path(other.path), |n| before.instructions[n as usize].pc);
        assert!(after.eq(before), "{at}, CTA {}, warp {}", one.cta, one.warp);
    }
    let image = after.code.image.borrow();
    let original = before.image.borrow();
    let mut lost = BTreeSet::new();
    for (instruction, record) in after.code.instructions.iter().zip(image.instructions) {
        let number = (instruction.pc / 16) as usize;
        assert_eq!(*instruction, before.instructions[number], "{at}");
        let other = &original.instructions[number];
        let facts = |record: &StaticInstruction| {
            let kept = Flags::LOAD
                | Flags::STORE
                | Flags::BRANCH
                | Flags::EXIT
                | Flags::BARRIER
                | Flags::LONG_LATENCY;
            (record.unit, record.space, record.flags & kept, record.moves_bytes())
        };
        let place = || format!("{at}, {}", instruction.mnemonic);
        assert_eq!(facts(record), facts(other), "{}", place());
        let registers = (image.sources(record), image.destinations(record));
        if registers != (original.sources(other), original.destinations(other)) {
            lost.insert(place());
        }
    }
    lost
}

#[test]
fn exports_of_workloads_come_back_with_all_that_the_format_carries() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lost = BTreeSet::new();
    for name in workload::all_names() {
        let file = recorded(name, folder.path());
        let target = folder.path().join(name);
        let open = || Recording::open(file.as_ref()).expect("the recording opens");
        let create = || PartialFolder::create(&target, EXPORT, &[]).expect("a new folder");
        let unnamed = match export(&mut open(), &create(), false) {
            Ok(_) => None,
            Err(StoreError { problem: StoreProblem::Unnamed { mnemonic, .. }, .. }) => {
                Some(mnemonic)
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let vector = VECTORS.iter().find(|(workload, _)| *workload == name);
        assert_eq!(unnamed.as_deref(), vector.map(|(_, mnemonic)| *mnemonic), "{name}");
        let folder = create();
        let count = export(&mut open(), &folder, true).expect("it is exported");
        folder.finish().expect("it is exported");
        let mut recording = open();
        let mut launches = 0;
        for entry in
            entries(&target.join("kernelslist.g"), Reach::Folder).expect("the list is read")
        {
            let Entry::Launch(trace) = entry else { panic!("{name}: a copy") };
            let at = format!("{name}, launch {launches}");
            launches += 1;
            let keep = Keep { accesses: true, ..Keep::default() };
            let after = TracedLaunch::read(&trace, &keep).unwrap_or_else(|error| panic!("{error}"));
            let before = recording.next_launch().expect("it is whole").expect("it is there");
            lost.extend(compare(&before, &after, &at));
            let moved = recording.accesses(&before, None, false).expect("addresses are whole");
            let again = after.accesses.expect("they were asked for");
            for place in 0..before.paths.warps().len() {
                assert_eq!(again.of_warp(place), moved.of_warp(place), "{at}, warp {place}");
            }
        }
        assert_eq!(launches, count, "{name}");
    }
    // Vectors of four registers that do not lie behind each other: a line has room for one result
    // and four operands.
    let all = &["LDG.E.128", "LDS.128", "STG.E.128", "STS.128"][..];
    let launches = [
        ("nbody, launch 0", all),
        ("nbody, launch 1", all),
        ("cp, launch 0", &["LDG.E.128", "LDS.128", "STS.128"]),
        ("mriq, launch 1", &["LDS.128"]),
        ("bilinear, launch 0", &["LDG.E.128", "STG.E.128"]),
    ];
    let expected: BTreeSet<String> = launches
        .iter()
        .flat_map(|(launch, lost)| lost.iter().map(move |it| format!("{launch}, {it}")))
        .collect();
    assert_eq!(lost, expected);
}

/// A trace has one number of registers; residency is another one's affair in the renamed order.
#[test]
fn exports_whose_residency_would_change_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (order, refused) in [(Order::Scheduled, false), (Order::ScheduledRenamed, true)] {
        let file = recorded_in(order, "dct8x8", folder.path());
        let mut recording = Recording::open(file.as_ref()).expect("it opens");
        let target = folder.path().join(order.name());
        let export = |recording: &mut Recording, approximate| {
            let create = PartialFolder::create(&target, EXPORT, &[]).expect("a new folder");
            export(recording, &create, approximate)
        };
        match export(&mut recording, false) {
            Err(StoreError {
                problem: StoreProblem::Residency { resident, registers, .. },
                ..
            }) => {
                assert!(refused && resident < registers, "{resident}, {registers}");
                let mut recording = Recording::open(file.as_ref()).expect("it opens");
                assert!(export(&mut recording, true).is_ok());
            }
            other => assert!(!refused && other.is_ok(), "{other:?}"),
        }
    }
}

/// A pass over the addresses costs what they cost, and counting needs none.
#[test]
fn recordings_stay_small_and_say_what_addresses_take() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = recorded("matrixmul", folder.path());
    let length = std::fs::metadata(&file).expect("it is there").len();
    let mut recording = Recording::open(file.as_ref()).expect("it opens");
    let stored = recording.next_launch().expect("it is whole").expect("it is there");
    let sizes = recording.sizes();
    assert!(sizes.addresses > 0 && sizes.addresses < sizes.all, "{sizes:?}");
    assert!(sizes.all < length && sizes.plain_addresses > sizes.addresses, "{sizes:?}, {length}");
    let instructions = stored.warp_instructions();
    assert!(length < instructions, "{length} bytes for {instructions} warp instructions");
}
