//! Requests of Arrow's `PyCapsule` interface: the schema that a consumer asks for, and the rows in
//! its types.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Fields, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arguments::{type_error, wrong};

/// Name that Arrow's interface gives a capsule with a schema.
pub(crate) const SCHEMA: &CStr = c"arrow_schema";

/// Hint for a type that the consumer has to convert a column to.
const CONVERT: &str = "take the column as it is and convert it there: `pyarrow.table(t).cast(...)`";

/// The layout of C's `ArrowSchema`, whose `release` is null once a consumer has taken the schema.
#[repr(C)]
struct CSchema {
    _texts: [*const c_char; 3],
    _flags_and_children: [i64; 2],
    _pointers: [*const c_void; 2],
    release: *const c_void,
    _private_data: *const c_void,
}

/// Reads the schema in the capsule that is given as `requested_schema`.
///
/// Anything but a capsule is a `TypeError`; a capsule with another name, one whose schema was
/// taken, and a schema that is not a list of columns are a `ValueError`.
pub(crate) fn read(given: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let expected = "a capsule named `arrow_schema`";
    let capsule = given.cast::<PyCapsule>();
    let capsule = capsule.map_err(|_| type_error("requested_schema", expected, given))?;
    if !capsule.is_valid_checked(Some(SCHEMA)) {
        let message = format!("`requested_schema` is {}: expected {expected}", given.repr()?);
        return Err(wrong(message, "`__arrow_c_schema__` of a schema makes one"));
    }
    let pointer = capsule.pointer_checked(Some(SCHEMA))?;
    // SAFETY: by Arrow's interface a capsule with this name points to an `ArrowSchema`, which lives
    // as long as the capsule. `CSchema` has the layout of one.
    #[expect(unsafe_code, reason = "Arrow's interface passes C structures by their addresses")]
    let (head, schema) =
        unsafe { (pointer.cast::<CSchema>().as_ref(), pointer.cast::<FFI_ArrowSchema>().as_ref()) };
    if head.release.is_null() {
        let message = "the schema in `requested_schema` was already taken by another consumer";
        return Err(wrong(message.to_owned(), "make a new capsule for each call"));
    }
    Schema::try_from(schema).map_err(|error| {
        wrong(format!("`requested_schema` cannot be read: {error}"), "request a list of columns")
    })
}

/// Makes the rows have the types of a schema, without changing a value.
///
/// The schema has to name the same columns in the same order. A column of the same type is not
/// copied. A request that would change the data is a `ValueError` with the column and both types.
pub(crate) fn satisfy(batch: &RecordBatch, requested: &Schema) -> PyResult<RecordBatch> {
    let own = batch.schema_ref();
    check_names(own.fields(), requested.fields())?;
    let columns = batch.columns().iter().zip(requested.fields());
    let columns: Vec<_> =
        columns.map(|(array, field)| convert(array, field)).collect::<PyResult<_>>()?;
    let field = |asked: &Arc<Field>| {
        Field::new(asked.name(), asked.data_type().clone(), asked.is_nullable())
    };
    let fields: Fields = requested.fields().iter().map(field).collect();
    let schema = Schema::new_with_metadata(fields, own.metadata().clone());
    RecordBatch::try_new(schema.into(), columns)
        .map_err(|error| wrong(format!("`requested_schema` cannot be satisfied: {error}"), CONVERT))
}

fn check_names(own: &Fields, requested: &Fields) -> PyResult<()> {
    let hint = "request every column in order, and select columns afterwards";
    if own.len() != requested.len() {
        let (asked, count) = (requested.len(), own.len());
        let message = format!("`requested_schema` has {asked} columns, the table has {count}");
        return Err(wrong(message, hint));
    }
    let other = own.iter().zip(requested).position(|(own, asked)| own.name() != asked.name());
    let Some(place) = other else { return Ok(()) };
    let (name, asked) = (own[place].name(), requested[place].name());
    Err(wrong(format!("column {place} is `{name}`, and `{asked}` is requested there"), hint))
}

/// A column in the requested type.
fn convert(array: &ArrayRef, requested: &Field) -> PyResult<ArrayRef> {
    let (own, asked) = (array.data_type(), requested.data_type());
    let column = format!("column `{}` is {}", requested.name(), type_name(own));
    if !requested.is_nullable() && array.null_count() > 0 {
        let message =
            format!("{column} with null, and {} without null is requested", type_name(asked));
        return Err(wrong(message, "request a type that allows null"));
    }
    if own == asked {
        return Ok(Arc::clone(array));
    }
    let refused = format!("{column}, and {} is requested", type_name(asked));
    if !represents(own, asked) {
        return Err(wrong(refused, CONVERT));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, asked, &options)
        .map_err(|error| wrong(format!("{refused}: {error}"), CONVERT))
}

/// Whether a type is another representation of the same data.
fn represents(own: &DataType, asked: &DataType) -> bool {
    match (own, asked) {
        (DataType::Int64, asked) => asked.is_integer(),
        (DataType::Utf8, DataType::Dictionary(keys, texts)) => {
            keys.is_integer() && texts.is_string()
        }
        (DataType::Utf8, asked) => asked.is_string(),
        _ => false,
    }
}

/// A type as Arrow's C++ and Python libraries call it.
pub(crate) fn type_name(named: &DataType) -> String {
    let name = match named {
        DataType::Boolean => "bool",
        DataType::Float16 => "halffloat",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Utf8 => "string",
        DataType::LargeUtf8 => "large_string",
        DataType::Utf8View => "string_view",
        DataType::Dictionary(keys, values) => {
            return format!("dictionary<{}, {}>", type_name(keys), type_name(values));
        }
        other => return other.to_string().to_lowercase(),
    };
    name.to_owned()
}
