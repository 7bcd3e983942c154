"""What the pages that edit a study share: whose files they are about, JSON that only an admin sends, items as drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from similitude.study.editing.desk import Desk
from similitude.study.fault import Fault, StudyError, WrongKeys
from similitude.study.items import Item
from similitude.study.refusal import Refused
from similitude.study.web.admin_page import outside
from similitude.study.web.auth import Session
from similitude.study.web.login import match


def desk_of(request: Request) -> Desk:
    """The study that an address names, served or still a draft that cannot be."""
    found = Desk.of(request.app.state.site, request.path_params["study"], request.app.state.limits)
    if found is None:
        raise Refused(404, "no_study", "There is no such study here.")
    return found


DeskOf = Annotated[Desk, Depends(desk_of)]


async def checked_json(request: Request, session: Session) -> dict[str, Any]:
    """What a script of ours sent; refused where its token is not the session's."""
    try:
        sent = json.loads(await request.body())
        json.dumps(sent, ensure_ascii=False).encode()  # half a surrogate pair, which no file can hold
    except (ValueError, RecursionError):
        raise Refused(422, "invalid", "body: expected JSON of whole Unicode characters") from None
    if not isinstance(sent, dict):
        raise Refused(422, "invalid", "body: expected a table")
    match(str(sent.pop("csrf", "")), session.csrf)
    return sent


def faults_as_json(error: StudyError) -> JSONResponse:
    """What is wrong, by key."""
    faults = error.faults if isinstance(error, WrongKeys) else (Fault(getattr(error, "key", ""), str(error)),)
    said = "; ".join(fault.sentence for fault in faults)
    return JSONResponse({"code": "faults", "detail": said, "faults": [fault._asdict() for fault in faults]}, 422)


def drawn_at(request: Request, desk: Desk) -> Callable[[Item], dict[str, Any]]:
    """How an item is drawn on the pages of admins, whose files are served to them alone."""

    def drawn(item: Item) -> dict[str, Any]:
        address = outside(request, f"/admin/{desk.name}/design/items/file/{quote(item.name, safe='')}")
        shown = {"name": item.name, "kind": item.kind, "content": item.content}
        return {**shown, "address": None if item.path is None else address}

    return drawn
