//! The Python package of Strata: the library of the command line as functions that return Arrow
//! tables.
//!
//! [`run`](sweep::run), [`sweep`](sweep::sweep) and [`Kernel`](kernel::Kernel) read their
//! [`arguments`], do their [`work`] on a thread of their own, and return a [`table`]. What is
//! evaluated, counted and refused is decided by the library, as for the command line. Other
//! libraries may [`request`] types of a table's columns, and it can be [`pickled`].

mod arguments;
mod kernel;
mod lists;
mod pickled;
mod request;
mod sweep;
mod table;
mod work;

use pyo3::prelude::*;

/// A laboratory for the register file of a GPU streaming multiprocessor.
#[pymodule]
mod _strata {
    #[pymodule_export]
    use super::kernel::{Kernel, kernel};
    #[pymodule_export]
    use super::lists::{designs, workloads};
    #[pymodule_export]
    use super::sweep::{evaluate_batch, identity, run, sweep};
    #[pymodule_export]
    use super::table::{Table, table_of_state};
    #[pymodule_export]
    use super::work::StrataError;
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    /// Version of the model: the same input gives the same numbers under the same version.
    #[pymodule_export]
    const MODEL_VERSION: u32 = strata_core::MODEL_VERSION;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", strata_report::tool().version)
    }
}
