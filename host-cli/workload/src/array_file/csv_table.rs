//! CSV: a table of numbers, or one of its columns.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};

use super::array::Array;
use super::problem::ArrayProblem;
use crate::element::{ElementType, Number};

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The one that the first line calls so.
    Name(String),
    /// By number, from 0.
    Index(usize),
}

/// Largest CSV file. Unit: bytes.
const MAX_TEXT: u64 = 1 << 32;

fn malformed(error: csv::Error) -> ArrayProblem {
    let because = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        _ => ArrayProblem::Malformed { format: "CSV", because },
    }
}

/// Reads elements of at most `limit` bytes, row by row.
pub(super) fn read(
    file: impl Read,
    (column, header): (Option<&Column>, bool),
    element: ElementType,
    limit: u64,
) -> Result<Array, ArrayProblem> {
    let header = header || matches!(column, Some(Column::Name(_)));
    let mut reader = ReaderBuilder::new()
        .has_headers(header)
        .trim(Trim::All)
        .from_reader(file.take(MAX_TEXT.saturating_add(1)));
    let names =
        if header { reader.headers().map_err(malformed)?.clone() } else { StringRecord::new() };
    let only = column.map(|column| place(column, &names)).transpose()?;
    let (mut bytes, mut rows, mut columns) = (Vec::new(), 0, 0);
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(malformed)? {
        columns = record.len();
        let line = record.position().map_or(0, csv::Position::line);
        let chosen = only.map_or(0..columns, |only| only..only + 1);
        for column in chosen {
            let Some(field) = record.get(column) else {
                let (what, name) = ("column", column.to_string());
                let known = format!("{columns}, numbered from 0");
                return Err(ArrayProblem::Unknown { what, name, known });
            };
            let number = Number::parse(element, field).map_err(|because| ArrayProblem::Field {
                line,
                column,
                because,
            })?;
            element.push(number, &mut bytes);
        }
        rows += 1;
        if bytes.len() as u64 > limit {
            return Err(ArrayProblem::TooLarge { limit });
        }
    }
    if reader.position().byte() > MAX_TEXT {
        let because = format!("it is larger than {MAX_TEXT} bytes");
        return Err(ArrayProblem::Malformed { format: "CSV", because });
    }
    let shape =
        if only.is_some() || columns == 1 { vec![rows] } else { vec![rows, columns as u64] };
    Ok(Array { shape, bytes })
}

fn place(column: &Column, names: &StringRecord) -> Result<usize, ArrayProblem> {
    let name = match column {
        Column::Index(index) => return Ok(*index),
        Column::Name(name) => name,
    };
    let mut places = names.iter().enumerate().filter(|(_, known)| known == name);
    match (places.next(), places.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => {
            let because = format!("two columns are called `{name}`");
            Err(ArrayProblem::Malformed { format: "CSV", because })
        }
        (None, _) => {
            let known: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let (what, name, known) = ("column", format!("`{name}`"), known.join(", "));
            Err(ArrayProblem::Unknown { what, name, known })
        }
    }
}
