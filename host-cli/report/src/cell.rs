//! Cell: a value in a column of a table.

use std::borrow::Cow;

use serde_json::Value;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Number,
    /// Numbers with decimals.
    Real,
    /// Yes or no.
    Switch,
    /// Text.
    Text,
}

/// A value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A whole number.
    Number(i64),
    /// A number with decimals.
    Real(f64),
    /// A number with decimals that is written with so many of them.
    Rounded(f64, usize),
    /// Yes or no.
    Switch(bool),
    /// A text.
    Text(String),
}

impl Cell {
    /// A text, without a copy of one.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            other => other.to_string().into(),
        }
    }

    /// To read: numbers with decimals have two, small ones three digits that count.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match *self {
            Self::Real(number) if number == 0.0 || number.abs() >= 0.1 => {
                format!("{number:.2}").into()
            }
            Self::Real(number) if number.abs() >= 1e-4 => {
                let decimals = (2.0 - number.abs().log10().floor()) as usize;
                format!("{number:.decimals$}").into()
            }
            Self::Real(number) => format!("{number:.2e}").into(),
            _ => self.text(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Real(_) | Self::Rounded(..) => Kind::Real,
            Self::Switch(_) => Kind::Switch,
            Self::Text(_) => Kind::Text,
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Real(number) => (*number).into(),
            Self::Rounded(..) => self.to_string().parse::<f64>().map_or(Value::Null, Value::from),
            Self::Switch(on) => (*on).into(),
            Self::Text(text) => text.as_str().into(),
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(to),
            Self::Real(number) => number.fmt(to),
            Self::Rounded(number, decimals) => write!(to, "{number:.decimals$}"),
            Self::Switch(on) => on.fmt(to),
            Self::Text(text) => to.write_str(text),
        }
    }
}

/// One beyond the numbers of a column is a text, so that no digit is lost.
impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Text(number.to_string()), Self::Number)
    }
}

impl From<&u64> for Cell {
    fn from(number: &u64) -> Self {
        (*number).into()
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Cell {
    fn from(on: bool) -> Self {
        Self::Switch(on)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
