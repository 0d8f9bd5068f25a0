//! Line: what a simulated line does to bytes.

use std::collections::BTreeMap;

/// Numbers from a seed (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// Bytes that a line carries in a millisecond, about 115,200 baud.
pub(crate) const BYTES_PER_MS: usize = 12;

/// One direction. Each byte takes a millisecond.
#[derive(Default)]
pub(crate) struct Line {
    /// By when they arrive, and in which order they were sent.
    bytes: BTreeMap<(u64, u64), u8>,
    sent: u64,
    /// Bytes that were flipped, dropped, sent twice and delayed.
    pub(crate) disturbed: [u32; 4],
}

impl Line {
    fn put(&mut self, arrival_ms: u64, byte: u8) {
        self.bytes.insert((arrival_ms, self.sent), byte);
        self.sent += 1;
    }

    /// Sends a byte. In each of four ways one of `one_in` is disturbed; 0: none.
    pub(crate) fn send(&mut self, now_ms: u64, mut byte: u8, one_in: u64, random: &mut Random) {
        let mut copies = 1;
        let mut arrival_ms = now_ms + 1;
        for kind in 0..4 {
            if one_in == 0 || random.below(one_in) != 0 {
                continue;
            }
            self.disturbed[kind] += 1;
            match kind {
                0 => byte ^= 1 << random.below(8),
                1 => copies = 0,
                2 => copies = 2,
                // Those behind it overtake it.
                _ => arrival_ms += 1 + random.below(20),
            }
        }
        for _ in 0..copies {
            self.put(arrival_ms, byte);
        }
    }

    /// What has arrived.
    pub(crate) fn arrived(&mut self, now_ms: u64) -> Vec<u8> {
        let later = self.bytes.split_off(&(now_ms + 1, 0));
        core::mem::replace(&mut self.bytes, later).into_values().collect()
    }
}
