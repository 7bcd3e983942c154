"""The hostile list: no fault, nothing told that is ours alone, and honest people are served meanwhile."""

from __future__ import annotations

import asyncio
import json

import pytest

from similitude.study.service import Joining
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.web.app import create_app
from similitude.study.web.auth import Door
from tests.study.hostile import Hostile, everything, send
from tests.study.servers import write_study
from tests.study.test_login import PASSWORD
from tests.study.test_service import rows

FORBIDDEN = (
    "Traceback",
    "sqlalchemy",
    "psycopg",
    "sqlite3",
    "OperationalError",
    'File "',
    "answers.db:",
    "site-packages",
)
AT_ONCE = 40  # requests that are under way together
PATIENCE = 60  # seconds for one of them: none of ours takes one


@pytest.fixture
def site(tmp_path, url):
    settings = "[question]\nnumber = 60\n[raters]\njoins_per_address = 0\n"
    site = open_site(write_study(tmp_path / "words", settings), url)
    door = Door(site.database)
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    yield site
    site.close()


def secrets_of(site):
    """What must not stand in any reply: the key, where things are, the password of the database."""
    service = site.studies["words"]
    hidden = [rows(service, schema.secret)[0]["value"], str(site.root), site.database.where]
    if site.database.url.password:
        hidden.append(site.database.url.password)
    return hidden


class Honest:
    """A person who answers between the blows."""

    def __init__(self, app, token):
        self.app, self.headers, self.answered = app, (("authorization", f"Bearer {token}"),), 0

    async def answer(self):
        held = await self._ask("questions", b"")
        said = {"number": held["questions"][0]["number"], "uid": f"honest-{self.answered:04d}", "response": [1]}
        self.answered = (await self._ask("answers", json.dumps(said).encode()))["answered"]

    async def _ask(self, what, body):
        reply = await send(self.app, Hostile("POST", f"/api/words/{what}", self.headers, body), "192.0.2.99")
        assert reply.status == 200, reply.text
        return json.loads(reply.body)


@pytest.mark.slow
def test_the_hostile_list(site):
    service = site.studies["words"]
    app = create_app(site)
    mean, good = (service.join(Joining(name)).result() for name in ("mean-browser", "good-browser"))
    for rater_id in (1, 2):
        service.consent(rater_id).result()
    blows = everything(mean)
    assert len(blows) > 700
    honest = Honest(app, good)

    async def strike():
        replies = []
        for start in range(0, len(blows), AT_ONCE):
            together = [send(app, one, f"198.51.100.{start % 250}") for one in blows[start : start + AT_ONCE]]
            async with asyncio.timeout(PATIENCE):
                replies += (await asyncio.gather(*together, honest.answer()))[:-1]
        return replies

    replies = asyncio.run(strike())
    hidden = [*secrets_of(site), *FORBIDDEN]
    for one, reply in zip(blows, replies, strict=True):
        what = f"{one.method} {one.target[:80]} {one.headers[-1:]!r:.80} {one.body[:60]!r}"
        assert 200 <= reply.status < 500, what
        assert not [word for word in hidden if word in reply.text], what
        assert "evil.example" not in reply.text, what
        assert not (reply.is_page and ("<script>alert" in reply.text or "<img src=x" in reply.text)), what
        assert not [name for name, value in reply.headers if "\n" in value or "\r" in value], what
        assert ("x-content-type-options", "nosniff") in reply.headers, what
    mine = [row for row in rows(service, schema.answer) if row["rater_id"] == 2]
    assert [row["number"] for row in mine] == list(range(honest.answered))
    assert honest.answered == -(-len(blows) // AT_ONCE), "served all the while"
    assert rows(service, schema.admin_session) == []
    assert [row["name"] for row in rows(service, schema.admin)] == ["ada"]
    for row in rows(service, schema.answer):
        assert row["outcome"] in ("answered", "cant_tell", "skipped", "not_shown")


def test_the_same_answer_from_everywhere_at_once_is_one(site):
    """Parallel repeats of joining, agreeing and answering leave one of each."""
    app = create_app(site)
    service = site.studies["words"]
    join = Hostile("POST", "/api/words/join", (), b'{"uid": "twice-and-again"}')

    async def together(one):
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*(send(app, one) for _ in range(30)))

    joined = asyncio.run(together(join))
    tokens = {json.loads(reply.body)["token"] for reply in joined}
    assert len(tokens) == 1
    known = (("authorization", f"Bearer {tokens.pop()}"),)
    for what, body in (("consent", b""), ("questions", b"")):
        said = asyncio.run(together(Hostile("POST", f"/api/words/{what}", known, body)))
        assert {reply.status for reply in said} == {200}
    answer = b'{"number": 0, "uid": "answer-one", "response": [1]}'
    said = asyncio.run(together(Hostile("POST", "/api/words/answers", known, answer)))
    assert {reply.status for reply in said} == {200}
    assert len(rows(service, schema.rater)) == 1
    assert len(rows(service, schema.answer)) == 1
