//! Arrays as files.

use std::io::{Result, Write};

use super::{Array, Format, npy};
use crate::element::{ElementType, Number};
use crate::rounding::{bfloat, half};
use strata_files::output::Kind;

/// An `.npy` file, as an output.
pub const NPY: Kind = Kind { name: "an `.npy` file", begins: b"\x93NUMPY" };
/// A CSV or raw file, as an output.
pub const PLAIN: Kind = Kind { name: "a file of numbers", begins: b"" };

/// Writes an array. An `.npz` file is no format to write.
///
/// # Errors
///
/// Those of the writer.
pub fn write(
    writer: &mut impl Write,
    format: Format,
    element: ElementType,
    array: &Array,
) -> Result<()> {
    match format {
        Format::Raw => writer.write_all(&array.bytes),
        Format::Csv => csv_text(writer, element, array),
        Format::Npy | Format::Npz => npy::write(writer, element, array),
    }
}

/// One row a line: the last side of the shape; a single one is a column.
fn csv_text(writer: &mut impl Write, element: ElementType, array: &Array) -> Result<()> {
    let columns = match array.shape.as_slice() {
        [] | [_] => 1,
        [.., columns] => (*columns).max(1),
    };
    let row = element.bytes() as usize * columns as usize;
    for row in array.bytes.chunks(row) {
        for (column, bytes) in row.chunks_exact(element.bytes() as usize).enumerate() {
            let comma = if column == 0 { "" } else { "," };
            write!(writer, "{comma}{}", text(element, bytes))?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

/// The shortest text that reads as the same element.
fn text(element: ElementType, bytes: &[u8]) -> String {
    match (element, Number::of_bytes(element, bytes)) {
        (ElementType::F32, Number::Real(value)) => (value as f32).to_string(),
        (ElementType::F16, Number::Real(value)) => half(value).to_string(),
        (ElementType::Bf16, Number::Real(value)) => bfloat(value).to_string(),
        (_, number) => number.to_string(),
    }
}
