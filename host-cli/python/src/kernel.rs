//! Kernels of PTX texts, launched over arrays of Python.

use std::sync::Arc;

use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use strata::call::{Call, CallArgument, CallArray, CallKernel, CallOptions, Called};
use strata_measure::options::{EnergySource, Mode, Scale, Source};
use strata_measure::subject;
use strata_study::sweep::points::row_of;
use strata_workload::element::ElementType;

use crate::arguments::{self, named, names, type_error, wrong};
use crate::table::Table;
use crate::work::{OnInterrupt, raised, work};

/// A kernel of a PTX text, which `launch` executes and counts.
///
/// `strata.kernel` makes it.
#[pyclass(frozen, module = "strata")]
pub(crate) struct Kernel {
    kernel: Arc<CallKernel>,
}

/// The kernel of a PTX text that is called `name`, or its only one.
///
/// `file` is what the text is called in messages. Raises `StrataError` with every error of the PTX,
/// each with line and column.
#[pyfunction]
#[pyo3(signature = (ptx, name = None, *, file = "kernel.ptx"))]
pub(crate) fn kernel(
    py: Python<'_>,
    ptx: String,
    name: Option<String>,
    file: &str,
) -> PyResult<Kernel> {
    let file = file.to_owned();
    let kernel = work(py, OnInterrupt::Leave, move |given| {
        CallKernel::new(&file, &ptx, name.as_deref(), &given.notes)
    })?;
    Ok(Kernel { kernel: Arc::new(kernel) })
}

#[pymethods]
impl Kernel {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.kernel.name()
    }

    /// Its parameters, in order: each one's name and its type, as PTX spells them.
    #[getter]
    fn parameters(&self) -> Vec<(String, String)> {
        self.kernel.parameters().map(|(name, ty)| (name.to_owned(), ty)).collect()
    }

    fn __repr__(&self) -> String {
        format!("<strata.Kernel: {}>", self.name())
    }

    /// Refuses to be pickled, with every protocol.
    fn __reduce__(&self) -> PyResult<()> {
        let name = self.name();
        let message = format!("cannot pickle 'strata.Kernel' object `{name}`; pass its PTX on");
        Err(PyTypeError::new_err(message))
    }

    /// Execute one launch, and count what its register accesses do to each design.
    ///
    /// `grid` and `block`: one number, or one to three. `args`: one for each parameter. An array
    /// (NumPy's, or anything with the buffer protocol, contiguous in C's order) is copied to the
    /// device, its address is passed, and what the kernel left there is written back into it; a
    /// read-only one is an input, and an error if the kernel changes it. Whole numbers and numbers
    /// with decimals have to suit the parameter's type. `bytes` or an array are the bytes of a
    /// structure.
    ///
    /// `designs`: one or a list of names or files. `shared`: dynamic shared memory of a CTA in
    /// bytes. `cooperative`: all CTAs are resident at once, for `grid.sync()`. `max_instructions`:
    /// ends with an error after so many warp instructions. The others are those of `strata.run`.
    ///
    /// Returns a row for each design, with the columns of `strata.run`.
    #[pyo3(signature = (
        grid, block, args, *, designs = None, mode = None, shared = 0, cooperative = false,
        energy = None, order = None, registers = None, max_instructions = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn launch(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        designs: Option<&Bound<'_, PyAny>>,
        mode: Option<&str>,
        shared: u32,
        cooperative: bool,
        energy: Option<std::path::PathBuf>,
        order: Option<&str>,
        registers: Option<u16>,
        max_instructions: Option<u64>,
    ) -> PyResult<Table> {
        let mut designs = names("designs", designs)?;
        if designs.is_empty() {
            designs.push(strata_study::sweep::definition::DEFAULT_DESIGN.to_owned());
        }
        let options = CallOptions {
            designs: {
                let names = EnergySource::behind_all(arguments::energy(energy)?.as_ref(), &designs);
                subject::designs(&names).map_err(|failure| raised(&failure))?
            },
            mode: named("mode", mode)?.unwrap_or(Mode::Count),
            source: Source {
                orders: named("order", order)?.into_iter().collect(),
                registers: arguments::registers(registers)?,
                max_instructions,
                ..Source::of(Scale::Default)
            },
        };
        let mut given = Given { arrays: Vec::new() };
        let arguments = args.try_iter().map_err(|_| type_error("args", "a sequence", args))?;
        let arguments = arguments.enumerate().map(|(index, one)| given.argument(index, &one?));
        let call = Call {
            arguments: arguments.collect::<PyResult<_>>()?,
            grid: sides("grid", grid)?,
            block: sides("block", block)?,
            dynamic_shared: shared,
            cooperative,
            arrays: given.arrays.iter().map(|array| array.contents.clone()).collect(),
        };
        let kernel = Arc::clone(&self.kernel);
        let called =
            work(py, OnInterrupt::Leave, move |given| call.run(&kernel, &options, &given.notes))?;
        let Called { subject, request, designs, reports, arrays } = called;
        given.write_back(&arrays)?;
        let row = |(design, report)| row_of((&subject, &request), design, report);
        let rows: Result<Vec<_>, _> = designs.iter().zip(&reports).map(row).collect();
        rows.and_then(|rows| Table::of_rows(&rows)).map_err(|failure| raised(&failure))
    }
}

