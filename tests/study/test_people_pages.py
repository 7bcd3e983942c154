"""The admin's pages of raters and of recruiting services, and the same by the interface."""

import json
import re
import time

import numpy as np
import pytest
import sqlalchemy as sa

from similitude.study.audit import deeds
from similitude.study.invite import invite
from similitude.study.people.standing import People
from similitude.study.recruiting import prolific
from similitude.study.store import schema
from similitude.study.tokens import ApiTokens
from tests.study.live import answer, fill, join, open_study, write_study
from tests.study.recruiters import STUDY, TOKEN, FakeProlific, listening
from tests.study.test_api import Lab
from tests.study.test_login import Browser, admin_of, app_of

HOSTILE = '"><script>alert(1)</script>/../?&#'
CODE = '[completion]\ncode = "C1A2B3"\nseconds_per_question = 0\n'


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch=CODE, number=4))
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


def codes(page):
    return re.findall(r'name="rater" value="([^"]*)"', page)


def many(service, number):
    """Raters as a crowd of them would be, in a moment."""
    with service.database.write() as connection:
        rows = [
            {"study_id": service.study_id, "code": f"m{k:05d}", "uid": f"crowd-{k:08d}", "identity": f"P{k}",
             "parameters": json.dumps({"PROLIFIC_PID": f"P{k}"}), "joined": 1e9 + k, "began": 0.0, "asked": 4,
             "answered": k % 5, "catches": 0, "catches_passed": 0, "finished": 1e9 if k % 5 == 4 else None}
            for k in range(number)
        ]  # fmt: skip
        connection.execute(sa.insert(schema.rater), rows)


def test_the_list_is_filtered_sorted_and_paged(service, browser):
    many(service, 250)
    first = browser.get("/admin/colours/raters").text
    assert codes(first) == [f"m{k:05d}" for k in range(249, 149, -1)], "the latest first"
    assert "page 1 of 3" in first
    last = browser.get("/admin/colours/raters?page=3&sort=joined").text
    assert codes(last) == [f"m{k:05d}" for k in range(200, 250)]
    finished = browser.get("/admin/colours/raters?only=finished&search=p24&sort=code").text
    assert codes(finished) == ["m00024", "m00244", "m00249"]
    assert codes(browser.get("/admin/colours/raters?page=999999999999").text) == codes(first)
    wrong = browser.get("/admin/colours/raters?only=%3Cscript%3E")
    assert wrong.status_code == 422
    assert "<script>" not in wrong.text


def test_ticked_raters_are_left_out_and_taken_back(service, browser):
    fill(service, 3, 2)
    done = browser.send(
        "/admin/colours/raters", "/admin/colours/raters", rater=["r0001", "r0003"], action="leave_out", reason="asleep"
    )
    assert "2 done" in done.text
    assert codes(browser.get("/admin/colours/raters?only=left_out&sort=code").text) == ["r0001", "r0003"]
    empty = browser.send("/admin/colours/raters", "/admin/colours/raters", action="take_back")
    assert (empty.status_code, "Tick the raters first." in empty.text) == (422, True)
    why = browser.send("/admin/colours/raters", "/admin/colours/raters", rater="r0002", action="leave_out", reason="")
    assert (why.status_code, "Say why" in why.text) == (422, True)
    assert 'value="r0002" aria-label="Tick r0002" checked' in why.text, "what was ticked stays so"
    browser.send("/admin/colours/raters", "/admin/colours/raters", rater=["r0001", "r0003"], action="take_back")
    assert codes(browser.get("/admin/colours/raters?only=left_out").text) == []
    forged = browser.post("/admin/colours/raters", {"rater": "r0001", "action": "leave_out", "reason": "x"})
    assert forged.status_code == 403


def test_a_whole_list_is_decided_unless_it_became_another_one(service, browser):
    many(service, 150)
    page = "/admin/colours/raters?only=finished"
    done = browser.send(page, page, everybody="yes", expected="30", action="leave_out", reason="a trial run")
    assert "30 done" in done.text
    assert ">30<" in browser.get("/admin/colours/raters?only=left_out").text
    changed = browser.send(page, page, everybody="yes", expected="31", action="take_back")
    assert (changed.status_code, "The list has 30 raters now, 31 when you saw it" in changed.text) == (409, True)


def test_five_thousand_raters_are_a_page_like_any_other(service, browser):
    """As a ratio to a page of few, so that a busy machine does not decide: read and sorted, not drawn."""
    few = min(_timed(browser, "/admin/colours/raters") for _ in range(3))
    many(service, 5000)
    for path in (
        "/admin/colours/raters",
        "/admin/colours/raters?only=flagged&sort=-agreement",
        "/admin/colours/rater?code=m00001",
    ):
        assert min(_timed(browser, path) for _ in range(3)) < max(1.0, 60 * few), path
    page = browser.get("/admin/colours/raters")
    assert len(codes(page.text)) == 100
    assert len(page.content) < 150_000


