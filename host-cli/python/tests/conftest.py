"""The program of this build, beside which the package is tested."""

import csv
import io
import os
import pathlib
import subprocess

import pytest

PROGRAM = os.environ["STRATA_PROGRAM"]


class Program:
    """`strata` in a folder of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        words = [PROGRAM, *map(str, arguments)]
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)

    def text(self, *arguments: object) -> str:
        """What a command that ends well prints."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def error(self, *arguments: object) -> str:
        """Why a command refuses its input."""
        done = self.run(*arguments)
        assert done.returncode == 2, done
        return done.stderr.removeprefix("error: ").removesuffix("\n")

    def rows(self, *arguments: object) -> list[dict[str, str]]:
        """The rows that a command prints as CSV."""
        return list(csv.DictReader(io.StringIO(self.text(*arguments))))


@pytest.fixture
def program(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.chdir(tmp_path)
    return Program(tmp_path)


def shown(value: object) -> str:
    """A value as CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def assert_same(table, rows: list[dict[str, str]]) -> None:
    """Every value of the rows that the program printed is in the table, under the same name."""
    assert len(table) == len(rows) > 0
    columns = table.to_pydict()
    compared = 0
    for at, row in enumerate(rows):
        for name, text in row.items():
            value = columns[name][at]
            if isinstance(value, float):
                assert value == float(text), (name, at)
            else:
                assert shown(value) == text, (name, at)
            compared += text != ""
    assert compared >= 5 * len(rows)
