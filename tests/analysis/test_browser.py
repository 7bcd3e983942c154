"""The report in a real browser: every item can be pointed at, found and enlarged; it fits a phone and paper."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import similitude as sm
from tests.analysis.human_sets import load
from tests.patience import PATIENCE
from tests.study.conftest import browser  # noqa: F401

NAMES = [f"item {k:02d}" for k in range(24)]
POINTED = "document.querySelector('#atlas .item.here')?.getAttribute('aria-label')"
PLACES = "[...document.querySelectorAll('#atlas .item')].map(e => e.getAttribute('transform'))"
MIDDLES = """[...document.querySelectorAll('#atlas .item')].map(e => {
    const box = e.querySelector('.dot').getBoundingClientRect();
    return [e.getAttribute('aria-label'), box.x + box.width / 2, box.y + box.height / 2]; })"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A crowded map in three dimensions, whose ellipses lie over each other."""
    rng = np.random.default_rng(3)
    truth = np.repeat(rng.normal(size=(6, 3)), 4, axis=0) + 0.25 * rng.normal(size=(24, 3))
    c = sm.simulate(truth, 400, sharpness=2.0, raters=2, names=NAMES, random_state=1)
    found = sm.learn(c, method="STE", n_components=3, penalty=0.05, time_limit=3600, random_state=0)
    return found.save(
        tmp_path_factory.mktemp("report"),
        classes={name: f"kind {k // 4}" for k, name in enumerate(NAMES)},
        command=f"similitude learn answers.csv {'--images ' + 'a/very/long/way/' * 12}",
    )


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """The page of a map with more names than there is room for."""
    truth = np.random.default_rng(3).normal(size=(150, 2))
    names = [f"an item called {k:03d}" for k in range(150)]
    c = sm.simulate(truth, 900, sharpness=2.0, names=names, random_state=1)  # so many that nobody is left out
    found = sm.learn(c, method="STE", n_components=2, penalty=0.05, time_limit=0.001, random_state=0)
    path = tmp_path_factory.mktemp("crowded") / "report.html"
    path.write_text(found.page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pictured(tmp_path_factory):
    """The page of a map of pictures, a third of them in a clump."""
    truth = np.random.default_rng(3).normal(size=(60, 2))
    truth[:20] = 0.2 * truth[:20] + 1
    folder, names = tmp_path_factory.mktemp("pictured"), [f"thing {k:02d}" for k in range(60)]
    images = {name: folder / f"{name}.png" for name in names}
    for k, path in enumerate(images.values()):
        PIL.Image.new("RGB", (30, 30), (4 * k, 80, 255 - 4 * k)).save(path)
    c = sm.simulate(truth, 700, sharpness=3.0, names=names, random_state=1)
    found = sm.learn(c, method="STE", n_components=2, penalty=0.05, time_limit=0.001, random_state=0)
    path = folder / "report.html"
    path.write_text(found.page(images=images), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """The page of a map in one dimension, with where else items may stand."""
    truth = np.linspace(-2.0, 2.0, 8)[:, None]
    c = sm.simulate(truth, 200, sharpness=2.0, names=NAMES[:8], random_state=1)
    found = sm.learn(c, method="STE", n_components=1, penalty=0.05, time_limit=0.001, random_state=0)
    found = replace(found, sureness=sm.uncertainty(found.model, c, n=5, random_state=0))
    path = tmp_path_factory.mktemp("line") / "report.html"
    path.write_text(found.page(), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, report):  # noqa: F811
    """Opens the report on a screen of some width; a fault in its script, or anything it loads, fails the test."""
    wrong, contexts = [], []

    def open_at(width, which=report, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        context.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
        page = context.new_page()
        page.goto(which.as_uri())
        page.locator("#atlas").scroll_into_view_if_needed()
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("width", [1280, 390])
def test_pointing_at_a_dot_picks_that_dot(opened, width):
    page = opened(width)
    middles = page.evaluate(MIDDLES)
    for _, x, y in middles:
        page.mouse.move(x, y)
        found = page.evaluate(POINTED)
        # pointers stand on whole pixels: of two dots within one and a half of each other either may be meant
        assert found in {name for name, *at in middles if np.hypot(at[0] - x, at[1] - y) < 1.5}
        assert page.locator("#atlas-said").text_content().startswith(f"{found}: most like ")
    page.mouse.move(1, 1)
    assert page.evaluate(POINTED) is None


BOXES = """[...document.querySelectorAll('#atlas .item image')].filter(e => getComputedStyle(e).display !== 'none')
    .map(e => e.getBoundingClientRect()).map(box => [box.x, box.y, box.width])"""


@pytest.mark.parametrize(("width", "presses"), [(1200, 0), (1200, 2), (390, 0), (390, 3)])
def test_no_picture_hides_another(opened, pictured, width, presses):
    page = opened(width, pictured)
    for _ in range(presses):
        page.get_by_role("button", name="Larger").click()
    boxes = np.array(page.evaluate(BOXES))
    apart = np.abs(boxes[:, None, :2] - boxes[:, :2]).max(2) + 1e9 * np.eye(len(boxes))
    assert (apart >= boxes[0, 2]).all()
    dots = page.locator("#atlas .ties circle").count()
    lines = page.locator("#atlas .ties line").count()
    assert lines <= dots
    assert len(boxes) + dots - lines == 60, "a picture or a dot for each item"
    if not presses:
        assert len(boxes) >= 40


def test_a_picture_without_room_is_shown_when_it_is_pointed_at(opened, pictured):
    for width in (390, 320, 250, 180):  # of some draws a phone shows all
        page = opened(width, pictured)
        hidden = page.evaluate("""[...document.querySelectorAll('#atlas .item')].findIndex(
            e => getComputedStyle(e.querySelector('image')).display === 'none')""")
        if hidden >= 0:
            break
    assert hidden >= 0, "the clump is too full for so small a page"
    page.locator("#atlas .item").nth(hidden).focus()
    assert page.locator("#atlas .captions image").count() == 1


def test_it_fits_a_phone(opened):
    page = opened(390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    left, right = page.evaluate(
        "(({left, right}) => [left, right])(document.getElementById('atlas').getBoundingClientRect())"
    )
    assert all(left < x < right for _, x, _ in page.evaluate(MIDDLES))
    high = page.evaluate(
        "[...document.querySelectorAll('#atlas text:not(.quiet)')].map((name) => name.getBoundingClientRect().height)"
    )
    assert min(filter(None, high)) > 10  # as large as on a wide screen; a name without room is not drawn
    assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('pre'))")
    assert page.evaluate("document.querySelector('.wide img').clientWidth") > 600  # names of the tree can be read
    page.locator(".touch").wait_for()
    page.locator(".mouse").wait_for(state="hidden")


def test_what_is_said_of_the_key_is_said_where_there_is_one(opened, crowded):
    phone = opened(390, crowded)
    phone.locator(".unkeyed").wait_for()
    phone.locator("#atlas-key").wait_for(state="hidden")
    assert phone.locator(".keyed").count() == 2
    phone.locator(".keyed").first.wait_for(state="hidden")
    wide = opened(1280, crowded)
    wide.locator(".keyed").first.wait_for()
    wide.locator(".unkeyed").wait_for(state="hidden")


def test_classes_have_shapes_on_the_map_and_in_its_legend(opened):
    page = opened(1280)
    outline = "nodes => nodes.map(node => node.getAttribute('d'))"
    on_map = page.locator("#atlas .dot").evaluate_all(outline)
    legend = page.locator("#atlas-legend path").evaluate_all(outline)
    assert len(set(legend)) == 6
    assert sorted(on_map) == sorted(4 * legend)


def test_items_are_found_by_name_and_neighbours_shown(opened, report):
    page = opened(1280)
    page.fill("#atlas-search", "item 07")
    assert page.evaluate(POINTED) == "item 07"
    assert page.locator("#atlas .lines line").count() == 5
    page.fill("#atlas-search", "no such thing")
    assert page.evaluate(POINTED) is None


def test_a_key_leads_to_the_items_whose_names_have_no_room(opened, crowded):
    page = opened(1280, crowded)
    entry = page.locator("#atlas-key span").first
    entry.hover()
    said = page.locator("#atlas-said")
    assert entry.text_content().split(" ", 1)[1] == said.text_content().split(":")[0]
    page.click("[data-zoom='1.5']")
    entry.wait_for(state="hidden")  # enlarged, names find room anew
    page.click("[data-zoom='0']")
    entry.wait_for()


def test_bars_of_a_line_are_seen_and_grow_longer_not_thicker(opened, line):
    page = opened(900, line)
    assert "Bars show where else an item could be" in page.inner_text("body")
    boxes = "[...document.querySelectorAll('#atlas .sure')].map(e => [e.getBBox().width, e.getBBox().height])"
    before = np.array(page.evaluate(boxes))
    assert before.shape == (8, 2)
    assert (before > [1, 8]).all()
    page.click("[data-zoom='1.5']")
    after = np.array(page.evaluate(boxes))
    np.testing.assert_allclose(after[:, 0], 1.5 * before[:, 0], rtol=1e-3)
    np.testing.assert_allclose(after[:, 1], before[:, 1])


def test_zoom_turning_and_colours(opened):
    page = opened(1280)
    before = page.evaluate(PLACES)
    page.click("[data-zoom='1.5']")
    assert page.evaluate(PLACES) != before
    page.click("[data-zoom='0']")
    assert page.evaluate(PLACES) == before
    page.check("#atlas-solid")
    turned = page.evaluate(PLACES)
    assert turned != before
    box = page.locator("#atlas").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 140, steps=4)
    page.mouse.up()
    assert page.evaluate(PLACES) != turned
    page.uncheck("#atlas-solid")
    assert page.evaluate(PLACES) == before
    assert page.locator("#atlas-legend span").all_text_contents()[0].startswith("kind ")
    page.select_option("#atlas-shade", label="3 clusters")
    assert page.locator("#atlas-legend span").count() == 3


def test_on_paper_there_is_nothing_to_press(opened):
    page = opened(1280)
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert not page.locator("nav").is_visible()
    high = page.locator("#atlas").bounding_box()["height"]
    assert 200 < high <= 15 / 2.54 * 96 + 1  # the title and what is worth a look stand on the same page
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_light_and_dark(opened):
    papers = [
        opened(1280, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert papers == ["rgb(255, 255, 255)", "rgb(26, 26, 26)"]


DOCS_PICTURES = Path(__file__).parents[2] / "docs" / "images" / "report"
MAPS = ("food", "palette")  # of which the map for print is shown
VIEWS = {
    "": {"viewport": {"width": 1280, "height": 1150}, "device_scale_factor": 0.5},
    "-phone": {"viewport": {"width": 390, "height": 844}},
    "-dark": {"viewport": {"width": 1280, "height": 1150}, "device_scale_factor": 0.5, "color_scheme": "dark"},
    "-paper": {"viewport": {"width": 680, "height": 960}, "device_scale_factor": 0.75},
}


@pytest.mark.whole
@pytest.mark.skipif("SIMILITUDE_DOCS_PICTURES" not in os.environ, reason="made anew by `make pictures`")
@pytest.mark.parametrize("name", ["food", "cars", "palette", "fruit", "glass"])
def test_pictures_of_the_documentation(browser, data, tmp_path, name):  # noqa: F811
    c, classes = load(name, data)
    found = sm.learn(c, time_limit=3600, random_state=0)
    report = found.save(tmp_path, f"What people find similar: {name}", classes=classes, figure_width=89)
    photograph(browser, report, name, VIEWS if name == "cars" else {"": VIEWS[""]})


def photograph(browser, report, name, views):  # noqa: F811
    """Store pictures of a report, and of its map for print, small enough for the documentation."""
    DOCS_PICTURES.mkdir(exist_ok=True)
    for ending, options in views.items():
        context = browser.new_context(**options)
        page = context.new_page()
        page.goto(report.as_uri())
        page.emulate_media(media="print" if ending == "-paper" else "screen")
        page.locator("#atlas").wait_for()
        page.screenshot(path=DOCS_PICTURES / f"{name}{ending}.png")
        context.close()
        _few_colours(DOCS_PICTURES / f"{name}{ending}.png")
    if name not in MAPS:
        return
    with PIL.Image.open(report.parent / "figures" / "map.png") as drawn:
        drawn.convert("RGB").resize((drawn.width // 2, drawn.height // 2)).save(DOCS_PICTURES / f"{name}-map.png")
    _few_colours(DOCS_PICTURES / f"{name}-map.png")


def _few_colours(path):
    with PIL.Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, PIL.Image.Quantize.MAXCOVERAGE, dither=PIL.Image.Dither.NONE)
    small.save(path, optimize=True)
    assert path.stat().st_size < 150_000