def _timed(browser, path):
    begin = time.perf_counter()
    assert browser.get(path).status_code == 200
    return time.perf_counter() - begin


def test_the_page_of_a_rater_shows_what_was_shown_and_said(service, browser):
    rater = join(service, rater="Ann", session="S7")
    answer(service, rater, 4, np.random.default_rng(0))
    service.survey(rater, {}).result()
    text = browser.get("/admin/colours/rater?code=r0001").text
    with service.database.read() as connection:
        rows = connection.execute(sa.select(schema.answer)).mappings().all()
    for row in rows:
        head, one, other = json.loads(row["shown"])
        near, far = (one, other) if json.loads(row["response"]) == [1] else (other, one)
        assert f"{head} is more like {near} than like {far}" in text
        assert f"{row['milliseconds'] / 1000:.1f}" in text
    assert text.count('class="thumb chosen"') == 4
    assert text.count('class="thumb"') == 8
    for told in ("Ann", "Link: session", "S7", "finished, and has the completion code"):
        assert told in text
    missing = browser.get("/admin/colours/rater?code=r0002")
    assert (missing.status_code, "There is no rater" in missing.text) == (404, True)


def test_decisions_and_notes_on_the_page_of_a_rater(service, browser):
    fill(service, 1, 2)
    page = "/admin/colours/rater?code=r0001"
    for action, reason in (("leave_out", "asleep"), ("note", "wrote an email"), ("take_back", ""), ("redo", "froze")):
        assert browser.send(page, page, action=action, reason=reason).status_code == 303
    text = browser.get(page).text
    for said in (
        "<b>left out</b>: asleep",
        "<b>note</b>: wrote an email",
        "<b>taken back in</b>",
        "<b>asked anew</b>: froze",
    ):
        assert said in text
    again = browser.send(page, page, action="take_back")
    assert (again.status_code, "Nothing was changed: not left out." in again.text) == (409, True)
    assert browser.send(page, page, action="erase").status_code == 422
    assert [one.who for one in deeds(service.database) if "rater" in one.what] == ["ada"] * 4


def test_hostile_names_are_texts(service, browser):
    rater = join(service, rater=HOSTILE, **{"x<img src=x>": "<svg onload=alert(1)>"})
    answer(service, rater, 1, np.random.default_rng(0))
    with service.database.write() as connection:
        connection.execute(sa.update(schema.rater).values(code=HOSTILE))
    People(service.database, service.study_id).note(HOSTILE, "<b>ada</b>", "<script>alert(2)</script>")
    People(service.database, service.study_id).leave_out([HOSTILE], "ada", "<i>why</i>")
    listed = browser.get("/admin/colours/raters").text
    link = re.search(r'href="(/admin/colours/rater\?code=[^"]+)"', listed)[1]
    page = browser.get(link)
    assert page.status_code == 200
    for text in (listed, page.text, browser.get("/admin/-/log").text):
        for tag in ("<script>alert", "<img src=x", "<svg onload", "<i>why", "<b>ada"):
            assert tag not in text
    assert browser.send(link, link, action="take_back", reason="").status_code == 303
    assert codes(browser.get("/admin/colours/raters?only=left_out").text) == []


def test_the_table_is_downloaded_and_that_is_noted(service, browser):
    fill(service, 2, 2)
    found = browser.get("/admin/colours/raters.csv")
    assert found.headers["content-disposition"] == 'attachment; filename="colours-raters.csv"'
    assert found.text.splitlines()[0].startswith("code,origin,identity,joined")
    assert len(found.text.splitlines()) == 3
    assert (deeds(service.database)[0].who, deeds(service.database)[0].detail) == ("ada", "raters.csv")


