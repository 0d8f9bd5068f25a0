//! Columns: rows of values under named columns, as CSV, JSON or Markdown.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::csv::field;
use super::json;
use crate::failure::Failure;

/// A value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A whole number.
    Number(i64),
    /// A number with decimals.
    Real(f64),
    /// Yes or no.
    Switch(bool),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Cell {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(to),
            Self::Real(number) => number.fmt(to),
            Self::Switch(on) => on.fmt(to),
            Self::Text(text) => to.write_str(text),
        }
    }
}

/// How columns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RFC 4180.
    Csv,
    /// An array of objects.
    Json,
    /// A table of Markdown.
    Markdown,
}

/// Rows under some columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The columns' names.
    pub header: Vec<String>,
    /// One value for each of them.
    pub rows: Vec<Vec<Option<Cell>>>,
}

impl Columns {
    /// As text.
    ///
    /// # Errors
    /// None that a row can cause.
    pub fn to_text(&self, form: Form) -> Result<String, Failure> {
        match form {
            Form::Csv => Ok(self.csv()),
            Form::Json => self.json(),
            Form::Markdown => Ok(self.markdown()),
        }
    }

    fn csv(&self) -> String {
        let mut text = self.header.iter().map(|name| field(name)).collect::<Vec<_>>().join(",");
        text.push('\n');
        for row in &self.rows {
            let cells = row.iter().map(|cell| {
                cell.as_ref().map_or_else(String::new, |cell| field(&cell.to_string()))
            });
            text += &cells.collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        text
    }

    fn json(&self) -> Result<String, Failure> {
        let object = |row: &Vec<Option<Cell>>| {
            let values = row.iter().map(|cell| match cell {
                None => Value::Null,
                Some(Cell::Number(number)) => (*number).into(),
                Some(Cell::Real(number)) => (*number).into(),
                Some(Cell::Switch(on)) => (*on).into(),
                Some(Cell::Text(text)) => text.as_str().into(),
            });
            Value::Object(self.header.iter().cloned().zip(values).collect::<Map<_, _>>())
        };
        json::to_text(&self.rows.iter().map(object).collect::<Vec<_>>())
    }

    fn markdown(&self) -> String {
        let plain = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
        let mut text = String::new();
        let header: Vec<_> = self.header.iter().map(|name| plain(name)).collect();
        let _ = writeln!(text, "| {} |", header.join(" | "));
        let numbers = |at: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row[at].as_ref()).peekable();
            cells.peek().is_some() && !cells.any(|cell| matches!(cell, Cell::Text(_)))
        };
        let rules = (0..self.header.len()).map(|at| if numbers(at) { "---:" } else { "---" });
        let _ = writeln!(text, "| {} |", rules.collect::<Vec<_>>().join(" | "));
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                None => String::new(),
                Some(Cell::Real(number)) => format!("{number:.2}"),
                Some(cell) => plain(&cell.to_string()),
            });
            let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text
    }
}
