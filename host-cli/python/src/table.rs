//! Table: rows in Arrow's memory, which other libraries take without a copy.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::hash::{Hash, Hasher};
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
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use strata_files::failure::Failure;
use strata_report::columns::{Cell, Columns};
use strata_report::parquet::{Field as Column, Kind};
use strata_study::sweep::parquet;
use strata_study::sweep::row::{self, Row};

use crate::pickled;
use crate::request::{self, SCHEMA};
use crate::work::raised;

/// Name that Arrow's interface gives a capsule with rows.
const STREAM: &CStr = c"arrow_array_stream";

/// What a pickled table is: the function that reads its state, and that state, which is the layout,
/// the metadata, and each column's name, type and values.
type Pickled<'py> = (
    Bound<'py, PyAny>,
    (&'static str, BTreeMap<String, String>, Vec<(String, String, Bound<'py, PyList>)>),
);

/// Rows under named columns, in Arrow's memory.
///
/// It has Arrow's `PyCapsule` interface: `pyarrow.table(t)`, `polars.DataFrame(t)`,
/// `pandas.DataFrame.from_arrow(t)` and DuckDB take it without copying it. Whole numbers are
/// `int64`, numbers with decimals `double`, switches `bool`, texts `string`; null says that there
/// is no such value.
///
/// It never changes. Tables are equal if they have the same columns, types, values and metadata;
/// they can be pickled, and so pass between processes.
#[pyclass(frozen, eq, hash, module = "strata")]
#[derive(PartialEq)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Hash for Table {
    /// Hashes the names of the columns and the number of rows, not the values.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for field in self.batch.schema_ref().fields() {
            field.name().hash(state);
        }
        self.batch.num_rows().hash(state);
    }
}

impl Table {
    /// Rows of a sweep, with the columns and the metadata of its files.
    pub(crate) fn of_rows(rows: &[Row]) -> Result<Self, Failure> {
        let columns = row::columns_of(rows);
        let cells = |(place, column): (usize, &Column)| {
            let cells: Vec<_> = rows.iter().map(|row| row.cell(place, &column.name)).collect();
            (column.name.clone(), array(column.kind, &cells))
        };
        let columns = columns.iter().enumerate().map(cells).collect();
        let metadata = parquet::metadata().map(|(key, value)| (key.to_owned(), value));
        Self::new(columns, metadata.into())
    }

    /// Columns of a list; those that sweeps have as well have the same type.
    pub(crate) fn of_columns(listed: &Columns) -> Result<Self, Failure> {
        let column = |(place, name): (usize, &String)| {
            let kind = row::place(name).map_or(Kind::Text, |place| row::columns()[place].kind);
            let cells: Vec<_> = listed.rows.iter().map(|row| row[place].clone()).collect();
            (name.clone(), array(kind, &cells))
        };
        Self::new(listed.header.iter().enumerate().map(column).collect(), HashMap::new())
    }

    fn new(
        columns: Vec<(String, ArrayRef)>,
        metadata: HashMap<String, String>,
    ) -> Result<Self, Failure> {
        let field =
            |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
        let fields: Vec<_> = columns.iter().map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
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

    /// Arrow's `PyCapsule` interface: the rows.
    ///
    /// `requested_schema`: a capsule with the schema that the rows are to have, of the same columns
    /// in the same order. For whole numbers any type of integers will do, for texts
    /// `large_string`, `string_view` and dictionaries; columns of the same type are not copied.
    /// Metadata stay the table's.
    ///
    /// Raises `TypeError` if that is not a capsule, and `StrataError`, with the column and both
    /// types, for any other request.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batch = match requested_schema {
            Some(requested) => request::satisfy(&self.batch, &request::read(requested)?)?,
            None => self.batch.clone(),
        };
        let schema = batch.schema();
        let reader = RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// What `pickle` writes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let schema = self.batch.schema_ref();
        let column = |(place, field): (usize, &Arc<Field>)| {
            let kind = request::type_name(field.data_type());
            Ok((field.name().clone(), kind, self.values(py, place)?))
        };
        let columns = schema.fields().iter().enumerate().map(column).collect::<PyResult<_>>()?;
        let read = py.import("strata")?.getattr("_table_of_state")?;
        let metadata = schema.metadata().clone().into_iter().collect();
        Ok((read, (pickled::LAYOUT, metadata, columns)))
    }

    /// The table itself, which never changes.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The table itself, which never changes.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// The table that was pickled, from the state that `pickle` read.
///
/// Raises `StrataError` if the state is damaged, or that of another version of the package.
#[pyfunction]
#[pyo3(name = "_table_of_state", signature = (*state))]
pub(crate) fn table_of_state(state: &Bound<'_, PyTuple>) -> PyResult<Table> {
    let (columns, metadata) = pickled::read(state)?;
    Table::new(columns, metadata).map_err(|failure| raised(&failure))
}

fn defect(error: &ArrowError) -> PyErr {
    raised(&Failure::internal(&error.to_string()))
}
