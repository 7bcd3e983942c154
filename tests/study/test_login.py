"""Who may watch: passwords, sessions, forged forms, guessing, links that work once."""

import asyncio
import re

import httpx
import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.web import auth
from similitude.study.web.app import create_app
from similitude.study.web.attempts import Attempts, Backoff, Room
from similitude.study.web.auth import Door
from similitude.study.web.login import SESSION_COOKIE, first_link
from tests.study.live import open_study, write_study

PASSWORD = "a long password"


class Browser:
    """Keeps cookies and fills in forms."""

    def __init__(self, app, address="10.0.0.1"):
        transport = httpx.ASGITransport(app, client=(address, 1000), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(
            transport=transport, base_url="http://study.example", headers={"accept": "text/html"}
        )

    def _run(self, request):
        return asyncio.run(request)

    def get(self, path, **options):
        return self._run(self.client.get(path, **options))

    def post(self, path, form=None, **options):
        return self._run(self.client.post(path, data=form or {}, **options))

    def send(self, page, path, **fields):
        """Send a form of a page with its token."""
        token = re.search(r'name="csrf" value="([^"]+)"', self.get(page).text).group(1)
        return self.post(path, {"csrf": token, **fields})

    def log_in(self, name="ada", password=PASSWORD):
        return self.send("/admin/-/login", "/admin/-/login", name=name, password=password)


def app_of(site, *path, **options):
    """The application of a site, with one admin and passwords that are quick to check."""
    app = create_app(site, *path, **options)
    door = app.state.door
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    return app


def admin_of(site):
    """A browser in which that admin is logged in."""
    browser = Browser(app_of(site))
    browser.log_in()
    return browser


@pytest.fixture
def site(tmp_path):
    site, _ = open_study(write_study(tmp_path / "colours"))
    yield site
    site.close()


@pytest.fixture
def app(site):
    return create_app(site)


@pytest.fixture
def known(app):
    """An application with one admin."""
    door = app.state.door
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    return app


def test_the_first_link_sets_name_and_password_once(site, app):
    link = first_link(site)
    browser = Browser(app)
    assert "one-time link that the server printed" in browser.get("/admin/-/login").text
    fields = {"name": "ada", "password": PASSWORD, "again": PASSWORD}
    assert browser.send(link, link, **fields).headers["location"] == "/admin/-/login"
    assert browser.get(link).status_code == 410
    other = Browser(app)
    other.get("/admin/-/login")
    token = other.client.cookies["similitude_form"]
    assert other.post(link, {"csrf": token, **fields, "name": "eve"}).status_code == 410
    assert browser.log_in().headers["location"] == "/admin"
    assert first_link(site) is None
    assert Browser(app).log_in("eve").status_code == 401


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"name": "ada", "password": "short", "again": "short"}, "10 to 200 characters"),
     ({"name": "", "password": PASSWORD, "again": PASSWORD}, "1 to 50 characters"),
     ({"name": "ada", "password": PASSWORD, "again": "another one"}, "not the same")],
)  # fmt: skip
def test_a_bad_password_does_not_use_the_link_up(site, app, fields, said):
    link = first_link(site)
    browser = Browser(app)
    answer = browser.send(link, link, **fields)
    assert answer.status_code == 422
    assert said in answer.text
    assert browser.get(link).status_code == 200


def test_old_and_invented_links_are_refused(site, app):
    link = first_link(site)
    with site.database.write() as connection:
        connection.execute(sa.update(schema.one_time_link).values(expires=0.0))
    assert Browser(app).get(link).status_code == 410
    assert Browser(app).get("/admin/-/first/invented").status_code == 410


def test_nothing_is_seen_without_logging_in(known):
    browser = Browser(known)
    for path in ("/admin", "/admin/colours"):
        assert browser.get(path).headers["location"] == "/admin/-/login"
    for path in ("/admin/colours/state", "/admin/colours/events", "/admin/colours/items", "/admin/colours/export"):
        assert browser.get(path, headers={"accept": "*/*"}).status_code == 401
    assert browser.post("/admin/colours/pause", headers={"accept": "*/*"}).status_code == 401
    assert browser.get("/admin/nothing", headers={"accept": "*/*"}).status_code == 401, "nor which studies there are"


def test_log_in_and_out(known):
    browser = Browser(known)
    answer = browser.log_in()
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/admin" in cookie
    assert "Secure" not in cookie
    page = browser.get("/admin")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    token = browser.client.cookies[SESSION_COOKIE]
    browser.send("/admin", "/admin/-/logout")
    browser.client.cookies.set(SESSION_COOKIE, token, "study.example", "/admin")
    assert browser.get("/admin").status_code == 303, "the session is gone, not only its cookie"


