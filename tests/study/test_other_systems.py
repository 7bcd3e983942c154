"""What differs on Windows and macOS for a server, as far as it can be acted here: signals, ports, syncs, files."""

import asyncio
import errno
import mimetypes
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing

import httpx
import pytest

from similitude.study import supervise
from similitude.study.items import KINDS
from similitude.study.maintenance.archive import back_up
from similitude.study.settings import read_study
from similitude.study.site import open_site
from similitude.study.web import listening
from similitude.study.web.app import MEDIA_TYPES, create_app
from similitude.study.web.limits import raise_open_files
from tests.study.making import words, write_study


@pytest.fixture
def site(tmp_path):
    write_study(tmp_path, "words", 'title = "Words"', words())
    with closing(open_site(tmp_path)) as opened:
        yield opened


@pytest.fixture
def windows_sync(monkeypatch):
    """A sync as Windows has it: only of files that may be written to."""
    fcntl = pytest.importorskip("fcntl")

    def sync(number):
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(os, "fsync", sync)


@pytest.mark.parametrize("name", ["copy.db", "archive.jsonl.gz"])
def test_a_backup_syncs_what_it_may_write_to(windows_sync, site, tmp_path, name):
    assert back_up(site.database, tmp_path / name) == 0
    assert (tmp_path / name).is_file()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGBREAK"])
def test_a_server_ends_in_order_on_every_signal_that_asks_for_it(name, monkeypatch):
    usual = getattr(signal, name, None) or signal.SIGUSR1  # which stands in for what this system lacks
    monkeypatch.setattr(signal, name, usual, raising=False)
    before, ended = signal.getsignal(usual), False
    with listening.stoppable():
        try:
            signal.raise_signal(usual)
        finally:
            ended = True
        pytest.fail("the signal was not taken as an end")
    assert ended
    assert signal.getsignal(usual) == before


def test_a_port_is_for_one_server_alone(monkeypatch):
    with closing(listening.listen("127.0.0.1", 0)) as first, pytest.raises(ValueError, match="try another --port"):
        listening.listen("127.0.0.1", first.getsockname()[1])
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)  # which Windows alone has
    assert listening._alone_at_port() == -5


def test_ctrl_c_does_not_reach_the_model_process(monkeypatch):
    assert supervise.apart("posix") == {"start_new_session": True}
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0x4000, raising=False)
    assert supervise.apart("nt") == {"creationflags": 0x4200}


def test_the_input_of_a_process_that_is_gone_closes_quietly():
    gone = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, text=True)
    gone.wait()
    gone.stdin.write("never read\n")
    supervise._close_input(gone)
    assert gone.stdin.closed


def test_as_many_files_as_a_ceiling_lets_through_that_is_not_told(monkeypatch):
    """As on macOS, where the limit may be raised without end, and is refused where it is raised too far."""
    resource = pytest.importorskip("resource")
    given = []

    def set_limit(_, pair):
        if pair[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        given.append(pair)

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    allowed = raise_open_files()
    assert 5_120 < allowed <= 10_240
    assert given == [(allowed, resource.RLIM_INFINITY)]


def test_files_are_what_we_say_they_are_whatever_the_system_says(site):
    assert sorted(set(KINDS) - set(MEDIA_TYPES)) == [".txt"]
    mimetypes.add_type("text/plain", ".js")  # as on many a Windows, where an editor took the suffix for its own
    told = asyncio.run(_told(create_app(site), "/static/rater.js"))
    assert told.startswith("text/javascript")


async def _told(app, path):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://study") as browser:
        return (await browser.get(path)).headers["content-type"]


def test_a_study_that_an_editor_saved_with_a_mark_and_its_own_line_ends_is_read(tmp_path):
    (tmp_path / "words").mkdir()
    text = '\ufefftitle = "Wörter"\r\n[pages]\r\nconsent = "consent.md"\r\ninstructions = ""\r\n'
    (tmp_path / "words" / "study.toml").write_bytes(text.encode())
    (tmp_path / "words" / "consent.md").write_bytes("\ufeff# Agree?\r\n".encode())
    study = read_study(tmp_path / "words")
    assert study.title == "Wörter"
    assert study.words["consent"] == "# Agree?\n"
