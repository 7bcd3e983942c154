"""A study without a terminal, in real browsers: from an empty server to a map, two tabs at once, all pages for all.

The first test is the film strip of the documentation: `make pictures` stores what it sees.
"""

import contextlib
import math
import threading
import time
from dataclasses import asdict

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import expect

from similitude.study.editing.fields import Field, fields
from similitude.study.serve import settings
from similitude.study.service import Said
from similitude.study.site import open_site
from similitude.study.web import making
from similitude.study.web.login import first_link
from tests.patience import PATIENCE, until, until_it_fits
from tests.study.axe import violations
from tests.study.editing.test_fields import samples
from tests.study.firefox import firefox
from tests.study.live import join, worker_of
from tests.study.making import faces

expect.set_options(timeout=PATIENCE * 1000)
PASSWORD = "a long password"
PAGES = ("/-/new", "", "/faces/design", "/faces/design/items", "/faces/design/pages", "/faces/design/text")
_CHOOSE = """(files) => {
  const all = new DataTransfer(), input = document.getElementById("choose");
  for (const [name, text] of Object.entries(files)) all.items.add(new File([text], name));
  input.files = all.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}"""
_DROP = """(files) => {
  const all = new DataTransfer();
  for (const [name, text] of Object.entries(files)) all.items.add(new File([text], name));
  const dropped = new DragEvent("drop", { dataTransfer: all, bubbles: true, cancelable: true });
  document.getElementById("drop").dispatchEvent(dropped);
}"""
_TYPE = """([selector, text]) => {
  const one = document.querySelector(selector);
  one.value = text;
  for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true }));
}"""
_FRAMED = (
    "(selector) => Boolean(document.querySelector('iframe[name=desktop]').contentDocument?.querySelector(selector))"
)


@contextlib.contextmanager
def serving(root):
    """A server with its limits, in a thread."""
    site = open_site(root)
    server = uvicorn.Server(settings(site))
    server.config.port = 0
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield site, f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        site.close()


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path) as found:
        yield found


# --- steps, by what pages of both browsers can do ---


def log_in(page, url, site):
    page.goto(url + first_link(site))
    for name, text in (("name", "ada"), ("password", PASSWORD), ("again", PASSWORD)):
        page.fill(f"[name={name}]", text)
    page.click("button.main")
    page.wait_for_selector("[autocomplete=current-password]")
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", PASSWORD)
    page.click("button.main")
    page.wait_for_selector("a.new")


def make(page):
    page.click("a.new")
    page.fill("[name=title]", "Faces")
    page.fill("[name=name]", "faces")


def made(page):
    page.click("button.main")
    page.wait_for_selector("#parts .setting")


def add_items(page, url, files, how=_CHOOSE):
    page.goto(f"{url}/admin/faces/design/items")
    page.wait_for_selector("#choose + *, #drop h2")
    page.evaluate(how, files)
    page.wait_for_selector("#went:not(:empty)")


def type_in(page, selector, text):
    page.wait_for_selector(selector)
    page.evaluate(_TYPE, [selector, text])


def key(name):
    return f"[id='key-{name}']"


def save(page):
    page.click("#save:enabled")
    until(lambda: page.evaluate("document.getElementById('count').textContent") == "Saved", "nothing was saved")


def files(number=12):
    return {name.rpartition("/")[2]: text for name, text in faces(number).items()}


def framed(page, selector):
    """Wait until the preview shows something."""
    until(lambda: page.evaluate(_FRAMED, selector), lambda: f"the preview does not show {selector}")


# --- the film strip ---


