"""The interface for programs of others: ask and tell by a token, the model, the export; who may not, and from where."""

import asyncio
import hashlib
import json
import re
import time

import httpx
import numpy as np
import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.tokens import ApiTokens
from similitude.study.web.api import Askers
from similitude.study.web.app import create_app
from similitude.study.web.attempts import Attempts
from tests.study.live import NAMES, answer, fill, join, open_study, respond, worker_of, write_study

BASE = "/api/colours/v1"


class Lab:
    """A program that asks an application in this process."""

    def __init__(self, app, token=None, address="192.0.2.7"):
        self.app, self.token, self.address = app, token, address

    def call(self, method, path, body=None, **headers):
        async def ask():
            transport = httpx.ASGITransport(self.app, client=(self.address, 1), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                shown = {"Authorization": f"Bearer {self.token}"} if self.token else {}
                return await client.request(method, f"{BASE}{path}", json=body, headers={**shown, **headers})

        return asyncio.run(ask())

    def post(self, path, **body):
        return self.call("POST", path, body)

    def get(self, path, **headers):
        return self.call("GET", path, **headers)


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", number=8))
    service.site = site
    yield service
    site.close()


@pytest.fixture
def app(service):
    return create_app(service.site)


@pytest.fixture
def lab(app, service):
    """Give programs tokens."""

    def with_scopes(*scopes, days=None, **options):
        token = ApiTokens(service.database).make(service.study_id, "a lab", scopes, "ada", days)
        return Lab(app, token, **options)

    return with_scopes


def test_a_whole_round_by_a_token(service, lab):
    rng, program = np.random.default_rng(0), lab("ask")
    about = program.get("/about").json()
    assert (about["version"], about["form"], about["shows"], about["length"], about["consent"]) == (
        "v1", "triplet", 3, 8, True,
    )  # fmt: skip
    assert program.post("/ask", rater="P07").json()["code"] == "no_consent"
    state = program.post("/ask", rater="P07", consent=True, parameters={"room": "3"}).json()
    while state["questions"]:
        question = state["questions"][0]
        said = respond("triplet", [item["name"] for item in question["shown"]], rng)
        told = {"rater": "P07", "number": question["number"], "uid": f"answer-{question['number']}", "response": said}
        state = program.post("/tell", **told).json()
        assert program.post("/tell", **told).json()["answered"] == state["answered"], "told twice is answered once"
    assert state["done"]
    assert program.post("/finish", rater="P07").json() == {"code": None, "redirect": None, "withheld": None}
    with service.database.read() as connection:
        raters = connection.execute(sa.select(schema.rater)).mappings().all()
    assert [(one["identity"], one["answered"], one["origin"]) for one in raters] == [("P07", 8, "joined")]


def test_raters_of_a_page_ask_without_a_token_of_the_lab(lab, app):
    joined = Lab(app).post("/join", uid="browser0", parameters={"rater": "x"}).json()
    rater = Lab(app, joined["token"])
    rater.post("/consent")
    assert len(rater.post("/ask").json()["questions"]) == 5
    assert rater.post("/ask", rater="another").json()["code"] == "rater", "nobody speaks for another"
    assert rater.get("/items").json()["items"][0]["name"] == "c00"
    assert lab("ask").get("/items").json() == rater.get("/items").json()
    assert rater.get("/model").status_code == 401


def test_an_invited_study_lets_in_whom_a_token_names(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch="[raters]\ninvited = true"))
    try:
        token = ApiTokens(site.database).make(service.study_id, "a lab", ["ask"], "ada")
        app = create_app(site)
        assert Lab(app, token).post("/ask", rater="P07", consent=True).status_code == 200
        assert Lab(app).post("/join", uid="browser0", parameters={"rater": "P08"}).status_code == 403
    finally:
        site.close()


def test_rehearsals_are_told_apart(service, lab):
    program = lab("ask")
    program.post("/ask", rater="P07", consent=True)
    trial = program.post("/ask", rater="P07", consent=True, rehearsal=True).json()["questions"][0]
    said = {"number": trial["number"], "uid": "answer-00", "response": [1]}
    assert program.post("/tell", rater="P07", rehearsal=True, **said).status_code == 200
    with service.database.read() as connection:
        query = sa.select(schema.rater.c.origin, schema.rater.c.answered)
        assert sorted(map(tuple, connection.execute(query))) == [("joined", 0), ("rehearsal", 1)]


