//! Mutants of good files for about a second, from a seed that a failure names.

use std::path::Path;
use std::time::{Duration, Instant};

use strata_ptx::fuzzing::Random;

use super::*;
use strata_design::file::FORMAT as DESIGN;
use strata_design::import::FORMAT as TECHNOLOGY;
use strata_design::storage_technology::FORMAT as STORAGE;

const SEED: u64 = 0x5eed;

/// Checks mutants until the time is over; at least some, however slow the machine is.
fn check(texts: &[&str], target: fn(&[u8])) {
    for text in texts {
        target(text.as_bytes());
    }
    let end = Instant::now() + Duration::from_millis(700);
    let mut number = 0;
    while number < 20 || Instant::now() < end {
        let seed = SEED + number;
        let mut random = Random(seed);
        let text = texts[random.below(texts.len())];
        let other = texts[random.below(texts.len())];
        let mutant = mutate(text, other, &mut random);
        let done = std::panic::catch_unwind(|| target(mutant.as_bytes()));
        assert!(done.is_ok(), "seed {seed:#x}:\n{mutant}");
        number += 1;
    }
}

#[test]
fn mutants_of_launch_files_are_read_or_refused() {
    let launch = |name| match name {
        "vectoradd" => include_str!("../../workloads/vectoradd/launch.toml"),
        "bfs" => include_str!("../../workloads/bfs/launch.toml"),
        _ => include_str!("../../workloads/needle/launch.toml"),
    };
    check(&[TINY_LAUNCH, launch("vectoradd"), launch("bfs"), launch("needle")], super::launch);
}

#[test]
fn mutants_of_design_files_are_read_or_refused() {
    let managed = "base = \"diss-orf3-lrf-split\"\n[orf]\nentries = 4\nlrf = \"unified\"\n";
    let pool = "base = \"sttram-wpool\"\n[collectors]\nwrite_pool_entries = 8\n";
    check(&[DESIGN, managed, pool], design);
}

#[test]
fn mutants_of_technology_files_are_read_or_refused() {
    let built_in = include_str!("../../design/data/technologies/warrf.toml");
    check(&[TECHNOLOGY, built_in, STORAGE], technology);
}

#[test]
fn mutants_of_outputs_are_read_or_refused() {
    let inputs = [
        include_str!("../../../tests/cli/inputs/nvsim-output.txt"),
        include_str!("../../../tests/cli/inputs/cacti-output.txt"),
    ];
    check(&inputs, import);
}

/// Recordings of another version would be refused at once, and find nothing. Most others are broken
/// on purpose.
#[test]
fn some_recordings_in_the_corpus_can_be_read() {
    use crate::traces::check_recording;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recording");
    let files = std::fs::read_dir(folder).expect("a folder");
    let read = files.map(|file| {
        let bytes = std::fs::read(file.expect("a file").path()).expect("it is readable");
        check_recording(&bytes)
    });
    let count = read.filter(|&read| read).count();
    assert!(count >= 10, "{count}");
}

/// What a fuzz target does with an input.
type Target = fn(&[u8]);

/// What libFuzzer found worth keeping, and what the targets start from.
#[test]
fn the_corpora_are_read_or_refused() {
    use crate::traces::{check_recording, check_trace};
    let targets: [(&str, Target); 7] = [
        ("array", array),
        ("design", design),
        ("import", import),
        ("launch", launch),
        ("recording", |bytes| {
            check_recording(bytes);
        }),
        ("technology", technology),
        ("trace", |bytes| {
            check_trace(bytes);
        }),
    ];
    for (name, target) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
        let mut count = 0;
        for entry in std::fs::read_dir(folder).expect(name) {
            let path = entry.expect(name).path();
            let bytes = std::fs::read(&path).expect(name);
            let done = std::panic::catch_unwind(|| target(&bytes));
            assert!(done.is_ok(), "{}", path.display());
            count += 1;
        }
        assert!(count > 1, "{name}");
    }
}
