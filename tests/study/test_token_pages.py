"""Tokens made, shown once and revoked: on the admin's page, and at the command line."""

import re

import pytest
from typer.testing import CliRunner

from similitude.cli import app as whole
from similitude.study.refusal import Refused
from similitude.study.tokens import ApiTokens
from tests.study.live import open_study, write_study
from tests.study.test_login import Browser, admin_of

PAGE = "/admin/colours/tokens"


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    service.site = site
    yield service
    site.close()


@pytest.fixture
def browser(service):
    return admin_of(service.site)


def test_a_token_is_made_shown_once_and_revoked(service, browser):
    made = browser.send(PAGE, PAGE, name="Room <3>", ask="yes", read="yes", days="30")
    token = re.search(r"sim_[0-9a-f]{12}_[\w-]{43}", made.text).group()
    found = ApiTokens(service.database).find(service.study_id, token)
    assert (found.name, found.scopes, found.by) == ("Room <3>", ("ask", "read"), "ada")
    assert found.expires - found.created == pytest.approx(30 * 86_400)
    again = browser.get(PAGE).text
    assert token not in again
    assert "Room &lt;3&gt;" in again
    assert browser.send(PAGE, f"{PAGE}/revoke", id=found.id).status_code == 303
    assert ApiTokens(service.database).find(service.study_id, token) is None
    assert "revoked" in browser.get(PAGE).text


def test_what_is_missing_is_said(service, browser):
    assert "scopes: expected some of ask, read, admin" in browser.send(PAGE, PAGE, name="a lab").text
    assert "name: say what the token is for" in browser.send(PAGE, PAGE, name=" ", ask="yes").text
    assert "days: expected a number" in browser.send(PAGE, PAGE, name="a lab", ask="yes", days="soon").text
    assert "days: expected more than 0" in browser.send(PAGE, PAGE, name="a lab", ask="yes", days="nan").text
    assert ApiTokens(service.database).of_study(service.study_id) == []


def test_nobody_else_makes_or_revokes_tokens(service, browser):
    stranger = Browser(browser.client._transport.app)
    assert stranger.get(PAGE).headers["location"].endswith("/login")
    assert stranger.post(PAGE, {"name": "x", "ask": "yes"}).status_code == 303
    assert browser.post(PAGE, {"name": "x", "ask": "yes", "csrf": "forged"}).status_code == 403
    assert ApiTokens(service.database).of_study(service.study_id) == []


def run(*arguments):
    done = CliRunner().invoke(whole, ["study", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output.strip()


def test_the_same_at_the_command_line(service):
    folder = service.study.folder
    token = run("token", folder, "PsychoPy in room 3", "--scope", "ask", "--days", 90)
    found = ApiTokens(service.database).find(service.study_id, token)
    assert found.scopes == ("ask",)
    listed = run("tokens", folder)
    assert f"{found.id}  works  ask  PsychoPy in room 3" in listed
    assert token not in listed
    assert run("revoke", folder, found.id) == f"{found.id}: revoked"
    assert f"{found.id}  revoked" in run("tokens", folder)
    with pytest.raises(Refused, match="expected some of ask, read, admin, found \\['write'\\]"):
        run("token", folder, "x", "--scope", "write")
