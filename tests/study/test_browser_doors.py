"""What people see who come by invitation, skip everything, rehearse, or were erased: in a real browser."""

from __future__ import annotations

import contextlib

import pytest

from similitude.study.invite import invite, withdraw
from similitude.study.maintenance.erase import erase_rater
from similitude.study.site import open_site
from similitude.study.web.auth import Door
from tests.study.axe import violations
from tests.study.conftest import serving
from tests.study.making import SHORT, write_study
from tests.study.test_browser_rater import finished, on_question

PAID = "[question]\nnumber = 4\n[completion]\ncode = 'C1A2B3'\nseconds_per_question = 0\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    write_study(root, "paid", f'title = "Faces"\n{PAID}')
    write_study(root, "invited", f'title = "Faces"\n{SHORT}[question]\nnumber = 2\n[raters]\ninvited = true\n')
    one = "[question]\nnumber = 1\n[completion]\ncode = 'C1'\nseconds_per_question = 0\n"
    write_study(root, "gone", f'title = "Faces"\n{SHORT}{one}')
    with serving(root) as server:
        yield server


@pytest.fixture
def page(context):
    return context.new_page()


@contextlib.contextmanager
def beside(live):
    """The studies, opened beside the server, as the commands do."""
    with contextlib.closing(open_site(live.root)) as site:
        yield site


def come_in(page):
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("heading", name="How it works").wait_for()
    page.get_by_role("button", name="Start").click()


def takes_no_answers(page, title):
    """Nothing on a last page leads back to the questions, and nothing is kept to be sent."""
    for key in ("1", "s", "ArrowLeft", "2"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)  # longer than a question waits before it takes an answer
    assert page.locator(".stage").count() == 0
    page.get_by_role("heading", name=title).wait_for()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('/answer/'))") == []


def test_who_skips_everything_was_told_and_gets_no_code(live, page, shot):
    page.goto(live.link("paid", "?rater=hasty"))
    page.get_by_role("button", name="I agree").click()
    page.get_by_text("answer at least 2 of the 4 questions").wait_for()
    shot(page, "terms")
    assert violations(page) == []
    page.get_by_role("button", name="Start").click()
    for number in range(4):
        on_question(page, number)
        page.keyboard.press("s")
    finished(page)
    page.get_by_text("There is no completion code: fewer questions were answered").wait_for()
    shot(page, "no-code")
    assert violations(page) == []
    assert page.locator("#code").count() == 0
    page.reload()
    page.get_by_text("There is no completion code").wait_for()


def test_a_rehearsal_says_so_at_its_end(live, page):
    page.goto(live.link("paid", "?rehearsal=yes"))
    come_in(page)
    for number in range(4):
        on_question(page, number)
        page.keyboard.press("1")
    finished(page)
    page.get_by_text("This was a rehearsal").wait_for()
    assert page.locator("#code").count() == 0


def test_only_the_link_that_was_sent_lets_in(live, page):
    page.goto(live.link("invited", "?rater=ann"))
    page.get_by_role("heading", name="This study is by invitation").wait_for()
    with beside(live) as site:
        link = invite(site.studies["invited"], ["ann"])["ann"]
    page.goto(f"{live.address}{link}")
    on_question(page, 0)


def test_who_is_withdrawn_while_answering_is_told_so(live, page, shot):
    with beside(live) as site:
        link = invite(site.studies["invited"], ["zoe"])["zoe"]
    page.goto(f"{live.address}{link}")
    on_question(page, 0)
    with beside(live) as site:
        withdraw(site.studies["invited"], "zoe")
    page.keyboard.press("1")
    page.get_by_role("heading", name="Your invitation was withdrawn").wait_for()
    shot(page, "withdrawn")
    assert violations(page) == []
    takes_no_answers(page, "Your invitation was withdrawn")


def test_who_could_not_see_the_items_is_not_at_fault(live, page, shot):
    items = live.root / "gone" / "items"
    items.rename(live.root / "moved")
    page.goto(live.link("gone"))
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I cannot see it").click()
    finished(page)
    page.get_by_text("That is not your fault: please write to the people who invited you").wait_for()
    shot(page, "not-shown")
    (live.root / "moved").rename(items)


def test_a_link_that_replaces_a_password_says_so_and_the_admin_sees_it(live, page, shot):
    with beside(live) as site:
        door = Door(site.database)
        door.use_link(door.make_link().rsplit("/", 1)[1], "ada", "an old password")
        door.log_in("ada", "an old password")
        link = door.make_link()
    page.goto(f"{live.address}{link}")
    page.get_by_text("A name that is in use gets this password").wait_for()
    assert violations(page) == []
    for tick in (False, True):
        page.get_by_role("textbox", name="Name").fill("ada")
        for field in page.locator("[type=password]").all():
            field.fill("a new password")
        page.get_by_label("Replace the password").set_checked(tick)
        page.get_by_role("button", name="Set the password").click()
        if not tick:
            page.get_by_text("ada has a password already").wait_for()
            shot(page, "link-replaces")
            assert violations(page) == []
    page.get_by_role("heading", name="Log in").wait_for()
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("a new password")
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("Since you last logged in: The password of ada was replaced").wait_for()
    page.get_by_text("Passwords that were set by a one-time link").click()
    shot(page, "password-replaced")
    assert violations(page) == []


def test_an_erased_person_is_told_so_on_the_page_and_in_another_browser(live, page, browser, shot):
    page.goto(live.link("paid", "?rater=gone"))
    come_in(page)
    on_question(page, 0)
    page.keyboard.press("1")
    on_question(page, 1)
    with beside(live) as site:
        erase_rater(site.database, "paid", "gone")
    page.keyboard.press("1")
    page.get_by_role("heading", name="Your answers were removed").wait_for()
    shot(page, "erased")
    assert violations(page) == []
    takes_no_answers(page, "Your answers were removed")
    page.reload()
    page.get_by_role("heading", name="Your answers were removed").wait_for()
    elsewhere = browser.new_page()
    elsewhere.goto(live.link("paid", "?rater=gone"))
    elsewhere.get_by_role("button", name="I agree").click()
    elsewhere.get_by_role("heading", name="Your answers were removed").wait_for()
    for words in ("are kept", "went wrong"):
        assert elsewhere.get_by_text(words).count() == 0
    elsewhere.close()