def test_the_cookie_is_for_https_where_that_is_used(known):
    browser = Browser(known)
    browser.client.base_url = "https://study.example"
    assert "Secure" in browser.log_in().headers["set-cookie"]


def test_wrong_names_and_passwords_look_alike(known):
    wrong = [
        Browser(known).log_in(name, password) for name, password in (("ada", "wrong"), ("eve", PASSWORD), ("", ""))
    ]
    assert [answer.status_code for answer in wrong] == [401] * 3
    texts = {re.sub(r'value="[^"]*"', "", answer.text) for answer in wrong}
    assert len(texts) == 1


def test_unknown_names_take_a_hash_too(known, monkeypatch):
    seen = []
    door = known.state.door

    class Counting:
        def verify(self, hashed, password):
            seen.append(hashed)
            return PasswordHasher().verify(hashed, password)

    monkeypatch.setattr(door, "_hasher", Counting())
    door.log_in("ada", "wrong")
    door.log_in("nobody", "wrong")
    assert len(seen) == 2
    assert len({hashed.rsplit("$", 2)[0] for hashed in seen}) == 1, "the same cost"


def test_guessing_is_slowed_down_per_address_by_a_clock_that_only_runs_forward(known):
    hands = [0.0]
    known.state.door.attempts = Attempts(lambda: hands[0])
    browser = Browser(known)
    assert [browser.log_in(password="wrong").status_code for _ in range(6)] == [401] * 5 + [429]
    refused = browser.log_in()
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) == 300
    assert Browser(known, "10.0.0.2").log_in().status_code == 303
    hands[0] += 301
    assert browser.log_in().status_code == 303


def test_one_network_of_ipv6_is_one_address(known):
    for k in range(5):
        Browser(known, f"2001:db8::{k + 1}").log_in(password="wrong")
    assert Browser(known, "2001:db8::99").log_in().status_code == 429
    assert Browser(known, "2001:db8:1::99").log_in().status_code == 303


def test_the_oldest_addresses_are_forgotten():
    lane = Backoff(5, 1.0, 300.0, 3600.0, lambda: 0.0)
    for k in range(10_050):
        lane.count(str(k))
    assert len(lane._tried) == 10_000


def test_waits_grow_and_are_forgotten():
    hands = [0.0]
    lane = Backoff(2, 1.0, 10.0, 100.0, lambda: hands[0])
    waits = []
    for _ in range(8):
        waits.append(lane.wait("ada"))
        hands[0] += waits[-1]
        lane.count("ada")
    assert waits == [0, 0, 1, 2, 4, 8, 10, 10]
    hands[0] += 100
    assert lane.wait("ada") == 0


class Crowd:
    """Many login attempts at the same moment, each from a browser of its own."""

    def __init__(self, app):
        self.app = app

    def try_all(self, attempts):
        """Statuses of attempts, given as address, password and cookies."""

        async def one(address, password, cookies):
            transport = httpx.ASGITransport(self.app, client=(address, 1000), raise_app_exceptions=False)
            jar = {"similitude_form": "token", **cookies}
            async with httpx.AsyncClient(transport=transport, base_url="http://study.example", cookies=jar) as client:
                form = {"csrf": "token", "name": "ada", "password": password}
                return await client.post("/admin/-/login", data=form)

        async def together():
            return await asyncio.gather(*(one(*attempt) for attempt in attempts))

        return asyncio.run(together())


def test_sixty_guesses_at_once_are_sixty(known):
    guesses = [("10.0.0.9", "wrong", {})] * 40 + [("10.0.0.9", PASSWORD, {})] * 20
    answers = Crowd(known).try_all(guesses)
    said = [answer.status_code for answer in answers]
    assert set(said) == {401, 429}
    assert said.count(401) <= 5
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 429)


def test_guesses_from_many_addresses_are_counted_by_account(known):
    hands = [0.0]
    known.state.door.attempts = Attempts(lambda: hands[0])
    said = [Browser(known, f"10.0.1.{k}").log_in(password="wrong").status_code for k in range(14)]
    assert said == [401] * 10 + [429] * 4
    refused = Browser(known, "10.0.2.1").log_in()
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) == 1, "back off, do not close"
    assert "browser in which you have logged in before" in refused.text
    assert Browser(known, "10.0.2.1").log_in("bob", "wrong").status_code == 401, "another account is another lane"
    hands[0] += 1
    assert Browser(known, "10.0.2.1").log_in().status_code == 303