def test_the_model_by_numbers_as_a_file_and_by_neighbours(service, lab, tmp_path):
    program = lab("read")
    assert program.get("/model").json()["code"] == "no_model"
    fill(service, 20, 8)
    worker_of(service).step()
    learned = program.get("/model?distances=true").json()
    (tmp_path / "model.sim").write_bytes(program.get("/model.sim").content)
    similarity = sm.Similarity.load(tmp_path / "model.sim")
    assert learned["items"] == NAMES == list(similarity.names)
    np.testing.assert_array_equal(learned["positions"], similarity.embedding)
    np.testing.assert_array_equal(learned["distances"], similarity.distances())
    assert program.get("/model").json()["distances"] is None
    near = program.get("/neighbors?item=c03&k=2").json()["neighbors"]
    assert [one["item"] for one in near] == similarity.neighbors("c03", 2)
    assert near[0]["distance"] <= near[1]["distance"]
    for wrong in ("item=nobody", "item=c03&k=0", "item=c03&k=12", "item=c03&k=x", "item=c03&k=%C2%B2", ""):
        assert program.get(f"/neighbors?{wrong}").status_code == 422
    assert program.get("/model?distances=yes").status_code == 422
    state = program.get("/state").json()
    assert (state["totals"]["answers"], state["paused"], state["model"]["version"]) == (160, False, 1)


def test_the_export_is_the_one_of_the_admin(service, lab):
    fill(service, 2, 3)
    program = lab("read")
    head, *rows = [json.loads(line) for line in program.get("/export?format=jsonl").text.splitlines()]
    assert head["items"] == NAMES
    assert [row["rater"] for row in rows] == ["r0001"] * 3 + ["r0002"] * 3
    assert program.get("/export?format=exe").status_code == 422


def test_an_admin_token_pauses_and_may_do_everything(service, lab):
    program = lab("admin")
    program.post("/ask", rater="P07", consent=True)
    assert program.post("/pause").json() == {"paused": True}
    assert program.post("/ask", rater="P08", consent=True).json()["paused"]
    assert program.get("/state").json()["paused"]
    assert program.post("/resume").json() == {"paused": False}


ASKED = [("POST", "/ask", "ask"), ("POST", "/tell", "ask"), ("POST", "/finish", "ask"), ("GET", "/items", "ask"),
         ("GET", "/model", "read"), ("GET", "/model.sim", "read"), ("GET", "/neighbors?item=c00", "read"),
         ("GET", "/state", "read"), ("GET", "/export", "read"), ("POST", "/pause", "admin"),
         ("POST", "/resume", "admin")]  # fmt: skip
TOLD = {"/tell": {"number": 0, "uid": "abcdefgh"}}


def test_every_scope_is_asked_for(lab):
    lacking = {"ask": lab("read"), "read": lab("ask"), "admin": lab("ask", "read")}
    for method, path, scope in ASKED:
        body = {"rater": "P07", **TOLD.get(path, {})} if method == "POST" and scope == "ask" else None
        reply = lacking[scope].call(method, path, body)
        assert (path, reply.status_code, reply.json()["code"]) == (path, 403, "scope")
        assert f"'{scope}'" in reply.json()["detail"]


def test_tokens_end_and_belong_to_one_study(service, lab, app):
    tokens = ApiTokens(service.database)
    program, short = lab("read"), lab("read", days=1e-9)
    assert short.get("/state").json()["code"] == "unknown_token"
    assert program.get("/state").status_code == 200
    tokens.revoke(service.study_id, tokens.of_study(service.study_id)[-1].id, "ada")
    with service.database.write() as connection:
        other = {"name": "other", "paused": False, "created": 1.0}
        number = connection.scalar(sa.insert(schema.study).returning(schema.study.c.id), other)
    elsewhere = Lab(app, tokens.make(number, "another study", ["admin"], "ada"))
    assert elsewhere.get("/state").status_code == 401
    with pytest.raises(Refused, match="no token"):
        tokens.revoke(service.study_id, tokens.of_study(number)[0].id, "ada")


