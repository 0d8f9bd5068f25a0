//! Any bytes as a recording: an error, or launches that run in both modes. Mutants change fields
//! and numbers and make the checksums right again; an eighth are libFuzzer's own, of bytes.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use strata_fuzzing::traces::{Random, check_recording, mutate_recording};

fuzz_target!(|bytes: &[u8]| {
    check_recording(bytes);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let mutant = mutate_recording(&data[..size], &mut random);
    let mutant = mutant.filter(|mutant| mutant.len() <= max_size && random.below(8) != 0);
    let Some(mutant) = mutant else { return fuzzer_mutate(data, size, max_size) };
    data[..mutant.len()].copy_from_slice(&mutant);
    mutant.len()
});
