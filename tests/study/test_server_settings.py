"""Limits by `server.toml`, the environment and the command line: the last first, checked, and kept to."""

import dataclasses
from pathlib import Path

import pytest
from typer.testing import CliRunner

from similitude.cli import app as whole
from similitude.study import serve as serving
from similitude.study.fault import StudyError
from similitude.study.server_settings import limits_given, read_limits
from similitude.study.web.app import create_app
from similitude.study.web.auth import Door
from similitude.study.web.limits import LIMITS, Limits
from tests.study.editing.test_pages import designer_of
from tests.study.live import open_study, write_study
from tests.study.test_login import Browser

DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "study-server.md"


def test_the_last_word_has_the_command_line_then_the_environment_then_the_file(tmp_path):
    (tmp_path / "server.toml").write_text("[limits]\nbody_bytes = 5000\nconnections = 7\nbody_seconds = 3\n", "utf-8")
    environment = {"SIMILITUDE_LIMIT_CONNECTIONS": "8", "SIMILITUDE_LIMIT_PER_ADDRESS": "9", "OTHER": "x"}
    found = read_limits(tmp_path, {"per_address": "10"}, environment)
    assert found == dataclasses.replace(LIMITS, body_bytes=5000, body_seconds=3.0, connections=8, per_address=10)
    assert isinstance(found.body_seconds, float)


def test_without_any_word_limits_are_as_they_were(tmp_path):
    assert read_limits(tmp_path, {}, {}) == LIMITS


@pytest.mark.parametrize(
    ("toml", "said"),
    [("[limits]\nbody_byte = 1", r"limits\.body_byte: there is no limit of this name; did you mean body_bytes\?"),
     ("[limits]\nbody_bytes = 10", r"limits\.body_bytes: expected a whole number from 4096 to 1e\+09, found 10"),
     ("[limits]\nconnections = 1.5", r"limits\.connections: expected a whole number"),
     ("[limits]\nconnections = true", r"limits\.connections: expected a whole number .* found True"),
     ("[limits]\nheader_seconds = nan", r"limits\.header_seconds: expected a number .* found nan"),
     ("[limits]\nheader_seconds = [1]", r"limits\.header_seconds: expected a number"),
     ("[limit]\nbody_bytes = 1", r"limit: unknown key; expected \[limits\]"),
     ("limits = 3", "limits: expected a table"),
     ("[limits", "not valid TOML")],
)  # fmt: skip
def test_what_is_wrong_is_said_with_where_it_stands(tmp_path, toml, said):
    (tmp_path / "server.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(StudyError, match=rf"server\.toml: {said}"):
        read_limits(tmp_path, {}, {})


@pytest.mark.parametrize(
    ("given", "environment", "said"),
    [({"pipelined": "x"}, {}, r"--limit pipelined: expected a whole number from 1 to 1e\+09, found 'x'"),
     ({}, {"SIMILITUDE_LIMIT_IDLE_SECONDS": "0"}, "SIMILITUDE_LIMIT_IDLE_SECONDS: expected a whole number"),
     ({}, {"SIMILITUDE_LIMIT_IDLE_SECOND": "5"}, "IDLE_SECOND: there is no limit of this name; did you mean idle_s")],
)  # fmt: skip
def test_elsewhere_too(tmp_path, given, environment, said):
    with pytest.raises(StudyError, match=said):
        read_limits(tmp_path, given, environment)
    with pytest.raises(StudyError, match="--limit body_bytes: expected NAME=VALUE"):
        limits_given(["body_bytes"])


def test_the_command_takes_all_of_them(tmp_path, monkeypatch):
    folder, given = write_study(tmp_path / "colours"), []
    monkeypatch.setattr(serving, "serve", lambda *values, **_: given.append(values[7]))
    (folder / "server.toml").write_text("[limits]\npipelined = 3\n", encoding="utf-8")
    command = [
        "study",
        "serve",
        str(folder),
        "--limit",
        "body_bytes=70000",
        "--limit",
        "link_hours=2",
        "--connections",
        "9",
    ]
    assert CliRunner().invoke(whole, command).exit_code == 0
    assert given == [Limits(pipelined=3, body_bytes=70000, link_hours=2.0, connections=9)]
    wrong = CliRunner().invoke(whole, [*command[:3], "--limit", "body_bytes=few"])
    assert wrong.exit_code != 0


def test_bodies_sessions_and_links_keep_to_them(tmp_path):
    site, _ = open_study(write_study(tmp_path / "colours"))
    try:
        limits = Limits(body_bytes=4096, session_hours=1.0, link_hours=0.5)
        app = create_app(site, limits=limits)
        browser = Browser(app)
        for path in ("/api/colours/join", "/api/colours/v1/none", "/admin/-/login"):
            assert (path, browser.post(path, {"x": "y" * 5000}).status_code) == (path, 413)
        door = Door(site.database, limits=limits)
        now = site.database.clock.now
        link = door.make_link().rsplit("/", 1)[1]
        site.database.clock.now = lambda: now() + 1801
        assert not door.is_open(link)
        link = door.make_link().rsplit("/", 1)[1]
        door.use_link(link, "ada", "a long password")
        token = door.log_in("ada", "a long password")
        assert door.session(token) is not None
        site.database.clock.now = lambda: now() + 1801 + 3601
        assert door.session(token) is None
    finally:
        site.close()


def test_uploads_keep_to_them_and_come_in_pieces_that_a_body_may_have(tmp_path):
    site, _ = open_study(write_study(tmp_path / "colours"))
    try:
        designer = designer_of(site, Limits(body_bytes=4096, upload_bytes=8000))
        told = designer.told("colours", "/items")
        assert told["piece"] < 4096
        sent = {"headers": {"X-CSRF": told["csrf"], "Accept": "application/json"}, "content": b"x" * told["piece"]}
        for at in range(0, 8000, told["piece"]):
            answer = designer.raw(f"/admin/colours/design/upload/upload-1?at={at}", **sent)
            assert answer.status_code == (200 if at + told["piece"] <= 8000 else 413)
        assert "the server's limit upload_bytes" in answer.json()["detail"]
    finally:
        site.close()


def test_the_documentation_names_every_limit():
    for page in (DOCS, DOCS.parents[1] / "reference" / "command-line.md"):
        text = page.read_text(encoding="utf-8")
        assert [field.name for field in dataclasses.fields(Limits) if f"`{field.name}`" not in text] == []
