"""Serving from the command line: what is said at the start, stopping in order, and faults as sentences."""

import http.client
import importlib.util
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from similitude import cli
from similitude.study.maintenance.archive import back_up
from similitude.study.maintenance.raters_file import export_raters
from similitude.study.proxies import Outside, Proxies
from similitude.study.serve import greeting
from similitude.study.service import Joining
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.store.database import Database, StoreError
from similitude.study.web.auth import Door
from tests.patience import PATIENCE
from tests.shell import run
from tests.study.conftest import serving
from tests.study.making import SHORT, words, write_study
from tests.systems import unix_only

pytestmark = pytest.mark.slow  # a process for each test

SMALL = f'title = "Words"\n{SHORT}[question]\nnumber = 3\n'


def test_serving_says_what_is_where_and_stops_in_order(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with serving(tmp_path) as live:
        rest = [live.process.stdout.readline() for _ in range(3)]
        assert rest[1].startswith(f"admin          {live.address}/admin/-/first/")
        assert str(tmp_path / "answers.db") in "".join(rest)
        with urllib.request.urlopen(live.link("words")) as page:
            assert page.status == 200
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        assert connection.execute("SELECT name FROM study").fetchall() == [("words",)]
    connection.close()
    assert not Path(f"{tmp_path / 'answers.db'}-wal").exists()  # closed in order: the log is folded in


@unix_only
def test_files_that_say_who_people_are_are_for_their_owner_alone(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    before = os.umask(0)
    try:
        with closing(open_site(tmp_path)) as site:
            site.studies["words"].join(Joining("browser0", {"rater": "ann"})).result()
            back_up(site.database, tmp_path / "copy.db")
            back_up(site.database, tmp_path / "copy.jsonl.gz")
            export_raters(site.database, "words", tmp_path / "raters.csv")
            (tmp_path / "people.txt").write_text("ann", encoding="utf-8")
            CliRunner().invoke(cli.app, ["study", "invite", str(tmp_path), str(tmp_path / "people.txt"), "--out",
                                         str(tmp_path / "links.csv")])  # fmt: skip
            names = (
                "answers.db",
                "answers.db-wal",
                "answers.db-shm",
                "copy.db",
                "copy.jsonl.gz",
                "raters.csv",
                "links.csv",
            )
            modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names}
            assert set(modes.values()) == {0o600}, modes
            assert not [line for line in greeting(site, "http://x") if "WARNING" in line]
            (tmp_path / "answers.db").chmod(0o644)
            warned = [line for line in greeting(site, "http://x") if "WARNING" in line]
            assert len(warned) == 1
            assert f"can read {tmp_path / 'answers.db'} (mode 0644): chmod 600" in warned[0]
    finally:
        os.umask(before)


def test_a_browser_that_goes_away_while_it_sends_is_no_fault(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    command = [sys.executable, "-m", "similitude.cli", "study", "serve", str(tmp_path), "--port", "0", "--no-model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        port = int(re.search(r":(\d+)/s/", process.stdout.readline())[1])
        for path in ("/api/words/join", "/api/words/answers", "/admin/-/login"):
            with socket.create_connection(("127.0.0.1", port), 20) as away:
                away.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{".encode())
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/words/about") as still_there:
                assert still_there.status == 200
        process.terminate()
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def test_head_is_get_without_the_body(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with serving(tmp_path) as live:
        for path in ("/s/words/", "/api/words/about", "/static/rater.js", "/api/words/items/apple", "/admin/-/login"):
            said = {}
            for method in ("GET", "HEAD"):
                connection = http.client.HTTPConnection(urllib.parse.urlsplit(live.address).netloc, timeout=20)
                connection.request(method, path)
                said[method] = connection.getresponse()
                body = said[method].read()
                connection.close()
            assert said["HEAD"].status == said["GET"].status, path
            assert said["HEAD"].headers["content-type"] == said["GET"].headers["content-type"]
            assert body == b""


def test_a_study_by_invitation_says_how_people_are_invited(tmp_path):
    write_study(tmp_path, "words", f"{SMALL}[raters]\ninvited = true\n", words())
    with closing(open_site(tmp_path)) as site:
        told = greeting(site, "http://x")
    assert f"               by invitation: similitude study invite {tmp_path} PEOPLE" in told
    assert not [line for line in told if "?rater=NAME" in line]
    write_study(tmp_path, "others", SMALL, words())
    with closing(open_site(tmp_path)) as site:
        told = greeting(site, "http://x")
    assert f"               by invitation: similitude study invite {tmp_path} PEOPLE --study words" in told


def test_the_demo_says_what_becomes_of_its_answers(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with closing(open_site(tmp_path)) as site:
        assert "everything that was answered is kept" in greeting(site, "http://x")[-1]
        passing = greeting(site, "http://x", passing=True)[-1]
    assert "kept" not in passing
    assert "deleted with its answers" in passing
    command = [sys.executable, "-m", "similitude.cli", "study", "demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(6)]
        process.terminate()
    assert "deleted with its answers" in lines[-1]


def test_a_server_takes_no_header_of_any_length(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with serving(tmp_path) as live:
        with pytest.raises(urllib.error.HTTPError, match="431"):
            urllib.request.urlopen(urllib.request.Request(live.link("words"), headers={"X-Long": "x" * 50_000}))
        with urllib.request.urlopen(live.link("words")) as page:
            assert page.status == 200


def test_ctrl_c_is_no_fault(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with serving(tmp_path) as live:
        live.process.send_signal(signal.SIGINT)
        assert live.process.wait(PATIENCE) == 0


def test_the_demo_is_ready_to_click(tmp_path):
    command = [sys.executable, "-m", "similitude.cli", "study", "demo", str(tmp_path / "colours"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        link = process.stdout.readline().split()[1]
        with urllib.request.urlopen(link) as page:
            assert "Which colours are alike?" in page.read().decode()
        process.terminate()
    assert process.returncode == 0
    assert (tmp_path / "colours" / "colours.csv").read_text(encoding="utf-8").count("#") == 60


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('title = "T"\ntitel = 1\n', "study.toml: titel: unknown key"),
        (f'title = "T"\n{SHORT}[question]\nform = "choice"\ngrid_size = 40\n', "shows 41 items, but there are 10"),
    ],
)
def test_a_study_that_cannot_be_served_is_one_sentence(tmp_path, toml, message):
    write_study(tmp_path, "words", toml, words())
    done = run("study", "serve", tmp_path, folder=tmp_path, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("study", "serve", tmp_path, "--port", taken.getsockname()[1], folder=tmp_path, check=False)
    assert done.returncode == 1
    assert "try another --port" in done.stderr


def test_a_foreign_database_is_said(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    (tmp_path / "answers.db").write_bytes(b"not a database at all" * 100)
    done = run("study", "serve", tmp_path, "--port", 0, folder=tmp_path, check=False)
    assert done.returncode == 1
    assert "not a database" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("url", ["nonsense", "mysql://someone:secret@host/x"])
def test_an_address_that_is_none_of_ours_is_said_without_its_password(url):
    with pytest.raises(StoreError, match="expected sqlite:///FILE or postgresql://") as told:
        Database(url)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("address", "path", "secure", "origin"),
    [
        (None, "", False, ""),
        ("http://study.example.org", "", False, "http://study.example.org"),
        ("https://study.example.org/", "", True, "https://study.example.org"),
        ("https://example.org/lab/faces/", "/lab/faces", True, "https://example.org"),
    ],
)
def test_the_path_under_which_a_proxy_has_put_the_server(address, path, secure, origin):
    assert Outside.of(address) == Outside(path, secure, origin)


@pytest.mark.parametrize("address", ["example.org/lab", "/lab", "ftp://example.org", "https:///lab"])
def test_a_public_address_that_is_none_is_said(address):
    with pytest.raises(StudyError, match="public_url: expected an address such as"):
        Outside.of(address)


def test_proxies_are_trusted_by_address_and_network():
    proxies = Proxies(["10.1.0.0/16", "192.0.2.7", "2001:db8::/32"])
    assert all(map(proxies.is_trusted, ("127.0.0.1", "::1", "10.1.2.3", "192.0.2.7", "2001:db8::9")))
    assert not any(map(proxies.is_trusted, ("127.0.0.2", "10.2.0.1", "192.0.2.8", "::2", "unknown", "")))
    for wrong in ("*", "nginx", "10.0.0.5/8", "10.0.0"):
        with pytest.raises(StudyError, match="trusted_proxy: expected an address such as"):
            Proxies([wrong])


def test_new_tells_the_next_step(tmp_path):
    done = CliRunner().invoke(cli.app, ["study", "new", str(tmp_path / "faces")])
    assert done.exit_code == 0
    assert f"similitude study serve {tmp_path / 'faces'}" in done.output


def test_an_admin_who_forgot_the_password_gets_another_link(tmp_path):
    write_study(tmp_path, "words", SMALL, words())
    with pytest.raises(StudyError, match=r"no answers\.db in it; serve the study first"):
        CliRunner().invoke(cli.app, ["study", "admin-link", str(tmp_path)], catch_exceptions=False)
    with closing(open_site(tmp_path)) as site:
        door = Door(site.database)
        door.use_link(door.make_link().rsplit("/", 1)[1], "ada", "an old password")
        assert "admin          https://x.org/admin" in greeting(site, "https://x.org/")
        done = CliRunner().invoke(cli.app, ["study", "admin-link", str(tmp_path), "--public-url", "https://x.org/"])
        link, _, token = done.output.strip().rpartition("/")
        assert link == "https://x.org/admin/-/first"
        door.use_link(token, "ada", "a new password", replace=True)
        assert door.log_in("ada", "an old password") is None
        assert door.log_in("ada", "a new password")


def test_without_the_extra_it_says_how_to_install_it(monkeypatch, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "fastapi" else real(name, *rest)
    )
    done = CliRunner().invoke(cli.app, ["study", "new", str(tmp_path / "faces")])
    assert isinstance(done.exception, ModuleNotFoundError)
    assert str(done.exception) == 'a study needs fastapi, which is not installed: pip install "similitude[study]"'


def test_help_loads_nothing_heavy():
    code = "import sys, similitude.cli; print(sorted({'fastapi', 'sqlalchemy', 'numpy'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
