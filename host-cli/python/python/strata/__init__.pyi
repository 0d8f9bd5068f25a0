"""Types of the package; `help(strata)` has the texts."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal, Self, TypeAlias, final

import pandas
import polars
import pyarrow
from typing_extensions import Buffer, CapsuleType

_Path: TypeAlias = str | PathLike[str]
_Names: TypeAlias = _Path | Iterable[_Path]
_Value: TypeAlias = str | int | float | bool
_Values: TypeAlias = _Value | Sequence[_Value | Sequence[_Value]]
_Mode: TypeAlias = Literal["count", "cycle"]
_Scale: TypeAlias = Literal["small", "default", "large"]
_Ptx: TypeAlias = str
_Order: TypeAlias = str
_Sides: TypeAlias = int | Sequence[int]
_Argument: TypeAlias = Buffer | int | float | bytes

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

MODEL_VERSION: int
__version__: str

class StrataError(ValueError): ...

@final
class Table:
    @property
    def num_rows(self) -> int: ...
    @property
    def num_columns(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: str, /) -> list[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pyarrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

@final
class Kernel:
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[str, str]]: ...
    def launch(
        self,
        grid: _Sides,
        block: _Sides,
        args: Iterable[_Argument],
        *,
        designs: _Names | None = None,
        mode: _Mode | None = None,
        shared: int = 0,
        cooperative: bool = False,
        energy: _Path | None = None,
        order: _Order | None = None,
        registers: int | None = None,
        max_instructions: int | None = None,
    ) -> Table: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def kernel(ptx: str, name: str | None = None, *, file: str = "kernel.ptx") -> Kernel: ...
def designs() -> Table: ...
def workloads() -> Table: ...
def run(
    workloads: _Names | None = None,
    designs: _Names | None = None,
    *,
    mode: _Mode | None = None,
    scale: _Scale | None = None,
    set: dict[str, _Value] | None = None,
    seed: int | None = None,
    energy: _Path | None = None,
    launch: _Path | None = None,
    ptx: _Ptx | None = None,
    order: _Order | None = None,
    registers: int | None = None,
    jobs: int | None = None,
) -> Table: ...
def sweep(
    file: _Path | None = None,
    *,
    vary: dict[str, _Values] | None = None,
    workloads: _Names | None = None,
    designs: _Names | None = None,
    mode: _Mode | None = None,
    scale: _Scale | None = None,
    set: dict[str, _Values] | None = None,
    energy: _Path | None = None,
    launch: _Path | None = None,
    ptx: _Ptx | None = None,
    order: _Order | None = None,
    registers: int | None = None,
    out: _Path | None = None,
    jobs: int | None = None,
) -> Table: ...
