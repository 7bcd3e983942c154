"""Every form with every kind of item on every width of screen, in both directions: nothing lies outside."""

import os
from itertools import product
from pathlib import Path

import pytest

from tests.study.conftest import serving, watch
from tests.study.making import FORMS
from tests.study.screens import (
    ARRANGED,
    ASTRAY,
    DIRECTIONS,
    HEIGHTS,
    KINDS,
    RECORD,
    WIDTHS,
    contact_sheet,
    one_of_each,
    pairwise,
    study_of,
)

SHEETS = os.environ.get("SIMILITUDE_SCREENSHOTS")
SAMPLE = pairwise(list(FORMS), KINDS, WIDTHS, DIRECTIONS)


@pytest.fixture(scope="module")
def live(tmp_path_factory, browser):
    root = tmp_path_factory.mktemp("screens")
    one_of_each(root)
    with serving(root) as server:
        page = browser.new_page()
        page.goto(server.address)
        film = bytes(page.evaluate(RECORD))
        page.close()
        for path in root.glob("*/items/*.webm"):
            path.write_bytes(film)
        yield server


@pytest.fixture(scope="module")
def show(live, browser):
    """Show the first question of a study on a screen of some width, in some direction; a form's pages stay open."""
    wrong: list[str] = []
    context = browser.new_context()
    watch(context, wrong)
    pages = {}

    def open_page(form, kind):
        page = context.new_page()
        page.goto(live.link(study_of(form, kind)))
        page.wait_for_selector("main[data-number='0'] .stage:not(.loading)")
        return page

    def show_study(form, kind, width, direction):
        for known in [known for known in pages if known[0] != form]:
            pages.pop(known).close()
        if (form, kind) not in pages:
            pages[form, kind] = open_page(form, kind)
        page = pages[form, kind]
        page.bring_to_front()
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        page.evaluate("direction => (document.documentElement.dir = direction)", direction)
        page.evaluate(ARRANGED)
        return page

    yield show_study
    context.close()
    assert wrong == []


@pytest.mark.parametrize("form", FORMS, scope="module")  # form by form, so that its pages serve both tests
def test_nothing_lies_outside_the_screen(show, form):
    """A sample in which any two of form, kind, width and direction meet."""
    for _, kind, width, direction in sorted(row for row in SAMPLE if row[0] == form):
        assert show(form, kind, width, direction).evaluate(ASTRAY) == [], (kind, width, direction)


@pytest.mark.whole
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_lies_outside_any_screen(show, tmp_path, form, kind):
    folder = Path(SHEETS or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for direction, width in product(DIRECTIONS, WIDTHS):
        page = show(form, kind, width, direction)
        assert page.evaluate(ASTRAY) == [], (width, direction)
        pictures.append(tmp_path / f"{direction}-{width}.png")
        page.screenshot(path=pictures[-1], full_page=True)
    contact_sheet(pictures, folder / f"sheet-{study_of(form, kind)}.png", len(WIDTHS))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "labelling"], scope="module")
def test_pictures_and_colours_fit_a_screen_without_scrolling(show, form):
    for kind, width in product(("picture", "colour"), (1280, 1536, 1920)):
        page = show(form, kind, width, "ltr")
        assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, (kind, width)


def test_a_sample_is_small_and_every_two_values_meet_in_it():
    factors = list(FORMS), KINDS, WIDTHS, DIRECTIONS
    assert len(SAMPLE) < 1.4 * len(FORMS) * len(WIDTHS)
    for (a, one), (b, other) in product(enumerate(factors), repeat=2):
        if a < b:
            assert {(row[a], row[b]) for row in SAMPLE} == set(product(one, other))
