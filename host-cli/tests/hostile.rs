//! Traces and recordings that were changed on purpose: whatever is read runs in both modes, and
//! nothing takes more memory than docs/TRACES.md says.

#[path = "../../tests/switch.rs"]
mod switch;

use std::path::{Path, PathBuf};

use strata_files::output::Output;
use strata_fuzzing::traces::{
    Random, check_recording, check_trace, mutate_recording, mutate_trace,
};
use strata_trace::Reach;
use strata_trace::store::{self, record_trace};

/// Mutants of each format; a hundred times as many among all tests.
fn mutants() -> u64 {
    if switch::is_on("STRATA_FULL_TESTS") { 200_000 } else { 2000 }
}

/// A recording to be written.
fn output(file: &Path) -> Output {
    Output::new(file, store::KIND, false, &[]).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// Checks mutants of the seeds; returns how many were read.
fn check_all(
    seeds: &[Vec<u8>],
    mutate: impl Fn(&[u8], &mut Random) -> Vec<u8>,
    check: impl Fn(&[u8]) -> bool + std::panic::RefUnwindSafe,
) -> u64 {
    let one = |seed: u64| {
        let mut random = Random(seed);
        let mutant = mutate(&seeds[random.below(seeds.len())], &mut random);
        let checked = std::panic::catch_unwind(|| check(&mutant));
        u64::from(checked.unwrap_or_else(|_| panic!("mutant {seed} cannot be run")))
    };
    (1..=mutants()).map(one).sum()
}

#[test]
fn traces_changed_by_lines_and_words_are_refused_or_run() {
    let files = ["kernel-1.traceg", "kernel-2.traceg", "kernel-3-ctx_0x55e3a796e730.traceg"];
    let seeds = files.map(|file| std::fs::read(fixtures().join(file)).unwrap());
    assert!(seeds.iter().all(|seed| check_trace(seed)));
    let read = check_all(&seeds, mutate_trace, check_trace);
    let of = mutants();
    assert!((of / 40..of / 2).contains(&read), "{read} of {of} were read");
}

/// Text of version 6 and a container, small ones, which the fuzz target begins with as well.
#[test]
fn newer_traces_are_refused_or_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/trace");
    let files = ["version-6.traceg", "version-6.tracez", "version-5-dictionary.tracez"];
    let seeds = files.map(|file| std::fs::read(folder.join(file)).unwrap());
    assert!(seeds.iter().all(|seed| check_trace(seed)));
    let read = check_all(&seeds, mutate_trace, check_trace);
    let of = mutants();
    assert!((of / 40..of / 2).contains(&read), "{read} of {of} were read");
}

#[test]
fn recordings_changed_behind_their_checksums_are_refused_or_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.strata");
    record_trace(&fixtures().join("kernelslist.g"), Reach::Folder, &output(&file), 1000).unwrap();
    let seeds = [std::fs::read(&file).unwrap()];
    assert!(check_recording(&seeds[0]));
    let mutate = |bytes: &[u8], random: &mut Random| mutate_recording(bytes, random).unwrap();
    let read = check_all(&seeds, mutate, check_recording);
    let of = mutants();
    assert!((of / 40..of / 2).contains(&read), "{read} of {of} were read");
}

/// A chunk of a recording, written as docs and sources of the format say.
fn chunk(tag: [u8; 4], data: &[u8]) -> Vec<u8> {
    let stored = lz4_flex::block::compress(data);
    let mut bytes = tag.to_vec();
    bytes.extend_from_slice(&(data.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&stored);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// A recording of one launch with these facts.
fn recording(facts: &[u8]) -> Vec<u8> {
    let mut chunks: Vec<Vec<u8>> =
        facts.chunks(1 << 20).map(|part| chunk(*b"FACT", part)).collect();
    chunks.push(chunk(*b"DONE", &[0]));
    let count = chunks.len() as u64;
    chunks.push(chunk(*b"END.", &count.to_le_bytes()));
    [b"STRATA\x1a\n\x05\0\0\0".to_vec(), chunks.concat()].concat()
}

/// Name, grid, block, shared memory, registers, binary version, windows, tracer, lines; order and
/// registers by which residency is counted.
const HEADER: [u8; 18] = [1, b'k', 1, 1, 1, 32, 1, 1, 0, 1, 70, 0, 0, 0, 0, 0, 1, 1];

fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Runs the program with at most this much memory. Unit: KiB.
#[cfg(target_os = "linux")]
fn within(memory: u64, folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_strata");
    let output = std::process::Command::new("sh")
        .current_dir(folder)
        .args(["-c", &format!("ulimit -v {memory} && exec '{program}' {arguments}")])
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// 40 million instructions of five bytes each, in less than a megabyte.
#[cfg(target_os = "linux")]
#[test]
fn a_small_file_with_many_facts_is_refused_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut facts = [&HEADER[..], &number(40_000_000)].concat();
    facts.resize(facts.len() + 200_000_000, 0);
    let bytes = recording(&facts);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    std::fs::write(folder.path().join("f.strata"), bytes).unwrap();
    for command in ["trace info f.strata", "run f.strata", "run f.strata --mode cycle"] {
        let (status, error) = within(1_200_000, folder.path(), command);
        assert_eq!(status, Some(2), "{command}: {error}");
        assert!(error.contains("more than 1048576 instructions"), "{command}: {error}");
    }
}

/// 2^28 executions of an instruction without addresses, in a file of some kilobytes.
#[cfg(target_os = "linux")]
#[test]
fn executions_that_are_only_claimed_take_no_memory() {
    use strata_compiler::program::Image;
    use strata_core::image::{MemorySpace, StaticInstruction, Unit};
    use strata_core::path::PathStep;
    use strata_core::units::LaneMask;
    use strata_simt::paths::{PathDictionary, WarpPath};
    use strata_trace::store::{Recorder, Stored};
    use strata_trace::{Header, TracedInstruction};

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.strata");
    let count = 1 << 12;
    let exchange = StaticInstruction {
        space: Some(MemorySpace::Shared),
        ..StaticInstruction::new(Unit::Memory)
    };
    let named = |pc| TracedInstruction {
        pc,
        mnemonic: "SHFL".to_owned(),
        destinations: Vec::new(),
        sources: Vec::new(),
        width: 0,
    };
    let turn = PathStep { pc: 0, length: count, mask: LaneMask(u32::MAX) };
    let warp = WarpPath { cta: 0, warp: 0, path: 0 };
    let turns = 1 << 16;
    let stored = Stored {
        header: Header {
            name: "k".to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            shared_bytes: 0,
            registers: 1,
            binary_version: 70,
            shared_base: 0,
            local_base: 0,
            parameter_base: 0,
            tracer_version: 5,
            line_info: false,
        },
        instructions: (0..u64::from(count)).map(named).collect(),
        image: Image {
            instructions: vec![exchange; count as usize],
            registers: 1,
            ..Image::default()
        },
        order: None,
        resident_registers: 1,
        assumptions: Vec::new(),
        paths: PathDictionary::from_parts(vec![turn; turns], vec![turns], vec![warp]).unwrap(),
    };
    let mut recorder = Recorder::create(&output(&file)).unwrap();
    recorder.launch(&stored).unwrap();
    recorder.finish().unwrap();
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size < 20_000, "{size}");
    let (status, error) = within(1_200_000, folder.path(), "run x.strata --mode cycle");
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("more than 134217728 executions of memory instructions"), "{error}");
}
