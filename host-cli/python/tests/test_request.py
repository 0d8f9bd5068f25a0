"""Consumers of Arrow's interface request types of columns; no value changes."""

import pyarrow
import pytest

import strata

COLUMNS = [
    ("name", "string", ["a", None, "b", "a"]),
    ("count", "int64", [1, 2, 300, 4]),
    ("share", "double", [0.5, 1.0, None, 0.1]),
    ("on", "bool", [True, None, False, True]),
]
OWN = {
    "name": pyarrow.string(),
    "count": pyarrow.int64(),
    "share": pyarrow.float64(),
    "on": pyarrow.bool_(),
}


@pytest.fixture(scope="module")
def table() -> strata.Table:
    function, _ = strata.designs().__reduce__()
    return function("strata.table/1", {"key": "value"}, COLUMNS)


def schema(**types: pyarrow.DataType | pyarrow.Field) -> pyarrow.Schema:
    """The table's own schema, with other types of some columns."""
    fields = []
    for name, kind in {**OWN, **types}.items():
        fields.append(kind if isinstance(kind, pyarrow.Field) else pyarrow.field(name, kind))
    return pyarrow.schema(fields)


def requested(table: strata.Table, asked: pyarrow.Schema) -> pyarrow.Table:
    """The rows as the table gives them out, which `pyarrow.table` would convert once more."""
    capsule = table.__arrow_c_stream__(asked.__arrow_c_schema__())
    return pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all()


def addresses(given: pyarrow.Table) -> list[int]:
    chunks = [column.chunk(0) for column in given.columns]
    return [part.address for chunk in chunks for part in chunk.buffers() if part is not None]


def test_its_own_schema_gives_the_same_memory(table: strata.Table) -> None:
    ours = pyarrow.table(table)
    for asked in [schema(), schema().with_metadata({"other": "metadata"}), pyarrow.schema(table)]:
        given = requested(table, asked)
        assert given.equals(ours, check_metadata=True)
        assert addresses(given) == addresses(ours)
    again = pyarrow.RecordBatchReader._import_from_c_capsule(
        table.__arrow_c_stream__(requested_schema=table.__arrow_c_schema__())
    )
    assert addresses(again.read_all()) == addresses(ours)


@pytest.mark.parametrize(
    "kind",
    [
        pyarrow.large_string(),
        pyarrow.string_view(),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        pyarrow.dictionary(pyarrow.uint8(), pyarrow.large_string()),
    ],
)
def test_texts_have_the_requested_representation(table: strata.Table, kind: pyarrow.DataType) -> None:
    given = requested(table, schema(name=kind))
    assert given.schema.field("name").type == kind
    assert given.to_pydict() == table.to_pydict()
    assert given.schema.metadata == {b"key": b"value"}
    if pyarrow.types.is_dictionary(kind):
        assert given["name"].chunk(0).dictionary.to_pylist() == ["a", "b"]


@pytest.mark.parametrize("kind", ["int16", "int32", "uint16", "uint32", "uint64"])
def test_whole_numbers_have_the_requested_size(table: strata.Table, kind: str) -> None:
    given = requested(table, schema(count=pyarrow.type_for_alias(kind)))
    assert str(given.schema.field("count").type) == kind
    assert given.to_pydict() == table.to_pydict()
    untouched = ["name", "share", "on"]
    assert addresses(given.select(untouched)) == addresses(pyarrow.table(table).select(untouched))


def test_pyarrow_requests_a_schema(table: strata.Table) -> None:
    asked = schema(name=pyarrow.large_string(), count=pyarrow.int32())
    assert pyarrow.table(table, schema=asked).schema == asked
    with pytest.raises(strata.StrataError, match="column `share` is double, and int64 is requested"):
        pyarrow.table(table, schema=schema(share=pyarrow.int64()))


def test_a_column_without_null_may_be_requested_as_such(table: strata.Table) -> None:
    asked = schema(count=pyarrow.field("count", pyarrow.int32(), nullable=False))
    assert requested(table, asked).schema == asked


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({"name": pyarrow.binary()}, "column `name` is string, and binary is requested"),
        ({"name": pyarrow.int64()}, "column `name` is string, and int64 is requested"),
        (
            {"name": pyarrow.dictionary(pyarrow.int8(), pyarrow.int64())},
            "column `name` is string, and dictionary<int8, int64> is requested",
        ),
        ({"count": pyarrow.string()}, "column `count` is int64, and string is requested"),
        ({"count": pyarrow.float64()}, "column `count` is int64, and double is requested"),
        (
            {"count": pyarrow.int8()},
            "column `count` is int64, and int8 is requested: Cast error: Can't cast value 300",
        ),
        ({"share": pyarrow.float32()}, "column `share` is double, and float is requested"),
        ({"on": pyarrow.int8()}, "column `on` is bool, and int8 is requested"),
        (
            {"on": pyarrow.field("on", pyarrow.bool_(), nullable=False)},
            "column `on` is bool with null, and bool without null is requested",
        ),
        ({"count": pyarrow.field("other", pyarrow.int64())}, "column 1 is `count`, and `other` is"),
        ({"more": pyarrow.int64()}, "`requested_schema` has 5 columns, the table has 4"),
    ],
)
def test_requests_that_change_the_data_are_refused(
    table: strata.Table, types: dict, expected: str
) -> None:
    with pytest.raises(strata.StrataError) as raised:
        requested(table, schema(**types))
    assert expected in str(raised.value)
    assert "\n  hint: " in str(raised.value)


def test_more_texts_than_a_dictionary_has_keys_are_refused() -> None:
    function, _ = strata.designs().__reduce__()
    table = function("strata.table/1", {}, [("a", "string", [str(n) for n in range(300)])])
    asked = pyarrow.schema([("a", pyarrow.dictionary(pyarrow.uint8(), pyarrow.string()))])
    with pytest.raises(strata.StrataError, match="column `a` is string, and dictionary<uint8, string>"):
        requested(table, asked)


def test_numbers_below_zero_have_no_unsigned_type() -> None:
    function, _ = strata.designs().__reduce__()
    table = function("strata.table/1", {}, [("a", "int64", [-1])])
    with pytest.raises(strata.StrataError, match="column `a` is int64, and uint64 is requested"):
        requested(table, pyarrow.schema([("a", pyarrow.uint64())]))


def test_only_a_capsule_with_a_schema_is_a_request(table: strata.Table) -> None:
    for other in [3, "count", schema(), b"", table]:
        with pytest.raises(TypeError, match="`requested_schema`: expected a capsule named `arrow_schema`"):
            table.__arrow_c_stream__(other)
    with pytest.raises(strata.StrataError, match='<capsule object "arrow_array_stream"'):
        table.__arrow_c_stream__(table.__arrow_c_stream__())
    with pytest.raises(strata.StrataError, match="`requested_schema` cannot be read"):
        table.__arrow_c_stream__(pyarrow.int64().__arrow_c_schema__())
    taken = schema().__arrow_c_schema__()
    pyarrow.Schema._import_from_c_capsule(taken)
    with pytest.raises(strata.StrataError, match="was already taken by another consumer"):
        table.__arrow_c_stream__(taken)
