"""A laboratory for the register file of a GPU streaming multiprocessor.

`run` executes kernels and counts what their register accesses do to designs, `sweep` evaluates
every combination of many, `kernel` launches a kernel of a PTX text over arrays, `designs` and
`workloads` list what can be named. All return a `Table` in Arrow's memory, which pyarrow, pandas,
polars and DuckDB take without a copy. Numbers are those of the command line.
"""

from ._strata import (
    MODEL_VERSION,
    Kernel,
    StrataError,
    Table,
    __version__,
    _evaluate_batch,
    _identity,
    _table_of_state,
    designs,
    kernel,
    run,
    sweep,
    workloads,
)

__all__ = [
    "MODEL_VERSION",
    "Kernel",
    "StrataError",
    "Table",
    "__version__",
    "designs",
    "kernel",
    "run",
    "sweep",
    "workloads",
]
