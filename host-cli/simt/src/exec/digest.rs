//! Digest: all that a CTA's future depends on, in 128 bits.
//!
//! Two equal digests of one CTA, with nothing changed meanwhile that others see, mean that it goes
//! round in circles.

use crate::row::Row;

/// A digest in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest([u64; 2]);

impl Digest {
    pub(crate) fn new() -> Self {
        Self([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344])
    }

    pub(crate) fn word(&mut self, word: u64) {
        // Odd multipliers: each step is a bijection of the state and of the word.
        const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
        for (half, multiplier) in self.0.iter_mut().zip(MULTIPLIERS) {
            *half = (half.rotate_left(23) ^ word).wrapping_mul(multiplier);
        }
    }

    pub(crate) fn rows(&mut self, rows: &[Row]) {
        self.word(rows.len() as u64);
        for row in rows {
            for pair in row.0.as_chunks::<2>().0 {
                self.word(u64::from(pair[0]) | u64::from(pair[1]) << 32);
            }
        }
    }

    pub(crate) fn words(&mut self, words: &[u32]) {
        self.word(words.len() as u64);
        for &word in words {
            self.word(word.into());
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (whole, rest) = bytes.as_chunks::<8>();
        for &eight in whole {
            self.word(u64::from_le_bytes(eight));
        }
        for &byte in rest {
            self.word(byte.into());
        }
    }

    pub(crate) fn finish(self) -> [u64; 2] {
        self.0
    }
}
