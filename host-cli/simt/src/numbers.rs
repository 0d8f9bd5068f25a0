//! Numbers in few bytes: LEB128, with the sign in the lowest bit where there is one.

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number with a sign.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63) as u64);
}

/// Appends a text.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// A place in a buffer. Every method gives `None` where the buffer ends or makes no sense.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a>(
    /// What is left.
    pub &'a [u8],
);

impl<'a> Source<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The next number with a sign.
    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number that must fit a smaller type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// How many things follow, each of at least one byte: never more than bytes are left.
    pub fn count(&mut self) -> Option<usize> {
        let count: usize = self.small()?;
        (count <= self.0.len()).then_some(count)
    }

    /// Bytes with their count before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(bytes)
    }

    /// A text with its length before it, in UTF-8.
    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX >> 1, u64::MAX];
        let mut out = Vec::new();
        for value in values {
            put(&mut out, value);
            put_signed(&mut out, value as i64);
            put_signed(&mut out, (value as i64).wrapping_neg());
        }
        let mut source = Source(&out);
        for value in values {
            assert_eq!(source.number(), Some(value));
            assert_eq!(source.signed(), Some(value as i64));
            assert_eq!(source.signed(), Some((value as i64).wrapping_neg()));
        }
        assert_eq!(source.number(), None);
        assert_eq!(Source(&[0xff; 10]).number(), None, "more than 64 bits");
        assert_eq!(Source(&[3, b'a']).bytes(), None, "longer than what is left");
    }
}
