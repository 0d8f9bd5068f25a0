"""Tables and errors pass between processes; damaged pickles are refused."""

import copy
import math
import multiprocessing
import pickle

import pytest

import strata

LAYOUT = "strata.table/1"
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
EXTREMES = [
    ("whole", "int64", [-(2**63), None, 2**63 - 1, 0]),
    ("real", "double", [-math.inf, 5e-324, None, -0.0]),
    ("on", "bool", [True, False, None, True]),
    ("text", "string", ["", "\0 \U0001f600", None, "ü\n"]),
]


def of_state(*state: object) -> strata.Table:
    """The table of a state, by the way of `pickle`."""
    function, _ = strata.designs().__reduce__()
    return pickle.loads(pickle.dumps(Reduced(function, state)))


class Reduced:
    """Is pickled as the call of a function."""

    def __init__(self, function: object, arguments: tuple) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple:
        return self._call


@pytest.fixture(scope="module")
def tables() -> list[strata.Table]:
    ran = strata.run("vectoradd", ["isca11", "isca11-rfc6"], scale="small", mode="cycle")
    extremes = of_state(LAYOUT, {"key": "value"}, EXTREMES)
    without_rows = of_state(LAYOUT, {}, [("a", "int64", []), ("b", "string", [])])
    return [ran, strata.designs(), strata.workloads(), extremes, without_rows]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickled_table_comes_back(tables: list[strata.Table], protocol: int) -> None:
    for table in tables:
        loaded = pickle.loads(pickle.dumps(table, protocol))
        assert loaded == table
        assert loaded is not table
        assert hash(loaded) == hash(table)
        assert loaded.to_pydict() == table.to_pydict()
        assert loaded.to_pyarrow().schema.equals(table.to_pyarrow().schema, check_metadata=True)
        assert loaded.to_pyarrow().schema.metadata == table.to_pyarrow().schema.metadata
        assert pickle.dumps(loaded, protocol) == pickle.dumps(table, protocol)


def test_every_value_stays() -> None:
    loaded = pickle.loads(pickle.dumps(of_state(LAYOUT, {}, EXTREMES)))
    assert loaded.to_pydict() == {name: values for name, _, values in EXTREMES}
    assert math.copysign(1, loaded["real"][3]) == -1
    assert [str(field.type) for field in loaded.to_pyarrow().schema] == ["int64", "double", "bool", "string"]
    state = (LAYOUT, {}, [("real", "double", [math.nan])])
    assert math.isnan(pickle.loads(pickle.dumps(of_state(*state)))["real"][0])


def test_copies_are_the_table(tables: list[strata.Table]) -> None:
    for table in tables:
        assert copy.copy(table) is table
        assert copy.deepcopy({"key": [table, table]}) == {"key": [table, table]}


