"""What every response carries, and how much of a body is heard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from similitude.study.refusal import Refused

HEADERS = {b"x-content-type-options": b"nosniff", b"referrer-policy": b"no-referrer"}


class Guard:
    """Adds headers of security to every response, and refuses bodies larger than any that is expected.

    Parameters
    ----------
    app : the application
    largest : bytes of a body
    headers : of every response that does not have them
    """

    def __init__(self, app: ASGIApp, largest: int, headers: Mapping[bytes, bytes] = HEADERS) -> None:
        self.app, self.largest, self.headers = app, largest, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Guard one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = dict(message.get("headers", ()))
                if b"'none'" not in _framed_by(present):  # what may be framed says by whom, in words of today
                    present[b"x-frame-options"] = b""
                more = [(name, value) for name, value in self.headers.items() if name not in present]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        if body_length(scope) > self.largest:
            refused = too_large(self.largest)
            response = JSONResponse({"code": refused.code, "detail": str(refused)}, refused.status)
            await response(scope, receive, with_headers)
        else:
            await self.app(scope, counted(receive, self.largest), with_headers)


def _framed_by(headers: Mapping[bytes, bytes]) -> bytes:
    """Who may show a response within a page of theirs, by its own policy; nobody where it says nothing."""
    policy = headers.get(b"content-security-policy", b"frame-ancestors 'none'")
    return next((part for part in policy.split(b";") if part.strip().startswith(b"frame-ancestors")), b"'none'")


def counted(receive: Receive, largest: int) -> Receive:
    """What is heard of a body, up to the largest that is taken."""
    size = 0

    async def heard() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > largest:
            raise too_large(largest)
        return message

    return heard


def body_length(scope: Scope) -> int:
    """How long a body says that it is."""
    headers: dict[bytes, Any] = dict(scope["headers"])
    given = headers.get(b"content-length", b"0")
    return int(given[:18]) if given.isdigit() else 0


def too_large(largest: int) -> Refused:
    """Who sent more than is taken."""
    return Refused(413, "too_large", f"body: expected at most {largest} bytes")
