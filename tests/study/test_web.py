"""The interface of raters over HTTP: what it refuses, and that nothing in a request makes it fail."""

from __future__ import annotations

import asyncio
import contextlib
import json

import httpx
import pytest
import schemathesis
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.core import NotSet

from similitude.study.settings import StudyError, read_study
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.store.database import StoreError
from similitude.study.web.app import create_app
from similitude.study.web.watch import Watch
from tests.study.servers import write_study

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


class Browser:
    """Requests to an application in this process."""

    def __init__(self, app):
        self.app = app

    def call(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def join(self, uid="browser0", **parameters):
        token = self.call("POST", "/api/words/join", json={"uid": uid, "parameters": parameters}).json()["token"]
        return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def site(tmp_path, url):
    site = open_site(write_study(tmp_path / "words", "[question]\nnumber = 5"), url)
    yield site
    site.close()


@pytest.fixture
def browser(site):
    return Browser(create_app(site))


def log(site):
    with site.database.read() as connection:
        return connection.execute(sa.select(schema.answer)).mappings().all()


FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("path", ["/api/words/join", "/api/words/answers", "/api/words/survey", "/admin/-/login"])
def test_who_goes_away_while_sending_leaves_nothing_in_the_log(browser, caplog, path):
    """A body that takes too long ends in the same way: to the application, who asked has gone."""
    headers = [(name.encode(), value.encode()) for name, value in {**browser.join(), **FORM}.items()]
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.lower(), value) for name, value in headers], "client": ("192.0.2.1", 1),
    }  # fmt: skip
    coming = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])
    said = []

    async def receive():
        return next(coming)

    async def send(message):
        said.append(message)

    asyncio.run(browser.app(scope, receive, send))
    assert said[0]["status"] == 400
    assert caplog.records == []


def test_a_round(browser, site):
    token = browser.join()
    assert browser.call("GET", "/api/words/me", headers=token).json()["stage"] == "consent"
    assert browser.call("POST", "/api/words/consent", headers=token).json()["stage"] == "questions"
    state = browser.call("POST", "/api/words/questions", headers=token).json()
    while state["questions"]:
        body = {"number": state["questions"][0]["number"], "uid": f"answer-{state['answered']}", "response": [2]}
        state = browser.call("POST", "/api/words/answers", headers=token, json=body).json()
    assert state["done"]
    assert browser.call("GET", "/api/words/me", headers=token).json()["stage"] == "survey"
    out = browser.call("POST", "/api/words/survey", headers=token, json={}).json()
    assert out == {"code": None, "redirect": None, "withheld": None}
    assert browser.call("GET", "/api/words/me", headers=token).json()["stage"] == "done"
    assert len(log(site)) == 5


UID = '"uid": "abcdefgh"'
BODIES = [
    b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{}",
    f'{{"number": 0, {UID}, "response": [NaN]}}'.encode(),
    f'{{"number": 0, {UID}, "response": [1e999]}}'.encode(),
    f'{{"number": 0, {UID}, "response": [{"9" * 400}]}}'.encode(),
    f'{{"number": {"9" * 5000}, {UID}, "response": [1]}}'.encode(),
    f'{{"number": -1, {UID}, "response": [1]}}'.encode(),
    f'{{"number": 0, {UID}, "response": ["a"]}}'.encode(),
    f'{{"number": 0, {UID}, "response": [1], "milliseconds": {10**30}}}'.encode(),
    f'{{"number": 0, {UID}, "response": {json.dumps([1] * 101)}}}'.encode(),
    f'{{"number": 0, {UID}, "outcome": "redacted"}}'.encode(),
    f'{{"number": 0, {UID}, "response": [1], "strategy": "random"}}'.encode(),
    b'{"number": 0, "uid": "\\ud800aaaaaaaa", "response": [1]}',
    b'{"number": 0, "uid": "aaaa\\u0000aaaa", "response": [1]}',
    b'{"number": 0, "uid": "short", "response": [1]}',
    b'{"number": 0, "\\ud800": 1, "uid": "abcdefgh"}',
    b"[" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_bodies_that_are_no_answer_are_refused(browser, site):
    token = browser.join()
    browser.call("POST", "/api/words/consent", headers=token)
    browser.call("POST", "/api/words/questions", headers=token)
    for body in BODIES:
        reply = browser.call("POST", "/api/words/answers", headers=token, content=body)
        assert reply.status_code == 422, body[:60]
        assert set(reply.json()) == {"code", "detail"}
    assert log(site) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"response": ["1"]},
        {"response": [True]},
        {"number": "0"},
        {"number": False},
        {"number": 0.5},
        {"milliseconds": "900"},
        {"milliseconds": True},
        {"direction": "up"},
        {"background": "grey"},
        {"uid": 12345678},
    ],
)
def test_strings_and_booleans_are_no_numbers(browser, site, wrong):
    token = browser.join()
    browser.call("POST", "/api/words/consent", headers=token)
    browser.call("POST", "/api/words/questions", headers=token)
    right = {"number": 0, "uid": "answer-0", "response": [1], "milliseconds": 900, "direction": "rtl"}
    refused = browser.call("POST", "/api/words/answers", headers=token, json={**right, **wrong})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assert log(site) == []
    assert browser.call("POST", "/api/words/answers", headers=token, json=right).status_code == 200


