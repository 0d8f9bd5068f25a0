//! Integer expressions of a launch file: `ceil(n, 256)`, `min(i + 1, tiles)`, `n * n`.
//!
//! Models: 64-bit signed integers, `+ - * / %`, unary minus, parentheses, `ceil(a, b)` (division
//! rounded up), `min`, `max`, and names of parameters. Division and remainder truncate towards
//! zero. Every operation is checked: overflow and division by zero are errors, never a wrapped
//! value.
//!
//! Bounds: a text of [`MAX_LENGTH`] bytes and [`MAX_DEPTH`] nested parentheses, so parsing and
//! evaluating use little stack and time whatever the file says.

use std::fmt;

/// Longest expression. Unit: bytes.
pub const MAX_LENGTH: usize = 512;

/// Deepest nesting of parentheses, calls and signs.
pub const MAX_DEPTH: usize = 32;

/// Why a text is no expression, or has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// The text is longer than [`MAX_LENGTH`].
    #[error("the expression has {length} bytes; at most {MAX_LENGTH} are allowed")]
    TooLong {
        /// Unit: bytes.
        length: usize,
    },
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("the expression is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Something else was expected at a place of the text.
    #[error("expected {expected} at column {column} of `{text}`, found {found}")]
    Syntax {
        /// The whole expression.
        text: String,
        /// Where, from 1. Unit: bytes.
        column: usize,
        /// What could stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A number that 64 bits cannot hold.
    #[error("`{digits}` does not fit in 64 bits")]
    NumberTooLarge {
        /// The digits as written.
        digits: String,
    },
    /// A function that does not exist.
    #[error("unknown function `{name}`; there are ceil(a, b), min(a, b, ...) and max(a, b, ...)")]
    UnknownFunction {
        /// The name as written.
        name: String,
    },
    /// A function called with the wrong number of arguments.
    #[error("`{name}` takes {expected} arguments, not {found}")]
    ArgumentCount {
        /// The function.
        name: &'static str,
        /// What it takes, in words.
        expected: &'static str,
        /// How many are written.
        found: usize,
    },
    /// A name that is no parameter.
    #[error("unknown name `{name}`; known here: {known}")]
    UnknownName {
        /// The name as written.
        name: String,
        /// The names that would do, in words.
        known: String,
    },
    /// A result outside the range of 64-bit signed integers.
    #[error("`{left} {operator} {right}` overflows 64 bits")]
    Overflow {
        /// Left operand.
        left: i64,
        /// The operator or function.
        operator: &'static str,
        /// Right operand.
        right: i64,
    },
    /// Division, remainder or ceiling by zero.
    #[error("`{left} {operator} 0` divides by zero")]
    DivisionByZero {
        /// Dividend.
        left: i64,
        /// The operator or function.
        operator: &'static str,
    },
}

/// The names an expression may use, and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    // Invariant: sorted by name, names distinct.
    names: Vec<(String, i64)>,
}

impl Scope {
    /// A scope of the given names; a later one replaces an earlier one of the same name.
    pub fn new(names: impl IntoIterator<Item = (String, i64)>) -> Self {
        let mut scope = Self::default();
        for (name, value) in names {
            scope.set(&name, value);
        }
        scope
    }

    /// Gives `name` a value, adding it when it is new.
    pub fn set(&mut self, name: &str, value: i64) {
        match self.names.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
            Ok(at) => self.names[at].1 = value,
            Err(at) => self.names.insert(at, (name.to_owned(), value)),
        }
    }

    /// The value of `name`, when it is known.
    pub fn get(&self, name: &str) -> Option<i64> {
        let at = self.names.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(self.names[at].1)
    }

    /// Every name and its value, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.names.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The names in words, for a message.
    pub fn names(&self) -> String {
        if self.names.is_empty() {
            return "none".to_owned();
        }
        let names: Vec<&str> = self.names.iter().map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    }
}

/// An operator or function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Ceiling,
    Minimum,
    Maximum,
}

