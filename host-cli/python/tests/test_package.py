"""Stubs, documents and versions are those of the package."""

import ast
import importlib.metadata
import inspect
import pathlib
import subprocess
import sys

import pytest
from conftest import Program

import strata

PACKAGE = pathlib.Path(strata.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[3]


def functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in every]


def test_stubs_have_every_name_and_parameter() -> None:
    assert (PACKAGE / "py.typed").exists()
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    typed = functions(stub.body)
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    constants = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    public = {name for name in constants if not name.startswith("_")} | {"__version__"}
    assert {*typed, *classes, *public} == set(strata.__all__)
    for name, function in typed.items():
        signature = inspect.signature(getattr(strata, name))
        assert parameters(function) == list(signature.parameters), name
    for name, described in classes.items():
        cls = getattr(strata, name)
        for method, function in functions(described.body).items():
            attribute = inspect.getattr_static(cls, method)
            assert inspect.getdoc(attribute) or method.startswith("__"), f"{name}.{method}"
            if not function.decorator_list and not method.startswith("__"):
                signature = inspect.signature(attribute)
                assert parameters(function) == list(signature.parameters), method
        own = {name for name in vars(cls) if not name.startswith("_")}
        assert own == {name for name in functions(described.body) if not name.startswith("_")}


def test_everything_is_described() -> None:
    for name in ["run", "sweep", "kernel", "designs", "workloads", "Table", "Kernel", "StrataError"]:
        assert len(inspect.getdoc(getattr(strata, name))) > 60, name


def test_versions_are_those_of_the_program(program: Program) -> None:
    assert importlib.metadata.version("strata-sm") == strata.__version__
    assert strata.__version__ in program.text("--version")
    assert f"(model {strata.MODEL_VERSION})" in program.text("--version")


def examples(document: pathlib.Path) -> list[str]:
    pieces = document.read_text().split("```python\n")[1:]
    return [piece.split("```")[0] for piece in pieces]


@pytest.mark.parametrize("document", ["host-cli/python/README.md", "docs/PYTHON.md"])
def test_examples_run(document: str, tmp_path: pathlib.Path) -> None:
    found = examples(ROOT / document)
    assert found
    for example in found:
        words = [sys.executable, "-c", example]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{example}\n{done.stderr}"
