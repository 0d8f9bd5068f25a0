//! Constants and constant expressions.

use super::{Parser, Result};
use crate::lexer::Token;
use crate::module::Span;

/// Deepest nesting of an expression.
const DEPTH_MAX: u32 = 64;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// Wraps at 64 bits; `unsigned` decides how it is divided, compared and shifted.
    Integer { bits: u64, unsigned: bool },
    /// Bits of a single-precision number.
    Float32(u32),
    /// Bits of a double-precision number.
    Float64(u64),
}

/// Binary operators by precedence, loosest first.
const PRECEDENCE: &[&[Token]] = &[
    &[Token::OrOr],
    &[Token::AndAnd],
    &[Token::Pipe],
    &[Token::Caret],
    &[Token::And],
    &[Token::EqualEqual, Token::NotEqual],
    &[Token::Less, Token::LessEqual, Token::Greater, Token::GreaterEqual],
    &[Token::ShiftLeft, Token::ShiftRight],
    &[Token::Plus, Token::Minus],
    &[Token::Star, Token::Slash, Token::Percent],
];
/// Level of `+`: what may stand before the `>` of a register range.
const LEVEL_SUM: usize = 8;
/// Level of `*`: what may stand after the `+` of an address.
const LEVEL_PRODUCT: usize = 9;

