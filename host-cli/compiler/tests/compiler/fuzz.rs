//! The fuzz target's check, run on choices with fixed seeds and on mutants of real PTX.

use std::panic::catch_unwind;
use std::path::Path;

use strata_compiler::fuzzing::{Choices, check, generate, is_text};
use strata_ptx::fuzzing::{Random, mutate};

use crate::kernels::{SPILLING, TEXTS};

/// As many bytes as a seed says, none of which begins like PTX.
fn bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..8 + random.below(600)).map(|_| random.draw() as u8).collect();
    bytes[0] |= 0x80;
    bytes
}

#[test]
fn both_checkers_accept_what_is_made_of_generated_kernels() {
    for seed in 0..120 {
        let bytes = bytes(&mut Random(seed));
        assert!(!is_text(&bytes));
        assert!(catch_unwind(|| check(&bytes)).is_ok(), "seed {seed}");
    }
}

#[test]
fn both_checkers_accept_what_is_made_of_mutants() {
    let mut compiled = 0;
    for seed in 0..300 {
        let mut random = Random(seed);
        let texts = [TEXTS[seed as usize % TEXTS.len()].1, SPILLING];
        let text = texts[random.below(2)].as_bytes();
        let mutant = mutate(text, text, &mut random);
        compiled += usize::from(is_text(&mutant));
        assert!(catch_unwind(|| check(&mutant)).is_ok(), "seed {seed}");
    }
    assert!(compiled > 25, "{compiled}");
}

/// What libFuzzer found worth keeping, and what the target starts from.
#[test]
fn both_checkers_accept_what_is_made_of_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/compile");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        assert!(catch_unwind(|| check(&bytes)).is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 1, "{count}");
}

/// The generator reaches what it is for: every kind of flow, calls, barriers and wide values.
#[test]
fn generated_kernels_have_every_kind_of_statement() {
    let mut all = String::new();
    for seed in 0..100 {
        all += &generate(&mut Choices::new(&bytes(&mut Random(seed))));
    }
    let wanted = [
        "\nbra L",
        "@%p1 bra",
        "@!%p",
        "brx.idx",
        "call (out)",
        "bar.sync",
        "ret;\n",
        "exit;",
        "bra W5",
        "{\n.reg .b32",
        "mov.b128",
        "subc",
        "shfl.sync",
        "ld.global.v4",
        "W5:",
    ];
    for wanted in wanted {
        assert!(all.contains(wanted), "{wanted:?}");
    }
}
