//! Any text as a design file: an error, or a design under which a kernel runs in both modes.
#![no_main]

/// Where mutants take lines and words from.
const OTHERS: &[&str] = &[
    include_str!("../corpus/design/format.toml"),
    include_str!("../corpus/design/mine.toml"),
    include_str!("../corpus/design/pool-partial.toml"),
    include_str!("../corpus/design/managed-partial.toml"),
    include_str!("../corpus/design/in-time.toml"),
];

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // One mutant in four is any bytes.
    if seed.is_multiple_of(4) {
        libfuzzer_sys::fuzzer_mutate(data, size, max_size)
    } else {
        strata_fuzzing::mutate_within(&mut data[..max_size], size, seed, OTHERS)
    }
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| strata_fuzzing::design(bytes));
