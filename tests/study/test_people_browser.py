"""The pages of raters in a real browser: by keyboard, on a phone, in light and dark, looked at by axe."""

import contextlib
import threading
import time

import pytest
import uvicorn
from playwright.sync_api import expect

from similitude.study.invite import invite
from similitude.study.people.standing import People
from similitude.study.recruiting import prolific
from similitude.study.recruiting.accounts import Accounts
from similitude.study.web.app import create_app
from similitude.study.web.auth import Door
from tests.patience import PATIENCE, until_it_fits
from tests.study.axe import violations
from tests.study.conftest import on_question
from tests.study.live import fill, open_study, worker_of, write_study
from tests.study.recruiters import STUDY, TOKEN, FakeProlific, listening
from tests.study.test_login import PASSWORD

pytestmark = pytest.mark.slow
expect.set_options(timeout=PATIENCE * 1000)
CATCH = """[catch]
every = 4
[[catch.questions]]
shown = ["c00", "c01", "c02"]
correct = [2]
[completion]
code = "C1A2B3"
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A study that has judged its raters, served beside a recruiting service."""
    site, service = open_study(write_study(tmp_path / "colours", catch=CATCH))
    fill(service, 4, 50)
    fill(service, 1, 50, seed=7, contrary=True)
    worker_of(service).step()
    invite(service, ["Ann", "Bob"])
    door = Door(site.database)
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    fake = FakeProlific()
    for who in ("5f1e0a", "60bf93"):
        fake.add(who)
    Accounts(service.database, service.study_id).keep("prolific", {"token": TOKEN, "study": STUDY}, "ada")
    with listening(fake) as address, served(site) as url:
        monkeypatch.setattr(prolific, "BASE", f"{address}/api/v1")
        yield url, service, fake


@contextlib.contextmanager
def served(site):
    """A site at a port of its own; closed at the end."""
    config = uvicorn.Config(create_app(site), port=0, log_level="error", ws="none", lifespan="off")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
    site.close()


def log_in(page, url, path):
    """Log in, and go where one wanted to."""
    page.goto(url + path)
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(url + "/admin")
    page.goto(url + path)


def looked_at(page, shot, name):
    """Everything fits a phone, axe finds nothing in light and dark; a picture of each."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], f"{name} in {scheme}"
        shot(page, name if scheme == "light" else f"{name}-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    until_it_fits(page)
    assert violations(page) == [], f"{name} on a phone"
    shot(page, f"{name}-phone")
    page.set_viewport_size({"width": 1280, "height": 800})


def tab_to(page, name, key="Tab"):
    """Press a key until something of this name has the focus."""
    named = "(one) => one.getAttribute('aria-label') || one.innerText || one.value || ''"
    for _ in range(80):
        page.keyboard.press(key)
        if page.locator(":focus").evaluate(named).strip() == name:
            return
    raise AssertionError(f"{key} does not lead to {name}")


def test_raters_are_left_out_and_taken_back_by_keyboard(people, context, shot):
    url, service, _ = people
    page = context.new_page()
    log_in(page, url, "/admin/colours")
    page.get_by_role("link", name="Raters").click()
    expect(page.locator("tr.flagged")).not_to_have_count(0)
    looked_at(page, shot, "raters")

    page.get_by_label("Why").focus()
    page.keyboard.type("says the contrary")
    tab_to(page, "Tick r0005")
    page.keyboard.press("Space")
    expect(page.locator("#ticked")).to_have_text("1 ticked")
    tab_to(page, "Do it", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("1 done")
    expect(page.locator("tr.gone")).to_contain_text("says the contrary")
    assert [one.words for one in People(service.database, service.study_id).remarks("r0005")] == ["left out"]
    looked_at(page, shot, "raters-left-out")

    page.get_by_label("Tick all on this page").check()
    expect(page.locator("#ticked")).to_have_text("5 ticked")
    page.get_by_role("link", name="r0005").click()
    expect(page.get_by_text("The figures below are those of when that was decided")).to_be_visible()
    assert page.locator(".thumb.chosen").count() > 0
    looked_at(page, shot, "rater")
    page.get_by_label("Reason or note").focus()
    page.keyboard.type("wrote to us")
    tab_to(page, "Note")
    page.keyboard.press("Enter")
    expect(page.get_by_text("wrote to us")).to_be_visible()
    page.get_by_label("Reason or note").focus()
    tab_to(page, "Take back in")
    page.keyboard.press("Enter")
    expect(page.get_by_text("taken back in")).to_be_visible()


def test_submissions_are_approved_in_the_browser(people, context, shot):
    url, _, fake = people
    page = context.new_page()
    log_in(page, url, "/admin/colours/recruiting")
    page.get_by_role("link", name="Look at the submissions").click()
    expect(page.get_by_text("nobody came here with this id").first).to_be_visible()
    looked_at(page, shot, "recruiting")
    page.get_by_role("button", name="Tick those without a doubt").click()
    expect(page.locator("#ticked")).to_have_text("")
    page.get_by_label("Tick 60bf93").check()
    page.get_by_label("What the person reads").fill("You came by no link of ours.")
    page.get_by_label("With those ticked").select_option("ask_back")
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("status").first).to_have_text("1 done")
    assert [one["return_requested"] is not None for one in fake.submissions.values()] == [False, True]


def test_who_is_asked_anew_sees_the_first_question_again(tmp_path, context):
    folder = write_study(tmp_path / "colours", number=2)
    site, service = open_study(folder)
    with served(site) as url:
        page = context.new_page()
        page.goto(url + "/s/colours/?rater=Ann")
        page.get_by_role("button", name="I agree").click()
        page.get_by_role("button", name="Start").click()
        for number in (0, 1):
            on_question(page, number)
            page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("Thank you").first).to_be_visible()
        People(service.database, service.study_id).redo(["r0001"], "ada", "the page froze")
        page.reload()
        for number, words in ((2, "1 of 2"), (3, "2 of 2")):
            on_question(page, number)
            expect(page.locator("#place")).to_contain_text(words)
            page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("Thank you").first).to_be_visible()