def test_text_that_no_database_takes_is_refused(browser):
    for text in ("\\u0000", "\\ud800", "\\udfff\\ud800"):
        body = f'{{"uid": "abcdefgh", "parameters": {{"rater": "a{text}"}}}}'.encode()
        assert browser.call("POST", "/api/words/join", content=body).status_code == 422
        body = f'{{"uid": "abcdefgh", "parameters": {{"a{text}": "b"}}}}'.encode()
        assert browser.call("POST", "/api/words/join", content=body).status_code == 422
        body = f'{{"replies": {{"a": "b{text}"}}}}'.encode()
        assert browser.call("POST", "/api/words/survey", content=body, headers=browser.join()).status_code == 422


def test_bodies_that_are_too_large_are_refused(browser):
    large = b'{"uid": "abcdefgh", "parameters": {"rater": "' + b"a" * 70_000 + b'"}}'
    assert browser.call("POST", "/api/words/join", content=large).status_code == 413

    async def chunks():
        for _ in range(200):
            yield b" " * 1000

    assert browser.call("POST", "/api/words/join", content=chunks()).status_code == 413
    too_many = {"uid": "abcdefgh", "parameters": {str(k): "" for k in range(21)}}
    assert browser.call("POST", "/api/words/join", json=too_many).status_code == 422


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_forged_tokens_are_refused(browser):
    browser.join()
    for token in ("", "Bearer", "Bearer 1.aaaa", "Basic 1", "Bearer 1.\xe9", "x" * 10_000):
        for path in ("questions", "answers", "survey", "consent"):
            headers = [(b"authorization", token.encode("latin-1"))]
            reply = browser.call("POST", f"/api/words/{path}", headers=headers, content=b"{}")
            assert reply.status_code == 401, (path, token)


def test_rater_ids_and_items_are_kept_and_sent_as_they_are(tmp_path, url):
    names = ["<script>alert(1)</script>", "a&b", "../../x", "c"]
    site = open_site(write_study(tmp_path / "words", "[question]\nnumber = 5", names), url)
    try:
        browser = Browser(create_app(site))
        token = browser.join(rater="<img src=x onerror=alert(1)>")
        browser.call("POST", "/api/words/consent", headers=token)
        reply = browser.call("POST", "/api/words/questions", headers=token)
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        shown = {item["name"] for question in reply.json()["questions"] for item in question["shown"]}
        assert shown <= set(names)
    finally:
        site.close()


@pytest.fixture
def pictures(tmp_path):
    folder = write_study(tmp_path / "words", "[question]\nnumber = 1")
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text(encoding="utf-8").replace("table = 'items.csv'", ""), encoding="utf-8"
    )
    (folder / "items").mkdir()
    for name in ("a", "b c", "d%2e", "ü", "two\nlines", "end\n"):
        (folder / "items" / f"{name}.svg").write_bytes(SVG)
    (tmp_path / "secret.svg").write_text("secret", encoding="utf-8")
    site = open_site(folder, f"sqlite:///{tmp_path / 'a.db'}")
    yield site
    site.close()


def test_items_are_found_by_name_and_nothing_else_is(pictures):
    browser = Browser(create_app(pictures))
    for item in pictures.studies["words"].on_screen.values():
        assert browser.call("GET", item["address"]).content == SVG
    for name in ("../study.toml", "..%2Fstudy.toml", "%2e%2e/study.toml", "/etc/passwd", "..%5c..", "a.svg", "a%00"):
        reply = browser.call("GET", f"/api/words/items/{name}")
        assert reply.status_code == 404, name


def test_a_part_of_a_file_is_sent_where_a_player_asks_for_it(pictures):
    reply = Browser(create_app(pictures)).call("GET", "/api/words/items/a", headers={"Range": "bytes=5-9"})
    assert (reply.status_code, reply.content) == (206, SVG[5:10])
    assert reply.headers["content-range"] == f"bytes 5-9/{len(SVG)}"


