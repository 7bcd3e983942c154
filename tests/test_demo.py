import pytest

from similitude import demo

pytestmark = pytest.mark.slow  # a whole report


def test_demo_runs_and_says_where_to_look(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "SECONDS", 1.0)  # for the report, which is tested by itself
    demo.main(tmp_path / "out")
    said = capsys.readouterr().out
    assert str(tmp_path / "out" / "colours.png") in said
    assert (tmp_path / "out" / "colours.png").stat().st_size > 10_000
    assert str(tmp_path / "out" / "report" / "report.html") in said
    assert "The map" in (tmp_path / "out" / "report" / "report.html").read_text(encoding="utf-8")
    score = float(said.split("held-out accuracy")[1].split()[0])
    missed = float(said.split("distance to the truth")[1].split()[0])
    assert score > 0.92  # .951 ± .005
    assert missed < 0.02


def test_lab_of_known_colours():
    lab = demo.to_lab(demo.np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert lab[0] == pytest.approx([100, 0, 0], abs=0.01)
    assert lab[1] == pytest.approx([0, 0, 0], abs=0.01)
    assert lab[2] == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
