"""What is taken from outside: large and slow headers and bodies, those who do not read, and crowds of connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace
from unittest import mock

import pytest
import uvicorn

from similitude.study.arrivals import network_of
from similitude.study.web import limits
from similitude.study.web.limits import Crowd, LimitedProtocol, Limits, _InOnePiece
from tests.systems import linux_only

END = 20.0  # seconds after which a test gives up waiting
GET = b"GET /now HTTP/1.1\r\nHost: study\r\n\r\n"
LONG = b"x" * 8000


class Served:
    """A server with limits in a thread; `/wait` answers when `go` is set, `/endless` never ends."""

    def __init__(self, given: Limits, trusted: str) -> None:
        self.go = threading.Event()
        self.crowd = Crowd(given, lambda address: address == trusted, open_files=100_000)
        self.listening = socket.create_server(("127.0.0.1", 0))
        protocol = partial(LimitedProtocol, crowd=self.crowd)
        config = uvicorn.Config(
            self.answer, http=protocol, ws="none", lifespan="off", log_level="critical", interface="asgi3",
            timeout_keep_alive=given.idle_seconds, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]})
        self.thread.start()

    async def answer(self, scope, receive, send):
        if scope["path"] == "/read":
            while (await receive()).get("more_body"):
                pass
        while scope["path"] == "/wait" and not self.go.is_set():
            await asyncio.sleep(0.01)
        endless = scope["path"] == "/endless"
        length = [] if endless else [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        while endless and not self.server.should_exit:
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"ok"})

    def connect(self, first: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        found = socket.create_connection(self.listening.getsockname(), END, source_address=(source, 0))
        found.sendall(first)
        return found

    def stop(self) -> None:
        self.go.set()
        self.server.should_exit = True
        self.thread.join(END)


@pytest.fixture
def served(monkeypatch):
    """Start a server with these limits; the sweep is quick, so that short times can be tried."""
    monkeypatch.setattr(limits, "_SWEEP_SECONDS", 0.05)
    started = []

    def start(trusted="127.0.0.1", **given):
        started.append(Served(Limits(**given), trusted))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def said(connection: socket.socket) -> bytes:
    """All that the server says until it ends the connection; nothing where it breaks it."""
    found = b""
    with connection, contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            found += piece
    return found


def until(holds) -> None:
    """Wait until something holds; fail where it never does."""
    for _ in range(int(END / 0.01)):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it never came to that")


def status(connection: socket.socket) -> int:
    """The status of the next response."""
    return int(connection.recv(65536).split()[1])


@pytest.mark.parametrize("size", [40_000, 300_000])
@pytest.mark.parametrize("ends", [True, False])
def test_a_header_that_is_too_long_is_refused(served, size, ends):
    """In one piece or in many, in one line or in many, with its end or without."""
    server = served(header_bytes=32 * 1024)
    for header in (b"X: " + b"x" * size, b"\r\n".join([b"X: " + LONG] * (size // len(LONG)))):
        with server.connect(b"GET / HTTP/1.1\r\nHost: study\r\n" + header + b"\r\n\r\n" * ends) as connection:
            assert said(connection).startswith(b"HTTP/1.1 431 ")
    with server.connect(GET) as connection:
        assert status(connection) == 200


def test_a_long_address_is_part_of_the_header(served):
    server = served(header_bytes=4096)
    with server.connect(b"GET /" + LONG + b" HTTP/1.1\r\nHost: study\r\n\r\n") as connection:
        assert said(connection).startswith(b"HTTP/1.1 431 ")


def test_an_endless_header_is_cut_off_soon(served):
    server, sent = served(), 0
    with server.connect(b"GET / HTTP/1.1\r\nX: ") as connection, contextlib.suppress(ConnectionError):
        while sent < 64 << 20:
            sent += connection.send(b"x" * 65536)
    assert sent < 32 << 20  # what the system's own buffers hold, and a megabyte more


def test_a_header_that_takes_too_long_is_ended(served):
    server = served(header_seconds=0.3)
    with server.connect() as silent, server.connect(b"GET / HTTP/1.1\r\n") as slow:
        assert said(silent) == b""
        assert said(slow).startswith(b"HTTP/1.1 408 ")
    until(lambda: not len(server.crowd))


def test_dripping_does_not_lengthen_the_time_of_a_header(served):
    server = served(header_seconds=0.3)
    with server.connect(b"GET / HTTP/1.1\r\n") as connection:
        connection.settimeout(0.02)
        heard = b""
        for _ in range(int(END / 0.02)):
            with contextlib.suppress(TimeoutError):
                heard = connection.recv(100)
                break
            connection.sendall(b"X: x\r\n")
    assert heard.startswith(b"HTTP/1.1 408 ")


def test_a_request_that_follows_too_soon_has_the_same_time(served):
    """The next header came with the request before it, and never ends."""
    server = served(header_seconds=0.3)
    with server.connect(GET + GET[:20]) as connection:
        heard = said(connection)
    assert heard.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in heard


def test_a_body_that_takes_too_long_ends_the_connection(served):
    server = served(body_seconds=0.3)
    head = b"POST /read HTTP/1.1\r\nHost: study\r\nContent-Length: 100\r\n\r\n"
    assert said(server.connect(head + b"abc")) == b""
    with server.connect(head + b"x" * 100) as whole:
        assert status(whole) == 200


def test_nobody_listens_to_a_body_after_the_answer(served):
    server = served()
    with server.connect(b"POST /now HTTP/1.1\r\nHost: study\r\nContent-Length: 1000000000\r\n\r\nabc") as connection:
        heard = said(connection)
    assert heard.startswith(b"HTTP/1.1 200 ")
    assert heard.endswith(b"ok")


CHUNKED = b"POST /read HTTP/1.1\r\nHost: study\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (b"0\r\nX: ", b"x"),  # one trailer without end
        (b"3;", b"x"),  # one extension without end
        (b"fffffff\r\n", b"x"),
        (b"", b"1;extension=" + b"y" * 100 + b"\r\nx\r\n"),
    ],
)
def test_a_body_that_never_ends_is_cut_off_soon(served, begins, goes_on):
    """Chunks, what stands around them and what follows them are counted alike."""
    server, sent = served(body_bytes=8192), 0
    more = goes_on * (65536 // len(goes_on))
    with server.connect(CHUNKED + begins) as connection, contextlib.suppress(ConnectionError):
        while sent < 64 << 20:
            sent += connection.send(more)
    assert sent < 32 << 20
    until(lambda: not len(server.crowd))


def test_a_body_that_is_too_large_is_told_so(served):
    server = served(body_bytes=8192)
    with server.connect(CHUNKED) as connection:
        connection.settimeout(0.02)
        heard = b""
        for _ in range(int(END / 0.02)):
            with contextlib.suppress(TimeoutError):
                heard = connection.recv(100)
                break
            connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
    assert heard.startswith(b"HTTP/1.1 413 ")


def test_trailers_are_not_taken(served):
    server = served()
    with server.connect(CHUNKED + b"1\r\nx\r\n0\r\nX: y\r\n\r\n") as connection:
        assert said(connection).startswith(b"HTTP/1.1 400 ")
    with server.connect(CHUNKED + b"1\r\nx\r\n0\r\n\r\n") as connection:
        assert status(connection) == 200


def test_what_is_said_to_who_was_sent_away_is_dropped():
    """Nobody reads it, and it is no fault of the server."""
    cycle = SimpleNamespace(transport=mock.Mock(), response_started=True)
    cycle.transport.is_closing.return_value = True
    reply = _InOnePiece(cycle)
    reply.write(b"head")
    reply.write(b"body")
    reply.close()
    cycle.transport.write.assert_not_called()


def test_few_requests_may_wait_on_one_connection(served):
    server, wait = served(pipelined=3), GET.replace(b"/now", b"/wait")
    enough, too_many = server.connect(wait + GET * 3), server.connect(wait + GET * 4)
    assert said(too_many) == b""
    server.go.set()
    heard = b""
    while heard.count(b"\r\n\r\nok") < 4:
        heard += enough.recv(65536)
    enough.close()


def test_those_whose_body_is_still_to_come_make_room(served):
    """As many as there may be send a header and never the body: who comes is served."""
    server = served(connections=4)
    head = b"POST /read HTTP/1.1\r\nHost: study\r\nContent-Length: 100\r\n\r\n"
    slow = [server.connect(head) for _ in range(4)]
    until(lambda: len(server.crowd) == 4)
    for _ in range(3):
        with server.connect(GET) as connection:
            assert status(connection) == 200
    for one in slow:
        one.close()


def test_the_last_of_several_requests_at_once_is_at_work(served):
    """It came with the one before it, is not answered yet, and does not have to leave for a newcomer."""
    server = served(connections=1)
    with server.connect(GET + GET.replace(b"/now", b"/wait")) as busy:
        assert status(busy) == 200
        assert said(server.connect()).startswith(b"HTTP/1.1 503 ")
        server.go.set()
        assert status(busy) == 200


def test_who_does_not_read_is_left(served):
    server = served(stalled_seconds=0.3)
    with server.connect(GET.replace(b"/now", b"/endless")) as connection:
        assert connection.recv(1) == b"H"
        until(lambda: not len(server.crowd))


@pytest.mark.slow
def test_the_next_request_finds_the_connection_open(served):
    server = served(header_seconds=0.2, body_seconds=0.2, idle_seconds=60)
    with server.connect() as connection:
        for _ in range(3):
            connection.sendall(GET)
            assert status(connection) == 200
            time.sleep(0.4)  # longer than a header may take: this is thought, not a slow header
        connection.sendall(GET + GET)
        heard = b""
        while heard.count(b"\r\n\r\nok") < 2:
            heard += connection.recv(65536)


def test_those_who_wait_longest_make_room(served):
    """As many as there may be stand in the door and say nothing: who comes is served."""
    server = served(connections=8)
    silent = [server.connect(b"GET") for _ in range(8)]
    until(lambda: len(server.crowd) == 8)
    for _ in range(3):
        with server.connect(GET) as connection:
            assert status(connection) == 200
    assert said(silent[0]) == b""
    assert len(server.crowd) <= 8
    for one in silent:
        one.close()


def test_nobody_at_work_is_sent_away(served):
    server = served(connections=4)
    at_work = [server.connect(GET.replace(b"/now", b"/wait")) for _ in range(4)]
    until(lambda: len(server.crowd._at_work) == 4)
    assert said(server.connect()).startswith(b"HTTP/1.1 503 ")
    server.go.set()
    assert [status(one) for one in at_work] == [200] * 4
    for one in at_work:
        one.close()


def test_one_address_has_so_many_and_the_proxy_any_number(served):
    server = served(per_address=3, trusted="127.0.0.1")
    wait = GET.replace(b"/now", b"/wait")
    many = [server.connect(wait) for _ in range(6)]
    few = [server.connect(wait, "127.0.0.2") for _ in range(3)]
    until(lambda: len(server.crowd._at_work) == 9)
    assert said(server.connect(b"", "127.0.0.2")).startswith(b"HTTP/1.1 503 ")
    other = server.connect(wait, "127.0.0.3")
    server.go.set()
    assert [status(one) for one in (*many, *few, other)] == [200] * 10
    for one in (*many, *few, other):
        one.close()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
    ],
)
def test_what_is_counted_as_one_place(one, other, same):
    assert (network_of(one) == network_of(other)) is same


@linux_only
def test_a_server_opens_as_many_files_as_it_may():
    import resource  # which not every system has

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    code = (
        "import resource; from similitude.study.web.limits import raise_open_files\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)); print(raise_open_files())"
    )
    found = int(subprocess.check_output([sys.executable, "-c", code], text=True))
    assert found == (limits._FILES_ENOUGH if hard == resource.RLIM_INFINITY else min(hard, limits._FILES_ENOUGH))


class Written:
    """A request whose response has begun or not, and what its connection was given to write."""

    def __init__(self, response_started=True):
        self.transport, self.response_started, self.pieces, self.closed = self, response_started, [], False

    def is_closing(self):
        return False

    def write(self, data):
        self.pieces.append(data)

    def close(self):
        self.closed = True


def test_a_short_response_is_one_piece_and_a_long_one_waits_for_nothing():
    cycle = Written()
    response = _InOnePiece(cycle)
    response.write(b"head ")
    assert cycle.pieces == []
    for part in (b"first ", b"second ", b"third"):
        response.write(part)
    assert cycle.pieces == [b"head first ", b"second ", b"third"]


def test_what_comes_before_a_head_is_written_at_once():
    cycle = Written(response_started=False)
    response = _InOnePiece(cycle)
    response.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    cycle.response_started = True
    response.write(b"head ")
    response.write(b"")
    assert cycle.pieces == [b"HTTP/1.1 100 Continue\r\n\r\n", b"head "]


def test_a_response_that_ends_with_its_head_is_written_before_the_end():
    cycle = Written()
    response = _InOnePiece(cycle)
    response.write(b"head")
    response.close()
    assert (cycle.pieces, cycle.closed) == ([b"head"], True)
