//! Parquet: cells as the bytes of a file, with one group of rows and without compression. The same
//! cells are the same bytes.

use std::borrow::Cow;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::cell::Cell;
pub use super::cell::Kind;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, which no other has.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// The bytes of a file of so many rows. `cell` gives a value by its row and column: one that is not
/// of the column's kind, nor can become it without loss, is left out.
///
/// # Errors
/// None that a cell can cause.
pub fn encode<'a>(
    root: &str,
    metadata: &[(&str, &str)],
    fields: &[Field],
    rows: usize,
    cell: impl Fn(usize, usize) -> Option<Cow<'a, Cell>>,
) -> Result<Vec<u8>> {
    let types = fields.iter().map(primitive).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder(root).with_fields(types).build()?);
    let told = metadata
        .iter()
        .map(|&(key, value)| KeyValue { key: key.to_owned(), value: Some(value.to_owned()) });
    let told: Vec<_> = told.collect();
    let mut properties = WriterProperties::builder()
        .set_created_by("strata".to_owned())
        .set_key_value_metadata((!told.is_empty()).then_some(told));
    for (at, field) in fields.iter().enumerate() {
        if !(0..rows).any(|row| cell(row, at).is_some_and(|cell| holds(field.kind, &cell))) {
            // fastparquet 2026.9 cannot read a dictionary without entries.
            let column = ColumnPath::from(field.name.clone());
            properties = properties.set_column_dictionary_enabled(column, false);
        }
    }
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for (at, field) in fields.iter().enumerate() {
        let writer = group.next_column()?;
        let writer =
            writer.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
        write(writer, field.kind, (0..rows).map(|row| cell(row, at)))?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn primitive(field: &Field) -> Result<Arc<Type>> {
    let physical = match field.kind {
        Kind::Number => PhysicalType::INT64,
        Kind::Real => PhysicalType::DOUBLE,
        Kind::Switch => PhysicalType::BOOLEAN,
        Kind::Text => PhysicalType::BYTE_ARRAY,
    };
    let logical = (field.kind == Kind::Text).then_some(LogicalType::String);
    Type::primitive_type_builder(&field.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

fn write<'a>(
    writer: SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = Option<Cow<'a, Cell>>>,
) -> Result<()> {
    match kind {
        Kind::Number => typed::<Int64Type>(writer, cells, number),
        Kind::Real => typed::<DoubleType>(writer, cells, real),
        Kind::Switch => typed::<BoolType>(writer, cells, switch),
        Kind::Text => {
            typed::<ByteArrayType>(writer, cells, |cell| Some(ByteArray::from(&*cell.text())))
        }
    }
}

/// Whether a column of a kind has a value for this cell.
fn holds(kind: Kind, cell: &Cell) -> bool {
    match kind {
        Kind::Number => number(cell).is_some(),
        Kind::Real => real(cell).is_some(),
        Kind::Switch => switch(cell).is_some(),
        Kind::Text => true,
    }
}

fn number(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Number(number) => Some(*number),
        _ => None,
    }
}

fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(number) => Some(*number),
        Cell::Number(number) => Some(*number as f64),
        Cell::Rounded(..) => cell.to_string().parse().ok(),
        Cell::Switch(_) | Cell::Text(_) => None,
    }
}

fn switch(cell: &Cell) -> Option<bool> {
    match cell {
        Cell::Switch(on) => Some(*on),
        _ => None,
    }
}

fn typed<'a, T: DataType>(
    mut writer: SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<Cow<'a, Cell>>>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<()> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for cell in cells {
        let value = cell.and_then(|cell| value(&cell));
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    writer.close()
}
