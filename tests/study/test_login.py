"""Who may watch: passwords, sessions, forged forms, guessing, links that work once."""

import asyncio
import re

import httpx
import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from similitude.study.store import schema
from similitude.study.web.app import create_app
from similitude.study.web.door import Door, Limiter
from similitude.study.web.login import SESSION_COOKIE, first_link
from tests.study.live import open_study, write_study

PASSWORD = "a long password"
QUICK = PasswordHasher(time_cost=1, memory_cost=64)


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


@pytest.fixture
def site(tmp_path):
    site, _ = open_study(write_study(tmp_path / "colours"))
    yield site
    site.close()


@pytest.fixture
def app(site):
    app = create_app(site)
    app.state.door = Door(site.database, hasher=QUICK)
    return app


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
            return QUICK.verify(hashed, password)

    monkeypatch.setattr(door, "_hasher", Counting())
    door.log_in("ada", "wrong")
    door.log_in("nobody", "wrong")
    assert len(seen) == 2
    assert len({hashed.rsplit("$", 2)[0] for hashed in seen}) == 1, "the same cost"


def test_guessing_is_slowed_down_per_address_by_a_clock_that_only_runs_forward(known):
    hands = [0.0]
    known.state.door.limiter = Limiter(lambda: hands[0])
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


def test_the_limiter_forgets_the_oldest_addresses():
    limiter = Limiter(lambda: 0.0)
    for k in range(10_050):
        limiter.failed(str(k))
    assert len(limiter._failed) == 10_000


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


def test_a_new_password_ends_the_sessions_of_its_name(known):
    browser, door = Browser(known), known.state.door
    browser.log_in()
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", "another password")
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
