"""The admin's pages from their templates; everything that is put into them is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from similitude.display.templates import templates
from similitude.display.words import counted
from similitude.study.roles import includes

UNAVAILABLE = (
    "The database cannot be used just now; nothing was lost. Try again in a moment; the server's log says why."
)


def outside(request: Request, path: str) -> str:
    """A path of ours as a browser must ask for it, where a proxy has put the server under another path."""
    return f"{request.app.state.root}{path}"


def for_others(request: Request, path: str) -> str:
    """A path of ours as it is given to others: with the public address where that is known, else by the browser."""
    return f"{request.app.state.origin}{outside(request, path)}"


def render(request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """A page; it is not kept by the browser, since it shows what only admins see."""
    role = getattr(request.state, "role", None)  # in the study of the page, as `permissions.py` found it
    given = {"root": outside(request, ""), "problem": None, "name": None, "session": None, **values}
    given["may"] = partial(includes, role)
    text = templates("similitude.study.web").get_template(f"admin/{template}").render(given)
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})


def moment(at: float | None) -> str:
    """A moment as it stands in tables, in universal time."""
    return "–" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def said_as_of(as_of: Mapping[str, Any]) -> str:
    """Of how many answers figures are, and when they were found; nothing where that is not known."""
    if as_of["answers"] is None or as_of["at"] is None:
        return ""
    return f"as of {counted(as_of['answers'], 'answer')} of the study, {moment(as_of['at'])} UTC"


def percent(share: float | None) -> str:
    """A share as it stands in tables."""
    return "–" if share is None else f"{100 * share:.1f}%"


def seconds(duration: float | None) -> str:
    """A time as it stands in tables."""
    return "–" if duration is None else f"{duration:.1f}"


def whole(text: str) -> int:
    """A whole number of an address; 0 where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
