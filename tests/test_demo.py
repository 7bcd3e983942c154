import subprocess
import sys

import pytest

import similitude as sm
from similitude import demo

pytestmark = pytest.mark.slow  # a process for each test


def test_demo_runs_as_a_program_and_says_where_to_look(tmp_path):
    said = subprocess.check_output([sys.executable, "-m", "similitude.cli", "demo"], cwd=tmp_path, text=True)
    made = tmp_path / "demo"
    for written in ("demo/colours.png", "demo/report/report.html"):
        assert written in said.replace("\\", "/")
    assert (made / "colours.png").stat().st_size > 10_000
    assert "The map" in (made / "report" / "report.html").read_text(encoding="utf-8")
    score = float(said.split("held-out accuracy")[1].split()[0])
    missed = float(said.split("distance to the truth")[1].split()[0])
    assert score > 0.93
    assert missed < 0.02
    command = said.split(" learn ")[1].split()[0]
    assert sm.read_comparisons(tmp_path / command).n_items == 60


def test_lab_of_known_colours():
    lab = demo.to_lab(demo.np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert lab[0] == pytest.approx([100, 0, 0], abs=0.01)
    assert lab[1] == pytest.approx([0, 0, 0], abs=0.01)
    assert lab[2] == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