impl Operator {
    const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Ceiling => "ceil",
            Self::Minimum => "min",
            Self::Maximum => "max",
        }
    }

    fn apply(self, left: i64, right: i64) -> Result<i64, ExpressionError> {
        let divides = matches!(self, Self::Divide | Self::Remainder | Self::Ceiling);
        if divides && right == 0 {
            return Err(ExpressionError::DivisionByZero { left, operator: self.symbol() });
        }
        let result = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            Self::Remainder => left.checked_rem(right),
            Self::Ceiling => ceiling(left, right),
            Self::Minimum => Some(left.min(right)),
            Self::Maximum => Some(left.max(right)),
        };
        result.ok_or(ExpressionError::Overflow { left, operator: self.symbol(), right })
    }
}

/// Division rounded towards positive infinity; `None` on overflow or a zero divisor.
fn ceiling(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let inexact = left.checked_rem(right)? != 0;
    let positive = (left < 0) == (right < 0);
    if inexact && positive { quotient.checked_add(1) } else { Some(quotient) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Number(i64),
    Name(String),
    Binary(Operator, Box<Node>, Box<Node>),
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: String,
    root: Node,
}

impl Expression {
    /// Parses `text`.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.len() > MAX_LENGTH {
            return Err(ExpressionError::TooLong { length: text.len() });
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let root = parser.sum()?;
        if parser.peek().is_some() {
            return Err(parser.unexpected("an operator or the end"));
        }
        Ok(Self { text: text.to_owned(), root })
    }

    /// An expression that is just a number.
    pub fn number(value: i64) -> Self {
        Self { text: value.to_string(), root: Node::Number(value) }
    }

    /// Length of its text. Unit: bytes.
    pub const fn length(&self) -> usize {
        self.text.len()
    }

    /// The value under `scope`.
    pub fn evaluate(&self, scope: &Scope) -> Result<i64, ExpressionError> {
        evaluate(&self.root, scope)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

// Recursion is bounded: a node is never deeper than a small multiple of MAX_DEPTH plus the length
// of one operator chain, and a chain is at most MAX_LENGTH / 2 long.
fn evaluate(node: &Node, scope: &Scope) -> Result<i64, ExpressionError> {
    match node {
        Node::Number(value) => Ok(*value),
        Node::Name(name) => scope.get(name).ok_or_else(|| ExpressionError::UnknownName {
            name: name.clone(),
            known: scope.names(),
        }),
        Node::Binary(operator, left, right) => {
            operator.apply(evaluate(left, scope)?, evaluate(right, scope)?)
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Next byte; always on a character boundary.
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// The next character that is no space, without taking it.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    /// Takes `wanted` if it is next.
    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn unexpected(&mut self, expected: &'static str) -> ExpressionError {
        let found = match self.peek() {
            Some(character) => format!("`{}`", character.escape_default()),
            None => "the end".to_owned(),
        };
        let text = self.text.to_owned();
        ExpressionError::Syntax { text, column: self.at + 1, expected, found }
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.take('+') {
                Operator::Add
            } else if self.take('-') {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.unary()?;
        loop {
            let operator = if self.take('*') {
                Operator::Multiply
            } else if self.take('/') {
                Operator::Divide
            } else if self.take('%') {
                Operator::Remainder
            } else {
                return Ok(left);
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::TooDeep);
        }
        let node = if self.take('-') {
            let operand = self.unary()?;
            Node::Binary(Operator::Subtract, Box::new(Node::Number(0)), Box::new(operand))
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, ExpressionError> {
        match self.peek() {
            Some('(') => {
                self.take('(');
                let inner = self.sum()?;
                if self.take(')') { Ok(inner) } else { Err(self.unexpected("`)`")) }
            }
            Some(character) if character.is_ascii_digit() => self.number(),
            Some(character) if character.is_ascii_alphabetic() || character == '_' => {
                let name = self.word();
                if self.take('(') { self.call(name) } else { Ok(Node::Name(name)) }
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.text[self.at..];
        let length = rest
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(rest.len());
        self.at += length;
        rest[..length].to_owned()
    }

    fn number(&mut self) -> Result<Node, ExpressionError> {
        let digits = self.word().replace('_', "");
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            self.at -= 1;
            return Err(self.unexpected("a decimal number"));
        }
        match digits.parse() {
            Ok(value) => Ok(Node::Number(value)),
            Err(_) => Err(ExpressionError::NumberTooLarge { digits }),
        }
    }

    fn call(&mut self, name: String) -> Result<Node, ExpressionError> {
        let operator = match name.as_str() {
            "ceil" => Operator::Ceiling,
            "min" => Operator::Minimum,
            "max" => Operator::Maximum,
            _ => return Err(ExpressionError::UnknownFunction { name }),
        };
        let mut node = self.sum()?;
        let mut count = 1;
        while self.take(',') {
            node = Node::Binary(operator, Box::new(node), Box::new(self.sum()?));
            count += 1;
        }
        if !self.take(')') {
            return Err(self.unexpected("`,` or `)`"));
        }
        let expected = match (operator, count) {
            (Operator::Ceiling, 2) => return Ok(node),
            (Operator::Ceiling, _) => "2",
            (_, 1) => "2 or more",
            _ => return Ok(node),
        };
        Err(ExpressionError::ArgumentCount { name: operator.symbol(), expected, found: count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i64, ExpressionError> {
        let scope = Scope::new([("n".to_owned(), 100), ("steps".to_owned(), 3)]);
        Expression::parse(text)?.evaluate(&scope)
    }

    #[test]
    fn operators_bind_and_associate_as_in_c() {
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("10 - 4 - 3", 3),
            ("100 / 7 / 2", 7),
            ("17 % 5 * 2", 4),
            ("-3 + 5", 2),
            ("--4", 4),
            ("2 * -n", -200),
            ("ceil(n, 32)", 4),
            ("ceil(96,32)", 3),
            ("ceil(0 - 7, 2)", -3),
            ("min(n, 7, steps)", 3),
            ("max(1, min(n, 50))", 50),
            ("65_536", 65_536),
            ("  n  ", 100),
            ("-7 / 2", -3),
            ("-7 % 2", -1),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| value(text).expect_err(text).to_string();
        assert_eq!(
            message("n +"),
            "expected a number, a name or `(` at column 4 of `n +`, found the end"
        );
        assert_eq!(
            message("n $ 2"),
            "expected an operator or the end at column 3 of `n $ 2`, found `$`"
        );
        assert_eq!(message("(n"), "expected `)` at column 3 of `(n`, found the end");
        assert_eq!(message("m"), "unknown name `m`; known here: n, steps");
        assert_eq!(message("n / (n - 100)"), "`100 / 0` divides by zero");
        assert_eq!(message("ceil(n)"), "`ceil` takes 2 arguments, not 1");
        assert_eq!(message("min(n)"), "`min` takes 2 or more arguments, not 1");
        assert!(message("sqrt(n)").starts_with("unknown function `sqrt`"));
        assert!(message("9223372036854775807 + 1").ends_with("overflows 64 bits"));
        assert!(message("99999999999999999999").ends_with("does not fit in 64 bits"));
        assert!(message("0x10").starts_with("expected a decimal number"));
        assert!(message("").starts_with("expected a number"));
        assert!(message("ü").contains("\\u{fc}"));
    }

    #[test]
    fn the_smallest_integer_divided_by_minus_one_overflows() {
        for operator in ["/", "%"] {
            let text = format!("(0 - 9223372036854775807 - 1) {operator} -1");
            assert!(matches!(value(&text), Err(ExpressionError::Overflow { .. })), "{text}");
        }
        let text = "ceil(0 - 9223372036854775807 - 1, -1)";
        assert!(matches!(value(text), Err(ExpressionError::Overflow { .. })));
    }

    #[test]
    fn length_and_depth_are_bounded() {
        let deep = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(value(&deep(MAX_DEPTH - 1)), Ok(1));
        assert_eq!(value(&deep(MAX_DEPTH)), Err(ExpressionError::TooDeep));
        assert_eq!(value(&"-".repeat(MAX_LENGTH)), Err(ExpressionError::TooDeep));
        let chain = vec!["1"; MAX_LENGTH / 2].join("+");
        assert_eq!(value(&chain), Ok(MAX_LENGTH as i64 / 2));
        let long = " ".repeat(MAX_LENGTH + 1);
        assert_eq!(value(&long), Err(ExpressionError::TooLong { length: MAX_LENGTH + 1 }));
    }
}
