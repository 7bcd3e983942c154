"""Every page in Chromium and in Firefox, light and dark: axe finds nothing, and a rater gets through every form."""

import contextlib
import functools
import threading
import time

import pytest
import uvicorn

from similitude.study.web.app import create_app
from similitude.study.web.login import first_link
from tests.study.axe import violations
from tests.study.conftest import arrived, press, serving
from tests.study.firefox import firefox
from tests.study.live import fill, open_study, worker_of
from tests.study.live import write_study as write_colours
from tests.study.making import FORMS, SHORT, faces, one_of_each_form, picture, tones, words, write_study

pytestmark = pytest.mark.slow
PRACTICE = '[practice]\nquestions = [{shown = ["face00", "face01", "face06"], correct = [1]}]\n'
SURVEY = (
    '[survey]\nfields = [{name = "age", label = "How old are you?", kind = "number", required = true}, '
    '{name = "eyes", label = "Eyes", kind = "choice", choices = ["good", "bad"]}, '
    '{name = "more", label = "Anything else?", kind = "long_text"}]\n'
)
PAID = '[completion]\ncode = "C1A2B3"\nseconds_per_question = 0\n'
OTHER_PAIRS = [pytest.param(pair, marks=pytest.mark.whole) for pair in (("chromium", "dark"), ("firefox", "light"))]
BROWSERS = [("chromium", "light"), ("firefox", "dark"), *OTHER_PAIRS]
# where one browser is enough for a sample, and the page of a rater has been seen in the other
ONE_BROWSER = [("chromium", "light"), pytest.param(("firefox", "dark"), marks=pytest.mark.whole), *OTHER_PAIRS]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    folder = tmp_path_factory.mktemp("access")
    one_of_each_form(folder, 1)
    whole = f'title = "Faces"\nbreak_every = 1\n[question]\nnumber = 2\n{PRACTICE}{SURVEY}{PAID}'
    plain = {"instructions.md": "Go by your first impression. ![Example](pages/a.png)", "pages/a.png": picture()}
    write_study(folder, "whole", whole, {**faces(), **plain})
    write_study(folder, "named", f'title = "Faces"\n{SHORT}[raters]\nmust_be_named = true\n')
    write_study(folder, "paused", f'title = "Faces"\n{SHORT}')
    write_study(folder, "words", f'title = "Words"\nlanguage = "ar"\n{SHORT}', words())
    write_study(folder, "tones", f'title = "Tones"\n{SHORT}[question]\nform = "odd_one_out"\nnumber = 1\n', tones())
    slider = '[question]\nform = "similarity_rating"\nscale = 40\n'
    write_study(folder, "slider", f'title = "Faces"\n{SHORT}{slider}')
    broken = f'title = "Faces"\n{SHORT}[question]\nskip = false\nnumber = 1\n'
    write_study(folder, "broken", broken, faces(3))
    with serving(folder) as server:
        server.rows("UPDATE study SET paused = 1 WHERE name = 'paused'")
        (folder / "broken" / "items" / "face01.svg").unlink()
        yield server


@pytest.fixture(scope="module")
def foxes():
    """A page of Firefox by its scheme, started when one is asked for."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda scheme: stack.enter_context(firefox(scheme)))


@pytest.fixture(params=BROWSERS, ids="-".join)
def page(request):
    """A page of either browser, in light or dark mode, that remembers nobody."""
    name, scheme = request.param
    if name == "firefox":
        page = request.getfixturevalue("foxes")(scheme)
        page.new_rater()
        yield page
        return
    browser = request.getfixturevalue("browser")
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def on_question(page, number):
    page.wait_for_selector(f"main[data-number='{number}'] .stage:not(.loading)")
    page.wait_for_selector(".others .other:enabled")


def rater_pages(page, live):
    """Everything that a rater may see, one page after the other: its name, when it is there."""
    page.goto(live.address)
    yield "front"
    page.goto(live.link("whole"))
    page.wait_for_selector(".buttons .other")
    yield "consent"
    page.click(".buttons .main")
    page.wait_for_selector("img[alt='Example']")
    yield "instructions without a heading"
    page.click(".buttons .main")
    on_question(page, 0)
    yield "practice"
    page.click(".choose")
    page.wait_for_selector(".verdict")
    yield "feedback"
    page.click(".others .main")
    page.wait_for_selector(".page .main")
    yield "practice is over"
    page.click(".page .main")
    on_question(page, 1)
    page.click(".enlarge")
    page.wait_for_selector("dialog[open]")
    yield "enlarged"
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_selector(".page .main")
    yield "break"
    page.click(".page .main")
    on_question(page, 2)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("form .field")
    yield "survey"
    page.fill("#field-age", "30")
    page.click("form button")
    page.wait_for_selector("#code")
    yield "done"
    page.goto(live.link("broken"))
    page.wait_for_selector(".others button:enabled + button")
    yield "an item that cannot be shown"
    for name in ("words", "tones", "slider"):
        page.goto(live.link(name))
        on_question(page, 0)
        yield name
    for name in ("named", "paused", "none"):
        page.goto(live.link(name))
        page.wait_for_selector(".page h1")
        yield name
    page.goto(live.link("whole", "?rater=somebody"))
    page.click(".buttons .other")
    page.wait_for_selector(".page h1")
    yield "declined"


def ends(page, live):
    """Every page on which the way of a rater ends early, or without a code; the server's word is put in its mouth."""
    said = {}
    page.route("**/join", lambda route: route.fulfill(**said))
    for code in ("full", "crowded", "erased", "withdrawn", "of a kind that nobody knows"):
        said.update(status=410, json={"code": code, "detail": ""})
        page.goto(live.link("triplet"))
        page.wait_for_selector(".page h1")
        yield code
    for why in ("time", "skips", "not_shown", "rehearsal"):
        way_out = {"code": None, "redirect": None, "withheld": why}
        standing = {"stage": "done", "rater": "r1", "answered": 1, "length": 1, "token": "t", **way_out}
        said.update(status=200, json=standing)
        page.goto(live.link("triplet", f"?rater={why}"))
        page.wait_for_selector(".withheld")
        yield f"no code: {why}"
    page.unroute_all()


