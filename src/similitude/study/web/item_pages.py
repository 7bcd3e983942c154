"""The page of a study's items: what is there, uploads in pieces, and what is renamed or taken out."""

from __future__ import annotations

import asyncio
import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from PIL import Image, UnidentifiedImageError

from similitude.study.editing.desk import Desk, NotSure, OutOfDate
from similitude.study.editing.gallery import Listed
from similitude.study.fault import StudyError
from similitude.study.items import KINDS
from similitude.study.refusal import Refused
from similitude.study.web import login
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.desks import DeskOf, checked_json, drawn_at, faults_as_json
from similitude.study.web.interface import json_reply
from similitude.study.web.limits import Limits
from similitude.study.web.login import Admin

router = APIRouter(prefix="/admin", include_in_schema=False)
_PIECE = 48 * 1024  # bytes; below the largest body that is taken from anybody, also by the proxies of our examples
_THUMB = 192
_KEPT = {  # a drawing that is opened by itself runs no script, whoever uploaded it
    "Cache-Control": "private, max-age=300",
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
}
_LOGGED_IN = [Depends(login.session_of)]


def piece_of(limits: Limits) -> int:
    """Bytes of a file that are sent at once: less than a body may have."""
    return min(_PIECE, limits.body_bytes // 2)


@router.get("/{study}/design/items")
async def items_page(request: Request, session: Admin, desk: DeskOf) -> Response:
    """All items, and the way for more to come in."""
    told = await asyncio.to_thread(_told, request, desk)
    told |= {"piece": piece_of(desk.limits), "kinds": sorted(KINDS)}
    return render(request, "design_items.html", session=session, study=desk.titled(), told=told, here="items")


@router.get("/{study}/design/items/file/{name:any_name}", dependencies=_LOGGED_IN)
async def item_file(desk: DeskOf, name: str, small: bool = False) -> Response:
    """The file of an item; a small picture of it where that is enough."""
    path = await asyncio.to_thread(desk.file_of_item, name)
    if path is None:
        raise Refused(404, "no_item", "There is no such file.")
    if small and (found := await asyncio.to_thread(thumbnail, path)):
        return Response(found, media_type="image/webp", headers=_KEPT)
    return FileResponse(path, headers=_KEPT)


def thumbnail(path: Path) -> bytes | None:
    """A picture made small; None of what is no picture that can be."""
    if KINDS.get(path.suffix.lower()) != "image" or path.suffix.lower() == ".svg":
        return None
    out = io.BytesIO()
    try:
        with Image.open(path) as picture:
            picture.draft("RGB", (_THUMB, _THUMB))
            picture.thumbnail((_THUMB, _THUMB))
            picture.convert("RGBA" if "A" in picture.getbands() else "RGB").save(out, "WEBP", quality=80)
    except (OSError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return None
    return out.getvalue()


@router.post("/{study}/design/upload/{uid}")
async def piece(request: Request, session: Admin, desk: DeskOf, uid: str, at: int) -> Response:
    """Take a piece of a file; `at` is where it begins."""
    login.match(request.headers.get("x-csrf", ""), session.csrf)
    data = await request.body()
    there = await asyncio.to_thread(desk.incoming.add, uid, at, data)
    return json_reply({"size": there})


@router.get("/{study}/design/upload/{uid}", dependencies=_LOGGED_IN)
async def how_far(desk: DeskOf, uid: str) -> Response:
    """How much of a file has come."""
    return json_reply({"size": await asyncio.to_thread(desk.incoming.size, uid)})


@router.post("/{study}/design/items")
async def change_items(request: Request, session: Admin, desk: DeskOf) -> Response:
    """Take in what was uploaded, rename an item, or take one out."""
    sent = await checked_json(request, session)
    return await asyncio.to_thread(_changed, request, desk, session, sent)


def _changed(request: Request, desk: Desk, session: Session, sent: dict[str, Any]) -> Response:
    sure, by = sent.get("sure") is True, session.name
    try:
        match sent.get("do"):
            case "add":
                files = [(str(one["uid"]), str(one["name"])[:1000]) for one in sent.get("files", [])]
                taken = desk.take_in(files, sent.get("replace") is True, by)
                return json_reply({**_told(request, desk), "taken": asdict(taken)})
            case "remove":
                desk.remove_item(str(sent.get("name")), sure, by)
            case "rename":
                desk.rename_item(str(sent.get("name")), str(sent.get("to", "")).strip(), sure, by)
            case _:
                raise Refused(422, "do", "do: expected add, remove or rename")
    except OutOfDate as late:
        return JSONResponse({"code": "out_of_date", "detail": str(late)}, 409)
    except NotSure as question:
        return JSONResponse({"code": "sure", "detail": str(question)}, 409)
    except StudyError as error:
        return faults_as_json(error)
    except (KeyError, TypeError):
        raise Refused(422, "invalid", "files: expected a list of tables with uid and name") from None
    return json_reply(_told(request, desk))


def _told(request: Request, desk: Desk) -> dict[str, Any]:
    looked = desk.look()
    try:
        listed, wrong = desk.gallery().listed(), None
    except StudyError as error:
        listed, wrong = [], str(error)
    drawn = drawn_at(request, desk)

    def one(found: Listed) -> dict[str, Any]:
        return {**drawn(found.item), "size": found.size, "fault": found.fault}

    return {
        "items": [one(found) for found in listed], "wrong": wrong, "to_do": desk.to_do(looked),
        "file": outside(request, f"/admin/{desk.name}/design/items/file/"), "basis": desk.basis(),
    }  # fmt: skip
