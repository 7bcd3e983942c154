"""The examples run without a warning; those on real data run, or say why not."""

import contextlib
import os
import re
import runpy

import matplotlib.pyplot as plt
import pytest

from tests.docs.pages import DOCS, EXAMPLES

pytestmark = pytest.mark.slow

SIMULATED = sorted(EXAMPLES.glob("plot_*.py"))
TORCH = sorted(EXAMPLES.glob("torch_*.py"))
REAL = sorted(EXAMPLES.glob("real_*.py"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run an example in an empty folder and return what it printed, and how many figures it drew."""

    def run_example(example, data=None):
        plt.switch_backend("agg")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(plt, "show", lambda: None)
        monkeypatch.setenv("SIMILITUDE_DATA", str(data or tmp_path / "nowhere"))
        with contextlib.suppress(SystemExit):
            runpy.run_path(str(example), run_name="__main__")
        drawn = len(plt.get_fignums())
        if data is not None and "SIMILITUDE_DOCS_PICTURES" in os.environ:  # `make pictures`
            plt.savefig(picture(example), dpi=90)
        plt.close("all")
        return capsys.readouterr().out, drawn

    return run_example


def picture(example):
    """The stored picture of an example on data that is not everywhere."""
    return DOCS / "images" / "gallery" / f"{example.stem}.png"


def title(example):
    return example.stem


@pytest.mark.parametrize("example", SIMULATED, ids=title)
def test_simulated_example_runs(example, run):
    printed, drawn = run(example)
    assert printed
    assert drawn


@pytest.mark.parametrize("example", TORCH, ids=title)
def test_example_on_torch_learns_what_people_see(example, run):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'similitude[gpu]'")
    torch.set_num_threads(1)
    shares = [float(share) for share in re.findall(r"([\d.]+)%", run(example)[0])]
    untrained, trained, truth = shares
    assert untrained + 10 < trained < truth


@pytest.mark.parametrize("example", REAL, ids=title)
def test_real_example_runs_with_its_data(example, run, data):
    printed, drawn = run(example, data)
    assert "skipped" not in printed
    assert drawn


@pytest.mark.parametrize("example", REAL, ids=title)
def test_real_example_says_what_it_lacks(example, run):
    printed, drawn = run(example)
    assert "SIMILITUDE_DATA" in printed
    assert not drawn


@pytest.mark.parametrize("example", [*SIMULATED, *TORCH, *REAL], ids=title)
def test_example_has_a_title_and_real_ones_a_source(example):
    text = example.read_text(encoding="utf-8")
    assert text.startswith('"""\n')
    assert "\n====" in text
    assert example not in REAL or ("Source:" in text and "Licence:" in text)


@pytest.mark.parametrize("example", REAL, ids=title)
def test_real_example_shows_its_own_picture_wherever_the_site_is_built(example):
    text = example.read_text(encoding="utf-8")
    shown = {*re.findall(r"\.\. image:: /(\S+)", text), *re.findall(r"thumbnail_path = '(\S+)'", text)}
    assert {DOCS / path for path in shown} == {picture(example)}
    assert 10_000 < picture(example).stat().st_size < 150_000
