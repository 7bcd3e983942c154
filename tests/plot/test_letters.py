"""Names in letters that the usual font lacks: another font lends them, or it is told that they are boxes."""

import base64
import warnings

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

import similitude as sm
from similitude.plot import letters
from similitude.plot.style import in_page, pyplot, save_as

LENT = [chr(0x10FE00 + k) for k in range(4)]  # for private use: the font of these tests alone has them
NOBODYS = [chr(0x10FEF0 + k) for k in range(4)]
TREE = np.array([[0, 1, 1.0, 2], [2, 3, 1.5, 2], [4, 5, 3.0, 4]])


@pytest.fixture
def font(tmp_path):
    """The file of a font that has the letters that are lent, as boxes of different widths."""
    glyphs = {".notdef": 400} | {f"lent{k}": 300 + 100 * k for k in range(len(LENT))}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(letter): f"lent{k}" for k, letter in enumerate(LENT)})
    builder.setupGlyf({name: _box(width) for name, width in glyphs.items()})
    builder.setupHorizontalMetrics({name: (width, 0) for name, width in glyphs.items()})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Lender of the tests", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(tmp_path / "lender.ttf")
    return str(tmp_path / "lender.ttf")


def _box(width):
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for point in [(50, 700), (width - 50, 700), (width - 50, 0)]:
        pen.lineTo(point)
    pen.closePath()
    return pen.glyph()


@pytest.fixture(autouse=True)
def nothing_known_yet(monkeypatch):
    monkeypatch.setattr(letters, "_lenders", {})
    monkeypatch.setattr(font_manager.fontManager, "ttflist", list(font_manager.fontManager.ttflist))


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_a_font_that_has_the_letters_lends_them(font, known, tmp_path, monkeypatch):
    if known:
        font_manager.fontManager.addfont(font)
    else:  # installed after matplotlib looked for fonts
        monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [font])
    axes = sm.plot.embedding(np.eye(4)[:, :2] + np.eye(4)[:, 2:] * 2, labels=LENT)  # warnings are errors
    written = [text for text in axes.texts if text.get_text()]
    assert {text.get_text() for text in written} == set(LENT)
    assert all(text.get_fontfamily()[-1] == "Lender of the tests" for text in written)
    sm.plot.save(axes, tmp_path / "map.pdf")
    axes.get_figure().savefig(tmp_path / "map.png")  # as somebody's own script does, which mutes nothing
    tree = sm.plot.dendrogram(TREE, labels=[f"Ωmega {letter}" for letter in LENT])
    assert all(text.get_fontfamily()[-1] == "Lender of the tests" for text in tree.get_yticklabels())
    assert tree.xaxis.label.get_fontfamily() == pyplot().rcParams["font.family"]


def test_room_is_that_of_the_lent_letters(font):
    from similitude.plot.sheet import text_widths

    font_manager.fontManager.addfont(font)
    np.testing.assert_allclose(text_widths(LENT, 10.0), [3.0, 4.0, 5.0, 6.0], atol=0.3)  # of 10 points


@pytest.mark.slow
def test_what_no_font_has_is_told_once_and_text_on_a_page(tmp_path):
    with pytest.warns(UserWarning, match="no font of this machine") as told:
        axes = sm.plot.dendrogram(TREE, labels=NOBODYS)
    assert len(told) == 1
    assert f"all letters of {', '.join(NOBODYS[:3])} and 1 more" in str(told[0].message)
    save_as(axes, [tmp_path / "tree.png", tmp_path / "tree.pdf"])  # says nothing again, nor does matplotlib
    page = base64.b64decode(in_page(axes).partition(",")[2]).decode()
    assert all(f">{letter}</text>" in page for letter in NOBODYS)


@pytest.mark.parametrize(("name", "font"), [("犬", "fonts-noto-cjk"), (NOBODYS[0], r"fonts-noto\)")])
def test_a_font_to_install_is_named(monkeypatch, name, font):
    monkeypatch.setattr(letters, "_known", dict)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    with pytest.warns(UserWarning, match=font):
        sm.plot.weights({name: 1.0, "b": 0.5})


def test_of_several_figures_it_is_told_once():
    @letters.boxes_told_once()
    def draw(again):
        sm.plot.dendrogram(TREE, labels=[*NOBODYS[:2], "c", "d"])
        sm.plot.weights({NOBODYS[1]: 1.0, "b": 0.5})
        if again:
            draw(False)

    with pytest.warns(UserWarning, match=f"letters of {NOBODYS[0]}, {NOBODYS[1]}: ") as told:
        draw(True)
    assert len(told) == 1


def test_fonts_are_looked_for_only_where_letters_are_lacking(monkeypatch):
    monkeypatch.setattr(letters, "_known", None)  # fails where it is asked
    axes = sm.plot.embedding(np.random.default_rng(0).normal(size=(4, 2)), labels=["été", "Ωmega", "дом", "plain"])
    assert all(text.get_fontfamily() == pyplot().rcParams["font.family"] for text in axes.texts)


def test_letters_that_are_not_seen_need_no_font():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        letters.families_of("\u200d\ufe0f\u2060", font_manager.FontProperties())
    assert not letters._lenders
