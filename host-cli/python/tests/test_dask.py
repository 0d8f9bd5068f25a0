"""Workers of a Dask cluster that have the package evaluate batches with it."""

import os
import pathlib
import shutil
import stat
import sys

from conftest import PROGRAM, Program

SWEEP = ["--vary", "active_warps=4,8", "--workload", "reduction", "--workload", "vectoradd"]
SWEEP += ["--scale", "small", "--design", "isca11-rfc6", "--design", "isca11-rfc3"]


def merged(program: Program, folder: str) -> bytes:
    return (program.folder / program.text("sweep", "merge", folder).strip()).read_bytes()


def python_without(path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """A Python that first removes a file."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nrm -f "{path}"\nexec "{sys.executable}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_the_package_stands_for_the_program(program: Program, monkeypatch) -> None:
    program.text("sweep", *SWEEP, "--out", "local")
    dask = ["sweep", *SWEEP, "--engine", "dask", "-j", "2", "--python"]
    # Without its file the program cannot run on workers.
    copy = program.folder / "strata"
    shutil.copy(PROGRAM, copy)
    python = python_without(copy, program.folder)
    monkeypatch.setattr("conftest.PROGRAM", str(copy))
    program.text(*dask, python, "--out", "package")
    monkeypatch.undo()
    os.chdir(program.folder)
    assert not copy.exists()
    assert merged(program, "package") == merged(program, "local")


def test_another_package_is_not_used(program: Program, monkeypatch) -> None:
    program.text("sweep", *SWEEP, "--out", "local")
    other = program.folder / "other"
    other.mkdir()
    text = 'def _identity():\n    return ("0.0.0", "strata.sweep/0", 0)\n'
    (other / "strata.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(other))
    dask = ["sweep", *SWEEP, "--engine", "dask", "-j", "2", "--python", sys.executable]
    program.text(*dask, "--out", "program")
    assert merged(program, "program") == merged(program, "local")
