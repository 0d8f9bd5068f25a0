//! Any bytes as an array file: an error, or an array within its limit that is written as it was.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| strata_fuzzing::array(bytes));
