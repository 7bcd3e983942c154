"""A model served by the command, in a process of its own: asked over a real connection, stopped in order."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from similitude.study.settings import StudyError
from similitude.study.web.listening import listen
from tests.export.models import mapped
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def served(folder, *options):
    """Serve a model at a free port; stopped by a signal, with status 0."""
    mapped()[0].save(folder / "model.sim")
    command = [sys.executable, "-m", "similitude.cli", "serve", "model.sim", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline(), process.stdout.readline()]
        found = re.search(r"http://\S+", lines[1])
        assert found, lines
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(PATIENCE)
        process.stdout.close()
    assert status == 0


def post(address, body):
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.load(reply)


def status_of_length(base, length):
    """What is said to a body of a length, before any of it is sent."""
    with contextlib.closing(http.client.HTTPConnection(base.removeprefix("http://"), timeout=PATIENCE)) as connection:
        connection.putrequest("POST", "/transform")
        connection.putheader("Content-Length", str(length))
        connection.endheaders()
        return connection.getresponse().status


def test_a_model_is_served_within_its_limits_and_stopped_in_order(tmp_path):
    similarity, vectors = mapped()
    with served(tmp_path, "--rows", "50", "--megabytes", "1") as base:
        asked = json.dumps({"vectors": vectors[:2].tolist(), "k": 3}).encode()
        said = post(f"{base}/neighbors", asked)["neighbors"]
        assert [[one["item"] for one in row] for row in said] == [similarity.neighbors(v, 3) for v in vectors[:2]]
        assert status_of_length(base, (1 << 20) + 1) == 413
        with urllib.request.urlopen(f"{base}/stats", timeout=PATIENCE) as reply:
            assert json.load(reply)["/neighbors"]["requests"] == 1


@pytest.mark.parametrize(
    ("host", "says"), [("", "host: found an empty one"), ("no.such.host.invalid", "another --host")]
)
def test_a_host_that_is_none_is_refused(host, says):
    with pytest.raises(StudyError, match=says):
        listen(host, 0)
