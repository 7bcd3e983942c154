"""An admin's own password, and the list of who did what."""

import pytest
import sqlalchemy as sa

from similitude.study.audit import deeds
from similitude.study.store import schema
from similitude.study.tokens import ApiTokens
from tests.study.live import fill, open_study, write_study
from tests.study.test_api import Lab
from tests.study.test_login import PASSWORD, Browser, app_of
from tests.study.test_token_pages import run

PAGE = "/admin/-/password"
NEW = "another long password"


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    service.site = site
    yield service
    site.close()


@pytest.fixture
def app(service):
    return app_of(service.site)


@pytest.fixture
def browser(app):
    browser = Browser(app)
    browser.log_in()
    return browser


def change(browser, old=PASSWORD, password=NEW, again=NEW):
    return browser.send(PAGE, PAGE, old=old, password=password, again=again)


def test_a_password_is_changed_by_who_knows_it_and_other_sessions_end(app, browser):
    elsewhere = Browser(app)
    elsewhere.log_in()
    assert change(browser).status_code == 303
    assert browser.get("/admin").status_code == 200, "this session goes on"
    assert elsewhere.get("/admin").status_code == 303, "the others do not"
    assert Browser(app).log_in().status_code == 401
    assert Browser(app).log_in(password=NEW).status_code == 303


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"old": "a wrong password"}, 403, "not your password until now"),
        ({"again": "something else"}, 422, "not the same"),
        ({"password": "short", "again": "short"}, 422, "needs 10 to 200 characters"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(app, browser, given, status, said):
    reply = change(browser, **given)
    assert (reply.status_code, said in reply.text) == (status, True)
    assert Browser(app).log_in().status_code == 303


def test_guesses_of_the_old_password_are_counted(app, browser):
    codes = [change(browser, old=f"guess number {k}").status_code for k in range(7)]
    assert codes == [403] * 5 + [429] * 2
    assert change(browser).status_code == 429, "the right one waits, too"


def test_a_forged_form_changes_nothing(app, browser):
    body = {"old": PASSWORD, "password": NEW, "again": NEW, "csrf": "forged"}
    assert browser.post(PAGE, body).status_code == 403
    assert Browser(app).post(PAGE, body).status_code == 303, "to the login"
    assert Browser(app).log_in().status_code == 303


def test_who_did_what_is_written_with_the_deed(service, app, browser):
    fill(service, 1, 2)
    browser.send("/admin/colours", "/admin/colours/pause")
    browser.send("/admin/colours/tokens", "/admin/colours/tokens", name="<b>Room", admin="yes")
    token = ApiTokens(service.database).make(service.study_id, "a lab", ["admin"], "bob")
    lab = Lab(app, token)
    lab.post("/resume")
    lab.get("/export?format=jsonl")
    change(browser)
    ApiTokens(service.database).revoke(service.study_id, token.split("_")[1], "bob")
    found = [(one.who.partition(" ")[0], one.what, one.study) for one in reversed(deeds(service.database))]
    assert found == [
        ("ada", "set a password by a one-time link", None),
        ("ada", "logged in", None),
        ("ada", "paused", "colours"),
        ("ada", "made a token of", "colours"),
        ("bob", "made a token of", "colours"),
        ("token", "resumed", "colours"),
        ("token", "downloaded the answers of", "colours"),
        ("ada", "changed the password", None),
        ("bob", "revoked a token of", "colours"),
    ]
    page = browser.get("/admin/-/log").text
    assert "&lt;b&gt;Room: admin" in page
    assert token not in page
    printed = run("log", service.study.folder)
    assert printed.splitlines()[2].endswith("UTC  ada: paused colours")
    assert len(printed.splitlines()) == len(found)
    assert Browser(app).get("/admin/-/log").status_code == 303, "for admins alone"


def test_no_deed_without_its_line_and_no_line_without_its_deed(service, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("the list cannot be written")

    monkeypatch.setattr("similitude.study.states.note", fails)
    with pytest.raises(RuntimeError):
        service.set_paused(True, "ada")
    with service.database.read() as connection:
        assert connection.scalar(sa.select(schema.study.c.paused)) in (False, 0)