def test_every_early_end_is_accessible_and_so_is_being_offline(live, browser, shot):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    for name in ends(page, live):
        assert violations(page) == [], name
    page.goto(live.link("paused"))
    page.get_by_text("the questions begin as soon as it goes on").wait_for()
    assert page.get_by_text("are kept").count() == 0, "nothing is promised to who has said nothing"
    shot(page, "paused-before")
    page.goto(live.link("slider"))
    on_question(page, 0)
    context.set_offline(True)
    page.keyboard.press("s")
    page.get_by_text("No connection").wait_for()
    shot(page, "offline-slider")
    assert violations(page) == [], "offline"
    context.close()


ANSWERS = {
    "choice": [".cards .card:nth-child(1) .choose", ".cards .card:nth-child(3) .choose", ".confirm button"],
    "ranking": [*(f".cards .card:nth-child({k}) .choose" for k in (4, 1, 3)), ".confirm button"],
    "best_worst": [*(f".cards .card:nth-child({k}) .choose" for k in (4, 1)), ".confirm button"],
    "attribute": [*(f".cards .card:nth-child({k}) .choose" for k in (4, 1, 2, 3)), ".confirm button"],
    "grouping": [*(f".pile:nth-child({k}) .put" for k in (2, 1, 2, 3)), ".confirm .main"],
    "placement": [*(f".table@{place}" for place in ("0.5,0.2", "0.3,0.5", "0.75,0.75")), ".confirm .main"],
    "similarity_rating": [".step:nth-child(2)"],
    "same_different": [".word:nth-child(2)"],
    "labelling": [".word:nth-child(2)", ".step:nth-child(4)"],
}
EXPECTED = {
    "triplet": [2], "odd_one_out": [1], "quadruplet": [1], "choice": [1, 3], "similarity_rating": [2],
    "same_different": [0], "labelling": [1, 0.75], "most_central": [1], "ranking": [4, 1, 3], "best_worst": [4, 1],
    "attribute": [3, 0, 1, 2], "grouping": [1, 0, 1, 2],
    "placement": pytest.approx([0, 0.74, -0.5, 0, 0.62, -0.62], abs=0.1),
}  # fmt: skip


def test_every_page_of_a_rater_is_accessible(live, page):
    for name in rater_pages(page, live):
        assert violations(page) == [], name


@pytest.mark.parametrize("page", ONE_BROWSER, ids="-".join, indirect=True)
def test_every_form_can_be_answered_and_is_accessible(live, page):
    for form in FORMS:
        study = form.replace("_", "-")
        before = len(live.answers(study))
        page.goto(live.link(study))
        on_question(page, 0)
        assert violations(page) == [], form
        *steps, last = ANSWERS.get(form, [".cards .card:nth-child(2) .choose"])
        for step in steps:
            press(page, step)
        assert not steps or violations(page) == [], f"{form}, half answered"
        press(page, last)
        row = arrived(live, study, before + 1)[-1]
        assert (row["response"], row["direction"]) == (EXPECTED[form], "ltr")


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """The admin's side of a study that has learned something, and of one that has not."""
    root = tmp_path_factory.mktemp("admin")
    for name in ("colours", "empty"):
        write_colours(root / name)
    site, service = open_study(root)
    worker = worker_of(service)
    for seed in range(3):
        fill(service, 3, 40, seed=seed)
        worker.step()
    config = uvicorn.Config(create_app(site), port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    with contextlib.closing(site):
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", site
        server.should_exit = True
        thread.join()


def admin_pages(page, address, site):
    """Every page of the admin."""
    if (link := first_link(site)) is not None:
        page.goto(address + link)
        yield "first"
        page.fill("[name=name]", "ada")
        page.fill("[name=password]", "a long password")
        page.fill("[name=again]", "a long password")
        page.keyboard.press("Enter")
        page.wait_for_selector("form[action$=login]")
    page.goto(address + "/admin/-/login")
    page.wait_for_selector("[name=password]")
    yield "login"
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector(".problem")
    yield "login refused"
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".cards")
    yield "overview"
    page.click("a.card[href$=colours]")
    page.wait_for_selector("#map .scatterlayer")
    page.wait_for_selector("#raters tbody tr")
    yield "study"
    page.set_viewport_size({"width": 390, "height": 844})
    yield "study on a phone"
    page.goto(address + "/admin/colours/tokens")
    page.fill("[name=name]", "a lab")
    page.click("[name=ask]")
    page.click(".fields button")
    page.wait_for_selector("code.token")
    yield "tokens on a phone"
    here = [f"/admin/colours/{one}" for one in ("versions", "versions/1", "raters", "rater?code=r0001", "recruiting")]
    for path in ("/admin/-/log", "/admin/-/password", "/api", *here):
        page.goto(address + path)
        yield path
    page.goto(address + "/admin/empty")
    page.wait_for_selector("#raters tbody tr")
    yield "empty"
    page.goto(address + "/admin/none")
    page.wait_for_selector(".door")
    yield "not found"


@pytest.mark.parametrize("page", ONE_BROWSER, ids="-".join, indirect=True)
def test_every_page_of_the_admin_is_accessible(watched, page):
    for name in admin_pages(page, *watched):
        assert violations(page) == [], name
