"""The shape of the house: imports go one way, importing is cheap, every public name is documented and exists."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import similitude as sm

SOURCE = Path(sm.__file__).parent
ORDER = [
    "types", "extras", "jit", "renaming", "display", "feedback", "graph", "engine", "distributed", "folds", "kernels",
    "methods", "evaluate", "active", "auto", "plot", "report", "analysis", "study", "demo", "cli",
]  # fmt: skip


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("similitude."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("similitude."))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    if path.parent == SOURCE and path.name == "__init__.py":
        return
    here = ORDER.index(room(path))
    for other in imported_rooms(path):
        assert ORDER.index(other) <= here, f"{room(path)} must not import {other}"


def test_importing_loads_nothing_heavy():
    code = "import sys, similitude; print(sorted({'numpy', 'scipy', 'numba', 'pandas', 'sklearn'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("name", sm.__all__)
def test_public_names_exist_and_are_documented(name):
    value = getattr(sm, name)
    assert value.__doc__
    assert len(value.__doc__) > 20


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sm.nothing  # noqa: B018


def holding(pattern, *rooms):
    """The files of some rooms that hold a pattern."""
    files = [path for path in SOURCE.rglob("*.py") if not rooms or room(path) in rooms]
    found = [path for path in files if re.search(pattern, path.read_text(encoding="utf-8"))]
    return {path.relative_to(SOURCE).as_posix() for path in found}


def test_the_squared_distance_of_pairs_is_written_once():
    assert holding(r"\[:, 0\]\] - [\w.]+\[\w+\[:, 1\]\]\) \*\* 2") == {"engine/distances.py"}


def test_no_method_holds_a_gradient():
    assert holding(r"add\.at\(|def \w*gradient|\.laplacian\(", "methods") == set()