def test_a_study_from_an_empty_server_to_its_report(served, context, shot, monkeypatch):
    monkeypatch.setattr(making, "_MINUTES", (0.02, 1))  # the least that a choice of models takes
    site, url = served
    page = context.new_page()
    log_in(page, url, site)
    expect(page.locator("main")).to_contain_text("There is no study here yet")
    shot(page, "strip-1-empty")
    make(page)
    shot(page, "strip-2-new")
    made(page)
    expect(page.locator("#to-do")).to_contain_text("Items: there are none yet")

    add_items(page, url, {**files(), "again.svg": files()["face03.svg"], "notes.docx": "no item"})
    expect(page.locator("#went")).to_have_text("12 added, 2 not taken")
    expect(page.locator("#refused")).to_contain_text("same bytes as the item 'face03'")
    shot(page, "strip-3-items")

    page.get_by_role("link", name="Settings").click()
    framed(page, ".stage:not(.loading)")
    type_in(page, key("question.number"), "6")
    page.locator(key("question.number")).scroll_into_view_if_needed()
    framed(page, "#place")
    expect(page.frame_locator("iframe[name=phone]").locator("#place")).to_have_text("Question 1 of 6")
    shot(page, "strip-4-question")

    make_known(page)
    shot(page, "strip-5-known")
    page.locator(f"{key('survey.fields')} + button").click()
    type_in(page, key("survey.fields-1-name"), "age")
    type_in(page, key("survey.fields-1-label"), "How old are you?")
    type_in(page, key("survey.fields-1-when"), "before")
    type_in(page, key("completion.code"), "THANKS")
    save(page)

    page.get_by_role("link", name="Texts").click()
    type_in(page, "#markdown", "# Taking part\n\nWe ask what you find alike, and keep your answers.")
    framed(page, "h1")
    save(page)
    expect(page.locator("#to-do")).to_be_hidden()
    shot(page, "strip-6-consent")

    page.get_by_role("link", name="State and history").click()
    page.get_by_role("button", name="Go live").click()
    expect(page.locator(".heading .pill")).to_have_text("live")
    shot(page, "strip-7-live")

    take_part(context.browser, url, shot)
    simulated_raters(site.studies["faces"], 14)
    worker_of(site.studies["faces"]).step()
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.goto(f"{url}/admin/faces")
    page.wait_for_selector("#map .scatterlayer .point")
    expect(page.locator("#raters")).to_contain_text("r0001")
    shot(page, "strip-9-map")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 1 + 6 * 15, "practice is left out"
    page.get_by_role("link", name="Report").click()
    page.get_by_label("Time it may take").select_option("0.02")
    page.locator("#work-report button").click()
    page.locator("#work-report").get_by_role("link", name="View").wait_for(timeout=1000 * PATIENCE)
    page.locator("#work-report").get_by_role("link", name="View").click()
    page.get_by_role("heading", name="Faces").first.wait_for()
    shot(page, "strip-10-report")


def make_known(page):
    """A practice question: three items are pressed, then it is answered as a rater would."""
    page.locator("[data-key='practice.questions']").get_by_role("button", name="Make a question").click()
    dialog = page.locator("dialog")
    for name in ("face00", "face01", "face06"):
        dialog.get_by_role("button", name=name).click()
    dialog.get_by_role("button", name="Answer it").click()
    page.frame_locator("iframe[name=known]").locator("button.choose:enabled").first.click()
    expect(page.locator("[data-key='practice.questions'] .known")).to_contain_text("expected: face01")


def take_part(browser, url, shot):
    """A person takes part in a browser of their own, to the code."""
    other = browser.new_context(viewport={"width": 1280, "height": 800})
    other.set_default_timeout(PATIENCE * 1000)
    page = other.new_page()
    page.goto(f"{url}/s/faces/")
    page.get_by_role("button", name="I agree").click()
    page.get_by_label("How old are you?").fill("33")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Start").click()
    page.locator("button.choose:enabled").first.click()
    page.get_by_role("button", name="Continue").click()  # what was expected
    page.get_by_role("button", name="Start").click()
    for number in range(1, 7):
        page.wait_for_selector(f"main[data-number='{number}'] button.choose:enabled")
        if number == 1:
            shot(page, "strip-8-rater")
        time.sleep(0.5)  # half a second is what the study asks for
        page.keyboard.press("1")
    expect(page.locator("#code")).to_have_text("THANKS")
    other.close()


def simulated_raters(service, number):
    """People who see the faces as they lie around the circle that they were drawn from."""
    place = {f"face{k:02d}": 2 * math.pi * k / 12 for k in range(12)}
    rng = np.random.default_rng(3)

    def far(one, other):
        return abs(math.sin((place[one] - place[other]) / 2)) + 0.1 * rng.normal()

    for _ in range(number):
        rater = join(service)
        for k in range(service.study.length):
            head, one, other = service.questions(rater).result()["questions"][0]["shown"]
            said = [1.0 if far(head, one) < far(head, other) else 2.0]
            service.answer(Said(rater, k, f"answer-{k:08d}", "answered", said, 900)).result()


