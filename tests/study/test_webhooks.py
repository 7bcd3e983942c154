"""Webhooks: told once of what happened, signed, again where nobody heard it, and never in the way of an answer."""

import contextlib
import hashlib
import hmac
import http.server
import json
import os
import signal
import threading
from itertools import pairwise

import pytest
import sqlalchemy as sa

from similitude.study import courier as courier_module
from similitude.study.audit import deeds
from similitude.study.courier import Courier, wait_after
from similitude.study.refusal import Refused
from similitude.study.serve import telling
from similitude.study.store import schema
from similitude.study.supervise import Supervisor
from similitude.study.webhooks import EVENTS, MODEL_TROUBLE, QUOTA_FILLED, RATER_FINISHED, STUDY_COMPLETE, Webhooks
from tests.patience import until
from tests.study.live import answer, join, open_study, worker_of, write_study
from tests.study.test_login import admin_of

PAGE = "/admin/colours/webhooks"


@contextlib.contextmanager
def listening(*statuses):
    """A server that keeps what it is told; it replies with these statuses in turn, the last for good."""
    heard, left = [], list(statuses or (200,))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            heard.append((dict(self.headers), body))
            status = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/told", heard
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def service(tmp_path):
    limit = "[raters]\nlimit = 2\n[completion]\nseconds_per_question = 0"
    site, service = open_study(write_study(tmp_path / "colours", number=2, catch=limit))
    service.site = site
    yield service
    site.close()


def finish(service, rng, **parameters):
    rater_id = join(service, **parameters)
    answer(service, rater_id, 2, rng)
    service.survey(rater_id, {}).result()


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(0)


def made(service, url, events=tuple(EVENTS)):
    return Webhooks(service.database).make(service.study_id, url, events, "ada")


def rows(service):
    with service.database.read() as connection:
        return [
            dict(row)
            for row in connection.execute(sa.select(schema.delivery).order_by(schema.delivery.c.id)).mappings()
        ]


