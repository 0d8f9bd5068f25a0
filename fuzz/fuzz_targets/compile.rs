//! Any bytes as a kernel, or as PTX: both checkers accept what the compiler makes of it.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use strata_compiler::fuzzing::{check, is_text};
use strata_ptx::fuzzing::{Random, mutate};

fuzz_target!(|bytes: &[u8]| check(bytes));

// A byte of a generated kernel is a choice, which libFuzzer changes well; PTX is changed by tokens.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if !is_text(&data[..size]) {
        return fuzzer_mutate(data, size, max_size);
    }
    let text = data[..size].to_vec();
    let mutant = mutate(&text, &text, &mut Random(u64::from(seed)));
    let length = mutant.len().min(max_size);
    data[..length].copy_from_slice(&mutant[..length]);
    length
});
