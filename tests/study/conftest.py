"""Databases of both kinds with a study on each; a real server over a folder of studies, a real browser before it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from argon2 import PasswordHasher
from benchmarks.chromium import chromium, chromium_path

from similitude.study.service import Joining
from similitude.study.site import open_site
from similitude.study.web import auth
from tests.patience import PATIENCE, until
from tests.study.servers import postgresql_or_skip, write_study

DOCS_PICTURES = Path(__file__).parents[2] / "docs" / "images" / "study"
IN_DOCS = (
    "triplet", "form-odd-one-out", "form-choice", "form-quadruplet", "form-similarity-rating", "form-labelling",
    "form-ranking", "form-best-worst", "form-grouping", "form-placement",
    "phone-triplet", "offline", "done", "strip-1-empty", "strip-2-new", "strip-3-items", "strip-4-question",
    "strip-5-known", "strip-6-consent", "strip-7-live", "strip-8-rater", "strip-9-map", "strip-10-report",
    "raters", "rater",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def quick_passwords():
    """Passwords of the tests' own processes take a millisecond to check; `test_login` holds what people's take."""
    with mock.patch.object(auth, "PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)):
        yield


@pytest.fixture(scope="session")
def postgresql():
    server = postgresql_or_skip()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    return request.getfixturevalue("postgresql").fresh()


@pytest.fixture
def serve(tmp_path, url):
    """Open a study written as settings say; everything is closed at the end."""
    opened = []

    def serve_study(settings="", names=None, name="words", seed=0):
        site = open_site(write_study(tmp_path / name, settings, names), url)
        opened.append(site)
        service = site.studies[name]
        service.answering.rng.seed(seed)
        return service

    yield serve_study
    for site in opened:
        site.close()


@pytest.fixture
def take_part():
    """Join and agree; returns the rater's number."""

    def join(service, uid="browser0", **parameters):
        token = service.join(Joining(uid, parameters)).result()
        rater_id = service.rater_of(token)
        service.consent(rater_id).result()
        return rater_id

    return join


@dataclass
class LiveServer:
    """A server in a process of its own."""

    root: Path
    process: subprocess.Popen
    address: str

    def link(self, study: str, query: str = "") -> str:
        return f"{self.address}/s/{study}/{query}"

    def rows(self, sql: str, *values) -> list[sqlite3.Row]:
        """What the database holds, read beside the server."""
        with contextlib.closing(sqlite3.connect(self.root / "answers.db", timeout=PATIENCE)) as connection:
            connection.row_factory = sqlite3.Row
            found = connection.execute(sql, values).fetchall()
            connection.commit()
            return found

    def answers(self, study: str) -> list[dict]:
        """The log of a study, in order."""
        sql = "SELECT a.* FROM answer a JOIN study s ON s.id = a.study_id WHERE s.name = ? ORDER BY a.id"
        rows = [dict(row) for row in self.rows(sql, study)]
        return [row | {"response": row["response"] and json.loads(row["response"])} for row in rows]


@contextlib.contextmanager
def serving(root: Path, *options: str) -> Iterator[LiveServer]:
    """Serve a folder at a free port, without a model process unless told; stopped in order, with status 0."""
    model = () if "--model" in options else ("--no-model",)
    command = [sys.executable, "-m", "similitude.cli", "study", "serve", str(root), "--port", "0", *options, *model]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        found = re.search(r"(http://\S+?)/s/", first)
        assert found, f"the server did not start: {first}"
        yield LiveServer(root, process, found[1])
    finally:
        process.terminate()
        status = process.wait(PATIENCE)
        process.stdout.close()
    assert status == 0


@pytest.fixture(scope="module")
def browser():
    """Chromium of the system; where there is none, CI fails and other machines skip."""
    if chromium_path() is None:
        said = "no chromium: install it (apt-get install chromium), or name it in SIMILITUDE_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    with chromium() as browser:
        if delay := int(os.environ.get("SIMILITUDE_SLOW_PAGES", "0")):
            _slow_down(browser, delay)
        yield browser


def _slow_down(browser, milliseconds: int) -> None:
    """Let every reply reach the scripts of a page so late: a test that looks before it waited for something fails."""
    late = "const send = fetch; fetch = (...all) => send(...all).then(reply => new Promise(pass => "
    late += f"setTimeout(pass, {milliseconds}, reply)))"
    plain = browser.new_context

    def new_context(**options):
        context = plain(**options)
        context.add_init_script(late)
        return context

    browser.new_context = new_context
    browser.new_page = lambda **options: new_context(**options).new_page()


@pytest.fixture
def context(browser):
    """A browser without a memory; anything wrong on a page, or asked of another host, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    wrong: list[str] = []
    watch(context, wrong)
    yield context
    context.close()
    assert wrong == []


def watch(context, wrong: list[str]) -> None:
    """Note faults in the scripts of all pages, breaches of the content policy, and requests to other hosts."""
    context.set_default_timeout(PATIENCE * 1000)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("request", lambda request: _is_ours(request.url) or wrong.append(f"asked for {request.url}"))
    context.on("console", lambda message: "Content Security" in message.text and wrong.append(message.text))


def on_question(page, number):
    """Wait until a question is on the screen and takes answers."""
    page.wait_for_selector(f"main[data-number='{number}'] .stage:not(.loading)")
    page.wait_for_selector(".others .other:enabled")


def press(page, step: str) -> None:
    """Press what a selector finds; `@x,y` after it says where upon it, as shares of its width and height."""
    selector, _, where = step.partition("@")
    if not where:
        return page.click(selector)
    x, y = (float(share) for share in where.split(","))
    page.wait_for_selector(selector)
    size = page.evaluate(
        "(one) => [document.querySelector(one).offsetWidth, document.querySelector(one).offsetHeight]", selector
    )
    return page.click(selector, position={"x": x * size[0], "y": y * size[1]})


def arrived(live: LiveServer, study: str, number: int) -> list[dict]:
    """The answers of a study, when there are so many."""

    def enough():
        found = live.answers(study)
        return found if len(found) >= number else None

    return until(enough, lambda: f"{len(live.answers(study))} answers of {number} arrived")


def _is_ours(url: str) -> bool:
    return re.match(r"(http://localhost[:/]|data:|blob:)", url) is not None


@pytest.fixture
def shot(tmp_path):
    """Save a picture of a page, to the folder that SIMILITUDE_SCREENSHOTS names, or to a passing one.

    With SIMILITUDE_DOCS_PICTURES set (`make pictures`), those of the documentation are made anew as well.
    """
    folders = [Path(os.environ.get("SIMILITUDE_SCREENSHOTS", tmp_path))]
    if os.environ.get("SIMILITUDE_DOCS_PICTURES"):
        folders.append(DOCS_PICTURES)

    def save(page, name: str) -> None:
        for folder in folders:
            if folder != DOCS_PICTURES or name in IN_DOCS:
                folder.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=folder / f"{name}.png")

    return save