@pytest.mark.slow
def test_the_main_path_in_firefox(served):
    site, url = served
    with firefox() as page:
        log_in(page, url, site)
        make(page)
        made(page)
        add_items(page, url, files(), _DROP)
        page.goto(f"{url}/admin/faces/design")
        framed(page, ".stage:not(.loading)")
        type_in(page, key("question.form"), "odd_one_out")
        framed(page, ".odd_one_out .card")
        type_in(page, key("question.number"), "6")
        save(page)
        assert site.studies["faces"].study.question.form == "odd_one_out"
        page.goto(f"{url}/admin/faces/versions")
        page.click("form[action$='/state'] input[value=live] ~ button")
        page.wait_for_selector(".pill.live")
        page.new_rater()
        page.goto(f"{url}/s/faces/")
        page.click("button.main")
        until(lambda: "How it works" in page.evaluate("document.body.innerText"), "no instructions after the consent")
        page.click("button.main")
        page.click("button.choose:enabled")
        page.wait_for_selector("main[data-number='1']")


# --- what may go wrong ---


@pytest.fixture
def designed(served, context):
    """A study of faces, and a page of who made it."""
    site, url = served
    page = context.new_page()
    log_in(page, url, site)
    make(page)
    made(page)
    add_items(page, url, files(), _DROP)
    return site, url, page


def test_two_tabs_change_one_study_and_nothing_is_lost(designed, context):
    site, url, one = designed
    other = context.new_page()
    for page in (one, other):
        page.goto(f"{url}/admin/faces/design")
        page.wait_for_selector("#parts .setting")
    type_in(one, key("question.number"), "7")
    save(one)
    type_in(other, key("title"), "Other faces")
    other.click("#save:enabled")
    expect(other.locator("#problem")).to_contain_text("You changed other keys. What you changed is still here")
    assert other.input_value(key("question.number")) == "7"
    assert other.input_value(key("title")) == "Other faces"
    save(other)
    assert (site.studies["faces"].study.question.number, site.studies["faces"].study.title) == (7, "Other faces")
    type_in(other, key("question.number"), "seven")
    other.click("#save:enabled")
    wrong = other.locator("[data-key='question.number'] .wrong")
    expect(wrong).to_contain_text("expected a whole number, found 'seven'")
    assert other.evaluate("document.activeElement.id") == "key-question.number", "the fault is where the cursor is"


def row_key(key_of_rows, number, *names):
    return key("-".join([key_of_rows, str(number), *names]))


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_wrong_in_a_row_is_said_beside_its_field_with_a_link_above(designed, shot, width):
    _, url, page = designed
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{url}/admin/faces/design")
    page.wait_for_selector("#parts .setting")
    for number in (1, 2):
        page.locator("[data-key=condition] > div > button").click()
        type_in(page, row_key("condition", number, "name"), ["with words", "plain"][number - 1])
    type_in(page, row_key("condition", 2, "quota"), "many")
    page.locator("[data-key=block] > div > button").click()
    type_in(page, row_key("block", 1, "name"), "first")
    type_in(page, row_key("block", 1, "question", "number"), "0")
    page.click("#save:enabled")
    expect(page.locator("[id='key-condition-1-name-wrong']")).to_have_text(
        "expected a small letter, then up to 40 small letters, digits, - and _, found 'with words'"
    )
    expect(page.locator("[id='key-condition-2-quota-wrong']")).to_have_text("expected a whole number, found 'many'")
    expect(page.locator("[id='key-block-1-question-number-wrong']")).to_have_text("expected at least 1, found 0")
    links = page.locator("#problem a")
    assert links.all_text_contents() == ["Block 1, question, number", "Condition 1, name", "Condition 2, quota"]
    assert page.evaluate("document.activeElement.id") == "key-block-1-question-number", "the focus is at the first"
    links.nth(2).focus()
    page.keyboard.press("Enter")
    focused = page.locator(row_key("condition", 2, "quota"))
    expect(focused).to_be_focused()
    expect(focused).to_be_in_viewport()
    assert focused.get_attribute("aria-invalid") == "true"
    until_it_fits(page)
    assert violations(page) == []
    shot(page, f"design-wrong-{width}")
    type_in(page, row_key("condition", 1, "name"), "words")
    type_in(page, row_key("condition", 2, "quota"), "10")
    type_in(page, row_key("block", 1, "question", "number"), "3")
    save(page)
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator(".wrong:visible")).to_have_count(0)


@pytest.mark.parametrize("written", ["en\nde", '["en", "de"]'])
def test_a_list_is_written_one_to_a_line_or_as_in_the_file(designed, written):
    site, url, page = designed
    page.goto(f"{url}/admin/faces/design")
    type_in(page, key("language"), written)
    page.click("#save:enabled")
    until(lambda: site.studies["faces"].study.languages == ("en", "de"), "two languages")


