"""Tables reach other libraries without a copy."""

import duckdb
import pandas
import polars
import pyarrow
import pytest

import strata


@pytest.fixture(scope="module")
def table() -> strata.Table:
    return strata.run("vectoradd", ["isca11", "isca11-rfc6"], scale="small")


def address(column: pyarrow.ChunkedArray) -> int:
    return column.chunk(0).buffers()[1].address


def test_other_libraries_see_the_same_memory(table: strata.Table) -> None:
    ours = table.to_pyarrow()["mrf_reads"]
    assert address(pyarrow.table(table)["mrf_reads"]) == address(ours)
    column = table.to_polars().get_column("mrf_reads")
    assert address(pyarrow.chunked_array([column.to_arrow()])) == address(ours)
    frame = table.to_pandas()
    assert address(frame["mrf_reads"].array._pa_array) == address(ours)


def test_types_and_nulls_stay(table: strata.Table) -> None:
    frame = table.to_pandas()
    assert frame["cache.entries"].isna().tolist() == [True, False]
    assert frame["cache.entries"][1] == 6
    assert str(frame["cache.entries"].dtype) == "int64[pyarrow]"
    assert polars.DataFrame(table)["cache.entries"].to_list() == [None, 6]
    assert pandas.DataFrame.from_arrow(table)["design"].tolist() == ["isca11", "isca11-rfc6"]
    kinds = {str(field.type) for field in pyarrow.schema(table)}
    assert kinds == {"int64", "double", "bool", "string"}


def test_a_table_is_of_use_without_other_libraries(table: strata.Table) -> None:
    assert (len(table), table.num_rows, table.num_columns) == (2, 2, len(table.column_names))
    assert repr(table) == f"<strata.Table: 2 x {table.num_columns}>"
    assert table["design"] == ["isca11", "isca11-rfc6"]
    assert list(table.to_pydict()) == table.column_names
    assert table.to_pydict() == pyarrow.table(table).to_pydict()
    with pytest.raises(KeyError):
        table["no such column"]


def test_duckdb_queries_a_table(table: strata.Table) -> None:
    points = table  # found by its name
    told = duckdb.sql("SELECT design FROM points WHERE mrf_reads = (SELECT min(mrf_reads) FROM points)")
    assert told.fetchall() == [("isca11-rfc6",)]


def test_a_table_outlives_what_made_it() -> None:
    frame = strata.run("vectoradd", scale="small").to_polars()
    assert frame["workload"].to_list() == ["vectoradd"]
