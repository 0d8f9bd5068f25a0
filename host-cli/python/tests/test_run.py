"""Runs, lists and sweeps have the numbers of the command line."""

import pathlib

import pyarrow
import pyarrow.parquet
import pytest
from conftest import Program, assert_same

import strata

SMALL = ["--scale", "small"]


def test_a_run_has_every_column_of_the_program(program: Program) -> None:
    table = strata.run(["reduction", "bfs"], ["isca11", "isca11-rfc6", "diss-orf3-lrf-split"], scale="small")
    designs = ["--design", "isca11", "--design", "isca11-rfc6", "--design", "diss-orf3-lrf-split"]
    rows = program.rows("run", "reduction", "bfs", *designs, *SMALL, "--format", "csv")
    assert_same(table, rows)
    assert table["check"] == ["passed"] * 6
    assert table["error"] == [None] * 6


def test_a_run_in_time_has_leakage_wear_caches_and_storage(program: Program) -> None:
    named = ["warrf", "micro12", "isca11-rfc6"]
    table = strata.run("vectoradd", named, mode="cycle", scale="small")
    options = [word for name in named for word in ("--design", name)]
    rows = program.rows("run", "vectoradd", *options, "--mode", "cycle", *SMALL, "--format", "csv")
    assert_same(table, rows)
    for kind in ["total_fj", "cycles", "cell_writes_max", "data_cache_load_hits"]:
        assert any(row[kind] for row in rows), kind
    storage = [name for name in table.column_names if name.startswith("storage_")]
    assert len(storage) > 10
    assert table.column_names[-1].startswith("storage_"), "what users name comes last"


def test_options_are_those_of_the_program(program: Program) -> None:
    table = strata.run(
        "reduction",
        "isca11-rfc6,cache.entries=5",
        scale="small",
        set={"n": 4096},
        seed=3,
        energy="interpolate",
        order="scheduled",
        registers=16,
        jobs=1,
    )
    rows = program.rows(
        *["run", "reduction", "--design", "isca11-rfc6,cache.entries=5", *SMALL],
        *["--set", "n=4096", "--set", "seed=3", "--energy", "interpolate"],
        *["--order", "scheduled", "--registers", "16", "--format", "csv"],
    )
    assert_same(table, rows)
    assert table["missing_energy"] == ["interpolated"]
    assert table["energy_total_fj"] != [None]


def test_designs_without_a_name_are_those_of_the_program(program: Program) -> None:
    table = strata.run("vectoradd", scale="small")
    assert_same(table, program.rows("run", "vectoradd", *SMALL, "--format", "csv"))


def test_lists_are_those_of_the_program(program: Program) -> None:
    assert_same(strata.designs(), program.rows("designs", "--format", "csv"))
    workloads = strata.workloads()
    assert_same(workloads, program.rows("workloads", "--format", "csv"))
    assert "matrixmul" in workloads["workload"]


VARIED = {"cache.entries": "1..3", "active_warps": [4, 8], "also_leaves_for": [["sfu"], []]}
VARY = ["--vary", "cache.entries=1..3", "--vary", "active_warps=4,8"]
VARY += ["--vary", "also_leaves_for=[sfu]|[]"]


def test_a_sweep_has_the_points_of_the_program(program: Program) -> None:
    table = strata.sweep(vary=VARIED, workloads=["reduction"], scale="small", set={"seed": "0..1"})
    assert len(table) == 24
    program.text(
        *["sweep", *VARY, "--workload", "reduction", *SMALL, "--set", "seed=0..1", "--out", "out"]
    )
    assert_same(table, program.rows("sweep", "table", "out", "--format", "csv"))
    merged = program.folder / program.text("sweep", "merge", "out").strip()
    read = pyarrow.parquet.read_table(merged)
    ours = pyarrow.table(table)
    assert ours.schema.equals(read.schema, check_metadata=True)
    assert ours.equals(read)


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_sweep_writes_the_folder_of_the_program_and_goes_on(program: Program) -> None:
    options = {"designs": ["isca11-rfc6", "micro12"], "mode": "cycle", "scale": "small"}
    more = ["--design", "isca11-rfc6", "--design", "micro12", "--mode", "cycle", *SMALL]
    table = strata.sweep(workloads="vectoradd", out="ours", **options)
    program.text("sweep", *more, "--workload", "vectoradd", "--out", "theirs")
    for folder in ["ours", "theirs"]:
        program.text("sweep", "merge", folder)
    before = files(program.folder / "ours")
    assert before == files(program.folder / "theirs")
    again = strata.sweep(workloads="vectoradd", out="ours", **options)
    assert pyarrow.table(again).equals(pyarrow.table(table))
    assert files(program.folder / "ours") == before, "nothing was to be done"


