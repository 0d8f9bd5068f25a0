//! Random numbers for the tests of this crate's modules.

/// Numbers below limits that are asked for; a seed that is not 0 gives the same ones everywhere.
pub(crate) fn numbers_below(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move |limit| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % limit
    }
}
