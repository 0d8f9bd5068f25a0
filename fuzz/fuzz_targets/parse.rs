//! Any bytes at all: the parser must neither panic nor give a span outside the text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| strata_ptx::fuzzing::check(bytes));
