"""A rater before a real browser: the whole way by mouse and by keyboard, and all that may come between."""

import json
import re
import time
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENCE, until, until_it_fits
from tests.study.conftest import arrived, on_question, press, serving, watch
from tests.study.making import FORMS, SHORT, colours, one_of_each_form, tones, words, write_study
from tests.study.screens import FILM, RECORD

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
NOTHING_UNDER_WAY = "!Object.keys(localStorage).some((key) => key.includes('/answer/'))"
WHOLE = """
title = "Which faces are alike?"
break_every = 2
[question]
number = 4
[practice]
questions = [{shown = ["face00", "face01", "face06"], correct = [1]}]
[survey]
fields = [
  {name = "age", label = "How old are you?", kind = "number"},
  {name = "light", label = "How bright is the room?", kind = "choice", choices = ["dark", "bright"], required = true},
]
[completion]
code = "C1A2B3"
seconds_per_question = 0
[texts]
skip = "Leave it out"
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    one_of_each_form(root)
    write_study(root, "whole", WHOLE)
    write_study(root, "keys", WHOLE)
    for name in ("reload", "network", "busy", "tabs", "paused", "skips", "slow"):
        write_study(root, name, f'title = "Faces"\n{SHORT}[question]\nnumber = 8\n')
    write_study(root, "full", f'title = "Faces"\n{SHORT}[raters]\nlimit = 1\n')
    write_study(root, "invited", f'title = "Faces"\n{SHORT}[raters]\nmust_be_named = true\n')
    back = 'redirect = "http://localhost/back?id={PROLIFIC_PID}&as={rater}"'
    back += "\nseconds_per_question = 0\nlargest_skip_share = 1"
    write_study(root, "prolific", f'title = "Faces"\n{SHORT}[question]\nnumber = 1\n[completion]\n{back}\n')
    write_study(root, "colours", f'title = "Colours"\n{SHORT}[items]\ntable = "colours.csv"\n', colours())
    write_study(root, "words", f'title = "Words"\n{SHORT}[question]\nnumber = 1\n', words())
    sounds = '[question]\nform = "odd_one_out"\nnumber = 1\n'
    write_study(root, "tones", f'title = "Tones"\n{SHORT}{sounds}', tones())
    write_study(root, "films", f'title = "Films"\n{SHORT}{sounds}', {f"items/film{k}.webm": FILM for k in range(3)})
    slider = '[question]\nform = "similarity_rating"\nscale = 100\nnumber = 1\n'
    write_study(root, "slider", f'title = "Faces"\n{SHORT}{slider}')
    with serving(root) as server:
        yield server


@pytest.fixture
def page(context):
    return context.new_page()


def finished(page):
    page.wait_for_selector("text=Done. Thank you!")


def test_a_whole_study_by_mouse(live, page, shot):
    page.goto(live.link("whole", "?rater=Ann%20%3Cb%3E"))
    page.locator("main").get_by_text("<b>No HTML</b>").wait_for()
    assert live.rows("SELECT * FROM rater WHERE identity LIKE 'Ann%'") == []  # nothing is kept before consent
    shot(page, "consent")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("heading", name="How it works").wait_for()
    page.get_by_role("button", name="Start").click()
    on_question(page, 0)
    assert page.locator("#place").inner_text() == "Practice 1 of 1"
    page.locator(".choose[aria-label$=face06]").click()
    page.get_by_text("another answer in mind").wait_for()
    assert page.locator(".card.expected .choose").get_attribute("aria-label").endswith(" face01")
    shot(page, "practice")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    for number in range(1, 5):
        on_question(page, number)
        assert page.locator("#place").inner_text() == f"Question {number} of 4"
        page.get_by_role("button", name="Leave it out").wait_for()
        if number == 2:
            page.mouse.move(5, 5)
            shot(page, "triplet")
        page.locator(".choose").nth(number % 2).click()
        if number == 2:
            page.get_by_role("heading", name="Time for a break").wait_for()
            shot(page, "break")
            page.get_by_role("button", name="Continue").click()
    page.get_by_label("How old are you?").fill("33")
    page.get_by_label("How bright is the room?").select_option("bright")
    shot(page, "survey")
    page.get_by_role("button", name="Send").click()
    finished(page)
    assert page.locator("#code").inner_text() == "C1A2B3"
    shot(page, "done")
    found = live.answers("whole")
    assert [row["response"] for row in found[1:]] == [[2], [1], [2], [1]]
    assert json.loads(found[0]["shown"])[int(found[0]["response"][0])] == "face06"
    assert [row["kind"] for row in found] == ["practice"] + ["question"] * 4
    assert all(100 <= row["milliseconds"] < 1000 * PATIENCE for row in found)
    replies = "SELECT field, value FROM reply JOIN rater ON rater.id = rater_id WHERE identity = 'Ann <b>'"
    assert {tuple(row) for row in live.rows(replies)} == {("age", "33"), ("light", "bright")}
    page.reload()
    finished(page)


def test_a_whole_study_by_keyboard(live, page):
    page.goto(live.link("keys"))
    page.get_by_role("button", name="I agree").wait_for()
    page.keyboard.press("Enter")  # agreeing takes more than a key pressed in passing
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="How it works").wait_for()
    page.keyboard.press("Enter")
    on_question(page, 0)
    sides = page.locator(".choose").evaluate_all("all => all.map(one => one.ariaLabel.split(' ')[1])")
    assert sorted(sides) == ["face01", "face06"]
    page.keyboard.press(str(1 + sides.index("face01")))
    page.get_by_text("Yes, that is the answer").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("That was the practice").wait_for()
    page.keyboard.press("Enter")
    for number, key in enumerate(["ArrowLeft", "ArrowRight", "c", "s"], 1):
        on_question(page, number)
        page.keyboard.press(key)
        if number == 2:
            page.get_by_role("heading", name="Time for a break").wait_for()
            page.keyboard.press("Enter")
    page.get_by_label("How old are you?").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("40")
    page.keyboard.press("Tab")
    page.keyboard.type("dark")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    finished(page)
    said = [(row["outcome"], row["response"]) for row in live.answers("keys")]
    none = [("cant_tell", None), ("skipped", None)]
    assert said[1:] == [("answered", [1]), ("answered", [2]), *none]


def test_declining_keeps_nothing(live, page):
    before = len(live.rows("SELECT * FROM rater"))
    page.goto(live.link("whole", "?rater=Nobody"))
    page.get_by_role("button", name="I do not want").click()
    page.get_by_text("Nothing of this visit was kept").wait_for()
    assert len(live.rows("SELECT * FROM rater")) == before


KEYS = {
    "triplet": (["2"], [2]),
    "odd_one_out": (["ArrowRight", "ArrowRight", "Enter"], [1]),
    "choice": (["3", "ArrowRight", "ArrowRight", "Enter", "Enter"], None),
    "quadruplet": (["ArrowRight"], [1]),
    "most_central": (["3"], [2]),
    "ranking": (["3", "1", "1", "ArrowLeft", "Enter", "5", "Enter"], [3, 6, 5]),
    "best_worst": (["2", "4", "Enter"], [2, 4]),
    "grouping": (["2", "1", "1", "3", "Enter"], [1, 0, 0, 2]),
    "placement": (
        ["ArrowUp", "ArrowUp", "2", "ArrowLeft", "3", "Shift+ArrowRight", "Enter", "Enter"],
        [0, 0.12, -0.06, 0, 0.01, 0],
    ),
    "attribute": (["2", "4", "3", "1", "Enter"], [1, 3, 2, 0]),
    "similarity_rating": (["6"], [6]),
    "same_different": (["1"], [1]),
    "labelling": (["2", "5"], [1, 1]),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_by_mouse_and_by_keyboard(live, page, shot, form):
    study = form.replace("_", "-")
    page.goto(live.link(study))
    on_question(page, 0)
    expected = {
        "choice": [[".choose >> nth=4", ".choose >> nth=0", ".confirm button"], [1, 5]],
        "similarity_rating": [[".step >> nth=2"], [3]],
        "same_different": [[".word >> nth=1"], [0]],
        "labelling": [[".word >> nth=2", ".step >> nth=1"], [2, 0.25]],
        "odd_one_out": [[".choose >> nth=2"], [2]],
        "quadruplet": [[".choose >> nth=0"], [0]],
        "most_central": [[".choose >> nth=1"], [1]],
        "ranking": [[*(f".choose >> nth={k}" for k in (4, 0, 2)), ".confirm button"], [5, 1, 3]],
        "best_worst": [[*(f".choose >> nth={k}" for k in (4, 0)), ".confirm button"], [5, 1]],
        "grouping": [[*(f".put >> nth={pile}" for pile in (0, 1, 0, 2)), ".confirm .main"], [0, 1, 0, 2]],
        "placement": [
            [".table@0.5,0.2", ".table@0.3,0.5", ".table@0.75,0.75", ".confirm .main"],
            pytest.approx([0, 0.74, -0.5, 0, 0.62, -0.62], abs=0.05),
        ],
        "attribute": [[*(f".choose >> nth={k}" for k in (3, 0, 2, 1)), ".confirm button"], [3, 0, 2, 1]],
        "triplet": [[".choose >> nth=0"], [1]],
    }[form]
    *clicks, last = expected[0]
    for step in clicks:
        press(page, step)
    shot(page, f"form-{study}")
    press(page, last)
    on_question(page, 1)
    keys, response = KEYS[form]
    for key in keys:
        page.keyboard.press(key)
    finished(page)
    first, second = live.answers(study)
    assert first["response"] == expected[1]
    if form == "choice":
        assert len(set(second["response"])) == 2
        assert 3 in second["response"]
    else:
        assert second["response"] == response


def test_reload_comes_back_to_the_same_question(live, page):
    page.goto(live.link("reload"))
    for number in range(2):
        on_question(page, number)
        page.keyboard.press("1")
    on_question(page, 2)
    shown = page.locator("img").evaluate_all("images => images.map(image => image.alt)")
    page.reload()
    on_question(page, 2)
    assert page.locator("img").evaluate_all("images => images.map(image => image.alt)") == shown
    assert len(live.answers("reload")) == 2


def test_a_lost_network_loses_nothing(live, page, context, shot):
    page.goto(live.link("network"))
    on_question(page, 0)
    context.set_offline(True)
    for number in range(5):  # five are held, and loaded
        on_question(page, number)
        page.keyboard.press("1" if number % 2 else "2")
        page.get_by_text("No connection.").wait_for()
        if number == 0:
            on_question(page, 1)
            shot(page, "offline")
    page.get_by_text("Loading …").wait_for()
    assert live.answers("network") == []
    context.set_offline(False)
    on_question(page, 5)
    page.get_by_text("The connection is back").wait_for()
    assert [row["response"] for row in arrived(live, "network", 5)] == [[2], [1], [2], [1], [2]]
    context.set_offline(True)
    page.keyboard.press("1")
    on_question(page, 6)
    context.set_offline(False)
    page.reload()  # perhaps before it was sent again: it is in this browser's memory
    on_question(page, 6)
    assert [row["number"] for row in live.answers("network")] == [0, 1, 2, 3, 4, 5]


def test_a_server_that_cannot_store_is_tried_again(live, page):
    page.goto(live.link("busy"))
    on_question(page, 0)
    tries = []

    def unavailable_twice(route):
        tries.append(route.request.post_data_json["uid"])
        if len(tries) < 3:
            route.fulfill(status=503, content_type="application/json", body=json.dumps({"code": "store"}))
        else:
            route.continue_()

    page.route("**/answers", unavailable_twice)
    page.keyboard.press("2")
    page.get_by_text("Nothing is lost").wait_for()
    page.get_by_text("The connection is back").wait_for()
    assert len(arrived(live, "busy", 1)) == 1
    assert len(set(tries)) == 1


def test_a_second_tab_follows_the_first(live, page, context):
    page.goto(live.link("tabs"))
    on_question(page, 0)
    other = context.new_page()
    other.goto(live.link("tabs"))
    on_question(other, 0)
    page.keyboard.press("1")
    on_question(page, 1)
    arrived(live, "tabs", 1)
    other.keyboard.press("2")
    other.get_by_text("answered in another tab").wait_for()
    on_question(other, 1)
    assert [row["response"] for row in live.answers("tabs")] == [[1]]
    assert len(live.rows("SELECT * FROM rater r JOIN study s ON s.id = r.study_id WHERE s.name = 'tabs'")) == 1


def test_a_second_press_does_not_answer_the_next_question(live, page):
    page.goto(live.link("skips"))
    on_question(page, 0)
    box = page.locator(".card").nth(0).bounding_box()
    page.mouse.dblclick(box["x"] + 40, box["y"] + 40, delay=1)
    on_question(page, 1)
    time.sleep(0.3)
    assert len(live.answers("skips")) == 1


def test_a_paused_study_waits_and_goes_on(live, page, shot):
    page.goto(live.link("paused"))
    on_question(page, 0)
    live.rows("UPDATE study SET paused = 1 WHERE name = 'paused'")
    page.keyboard.press("1")
    on_question(page, 1)  # it was on its way to the screen before the pause; its answer still counts
    until(lambda: page.evaluate(NOTHING_UNDER_WAY), "the answer stayed in the browser")  # and so the page was told
    page.keyboard.press("1")
    page.get_by_role("heading", name="This study is paused").wait_for()
    shot(page, "paused")
    live.rows("UPDATE study SET paused = 0 WHERE name = 'paused'")
    page.wait_for_selector("main[data-number]")


def test_a_full_study_says_so(live, browser, context, page):
    page.goto(live.link("full"))
    on_question(page, 0)
    second = browser.new_context()
    late = second.new_page()
    late.goto(live.link("full"))
    late.get_by_role("heading", name="This study is complete").wait_for()
    second.close()
    page.reload()  # who is in stays in
    on_question(page, 0)


def test_a_study_by_invitation_wants_a_name(live, page):
    page.goto(live.link("invited"))
    page.get_by_role("heading", name="by invitation").wait_for()
    page.goto(live.link("invited", "?workerId=W1&assignmentId=A1"))
    on_question(page, 0)
    kept = live.rows("SELECT parameters FROM rater WHERE identity = 'W1'")[0]["parameters"]
    assert json.loads(kept) == {"workerId": "W1", "assignmentId": "A1"}


def test_prolific_is_sent_back_with_its_own_id(live, page):
    page.route("http://localhost/back**", lambda route: route.fulfill(body="back"))
    page.goto(live.link("prolific", "?PROLIFIC_PID=p%26q&STUDY_ID=s&SESSION_ID=t"))
    on_question(page, 0)
    page.keyboard.press("1")
    page.wait_for_url("http://localhost/back**")
    assert urlsplit(page.url).query == "id=p%26q&as=r0001"


def test_time_runs_from_when_the_items_are_there(live, page):
    kept = []
    page.route(re.compile("/items/"), lambda route: kept.append(route))
    page.goto(live.link("slow"))
    page.wait_for_selector("main[data-number='0'] .stage.loading", state="attached")
    page.wait_for_timeout(1000)
    page.keyboard.press("1")  # nothing is to be seen yet, so nothing can be said
    for route in kept:
        route.continue_()
    page.unroute_all()
    on_question(page, 0)
    page.keyboard.press("1")
    assert arrived(live, "slow", 1)[0]["milliseconds"] < 1000


def test_texts_show_no_html(live, page):
    page.goto(live.link("words"))
    on_question(page, 0)
    assert page.locator("main i").count() == 0
    page.keyboard.press("1")
    finished(page)


def play_all(page, kind):
    """Play each sound or film by keyboard, one after the other; nothing can be answered before."""
    choose = page.locator(".choose")
    for player in page.locator(kind).all():
        page.get_by_text("Please play every sound or film").wait_for()
        assert choose.evaluate_all("all => all.every(one => one.disabled)")
        page.keyboard.press("1")  # of no effect yet
        player.focus()
        page.keyboard.press("Space")
        player.evaluate("one => one.ended || new Promise(done => one.addEventListener('ended', () => done()))")
    page.get_by_text("Now you can answer").wait_for()
    page.wait_for_selector(".choose:enabled")


def test_sounds_are_heard_before_one_is_chosen(live, page, shot):
    page.goto(live.link("tones"))
    on_question(page, 0)
    assert page.locator("audio").evaluate_all("all => all.every(sound => sound.readyState >= 2)")
    shot(page, "sounds")
    play_all(page, "audio")
    shot(page, "sounds-played")
    page.get_by_role("button", name="tone").nth(1).click()
    finished(page)
    assert live.answers("tones")[0]["response"] == [1]


def test_films_are_seen_before_one_is_chosen(live, page):
    page.goto(live.address)
    film = bytes(page.evaluate(RECORD))
    for k in range(3):
        (live.root / "films" / "items" / f"film{k}.webm").write_bytes(film)
    page.goto(live.link("films"))
    on_question(page, 0)
    assert page.locator("video").evaluate_all("all => all.every(film => film.videoWidth === 64)")
    play_all(page, "video")
    page.keyboard.press("3")
    finished(page)
    assert live.answers("films")[0]["response"] == [2]


def test_a_long_scale_is_a_slider(live, page):
    page.goto(live.link("slider"))
    on_question(page, 0)
    page.locator("button:disabled", has_text="Confirm").wait_for()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    finished(page)
    assert live.answers("slider")[0]["response"] == [54]


def test_on_a_phone_everything_fits(live, browser, shot):
    wrong = []
    context = browser.new_context(**PHONE)
    watch(context, wrong)
    page = context.new_page()
    for study in (*(form.replace("_", "-") for form in FORMS), "words", "tones", "colours"):
        page.goto(live.link(study))
        on_question(page, 0)
        until_it_fits(page)
        assert page.evaluate("document.documentElement.scrollHeight") <= 844
        shot(page, f"phone-{study}")
    for _ in range(2):
        number = int(page.locator("main").get_attribute("data-number"))
        page.locator(".choose").nth(0).tap()
        on_question(page, number + 1)
    assert len(arrived(live, "colours", 2)) == 2
    context.close()
    assert wrong == []


def test_in_the_dark(live, browser, shot):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.goto(live.link("colours"))
    on_question(page, 0)
    red, green, blue = grey(page, ".stage")
    assert red == green == blue  # colours are judged before a grey without a hue
    assert max(grey(page, "body")) < 60
    shot(page, "dark")
    context.close()


def grey(page, selector):
    found = page.locator(selector).evaluate("one => getComputedStyle(one).backgroundColor")
    return [int(part) for part in re.findall(r"\d+", found)[:3]]


def test_screen_readers_are_told_what_is_what(live, page):
    page.goto(live.link("colours"))
    on_question(page, 0)
    assert page.locator("html").get_attribute("lang") == "en"
    bar = page.get_by_role("progressbar")
    assert (bar.get_attribute("aria-valuenow"), bar.get_attribute("aria-valuemax")) == ("0", "60")
    assert page.get_by_role("group", name="The one to compare with").get_by_role("img", name="Colour #").count() == 1
    answers = page.get_by_role("group", name="Answers")
    assert answers.get_by_role("button", name="Colour #").count() == 2
    assert answers.get_by_role("img").count() == 0  # said once, by the button
    assert page.locator("#spoken").inner_text() == "Question 1 of 60"
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_the_front_page_tells_no_stranger_which_studies_there_are(live, page):
    page.goto(live.address)
    page.get_by_text("please use the one that you were sent").wait_for()
    assert page.get_by_role("link").count() == 0