def test_a_file_describes_a_sweep(program: Program) -> None:
    text = 'workloads = ["vectoradd"]\nscale = "small"\n[vary]\nactive_warps = [4, 8]\n'
    (program.folder / "s.toml").write_text(text)
    table = strata.sweep("s.toml")
    assert table["active_warps"] == [4, 8]
    with pytest.raises(strata.StrataError, match="`file` describes the whole sweep"):
        strata.sweep("s.toml", mode="count")


def test_a_point_that_fails_is_a_row_of_a_sweep_and_an_error_of_a_run(program: Program) -> None:
    wanted = {"vary": {"sm.warps": [1, 32]}, "workloads": "reduction", "scale": "small"}
    table = strata.sweep(mode="cycle", **wanted)
    failed, held = table["error"]
    assert held is None and failed is not None
    why = program.error(
        *["run", "reduction", "--design", "isca11-rfc6,sm.warps=1", "--mode", "cycle", *SMALL]
    )
    assert failed == why
    with pytest.raises(strata.StrataError) as raised:
        strata.run("reduction", "isca11-rfc6,sm.warps=1", mode="cycle", scale="small")
    assert str(raised.value) == why


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"workloads": "matrixmull"}, ["matrixmull"]),
        ({"workloads": "bfs", "designs": "isca12"}, ["bfs", "--design", "isca12"]),
        ({"workloads": "bfs", "set": {"m": 3}}, ["bfs", "--set", "m=3"]),
        ({"workloads": "bfs", "designs": ["isca11", "isca11"]}, ["bfs", *["--design", "isca11"] * 2]),
        ({"workloads": "no.ptx"}, ["no.ptx"]),
    ],
)
def test_errors_are_those_of_the_program(program: Program, given: dict, arguments: list) -> None:
    with pytest.raises(strata.StrataError) as raised:
        strata.run(**given)
    assert str(raised.value) == program.error("run", *arguments)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"mode": "fast"}, "`mode` is none of `count`, `cycle`: `fast`"),
        ({"scale": "smal"}, "did you mean `small`?"),
        ({"jobs": 0}, "`jobs` is 0"),
        ({"registers": 3}, "16 to 255 are possible"),
        ({"energy": "guess"}, "`energy` is `guess`: expected `interpolate`, or a technology file"),
        ({"set": {"n": [1, 2]}}, "`set` of `strata.run` gives `n` several values"),
        ({"set": {"seed": 1}, "seed": 2}, "`seed` is varied twice"),
    ],
)
def test_wrong_arguments_say_what_is_possible(given: dict, expected: str) -> None:
    with pytest.raises(strata.StrataError) as raised:
        strata.run("bfs", **given)
    assert expected in str(raised.value)


def test_wrong_values_of_axes_name_their_place() -> None:
    with pytest.raises(strata.StrataError, match=r"strata\.sweep: vary\.cache\.entries = \"5\.\.1\""):
        strata.sweep(vary={"cache.entries": "5..1"}, workloads="bfs")
    with pytest.raises(TypeError, match="`workloads`: expected texts or paths, got `int`"):
        strata.run(3)
    with pytest.raises(strata.StrataError, match="`workloads` names standard input"):
        strata.run(["bfs", "-"])
    with pytest.raises(TypeError, match="`vary`: expected a text, a number"):
        strata.sweep(vary={"cache.entries": None}, workloads="bfs")