def test_a_revoked_token_works_no_longer_though_it_was_right_a_moment_ago(service, lab):
    program, tokens = lab("read"), ApiTokens(service.database)
    assert program.get("/state").status_code == 200
    (found,) = tokens.of_study(service.study_id)
    assert found.last_used == pytest.approx(time.time(), abs=600)
    tokens.revoke(service.study_id, found.id, "ada")
    assert program.get("/state").status_code == 401
    assert [one.state(0.0) for one in tokens.of_study(service.study_id)] == ["revoked"]


def test_only_a_digest_is_kept_and_no_token_is_logged(service, lab, caplog):
    caplog.set_level("DEBUG")
    program = lab("read")
    program.get("/state")
    Lab(program.app, "sim_0123_guess").get("/state")
    with service.database.read() as connection:
        rows = [dict(row) for row in connection.execute(sa.select(schema.api_token)).mappings()]
    assert program.token not in json.dumps(rows)
    assert rows[0]["digest"] == hashlib.sha256(program.token.encode()).hexdigest()
    secret = program.token.split("_", 2)[2]  # it may hold further ones
    assert secret not in caplog.text
    assert "guess" not in caplog.text


def test_wrong_tokens_are_counted_by_network_and_do_not_shut_out_the_right_one(app, lab, service):
    now = [0.0]
    app.state.asker = Askers(service.database, Attempts(lambda: now[0]))
    right, newcomer = lab("read"), lab("read")
    assert right.get("/state").status_code == 200
    guesses = [Lab(app, f"sim_{k:012x}_guess").get("/state") for k in range(7)]
    assert [one.status_code for one in guesses] == [401] * 5 + [429] * 2
    assert int(guesses[-1].headers["retry-after"]) == 300
    assert newcomer.get("/state").status_code == 429, "one that was never right waits like everybody there"
    assert right.get("/state").status_code == 200
    assert lab("read", address="198.51.100.1").get("/state").status_code == 200, "nobody else is kept waiting"
    now[0] = 301.0
    assert newcomer.get("/state").status_code == 200


ORIGIN = "https://lab.example"


@pytest.mark.parametrize("named", [f'["{ORIGIN}"]', '["*"]'])
def test_pages_of_named_sites_may_ask(tmp_path, named):
    site, _ = open_study(write_study(tmp_path / "colours", catch=f"[raters]\norigins = {named}"))
    try:
        program = Lab(create_app(site))
        first = program.call(
            "OPTIONS", "/tell", Origin=ORIGIN, **{"Access-Control-Request-Method": "POST"},
        )  # fmt: skip
        assert first.status_code == 200
        assert first.headers["access-control-allow-origin"] == ORIGIN
        assert "authorization" in first.headers["access-control-allow-headers"]
        for reply in (program.get("/about", Origin=ORIGIN), program.get("/model", Origin=ORIGIN)):
            assert reply.headers["access-control-allow-origin"] == ORIGIN
            assert reply.headers["vary"] == "Origin"
            assert "access-control-allow-credentials" not in reply.headers
        other = program.get("/about", Origin="https://evil.example")
        assert ("access-control-allow-origin" in other.headers) == (named == '["*"]')
    finally:
        site.close()


def test_no_page_of_another_site_may_ask_unless_it_is_named(lab):
    assert "access-control-allow-origin" not in lab("ask").get("/about", Origin=ORIGIN).headers


def test_the_page_of_the_interface_says_all_of_it(app):
    async def ask(path):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://study") as client:
            return await client.get(path)

    page, described = asyncio.run(ask("/api")).text, asyncio.run(ask("/openapi.json")).json()
    parts = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(described))) <= parts
    paths = [path for path in described["paths"] if not path.endswith("{name}")]
    assert all(path.startswith("/api/{study}/v1/") for path in paths), "what our pages ask is no promise"
    assert {path.rsplit("/", 1)[1] for path in paths} >= {path.partition("?")[0][1:] for _, path, _ in ASKED}
    for path in paths:
        assert f"{path}</code>" in page
    assert re.search(r"<code>milliseconds</code>.*?integer or null", page, re.DOTALL)
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_token_waits_for_no_join_of_its_own(service, lab):
    """Who is known by name is found in the same breath as who came by a link of that name."""
    rater_id = join(service, rater="P07")
    answer(service, rater_id, 2, np.random.default_rng(0))
    assert lab("ask").post("/ask", rater="P07").json()["answered"] == 2
