//! Constants and constant expressions.
//!
//! Each operator decides how it reads its operands and what it gives, as `ptxas` does (DEV-170):
//! `~` and `%` are unsigned, a shift has the type of what is shifted and counts modulo 64,
//! comparisons and logic give signed values, a choice is one of integers and has the type of what
//! is chosen, and the other operators are unsigned where an operand is. Source: PTX ISA 8.5,
//! "Constant Expressions".

use std::cmp::Ordering;

use super::{Parser, Reported, Result};
use crate::lexer::Token;
use crate::module::{Operand, Span};

/// Deepest nesting of an expression.
const DEPTH_MAX: u32 = 64;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// Wraps at 64 bits; `unsigned` decides how it is divided, compared and shifted.
    Integer { bits: u64, unsigned: bool },
    /// Bits of a single-precision number, which no operator takes.
    Float32(u32),
    /// Bits of a double-precision number.
    Float64(u64),
}

impl From<Constant> for Operand {
    fn from(constant: Constant) -> Self {
        match constant {
            Constant::Integer { bits, .. } => Self::Integer(bits),
            Constant::Float32(bits) => Self::Float32(bits),
            Constant::Float64(bits) => Self::Float64(bits),
        }
    }
}

/// Why an operator gives no value.
#[derive(Clone, Copy)]
enum NoValue {
    DivisionByZero,
    /// One operand is an integer and the other a floating-point number.
    Mixed,
    /// An operand is a `0f` constant.
    Single,
    /// The operator takes integers alone.
    NotInteger,
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

