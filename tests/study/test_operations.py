"""For those who run the server: is it well, figures for Prometheus, logs that programs read."""

import asyncio
import contextlib
import json
import logging
import re
import subprocess
import sys
import time

import httpx
import pytest

from similitude.study.logs import JsonLines
from similitude.study.proxies import Proxies
from similitude.study.store.database import Database, StoreError
from similitude.study.web.app import create_app
from similitude.study.web.operations import BUCKETS, Meter
from tests.study.live import fill, open_study, worker_of, write_study

SAMPLE = re.compile(r'^(\w+)(?:\{(\w+="[^"]*"(?:,\w+="[^"]*")*)\})? (-?[0-9.e+-]+)$')


def ask(app, *paths, host="127.0.0.1"):
    async def all_of_them():
        transport = httpx.ASGITransport(app, client=(host, 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
            return [await client.get(path) for path in paths]

    return asyncio.run(all_of_them())


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    service.site = site
    yield service
    site.close()


def test_a_server_that_is_well_says_so_and_nothing_else(service, monkeypatch):
    app = create_app(service.site)
    (well,) = ask(app, "/healthz", host="203.0.113.9")
    assert (well.status_code, well.json()) == (200, {"status": "ok"})

    @contextlib.contextmanager
    def away(_):
        raise StoreError("/srv/secret/answers.db: the disk is gone")
        yield

    monkeypatch.setattr(Database, "read", away)
    (ill,) = ask(app, "/healthz")
    assert (ill.status_code, ill.json()) == (503, {"status": "no database"})
    monkeypatch.undo()
    service.site.writer.close()
    assert ask(app, "/healthz")[0].json() == {"status": "no writer"}


def test_figures_are_in_the_words_of_prometheus(service):
    fill(service, 3, 8)
    worker_of(service).step()
    app = create_app(service.site, meter=Meter(Proxies()))
    (reply,) = ask(app, "/api/colours/about", "/api/colours/about", "/metrics")[2:]
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    found, typed = {}, set()
    for line in reply.text.splitlines():
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("#"):
            name, labels, value = SAMPLE.match(line).groups()
            assert re.sub("_(bucket|sum|count)$", "", name) in typed
            found[name, labels or ""] = float(value)
    here = 'study="colours"'
    expected = {"raters": 3, "raters_finished": 0, "answers_total": 24, "paused": 0, "model_version": 1}
    assert {name: found[f"similitude_{name}", here] for name in expected} == expected
    assert found["similitude_questions_open", here] == 15
    assert found["similitude_questions_ready", here] == 20
    assert found["similitude_model_behind_answers", here] == 0
    assert 0 <= found["similitude_model_heartbeat_age_seconds", here] < 600
    assert found["similitude_request_seconds_count", 'request="about"'] == 2
    assert found["similitude_request_seconds_bucket", 'request="about",le="+Inf"'] == 2


def test_figures_are_for_those_who_were_named(service):
    app = create_app(service.site, meter=Meter(Proxies(["10.1.0.0/16"])))
    assert [ask(app, "/metrics", host=host)[0].status_code for host in ("10.1.2.3", "::1", "10.2.0.1", "x")] == [
        200, 200, 404, 404,
    ]  # fmt: skip
    assert ask(create_app(service.site), "/metrics")[0].status_code == 404, "off unless asked for"


def test_a_bucket_holds_what_is_at_most_its_bound():
    meter = Meter(Proxies())
    for seconds in (0.0005, 0.001, 0.02, 99.0):
        meter.count("tell", seconds)
    counts = [float(line.rsplit(" ", 1)[1]) for line in meter.lines() if "_bucket" in line]
    assert dict(zip(BUCKETS, counts, strict=False))[0.001] == 2
    assert counts == sorted(counts)
    assert counts[-2:] == [3, 4]


def test_counting_costs_a_few_microseconds():
    """Beside the millisecond that an answer takes; ten times more than it needs, for a busy machine."""
    meter, begin = Meter(Proxies()), time.process_time()
    for _ in range(10_000):
        meter.count("answers", 0.003)
    assert (time.process_time() - begin) / 10_000 < 20e-6


def test_a_line_of_the_log_is_json():
    try:
        raise ValueError("no\nsuch thing")
    except ValueError:
        fault = sys.exc_info()
    record = logging.LogRecord("similitude.study", logging.WARNING, "", 1, "%s: \n%s", ("a", "é"), fault)
    line = JsonLines().format(record)
    assert "\n" not in line
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("warning", "similitude.study", "a: \né")
    assert "no\nsuch thing" in said["exception"]
    assert said["time"].endswith("+00:00")


@pytest.mark.slow
def test_the_processes_of_a_server_log_in_the_chosen_way():
    code = (
        "import logging, subprocess, sys; from similitude.study.logs import configure; configure('json')\n"
        "logging.getLogger('similitude.study').warning('here')\n"
        "child = 'import logging; from similitude.study.logs import configure; configure(); logging.warning(1)'\n"
        "subprocess.run([sys.executable, '-c', child], check=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["here", "1"]