def test_strangers_do_not_lock_the_admin_out(known):
    browser = Browser(known, "10.0.0.7")
    browser.log_in()
    device = {"similitude_device": browser.client.cookies["similitude_device"]}
    attack = [(f"10.0.{k}.7", "wrong", {}) for k in range(60)]
    said = Crowd(known).try_all([*attack, ("10.0.0.7", PASSWORD, device), *attack])
    assert said[60].status_code == 303
    assert [answer.status_code for answer in said].count(303) == 1
    for _ in range(5):
        Crowd(known).try_all([("10.0.0.7", "wrong", {})])
    assert Crowd(known).try_all([("10.0.0.7", PASSWORD, device)])[0].status_code == 303, "at the same address, too"


def test_a_device_has_a_limit_of_its_own_and_cannot_be_invented(known):
    browser = Browser(known)
    browser.log_in()
    device = browser.client.cookies["similitude_device"]
    assert [browser.log_in(password="wrong").status_code for _ in range(6)] == [401] * 5 + [429]
    door = known.state.door
    assert door.lanes("ada", device, "x") == {"device": device.split(".")[0]}
    for other in ("", "a.b", ".", device + "0", device.upper(), "\udcff.\udcff", device.split(".")[0]):
        assert set(door.lanes("ada", other, "x")) == {"address", "account"}, other
    assert set(door.lanes("bob", device, "x")) == {"address", "account"}, "of another name"


def test_who_finds_no_place_to_wait_is_told_at_once(known):
    known.state.door.rooms["stranger"] = Room(1, waiting=-1)
    refused = Browser(known).log_in()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    known.state.door.rooms["stranger"] = Room(1, waiting=0)
    assert Browser(known).log_in().status_code == 303, "that did not count as a wrong password"


def test_a_name_that_no_database_takes_is_wrong_like_any_other(url):
    database = Database(url)
    door = Door(database)
    assert [door.log_in(name, PASSWORD) for name in ("a\0da", "\0", "\udcff")] == [None] * 3
    database.close()


def test_neither_invented_links_nor_open_ones_close_the_door_to_a_known_device(site, known):
    door, browser, full = known.state.door, Browser(known), Room(1, waiting=-1)
    browser.log_in()
    fields = {"name": "eve", "password": PASSWORD, "again": PASSWORD}
    door.rooms["link"] = full
    assert Browser(known).send("/admin/-/login", "/admin/-/first/invented", **fields).status_code == 410
    link = door.make_link()
    assert Browser(known).send(link, link, **fields).status_code == 429
    assert browser.log_in().status_code == 303
    door.rooms["link"], door.rooms["known"] = Room(1, waiting=0), full
    assert Browser(known).send(link, link, **fields).status_code == 303


@pytest.mark.parametrize("path", ["/admin/colours/pause", "/admin/colours/resume", "/admin/-/logout"])
def test_forms_without_the_sessions_token_are_refused(known, path):
    browser = Browser(known)
    browser.log_in()
    refused = browser.post(path)
    assert refused.status_code == 403
    assert "<h1>That did not work</h1>" in refused.text
    assert browser.post(path, {"csrf": "guessed"}).status_code == 403
    other = Browser(known)
    other.log_in()
    theirs = re.search(r'name="csrf" value="([^"]+)"', other.get("/admin").text).group(1)
    assert browser.post(path, {"csrf": theirs}).status_code == 403
    assert browser.get("/admin").status_code == 200


def test_a_login_form_from_elsewhere_is_refused(known):
    browser = Browser(known)
    form = {"name": "ada", "password": PASSWORD}
    assert browser.post("/admin/-/login", form).status_code == 403
    assert browser.post("/admin/-/login", {**form, "csrf": ""}).status_code == 403
    browser.get("/admin/-/login")
    assert browser.post("/admin/-/login", {**form, "csrf": "guessed"}).status_code == 403


def test_a_form_that_cannot_be_read_is_refused(known):
    browser = Browser(known)
    many = "&".join(f"a{k}=1" for k in range(50))
    for body in (b"\xff\xfe", many.encode()):
        answer = browser._run(browser.client.post("/admin/-/login", content=body))
        assert answer.status_code == 422


