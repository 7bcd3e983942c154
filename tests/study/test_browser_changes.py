"""A study that changes under the eyes of a rater, and the pages where admins change it, in a real browser."""

import contextlib
import threading

import pytest
import uvicorn

from similitude.study import revisions
from similitude.study.following import following
from similitude.study.site import open_site
from similitude.study.states import CLOSED, DRAFT, PAUSED
from similitude.study.web.auth import Door
from tests.patience import until, until_it_fits
from tests.study.axe import violations
from tests.study.conftest import on_question
from tests.study.servers import write_study
from tests.study.test_login import PASSWORD, app_of

NO_PAGES = "[question]\nnumber = 8\n[pages]\nconsent = ''\ninstructions = ''\n"


@pytest.fixture
def site(tmp_path):
    for name in ("words", "new"):
        write_study(tmp_path / name, NO_PAGES)
    with contextlib.closing(open_site(tmp_path)) as site, following(site, every=0.1):
        yield site


@pytest.fixture
def address(site):
    """Where the site is served, with an admin."""
    app = app_of(site)
    settings = uvicorn.Config(app, port=0, log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, "the server did not start")
    yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(context):
    return context.new_page()


def answers(site):
    with site.database.read() as connection:
        return connection.exec_driver_sql("SELECT number, version FROM answer ORDER BY id").all()


def test_a_rater_is_asked_in_the_words_of_now_and_loses_nothing(site, address, page):
    page.goto(f"{address}/s/words/")
    on_question(page, 0)
    path = site.kept["words"].folder / "study.toml"
    first = site.studies["words"].version
    text = path.read_text(encoding="utf-8").replace("number = 8", 'number = 8\ntext = "Which is closer?"')
    path.write_text(text, encoding="utf-8")
    until(lambda: site.studies["words"].version != first, "an edit by hand was not noticed")
    assert page.get_by_text("Which is closer?").count() == 0, "who looks at a question looks at it in peace"
    page.keyboard.press("1")
    on_question(page, 1)  # it was on its way to the screen before anybody could tell
    on_its_way = "() => Object.keys(localStorage).some(key => key.includes('answer/'))"
    until(lambda: not page.evaluate(on_its_way), "the page was not told that its answer is stored")
    assert len(answers(site)) == 1
    page.keyboard.press("2")
    page.get_by_text("Which is closer?").first.wait_for()
    on_question(page, 2)
    page.keyboard.press("2")
    on_question(page, 3)
    until(lambda: len(answers(site)) == 3, lambda: f"{answers(site)}")
    assert [number for number, _ in answers(site)] == [0, 1, 2]
    revisions.set_state(site, "new", DRAFT, "ada")
    page.goto(f"{address}/s/new/")
    page.get_by_role("heading", name="This study is not open yet").wait_for()


def test_who_waits_before_a_paused_study_is_told_when_it_is_closed(site, address, page):
    revisions.set_state(site, "words", PAUSED, "ada")
    page.goto(f"{address}/s/words/")
    page.get_by_role("heading", name="This study is paused").wait_for()
    revisions.set_state(site, "words", CLOSED, "ada")
    page.get_by_text("It has all the people it needs").wait_for()
    page.reload()
    page.get_by_text("It has all the people it needs").wait_for()
    with site.database.read() as connection:
        assert connection.exec_driver_sql("SELECT asked FROM rater").scalars().all() == [0]


def test_state_and_history_by_keyboard_on_a_phone(site, address, context, page, shot):
    token = Door(site.database).log_in("ada", PASSWORD)
    context.add_cookies([{"name": "similitude_admin", "value": token, "url": address}])
    page.set_viewport_size({"width": 390, "height": 844})
    text = (site.kept["words"].folder / "study.toml").read_text(encoding="utf-8")
    revisions.revise(site, "words", {"study.toml": text.replace("number = 8", "number = 9")}, "bob")
    page.goto(f"{address}/admin/words/versions")
    page.get_by_role("button", name="Close").focus()
    page.keyboard.press("Enter")
    page.locator(".heading .pill", has_text="closed").wait_for()
    page.get_by_role("button", name="Restore revision 1").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="3", exact=True).wait_for()
    assert site.studies["words"].study.question.number == 8
    until_it_fits(page)
    assert violations(page) == []
    shot(page, "versions-phone")
    page.get_by_role("link", name="2", exact=True).click()
    page.get_by_role("heading", name="revision 2").wait_for()
    until_it_fits(page)
    assert violations(page) == []
    shot(page, "revision-phone")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{address}/admin/words/versions")
    shot(page, "versions")
    page.goto(f"{address}/admin")
    shot(page, "overview")
    page.goto(f"{address}/admin/words")
    page.locator("#running", has_text="closed").wait_for()
    assert page.locator("#pause").is_hidden()
    shot(page, "study")