@pytest.mark.parametrize("damage", [None, SVG[: len(SVG) // 2], b""], ids=["gone", "cut", "empty"])
def test_a_file_that_breaks_is_said_once_not_served_and_named_on_the_admin_page(pictures, caplog, damage):
    browser, path = Browser(create_app(pictures)), pictures.root / "items" / "a.svg"
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    for _ in range(3):
        assert browser.call("GET", "/api/words/items/a").status_code == 404
    assert [str(path) in record.message for record in caplog.records if "cannot see" in record.message] == [True]
    watch = Watch(pictures.studies["words"])
    assert watch.look()["now"]["not_served"] == ["a.svg"]
    path.write_bytes(SVG)
    assert browser.call("GET", "/api/words/items/a").content == SVG
    assert watch.look()["now"]["not_served"] == []


def test_items_outside_the_folder_are_refused(tmp_path):
    folder = write_study(tmp_path / "words")
    (folder / "items.csv").write_text("name,file\na,../secret.svg\n", encoding="utf-8")
    (tmp_path / "secret.svg").write_bytes(SVG)
    with pytest.raises(StudyError, match="outside the study's folder"):
        open_site(folder, f"sqlite:///{tmp_path / 'a.db'}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("titel = 'x'", "titel: unknown key"),
        ("name = 'x'", "name: unknown key"),
        ("[question]\nform = 'pair'", "question.form"),
        ("[question]\nnumber = 0", "question.number"),
        ("[question]\nform = 'choice'\ngrid_size = 3\npick = 3", "pick: expected fewer"),
        ("[question]\nform = 'labelling'", "at least 2 different classes"),
        ("[catch]\nevery = 3", "catch trials are asked for"),
        ("[completion]\nredirect = 'javascript:alert(1)'", "completion.redirect"),
        ("[[survey.fields]]\nname='a'\nlabel='A'\n[[survey.fields]]\nname='a'\nlabel='A'", "a name of its own"),
        ("[pages]\nconsent = 'nowhere.md'", "cannot read 'nowhere.md'"),
        ("title = 3", "not valid TOML"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_key(tmp_path, settings, message):
    with pytest.raises(StudyError, match=message):
        read_study(write_study(tmp_path / "words", settings))


@pytest.mark.parametrize(
    "names", [["a", "a", "b"], ["", "b", "c"], ["a" * 201, "b", "c"], ["a\0", "b", "c"], ["a", "b"]]
)
def test_items_that_cannot_be_are_refused(tmp_path, names):
    with pytest.raises(StudyError):
        open_site(write_study(tmp_path / "words", "", names), f"sqlite:///{tmp_path / 'a.db'}")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_store_that_is_away_is_a_503_that_says_nothing_of_where_it_is(browser, site, monkeypatch, caplog):
    token = browser.join()
    browser.call("POST", "/api/words/consent", headers=token)
    browser.call("POST", "/api/words/questions", headers=token)

    def fails(database):
        raise StoreError("/srv/secret/answers.db: the disk is full; make room")

    monkeypatch.setattr(type(site.database), "write", fails)
    body = {"number": 0, "uid": "abcdefgh", "response": [1]}
    reply = browser.call("POST", "/api/words/answers", headers=token, json=body)
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "2"
    assert "nothing was lost" in reply.json()["detail"]
    pages = [browser.call("GET", path, headers={"accept": "text/html"}) for path in ("/s/words/", "/admin/-/login")]
    for told in (reply, *pages):
        assert not any(word in told.text for word in ("answers.db", "/srv", "disk is full"))
    assert "/srv/secret/answers.db: the disk is full" in caplog.text, "the log keeps it"
    monkeypatch.undo()
    assert browser.call("POST", "/api/words/answers", headers=token, json=body).json()["answered"] == 1


MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


@pytest.mark.slow
def test_no_description_can_be_followed_into_a_fault(tmp_path, pytestconfig):
    """schemathesis: requests made from the description of the interface, as it is and against it; no fault answers."""
    count = 12 if pytestconfig.getoption("whole") else 5
    site = open_site(write_study(tmp_path / "words", "[question]\nnumber = 50"), f"sqlite:///{tmp_path / 'a.db'}")
    browser = Browser(create_app(site))
    token = browser.join()
    browser.call("POST", "/api/words/consent", headers=token)
    described = schemathesis.openapi.from_dict(browser.call("GET", "/openapi.json").json())
    seen = set()
    try:
        for operation in described.get_all_operations():
            for mode in MODES:
                follow(browser, operation.ok(), mode, count, token, seen)
    finally:
        site.close()
    promised = {"POST /api/{study}/v1/tell", "POST /api/{study}/v1/join", "GET /api/{study}/v1/model"}
    assert promised <= {one for one, _ in seen}
    assert {200, 401, 404} <= {status for _, status in seen}
    assert not [one for one in seen if one[1] >= 500]


def follow(browser, operation, mode, count, token, seen):
    """Send so many requests of one operation: to any study, to a known one, and as a rater of it."""

    @given(case=operation.as_strategy(mode), who=st.sampled_from(["stranger", "forger", "rater"]))
    @settings(max_examples=count, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
    def send(case, who):
        path = "/" + case.formatted_path.lstrip("/")
        headers = {name: value for name, value in (case.headers or {}).items() if isinstance(value, str)}
        if who != "stranger":
            path = operation.path.replace("{study}", "words").replace("{name}", "w01")
        if who == "rater":
            headers |= token
        body = b"" if isinstance(case.body, NotSet) else case.body
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        encoded = [
            (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers.items()
        ]
        reply = browser.call(operation.method.upper(), path, headers=encoded, content=content)
        seen.add((operation.label, reply.status_code))
        if reply.status_code == 200:
            operation.validate_response(schemathesis.Response.from_any(reply))

    with contextlib.suppress(Unsatisfiable):
        send()
