"""Pictures of dimensions: what is drawn is what was found."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import PIL.Image
import pytest

import similitude as sm
from similitude.plot.sheet import text_widths

NAMES = ["cup", "glass", "measuring_cup", "ball", "wheel", "coin $5"]
X = np.array([[2.0, 0.1], [1.5, 0.0], [1.0, 0.2], [0.0, 2.0], [0.1, 1.0], [0.0, 1.5]])
TABLE = pd.DataFrame(X, index=NAMES)


@pytest.fixture
def found():
    c = sm.simulate(X, 200, "odd_one_out", metric="dot", sharpness=1.0, names=NAMES, random_state=0)
    again = SimpleNamespace(
        table=pd.DataFrame({"reproducible": [True, False], "seeds": [1.0, 0.2]}).assign(
            **dict.fromkeys(["seeds_low", "seeds_high", "halves", "halves_low", "halves_high"], np.nan)
        )
    )
    return sm.describe_dimensions(TABLE, c, reproducibility=again)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_tiles_show_the_items_that_have_most_in_order(found):
    axes = sm.plot.dimension_tiles(found, k=3)
    said = [text.replace("\n", " ") for text in texts(axes)]
    assert said[1:4] == ["cup", "glass", "measuring cup"]
    assert said[5:] == ["ball", "coin $5", "wheel"]
    bars = [patch.get_width() for patch in axes.patches][2::3][:3]
    np.testing.assert_allclose(np.array(bars) / bars[0], [1.0, 0.75, 0.5])
    assert "does not reproduce" in said[4]


def test_pictures_take_the_place_of_names(found):
    axes = sm.plot.dimension_tiles(found, 1, images={"cup": np.zeros((8, 16, 3))}, k=3)
    assert len(axes.images) == 1
    left, right, bottom, top = axes.images[0].get_extent()
    assert (right - left) / (bottom - top) == pytest.approx(2.0)
    assert "cup" not in texts(axes)


@pytest.mark.parametrize("width", [89.0, 183.0])
def test_a_figure_is_as_wide_as_a_journal_wants(found, width, tmp_path):
    axes = sm.plot.dimension_tiles(found, k=3, width=width)
    assert axes.get_figure().get_size_inches()[0] == pytest.approx(width / 25.4)
    sm.plot.save(axes, tmp_path / "tiles.pdf", width=width)
    assert (tmp_path / "tiles.pdf").stat().st_size > 1000


def test_bars_of_shares_are_sorted_and_hollow_where_they_do_not_come_again(found):
    axes = sm.plot.deciding(found)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(widths)
    np.testing.assert_allclose(sum(widths), 100.0)
    doubtful = next(k for k, label in enumerate(axes.get_yticklabels()) if "does not" in label.get_text())
    assert axes.patches[doubtful].get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="found: expected dimensions described with answers"):
        sm.plot.deciding(sm.describe_dimensions(TABLE))


def test_a_profile_has_the_values_of_its_item_as_bars_and_as_areas(found):
    bars = sm.plot.profile(found, "cup")
    assert [bar.get_width() for bar in bars.patches] == [2.0, 0.1]
    assert bars.get_title() == "cup"
    rose = sm.plot.profile(found, 0, kind="rose")
    np.testing.assert_allclose([petal.get_height() ** 2 for petal in rose.patches], [2.0, 0.1])
    with pytest.raises(ValueError, match="ax: expected polar axes for a rose"):
        sm.plot.profile(found, "cup", kind="rose", ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="kind: expected 'bars' or 'rose', found 'pie'"):
        sm.plot.profile(found, "cup", kind="pie")


def test_reasons_are_drawn_without_a_legend_of_factors(found):
    axes = sm.plot.explanation(found.why("cup", "glass", "ball"))
    assert axes.get_legend() is None
    assert "cup and glass" in axes.get_xlabel()


def test_unknown_dimensions_are_named(found):
    with pytest.raises(ValueError, match=r"dimensions: expected some of \[1, 2\], found 7"):
        sm.plot.dimension_tiles(found, [1, 7])


def test_names_of_thousands_of_letters_are_cut_where_they_end_to_fit():
    long = "abc def " * 600
    table = pd.DataFrame(X, index=[*NAMES[:5], long])
    axes = sm.plot.dimension_tiles(sm.describe_dimensions(table), k=3)
    said = next(text for text in axes.texts if text.get_text().startswith("abc def") and "?" not in text.get_text())
    lines = said.get_text().split("\n")
    assert len(lines) <= 3
    assert lines[-1].endswith("…")
    wide = text_widths(lines, said.get_fontsize())
    assert (wide <= 0.86 * 183 / 3 / 25.4 * 72).all()
    assert wide[-1] > 0.8 * wide.max()  # not shorter than it must be
    assert max(map(len, sm.describe_dimensions(table).names)) < 130


def test_pictures_are_found_in_a_folder(found, tmp_path):
    PIL.Image.new("RGB", (8, 8)).save(tmp_path / "cup.png")
    axes = sm.plot.dimension_tiles(found, k=3, images=tmp_path)
    assert len(axes.images) == 1
    assert "cup" not in texts(axes)
    with pytest.raises(ValueError, match=r"images: .* is not there; expected a folder"):
        sm.plot.dimension_tiles(found, images=str(tmp_path / "none"))


def test_it_is_said_what_lines_are_and_what_is_not_drawn(found):
    assert sm.plot.deciding(found).get_xlabel().endswith("with 95% intervals over answers")
    assert "the 1 of 2 that decide most" in sm.plot.deciding(found, most=1).get_title(loc="right")
    assert sm.plot.profile(found, "glass").get_xlabel() == "value; 0 on 1"
    sure = replace(found, deviation=np.full(X.shape, 0.1))
    axes = sm.plot.profile(sure, "cup")
    assert axes.get_xlabel() == "value, with its 95% interval"
    assert axes.collections[0].get_segments()[0][0][0] == pytest.approx(2.0 - 0.196)
