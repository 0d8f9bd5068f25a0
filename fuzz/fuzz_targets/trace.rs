//! Any bytes as an Accel-Sim trace, text or container: an error, or a launch for both modes.
//! Mutants change lines, words and the container's numbers; an eighth are libFuzzer's own.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use strata_fuzzing::traces::{Random, check_trace, mutate_trace};

fuzz_target!(|text: &[u8]| {
    check_trace(text);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let mutant = mutate_trace(&data[..size], &mut random);
    if random.below(8) == 0 || mutant.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    data[..mutant.len()].copy_from_slice(&mutant);
    mutant.len()
});
