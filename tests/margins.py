"""How far the claims of the tests are from falling: each is weighed against its own scatter over other draws.

    python -m tests.margins                        eight draws of all tests but the study's
    python -m tests.margins 14 29                  draws 14 to 29
    python -m tests.margins 14 29 --seconds 5      a test that took five seconds has no further draw
    python -m tests.margins -- tests/methods       what follows -- goes to pytest

Every test that uses random data runs with several draws of it (`tests.seeds`), anew from what its module draws when it
is imported on; what stays is what imported modules drew, and the module of a test whose parameters hold data. Every
comparison of numbers that it asserts is noted: by how much it held, at the least; of arrays that are nearly equal,
which share of what they may differ by is left. A claim that holds by less than four times what this scatters by from
draw to draw will fall one day on somebody's machine: it is listed, with what fell already, be that a comparison or a
verdict, a warning, a count. As a plugin of pytest (`-p tests.margins`) this module notes the claims of one run in the
folder $SIMILITUDE_MARGINS.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import operator
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from tests import seeds

NOTED = os.environ.get("SIMILITUDE_MARGINS", "")
FIRST, LAST, SECONDS = json.loads(os.environ.get("SIMILITUDE_MARGINS_OF", "[1, 8, 60]"))
ENOUGH = 4.0  # standard deviations
_HELD_BY: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Lt: lambda a, b: b - a, ast.LtE: lambda a, b: b - a, ast.Gt: operator.sub, ast.GtE: operator.sub,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def held_by(claim: str, found: str) -> float | None:
    """By how much a comparison of numbers held (what is nearly equal: by which share of what it may differ), or None.

    `claim` is the code and `found` what pytest says of it, its first line with the values: of a claim with two limits,
    as `0.5 < x < 0.9`, it has the second alone.
    """
    first = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", found.split("\n")[0])
    if near := re.fullmatch(r"(\S+) == (\S+) ± (\S+)", first):
        values = [_value(part) for part in near.groups()]
        return None if None in values or not values[2] else 1.0 - abs(values[0] - values[1]) / values[2]
    compared = _compared(first)
    if compared is None:
        return None
    low, sign, high = compared
    margin = _HELD_BY[type(sign)](low, high)
    limits = _limits(claim)
    return margin if limits is None else min(margin, _HELD_BY[type(limits[1])](limits[0], low))


def _compared(text: str) -> tuple[float, ast.cmpop, float] | None:
    node = _parsed(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _HELD_BY:
        return None
    left, right = _number(node.left), _number(node.comparators[0])
    return None if left is None or right is None else (left, node.ops[0], right)


def _limits(claim: str) -> tuple[float, ast.cmpop] | None:
    """The first limit of a claim with two."""
    node = _parsed(claim)
    if not isinstance(node, ast.Compare) or len(node.ops) != 2 or type(node.ops[0]) not in _HELD_BY:
        return None
    low = _number(node.left)
    return None if low is None else (low, node.ops[0])


def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value(text: str) -> float | None:
    node = _parsed(text)
    return None if node is None else _number(node)


def _number(node: ast.AST) -> float | None:
    """The value of an expression of numbers alone."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
        return float(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _number(node.left), _number(node.right)
        return None if left is None or right is None else _ARITHMETIC[type(node.op)](left, right)
    return None


def share_left(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0.0) -> float | None:
    """Which share of what numbers may differ by is left where they differ most, or None where they are no numbers."""
    try:
        found, wanted = np.broadcast_arrays(np.asarray(actual, float), np.asarray(desired, float))
    except (TypeError, ValueError):
        return None
    with np.errstate(invalid="ignore"):  # the same infinity twice
        off, allowed = np.abs(found - wanted), atol + rtol * np.abs(wanted)
    counts = np.isfinite(off) & (allowed > 0)
    return float(1.0 - (off[counts] / allowed[counts]).max()) if counts.any() else None


_NO_DATA = (str, int, float, type, FunctionType, partial, NoneType)
_least: dict[tuple[str, int, str, int], float] = {}  # test, line, claim, draw -> by how much it held, at the least
_assert_allclose = np.testing.assert_allclose


def _note(item: pytest.Item, line: int, claim: str, margin: float | None) -> None:
    if margin is not None and math.isfinite(margin) and not item.get_closest_marker("own_seed"):
        key = item.nodeid, line, claim, seeds.SHIFT
        _least[key] = min(margin, _least.get(key, math.inf))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Run a test with one draw after the other, while it draws at all and there is time; tell of the first fall."""
    if not NOTED:
        return None
    began, fallen, anew = time.monotonic(), None, not _has_data_as_parameter(item)
    for number in range(FIRST, LAST + 1):
        with seeds.draw(number) as has_drawn:
            if anew:
                _execute(item.module)
            reports = runtestprotocol(item, log=False, nextitem=None)  # no next one: fixtures are made anew
            goes_on = has_drawn() and time.monotonic() - began < SECONDS
        if any(report.failed for report in reports):
            _least[item.nodeid, 0, "fell", number] = -math.inf
            fallen = fallen or reports
        if not goes_on:
            break
    if anew and number > FIRST:  # others have imported what it drew at first
        with seeds.draw(FIRST):
            _execute(item.module)
    _write()
    for report in fallen or reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True


def _execute(module: ModuleType) -> None:
    """Let a module draw anew, in place: its tests see it."""
    module.__spec__.loader.exec_module(module)


def _has_data_as_parameter(item: pytest.Item) -> bool:
    """Whether a parameter may hold what its module drew: another draw of the module would not go with it."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(not isinstance(value, _NO_DATA) for value in given)


def _write() -> None:
    """Add what was noted to a file of this process: a run that is cut short has then told what it found."""
    with (Path(NOTED) / f"{os.getpid()}.jsonl").open("a") as file:
        file.writelines(json.dumps([*key, margin]) + "\n" for key, margin in _least.items())
    _least.clear()


def pytest_assertion_pass(item: pytest.Item, lineno: int, orig: str, expl: str) -> None:
    """Note by how much a claim held."""
    if NOTED:
        _note(item, lineno, orig, held_by(orig, expl))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note how near arrays come to what they may differ by."""

    def noted(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0.0, **settings: Any) -> None:
        _assert_allclose(actual, desired, rtol, atol, **settings)
        line = sys._getframe(1).f_lineno
        _note(item, line, f"assert_allclose(rtol={rtol}, atol={atol})", share_left(actual, desired, rtol, atol))

    np.testing.assert_allclose = noted if NOTED else _assert_allclose
    yield
    np.testing.assert_allclose = _assert_allclose


def weak(folder: Path) -> list[str]:
    """The claims that held by too little, the weakest first."""
    margins: dict[tuple[str, int, str], dict[int, float]] = defaultdict(dict)
    for file in folder.glob("*.jsonl"):
        for test, line, claim, number, margin in map(json.loads, file.read_text().splitlines()):
            margins[test, line, claim][number] = margin
    found = []
    for (test, line, claim), held in margins.items():
        if claim == "fell":
            found.append((-math.inf, f"{test} fell with draws {', '.join(map(str, sorted(held)))}"))
        elif len(held) > 2 and (scatter := statistics.stdev(held.values())) > 0:
            mean = statistics.mean(held.values())
            found.append((mean / scatter, f"{mean / scatter:5.1f}  {test}, line {line}: {claim}  (by {mean:.3g})"))
    return [text for share, text in sorted(found) if share < ENOUGH]


def main() -> int:
    """Run the draws and say which claims are weak."""
    reader = argparse.ArgumentParser(prog="python -m tests.margins", description=__doc__.splitlines()[0])
    reader.add_argument("first", type=int, nargs="?", default=1)
    reader.add_argument("last", type=int, nargs="?", default=8)
    reader.add_argument("--seconds", type=float, default=60.0, help="a test that took so long has no further draw")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    asked = reader.parse_args(words[:cut])
    tests = words[cut + 1 :] or ["tests", "--ignore=tests/study"]
    with tempfile.TemporaryDirectory() as made:
        new = {"SIMILITUDE_MARGINS": made, "SIMILITUDE_TEST_SEEDS": str(asked.first)}
        new["SIMILITUDE_MARGINS_OF"] = json.dumps([asked.first, asked.last, asked.seconds])
        new["PYTHONPYCACHEPREFIX"] = str(Path(made) / "compiled")  # that of other runs tells nothing of what passed
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "--tb=short", *tests]
        options = ["-p", "tests.margins", "-o", "enable_assertion_pass_hook=true", "-o", f"cache_dir={made}/cache"]
        with contextlib.suppress(KeyboardInterrupt):  # what ran until then is told
            subprocess.run([*command, *options], env=os.environ | new)
        found = weak(Path(made))
    print("\n".join(found) or "every claim holds by enough")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