def test_what_happens_is_told_once_and_signed(service, rng):
    with listening() as (url, heard):
        secret = made(service, url)
        finish(service, rng, PROLIFIC_PID="a-person")
        finish(service, rng, rehearsal="yes")
        finish(service, rng)
        courier = Courier(service.database)
        while courier.deliver_due():
            pass
        told = [json.loads(body) for _, body in heard]
        assert [one["event"] for one in told] == [RATER_FINISHED, QUOTA_FILLED, RATER_FINISHED, STUDY_COMPLETE]
        assert (told[0]["rater"], told[0]["answered"], told[0]["study"]) == ("r0001", 2, "colours")
        assert told[3]["finished"] == 2
        assert b"a-person" not in b"".join(body for _, body in heard)
        for headers, body in heard:
            time, digest = (part.partition("=")[2] for part in headers["X-Similitude-Signature"].split(","))
            expected = hmac.new(secret.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
            assert hmac.compare_digest(digest, expected)
            assert headers["X-Similitude-Event"] == json.loads(body)["event"]
        assert len({headers["X-Similitude-Delivery"] for headers, _ in heard}) == 4
        assert {(row["status"], row["tries"], row["due"]) for row in rows(service)} == {(200, 1, None)}
        assert courier.deliver_due() == 0


def test_only_what_was_asked_for_is_told(service, rng):
    with listening() as (url, heard):
        made(service, url, [STUDY_COMPLETE])
        finish(service, rng)
        Courier(service.database).deliver_due()
        assert (heard, rows(service)) == ([], [])


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_was_not_heard_is_told_again_later(service, rng, status, monkeypatch):
    with listening(status, 204) as (url, heard):
        made(service, url, [RATER_FINISHED])
        finish(service, rng)
        courier, now = Courier(service.database), service.database.clock.now
        assert (courier.deliver_due(), len(heard)) == (1, 1)
        row = rows(service)[0]
        assert (row["status"], row["trouble"], row["tries"]) == (status, f"status {status}", 1)
        assert 10 <= row["due"] - now() <= 16
        assert courier.deliver_due() == 0  # not before its time
        monkeypatch.setattr(service.database.clock, "now", lambda: now() + 20)
        assert courier.deliver_due() == 1
        row = rows(service)[0]
        assert (row["status"], row["trouble"], row["due"], row["tries"]) == (204, None, None, 2)
        assert [headers["X-Similitude-Delivery"] for headers, _ in heard] == [str(row["id"])] * 2
        assert heard[0][1] == heard[1][1]


def test_waits_grow_and_end():
    waits = [wait_after(tries) for tries in range(1, 20)]
    assert waits[-1] is None
    assert all(later >= sooner for sooner, later in pairwise(waits[:-1]))
    assert 86_400 < sum(waits[:-1]) < 4 * 86_400


def test_an_address_where_nobody_is_holds_up_no_answer(service, rng):
    made(service, "http://127.0.0.1:9/nobody")
    finish(service, rng)
    Courier(service.database).deliver_due()
    assert {row["tries"] for row in rows(service)} == {1}
    assert all("refused" in row["trouble"] for row in rows(service))
    finish(service, rng)


def test_of_two_servers_one_tells(service, rng):
    with listening() as (url, heard):
        made(service, url, [RATER_FINISHED])
        finish(service, rng)
        first, second = Courier(service.database), Courier(service.database)
        taken = first._take()
        assert second.deliver_due() == 0
        first._write(taken[0], *first._send(taken[0]))
        assert len(heard) == 1


def test_a_server_that_dies_with_it_leaves_it_to_the_next(service, rng, monkeypatch):
    with listening() as (url, heard):
        made(service, url, [RATER_FINISHED])
        finish(service, rng)
        Courier(service.database)._take()
        now = service.database.clock.now
        monkeypatch.setattr(service.database.clock, "now", lambda: now() + courier_module._TAKEN + 1)
        assert (Courier(service.database).deliver_due(), len(heard)) == (1, 1)


def test_nothing_is_told_of_what_was_undone(service):
    rater_id = join(service)
    made(service, "http://127.0.0.1:9/nobody")
    with pytest.raises(Refused, match="still open"):
        service.survey(rater_id, {}).result()
    assert rows(service) == []


def test_a_model_in_trouble_is_told_of_once_an_hour(service, monkeypatch):
    made(service, "http://127.0.0.1:9/nobody", [MODEL_TROUBLE])
    worker = worker_of(service)
    assert worker.step()
    for _ in range(3):
        worker.fail(ValueError("of no concern to others"))
    assert [json.loads(row["body"])["trouble"] for row in rows(service)] == ["the model process failed (ValueError)"]


def test_a_model_process_that_is_killed_is_told_of(service):
    made(service, "http://127.0.0.1:9/nobody", [MODEL_TROUBLE])
    supervisor = Supervisor(service.site, first_wait=60.0).start()
    try:
        until(lambda: supervisor.pid, "it did not start")
        os.kill(supervisor.pid, signal.SIGKILL)
        until(lambda: rows(service), "nobody noticed")
    finally:
        supervisor.stop()
    assert [json.loads(row["body"])["trouble"] for row in rows(service)] == ["the model process ended"]


def test_a_server_tells_while_it_serves(service, rng, monkeypatch):
    monkeypatch.setattr(courier_module, "EVERY", 0.02)
    with listening() as (url, heard), telling(service.site):
        made(service, url, [RATER_FINISHED])
        finish(service, rng)
        until(lambda: len(heard) == 1, "nobody was told")


@pytest.mark.parametrize(
    ("url", "events", "said"),
    [("ftp://lab.example", [RATER_FINISHED], "url: expected https://"),
     ("lab.example", [RATER_FINISHED], "url: expected https://"),
     ("https://me:secret@lab.example", [RATER_FINISHED], "without a password"), ("https://lab.example", [], "events: "),
     ("https://" + "x" * 500, [RATER_FINISHED], "at most 500"), ("https://lab.example", ["king"], "found ..king..")],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_made(service, url, events, said):
    with pytest.raises(Refused, match=said):
        made(service, url, events)
    assert Webhooks(service.database).of_study(service.study_id) == []


def test_the_page_makes_tries_and_ends_them(service):
    browser = admin_of(service.site)
    with listening() as (url, heard):
        page = browser.send(PAGE, PAGE, url=url, rater_finished="yes").text
        hook = Webhooks(service.database).of_study(service.study_id)[0]
        with service.database.read() as connection:
            secret = connection.scalar(sa.select(schema.webhook.c.secret))
        assert secret in page
        assert secret not in browser.get(PAGE).text
        assert secret not in "".join(str(one) for one in deeds(service.database))
        assert browser.send(PAGE, f"{PAGE}/test", id=hook.id).status_code == 303
        assert "<td>waits</td>" in browser.get(PAGE).text
        Courier(service.database).deliver_due()
        assert json.loads(heard[0][1])["event"] == "test"
        assert "<td>told, status 200</td>" in browser.get(PAGE).text
        browser.send(PAGE, f"{PAGE}/test", id=hook.id)
        assert browser.send(PAGE, f"{PAGE}/end", id=hook.id).status_code == 303
        assert Courier(service.database).deliver_due() == 0
        assert "given up: the webhook was ended" in browser.get(PAGE).text
        for what in ("test", "end"):
            assert browser.send(PAGE, f"{PAGE}/{what}", id=hook.id).status_code == 404
    assert "url: expected https://" in browser.send(PAGE, PAGE, url="x", rater_finished="yes").text
