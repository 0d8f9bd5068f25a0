//! Any text as a technology file: an error, or memories under which a kernel runs.
#![no_main]

/// Where mutants take lines and words from.
const OTHERS: &[&str] = &[
    include_str!("../corpus/technology/format.toml"),
    include_str!("../corpus/technology/warrf.toml"),
];

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // One mutant in four is any bytes.
    if seed.is_multiple_of(4) {
        libfuzzer_sys::fuzzer_mutate(data, size, max_size)
    } else {
        strata_fuzzing::mutate_within(&mut data[..max_size], size, seed, OTHERS)
    }
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| strata_fuzzing::technology(bytes));
