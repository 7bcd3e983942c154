"""How claims are weighed."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests import margins


@pytest.mark.parametrize(
    ("claim", "found", "by"),
    [
        ("x > 0.9", "np.float64(0.95) > 0.9\n +  where np.float64(0.95) = x", 0.05),
        ("0.5 < x < 0.9", "np.float64(0.7) < 0.9", 0.2),
        ("0.5 < x < 0.9", "0.55 < 0.9", 0.05),
        ("score >= alone - 0.02", "0.8 >= (0.81 - 0.02)", 0.01),
        ("x == pytest.approx(0.75, abs=0.1)", "np.float64(0.7) == 0.75 ± 0.1", 0.5),
        ("-x < 1e-3", "-1e-05 < 0.001", 0.00101),
        ("names == ['a']", "['a'] == ['a']", None),
        ("values.all()", "np.True_\n +  where", None),
        ("found", "True", None),
    ],
)
def test_by_how_much_a_claim_held(claim, found, by):
    assert margins.held_by(claim, found) == (None if by is None else pytest.approx(by))


@pytest.mark.parametrize(
    ("actual", "desired", "tolerance", "left"),
    [
        ([1.0, 2.0], [1.0, 2.5], {"atol": 1.0, "rtol": 0.0}, 0.5),
        (1.1, [1.0, 1.0], {"rtol": 0.2}, 0.5),
        ([0.0, 3.0], [0.0, 3.0], {}, 1.0),
        ([np.inf], [np.inf], {}, None),
        (["a"], ["a"], {}, None),
    ],
)
def test_how_near_arrays_come_to_what_they_may_differ_by(actual, desired, tolerance, left):
    assert margins.share_left(actual, desired, **tolerance) == (None if left is None else pytest.approx(left))


def test_what_holds_by_little_or_fell_is_listed_the_weakest_first(tmp_path):
    for draw, by in {1: 0.01, 2: 0.05, 3: 0.09}.items():
        rows = [["a.py::weak", 7, "x > 0.9", draw, by], ["a.py::strong", 9, "y > 0.9", draw, 0.5 + by / 10]]
        rows += [["a.py::gone", 0, "fell", draw, float("-inf")]] if draw == 2 else []
        (tmp_path / f"{draw}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = margins.weak(tmp_path)
    assert [line.split("a.py::")[1].split()[0].strip(",") for line in told] == ["gone", "weak"]
    assert "fell with draws 2" in told[0]


TESTS = """
import numpy as np
import pytest
from tests import seeds

seeds.shift()
seen, runs = vars(pytest).setdefault("kept_by_this_test", (set(), []))  # modules are executed anew
OF_THE_IMPORT = np.random.default_rng(2).normal()

@pytest.fixture(scope="module")
def of_the_module():
    return np.random.default_rng(0).normal()

@seeds.cached
def kept():
    return np.random.default_rng(1).normal()

def test_drawing(of_the_module):
    assert not {of_the_module, kept(), OF_THE_IMPORT} & seen
    seen.update([of_the_module, kept(), OF_THE_IMPORT])
    if seeds.SHIFT == 6:
        pytest.fail("a verdict is no comparison of numbers")

def test_plain():
    runs.append(1)

def test_how_often_they_ran():
    assert len(seen) == 3 * 4 and len(runs) == 4  # every test of a module that draws
"""


@pytest.mark.slow
def test_a_test_that_draws_runs_with_every_draw_of_its_fixtures_and_its_module(tmp_path):
    file = tmp_path / "test_some.py"
    file.write_text(TESTS)
    command = [sys.executable, "-m", "tests.margins", "4", "7", "--", str(file), "-n", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "test_drawing fell with draws 6\n" in done.stdout
