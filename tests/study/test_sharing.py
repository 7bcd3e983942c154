"""A study shared by a link: map, curve and dimensions, no rater; ended, expired, embedded where its site is named."""

import asyncio
import json
import re

import pytest
import sqlalchemy as sa

from similitude.study.audit import deeds
from similitude.study.refusal import Refused
from similitude.study.settings import StudyError, read_study
from similitude.study.sharing import ShareLinks
from similitude.study.store import schema
from similitude.study.web import live
from tests.study.live import fill, join, open_study, worker_of, write_study
from tests.study.test_login import Browser, app_of

PAGE = "/admin/colours/share"
LINK = re.compile(r"/live/([0-9a-f]{12}_[\w-]{43})")


@pytest.fixture(params=["", '[share]\nframe_ancestors = ["https://lab.example", "http://localhost:9"]'])
def service(tmp_path, request):
    site, service = open_study(write_study(tmp_path / "colours", catch=request.param, title="Colours <b>"))
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


def made_by(browser, name="our group", days="30"):
    return LINK.search(browser.send(PAGE, PAGE, name=name, days=days).text).group(1)


def test_a_link_shows_the_study_to_whoever_has_it_and_nothing_of_its_raters(service, app, browser):
    fill(service, 3, 20)
    join(service, PROLIFIC_PID="person-of-prolific")
    worker_of(service).step()
    link, stranger = made_by(browser), Browser(app)
    page, items, state = (stranger.get(f"/live/{link}{part}") for part in ("", "/items", "/state"))
    assert (page.status_code, items.status_code, state.status_code) == (200, 200, 200)
    assert "Colours &lt;b&gt;" in page.text
    found = state.json()
    assert set(found) == {"answers", "latest", "as_of", "curve", "ceiling", "map", "dimensions"}
    assert (found["answers"], found["dimensions"]) == (60, None)
    assert found["map"]["names"] == service.names
    assert set(items.json()) == set(service.names)
    with service.database.read() as connection:
        told = [
            row for one in ("code", "identity", "uid") for row in connection.scalars(sa.select(schema.rater.c[one]))
        ]
    everything = page.text + items.text + state.text
    assert [one for one in told if one and one in everything] == []
    assert "no-store" in page.headers["cache-control"]
    assert page.headers["x-robots-tag"] == "noindex"
    for path in ("/admin/colours/state", "/admin/colours/export"):
        assert stranger.get(path, headers={"accept": "*/*"}).status_code == 401


def test_links_that_do_not_work_all_say_the_same(service, app, browser):
    link, stranger = made_by(browser), Browser(app)
    links = ShareLinks(service.database)
    number = links.of_study(service.study_id)[0].id
    wrong = [f"{number}_{'x' * 43}", "x" * 56, "%00", number, link[:-1], "é_" + "x" * 43]
    assert {stranger.get(f"/live/{one}").status_code for one in wrong} == {404}
    assert browser.send(PAGE, f"{PAGE}/revoke", id=number).status_code == 303
    pages = [stranger.get(f"/live/{one}").text for one in (link, wrong[0])]
    assert pages[0] == pages[1]
    assert "This link does not work" in pages[0]
    assert {stranger.get(f"/live/{link}/{part}").status_code for part in ("items", "state", "events")} == {404}
    late = links.make(service.study_id, "late", 1, "ada")
    with service.database.write() as connection:
        connection.execute(sa.update(schema.share_link).values(expires=service.database.clock.now() - 1))
    assert links.find(late) is None
    assert [one.state(service.database.clock.now()) for one in links.of_study(service.study_id)] == [
        "expired",
        "revoked",
    ]


