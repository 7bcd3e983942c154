"""Cards in a real browser, on pages as notebooks make them: legible in light and dark, inside the page, harmless."""

import html
import os
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from tests.study.conftest import browser  # noqa: F401

DOCS_PICTURE = Path(__file__).parents[2] / "docs" / "images" / "notebook.png"
KINDS = {
    (-1.6, 0.7): ("apple", "pear", "quince"),
    (-0.6, -0.4): ("plum", "cherry", "apricot", "peach"),
    (1.5, 0.9): ("lemon", "lime", "orange", "grapefruit"),
    (-1.1, -1.8): ("raspberry", "strawberry", "currant"),
    (1.2, -0.9): ("fig", "date", "banana", "mango", "papaya"),
}
NAMES = tuple(name for names in KINDS.values() for name in names)
THEMES = {"light": ("#ffffff", "rgba(0, 0, 0, 0.87)"), "dark": ("#111111", "rgba(255, 255, 255, 0.87)")}
# What notebooks do to tables in their output, which the cards' own styles must withstand.
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 8px 20px 16px; background: {0}; color: {1}; font: 14px system-ui, sans-serif; }}
pre {{ margin: 16px 0 8px; padding: 4px 8px; font-size: 13px; background: rgba(128, 128, 128, 0.12); }}
table {{ table-layout: fixed; margin-left: auto; margin-right: auto; font-size: 12px; }}
td, th, tr {{ text-align: right; vertical-align: middle; padding: 0.5em; white-space: normal; }}
tbody tr:nth-child(odd) {{ background: {1}; }}
</style>{2}"""
# Of every piece of text: what it says, its colour, and how opaque the elements around it leave it.
TEXTS = """() => [...document.querySelectorAll('.card *')].filter(e => [...e.childNodes].some(
    n => n.nodeType === 3 && n.textContent.trim()) && e.tagName !== 'title').map(e => {
        const style = getComputedStyle(e), colour = e.tagName === 'text' ? style.fill : style.color;
        let opacity = 1;
        for (let up = e; up; up = up.parentElement) opacity *= getComputedStyle(up).opacity;
        return [e.textContent, colour.match(/[\\d.]+/g).map(Number), opacity];
    })"""


@pytest.fixture(scope="module")
def cells():
    """What somebody types into a notebook, and what it gives."""
    centres = np.repeat(list(KINDS), [len(names) for names in KINDS.values()], axis=0)
    truth = centres + np.random.default_rng(4).normal(size=centres.shape, scale=0.45)
    answers = sm.simulate(truth, 900, sharpness=2.0, raters=12, names=NAMES, form="odd_one_out", random_state=1)
    model = sm.STE(2, random_state=0).fit(answers)
    return {
        "answers": answers,
        "model.similarity_": model.similarity_,
        "sm.more_answers(sm.STE(2), answers)": sm.more_answers(
            sm.STE(2, random_state=0), answers, n_repeats=5, random_state=0
        ),
        "sm.check(answers)": sm.check(answers),
        "sm.uncertainty(model, answers)": sm.uncertainty(model, answers, n=20, random_state=0),
    }


def page_of(browser, cells, theme, width=720):  # noqa: F811
    """A page with cells and their cards, in the colours of a theme."""
    body = "".join(
        f'<pre>{html.escape(code)}</pre><div class="card">{value._repr_html_()}</div>' for code, value in cells.items()
    )
    page = browser.new_page(viewport={"width": width, "height": 600}, device_scale_factor=1)
    page.set_content(PAGE.format(*THEMES[theme], body))
    return page


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_is_legible(browser, cells, theme):  # noqa: F811
    page = page_of(browser, cells, theme)
    ground = np.array([int(THEMES[theme][0][k : k + 2], 16) for k in (1, 3, 5)])
    texts = page.evaluate(TEXTS)
    assert {"apple", "How many more answers?"} <= {text for text, _, _ in texts}
    for text, (*colour, alpha), opacity in texts:
        seen = ground + alpha * opacity * (np.array(colour) - ground)
        assert contrast(seen, ground) >= 4.5, text
    page.close()


def contrast(one, two):
    """The ratio of luminances of the Web Content Accessibility Guidelines; 4.5 is enough for small text."""
    share = np.array([one, two]) / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
    return (light.max() + 0.05) / (light.min() + 0.05)


@pytest.mark.parametrize("width", [360, 720])
def test_nothing_is_wider_than_the_page(browser, cells, width):  # noqa: F811
    page = page_of(browser, cells, "light", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_styles_of_the_notebook_do_not_change_a_card(browser, cells):  # noqa: F811
    page = page_of(browser, cells, "light")
    rows = page.locator("tbody tr").evaluate_all("rows => rows.map(row => getComputedStyle(row).backgroundColor)")
    assert set(rows) == {"rgba(0, 0, 0, 0)"}
    first = page.locator("tbody tr td:first-child").first
    assert first.evaluate("cell => getComputedStyle(cell).textAlign") == "left"
    page.close()


def test_a_hostile_name_does_nothing(browser):  # noqa: F811
    names = ("<img src=x onerror=\"document.title='run'\">", "</svg><script>document.title='run'</script>", "c", "d")
    c = sm.simulate(np.eye(4)[:, :2], 60, names=names, random_state=0)
    page = page_of(browser, {"c": c, "map": sm.STE(2, random_state=0).fit(c).similarity_}, "light")
    page.wait_for_timeout(50)
    assert page.title() == ""
    assert page.locator("img, script").count() == 0
    assert page.locator("circle").count() == 4
    page.close()


@pytest.mark.skipif("SIMILITUDE_DOCS_PICTURES" not in os.environ, reason="made anew by `make pictures`")
def test_picture_of_the_documentation(browser, cells):  # noqa: F811
    few = dict(list(cells.items())[:3])
    page = page_of(browser, few, "light")
    page.screenshot(path=DOCS_PICTURE, full_page=True)
    page.close()
    assert DOCS_PICTURE.stat().st_size < 100_000
