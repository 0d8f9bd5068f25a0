//! Pickled tables: columns out of what `pickle` read, which may be damaged or of another origin.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arguments::wrong;

/// Name and version of the layout, with which a state begins.
pub(crate) const LAYOUT: &str = "strata.table/1";

/// Most bytes of all texts of a column: Arrow counts them with 32 bits.
const MAX_TEXT_BYTES: usize = i32::MAX as usize;

/// A column of a table: its name and its values.
type Column = (String, ArrayRef);

/// Reads the state of a table: the layout, the metadata, and for each column its name, its type and
/// its values.
///
/// At least one column comes back, all have the same length and different names. Any other state is
/// a `ValueError`. No code of an object in the state runs.
pub(crate) fn read(state: &Bound<'_, PyTuple>) -> PyResult<(Vec<Column>, HashMap<String, String>)> {
    let state: Vec<_> = state.iter().collect();
    let Some(layout) = state.first().and_then(text) else {
        return Err(damaged("it does not begin with its layout"));
    };
    if layout != LAYOUT {
        let message = format!("the pickled table has the layout `{layout}`, not `{LAYOUT}`");
        return Err(wrong(message, "read it with the version of the package that wrote it"));
    }
    let [_, metadata, columns] = state.as_slice() else {
        return Err(damaged(format!("it has {} parts, not 3", state.len())));
    };
    let metadata = read_metadata(metadata)?;
    let columns = columns.cast_exact::<PyList>();
    let columns = columns.map_err(|_| damaged("its columns are not a list"))?;
    let columns = columns.iter().enumerate().map(|(place, column)| read_column(place, &column));
    let columns: Vec<_> = columns.collect::<PyResult<_>>()?;
    check_shape(&columns)?;
    Ok((columns, metadata))
}

fn damaged(why: impl AsRef<str>) -> PyErr {
    let message = format!("the pickled table is damaged: {}", why.as_ref());
    wrong(message, "pickle the table again")
}

/// A text, if a value is one and has no half of a pair of surrogates.
fn text(value: &Bound<'_, PyAny>) -> Option<String> {
    value.cast_exact::<PyString>().ok()?.to_str().ok().map(str::to_owned)
}

fn read_metadata(given: &Bound<'_, PyAny>) -> PyResult<HashMap<String, String>> {
    let given = given.cast_exact::<PyDict>();
    let given = given.map_err(|_| damaged("its metadata are not a dict"))?;
    let entries = given.iter().map(|(key, value)| text(&key).zip(text(&value)));
    let entries: Option<HashMap<_, _>> = entries.collect();
    entries.ok_or_else(|| damaged("its metadata are not texts"))
}

fn read_column(place: usize, given: &Bound<'_, PyAny>) -> PyResult<Column> {
    let parts = given.cast_exact::<PyTuple>().map(|parts| parts.iter().collect::<Vec<_>>());
    let parts = parts.unwrap_or_default();
    let [name, kind, values] = parts.as_slice() else {
        return Err(damaged(format!("column {place} is not a tuple of name, type and values")));
    };
    let (Some(name), Some(kind)) = (text(name), text(kind)) else {
        return Err(damaged(format!("column {place} has a name or a type that is not a text")));
    };
    let values = values.cast_exact::<PyList>();
    let values = values.map_err(|_| damaged(format!("the values of `{name}` are not a list")))?;
    let values = read_values(&name, &kind, values)?;
    Ok((name, values))
}

fn read_values<'py>(name: &str, kind: &str, values: &Bound<'py, PyList>) -> PyResult<ArrayRef> {
    Ok(match kind {
        "int64" => {
            let number =
                |value: &Bound<'_, PyAny>| value.cast_exact::<PyInt>().ok()?.extract().ok();
            Arc::new(Int64Array::from(read_cells(name, kind, values, number)?))
        }
        "double" => {
            let number =
                |value: &Bound<'_, PyAny>| Some(value.cast_exact::<PyFloat>().ok()?.value());
            Arc::new(Float64Array::from(read_cells(name, kind, values, number)?))
        }
        "bool" => {
            let switch =
                |value: &Bound<'_, PyAny>| Some(value.cast_exact::<PyBool>().ok()?.is_true());
            Arc::new(BooleanArray::from(read_cells(name, kind, values, switch)?))
        }
        "string" => {
            let text = |value: &Bound<'py, PyAny>| {
                let text = value.cast_exact::<PyString>().ok()?;
                text.to_str().is_ok().then(|| text.clone())
            };
            let cells = read_cells(name, kind, values, text)?;
            let texts = cells.iter().map(|cell| cell.as_ref().and_then(|text| text.to_str().ok()));
            let bytes: usize = texts.clone().flatten().map(str::len).sum();
            if bytes > MAX_TEXT_BYTES {
                return Err(damaged(format!("the texts of `{name}` have {bytes} bytes")));
            }
            Arc::new(texts.collect::<StringArray>())
        }
        _ => return Err(damaged(format!("column `{name}` has the type `{kind}`"))),
    })
}

/// The values of a column; null is `None`.
fn read_cells<'py, T>(
    name: &str,
    kind: &str,
    values: &Bound<'py, PyList>,
    read: impl Fn(&Bound<'py, PyAny>) -> Option<T>,
) -> PyResult<Vec<Option<T>>> {
    let cell = |(row, value): (usize, Bound<'py, PyAny>)| {
        if value.is_none() {
            return Ok(None);
        }
        let refused =
            || damaged(format!("row {row} of `{name}` is not a value of the type {kind}"));
        read(&value).map(Some).ok_or_else(refused)
    };
    values.iter().enumerate().map(cell).collect()
}

/// Checks that there are columns, as long as each other, each with a name of its own.
fn check_shape(columns: &[Column]) -> PyResult<()> {
    let Some((first, lead)) = columns.first() else { return Err(damaged("it has no columns")) };
    let mut names = HashSet::new();
    for (name, values) in columns {
        if !names.insert(name) {
            return Err(damaged(format!("there are two columns `{name}`")));
        }
        let (rows, expected) = (values.len(), lead.len());
        if rows != expected {
            return Err(damaged(format!("`{name}` has {rows} rows, `{first}` has {expected}")));
        }
    }
    Ok(())
}