def test_who_shared_is_written_down_and_the_link_itself_is_not(service, browser):
    link = made_by(browser, "Room <3>")
    assert link not in browser.get(PAGE).text
    assert "Room &lt;3&gt;" in browser.get(PAGE).text
    browser.send(PAGE, f"{PAGE}/revoke", id=link.partition("_")[0])
    said = [str(one) for one in deeds(service.database)]
    assert "ended a shared link of colours" in said[0]
    assert "ada: shared colours (Room <3>: 30 days, id " in said[1]
    with service.database.read() as connection:
        rows = json.dumps([list(row) for row in connection.execute(sa.select(schema.share_link))])
    assert link.partition("_")[2] not in rows + " ".join(said)


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"name": " ", "days": "3"}, "name: say whom the link is for"),
     ({"name": "a", "days": "soon"}, "days: expected a number"),
     ({"name": "a", "days": "0"}, "days: expected more than 0"),
     ({"name": "a", "days": "nan"}, "days: expected more than 0")],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_made(service, browser, fields, said):
    answer = browser.send(PAGE, PAGE, **fields)
    assert (answer.status_code, said in answer.text) == (422, True)
    assert ShareLinks(service.database).of_study(service.study_id) == []


def test_the_shared_page_alone_may_be_framed_and_by_named_sites_alone(service, app, browser):
    link, sites = made_by(browser), " ".join(service.study.share.frame_ancestors)
    page = Browser(app).get(f"/live/{link}")
    assert f"frame-ancestors {sites or chr(39) + 'none' + chr(39)};" in page.headers["content-security-policy"]
    assert page.headers.get("x-frame-options") == (None if sites else "DENY")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    others = [
        "/",
        "/s/colours/",
        "/admin",
        "/admin/colours",
        PAGE,
        "/api",
        f"/live/{link}/state",
        "/live/none",
        "/healthz",
    ]
    for path in others:
        headers = browser.get(path).headers
        assert (path, headers["x-frame-options"]) == (path, "DENY")
        assert (path, "frame-ancestors 'none'" in headers["content-security-policy"]) == (path, True)


def test_an_open_page_gets_nothing_new_after_the_link_has_ended(service, app, monkeypatch):
    monkeypatch.setattr(live, "_CHECK", 0.0)
    links, watch = ShareLinks(service.database), app.state.watches["colours"]
    link = links.make(service.study_id, "a screen", 1, "ada")
    request = type("Request", (), {"app": app})()

    async def seen():
        events = []
        async for event in live._while_shared(request, link, watch):
            events.append(event)
            if len(events) == 2:
                await asyncio.to_thread(links.revoke, service.study_id, link.partition("_")[0], "ada")
        return events

    events = asyncio.run(seen())
    assert 2 <= len(events) <= 4
    assert {name for event in events for name in re.findall(r"^event: (\w+)$", event, re.M)} == {"shared"}


def test_dimensions_are_shown_once_they_were_made(service, app, browser):
    from similitude.study.works import DIMENSIONS, Works

    works = Works(service.database)
    summary = {"dimensions": [{"number": 1, "name": "warm", "suggested": True, "doubtful": False, "items": []}]}
    works.finish(works.ask(service.study_id, DIMENSIONS, "ada"), b"zip", 60, summary)
    found = Browser(app).get(f"/live/{made_by(browser)}/state").json()["dimensions"]
    assert found == {**summary, "answers": 60, "at": works.made(service.study_id, DIMENSIONS).ended}


@pytest.mark.parametrize("site", ["lab.example", "https://lab.example/path", "*", "https://a b", "javascript:alert(1)"])
def test_sites_are_named_as_browsers_name_them(tmp_path, site):
    folder = write_study(tmp_path / "colours", catch=f'[share]\nframe_ancestors = ["{site}"]')
    with pytest.raises(StudyError, match=r"share\.frame_ancestors\.0: .*found"):
        read_study(folder)


def test_a_link_of_another_study_cannot_be_ended(service):
    links = ShareLinks(service.database)
    link = links.make(service.study_id, "a", 1, "ada")
    with pytest.raises(Refused, match="There is no link"):
        links.revoke(service.study_id + 1, link.partition("_")[0], "eve")
    assert links.find(link) is not None
