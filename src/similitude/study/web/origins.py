"""Pages of other sites that may ask: those that a study names in `raters.origins`, and no others.

A browser asks a server before a script of another site may read its replies (CORS). Cookies are never let through: who
asks is said by a token alone.
"""

from __future__ import annotations

from starlette.types import Message, Scope, Send

from similitude.study.service import StudyService

ACROSS = ("v1/", "items/")  # what other sites' pages may be let to
_ALLOWED = [
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"3600"),
]


def across(scope: Scope, service: StudyService | None, send: Send) -> Send:
    """Sends replies with the words by which a browser lets a page of another site read them, where it may."""
    origin = dict(scope["headers"]).get(b"origin")
    if service is None or origin is None or not _may(service, origin):
        return send
    told = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
    told += [(b"access-control-expose-headers", b"Retry-After")]
    asks_first = scope["method"] == "OPTIONS"

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), *told, *(_ALLOWED if asks_first else ())]
            message = {**message, "status": 200 if asks_first else message["status"], "headers": headers}
        await send(message)

    return sent


def _may(service: StudyService, origin: bytes) -> bool:
    named = service.study.raters.origins
    return "*" in named or origin.decode("latin-1") in named
