"""What a rater sees is what the answer means: directions, high contrast, backgrounds, pictures that fail."""

import io

import pytest
from PIL import Image

from similitude.study.languages import translation
from tests.patience import until
from tests.study.conftest import arrived, on_question, serving, watch
from tests.study.making import FORMS, SHORT, colours, faces, picture, write_study

ARABIC = translation("ar")
STRICT = "skip = false\ncant_tell = false\n"
FORCED = {"forced_colors": "active", "color_scheme": "dark"}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("seen")
    swatches = '[items]\ntable = "colours.csv"\n'
    for form, more in {**FORMS, "slider": "scale = 40"}.items():
        asked = f'[question]\nform = "{"similarity_rating" if form == "slider" else form}"\nnumber = 3\n{more}\n'
        arabic = f'title = "ألوان"\nlanguage = "ar"\n{SHORT}'
        write_study(root, f"ar-{form.replace('_', '-')}", f"{arabic}{asked}{swatches}", colours())
    plain = f'title = "Colours"\n{SHORT}[question]\nnumber = 3\n'
    for name in ("high", "light", "dark"):
        write_study(root, name, plain + swatches, colours())
    write_study(root, "blank", plain + STRICT + swatches, colours())
    picks = plain + 'form = "choice"\ngrid_size = 4\n'
    write_study(root, "picks", picks + swatches, colours())
    write_study(root, "given", plain + '[items]\nbackground = "#204060"\n')
    write_study(root, "missing", f'title = "Faces"\n{SHORT}[question]\nnumber = 1\n{STRICT}', faces(3))
    write_study(root, "large", f'title = "Faces"\n{SHORT}[question]\nnumber = 5\n')
    write_study(root, "small", f'title = "Faces"\n{SHORT}[items]\nenlarge = false\n')
    write_study(root, "keys", f'title = "Faces"\n{SHORT}[question]\nnumber = 5\n')
    shows = {"instructions.md": "# How it works\n\n![An example](pages/example.png)", "pages/example.png": picture()}
    write_study(root, "shows", 'title = "Faces"\npages = {consent = ""}\n', {**faces(), **shows})
    with serving(root) as server:
        yield server


@pytest.fixture
def visit(live, browser):
    """Open a study in a browser of some kind; anything wrong on the page fails the test."""
    opened, wrong = [], []

    def open_study(name, **kind):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **kind})
        watch(context, wrong)
        opened.append(context)
        page = context.new_page()
        page.goto(live.link(name))
        return page

    yield open_study
    for context in opened:
        context.close()
    assert wrong == []


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2


def pixel(page, x, y):
    """What is painted at a place of the page."""
    with Image.open(io.BytesIO(page.screenshot())) as shot:
        return shot.convert("RGB").getpixel((round(x), round(y)))


def rgb(colour):
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize(("study", "response"), [("ar-similarity-rating", [7]), ("ar-labelling", [0, 1])])
def test_what_stands_under_a_number_is_what_it_means_from_right_to_left_too(live, visit, study, response):
    page = visit(study)
    on_question(page, 0)
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    steps, ends = page.locator(".step"), page.locator(".ends span")
    scale = "scale" if "rating" in study else "confidence"
    assert ends.all_inner_texts() == [ARABIC[f"{scale}_low"], ARABIC[f"{scale}_high"]]
    first, last = middle(steps.first), middle(steps.last)
    assert abs(middle(ends.first) - first) < abs(middle(ends.first) - last)
    assert abs(middle(ends.last) - last) < abs(middle(ends.last) - first)
    if study == "ar-labelling":
        page.locator(".word").first.click()
    steps.last.click()
    row = arrived(live, study, 1)[0]
    assert (row["response"], row["direction"]) == (response, "rtl")


def test_a_slider_grows_towards_what_its_end_means_from_right_to_left_too(live, visit):
    page = visit("ar-slider")
    on_question(page, 0)
    box = page.locator(".slider input").bounding_box()
    low, high = page.locator(".ends span").first, page.locator(".ends span").last
    assert middle(low) < middle(high)
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    page.get_by_role("button", name=ARABIC["confirm"]).click()
    assert arrived(live, "ar-slider", 1)[0]["response"] == [40]


@pytest.mark.parametrize("form", ["triplet", "odd_one_out", "quadruplet", "choice", "same_different"])
def test_places_go_from_the_left_in_every_language(visit, form):
    page = visit(f"ar-{form.replace('_', '-')}")
    on_question(page, 0)
    answers = page.locator(".word" if form == "same_different" else ".choose")
    across = [box["x"] for box in (answers.nth(k).bounding_box() for k in range(2))]
    assert across == sorted(across)


def test_high_contrast_shows_the_colours_that_are_judged(visit):
    page = visit("high", **FORCED)
    on_question(page, 0)
    page.keyboard.press("1")
    on_question(page, 1)
    for swatch in page.locator(".swatch").all():
        box = swatch.bounding_box()
        meant = rgb(swatch.get_attribute("aria-label").removeprefix("Colour "))
        assert pixel(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) == meant
    bar = page.locator("#progress").bounding_box()
    page.wait_for_timeout(400)
    done, left = (pixel(page, bar["x"] + share * bar["width"], bar["y"] + 4) for share in (0.1, 0.9))
    assert done != left


