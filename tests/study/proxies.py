"""Real proxies before a real server, all on this machine: nginx with TLS, and one that comes from another address."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from benchmarks.study_server import free_port

DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "study"
_AROUND = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{text}
}}
"""


@contextlib.contextmanager
def serving_behind(root: Path, *options: str) -> Iterator[int]:
    """A server without a model process; its port."""
    port = free_port()
    command = [sys.executable, "-m", "similitude.cli", "study", "serve", str(root), "--no-model", "--port", str(port)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Until somebody listens at a port of this machine."""
    for _ in range(600):
        assert process.poll() is None, "it did not start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"nobody listens at {port}")


def nginx_or_skip() -> str:
    """The program; where it is not installed the test is skipped, and under CI it fails."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None or shutil.which("openssl") is None:
        message = "nginx or openssl is not installed (tests/setup.sh does it)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    files = folder / "fullchain.pem", folder / "privkey.pem"
    also = ",".join(f"DNS:{name}" for name in names)
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={names[0]}"]
    command += ["-addext", f"subjectAltName={also}", "-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(command, check=True, capture_output=True)
    return files


@contextlib.contextmanager
def nginx(folder: Path, text: str, port: int) -> Iterator[None]:
    """nginx with the given servers, one of which listens at the port."""
    folder.mkdir(exist_ok=True)
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, text=text), encoding="utf-8")
    process = subprocess.Popen([nginx_or_skip(), "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        wait_for(port, process)
        yield
    finally:
        process.terminate()
        process.wait(20)


def visitor(port: int, host: str, trust: Path, comes_from: str = "127.0.0.1") -> httpx.Client:
    """A browser on this machine that asks for a host by TLS, from an address of its own."""
    transport = httpx.HTTPTransport(verify=ssl.create_default_context(cafile=str(trust)), local_address=comes_from)
    return _Named(transport=transport, base_url=f"https://{host}:{port}", timeout=30)


class _Named(httpx.Client):
    """Finds every host on this machine, and asks for it by its name."""

    def send(self, request: httpx.Request, **options) -> httpx.Response:
        name = request.url.host
        request.extensions = {**request.extensions, "sni_hostname": name}
        request.headers.setdefault("host", name)
        request.url = request.url.copy_with(host="127.0.0.1")
        return super().send(request, **options)


@contextlib.contextmanager
def proxy_from(address: str, port: int) -> Iterator[int]:
    """A proxy that connects to a server from an address, and says who asks by the header `X-Test-Client`; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on()

        def do_POST(self) -> None:
            self._pass_on()

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "x-test-client"}
            headers |= {"X-Forwarded-For": self.headers["X-Test-Client"], "X-Forwarded-Proto": "https"}
            server = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(address, 0))
            server.request(self.command, self.path, body, headers)
            reply = server.getresponse()
            data = reply.read()
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            server.close()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield proxy.server_address[1]
        finally:
            proxy.shutdown()
            thread.join()