def test_fields_that_the_form_does_not_use_are_not_offered_and_come_back_with_it(designed, shot):
    _, url, page = designed
    page.goto(f"{url}/admin/faces/design")
    grid, scale, low = (page.locator(key(f"question.{name}")) for name in ("grid_size", "scale", "low"))
    line = page.locator("#part-question > .unused")
    expect(line).to_have_text(
        "Not used by triplet: grid size, pick, scale, low, high, classes (no part of such a question)."
    )
    for one in (grid, scale, low):
        expect(one).to_be_hidden()
    shot(page, "design-unused")
    page.locator(key("question.form")).select_option("similarity_rating")
    expect(scale).to_be_visible()
    expect(low).to_be_visible()
    expect(grid).to_be_hidden()
    expect(page.locator(key("choose.strategy"))).to_be_hidden()
    expect(page.locator("#part-choose > .unused")).to_contain_text("drawn at random")
    page.locator("[data-key=block] > div > button").click()
    type_in(page, row_key("block", 1, "name"), "first")
    page.locator(row_key("block", 1, "question", "form")).select_option("choice")
    expect(page.locator(row_key("block", 1, "question", "pick"))).to_be_visible()
    expect(page.locator(row_key("block", 1, "question", "scale"))).to_be_hidden()
    expect(grid).to_be_visible()
    expect(scale).to_be_hidden()
    shot(page, "design-block")


def test_every_block_is_looked_at_in_the_preview_before_it_is_saved(designed, shot):
    _, url, page = designed
    page.goto(f"{url}/admin/faces/design")
    framed(page, ".stage.triplet, .triplet")
    expect(page.locator("#block")).to_be_hidden()
    for number, name, form in ((1, "near", "triplet"), (2, "alike", "similarity_rating")):
        page.locator("[data-key=block] > div > button").click()
        type_in(page, row_key("block", number, "name"), name)
        page.locator(row_key("block", number, "question", "form")).select_option(form)
        type_in(page, row_key("block", number, "question", "number"), "5")
    page.locator("#block").select_option("alike")
    framed(page, ".similarity_rating")
    expect(page.frame_locator("iframe[name=phone]").locator("#place")).to_have_text("Question 6 of 10")
    shot(page, "design-preview-block")
    page.locator("#block").select_option("near")
    framed(page, ".triplet")
    save(page)
    page.locator("#stage").select_option("Before a block")
    page.locator("#block").select_option("alike")
    expect(page.frame_locator("iframe[name=desktop]").locator("h1")).to_have_text("Part 2 of 2")


_COMES_BACK = """async ([root, cases]) => {
  const { control } = await import(`${root}/static/admin/controls.js`);
  const unused = () => ({ why: new Map(), forms: "" });
  const context = { thumbnail: () => document.createElement("i"), unused };
  return cases.map(([field, value]) => {
    const one = control(field, "tried", context);
    one.set(value ?? undefined);
    return one.get();
  });
}"""


def test_every_value_of_every_key_comes_back_from_its_control(served, context):
    _, url = served
    page = context.new_page()
    page.goto(f"{url}/admin/-/login")
    shown = [field for field in fields().values() if field.kind != "words"]
    others = Field("other.one", "toml"), Field("other.two", "rows", fields=(Field("other.two.words", "words"),))
    values = [{"a b": [1, "x\n"], "c": {}}], [{"words": {"skip": "S", "next": "N"}}]
    cases = [(asdict(field), value) for field in shown for value in (*samples(field), None)]
    cases += [(asdict(field), value) for field, value in zip(others, values, strict=True)]
    found = page.evaluate(_COMES_BACK, [url, cases])
    assert {
        field["key"]: (value, back) for (field, value), back in zip(cases, found, strict=True) if value != back
    } == {}


def test_by_keyboard_alone_a_study_is_made_and_changed(served, context):
    site, url = served
    page = context.new_page()
    log_in(page, url, site)
    page.locator("a.new").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[name=title]:focus")
    page.keyboard.type("Words")
    page.keyboard.press("Tab")
    page.keyboard.type("words")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#parts .setting")
    assert page.input_value(key("question.form")) == "odd_one_out"
    page.locator(key("question.number")).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    framed(page, "h1")
    assert page.evaluate("document.activeElement.id") == "key-question.number", "the preview does not take the focus"
    page.locator("#undo").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("Saved")
    assert "number = 5" in (site.root / "words" / "study.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_for_everybody(designed, context, width, scheme, shot):
    _, url, page = designed
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    for path in PAGES:
        page.goto(f"{url}/admin{path}")
        if path in ("/faces/design", "/faces/design/pages"):
            framed(page, "h1")
        assert violations(page) == []
        until_it_fits(page)
        shot(page, f"design{path.replace('/', '-')}-{width}")
