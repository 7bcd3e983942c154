"""Who may do what: every page of the admins for every role; invitations; what goes with a role when it goes."""

import re

import pytest
import sqlalchemy as sa

from similitude.study.audit import deeds
from similitude.study.members import Members, grant
from similitude.study.refusal import Refused
from similitude.study.roles import EDITOR, OWNER, ROLES, VIEWER, highest, includes
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.tokens import ApiTokens
from similitude.study.web.app import create_app
from similitude.study.web.permissions import ANYBODY, KNOWN, NEEDS, SERVER
from tests.study.live import fill, write_study
from tests.study.test_login import PASSWORD, Browser

MEMBERS = "/admin/colours/members"
RANKS = {ANYBODY: 0, KNOWN: 1, VIEWER: 2, EDITOR: 3, OWNER: 4, SERVER: 5}
PEOPLE = {"nobody": 0, "stranger": 1, VIEWER: 2, EDITOR: 3, OWNER: 4, "server": 5}  # by what each may do
FILLED = {
    "study": "colours", "token": "x" * 43, "kind": "report", "path": "report.html", "number": "1", "name": "c00",
    "uid": "x" * 20,
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("roles")
    for name in ("colours", "others"):
        write_study(root / name)
    site = open_site(root)
    yield site
    site.close()


@pytest.fixture(scope="module")
def app(site):
    """An application with a person of each role in one study, and a person whose role is in another one."""
    app = create_app(site)
    door = app.state.door
    door.use_link(door.make_link().rsplit("/", 1)[1], "server", PASSWORD)
    for name in ("stranger", *ROLES):
        study = site.studies["others" if name == "stranger" else "colours"]
        link = door.invite(study.study_id, OWNER if name == "stranger" else name, "server")
        door.use_link(link.rsplit("/", 1)[1], name, PASSWORD)
    return app


@pytest.fixture(scope="module")
def browsers(app):
    found = {name: Browser(app) for name in PEOPLE}
    for name, browser in found.items():
        if name != "nobody":
            assert browser.log_in(name).status_code == 303
    return found


def routes(app):
    """Every page of the admins: method and path, as the application has them."""
    found = []

    def walk(some):
        for route in some:
            walk(getattr(getattr(route, "original_router", route), "routes", None) or [])  # newer frameworks nest them
            if str(getattr(route, "path", "")).startswith("/admin"):
                found.extend((method, route.path) for method in getattr(route, "methods", None) or ())

    walk(app.routes)
    return {(method, path) for method, path in found if method != "HEAD"}


def test_every_page_says_what_it_needs(app):
    """Who adds a page decides whose it is, in `similitude.study.web.permissions.NEEDS`."""
    assert routes(app) == set(NEEDS)


@pytest.mark.parametrize("person", PEOPLE)
def test_every_page_for_every_role(browsers, person):
    wrong = []
    for (method, path), need in NEEDS.items():
        if path.endswith(("/events", "/logout")):  # which go on and on, or end the session
            continue
        filled = re.sub(r"{(\w+)(:\w+)?}", lambda place: FILLED[place[1]], path)
        browser = browsers[person]
        send = browser.get if method == "GET" else browser.post
        reply = send(filled, headers={"accept": "application/json"})
        code = reply.json().get("code") if "json" in reply.headers.get("content-type", "") else None
        refused = code in ("login", "role", "no_study")
        if refused == (PEOPLE[person] >= RANKS[need]):
            wrong.append((method, path, need, reply.status_code, code))
    assert wrong == []


def test_events_are_for_those_with_a_role(browsers):
    for person in ("nobody", "stranger"):
        reply = browsers[person].get("/admin/colours/events", headers={"accept": "application/json"})
        assert reply.json()["code"] in ("login", "no_study")


def test_pages_hide_what_one_may_not_do(browsers):
    pages = {person: browsers[person].get("/admin/colours").text for person in (VIEWER, EDITOR, OWNER, "server")}
    words = ("Tokens", "Members", "Share")
    shown = {person: [word for word in words if f">{word}</a>" in page] for person, page in pages.items()}
    everything = ["Tokens", "Members", "Share"]
    assert shown == {VIEWER: [], EDITOR: ["Share"], OWNER: everything, "server": everything}
    pausing = {person: 'id="pausing"' in browsers[person].get("/admin/colours").text for person in (VIEWER, EDITOR)}
    assert pausing == {VIEWER: True, EDITOR: True}
    assert 'pause" hidden' in browsers[VIEWER].get("/admin/colours").text
    assert 'pause" hidden' not in browsers[EDITOR].get("/admin/colours").text
    assert "Make it" not in browsers[VIEWER].get("/admin/colours/report").text
    assert "Make it" in browsers[EDITOR].get("/admin/colours/report").text


def test_the_studies_and_the_log_are_ones_own(site, browsers):
    for person in (VIEWER, EDITOR, OWNER):
        text = browsers[person].get("/admin").text
        assert ("/admin/colours" in text, "/admin/others" in text) == (True, False)
        assert "Passwords that were set" not in text
    assert "/admin/others" in browsers["server"].get("/admin").text
    for name in ("colours", "others"):
        site.studies[name].set_paused(True, "somebody")
        site.studies[name].set_paused(False, "somebody")
    logs = {person: browsers[person].get("/admin/-/log").text for person in (VIEWER, EDITOR, "server")}
    assert {person: "<td>somebody</td>" in text for person, text in logs.items()} == {
        VIEWER: False,
        EDITOR: True,
        "server": True,
    }
    assert "<td>others</td>" not in logs[EDITOR]
    assert "<td>others</td>" in logs["server"]


def test_viewers_see_no_identities(site, browsers):
    service = site.studies["colours"]
    fill(service, 1, 3)
    from tests.study.live import join

    join(service, PROLIFIC_PID="a-person-of-prolific")
    for path in ("/admin/colours", "/admin/colours/state", "/admin/colours/export", "/admin/colours/report"):
        reply = browsers[VIEWER].get(path)
        assert (path, reply.status_code, "a-person-of-prolific" in reply.text) == (path, 200, False)


def link_of(browser, role):
    text = browser.send(MEMBERS, MEMBERS, role=role).text
    return re.search(r'data-path="(/admin/-/first/[\w-]{43})"', text).group(1)


def test_who_is_invited_chooses_a_password_and_has_that_role_alone(site, app, browsers):
    link, guest = link_of(browsers[OWNER], VIEWER), Browser(app)
    page = guest.get(link).text
    assert "owner invites you to the study <b>colours</b> as <b>viewer</b>" in page
    assert "Replace the password" not in page
    assert guest.send(link, link, name="guest", password=PASSWORD, again=PASSWORD).status_code == 303
    assert guest.log_in("guest").status_code == 303
    assert guest.get("/admin/colours").status_code == 200
    assert guest.get("/admin/others").status_code == 404
    assert guest.post("/admin/colours/pause", headers={"accept": "application/json"}).json()["code"] == "role"
    assert Browser(app).get(link).status_code == 410
    said = [str(one) for one in deeds(site.database)]
    assert any("guest: joined colours (as viewer, invited by owner)" in one for one in said)
    Members(site.database).change(site.studies["colours"].study_id, "guest", None, "owner")
    assert guest.get("/admin/colours").status_code == 404


def test_an_invitation_opens_no_account_that_is_there(site, app, browsers):
    """Else whoever may invite could set the password of who owns everything."""
    link = link_of(browsers[OWNER], EDITOR)
    for name in ("server", "viewer"):
        reply = Browser(app).send(
            link, link, name=name, password="another password", again="another password", replace="yes"
        )
        assert reply.status_code == 409
        assert "has an account. If it is yours, log in" in reply.text
        assert Browser(app).log_in(name, "another password").status_code == 401
    page = browsers["stranger"].get(link).text
    assert "Join as stranger" in page
    joined = browsers["stranger"].send(link, link.replace("first", "join"))
    assert (joined.status_code, joined.headers["location"]) == (303, "/admin")
    assert browsers["stranger"].get("/admin/colours").status_code == 200
    Members(site.database).change(site.studies["colours"].study_id, "stranger", None, "owner")
    again = browsers["stranger"].post(
        link.replace("first", "join"), {"csrf": "x"}, headers={"accept": "application/json"}
    )
    assert again.status_code in (403, 410)


def test_invitations_stand_beside_each_other_and_can_be_withdrawn(site, app, browsers):
    first, second = (link_of(browsers[OWNER], role) for role in (VIEWER, EDITOR))
    app.state.door.make_link()  # of the command line, which ends those of the command line alone
    assert {Browser(app).get(link).status_code for link in (first, second)} == {200}
    waiting = Members(site.database).open_invitations(site.studies["colours"].study_id)
    assert {one["role"] for one in waiting} >= {VIEWER, EDITOR}
    for one in waiting:
        browsers[OWNER].send(MEMBERS, f"{MEMBERS}/withdraw", id=one["id"])
    assert {Browser(app).get(link).status_code for link in (first, second)} == {410}


def test_with_the_role_of_an_owner_go_the_tokens_that_he_or_she_made(site):
    service, members = site.studies["colours"], Members(site.database)
    tokens = ApiTokens(site.database)
    with site.database.write() as connection:
        grant(connection, service.study_id, "paul", OWNER)
    his = tokens.make(service.study_id, "paul's", ["read"], "paul")
    other = tokens.make(service.study_id, "another", ["read"], "server")
    members.change(service.study_id, "paul", EDITOR, "server")
    assert tokens.find(service.study_id, his) is None
    assert tokens.find(service.study_id, other) is not None
    with pytest.raises(Refused, match="no role of this study alone"):
        members.change(service.study_id, "server", None, "paul")
    with pytest.raises(Refused, match="expected one of viewer, editor, owner, found 'king'"):
        members.change(service.study_id, "paul", "king", "server")
    members.change(service.study_id, "paul", None, "server")
    assert "paul" not in {one.name for one in members.of_study(service.study_id)}


def test_a_role_that_is_given_again_never_takes_away(site):
    service = site.studies["colours"]
    with site.database.write() as connection:
        for role in (EDITOR, VIEWER):
            grant(connection, service.study_id, "mary", role)
        found = connection.scalar(sa.select(schema.membership.c.role).where(schema.membership.c.name == "mary"))
    assert found == EDITOR


def test_roles_are_in_order():
    order = list(ROLES)
    for k, one in enumerate(order):
        assert [includes(one, other) for other in order] == [j <= k for j in range(len(order))]
        assert not includes(None, one)
    assert highest(None, VIEWER, OWNER, EDITOR) == OWNER
    assert highest(None) is None
