//! The header of an `.npy` file: a dictionary of three keys, as Python writes it.
//!
//! Reads what NumPy writes, with the freedoms that a writer has: any order of the keys, either
//! quote, any space between the parts. What else Python would evaluate to the same is refused with
//! its place.

use super::super::problem::ArrayProblem;

/// Most sides of an array, as NumPy has them.
const MAX_SIDES: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    /// The type of the elements.
    pub(super) descr: Descr<'a>,
    /// Whether the fastest index is the first.
    pub(super) fortran_order: bool,
    /// Sides, slowest first.
    pub(super) shape: Vec<u64>,
}

/// How a header says the type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descr<'a> {
    /// A text.
    Code(&'a str),
    /// Anything in brackets: fields or sub-arrays. It is not read further.
    Structured,
}

type Result<T> = std::result::Result<T, ArrayProblem>;

/// A file that is no `.npy` file.
pub(super) fn malformed(because: impl Into<String>) -> ArrayProblem {
    ArrayProblem::Malformed { format: "`.npy`", because: because.into() }
}

/// Reads a header of this major version.
pub(super) fn parse(text: &[u8], version: u8) -> Result<Header<'_>> {
    let mut text = Text { bytes: text, at: 0, longs: version < 3 };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    text.expect(b'{')?;
    while !text.takes(b'}') {
        let (at, key) = (text.at, text.string()?);
        text.expect(b':')?;
        let is_new = match key {
            "descr" => descr.replace(text.descr()?).is_none(),
            "fortran_order" => fortran_order.replace(text.boolean()?).is_none(),
            "shape" => shape.replace(text.shape()?).is_none(),
            _ => return Err(wrong_at(at, &format!("`{key}` is not a key"))),
        };
        if !is_new {
            return Err(wrong_at(at, &format!("the key `{key}` is there twice")));
        }
        if descr == Some(Descr::Structured) {
            break;
        }
        if !text.takes(b',') {
            text.expect(b'}')?;
            break;
        }
    }
    if descr == Some(Descr::Structured) {
        // Refused by its name, whatever follows.
        let (fortran_order, shape) = (false, Vec::new());
        return Ok(Header { descr: Descr::Structured, fortran_order, shape });
    }
    text.end()?;
    let missing = |key: &str| malformed(format!("its header has no `{key}`"));
    Ok(Header {
        descr: descr.ok_or_else(|| missing("descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// A header that is read from `at` on.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether integers may have the suffix of Python 2, which NumPy takes up to version 2.
    longs: bool,
}

fn wrong_at(at: usize, problem: &str) -> ArrayProblem {
    malformed(format!("byte {at} of its header: {problem}"))
}

impl<'a> Text<'a> {
    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let blank = rest.iter().take_while(|byte| b" \t\n\r\x0c".contains(byte)).count();
        self.at += blank;
        self.bytes.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.takes(byte) { Ok(()) } else { Err(self.wrong(&format!("`{}`", char::from(byte)))) }
    }

    fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.wrong("the end of the header")) }
    }

    /// What must stand at the next place and does not.
    fn wrong(&mut self, expected: &str) -> ArrayProblem {
        let found = match self.peek() {
            None => "the header ends".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}` stands", char::from(byte)),
            Some(byte) => format!("the byte {byte:#04x} stands"),
        };
        wrong_at(self.at, &format!("{found} where {expected} must be"))
    }

    /// A text between quotes, without escapes.
    fn string(&mut self) -> Result<&'a str> {
        let start = self.peek().map(|_| self.at);
        // Python 2 marks texts so.
        self.at += usize::from(self.bytes[self.at..].starts_with(b"u"));
        let Some(&quote) = self.bytes.get(self.at).filter(|byte| b"'\"".contains(byte)) else {
            self.at = start.unwrap_or(self.at);
            return Err(self.wrong("a text in quotes"));
        };
        let rest = &self.bytes[self.at + 1..];
        let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'\\' && *byte != quote;
        let length = rest.iter().take_while(|byte| is_plain(byte)).count();
        self.at += 1 + length;
        if self.bytes.get(self.at) != Some(&quote) {
            return Err(self.wrong("a quote that ends the text"));
        }
        self.at += 1;
        Ok(std::str::from_utf8(&rest[..length]).unwrap_or_default())
    }

    fn descr(&mut self) -> Result<Descr<'a>> {
        match self.peek() {
            Some(b'[' | b'(' | b'{') => Ok(Descr::Structured),
            _ => self.string().map(Descr::Code),
        }
    }

    fn boolean(&mut self) -> Result<bool> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.bytes[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("`True` or `False`"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        self.expect(b'(')?;
        let mut sides = Vec::new();
        while !self.takes(b')') {
            if sides.len() == MAX_SIDES {
                return Err(wrong_at(self.at, "an array has at most 64 sides"));
            }
            sides.push(self.side()?);
            let is_more = self.takes(b',');
            if !is_more && sides.len() == 1 {
                // One number in brackets is no tuple.
                return Err(self.wrong("`,`"));
            }
            if !is_more {
                self.expect(b')')?;
                break;
            }
        }
        Ok(sides)
    }

    /// A decimal number of 64 bits.
    fn side(&mut self) -> Result<u64> {
        self.peek();
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, behind) = rest.split_at(digits);
        if digits.is_empty() || (digits[0] == b'0' && digits.len() > 1) {
            return Err(self.wrong("a decimal number of at least 0"));
        }
        let value = digits.iter().try_fold(0_u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        let value = value.ok_or_else(|| wrong_at(self.at, "the side has more than 64 bits"))?;
        self.at += digits.len() + usize::from(self.longs && behind.starts_with(b"L"));
        Ok(value)
    }
}
