"""Requests that mean no good, made by rule: every way of asking wrongly, at every door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

DOORS = ("/", "/s/words", "/s/words/", "/api/words/about", "/api/words/join", "/api/words/answers", "/api/words/me",
         "/api/words/v1/tell", "/api/words/v1/model",
         "/api/words/items/w01", "/admin", "/admin/-/login", "/admin/words/export", "/static/rater.js")  # fmt: skip
METHODS = ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "PROPFIND", "get", "BREW", "POST")
FRAGMENTS = (
    "' OR '1'='1", "'; DROP TABLE answer; --", '" UNION SELECT value FROM secret --', "1; SELECT pg_sleep(10)",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{7*7}}", "${jndi:ldap://x}", "%s%s%n",
    "=cmd|' /C calc'!A0",
    "../../../../etc/passwd", "\r\nSet-Cookie: a=b", "\u202egnp.exe", "🙂" * 50, "A" * 500,
)  # fmt: skip
PATHS = (
    "/../answers.db", "/static/../../answers.db", "/static/..%2f..%2fanswers.db", "/static/%2e%2e/%2e%2e/answers.db",
    "/static//etc/passwd", "/static/..\\..\\answers.db", "/static/%00", "/static/rater.js%00.png", "/s/../answers.db/",
    "/s/%2e%2e/", "/s/words/../../answers.db", "/s//", "/s/WORDS/", "/s/words%00/", "/s/%ff/", "/s/%c0%ae%c0%ae/",
    "/api/words/items/..%2fstudy.toml", "/api/words/items/%2fetc%2fpasswd", "/api/words/items/", "/api/words/items/%00",
    "/api//join", "/api/words", "/api/words/", "/api/words/secret", "/api/none/me", "/api/words/me/more",
    "/api/words/v1", "/api/words/v1/", "/api/words/v1/join/x", "/api/words/v1/neighbors?k=9&item=%00", "//",
    "/.git/config",
    "/answers.db", "/study.toml", "/admin/-/first/", "/admin/-/first/x", "/admin/-/first/..%2f..%2f",
    "/admin/none/state",
    "/admin/words/events", "/admin/words/../words", "/openapi.json/", "/" + "a" * 5000, "/" + "%41" * 3000,
    "/?" + "a=b&" * 3000,
    "/s/words/?rater=" + "x" * 60_000, "/s/words?" + quote("\r\nX: y"), "/%0d%0aSet-Cookie:%20a=b", "/;/..;/admin",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, -(10**400), "", "1", "a" * 70, "\x00", [], [[]], [None], [True], ["1"],
    [10**30],
    {}, {"a": {"b": []}}, {"$ne": 1},
)  # fmt: skip
FIELDS = {
    "join": {"uid": "browser-x", "parameters": {}},
    "answers": {"number": 0, "uid": "answer-xx", "outcome": "answered", "response": [1], "milliseconds": 900},
    "survey": {"replies": {}},
}
BODIES = (
    b"", b"{", b"}", b"[]", b"null", b"nan", b"[" * 30_000, b'{"a":' * 8000, b"\xff\xfe{}", "{}".encode("utf-16"),
    b"\xef\xbb\xbf{}", b"\x1f\x8b\x08\x00junk", b"\x00" * 1000, b"a=b&c=d", b'{"uid": "abcdefgh", "uid": 1}',
    b'{"uid": "\\ud800aaaaaaa"}', b'{"number": NaN}', b'{"number": 1e999}', b"<xml/>", b" " * 70_000,
)  # fmt: skip
TOKENS = (
    "", "Bearer", "Bearer ", "Bearer 1", "Bearer 1.", "Bearer 1." + "0" * 32, "Bearer -1." + "0" * 32, "Bearer 1e3.x",
    "Bearer " + "9" * 30 + ".x", "Bearer 1.\xe9", "Basic YTpi", "Bearer 1.' OR 1=1", "Bearer null", "bearer 1.a",
    "Bearer sim_", "Bearer sim_' OR 1=1_x", "Bearer sim_\xe9_x",
    "Bearer 1.a, Bearer 2.b", "Bearer " + "A" * 5000,
)  # fmt: skip
HEADERS: tuple[tuple[str, str], ...] = (
    ("host", "evil.example"), ("host", ""), ("host", "a" * 3000), ("x-forwarded-host", "evil.example"),
    ("x-forwarded-for", "1.2.3.4, <script>"), ("x-forwarded-proto", "javascript"), ("accept", "text/html;q=x, \x00"),
    ("accept-language", "a" * 5000), ("cookie", "similitude_admin=' OR 1=1"), ("cookie",
    "similitude_admin=" + "a" * 5000),
    ("cookie", "similitude_device=.."), ("cookie", "=;=;;;\xff"), ("range", "bytes=0-0,1-1,2-2"), ("range",
    "bytes=99999-"),
    ("range", "bytes=" + ",".join(f"{k}-" for k in range(500))), ("if-none-match", "*"), ("if-modified-since", "never"),
    ("content-type", "multipart/form-data"), ("content-type", "application/x-www-form-urlencoded; charset=utf-7"),
    ("content-length", "-1"), ("content-length", "abc"), ("content-length", "9" * 40), ("content-length", "²"),
    ("transfer-encoding", "chunked, chunked"), ("expect", "100-continue"), ("upgrade", "websocket"),
    ("authorization", "Digest username=x"), ("x-http-method-override", "DELETE"), ("origin", "null"), ("te",
    "trailers"),
)  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """One request, as bytes would say it."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass
class Reply:
    """What came back."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def text(self) -> str:
        """All of it, headers too."""
        return f"{self.headers}\n{self.body.decode('utf-8', 'replace')}"

    @property
    def is_page(self) -> bool:
        """Whether a browser would show it as a page."""
        return any(name == "content-type" and "html" in value for name, value in self.headers)


def everything(token: str) -> list[Hostile]:
    """The whole list; `token` is of a rater who takes part."""
    known = (("authorization", f"Bearer {token}"),)
    return [*_methods(), *_paths(), *_bodies(known), *_types(known), *_tokens(), *_fragments(known), *_headers(known)]


def _methods() -> Iterator[Hostile]:
    yield from (Hostile(method, path) for method in METHODS for path in DOORS)


def _paths() -> Iterator[Hostile]:
    for path in PATHS:
        yield Hostile("GET", path, (("accept", "text/html"),))
        yield Hostile("HEAD", path)


def _bodies(known: tuple[tuple[str, str], ...]) -> Iterator[Hostile]:
    for body in BODIES:
        yield from (Hostile("POST", f"/api/words/{name}", known, body) for name in FIELDS)
        yield Hostile("POST", "/admin/-/login", (), body)


def _types(known: tuple[tuple[str, str], ...]) -> Iterator[Hostile]:
    """Every kind of value in every field."""
    for name, fields in FIELDS.items():
        for which in [*fields, "unknown"]:
            for value in VALUES:
                body = json.dumps({**fields, which: value}).encode()
                yield Hostile("POST", f"/api/words/{name}", known, body)


def _tokens() -> Iterator[Hostile]:
    for token in TOKENS:
        for method, name in (("GET", "me"), ("POST", "questions"), ("POST", "answers"), ("POST", "consent")):
            yield Hostile(method, f"/api/words/{name}", (("authorization", token),), b"{}")


def _fragments(known: tuple[tuple[str, str], ...]) -> Iterator[Hostile]:
    """Bits of SQL, HTML and other languages, wherever text goes."""
    html = (("accept", "text/html"),)
    for text in FRAGMENTS:
        yield Hostile("GET", f"/s/{quote(text, safe='')}/", html)
        yield Hostile("GET", f"/s/words/?rater={quote(text)}&{quote(text)}=1", html)
        yield Hostile("GET", f"/api/words/items/{quote(text, safe='')}")
        yield Hostile("GET", f"/admin/-/first/{quote(text, safe='')}", html)
        yield Hostile("POST", "/api/words/join", (), json.dumps({"uid": text, "parameters": {}}).encode())
        given = {"rater": text, text[:100]: text}
        yield Hostile("POST", "/api/words/join", (), json.dumps({"uid": "browser-f", "parameters": given}).encode())
        yield Hostile("POST", "/api/words/survey", known, json.dumps({"replies": {text: text}}).encode())
        form = urlencode({"csrf": "token", "name": text, "password": text}).encode()
        cookie = (("cookie", f"similitude_form=token; similitude_device={quote(text)}"), *html)
        yield Hostile("POST", "/admin/-/login", cookie, form)


def _headers(known: tuple[tuple[str, str], ...]) -> Iterator[Hostile]:
    for header in HEADERS:
        yield Hostile("GET", "/s/words", (header, ("accept", "text/html")))
        yield Hostile("GET", "/static/rater.js", (header,))
        yield Hostile("GET", "/admin", (header, ("accept", "text/html")))
        yield Hostile("POST", "/api/words/answers", (*known, header), b"{}")


async def send(app: Any, one: Hostile, address: str = "192.0.2.1") -> Reply:
    """Ask an application in this process, as a server would that has read these bytes; nothing is put right."""
    path, _, query = one.target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": one.method, "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "surrogateescape"), "raw_path": path.encode(), "root_path": "",
        "query_string": query.encode(), "client": (address, 1), "server": ("study", 80),
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in one.headers],
    }  # fmt: skip
    reply, sent = Reply(), False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await asyncio.sleep(0.05)
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": one.body}

    async def take(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            reply.body += message.get("body", b"")

    await app(scope, receive, take)
    return reply