/// One to three sides of a grid or a block.
fn sides(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let side = |one: &Bound<'_, PyAny>| match one.extract::<u32>() {
        Ok(side) if side > 0 => Ok(side),
        _ if one.extract::<i128>().is_ok() => {
            Err(wrong(format!("`{what}` has a side of {one}"), "sides are at least 1"))
        }
        _ => Err(type_error(what, "one to three whole numbers", one)),
    };
    if given.extract::<i128>().is_ok() {
        return Ok(vec![side(given)?]);
    }
    let all =
        given.try_iter().map_err(|_| type_error(what, "one to three whole numbers", given))?;
    let all: Vec<u32> = all.map(|one| side(&one?)).collect::<PyResult<_>>()?;
    if (1..=3).contains(&all.len()) {
        return Ok(all);
    }
    Err(wrong(format!("`{what}` has {} sides", all.len()), "give one to three"))
}

/// An array of Python's that a kernel gets.
struct Array<'py> {
    /// The number of the first argument that it is.
    argument: usize,
    /// All its bytes.
    view: Bound<'py, PyAny>,
    /// Where they lie in memory, from and to.
    place: (usize, usize),
    readonly: bool,
    contents: CallArray,
}

/// The arrays among the arguments, each once.
struct Given<'py> {
    arrays: Vec<Array<'py>>,
}

