//! Keys: 128-bit FNV-1a digests of what a result depends on, so that a result is found again by
//! what it is of.

use std::fmt;
use std::io::{self, Read, Write};

/// A digest of 128 bits, shown as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

impl Key {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut digest = Digest::default();
        digest.add(bytes);
        digest.key()
    }

    /// From its hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| plain).map(Self)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:032x}", self.0)
    }
}

/// A digest so far.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u128);

impl Default for Digest {
    fn default() -> Self {
        Self(Key::BASIS)
    }
}

impl Digest {
    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(Key::PRIME);
        }
    }

    /// Appends a text and its length, so that no two lists of texts are the same bytes.
    pub fn text(&mut self, text: &str) {
        self.add(&(text.len() as u64).to_le_bytes());
        self.add(text.as_bytes());
    }

    /// Appends what `read` gives, and its length.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self, mut read: impl Read) -> io::Result<()> {
        let length = io::copy(&mut read, self)?;
        self.add(&length.to_le_bytes());
        Ok(())
    }

    /// The digest of all that was appended.
    pub const fn key(self) -> Key {
        Key(self.0)
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the authors' tables for FNV-1a of 128 bits.
    #[test]
    fn digests_are_fnv() {
        assert_eq!(Key::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(Key::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
        let key = Key::of(b"foobar");
        assert_eq!(Key::parse(&key.to_string()), Some(key));
        assert_eq!(Key::parse("12"), None);
        assert_eq!(Key::parse(&"+".repeat(32)), None);
    }

    #[test]
    fn lists_of_texts_differ() {
        let of = |texts: &[&str]| {
            let mut digest = Digest::default();
            for text in texts {
                digest.text(text);
            }
            digest.key()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
    }
}
