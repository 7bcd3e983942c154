"""The files for containers and timers, tried as far as that goes without a daemon: their steps, with real programs."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import yaml
from benchmarks.study_server import free_port
from typer.testing import CliRunner

from similitude.cli import app
from similitude.study.maintenance.archive import bring_back
from similitude.study.maintenance.schedule import back_up_and_keep
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from tests.patience import until
from tests.study.live import fill, open_study, write_study
from tests.study.proxies import certificate, nginx, visitor

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
UNITS = ROOT / "docs" / "how-to" / "study"


def instructions():
    """The lines of the Dockerfile by instruction."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line and not line.startswith("#")]


def of(kind):
    return [rest for name, rest in instructions() if name == kind]


def test_the_dockerfile_copies_what_is_there_and_ends_as_somebody_without_rights():
    assert {name for name, _ in instructions()} <= {
        "FROM", "RUN", "COPY", "USER", "WORKDIR", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for line in of("COPY"):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored, "the build sees nothing else"
    assert of("USER") == ["study"]
    assert json.loads(of("ENTRYPOINT")[0]) == ["similitude", "study"]
    (install,) = [line for line in of("RUN") if "pip install" in line]
    extras = re.search(r"\[(\w+)\]", install)[1]
    assert f"\n{extras} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_every_secret_of_the_compose_file_comes_from_outside():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for line in re.findall(r".*PASSWORD.*|.*postgresql://.*", text):
        assert "${POSTGRES_PASSWORD" in line
    network = COMPOSE["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    command = COMPOSE["services"]["server"]["command"]
    assert command[command.index("--trusted-proxy") + 1] == network
    named = {name.partition(":")[0] for one in COMPOSE["services"].values() for name in one.get("volumes", ())}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])


@pytest.mark.slow
def test_the_services_of_the_compose_file_work_together(tmp_path, postgresql):
    """The commands of server, backup and nginx, with other ports and folders, on a real PostgreSQL."""
    write_study(tmp_path / "studies" / "colours")
    port, tls = free_port(), free_port()
    places = {"/srv/study": str(tmp_path / "studies"), "/backups": str(tmp_path / "backups"), "0.0.0.0": "127.0.0.1"}
    places["${PUBLIC_URL:?write it into .env}"] = f"https://localhost:{tls}"
    environment = {**os.environ, "SIMILITUDE_DATABASE": postgresql.fresh()}
    program = [sys.executable, "-m", "similitude.cli", *json.loads(of("ENTRYPOINT")[0])[1:]]

    def command(service):
        return [*program, *(places.get(word, word) for word in COMPOSE["services"][service]["command"])]

    server = subprocess.Popen(
        [*command("server"), "--port", str(port), "--no-model"], env=environment, stdout=subprocess.DEVNULL
    )
    try:
        (check,) = of("HEALTHCHECK")
        code = json.loads(check.partition("CMD ")[2])[2].replace(":8000", f":{port}")
        until(
            lambda: subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0,
            "a server that is well",
        )
        assert b"similitude_info" in urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read()
        once = command("backup")[: command("backup").index("--every") - len(command("backup"))]
        subprocess.run(once, env=environment, check=True, capture_output=True)
        assert len(list((tmp_path / "backups").glob("study-*.jsonl.gz"))) == 1
        through_nginx(tmp_path, port, tls)
    finally:
        server.terminate()
        server.wait()


def through_nginx(folder, port, tls):
    files = certificate(folder, "localhost")
    text = (ROOT / "docker" / "nginx.conf").read_text(encoding="utf-8")
    text = text.replace("/etc/nginx/certificates", str(folder)).replace("server:8000", f"127.0.0.1:{port}")
    text = text.replace("listen 443", f"listen 127.0.0.1:{tls}").replace("listen 80", f"listen 127.0.0.1:{free_port()}")
    with nginx(folder / "nginx", text, tls), visitor(tls, "localhost", files[0]) as client:
        replies: list[httpx.Response] = [client.get(path) for path in ("/healthz", "/s/colours/", "/metrics")]
    assert [reply.status_code for reply in replies] == [200, 200, 404]


def test_backups_by_the_clock_keep_the_latest_and_nothing_of_others(tmp_path, monkeypatch):
    site, service = open_study(write_study(tmp_path / "colours"))
    kept, now = tmp_path / "backups", [1_700_000_000.0]
    try:
        fill(service, 1, 3)
        monkeypatch.setattr(site.database.clock, "now", lambda: now[0])
        kept.mkdir()
        (kept / "mine.jsonl.gz").write_bytes(b"not ours")
        gone = []
        for _ in range(4):
            file, taken = back_up_and_keep(site.database, kept, keep=2)
            gone.append(taken)
            now[0] += 86_400
        assert gone == [0, 0, 1, 1]
        assert sorted(path.name for path in kept.iterdir()) == [
            "mine.jsonl.gz", "study-20231116T221320Z.jsonl.gz", "study-20231117T221320Z.jsonl.gz",
        ]  # fmt: skip
        with pytest.raises(StudyError, match="keep: expected at least 1"):
            back_up_and_keep(site.database, kept, keep=0)
    finally:
        site.close()
    with closing(open_site(write_study(tmp_path / "again" / "colours"))) as again:
        assert bring_back(again.database, file, again.studies) == 3


def test_the_units_of_systemd_run_commands_that_there_are():
    for unit in UNITS.glob("similitude-*.service"):
        (line,) = re.findall(r"^ExecStart=\S+/similitude (.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
        words = line.split()
        shown = CliRunner().invoke(app, [*words[:2], "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
        assert shown.exit_code == 0
        for option in (word for word in words if word.startswith("--")):
            assert option in shown.output
    timer = (UNITS / "similitude-backup.timer").read_text(encoding="utf-8")
    assert "OnCalendar=" in timer
    assert (UNITS / "similitude-backup.service").exists(), "which the timer of the same name starts"
