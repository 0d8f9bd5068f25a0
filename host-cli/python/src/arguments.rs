//! Arguments: from what Python passes to what a command line would have.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use strata_compiler::RegisterLimit;
use strata_config::suggest::{did_you_mean, suggest};
use strata_core::names::Named;
use strata_files::failure::Failure;
use strata_measure::options::EnergySource;
use strata_study::sweep::axes::Axis;
use strata_study::sweep::definition::axes;
use strata_workload::STANDARD_INPUT;
use toml::{Table, Value};

use crate::work::raised;

/// Wrong input as an error of Python.
pub(crate) fn wrong(message: String, hint: impl AsRef<str>) -> PyErr {
    raised(&Failure::input(message).hint(hint))
}

/// A value by its name; `what` is what the argument is called.
pub(crate) fn named<T: Named>(what: &str, name: Option<&str>) -> PyResult<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    let found = T::from_name(name).ok_or_else(|| {
        let known: Vec<_> = T::NAMES.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`{what}` is none of {}: `{name}`", known.join(", "));
        let near = suggest(name, T::NAMES.iter().copied());
        wrong(message, did_you_mean(&near).unwrap_or_default())
    })?;
    Ok(Some(found))
}

/// Where the energy of what no table prints comes from.
pub(crate) fn energy(text: Option<PathBuf>) -> PyResult<Option<EnergySource>> {
    let Some(text) = text else { return Ok(None) };
    let text = utf8(text)?;
    text.parse().map(Some).map_err(|why| wrong(format!("`energy` is `{text}`: {why}"), ""))
}

/// Registers of a thread.
pub(crate) fn registers(given: Option<u16>) -> PyResult<Option<u16>> {
    let allowed = RegisterLimit::MIN..=RegisterLimit::MAX;
    match given {
        Some(registers) if !allowed.contains(&registers) => {
            let (low, high) = allowed.into_inner();
            Err(wrong(
                format!("`registers` is {registers}"),
                format!("{low} to {high} are possible"),
            ))
        }
        given => Ok(given),
    }
}

/// A number of threads.
pub(crate) fn jobs(jobs: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let none = || wrong("`jobs` is 0".to_owned(), "leave it out for one for each core");
    jobs.map(|jobs| NonZeroUsize::new(jobs).ok_or_else(none)).transpose()
}

fn utf8(path: PathBuf) -> PyResult<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| wrong(format!("`{}` is no UTF-8 name", path.display()), "rename the file"))
}

/// Names of inputs or designs, or paths: one, or several.
pub(crate) fn names(what: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let one = |given: &Bound<'_, PyAny>| {
        let path = given.extract::<PathBuf>();
        let name = utf8(path.map_err(|_| type_error(what, "a text or a path", given))?)?;
        if name == STANDARD_INPUT {
            let message = format!("`{what}` names standard input, which is not read here");
            return Err(wrong(message, "write it into a file, and name that"));
        }
        Ok(name)
    };
    if given.extract::<PathBuf>().is_ok() {
        return Ok(vec![one(given)?]);
    }
    let all = given.try_iter();
    let all = all.map_err(|_| type_error(what, "texts or paths", given))?;
    all.map(|each| one(&each?)).collect()
}

/// A wrong type of an argument.
pub(crate) fn type_error(what: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let found = given.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("`{what}`: expected {expected}, got `{found}`"))
}

/// Keys with their values: each a text as the command line has it, one value, or a list of values.
/// `call` and `what` are what they are called in messages.
pub(crate) fn axes_of(
    call: &str,
    what: &str,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Axis>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let mut table = Table::new();
    for (key, values) in given.iter() {
        let key = key.cast::<PyString>().map_err(|_| type_error(what, "texts as keys", &key))?;
        table.insert(key.to_string(), value(what, &values)?);
    }
    axes(&call, what, &table).map_err(|failure| raised(&failure))
}

/// A value as a sweep's file has it.
fn value(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if let Ok(on) = given.cast::<PyBool>() {
        return Ok(Value::Boolean(on.is_true()));
    }
    // Before numbers with decimals, which take whole ones as well.
    if let Ok(number) = given.extract::<i64>() {
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = given.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    let expected = "a text, a number, a switch, or a list of these";
    let all = given.try_iter().map_err(|_| type_error(what, expected, given))?;
    all.map(|each| value(what, &each?)).collect::<PyResult<_>>().map(Value::Array)
}
