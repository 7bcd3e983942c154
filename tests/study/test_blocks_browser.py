"""Two blocks of other forms on the rater's page, by mouse and by keyboard; conditions, full and lost places."""

from collections import Counter

import pytest

from tests.patience import until
from tests.study.axe import violations
from tests.study.conftest import arrived, on_question, serving
from tests.study.making import write_study

BLOCKS = """
title = "Faces, twice"
[pages]
consent = ""
instructions = "instructions.md"
[[block]]
name = "triplets"
question = {number = 2}
practice = [{shown = ["face00", "face01", "face06"], correct = [1]}]
[[block]]
name = "ratings"
question = {form = "similarity_rating", number = 2, scale = 5, low = "strangers", high = "twins", cant_tell = false}
practice = [{shown = ["face00", "face01"], correct = [5]}]
[[block]]
name = "own"
question = {form = "odd_one_out", number = 1}
page = "own.md"
"""
CONDITIONS = """
title = "Faces, one way or another"
[pages]
consent = ""
[question]
number = 1
[assignment]
parameter = "group"
full_redirect = "http://localhost/full?id={rater}"
[[condition]]
name = "near"
quota = 1
text = "Which one is nearer to the one on top?"
instructions = "near.md"
texts = {skip = "Leave it out"}
[[condition]]
name = "far"
quota = 1
"""
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    own = {"own.md": "# The last part\n\nLook at all three.\n"}
    for name in ("blocks", "keys"):
        for file, text in own.items():
            (write_study(root, name, BLOCKS) / file).write_text(text, encoding="utf-8")
    folder = write_study(root, "conditions", CONDITIONS)
    (folder / "near.md").write_text("# How near?\n\nGo by *distance*.\n", encoding="utf-8")
    with serving(root) as server:
        yield server


@pytest.fixture
def page(context):
    return context.new_page()


def place(page):
    return page.locator("#place").inner_text()


def test_blocks_by_mouse_each_with_its_form_and_a_page_before_it(live, page, shot):
    page.goto(live.link("blocks"))
    page.get_by_role("heading", name="How it works").wait_for()
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)  # the first part begins at once
    assert place(page) == "Practice 1 of 1"
    page.locator(".choose[aria-label$=face01]").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    for number in (1, 2):
        on_question(page, number)
        assert place(page) == f"Question {number} of 5"
        page.locator(".choose").first.click()
    page.get_by_role("heading", name="Part 2 of 3").wait_for()
    assert page.locator(".next-ask").inner_text() == "How alike are these two?"
    assert place(page) == "Part 2 of 3"
    shot(page, "block-change")
    assert violations(page) == []
    page.get_by_role("button", name="Continue").click()
    on_question(page, 3)
    assert place(page) == "Practice 1 of 1"
    assert page.get_by_text("strangers").is_visible()
    assert page.locator(".others .other").count() == 1  # no "can't tell" in this block
    shot(page, "block-ratings")
    page.reload()  # nothing of the block was answered yet: it is announced again
    page.get_by_role("heading", name="Part 2 of 3").wait_for()
    page.get_by_role("button", name="Continue").click()
    on_question(page, 3)
    page.locator(".step:enabled >> nth=4").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    on_question(page, 4)
    page.locator(".step:enabled >> nth=1").click()
    on_question(page, 5)
    page.reload()
    on_question(page, 5)
    assert place(page) == "Question 4 of 5"
    page.locator(".step:enabled >> nth=3").click()
    page.get_by_role("heading", name="The last part").wait_for()
    shot(page, "block-own-page")
    assert violations(page) == []
    page.get_by_role("button", name="Continue").click()
    on_question(page, 6)
    page.locator(".choose").nth(2).click()
    page.wait_for_selector("text=Done. Thank you!")
    log = arrived(live, "blocks", 7)
    assert [row["block"] for row in log] == ["triplets"] * 3 + ["ratings"] * 3 + ["own"]
    assert [row["response"] for row in log[3:]] == [[5.0], [2.0], [4.0], [2.0]]


def test_blocks_by_keyboard_on_a_phone(live, browser, shot):
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.goto(live.link("keys"))
    for keys in (["Enter"], [0, "1", "Enter", "Enter"], [1, "ArrowLeft"], [2, "2"], ["Enter"]):
        _press(page, keys)
    on_question(page, 3)
    shot(page, "phone-block-ratings")
    for keys in ([3, "5", "Enter", "Enter"], [4, "1"], [5, "3"]):
        _press(page, keys)
    page.get_by_role("heading", name="The last part").wait_for()
    shot(page, "phone-block-own-page")
    for keys in (["Enter"], [6, "3"]):
        _press(page, keys)
    page.wait_for_selector("text=Done. Thank you!")
    assert Counter(row["block"] for row in arrived(live, "keys", 7)) == {"triplets": 3, "ratings": 3, "own": 1}
    context.close()


def _press(page, keys):
    """Press keys, each when something can be pressed: after a number when that question takes answers."""
    for key in keys:
        if isinstance(key, int):
            on_question(page, key)
            page.wait_for_selector(".choose:enabled, .step:enabled")
            continue
        if key == "Enter":
            page.wait_for_selector("button.main:focus")
        page.keyboard.press(key)


def test_a_condition_has_words_and_pages_of_its_own_and_who_finds_no_place_is_led_away(live, page, context, shot):
    page.goto(live.link("conditions", "?rater=ann&group=near"))
    page.get_by_role("heading", name="How near?").wait_for()
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)
    assert page.locator("h1.ask").inner_text() == "Which one is nearer to the one on top?"
    assert page.get_by_role("button", name="Leave it out").is_visible()
    page.locator(".choose").first.click()
    page.wait_for_selector("text=Done. Thank you!")
    other = context.new_page()
    context.route("http://localhost/full*", lambda route: route.fulfill(body="back at the other site"))
    other.goto(live.link("conditions", "?rater=bob&group=near"))
    other.get_by_role("heading", name="This study is complete").wait_for()
    shot(other, "full-redirect")
    other.wait_for_url("http://localhost/full?id=bob")
    third = context.new_page()
    third.goto(live.link("conditions", "?rater=cyd&group=far"))
    third.get_by_role("heading", name="How it works").wait_for()
    third.get_by_role("button", name="Start").click()
    on_question(third, 0)
    assert third.locator("h1.ask").inner_text() == "Which of the two is more like the one on top?"
    live.rows("UPDATE rater SET place_until = NULL WHERE identity = 'cyd'")
    live.rows("UPDATE rater SET condition = 'far' WHERE identity = 'ann'")  # who has the place now
    third.locator(".choose").first.click()
    third.get_by_role("heading", name="Your place was given to somebody else").wait_for()
    shot(third, "displaced")
    assert violations(third) == []
    assert until(lambda: len(live.answers("conditions")) == 1, lambda: "an answer was taken without a place")
