"""The application: routes, what faults look like, and limits on what is taken in."""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import mimetypes
import time

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from similitude.study.refusal import Refused
from similitude.study.site import Site
from similitude.study.store.database import StoreError
from similitude.study.web import admin, api_page, live, operations, pages
from similitude.study.web import own_setup as own_setup  # which brings its route
from similitude.study.web import people_api as people_api  # which brings routes of the interface
from similitude.study.web.admin_page import UNAVAILABLE
from similitude.study.web.api import Askers  # which brings the routes of raters, too
from similitude.study.web.guard import HEADERS, Guard, body_length, counted
from similitude.study.web.interface import ENDPOINTS, VERSION, Endpoint, router, sentences
from similitude.study.web.limits import LIMITS, Limits
from similitude.study.web.operations import Meter
from similitude.study.web.origins import ACROSS, across

_log = logging.getLogger("similitude.study")
_HEADERS = {
    b"content-security-policy": b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    **HEADERS,
    b"x-frame-options": b"DENY",
}
# A system may not know a suffix (webp and avif are new to some), and on Windows any program may have changed what it
# knows. A browser that is told `text/plain` shows no picture and runs no script: so this is our word, not the system's.
MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}


def create_app(
    site: Site,
    root: str = "",
    secure: bool = False,
    meter: Meter | None = None,
    limits: Limits = LIMITS,
    origin: str = "",
) -> FastAPI:
    """The application of a site.

    `root` is the path under which a proxy has put it, as `/lab/faces`; `secure` whether it is reached by TLS alone;
    `meter` counts requests where somebody may read that; `limits` are those of what comes in; `origin` is what stands
    before the path in links for others, where it is known, else what the admin's browser knows. The framework's own
    redirects to a path with a slash are off: they would name the host that the request named.
    """
    know_media_types()
    app = _App(
        title="similitude study", version=VERSION, summary=api_page.SUMMARY, description=api_page.DESCRIPTION,
        docs_url=None, redoc_url=None, redirect_slashes=False,
    )  # fmt: skip
    app.meter, app.largest = meter, limits.body_bytes
    app.state.site, app.state.root, app.state.secure, app.state.origin = site, root, secure, origin
    app.state.asker = Askers(site.database)
    app.include_router(router)
    for more in (api_page.router, operations.router, pages.router, live.router):
        app.include_router(more)
    admin.install(app, site, limits)
    app.mount("/static", pages.OwnFiles(directory=pages.STATIC))
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(StoreError, _no_store)
    app.add_exception_handler(OSError, _no_file)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_middleware(_Head)
    app.add_middleware(Guard, largest=limits.body_bytes, headers=_HEADERS)
    return app


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    if _is_page(request):
        return pages.fault_page(error.status)
    headers = None if error.wait is None else {"Retry-After": str(math.ceil(error.wait))}
    return admin.refusal_page(request, error.status, str(error)) or JSONResponse(
        {"code": error.code, "detail": str(error)}, error.status, headers
    )


def _invalid(_: Request, error: Exception) -> JSONResponse:
    """What the framework found wrong; without what was sent, which may be text that cannot be written."""
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"code": "invalid", "detail": sentences(error.errors())}, 422)


def _no_store(request: Request, error: Exception) -> Response:
    """Nothing was lost: the browser keeps the answer and sends it again. Where the store is, is for the log alone."""
    _log.warning("%s", error)
    if _is_page(request):
        service = request.app.state.site.studies.get(request.path_params.get("study"))
        return pages.fault_page(503, service and service.study)
    return admin.refusal_page(request, 503, UNAVAILABLE) or JSONResponse(
        {"code": "store", "detail": UNAVAILABLE}, 503, {"Retry-After": "2"}
    )


def _no_file(request: Request, error: Exception) -> Response:
    """A full disk, or a folder that may not be written to; where it is, is for the log alone."""
    assert isinstance(error, OSError)
    _log.error("%s %s", request.method, request.url.path, exc_info=error)
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = error.strerror or "no reason is given"
    sentence = f"The server could not read or write a file ({why}); nothing was changed. " + (
        "Make room on its disk and try again." if full else "Its log says which."
    )
    status = 507 if full else 500
    if _is_page(request):
        return pages.fault_page(503)
    return admin.refusal_page(request, status, sentence) or JSONResponse({"code": "file", "detail": sentence}, status)


async def _gone(_: Request, __: Exception) -> Response:
    """The browser went away while it was still sending: there is nobody to answer, and nothing to report."""
    return Response(status_code=400)


class _App(FastAPI):
    """Leads requests of the raters' interface straight to their functions; everything else goes the framework's way."""

    meter: Meter | None = None
    largest = LIMITS.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts = scope["path"].split("/", 3) if scope["type"] == "http" else []
        endpoint = None
        if len(parts) == 4 and parts[1] == "api":
            endpoint = ENDPOINTS.get((scope["method"], parts[3]))
            if parts[3].startswith(ACROSS):
                send = across(scope, self.state.site.studies.get(parts[2]), send)
        if endpoint is None or body_length(scope) > self.largest:
            await super().__call__(scope, receive, send)
            return
        request = Request({**scope, "app": self, "path_params": {"study": parts[2]}}, counted(receive, self.largest))
        begin = time.perf_counter()
        response = await _answered(endpoint, request)
        if self.meter is not None:
            self.meter.count(parts[3], time.perf_counter() - begin)
        headers = [*response.raw_headers, *_HEADERS.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})


async def _answered(endpoint: Endpoint, request: Request) -> Response:
    """What a function of the raters' interface says, or why it says nothing."""
    try:
        return await endpoint(request)
    except Refused as error:
        return _refused(request, error)
    except StoreError as error:
        return _no_store(request, error)
    except ClientDisconnect as error:
        return await _gone(request, error)


class _Head:
    """Answers HEAD as GET, without the body; what goes on and on ends with its first part."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        ended, asked = asyncio.Event(), False

        async def nothing_more() -> Message:
            nonlocal asked
            if asked:
                await ended.wait()
                return {"type": "http.disconnect"}
            asked = True
            return {"type": "http.request", "body": b""}

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended.is_set():
                ended.set()
                await send({"type": "http.response.body", "body": b""})

        await self.app({**scope, "method": "GET"}, nothing_more, without_body)


def _is_page(request: Request) -> bool:
    """Whether a person waits for the response, not a script."""
    return request.url.path.startswith("/s/")


def know_media_types() -> None:
    """Tell Python's table, which every response of a file asks."""
    for suffix, kind in MEDIA_TYPES.items():
        mimetypes.add_type(kind, suffix)
