"""What is taken from outside: size and time of headers and bodies, time of waits, number of requests and connections.

The parser of HTTP has no limits of its own: a header of any length is collected in memory, and a connection that never
ends its header is held for ever. Here a connection is counted while its header and its body come, timed while the
server waits for it, and closed where it goes beyond. One sweep a second looks at all of them, so that a request costs
no timer.

Where there are more connections than the limit, the one that has kept the server waiting longest makes room: a newcomer
is let in however many stand in the door and say nothing.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from similitude.study.arrivals import network_of

_SWEEP_SECONDS = 1.0
_LINGER_SECONDS, _LINGER_BYTES = 2.0, 1 << 20  # of those who were refused, so that they can read why
_ON_ITS_WAY = 2  # how much larger than itself a body may be in chunks, with all that stands around them
_FILES_ENOUGH = 1 << 16
_FILES_BESIDE = 200  # open files that are no connections: database, pictures, those just being closed


@dataclass(frozen=True)
class Limits:
    """What the server takes from outside.

    Attributes
    ----------
    header_bytes : size of a request's line and headers
    header_seconds : time for them, from the connection or from the first byte
    body_bytes : size of what follows
    body_seconds : time for it
    idle_seconds : time between a response and the next request
    stalled_seconds : time for which a response may wait for who asked for it
    pipelined : requests that came on one connection before those ahead of them were answered
    connections : in all
    per_address : from one address, but for the trusted proxy, from whose address everybody comes
    session_hours : for which somebody who has logged in stays so
    link_hours : for which one-time links work
    upload_bytes : size of a file that is uploaded, in an archive too
    unpacked_bytes : size of all that one archive holds
    archive_files : files that one archive holds
    table_rows : rows of a table of items
    """

    header_bytes: int = 32 * 1024
    header_seconds: float = 10.0
    body_bytes: int = 64 * 1024
    body_seconds: float = 20.0
    idle_seconds: int = 15
    stalled_seconds: float = 60.0
    pipelined: int = 8
    connections: int = 4096
    per_address: int = 256
    session_hours: float = 12.0
    link_hours: float = 24.0
    upload_bytes: int = 512 * 2**20
    unpacked_bytes: int = 2 * 2**30
    archive_files: int = 20_000
    table_rows: int = 100_000


LIMITS = Limits()


class Crowd:
    """All connections of a server, counted by where they come from, the longest waiting first.

    Parameters
    ----------
    limits : what they may do
    is_trusted_proxy : whether an address is that of our own proxy
    open_files : how many files the process may open; a connection is one
    """

    def __init__(self, limits: Limits, is_trusted_proxy: Callable[[str], bool], open_files: int) -> None:
        self.limits, self._is_trusted_proxy = limits, is_trusted_proxy
        self.most = max(1, min(limits.connections, open_files - _FILES_BESIDE))
        self._waiting: dict[LimitedProtocol, None] = {}  # in the order in which the wait began
        self._at_work: set[LimitedProtocol] = set()
        self._per_source: Counter[str] = Counter()
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting) + len(self._at_work)

    def let_in(self, one: LimitedProtocol, address: str) -> bool:
        """Whether a new connection may stay; where too many are there, one that waits has to leave for it."""
        self._waiting[one] = None
        self._per_source[one.source] += 1
        self._sweep = self._sweep or one.loop.call_later(_SWEEP_SECONDS, self._look, one.loop)
        # A proxy's connections are everybody's, so that its share is the whole. From elsewhere, one source makes room
        # among its own: a crowd from one address cannot push out those who came from others.
        if self._per_source[one.source] > self.limits.per_address and not self._is_trusted_proxy(address):
            return self._makes_room(one, lambda other: other.source == one.source)
        return len(self) <= self.most or self._makes_room(one, lambda _: True)

    def leave(self, one: LimitedProtocol) -> None:
        """Forget a connection that has ended."""
        if one in self._waiting or one in self._at_work:
            self._waiting.pop(one, None)
            self._at_work.discard(one)
            self._per_source[one.source] -= 1
            if not self._per_source[one.source]:
                del self._per_source[one.source]

    def begins_to_wait(self, one: LimitedProtocol) -> None:
        """A connection from which the server expects a request, or the rest of one."""
        if one in self._at_work:
            self._at_work.discard(one)
            self._waiting[one] = None

    def has_come(self, one: LimitedProtocol) -> None:
        """A connection whose request is there to its end, and at work from now on."""
        if one in self._waiting:
            del self._waiting[one]
            self._at_work.add(one)

    def _makes_room(self, newcomer: LimitedProtocol, may_go: Callable[[LimitedProtocol], bool]) -> bool:
        # Whoever is at work stays: a rater's answer is never cut off for a newcomer. To turn newcomers away instead is
        # what those who fill a server with silent connections want.
        longest = next((one for one in self._waiting if one is not newcomer and may_go(one)), None)
        if longest is None:
            return False
        longest.drop()
        return True

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close what is late; once a second for as long as anybody is there."""
        now = loop.time()
        for one in [*self._waiting, *self._at_work]:
            one.close_if_late(now)
        self._sweep = loop.call_later(_SWEEP_SECONDS, self._look, loop) if len(self) else None


