"""Times on the page: items go, answers wait, questions end; and what the page tells of itself."""

import json

import pytest

from tests.patience import PATIENCE
from tests.study.axe import violations
from tests.study.conftest import arrived, on_question, serving, watch
from tests.study.making import SHORT, tones, write_study

pytestmark = pytest.mark.slow
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
SEEN = "all => all.filter(one => getComputedStyle(one).visibility === 'visible').length"
PRACTICE = '[practice]\nquestions = [{shown = ["face00", "face01", "face06"], correct = [1]}]\n'


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("timing")

    def study(name, timing, number=2, items=None, pages=SHORT, more=""):
        toml = f'title = "Faces"\n{pages}[question]\nnumber = {number}\n{more}[timing]\n{timing}\n'
        write_study(root, name, toml, items)

    study("glimpse", "exposure_ms = 300\nrecord_device = true", number=1, more=PRACTICE)
    study("least", "least_seconds = 1.2", number=1)
    study("limit", "limit_seconds = 1", number=2)
    study("told", "exposure_ms = 2000\nlimit_seconds = 20\nleast_seconds = 1\nrecord_device = true", pages="")
    study("whole", "play_to_the_end = true", number=1, items=tones(), more='form = "odd_one_out"\n')
    study("device", "record_device = true", number=2)
    study("unrecorded", "", number=1, pages="")
    with serving(root) as server:
        yield server


@pytest.fixture
def page(context):
    return context.new_page()


def measured(live, study, number):
    return [json.loads(row["measured"]) if row["measured"] else None for row in arrived(live, study, number)]


def test_items_are_hidden_after_their_time_and_answered_from_memory(live, page, shot):
    page.goto(live.link("glimpse"))
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)
    page.wait_for_selector(".stage.unseen")
    assert page.locator(".stage .item").evaluate_all(SEEN) == 0
    labels = page.locator(".choose").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert labels == ["1 hidden", "2 hidden"]
    shot(page, "timing-hidden")
    page.keyboard.press("1")
    page.get_by_role("button", name="Continue").wait_for()
    assert page.locator(".stage .item").evaluate_all(SEEN) == 3  # practice shows again what was asked
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Start").click()
    on_question(page, 1)
    page.wait_for_selector(".stage.unseen")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("text=Done. Thank you!")
    for row, told in zip(live.answers("glimpse"), measured(live, "glimpse", 2), strict=True):
        assert row["milliseconds"] >= told["exposure_ms"] - 60  # of the same moments, two frames apart
        assert 280 <= told["exposure_ms"] < 1000 * PATIENCE


def test_an_answer_waits_for_its_time(live, page, shot):
    page.goto(live.link("least"))
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("main[data-number='0'] .stage:not(.loading)")
    page.get_by_text("You can answer in a moment.").wait_for()
    shot(page, "timing-least")
    page.keyboard.press("1")
    page.keyboard.press("s")
    page.wait_for_selector(".choose:enabled")
    page.get_by_text("Now you can answer.").wait_for()
    assert live.answers("least") == []
    page.keyboard.press("2")
    assert arrived(live, "least", 1)[0]["milliseconds"] >= 1190


def test_a_question_ends_and_the_next_waits_for_somebody(live, page, shot):
    page.goto(live.link("limit"))
    page.get_by_text("You have 1 s for each question.").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="The time is over").wait_for()
    shot(page, "timing-over")
    assert violations(page) == []
    first = arrived(live, "limit", 1)
    assert [(row["outcome"], row["response"]) for row in first] == [("timed_out", None)]
    assert first[0]["milliseconds"] >= 990
    page.keyboard.press("Enter")
    page.wait_for_selector("main[data-number='1']")
    page.get_by_role("heading", name="The time is over").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Done. Thank you!")


def test_times_are_told_and_the_bar_is_quiet_on_a_phone(live, browser, shot):
    context = browser.new_context(**PHONE, reduced_motion="reduce")
    wrong = []
    watch(context, wrong)
    page = context.new_page()
    page.goto(live.link("told"))
    page.get_by_text("this page keeps the kind of your device").wait_for()
    shot(page, "timing-consent")
    assert violations(page) == []
    page.get_by_role("button", name="I agree").tap()
    for said in ("to be seen for 2 s", "taken from 1 s on", "You have 20 s"):
        page.get_by_text(said).wait_for()
    shot(page, "timing-told")
    page.get_by_role("button", name="Start").tap()
    on_question(page, 0)
    assert page.locator(".clock").get_attribute("aria-hidden") == "true"
    assert "s left" in page.locator(".clock").inner_text()
    assert page.locator(".clock .left div").evaluate("bar => getComputedStyle(bar).transitionDuration") in (
        "0s",
        "none",
    )
    shot(page, "timing-bar")
    assert violations(page) == []
    page.wait_for_selector(".choose:enabled")
    page.locator(".choose").first.tap()
    told = measured(live, "told", 1)[0]
    assert (told["device"], told["input"], told["viewport"], told["pixel_ratio"]) == ("phone", "touch", [390, 844], 2)
    context.close()
    assert wrong == []


def test_sounds_are_heard_to_their_end(live, page):
    page.goto(live.link("whole"))
    page.get_by_text("have to be played to their end").wait_for()
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)
    page.get_by_text("to its end before you answer").wait_for()
    # a jump to the end is no hearing: half a second each, of which the last moment alone is played
    page.wait_for_function("[...document.querySelectorAll('audio')].every((one) => one.readyState > 0)")
    play = "(all, from) => Promise.all(all.map(one => new Promise(on => {"
    play += " one.onended = on; one.onseeked = () => one.play(); one.currentTime = from; })))"
    page.locator("audio").evaluate_all(play, 0.45)
    assert page.locator(".choose:enabled").count() == 0
    page.locator("audio").evaluate_all(play, 0)
    page.wait_for_selector(".choose:enabled")
    page.keyboard.press("2")
    assert arrived(live, "whole", 1)[0]["response"] == [1]


def test_who_leaves_the_page_is_counted_and_a_reload_too(live, page):
    page.goto(live.link("device"))
    on_question(page, 0)
    page.reload()
    on_question(page, 0)
    page.wait_for_timeout(1200)  # sixty frames, for the refresh rate
    page.evaluate(
        """async () => {
          const seen = document.hasFocus;
          document.hasFocus = () => false;
          window.dispatchEvent(new Event("blur"));
          await new Promise((on) => setTimeout(on, 300));
          document.hasFocus = seen;
          window.dispatchEvent(new Event("focus"));
        }"""
    )
    page.keyboard.press("1")
    on_question(page, 1)
    page.locator(".choose").first.click()
    first, second = measured(live, "device", 2)
    assert (first["focus_lost"], first["showings"], first["input"]) == (1, 2, "keyboard")
    assert 290 <= first["focus_lost_ms"] < 1000 * PATIENCE
    assert (second["focus_lost"], second["focus_lost_ms"], second["showings"], second["input"]) == (0, 0, 1, "mouse")
    assert second["device"] == "computer"
    assert second["refresh_rate"] > 1


def test_nothing_is_told_where_it_is_not_recorded(live, page):
    page.goto(live.link("unrecorded"))
    page.get_by_role("button", name="I agree").wait_for()
    assert page.get_by_text("kind of your device").count() == 0
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)
    with page.expect_request("**/answers") as sent:
        page.keyboard.press("1")
    assert "measured" not in sent.value.post_data_json
    assert measured(live, "unrecorded", 1) == [None]