    /// What is added to a base address: a constant expression after `+`, or a sum that begins with
    /// `-`, which `ptxas` does not take; 0 when there is none.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let span = self.span();
        let sum = match self.peek() {
            Token::Plus => {
                self.bump();
                self.constant()?
            }
            Token::Minus => self.binary(LEVEL_SUM, 0)?,
            _ => return Ok(0),
        };
        match sum {
            Constant::Integer { bits, .. } => Ok(bits as i64),
            _ => Err(self.not_integer(span)),
        }
    }

    fn not_integer(&mut self, span: Span) -> Reported {
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
        let colon = self.span();
        self.expect(Token::Colon, "`:` of a conditional expression")?;
        let no = self.conditional(depth)?;
        match (yes, no) {
            (Constant::Integer { .. }, Constant::Integer { .. }) => {
                Ok(if bits != 0 { yes } else { no })
            }
            (Constant::Float32(_), _) | (_, Constant::Float32(_)) => {
                Err(self.no_value(NoValue::Single, colon))
            }
            _ => Err(self.no_value(NoValue::NotInteger, colon)),
        }
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
        let mut left = self.binary(level + 1, depth)?;
        while operators.contains(&self.peek()) {
            let operator = self.bump();
            let right = self.binary(level + 1, depth)?;
            left = match combine(operator.token, left, right) {
                Ok(value) => value,
                Err(why) => return Err(self.no_value(why, operator.span)),
            };
        }
        Ok(left)
    }

    /// Reports that the operator at `span` gives no value.
    fn no_value(&mut self, why: NoValue, span: Span) -> Reported {
        let (code, message, hint) = match why {
            NoValue::DivisionByZero => {
                ("division-by-zero", "this constant expression divides by zero", None)
            }
            NoValue::Mixed => (
                "mixed-constants",
                "an integer and a floating-point constant do not go together here",
                Some("write the integer with a decimal point, such as `2.0`"),
            ),
            NoValue::Single => (
                "single-constant",
                "a `0f` constant cannot be part of an expression",
                Some("write its value as `0d` with 16 hex digits, or in decimal"),
            ),
            NoValue::NotInteger => ("not-integer", "this operator takes integer constants", None),
        };
        self.error_with_hint(code, span, message, hint.map(Into::into))
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
                Ok(signed(32))
            }
            Token::Number | Token::Decimal => self.number(),
            _ => Err(self.expected("a constant")),
        }
    }

    fn apply_unary(&mut self, operator: Token, value: Constant, span: Span) -> Result<Constant> {
        Ok(match (operator, value) {
            (_, Constant::Float32(_)) => return Err(self.no_value(NoValue::Single, span)),
            (Token::Plus, value) => value,
            (Token::Minus, Constant::Integer { bits, unsigned }) => {
                Constant::Integer { bits: bits.wrapping_neg(), unsigned }
            }
            (Token::Minus, Constant::Float64(bits)) => Constant::Float64(bits ^ 1 << 63),
            (Token::Tilde, Constant::Integer { bits, .. }) => {
                Constant::Integer { bits: !bits, unsigned: true }
            }
            (Token::Bang, Constant::Integer { bits, .. }) => signed(u64::from(bits == 0)),
            _ => return Err(self.no_value(NoValue::NotInteger, span)),
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

    fn bad_number(&mut self, text: &str, span: Span) -> Reported {
        let hint = match text.get(..2) {
            Some("0f" | "0F") => "a single-precision constant is `0f` and exactly 8 hex digits",
            Some("0d" | "0D") => "a double-precision constant is `0d` and exactly 16 hex digits",
            Some("0x" | "0X") => "a hexadecimal constant has at most 16 hex digits",
            _ if text.contains(['.', 'e', 'E']) => {
                "a decimal constant must be in the range of normal numbers of double precision; \
                 any other one is `0d` and 16 hex digits"
            }
            _ => "integer constants have at most 64 bits",
        };
        let message = format!("`{}` is not a number", super::shorten(text));
        self.error_with_hint("bad-number", span, message, Some(hint.into()))
    }
}

fn signed(bits: u64) -> Constant {
    Constant::Integer { bits, unsigned: false }
}

/// What a binary operator makes of two constants.
fn combine(
    operator: Token,
    left: Constant,
    right: Constant,
) -> std::result::Result<Constant, NoValue> {
    match (left, right) {
        (
            Constant::Integer { bits: a, unsigned: ua },
            Constant::Integer { bits: b, unsigned: ub },
        ) => integers(operator, (a, ua), (b, ub)).ok_or(NoValue::DivisionByZero),
        (Constant::Float64(a), Constant::Float64(b)) => {
            floats(operator, f64::from_bits(a), f64::from_bits(b))
        }
        (Constant::Float32(_), _) | (_, Constant::Float32(_)) => Err(NoValue::Single),
        _ => Err(NoValue::Mixed),
    }
}

/// `None` for a division by zero.
fn integers(operator: Token, (a, ua): (u64, bool), (b, ub): (u64, bool)) -> Option<Constant> {
    let unsigned = ua || ub;
    let (sa, sb) = (a as i64, b as i64);
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    let truth = |truth: bool| Some(signed(u64::from(truth)));
    let amount = (b % 64) as u32;
    let bits = match operator {
        Token::OrOr => return truth(a != 0 || b != 0),
        Token::AndAnd => return truth(a != 0 && b != 0),
        Token::EqualEqual => return truth(a == b),
        Token::NotEqual => return truth(a != b),
        Token::Less => return truth(order.is_lt()),
        Token::LessEqual => return truth(order.is_le()),
        Token::Greater => return truth(order.is_gt()),
        Token::GreaterEqual => return truth(order.is_ge()),
        Token::ShiftLeft => return Some(Constant::Integer { bits: a << amount, unsigned: ua }),
        Token::ShiftRight if ua => {
            return Some(Constant::Integer { bits: a >> amount, unsigned: true });
        }
        Token::ShiftRight => return Some(signed((sa >> amount) as u64)),
        Token::Percent => {
            return Some(Constant::Integer { bits: a.checked_rem(b)?, unsigned: true });
        }
        Token::Pipe => a | b,
        Token::Caret => a ^ b,
        Token::And => a & b,
        Token::Plus => a.wrapping_add(b),
        Token::Minus => a.wrapping_sub(b),
        Token::Star => a.wrapping_mul(b),
        Token::Slash if unsigned => a.checked_div(b)?,
        Token::Slash if b != 0 => sa.wrapping_div(sb) as u64,
        _ => return None,
    };
    Some(Constant::Integer { bits, unsigned })
}

fn floats(operator: Token, a: f64, b: f64) -> std::result::Result<Constant, NoValue> {
    let order = a.partial_cmp(&b);
    let truth = |truth: bool| Ok(signed(u64::from(truth)));
    let value = match operator {
        Token::EqualEqual => return truth(order == Some(Ordering::Equal)),
        Token::NotEqual => return truth(order != Some(Ordering::Equal)),
        Token::Less => return truth(order.is_some_and(Ordering::is_lt)),
        Token::LessEqual => return truth(order.is_some_and(Ordering::is_le)),
        Token::Greater => return truth(order.is_some_and(Ordering::is_gt)),
        Token::GreaterEqual => return truth(order.is_some_and(Ordering::is_ge)),
        Token::Plus => a + b,
        Token::Minus => a - b,
        Token::Star => a * b,
        Token::Slash if b == 0.0 => return Err(NoValue::DivisionByZero),
        Token::Slash => a / b,
        _ => return Err(NoValue::NotInteger),
    };
    Ok(Constant::Float64(value.to_bits()))
}

/// A decimal number; `None` for one that would become infinite or subnormal, or zero without being
/// it.
fn decimal(text: &str) -> Option<Constant> {
    let value = text.parse::<f64>().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    (value.is_normal() || zero).then_some(Constant::Float64(value.to_bits()))
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
        assert_eq!(value("-0f3F800000"), None);
        assert_eq!(value("0d3FF0000000000000"), Some(Constant::Float64(1.0_f64.to_bits())));
        assert_eq!(value("1.5"), Some(Constant::Float64(1.5_f64.to_bits())));
        assert_eq!(value("1.5e-3"), Some(Constant::Float64(1.5e-3_f64.to_bits())));
        assert_eq!(value("2e10"), Some(Constant::Float64(2e10_f64.to_bits())));
        assert_eq!(value("0.0e-400"), Some(Constant::Float64(0)));
        let least = f64::MIN_POSITIVE.to_bits();
        assert_eq!(value("2.2250738585072014e-308"), Some(Constant::Float64(least)));
        assert_eq!(value("5e-324").or_else(|| value("-1e-310")), None);
        // Bits and operators give any number.
        assert_eq!(value("0d0000000000000001"), Some(Constant::Float64(1)));
        assert_eq!(value("1e-300*1e-10"), Some(Constant::Float64(1e-310_f64.to_bits())));
    }

    #[test]
    fn expressions_of_integers() {
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
            ("1<<64", 1),
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
