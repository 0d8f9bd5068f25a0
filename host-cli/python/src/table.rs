//! Table: rows in Arrow's memory, which other libraries take without a copy.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
    cast::AsArray as _,
    types::{Float64Type, Int64Type},
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use strata::failure::Failure;
use strata::report::columns::{Cell, Columns};
use strata::report::parquet::{Field as Column, Kind};
use strata::sweep::parquet;
use strata::sweep::row::{self, Row};

use crate::work::raised;

/// Names that Arrow's interface gives its capsules.
const SCHEMA: &CStr = c"arrow_schema";
const STREAM: &CStr = c"arrow_array_stream";

/// Rows under named columns, in Arrow's memory.
///
/// It has Arrow's `PyCapsule` interface: `pyarrow.table(t)`, `polars.DataFrame(t)`,
/// `pandas.DataFrame.from_arrow(t)` and DuckDB take it without copying it. Whole numbers are
/// `int64`, numbers with decimals `double`, switches `bool`, texts `string`; null says that there
/// is no such value.
#[pyclass(frozen, module = "strata")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Rows of a sweep, with the columns and the metadata of its files.
    pub(crate) fn of_rows(rows: &[Row]) -> Result<Self, Failure> {
        let columns = row::columns_of(rows);
        let cells = |(place, column): (usize, &Column)| {
            let cells: Vec<_> = rows.iter().map(|row| row.cell(place, &column.name)).collect();
            array(column.kind, &cells)
        };
        let arrays = columns.iter().enumerate().map(cells).collect();
        let metadata = parquet::metadata().map(|(key, value)| (key.to_owned(), value));
        Self::new(&columns, arrays, metadata.into())
    }

    /// Columns of a list; those that sweeps have as well have the same type.
    pub(crate) fn of_columns(listed: &Columns) -> Result<Self, Failure> {
        let kind = |name: &String| {
            let place = row::place(name);
            let kind = place.map_or(Kind::Text, |place| row::columns()[place].kind);
            Column { name: name.clone(), kind }
        };
        let columns: Vec<_> = listed.header.iter().map(kind).collect();
        let cells = |(place, column): (usize, &Column)| {
            let cells: Vec<_> = listed.rows.iter().map(|row| row[place].clone()).collect();
            array(column.kind, &cells)
        };
        let arrays = columns.iter().enumerate().map(cells).collect();
        Self::new(&columns, arrays, HashMap::new())
    }

    fn new(
        columns: &[Column],
        arrays: Vec<ArrayRef>,
        metadata: HashMap<String, String>,
    ) -> Result<Self, Failure> {
        let field = |(column, array): (&Column, &ArrayRef)| {
            Field::new(&column.name, array.data_type().clone(), true)
        };
        let fields: Vec<_> = columns.iter().zip(&arrays).map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let batch = RecordBatch::try_new(schema, arrays);
        batch.map(|batch| Self { batch }).map_err(|error| Failure::internal(&error.to_string()))
    }

    fn values<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyList>> {
        let array = self.batch.column(place);
        match array.data_type() {
            DataType::Int64 => {
                PyList::new(py, array.as_primitive::<Int64Type>().iter().collect::<Vec<_>>())
            }
            DataType::Float64 => {
                PyList::new(py, array.as_primitive::<Float64Type>().iter().collect::<Vec<_>>())
            }
            DataType::Boolean => PyList::new(py, array.as_boolean().iter().collect::<Vec<_>>()),
            _ => PyList::new(py, array.as_string::<i32>().iter().collect::<Vec<_>>()),
        }
    }
}

/// A column's cells. A value of another kind, which no row has, would be null.
fn array(kind: Kind, cells: &[Option<Cell>]) -> ArrayRef {
    let cells = cells.iter().map(Option::as_ref);
    match kind {
        Kind::Number => {
            let numbers = cells.map(|cell| match cell {
                Some(Cell::Number(number)) => Some(*number),
                _ => None,
            });
            Arc::new(numbers.collect::<Int64Array>())
        }
        Kind::Real => {
            let numbers = cells.map(|cell| match cell {
                Some(Cell::Real(number)) => Some(*number),
                _ => None,
            });
            Arc::new(numbers.collect::<Float64Array>())
        }
        Kind::Switch => {
            let switches = cells.map(|cell| match cell {
                Some(Cell::Switch(on)) => Some(*on),
                _ => None,
            });
            Arc::new(switches.collect::<BooleanArray>())
        }
        Kind::Text => {
            let texts = cells.map(|cell| match cell {
                Some(Cell::Text(text)) => Some(text.as_str()),
                _ => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
    }
}

#[pymethods]
impl Table {
    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// How many columns there are.
    #[getter]
    fn num_columns(&self) -> usize {
        self.batch.num_columns()
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!("<strata.Table: {rows} x {columns}>")
    }

    /// The values of a column, as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.batch.schema_ref().index_of(name);
        let place = place.map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        self.values(py, place)
    }

    /// Every column as a list, by its name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, field) in self.batch.schema_ref().fields().iter().enumerate() {
            all.set_item(field.name(), self.values(py, place)?)?;
        }
        Ok(all)
    }

    /// As a `pyarrow.Table`, without a copy.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// As a `pandas.DataFrame` with Arrow's types, without a copy: null stays null, and whole
    /// numbers stay whole.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let types = PyDict::new(slf.py());
        types.set_item("types_mapper", slf.py().import("pandas")?.getattr("ArrowDtype")?)?;
        Self::to_pyarrow(slf)?.call_method("to_pandas", (), Some(&types))
    }

    /// As a `polars.DataFrame`, without a copy.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Arrow's `PyCapsule` interface: the types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref());
        PyCapsule::new_with_value(py, schema.map_err(|error| defect(&error))?, SCHEMA)
    }

    /// Arrow's `PyCapsule` interface: the rows. The schema that is asked for is not looked at,
    /// which the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = [Ok::<_, ArrowError>(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}

fn defect(error: &ArrowError) -> PyErr {
    raised(&Failure::internal(&error.to_string()))
}