impl<'a> Parser<'a> {
    /// Whether a constant begins here.
    pub(super) fn at_constant(&self) -> bool {
        match self.peek() {
            Token::Number
            | Token::Decimal
            | Token::Minus
            | Token::Plus
            | Token::Tilde
            | Token::LeftParenthesis => true,
            Token::Word => self.word() == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Result<Constant> {
        self.conditional(0)
    }

    /// A constant expression whose value is an integer.
    pub(super) fn integer(&mut self) -> Result<u64> {
        let span = self.span();
        match self.constant()? {
            Constant::Integer { bits, .. } => Ok(bits),
            _ => Err(self.not_integer(span)),
        }
    }

    /// The count of a register range, which ends at the first `>`.
    pub(super) fn range_count(&mut self) -> Result<u64> {
        let span = self.span();
        match self.binary(LEVEL_SUM, 0)? {
            Constant::Integer { bits, .. } => Ok(bits),
            _ => Err(self.not_integer(span)),
        }
    }

    /// A chain of `+ 4 - 8` after a base address; 0 when there is none.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let mut sum = 0_i64;
        loop {
            let negate = match self.peek() {
                Token::Plus => false,
                Token::Minus => true,
                _ => return Ok(sum),
            };
            self.bump();
            let span = self.span();
            let Constant::Integer { bits, .. } = self.binary(LEVEL_PRODUCT, 0)? else {
                return Err(self.not_integer(span));
            };
            let term = bits as i64;
            sum = if negate { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
        }
    }

    fn not_integer(&mut self, span: Span) -> super::Reported {
        self.error("not-integer", span, "an integer constant is needed here")
    }

    fn conditional(&mut self, depth: u32) -> Result<Constant> {
        let span = self.span();
        let condition = self.binary(0, depth)?;
        if !self.eat(Token::Question) {
            return Ok(condition);
        }
        let Constant::Integer { bits, .. } = condition else { return Err(self.not_integer(span)) };
        let depth = self.deeper(depth)?;
        let yes = self.conditional(depth)?;
        self.expect(Token::Colon, "`:` of a conditional expression")?;
        let no = self.conditional(depth)?;
        Ok(if bits != 0 { yes } else { no })
    }

    fn deeper(&mut self, depth: u32) -> Result<u32> {
        if depth >= DEPTH_MAX {
            return Err(self.error(
                "too-deep",
                self.span(),
                "this expression is nested too deeply",
            ));
        }
        Ok(depth + 1)
    }

    fn binary(&mut self, level: usize, depth: u32) -> Result<Constant> {
        let Some(operators) = PRECEDENCE.get(level) else { return self.unary(depth) };
        let span = self.span();
        let mut left = self.binary(level + 1, depth)?;
        while operators.contains(&self.peek()) {
            let operator = self.bump();
            let right = self.binary(level + 1, depth)?;
            let (
                Constant::Integer { bits: a, unsigned: ua },
                Constant::Integer { bits: b, unsigned: ub },
            ) = (left, right)
            else {
                return Err(self.not_integer(span));
            };
            let unsigned = ua || ub;
            let Some(bits) = evaluate(operator.token, a, b, unsigned) else {
                let message = "this constant expression divides by zero";
                return Err(self.error("division-by-zero", operator.span, message));
            };
            left = Constant::Integer { bits, unsigned };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Constant> {
        let span = self.span();
        let operator = self.peek();
        match operator {
            Token::Minus | Token::Plus | Token::Tilde | Token::Bang => {
                self.bump();
                let depth = self.deeper(depth)?;
                let value = self.unary(depth)?;
                self.apply_unary(operator, value, span)
            }
            Token::LeftParenthesis => {
                self.bump();
                let depth = self.deeper(depth)?;
                if let Some(cast @ ("s64" | "u64")) = self.dot_word() {
                    self.bump();
                    self.expect(Token::RightParenthesis, "`)`")?;
                    let Constant::Integer { bits, .. } = self.unary(depth)? else {
                        return Err(self.not_integer(span));
                    };
                    return Ok(Constant::Integer { bits, unsigned: cast == "u64" });
                }
                let value = self.conditional(depth)?;
                self.expect(Token::RightParenthesis, "`)`")?;
                Ok(value)
            }
            Token::Word if self.word() == "WARP_SZ" => {
                self.bump();
                Ok(Constant::Integer { bits: 32, unsigned: false })
            }
            Token::Number | Token::Decimal => self.number(),
            _ => Err(self.expected("a constant")),
        }
    }

    fn apply_unary(&mut self, operator: Token, value: Constant, span: Span) -> Result<Constant> {
        Ok(match (operator, value) {
            (Token::Plus, value) => value,
            (Token::Minus, Constant::Integer { bits, unsigned }) => {
                Constant::Integer { bits: bits.wrapping_neg(), unsigned }
            }
            (Token::Minus, Constant::Float32(bits)) => Constant::Float32(bits ^ 1 << 31),
            (Token::Minus, Constant::Float64(bits)) => Constant::Float64(bits ^ 1 << 63),
            (Token::Tilde, Constant::Integer { bits, unsigned }) => {
                Constant::Integer { bits: !bits, unsigned }
            }
            (Token::Bang, Constant::Integer { bits, .. }) => {
                Constant::Integer { bits: u64::from(bits == 0), unsigned: false }
            }
            _ => return Err(self.not_integer(span)),
        })
    }

    fn number(&mut self) -> Result<Constant> {
        let span = self.span();
        let text: &'a str = self.word();
        let token = self.bump().token;
        let value = if token == Token::Decimal { decimal(text) } else { number(text) };
        match value {
            Some(value) => Ok(value),
            None => Err(self.bad_number(text, span)),
        }
    }

    fn bad_number(&mut self, text: &str, span: Span) -> super::Reported {
        let text = super::shorten(text);
        let hint = match text.get(..2) {
            Some("0f" | "0F") => "a single-precision constant is `0f` and exactly 8 hex digits",
            Some("0d" | "0D") => "a double-precision constant is `0d` and exactly 16 hex digits",
            Some("0x" | "0X") => "a hexadecimal constant has at most 16 hex digits",
            _ => "integer constants have at most 64 bits",
        };
        let message = format!("`{text}` is not a number");
        self.error_with_hint("bad-number", span, message, Some(hint.into()))
    }
}

/// `None` for a division by zero.
fn evaluate(operator: Token, a: u64, b: u64, unsigned: bool) -> Option<u64> {
    let (sa, sb) = (a as i64, b as i64);
    let less = if unsigned { a < b } else { sa < sb };
    // Shifts of 64 and more push everything out.
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    Some(match operator {
        Token::OrOr => u64::from(a != 0 || b != 0),
        Token::AndAnd => u64::from(a != 0 && b != 0),
        Token::Pipe => a | b,
        Token::Caret => a ^ b,
        Token::And => a & b,
        Token::EqualEqual => u64::from(a == b),
        Token::NotEqual => u64::from(a != b),
        Token::Less => u64::from(less),
        Token::LessEqual => u64::from(less || a == b),
        Token::Greater => u64::from(!less && a != b),
        Token::GreaterEqual => u64::from(!less),
        Token::ShiftLeft => a.checked_shl(amount).unwrap_or(0),
        Token::ShiftRight if unsigned => a.checked_shr(amount).unwrap_or(0),
        Token::ShiftRight => (sa >> amount.min(63)) as u64,
        Token::Plus => a.wrapping_add(b),
        Token::Minus => a.wrapping_sub(b),
        Token::Star => a.wrapping_mul(b),
        Token::Slash if unsigned => a.checked_div(b)?,
        Token::Percent if unsigned => a.checked_rem(b)?,
        Token::Slash if b != 0 => sa.wrapping_div(sb) as u64,
        Token::Percent if b != 0 => sa.wrapping_rem(sb) as u64,
        _ => return None,
    })
}

fn decimal(text: &str) -> Option<Constant> {
    text.parse::<f64>().ok().map(|value| Constant::Float64(value.to_bits()))
}

/// An integer of any base with an optional `U`, or a float given by its bits.
fn number(text: &str) -> Option<Constant> {
    let float_digits = |count: usize| {
        text.get(2..)
            .filter(|digits| digits.len() == count && digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => {
            u32::from_str_radix(float_digits(8)?, 16).ok().map(Constant::Float32)
        }
        [b'0', b'd' | b'D', ..] => {
            u64::from_str_radix(float_digits(16)?, 16).ok().map(Constant::Float64)
        }
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(&text[2..], 2),
        [b'0', _, ..] if text != "0U" => integer(&text[1..], 8),
        _ => integer(text, 10).or_else(|| decimal(text).filter(|_| text.contains(['e', 'E']))),
    }
}

/// The value of a [`Token::Number`] that is an integer.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    match number(text)? {
        Constant::Integer { bits, .. } => Some(bits),
        _ => None,
    }
}

fn integer(digits: &str, radix: u32) -> Option<Constant> {
    let (digits, marked) = digits.strip_suffix('U').map_or((digits, false), |rest| (rest, true));
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let bits = u64::from_str_radix(digits, radix).ok().filter(|_| plain)?;
    // As the manual says: a constant that does not fit a signed 64-bit integer is unsigned.
    Some(Constant::Integer { bits, unsigned: marked || i64::try_from(bits).is_err() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Constant> {
        let mut parser = Parser::new(text);
        let value = parser.constant().ok();
        (parser.peek() == Token::End).then_some(())?;
        value
    }

    fn bits(text: &str) -> Option<u64> {
        match value(text)? {
            Constant::Integer { bits, .. } => Some(bits),
            _ => None,
        }
    }

    #[test]
    fn integers_of_every_base() {
        for (text, expected) in [
            ("42", 42),
            ("0x2A", 42),
            ("0b101010", 42),
            ("052", 42),
            ("42U", 42),
            ("0", 0),
            ("0U", 0),
            ("0xFFFFFFFFFFFFFFFF", u64::MAX),
            ("WARP_SZ", 32),
        ] {
            assert_eq!(bits(text), Some(expected), "{text}");
        }
        for text in ["0x", "09", "0x1G", "18446744073709551616", "0b12", "1_000", "0f3F80", "5x"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn floats_by_bits_and_by_digits() {
        assert_eq!(value("0f3F800000"), Some(Constant::Float32(1.0_f32.to_bits())));
        assert_eq!(value("-0f3F800000"), Some(Constant::Float32((-1.0_f32).to_bits())));
        assert_eq!(value("0d3FF0000000000000"), Some(Constant::Float64(1.0_f64.to_bits())));
        assert_eq!(value("1.5"), Some(Constant::Float64(1.5_f64.to_bits())));
        assert_eq!(value("1.5e-3"), Some(Constant::Float64(1.5e-3_f64.to_bits())));
        assert_eq!(value("2e10"), Some(Constant::Float64(2e10_f64.to_bits())));
    }

    #[test]
    fn expressions_follow_c() {
        for (text, expected) in [
            ("(1<<3)|2", 10),
            ("2+3*4", 14),
            ("(2+3)*4", 20),
            ("-1", u64::MAX),
            ("~0", u64::MAX),
            ("-8>>1", -4_i64 as u64),
            ("0x8000000000000000>>63", 1),
            ("1?2:3", 2),
            ("0?2:0?4:5", 5),
            ("7 % 4", 3),
            ("-7/2", -3_i64 as u64),
            ("1<2 && 3>=3", 1),
            ("!5", 0),
            ("1<<64", 0),
            ("(.u64)-1 >> 60", 15),
            ("-9223372036854775807 - 1", 1 << 63),
            ("(-9223372036854775807 - 1) / -1", 1 << 63),
        ] {
            assert_eq!(bits(text), Some(expected), "{text}");
        }
        assert_eq!(bits("1/0"), None);
        assert_eq!(bits("1 % (2-2)"), None);
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(bits(&deep(60)), Some(1));
        assert_eq!(bits(&deep(100_000)), None);
        assert_eq!(bits(&format!("{}1", "-".repeat(100_000))), None);
    }
}
