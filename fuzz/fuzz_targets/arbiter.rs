//! Any bytes as traffic of an arbiter: it does what the reference does, and loses nothing.
#![no_main]

#[path = "../../core/tests/arbiter/reference.rs"]
mod reference;
#[path = "../../core/tests/arbiter/shadow.rs"]
mod shadow;
#[expect(dead_code, reason = "the results of a stream are for tests that count")]
#[path = "../../core/tests/arbiter/stream.rs"]
mod stream;

use stream::{Shape, Stream};

/// Bytes that a cycle takes, about.
const BYTES: usize = 4;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut left = bytes.iter();
    // As many bytes as the limit takes; zeros at the end of the input.
    let mut choose = |limit: u32| {
        let mut number = 0;
        let mut most = limit - 1;
        while most > 0 {
            number = number << 8 | u32::from(left.next().copied().unwrap_or(0));
            most >>= 8;
        }
        number % limit
    };
    let shape = Shape::choose(&mut choose);
    let cycles = (bytes.len() / BYTES) as u64;
    Stream::new("these bytes".to_owned(), shape, &mut choose).run(cycles);
});
