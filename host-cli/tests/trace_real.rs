//! Traces of real GPUs, where they are: what is read is what the files hold, counted line by line.
//!
//! As text they are too large to be committed; `host-cli/recordings` has two of them as recordings,
//! which `STRATA_BLESS=1` makes again. `$STRATA_TRACES` or `../shared/traces` beside the repository
//! names the folder. Elsewhere the tests report themselves as ignored, which the usual harness cannot
//! do at run time; hence the `main` of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use strata_core::count::count_path;
use strata_core::event::Event;
use strata_core::image::{CheckedImage, Flags};
use strata_core::organisation::Organisation;
use strata_core::units::LaneMask;
use strata_files::output::Output;
use strata_files::partial_folder::PartialFolder;
use strata_trace::store::{self, Recording, record_trace};
use strata_trace::{EXPORT, Entry, Keep, Reach, TracedLaunch, entries, export};

#[path = "trace_real/caches.rs"]
mod caches;
#[path = "../../tests/switch.rs"]
mod switch;

fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("STRATA_TRACES").map(PathBuf::from) {
        assert!(named.is_dir(), "STRATA_TRACES names {}, which is no folder", named.display());
        return Some(named);
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    Some(beside).filter(|folder| folder.is_dir())
}

/// Unpacks an archive; `None` where it is not.
fn unpack(archive: &str) -> Option<tempfile::TempDir> {
    let path = folder().map(|folder| folder.join(archive)).filter(|path| path.is_file())?;
    let target = tempfile::tempdir().unwrap();
    let file = BufReader::new(File::open(path).unwrap());
    tar::Archive::new(lzma_rust2::XzReader::new(file, true)).unpack(target.path()).unwrap();
    Some(target)
}

/// Every list under a folder, in order of names.
fn lists(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("kernelslist.g"))
        .filter(|list| list.is_file())
        .collect();
    found.sort();
    found
}

/// Warp instructions, thread instructions, executions by opcode: from the text alone.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    warp: u64,
    thread: u64,
    by_opcode: BTreeMap<String, u64>,
    loads: u64,
    stores: u64,
}

fn count_text(file: &Path) -> Counts {
    let mut counts = Counts::default();
    for line in BufReader::new(File::open(file).unwrap()).lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let starts = words.first().is_some_and(|word| word.len() >= 4);
        let Some(mask) = words.get(1).filter(|word| starts && word.len() == 8) else { continue };
        let Ok(mask) = u32::from_str_radix(mask, 16) else { continue };
        let results: usize = words[2].parse().unwrap();
        let opcode = words[3 + results];
        counts.warp += 1;
        counts.thread += u64::from(mask.count_ones());
        let stem = opcode.split('.').next().unwrap();
        counts.loads += u64::from(matches!(stem, "LDG" | "LDS" | "LDC" | "ULDC" | "LDL" | "LD"));
        counts.stores += u64::from(matches!(stem, "STG" | "STS" | "STL" | "ST"));
        *counts.by_opcode.entry(opcode.to_owned()).or_default() += 1;
    }
    counts
}

fn count_launch(launch: &TracedLaunch) -> Counts {
    let mut counts = Counts::default();
    let image = &launch.code.image;
    for (path, warps) in launch.paths.iter() {
        for step in path {
            for pc in step.pc..step.pc + step.length {
                counts.warp += warps;
                counts.thread += warps * u64::from(step.mask.0.count_ones());
                let instruction = &launch.code.instructions[pc as usize];
                let flags = image.instructions[pc as usize].flags;
                counts.loads += warps * u64::from(flags.contains(Flags::LOAD));
                counts.stores += warps * u64::from(flags.contains(Flags::STORE));
                *counts.by_opcode.entry(instruction.mnemonic.clone()).or_default() += warps;
            }
        }
    }
    counts
}

/// Compares every launch of an archive with its text; returns (launches, warp instructions).
fn check(archive: &str) -> Option<(usize, u64)> {
    let target = unpack(archive)?;
    let (mut launches, mut total) = (0, 0);
    for list in lists(target.path()) {
        for entry in entries(&list, Reach::Folder).unwrap() {
            let Entry::Launch(file) = entry else { continue };
            let keep = Keep { accesses: true, ..Keep::default() };
            let launch = TracedLaunch::read(&file, &keep).unwrap_or_else(|error| panic!("{error}"));
            let text = count_text(&file);
            assert_eq!(count_launch(&launch), text, "{}", file.display());
            assert_eq!(launch.instructions, text.warp);
            assert!(launch.code.assumptions.is_empty(), "{:?}", launch.code.assumptions);
            check_machine(&launch, text.warp);
            launches += 1;
            total += text.warp;
        }
    }
    Some((launches, total))
}

/// Lines of instructions, warps and blocks: what an export must give again. Versions before 5 have
/// no immediate, which an export writes as 0.
fn body(file: &Path, add_immediate: bool) -> Vec<String> {
    let line = |line: String| {
        let line = line.trim_end().to_owned();
        let instruction = line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit);
        if instruction && add_immediate { line + " 0" } else { line }
    };
    let lines = BufReader::new(File::open(file).unwrap()).lines().map(|text| line(text.unwrap()));
    let kept = |line: &String| !line.is_empty() && !line.starts_with(['-', '#']);
    lines.filter(kept).collect()
}