impl<'py> Given<'py> {
    /// What is passed for an argument.
    fn argument(&mut self, index: usize, given: &Bound<'py, PyAny>) -> PyResult<CallArgument> {
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return Ok(CallArgument::Bytes(bytes.as_bytes().to_vec()));
        }
        // NumPy's numbers are of these classes, too, and its arrays are not.
        let numbers = given.py().import("numbers")?;
        if given.is_instance(&numbers.getattr("Integral")?)? {
            return integer(index, given);
        }
        if given.is_instance(&numbers.getattr("Real")?)? {
            return given.extract().map(CallArgument::Real);
        }
        match PyUntypedBuffer::get(given) {
            Ok(buffer) if buffer.dimensions() > 0 => {
                self.array(index, given, &buffer).map(CallArgument::Array)
            }
            _ => {
                let expected = "an array of one side or more, a number, or bytes";
                Err(type_error(&format!("args[{index}]"), expected, given))
            }
        }
    }

    /// The place of an array among all: that of an earlier one if it is the same memory.
    fn array(
        &mut self,
        index: usize,
        given: &Bound<'py, PyAny>,
        buffer: &PyUntypedBuffer,
    ) -> PyResult<usize> {
        let what = format!("args[{index}]");
        if !buffer.is_c_contiguous() {
            let message = format!("`{what}` is not contiguous");
            return Err(wrong(message, "`numpy.ascontiguousarray` makes a copy that is"));
        }
        let element = element(&what, buffer)?;
        let start = buffer.buf_ptr() as usize;
        let place = (start, start + buffer.len_bytes());
        for (at, other) in self.arrays.iter().enumerate() {
            if other.place == place && other.contents.element == element {
                return Ok(at);
            }
            if place.0 < other.place.1 && other.place.0 < place.1 {
                let message =
                    format!("`{what}` is partly the memory of `args[{}]`", other.argument);
                return Err(wrong(message, "pass the same array twice, or a copy of one of them"));
            }
        }
        let view = bytes_of(given, element)?;
        let bytes = PyBuffer::<u8>::get(&view)?.to_vec(given.py())?;
        let contents = CallArray { element, bytes: bytes.into() };
        let readonly = buffer.readonly();
        self.arrays.push(Array { argument: index, view, place, readonly, contents });
        Ok(self.arrays.len() - 1)
    }

    /// Writes what the kernel left into the arrays.
    fn write_back(&self, finals: &[Vec<u8>]) -> PyResult<()> {
        let changed = |array: &Array<'_>, bytes: &[u8]| *array.contents.bytes != *bytes;
        for (array, bytes) in self.arrays.iter().zip(finals) {
            if array.readonly && changed(array, bytes) {
                let message =
                    format!("the kernel wrote to `args[{}]`, which is read-only", array.argument);
                return Err(wrong(message, "pass an array that may be written; none was changed"));
            }
        }
        for (array, bytes) in self.arrays.iter().zip(finals) {
            if changed(array, bytes) {
                PyBuffer::<u8>::get(&array.view)?.copy_from_slice(array.view.py(), bytes)?;
            }
        }
        Ok(())
    }
}

fn integer(index: usize, given: &Bound<'_, PyAny>) -> PyResult<CallArgument> {
    let number = given.call_method0("__index__")?.extract::<i128>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(given.py()) {
            let message = format!("`args[{index}]` is {given}");
            return wrong(message, "no parameter is that large");
        }
        error
    });
    number.map(CallArgument::Integer)
}

/// The type of the elements of an array.
fn element(what: &str, buffer: &PyUntypedBuffer) -> PyResult<ElementType> {
    let format = buffer.format().to_string_lossy();
    let native = if cfg!(target_endian = "little") { ['@', '=', '<'] } else { ['@', '=', '>'] };
    let code = format.strip_prefix(native).unwrap_or(&format);
    let element = match (code, buffer.item_size()) {
        ("?" | "B" | "c", 1) => ElementType::U8,
        ("b", 1) => ElementType::S8,
        ("H", 2) => ElementType::U16,
        ("h", 2) => ElementType::S16,
        ("I" | "L", 4) => ElementType::U32,
        ("i" | "l", 4) => ElementType::S32,
        ("L" | "Q", 8) => ElementType::U64,
        ("l" | "q", 8) => ElementType::S64,
        ("e", 2) => ElementType::F16,
        ("f", 4) => ElementType::F32,
        ("d", 8) => ElementType::F64,
        _ => {
            let message = format!("`{what}` has elements of the format `{format}`");
            return Err(wrong(message, "NumPy's `view` makes numbers of this machine of them"));
        }
    };
    Ok(element)
}

/// A view of all bytes of an array.
fn bytes_of<'py>(array: &Bound<'py, PyAny>, element: ElementType) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(array)?;
    match view.call_method1("cast", ("B",)) {
        // Not all versions of Python know numbers of half precision.
        Err(_) if element == ElementType::F16 => {
            let words = array.call_method1("view", ("uint16",))?;
            PyMemoryView::from(&words)?.call_method1("cast", ("B",))
        }
        cast => cast,
    }
}