def test_high_contrast_shows_what_is_picked(visit):
    page = visit("picks", **FORCED)
    on_question(page, 0)
    box = page.locator(".card").first.bounding_box()
    beside = box["x"] - 2, box["y"] + box["height"] / 2
    before = pixel(page, *beside)
    page.keyboard.press("1")
    page.mouse.move(5, 5)
    assert page.locator(".choose").first.get_attribute("aria-pressed") == "true"
    page.wait_for_timeout(300)
    assert pixel(page, *beside) != before


UNSEEN = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".stage, .swatch { forced-color-adjust: auto !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""


def test_nobody_answers_about_what_cannot_be_seen(live, browser):
    context = browser.new_context(**FORCED)
    page = context.new_page()
    page.add_init_script(f"document.addEventListener('DOMContentLoaded', {UNSEEN})")
    page.goto(live.link("blank"))
    page.get_by_role("button", name="I cannot see it").wait_for()
    page.keyboard.press("1")
    assert page.locator(".choose:enabled").count() == 0
    page.get_by_role("button", name="I cannot see it").click()
    row = arrived(live, "blank", 1)[0]
    assert (row["outcome"], row["response"]) == ("not_shown", None)
    context.close()


def test_a_picture_that_is_gone_leaves_a_way_on(live, visit, shot):
    (live.root / "missing" / "items" / "face01.svg").unlink()
    page = visit("missing")
    page.get_by_text("This could not be loaded.").wait_for()
    assert page.locator(".choose:enabled").count() == 0
    shot(page, "missing")
    page.get_by_role("button", name="I cannot see it").click()
    page.get_by_text("Done. Thank you!").wait_for()
    row = live.answers("missing")[0]
    assert (row["outcome"], row["response"], row["side"]) == ("not_shown", None, -1)


def test_a_lost_connection_is_not_the_fault_of_a_picture(live, visit):
    page = visit("small")
    on_question(page, 0)
    page.route("**/items/**", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("main[data-number='0']")
    page.wait_for_timeout(3000)  # three tries, and a fourth
    assert page.get_by_role("button", name="I cannot see it").count() == 0
    page.unroute_all()
    on_question(page, 0)


def test_the_background_is_one_in_light_and_dark_and_kept_with_the_answer(live, visit):
    seen = set()
    for scheme in ("light", "dark"):
        page = visit(scheme, color_scheme=scheme)
        on_question(page, 0)
        box = page.locator(".stage").bounding_box()
        seen.add(pixel(page, box["x"] + box["width"] / 2, box["y"] + 3))
        page.keyboard.press("1")
        row = arrived(live, scheme, 1)[0]
        assert (row["background"], row["direction"]) == ("138 138 138", "ltr")
    assert seen == {(138, 138, 138)}


def test_a_background_can_be_chosen(live, visit):
    page = visit("given", color_scheme="dark")
    on_question(page, 0)
    page.keyboard.press("1")
    assert arrived(live, "given", 1)[0]["background"] == "32 64 96"


def test_pictures_can_be_enlarged_by_mouse_and_by_keyboard(live, visit, shot):
    page = visit("large")
    on_question(page, 0)
    small = page.locator("main img").first.bounding_box()
    page.get_by_role("button", name="Enlarge").first.click()
    large = page.get_by_role("dialog").get_by_role("img")
    large.wait_for()
    assert large.bounding_box()["height"] > 1.5 * small["height"]
    shot(page, "enlarged")
    page.keyboard.press("1")  # answers nothing: the question is behind it
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.keyboard.press("Enter")  # the button has the focus again
    page.get_by_role("button", name="Close").click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert live.answers("large") == []
    assert page.locator("main").get_attribute("data-number") == "0"
    page = visit("small")
    on_question(page, 0)
    assert page.get_by_role("button", name="Enlarge").count() == 0


def test_single_keys_can_be_switched_off_and_stay_off(live, visit):
    page = visit("keys")
    on_question(page, 0)
    page.get_by_label("Single keys answer").uncheck()
    for key in ("1", "2", "c", "s"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    on_question(page, 1)
    page.reload()
    on_question(page, 1)
    page.keyboard.press("s")
    assert not page.get_by_label("Single keys answer").is_checked()
    page.get_by_label("Single keys answer").check()
    page.keyboard.press("2")
    assert [row["response"] for row in arrived(live, "keys", 2)] == [[1], [2]]


def test_instructions_show_pictures(visit):
    page = visit("shows")
    example = page.get_by_role("img", name="An example")
    until(lambda: example.evaluate("one => one.naturalWidth") == 40, "the picture did not come")


def test_a_screen_without_keys_says_nothing_of_keys(visit):
    page = visit("keys", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    on_question(page, 0)
    assert not page.locator(".keys").is_visible()
    assert [key for key in page.locator("kbd").all() if key.is_visible()] == []
