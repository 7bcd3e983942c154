"""The shape of the package: imports go one way, importing is cheap, every public name is documented and exists."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import similitude as sm

SOURCE = Path(sm.__file__).parent
ORDER = [
    "types", "extras", "jit", "renaming", "settings", "display", "feedback", "datasets", "graph", "engine",
    "distributed", "folds", "kernels", "methods", "export", "evaluate", "active", "auto", "torch", "plot", "analysis",
    "study", "serving", "demo", "cli",
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
    if path.parent == SOURCE and path.name in ("__init__.py", "__main__.py"):  # which lead to all others
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


ROOMS = sorted({room(path) for path in SOURCE.rglob("*.py")})
CODE = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
LONGEST_RUN = 9  # lines
HISTORY = "migrations"  # steps of a schema repeat what was, on purpose


def test_no_two_classes_have_one_name():
    names = Counter(
        node.name for text in CODE.values() for node in ast.parse(text).body if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == set()


def statements(text):
    """The lines of a file with code that does something: (number, line without its indent)."""
    tree = ast.parse(text)
    skipped = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Import | ast.ImportFrom):
            skipped.update(range(node.lineno, node.end_lineno + 1))
        elif (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            skipped.update(range(body[0].lineno, body[0].end_lineno + 1))
        for decorator in getattr(node, "decorator_list", ()):
            skipped.update(range(decorator.lineno, decorator.end_lineno + 1))
    lines = enumerate((line.strip() for line in text.splitlines()), 1)
    return [(k, line) for k, line in lines if k not in skipped and re.search(r"\w", line) and not line.startswith("#")]


def runs(length):
    """Where each run of so many lines stands: {lines: [(path, number of the first)]}."""
    found = defaultdict(list)
    for path, text in CODE.items():
        lines = statements(text) if HISTORY not in path.parts else []
        for k in range(len(lines) - length + 1):
            found[tuple(line for _, line in lines[k : k + length])].append((path, lines[k][0]))
    return found


@pytest.fixture(scope="module")
def copies():
    return [places for places in runs(LONGEST_RUN + 1).values() if len(places) > 1]


@pytest.mark.parametrize("name", ROOMS)
def test_no_long_run_of_lines_stands_twice(name, copies):
    here = [places for places in copies if any(room(path) == name for path, _ in places)]
    said = [", ".join(f"{path.relative_to(SOURCE)}:{line}" for path, line in places) for places in here]
    assert said == []