class _Expects(Enum):
    """What of a connection comes next."""

    HEADER = auto()
    BODY = auto()
    NOTHING = auto()  # the server's turn
    END = auto()  # it was refused


class LimitedProtocol(HttpToolsProtocol):
    """A connection within limits."""

    def __init__(self, *given: Any, crowd: Crowd, **named: Any) -> None:
        super().__init__(*given, **named)
        self.crowd, self.limits, self.source = crowd, crowd.limits, ""
        self._expects, self._since = _Expects.HEADER, self.loop.time()
        self._seen = 0  # bytes of a header or body that is not complete; of anything, once refused
        self._stalled: float | None = None
        self._fault = HTTPStatus.BAD_REQUEST  # of what the parser stops at

    # --- what the transport tells ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or say that there are too many."""
        super().connection_made(cast(asyncio.Transport, transport))
        address = self.client[0] if self.client else ""
        self.source = network_of(address)
        if not self.crowd.let_in(self, address):
            self.crowd.leave(self)
            self.transport.write(_response(HTTPStatus.SERVICE_UNAVAILABLE))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended, and what waited on it is asked by nobody."""
        self.crowd.leave(self)
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless it is too much."""
        if self._expects is _Expects.END:
            self._seen += len(data)
            if self._seen > _LINGER_BYTES:
                self.drop()
            return
        # Counted before the parser sees it and looked at after: one piece may end a header and begin a body.
        if self._expects is _Expects.HEADER:
            self._count(len(data))
        elif self._expects is _Expects.BODY:
            self._seen += len(data)
        super().data_received(data)
        if self._expects is _Expects.HEADER and self._seen > self.limits.header_bytes:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._expects is _Expects.BODY and self._seen > _ON_ITS_WAY * self.limits.body_bytes:
            self._refuse_body(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def pause_writing(self) -> None:
        """Who asked does not read the response."""
        self._stalled = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It is read again."""
        self._stalled = None
        super().resume_writing()

    # --- what the parser and the response tell ---

    def on_message_begin(self) -> None:
        """A request begins, perhaps before the one before it was answered."""
        super().on_message_begin()
        if self._expects is _Expects.NOTHING:
            self._expects = _Expects.HEADER
            self._count(1)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the header; after a body nobody asked for any, and a request would collect them without end."""
        if self._expects is _Expects.BODY:
            raise httptools.HttpParserError("trailers are not taken")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The header is there: its request goes to the application, or waits for those ahead of it."""
        if _size(self.url, self.headers) > self.limits.header_bytes:  # all of it came in one piece
            self._fault = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise httptools.HttpParserError("header too large")
        super().on_headers_complete()
        if self.scope["method"] != "HEAD":  # whose head no body follows
            self.cycle.transport = cast(asyncio.Transport, _InOnePiece(self.cycle))
        if len(self.pipeline) > self.limits.pipelined:
            raise httptools.HttpParserError("too many requests at once")
        self._expects, self._since, self._seen = _Expects.BODY, self.loop.time(), 0

    def on_message_complete(self) -> None:
        """All of a request is there: it is the server's turn."""
        super().on_message_complete()
        self._expects = _Expects.NOTHING
        self.crowd.has_come(self)

    def on_response_complete(self) -> None:
        """The next request may come, where none waits already."""
        has_next = bool(self.pipeline)
        super().on_response_complete()
        if self.transport.is_closing() or self.pipeline:
            return
        if has_next:  # it is at work now, unless its body is still to come
            if self._expects is _Expects.BODY:
                self.crowd.begins_to_wait(self)
            return
        if self._expects is _Expects.BODY:  # answered before it was heard: nobody will listen to the rest
            self._end()
            return
        if self._expects is _Expects.NOTHING:
            self._expects, self._since = _Expects.HEADER, self.loop.time()
        self.crowd.begins_to_wait(self)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or one beyond the limits."""
        if self._expects is _Expects.BODY:
            self._refuse_body(self._fault)
        else:
            self._refuse(self._fault)

    # --- what the limits do ---

    def close_if_late(self, now: float) -> None:
        """End a connection that has kept the server waiting for too long."""
        stalled = self._stalled is not None and now - self._stalled > self.limits.stalled_seconds
        if not stalled and now - self._since <= self._patience():
            return
        if stalled or self._expects is _Expects.END or not (self._seen or self.cycle):
            self.drop()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _patience(self) -> float:
        """Seconds that a connection has from now on; between two requests uvicorn's own timer ends the wait."""
        if self._expects is _Expects.HEADER and (self._seen or not self.cycle):
            return self.limits.header_seconds
        return {_Expects.BODY: self.limits.body_seconds, _Expects.END: _LINGER_SECONDS}.get(self._expects, math.inf)

    def drop(self) -> None:
        """End a connection at once, without a word."""
        self.crowd.leave(self)
        self.transport.abort()

    def _count(self, size: int) -> None:
        """Bytes of a header; its time runs from the first."""
        if not self._seen:
            self._since = self.loop.time()
        self._seen += size

    def _refuse(self, status: HTTPStatus) -> None:
        """Say why, unless a response is under way, and end."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.drop()
        else:
            self.transport.write(_response(status))
            self._end()

    def _refuse_body(self, status: HTTPStatus) -> None:
        """Refuse a request that the application has heard the beginning of; to it, who asked has gone."""
        if self.cycle is None or self.cycle.response_started or self.pipeline:
            self.drop()
            return
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        self.transport.write(_response(status))
        self._end()

    def _end(self) -> None:
        """Say no more, and read on for a moment: closed with something unread, the last word would be lost, too."""
        self._expects, self._since, self._seen = _Expects.END, self.loop.time(), 0
        self.crowd.begins_to_wait(self)
        if self.transport.can_write_eof():
            self.transport.write_eof()


class _InOnePiece:
    """Where a response is written: its head waits for the first of its body, since every piece is a call of the system.

    What comes before the head ("100 Continue") waits for nothing.
    """

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Write, or keep what is the head."""
        if self._transport.is_closing():
            return  # sent away meanwhile: nobody reads it
        if self._head is None and self._cycle.response_started:
            self._head = data
        else:
            self._transport.write(self._head + data if self._head else data)
            self._head = self._head and b""

    def close(self) -> None:
        """Write what was kept, and close."""
        self.write(b"")
        self._transport.close()


def _size(url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) + 4 for name, value in headers)


def _response(status: HTTPStatus) -> bytes:
    body = f"{status.phrase}\n".encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


def raise_open_files() -> int:
    """Let this process open as many files as it may without being root, within reason; returns how many that are."""
    if sys.platform == "win32":  # which has no such limit
        return _FILES_ENOUGH
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _FILES_ENOUGH
    wanted = _FILES_ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _FILES_ENOUGH)
    while wanted > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
        except (ValueError, OSError):  # macOS has a ceiling of its own, and does not tell it
            wanted //= 2
    return soft