def test_an_expired_session_is_over(site, known):
    browser = Browser(known)
    browser.log_in()
    assert browser.get("/admin").status_code == 200
    with site.database.write() as connection:
        connection.execute(sa.update(schema.admin_session).values(expires=site.database.clock.now() - 1))
    assert browser.get("/admin").status_code == 303
    browser.log_in()
    with site.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.admin_session)) == 1, "swept away"


def token_of(link):
    return link.rsplit("/", 1)[1]


def test_links_that_are_spent_or_superseded_are_dead(site, app):
    first, second = first_link(site), first_link(site)
    browser = Browser(app)
    assert (browser.get(first).status_code, browser.get(second).status_code) == (410, 200)
    app.state.door.use_link(token_of(second), "ada", PASSWORD)
    assert [browser.get(link).status_code for link in (first, second)] == [410, 410]
    assert first_link(site) is None
    third = app.state.door.make_link()
    fourth = app.state.door.make_link()
    assert (browser.get(third).status_code, browser.get(fourth).status_code) == (410, 200)


def test_a_link_replaces_a_password_only_when_told_to_and_says_so(known):
    door = known.state.door
    link = door.make_link()
    browser = Browser(known)
    assert "gets this password in" in browser.get(link).text
    fields = {"name": "ada", "password": "another password", "again": "another password"}
    refused = browser.send(link, link, **fields)
    assert refused.status_code == 409
    assert "ada has a password already. Tick the box to replace it." in refused.text
    assert Browser(known).log_in().status_code == 303, "nothing was changed"
    assert browser.send(link, link, replace="yes", **fields).status_code == 303
    assert Browser(known).log_in(password="another password").status_code == 303


def test_the_other_admins_are_told_of_a_password_that_a_link_has_set(known):
    door = known.state.door
    ada = Browser(known)
    ada.log_in()
    assert "Since you last logged in" not in ada.get("/admin").text
    door.use_link(token_of(door.make_link()), "eve<b>", "eves password")
    ada.log_in()
    page = ada.get("/admin").text
    assert "Since you last logged in: The password of eve&lt;b&gt; was set on 2" in page
    door.use_link(token_of(door.make_link()), "ada", "another password", replace=True)
    ada.log_in(password="another password")
    page = ada.get("/admin").text
    assert "Since you last logged in: The password of ada was replaced on 2" in page
    ada.log_in(password="another password")
    page = ada.get("/admin").text
    assert "Since you last logged in" not in page
    assert "The password of ada was replaced on 2" in page, "it stays on the list"


def test_an_invented_link_costs_no_hash(known, monkeypatch):
    def never(*_):
        raise AssertionError("hashed for a stranger")

    monkeypatch.setattr(known.state.door, "_hasher", type("Never", (), {"hash": never}))
    with pytest.raises(Refused, match="used before"):
        known.state.door.use_link("invented", "ada", "another password")


def test_links_and_sessions_made_by_a_clock_a_year_ahead_do_not_last(site, known, monkeypatch):
    door, now = known.state.door, site.database.clock.now()
    monkeypatch.setattr(site.database.clock, "now", lambda: now + 365 * 86_400)
    token, link = door.log_in("ada", PASSWORD), token_of(door.make_link())
    assert door.session(token) is not None
    monkeypatch.setattr(site.database.clock, "now", lambda: now)
    assert door.session(token) is None
    assert not door.is_open(link)


def test_a_new_password_ends_all_sessions(known):
    browser, door = Browser(known), known.state.door
    browser.log_in()
    door.use_link(token_of(door.make_link()), "ada", "another password", replace=True)
    assert browser.get("/admin").status_code == 303
    assert Browser(known).log_in().status_code == 401
    assert Browser(known).log_in(password="another password").status_code == 303


def test_the_database_holds_no_token_and_no_password(site, known):
    browser = Browser(known)
    browser.log_in()
    link = known.state.door.make_link().rsplit("/", 1)[1]
    token = browser.client.cookies[SESSION_COOKIE]
    with site.database.read() as connection:
        rows = [connection.execute(sa.select(table)).all() for table in
                (schema.admin, schema.admin_session, schema.one_time_link)]  # fmt: skip
    kept = str(rows)
    assert "argon2id" in kept
    assert not any(secret in kept for secret in (link, token, PASSWORD))


def test_a_password_costs_who_guesses_it_what_is_asked_for_today(site, monkeypatch):
    monkeypatch.setattr(auth, "PasswordHasher", PasswordHasher)
    hasher = Door(site.database)._hasher
    assert (hasher.type.name, hasher.memory_cost >= 19 * 1024, hasher.time_cost >= 2) == ("ID", True, True)
