//! A line read from left to right: words and numbers, with what was expected where one is wrong.

use super::error::{Problem, expected};

/// The value of each byte as a hexadecimal digit; 16 of any other.
const HEX_DIGITS: [u8; 256] = {
    let mut digits = [16; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// A place in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Skips `text` when a blank or the line's end follows it.
    #[inline]
    pub(crate) fn skip_text(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) if matches!(rest.first(), None | Some(b' ' | b'\t')) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn token(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let end = self.rest.iter().position(|&byte| matches!(byte, b' ' | b'\t'));
        let (token, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        token
    }

    #[cold]
    pub(crate) fn refuse(&self, what: &'static str) -> Problem {
        let end = self.rest.iter().position(|&byte| matches!(byte, b' ' | b'\t'));
        expected(what, &self.rest[..end.unwrap_or(self.rest.len())])
    }

    #[inline]
    fn at_boundary(rest: &[u8]) -> bool {
        matches!(rest.first(), None | Some(b' ' | b'\t'))
    }

    #[inline]
    fn digits(
        &mut self,
        what: &'static str,
        most: usize,
        radix: u64,
        digit: impl Fn(u8) -> Option<u8>,
    ) -> Result<u64, Problem> {
        let mut value = 0_u64;
        let mut count = 0;
        for &byte in self.rest {
            let Some(digit) = digit(byte) else { break };
            count += 1;
            if count > most {
                return Err(self.refuse(what));
            }
            value = value * radix + u64::from(digit);
        }
        if count == 0 || !Self::at_boundary(&self.rest[count..]) {
            return Err(self.refuse(what));
        }
        self.rest = &self.rest[count..];
        Ok(value)
    }

    /// A hexadecimal number of at most `most` digits, with or without `0x`.
    #[inline]
    pub(crate) fn hex(&mut self, what: &'static str, most: usize) -> Result<u64, Problem> {
        self.skip_blanks();
        let whole = *self;
        if let Some(rest) = self.rest.strip_prefix(b"0x") {
            self.rest = rest;
        }
        let value = self.digits(what, most, 16, |byte| {
            let digit = HEX_DIGITS[usize::from(byte)];
            (digit < 16).then_some(digit)
        });
        value.map_err(|_| whole.refuse(what))
    }

    /// A mask of the warp's lanes, always of 8 digits: a shorter one lost some.
    #[inline]
    pub(crate) fn mask(&mut self) -> Result<u32, Problem> {
        const WHAT: &str = "a mask of 8 hexadecimal digits";
        self.skip_blanks();
        let whole = *self;
        let mask = self.hex(WHAT, 8)? as u32;
        let digits = whole.rest.len() - self.rest.len();
        if digits == 8 && !whole.rest.starts_with(b"0x") {
            Ok(mask)
        } else {
            Err(whole.refuse(WHAT))
        }
    }

    /// A decimal number without a sign, of at most 18 digits.
    #[inline]
    pub(crate) fn unsigned(&mut self, what: &'static str) -> Result<u64, Problem> {
        self.skip_blanks();
        self.digits(what, 18, 10, |byte| byte.is_ascii_digit().then(|| byte - b'0'))
    }

    /// A decimal number, perhaps with a minus, that fits 64 bits.
    #[inline]
    pub(crate) fn signed(&mut self, what: &'static str) -> Result<i64, Problem> {
        self.skip_blanks();
        let whole = *self;
        let negative = self.rest.first() == Some(&b'-');
        if negative {
            self.rest = &self.rest[1..];
        }
        match self.unsigned_64(what) {
            Ok(value) if negative && value <= 1 << 63 => Ok((value as i64).wrapping_neg()),
            Ok(value) if !negative && value < 1 << 63 => Ok(value as i64),
            _ => Err(whole.refuse(what)),
        }
    }

    /// Decimal, up to 2^63: deltas of addresses take all of it.
    #[inline]
    fn unsigned_64(&mut self, what: &'static str) -> Result<u64, Problem> {
        // 19 digits stay below 2^64.
        self.digits(what, 19, 10, |byte| byte.is_ascii_digit().then(|| byte - b'0'))
    }

    /// The immediate operand, which is of no use here: decimal or hexadecimal, perhaps negative.
    #[inline]
    pub(crate) fn immediate(&mut self) -> Result<(), Problem> {
        const WHAT: &str = "an immediate";
        self.skip_blanks();
        let whole = *self;
        if self.rest.starts_with(b"0x") {
            self.hex(WHAT, 16)?;
            return Ok(());
        }
        if let [b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.unsigned_64(WHAT).map(|_| ()).map_err(|_| whole.refuse(WHAT))
    }

    /// Checks that nothing is left.
    #[inline]
    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        self.skip_blanks();
        if self.rest.is_empty() { Ok(()) } else { Err(expected("the end of the line", self.rest)) }
    }
}