def test_invitations_are_shown_as_they_are(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", more="[raters]\ninvited = true"))
    browser = admin_of(site)
    assert "Nobody is invited yet" in browser.get("/admin/colours/raters").text
    invite(service, ["Ann", "<Bob>"])
    text = browser.get("/admin/colours/raters").text
    assert "has not come yet" in text
    assert "&lt;Bob&gt;" in text
    site.close()


def test_nobody_sees_it_without_logging_in(service, app):
    many(service, 2)
    stranger = Browser(app)
    for path in ("raters", "rater?code=m00001", "raters.csv", "recruiting", "recruiting/payable.txt"):
        found = stranger.get(f"/admin/colours/{path}")
        assert found.status_code == 303, path
        assert found.headers["location"] == "/admin/-/login"


def test_the_page_of_recruiting_keeps_keys_and_approves(service, browser, monkeypatch):
    fake = FakeProlific()
    rater = join(service, PROLIFIC_PID="anna")
    answer(service, rater, 4, np.random.default_rng(0))
    service.survey(rater, {}).result()
    one, two = fake.add("anna"), fake.add("<b>eve</b>")
    here = "/admin/colours/recruiting"
    with listening(fake) as address:
        monkeypatch.setattr(prolific, "BASE", f"{address}/api/v1")
        assert "There are no submissions" not in browser.get(here).text
        assert browser.get(f"{here}?at=prolific").status_code == 200, "no account: the form alone"
        assert fake.asked == []
        assert browser.send(here, f"{here}/account", service="prolific", study=STUDY).status_code == 422
        kept = browser.send(here, f"{here}/account", service="prolific", token=TOKEN, study=STUDY)
        assert kept.status_code == 303
        page = browser.get(f"{here}?at=prolific").text
        assert "nobody came here with this id" in page
        assert "&lt;b&gt;eve&lt;/b&gt;" in page
        assert f'value="{one}" aria-label="Tick anna" data-clear' in page
        assert f'value="{two}" aria-label="Tick &lt;b&gt;eve&lt;/b&gt;">' in page
        assert TOKEN not in page
        done = browser.send(f"{here}?at=prolific", f"{here}?at=prolific", submission=one, action="approve")
        assert "1 done" in done.text
        assert fake.submissions[one]["status"] == "APPROVED"
        short = browser.send(
            f"{here}?at=prolific", f"{here}?at=prolific", submission=two, action="reject", text="no", category="OTHER"
        )
        assert (short.status_code, "at least 100 characters" in short.text) == (422, True)
        assert browser.send(f"{here}?at=prolific", f"{here}?at=prolific", action="approve").status_code == 422
        fake.faults = [(401, {}, {})]
        refused = browser.get(f"{here}?at=prolific")
        assert (refused.status_code, "does not accept the key" in refused.text) == (502, True)
    assert browser.get(f"{here}/payable.txt").text == "anna\n"
    assert browser.get(f"{here}/payable.txt?at=other").status_code == 422
    browser.send(here, f"{here}/account", service="prolific", forget="yes")
    assert "A key is kept, given by" not in browser.get(here).text


@pytest.fixture
def lab(app, service):
    def with_scopes(*scopes):
        return Lab(app, ApiTokens(service.database).make(service.study_id, "a lab", scopes, "ada"))

    return with_scopes


def test_the_same_by_the_interface(service, lab):
    fill(service, 2, 3)
    program = lab("admin")
    found = program.get("/raters?sort=code").json()
    assert (found["found"], found["pages"]) == (2, 1)
    assert [(one["code"], one["state"], one["answered"], one["left_out"]) for one in found["raters"]] == [
        ("r0001", "answering", 3, None), ("r0002", "answering", 3, None),
    ]  # fmt: skip
    assert "identity" not in found["raters"][0], "who people are is in the table alone"
    done = program.post("/raters/decide", action="leave_out", raters=["r0001", "r0009"], reason="asleep").json()
    assert done == {"done": ["r0001"], "not_done": {"r0009": "no such rater"}}
    assert [one["reason"] for one in program.get("/raters?only=left_out").json()["raters"]] == ["asleep"]
    assert program.post("/raters/note", rater="r0001", text="by a program").json() == {"rater": "r0001"}
    assert "by a program" in program.get("/raters.csv").text
    assert deeds(service.database)[0].who.startswith("token ")
    for path, body, status in (
        ("/raters/decide", {"action": "erase", "raters": ["r0001"]}, 422),
        ("/raters/decide", {"action": "leave_out", "raters": []}, 422),
        ("/raters/decide", {"action": "leave_out", "raters": ["r0001"]}, 422),
        ("/raters/note", {"rater": "nobody", "text": "x"}, 404),
    ):
        assert program.post(path, **body).status_code == status, body
    assert program.get("/raters?only=some").status_code == 422


def test_the_interface_asks_for_the_scope_of_admins(service, lab):
    fill(service, 1, 1)
    for program in (lab("read"), lab("ask")):
        for found in (program.get("/raters"), program.get("/raters.csv"),
                      program.post("/raters/note", rater="r0001", text="x"),
                      program.post("/raters/decide", action="redo", raters=["r0001"])):  # fmt: skip
            assert (found.status_code, found.json()["code"]) == (403, "scope")


def test_raters_are_listed_with_their_condition_and_the_study_says_what_its_map_is_of(tmp_path):
    design = "".join(f'\n[[condition]]\nname = "{name}"\nquota = 1\n' for name in ("hue", "mood"))
    site, service = open_study(write_study(tmp_path / "colours", catch=design, number=4))
    browser = admin_of(site)
    for _ in range(2):
        join(service)
    listed = browser.get("/admin/colours/raters").text
    assert listed.count("</a> (hue)</td>") == listed.count("</a> (mood)</td>") == 1
    own = browser.get("/admin/colours/rater?code=r0001").text
    assert re.search(r"Condition</th><td>(hue|mood)</td>", own)
    assert "of all conditions" in browser.get("/admin/colours").text
    site.close()


def test_without_conditions_none_is_named(service, browser):
    join(service)
    assert "(None)" not in browser.get("/admin/colours/raters").text
    assert "Condition</th>" not in browser.get("/admin/colours/rater?code=r0001").text
    assert "of all conditions" not in browser.get("/admin/colours").text
