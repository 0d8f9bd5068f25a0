"""Compares a file of points, as pandas, DuckDB and fastparquet read it, with what `strata sweep table` prints.

    compare.py POINTS.parquet TABLE.json TABLE.csv VERSION

Every value, type and null has to be the same. VERSION is that of the columns.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from typing import Any

import duckdb
import fastparquet
import pandas
import pyarrow.parquet

# What the document says: the type in Parquet, in DuckDB, and in pandas with types of Arrow.
TYPES = {
    "INT64": ("BIGINT", "int64[pyarrow]", int),
    "DOUBLE": ("DOUBLE", "double[pyarrow]", float),
    "BOOLEAN": ("BOOLEAN", "bool[pyarrow]", bool),
    "BYTE_ARRAY": ("VARCHAR", "string[pyarrow]", str),
}

Rows = list[dict[str, Any]]


def same(one: Any, other: Any) -> bool:
    """Equal, and of one type: 1, 1.0 and True are three values."""
    if type(one) is not type(other):
        return False
    return one == other or (one is not None and one != one and other != other)


def of_pandas(path: str) -> tuple[Rows, dict[str, str]]:
    table = pandas.read_parquet(path, dtype_backend="pyarrow")
    columns = {name: table[name].astype(object).tolist() for name in table.columns}
    plain = {
        name: [None if value is pandas.NA else value for value in values]
        for name, values in columns.items()
    }
    rows = [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
    return rows, {name: str(dtype) for name, dtype in table.dtypes.items()}


def of_duckdb(path: str) -> tuple[Rows, dict[str, str]]:
    relation = duckdb.sql(f"SELECT * FROM '{path}'")
    names = relation.columns
    rows = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    return rows, {name: str(kind) for name, kind in zip(names, relation.types, strict=True)}


def of_fastparquet(path: str) -> Rows:
    """Its types are NumPy's, which have no nulls: what is null is NaN or None, and numbers beside one are floats."""
    table = fastparquet.ParquetFile(path).to_pandas()
    columns = {name: table[name].astype(object).tolist() for name in table.columns}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [
        {name: None if pandas.isna(value) else value for name, value in row.items()} for row in rows
    ]


def check_types(path: str, pandas_types: dict[str, str], duckdb_types: dict[str, str]) -> None:
    schema = pyarrow.parquet.ParquetFile(path).schema
    names = [schema.column(place).name for place in range(len(schema.names))]
    assert names == list(pandas_types) == list(duckdb_types), names
    for place, name in enumerate(names):
        in_duckdb, in_pandas, _ = TYPES[schema.column(place).physical_type]
        assert duckdb_types[name] == in_duckdb, (name, duckdb_types[name])
        assert pandas_types[name] in (in_pandas, "string"), (name, pandas_types[name])


def check_csv(path: str, expected: Rows, names: list[str]) -> None:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert list(row) == names
        for name, value in wanted.items():
            text = row[name]
            match value:
                case None:
                    assert text == "", (name, text)
                case bool():
                    assert text == str(value).lower(), (name, text)
                case float():
                    assert math.isclose(float(text), value, rel_tol=0, abs_tol=0), (name, text)
                case _:
                    assert text == str(value), (name, text, value)


def main() -> None:
    points, table, lines, version = sys.argv[1:]
    with open(table) as file:
        expected: Rows = json.load(file)
    from_pandas, pandas_types = of_pandas(points)
    from_duckdb, duckdb_types = of_duckdb(points)
    check_types(points, pandas_types, duckdb_types)
    kinds = {name: set() for name in pandas_types}
    for reader, rows in (("pandas", from_pandas), ("DuckDB", from_duckdb)):
        assert len(rows) == len(expected), (reader, len(rows), len(expected))
        for row, wanted in zip(rows, expected, strict=True):
            assert row.keys() == wanted.keys(), reader
            for name, value in wanted.items():
                assert same(row[name], value), (reader, name, row[name], value)
                kinds[name].add(type(value))
    for row, wanted in zip(of_fastparquet(points), expected, strict=True):
        assert row.keys() == wanted.keys(), "fastparquet"
        for name, value in wanted.items():
            # NaN is a null there, too.
            is_null = value is None or value != value
            assert row[name] is None if is_null else row[name] == value, (name, row[name], value)
    check_csv(lines, expected, list(pandas_types))
    metadata = pyarrow.parquet.read_metadata(points)
    assert metadata.metadata[b"strata.schema"].decode() == version, metadata.metadata
    assert metadata.num_row_groups == 1
    seen = set().union(*kinds.values())
    print(len(expected), "rows,", len(kinds), "columns,", sorted(kind.__name__ for kind in seen))


if __name__ == "__main__":
    main()
