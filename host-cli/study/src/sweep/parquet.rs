//! Parquet: rows as the bytes of a file, and back.
//!
//! A file has one group of rows, without compression, and says in its metadata which version of
//! the columns it has. The same rows are the same bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};

use super::SCHEMA;
use super::key::Key;
use super::row::{EXTRA, Row, columns, columns_of};
use strata_report::columns::Cell;
use strata_report::parquet as parquet_file;

/// The key of the metadata whose value is the version of the columns.
const SCHEMA_KEY: &str = "strata.schema";
/// The key of the metadata whose value is the version of the model.
const MODEL_KEY: &str = "strata.model";

/// What is said of rows beside them: the versions of the columns and of the model.
pub fn metadata() -> [(&'static str, String); 2] {
    [(SCHEMA_KEY, SCHEMA.to_owned()), (MODEL_KEY, strata_core::MODEL_VERSION.to_string())]
}

/// The bytes of a file of these rows.
///
/// # Errors
/// None that a row can cause.
pub fn encode(rows: &[Row]) -> Result<Vec<u8>> {
    let fields = columns_of(rows);
    let told = metadata();
    let told: Vec<_> = told.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let cell = |row: usize, at: usize| rows[row].cell(at, &fields[at].name).map(Cow::Owned);
    parquet_file::encode("sweep", &told, &fields, rows.len(), cell)
}

fn missing() -> ParquetError {
    ParquetError::General("a column is missing".to_owned())
}

/// The rows of a file whose bytes are known to be whole.
///
/// # Errors
/// No such file, or one of another version.
pub fn read(path: &Path) -> std::result::Result<Vec<Row>, String> {
    decode(std::fs::File::open(path).map_err(|error| error.to_string())?)
}

/// The rows that the bytes of a file hold.
///
/// # Errors
/// Bytes of another version, or that are no Parquet.
pub fn decode(from: impl ChunkReader + 'static) -> std::result::Result<Vec<Row>, String> {
    let reader = SerializedFileReader::new(from).map_err(|error| error.to_string())?;
    let metadata = reader.metadata().file_metadata();
    let version = metadata.key_value_metadata().into_iter().flatten();
    let version =
        version.clone().find(|of| of.key == SCHEMA_KEY).and_then(|of| of.value.as_deref());
    if version != Some(SCHEMA) {
        let other = version.unwrap_or("none");
        return Err(format!("its columns are of version `{other}`, and `{SCHEMA}` is read"));
    }
    let fields = metadata.schema_descr().columns();
    let names: Vec<&str> = fields.iter().map(|column| column.name()).collect();
    let extra = names.get(columns().len()..).unwrap_or_default();
    let known = columns().iter().map(|column| column.name.as_str());
    let same = known.eq(names.iter().copied().take(columns().len()));
    if !same || extra.iter().any(|name| !name.starts_with(EXTRA)) {
        return Err("it has other columns than this program".to_owned());
    }
    rows(&reader, extra).map_err(|error| error.to_string())
}

fn rows(reader: &dyn FileReader, extra: &[&str]) -> Result<Vec<Row>> {
    let empty = Key::of(b"");
    let mut all = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let count = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let first = all.len();
        let none = Row { key: empty, cells: vec![None; columns().len()], extra: BTreeMap::new() };
        all.resize(first + count, none);
        for place in 0..columns().len() + extra.len() {
            let cells = cells(group.get_column_reader(place)?, count)?;
            if cells.len() != count {
                return Err(missing());
            }
            for (row, cell) in all[first..].iter_mut().zip(cells) {
                match (extra.get(place.wrapping_sub(columns().len())), cell) {
                    (None, cell) => row.cells[place] = cell,
                    (Some(name), Some(Cell::Real(number))) => {
                        row.extra.insert((*name).to_owned(), number);
                    }
                    (Some(_), _) => {}
                }
            }
        }
    }
    for row in &mut all {
        let key = row.get("key").and_then(|key| Key::parse(&key.to_string()));
        row.key = key.ok_or_else(|| ParquetError::General("a row has no key".to_owned()))?;
    }
    Ok(all)
}

/// The values of a column of so many rows.
fn cells(reader: ColumnReader, count: usize) -> Result<Vec<Option<Cell>>> {
    let mut levels: Vec<i16> = Vec::new();
    let mut values: Vec<Cell> = Vec::new();
    match reader {
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut numbers = Vec::new();
            reader.read_records(count, Some(&mut levels), None, &mut numbers)?;
            values.extend(numbers.into_iter().map(Cell::Number));
        }
        ColumnReader::DoubleColumnReader(mut reader) => {
            let mut numbers = Vec::new();
            reader.read_records(count, Some(&mut levels), None, &mut numbers)?;
            values.extend(numbers.into_iter().map(Cell::Real));
        }
        ColumnReader::BoolColumnReader(mut reader) => {
            let mut switches = Vec::new();
            reader.read_records(count, Some(&mut levels), None, &mut switches)?;
            values.extend(switches.into_iter().map(Cell::Switch));
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let mut texts = Vec::new();
            reader.read_records(count, Some(&mut levels), None, &mut texts)?;
            for text in texts {
                values.push(Cell::Text(text.as_utf8()?.to_owned()));
            }
        }
        _ => return Err(ParquetError::General("a column of no known kind".to_owned())),
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level == 0 { None } else { values.next() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::row::tests::made_up;

    #[test]
    fn rows_are_read_back_and_the_same_bytes_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.parquet");
        for count in [0, 1, 3000] {
            let mut rows: Vec<_> = (0..count).map(made_up).collect();
            if let Some(row) = rows.last_mut() {
                row.extra.insert("storage_mine_total_fj".to_owned(), 0.5);
            }
            let bytes = encode(&rows).unwrap();
            assert_eq!(bytes, encode(&rows).unwrap());
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap(), rows, "{count}");
        }
    }

    #[test]
    fn other_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.parquet");
        std::fs::write(&path, "PAR1").unwrap();
        assert!(read(&path).is_err());
        assert!(read(&folder.path().join("none")).is_err());
    }
}