def test_tables_are_equal_by_what_they_hold() -> None:
    base = [("a", "int64", [1, None]), ("b", "string", ["x", "y"])]
    table = of_state(LAYOUT, {"k": "v"}, base)
    assert table == of_state(LAYOUT, {"k": "v"}, base)
    assert len({table, of_state(LAYOUT, {"k": "v"}, base)}) == 1
    for metadata, columns in [
        ({"k": "w"}, base),
        ({}, base),
        ({"k": "v"}, base[::-1]),
        ({"k": "v"}, base[:1]),
        ({"k": "v"}, [("a", "int64", [1, 0]), base[1]]),
        ({"k": "v"}, [("a", "double", [1.0, None]), base[1]]),
        ({"k": "v"}, [("c", "int64", [1, None]), base[1]]),
    ]:
        assert table != of_state(LAYOUT, metadata, columns)
    assert table != 3
    assert table != table.to_pydict()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_tables_and_errors_pass_between_processes(tables: list[strata.Table], method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(copy.copy, tables) == tables
        asked = {"workloads": "vectoradd", "designs": ["isca11", "isca11-rfc6"], "scale": "small"}
        assert pool.apply(strata.run, (), {**asked, "mode": "cycle"}) == tables[0]
        with pytest.raises(strata.StrataError, match="unknown workload `nonesuch`") as raised:
            pool.apply(strata.run, ("nonesuch",))
    assert pickle.loads(pickle.dumps(raised.value)).args == raised.value.args


def test_a_kernel_says_that_it_is_not_pickled() -> None:
    kernel = strata.kernel(".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n")
    for attempt in [copy.copy, copy.deepcopy]:
        with pytest.raises(TypeError, match="cannot pickle 'strata.Kernel' object"):
            attempt(kernel)
    for protocol in PROTOCOLS:
        with pytest.raises(TypeError, match="cannot pickle 'strata.Kernel' object"):
            pickle.dumps(kernel, protocol)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ((), "it does not begin with its layout"),
        ((None, {}, []), "it does not begin with its layout"),
        (("strata.table/2", {}, []), "has the layout `strata.table/2`, not `strata.table/1`"),
        ((LAYOUT,), "it has 1 parts, not 3"),
        ((LAYOUT, {}, [], 0), "it has 4 parts, not 3"),
        ((LAYOUT, [], []), "its metadata are not a dict"),
        ((LAYOUT, {"a": 1}, []), "its metadata are not texts"),
        ((LAYOUT, {b"a": "b"}, []), "its metadata are not texts"),
        ((LAYOUT, {}, ()), "its columns are not a list"),
        ((LAYOUT, {}, []), "it has no columns"),
        ((LAYOUT, {}, [3]), "column 0 is not a tuple of name, type and values"),
        ((LAYOUT, {}, [("a", "int64")]), "column 0 is not a tuple of name, type and values"),
        ((LAYOUT, {}, [(1, "int64", [])]), "column 0 has a name or a type that is not a text"),
        ((LAYOUT, {}, [("a", None, [])]), "column 0 has a name or a type that is not a text"),
        ((LAYOUT, {}, [("\ud800", "int64", [])]), "column 0 has a name or a type that is not"),
        ((LAYOUT, {}, [("a", "int32", [])]), "column `a` has the type `int32`"),
        ((LAYOUT, {}, [("a", "int64", (1, 2))]), "the values of `a` are not a list"),
        ((LAYOUT, {}, [("a", "int64", [1, "2"])]), "row 1 of `a` is not a value of the type int64"),
        ((LAYOUT, {}, [("a", "int64", [True])]), "row 0 of `a` is not a value of the type int64"),
        ((LAYOUT, {}, [("a", "int64", [2**63])]), "row 0 of `a` is not a value of the type int64"),
        ((LAYOUT, {}, [("a", "double", [1])]), "row 0 of `a` is not a value of the type double"),
        ((LAYOUT, {}, [("a", "bool", [None, 1])]), "row 1 of `a` is not a value of the type bool"),
        ((LAYOUT, {}, [("a", "string", [b"x"])]), "row 0 of `a` is not a value of the type string"),
        ((LAYOUT, {}, [("a", "string", ["\udfff"])]), "row 0 of `a` is not a value of the type"),
        ((LAYOUT, {}, [("a", "bool", []), ("b", "bool", [None])]), "`b` has 1 rows, `a` has 0"),
        ((LAYOUT, {}, [("a", "bool", []), ("a", "bool", [])]), "there are two columns `a`"),
    ],
)
def test_damaged_pickles_are_refused(state: tuple, expected: str) -> None:
    with pytest.raises(strata.StrataError) as raised:
        of_state(*state)
    assert expected in str(raised.value)
    assert "\n  hint: " in str(raised.value)
    assert isinstance(raised.value, ValueError)


def test_more_text_than_arrow_counts_is_refused() -> None:
    texts = ["x" * (1 << 25)] * 64
    with pytest.raises(strata.StrataError, match="the texts of `a` have 2147483648 bytes"):
        of_state(LAYOUT, {}, [("a", "string", texts)])


def test_values_that_run_code_are_refused() -> None:
    class Index(int):
        def __index__(self) -> int:
            raise AssertionError

    function, _ = strata.designs().__reduce__()
    with pytest.raises(strata.StrataError, match="row 0 of `a` is not a value"):
        function(LAYOUT, {}, [("a", "int64", [Index(3)])])