/// Records an archive, exports it, and compares the lines; whether the archive is there.
fn exports(archive: &str, add_immediate: bool) -> bool {
    let Some(source) = unpack(archive) else { return false };
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join("r.strata");
    let list = lists(source.path()).remove(0);
    let output = Output::new(&file, store::KIND, false, &[]).unwrap();
    record_trace(&list, Reach::Folder, &output, u64::MAX).unwrap();
    let mut recording = Recording::open(&file).unwrap();
    let folder = PartialFolder::create(&target.path().join("out"), EXPORT, &[]).unwrap();
    let launches = export(&mut recording, &folder, false).unwrap();
    folder.finish().unwrap();
    for launch in 1..=launches {
        let name = format!("kernel-{launch}.traceg");
        let before = body(&list.with_file_name(&name), add_immediate);
        let after = body(&target.path().join("out").join(&name), false);
        assert!(before.len() > 100, "{archive}, {name}: {} lines", before.len());
        let differs = before.iter().zip(&after).find(|(before, after)| before != after);
        assert_eq!((differs, after.len()), (None, before.len()), "{archive}, {name}");
    }
    true
}

/// Records an archive and compares the bytes with the committed recording, or writes it where that
/// is asked for; whether the archive is there.
fn is_committed(archive: &str, name: &str) -> bool {
    let Some(source) = unpack(archive) else { return false };
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join(name);
    let list = lists(source.path()).remove(0);
    let output = Output::new(&file, store::KIND, false, &[]).unwrap();
    record_trace(&list, Reach::Folder, &output, u64::MAX).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings").join(name);
    if switch::is_on("STRATA_BLESS") {
        std::fs::copy(&file, &committed).unwrap();
    }
    let [now, before] = [&file, &committed].map(|file| std::fs::read(file).unwrap());
    assert!(
        now == before,
        "host-cli/recordings/{name} is not what {archive} gives; its README says how to make it again"
    );
    true
}

/// The two-level machine finds every deschedule marked, and counts every instruction.
fn check_machine(launch: &TracedLaunch, warp_instructions: u64) {
    let config = Organisation::FLAT_TWO_LEVEL;
    let image = CheckedImage::new(launch.code.image.borrow()).unwrap();
    let mut awaited = [LaneMask::EMPTY; 256];
    let mut counted = 0;
    for (path, warps) in launch.paths.iter() {
        let counters = count_path(&config, image, &mut awaited, path.iter().copied()).unwrap();
        counted += counters.get(Event::WarpInstruction) * warps;
    }
    assert_eq!(counted, warp_instructions);
}

/// A test: whether it ran, or lacks its archive.
type Test = fn() -> bool;

const TESTS: &[(&str, Test)] = &[
    ("rodinia_bfs_is_what_its_text_says", || {
        let found = check("rodinia-bfs-sm80-v3.tar.xz");
        found.inspect(|found| assert_eq!(*found, (16, 159_509))).is_some()
    }),
    ("vectoradd_is_what_its_text_says", || {
        let found = check("vectoradd-sm80-v5.tar.xz");
        found.inspect(|found| assert_eq!(*found, (1, 26_601))).is_some()
    }),
    ("ffma_of_an_h100_is_what_its_text_says", || {
        let found = check("ffma-sm90-h100-v5.tar.xz");
        found.inspect(|(launches, _)| assert_eq!(*launches, 3)).is_some()
    }),
    ("synthetic_stream_is_what_its_text_says", || {
        let found = check("synthetic-stream-sm70-v5.tar.xz");
        found.inspect(|found| assert_eq!(*found, (1, 738_816))).is_some()
    }),
    ("the_committed_recording_of_bfs_is_what_its_trace_gives", || {
        is_committed("rodinia-bfs-sm80-v3.tar.xz", "bfs-sm80.strata")
    }),
    ("the_committed_recording_of_vectoradd_is_what_its_trace_gives", || {
        is_committed("vectoradd-sm80-v5.tar.xz", "vectoradd-sm80.strata")
    }),
    ("rodinia_bfs_is_exported_line_by_line", || exports("rodinia-bfs-sm80-v3.tar.xz", true)),
    ("synthetic_stream_is_exported_line_by_line", || {
        exports("synthetic-stream-sm70-v5.tar.xz", false)
    }),
    ("a_reference_cache_finds_the_lines_of_rodinia_bfs", caches::bfs_agrees_with_a_reference),
    ("a_reference_cache_finds_the_lines_of_stream", caches::stream_agrees_with_a_reference),
    (
        "a_reference_cache_finds_the_lines_of_multiply_adds",
        caches::multiply_adds_agree_with_a_reference,
    ),
];

/// Runs the tests whose names hold the argument, if there is one, but no argument of `--skip`, and
/// reports as libtest does.
fn main() -> ExitCode {
    let (mut only, mut skipped) = (None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--skip" => skipped.extend(arguments.next()),
            argument if argument.starts_with('-') => {}
            _ => only = Some(argument),
        }
    }
    let holds = |name: &str, part: &String| name.contains(part.as_str());
    let chosen = |name: &str| {
        only.as_ref().is_none_or(|only| holds(name, only))
            && !skipped.iter().any(|skipped| holds(name, skipped))
    };
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for (name, test) in TESTS.iter().filter(|(name, _)| chosen(name)) {
        let result = match std::panic::catch_unwind(test) {
            Ok(true) => {
                passed += 1;
                "ok"
            }
            Ok(false) => {
                ignored += 1;
                "ignored, its archive is not here (set STRATA_TRACES to the folder)"
            }
            Err(_) => {
                failed += 1;
                "FAILED"
            }
        };
        println!("test {name} ... {result}");
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; \
         {} filtered out\n",
        TESTS.len() - passed - failed - ignored
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
