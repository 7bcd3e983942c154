"""The admin's page of the report and of the dimensions: asked for by a button, made by a process, then seen."""

from __future__ import annotations

import asyncio
import io
import json
import mimetypes
import subprocess
import sys
import threading
import zipfile
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.store.database import StoreError
from similitude.study.supervise import apart
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_form
from similitude.study.works import DIMENSIONS, KINDS, REPORT, RUNNING, Work, Works

router = APIRouter(prefix="/admin", include_in_schema=False)
_PAGES = {REPORT: "report.html", DIMENSIONS: "dimensions.html"}
_MINUTES = (1, 2, 5, 15, 60)
_BROKE_OFF = "Its process ended before it was made; the server's log may say why."
# A report is a page of its own, with scripts in it: it runs in a box, without our origin and its cookies.
_BOX = {
    "Content-Security-Policy": "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
}


@router.get("/{study}/report")
async def report_page(request: Request, session: Admin, service: Service) -> Response:
    """What was made of the answers, what is being made, and the buttons to ask for it."""
    return await _page(request, session, service)


@router.get("/{study}/report/state")
async def report_state(service: Service) -> dict[str, Any]:
    """How far it is."""
    return await asyncio.to_thread(_told, Works(service.database), service.study_id)


@router.post("/{study}/report")
async def make(request: Request, session: Admin, service: Service) -> Response:
    """Begin to make one; who presses twice is told that it is under way."""
    form = await checked_form(request, session)
    kind, minutes = form.get("kind", ""), form.get("minutes", "")
    if kind == REPORT and minutes not in map(str, _MINUTES):
        return await _page(request, session, service, 422, problem="minutes: expected one of those offered")
    limit = 60.0 * float(minutes) if kind == REPORT else 0.0
    try:
        await asyncio.to_thread(begin, service, kind, session.name, limit)
    except Refused as refusal:
        return await _page(request, session, service, refusal.status, problem=str(refusal))
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/report"), 303)


@router.get("/{study}/report/{kind}.zip")
async def download(session: Admin, service: Service, kind: str) -> Response:
    """All of it as a file; noted who takes it, since the answers are in it."""
    data = await asyncio.to_thread(_made, service, kind)
    await asyncio.to_thread(service.taken, session.name, KINDS[kind])
    name = f"{service.study.name}_{kind}.zip"
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.get("/{study}/report/{kind}/{path:path}")
async def view(service: Service, kind: str, path: str) -> Response:
    """A page or file of it."""
    data = await asyncio.to_thread(_made, service, kind)
    wanted = f"{service.study.name}_{kind}/{path or _PAGES[kind]}"
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        if wanted not in packed.namelist():
            raise Refused(404, "no_file", "There is no such file.")
        content = packed.read(wanted)
    return Response(content, media_type=mimetypes.guess_type(wanted)[0] or "application/octet-stream", headers=_BOX)


def begin(service: StudyService, kind: str, by: str, time_limit: float) -> int:
    """Ask for one, and start the process that makes it; the number of what was asked for."""
    works = Works(service.database)
    number = works.ask(service.study_id, kind, by)
    items = service.items.values()
    settings = {
        "url": service.database.url.render_as_string(hide_password=False), "work": number, "kind": kind,
        "study": service.study.name, "title": service.study.title, "time_limit": time_limit,
        "images": {item.name: str(item.path) for item in items if item.kind == "image"},
        "colours": {item.name: item.content for item in items if item.kind == "colour"},
    }  # fmt: skip
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "similitude.study.maintenance.maker"], stdin=subprocess.PIPE, **apart()
        )
        assert process.stdin is not None
        # by its input, not its arguments: the address of the database may hold a password
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
    except OSError as fault:
        works.fail(number, f"Its process could not be started ({fault.strerror}).")
        return number
    threading.Thread(target=_wait, args=(process, works, number), daemon=True).start()
    return number


def _wait(process: subprocess.Popen[bytes], works: Works, number: int) -> None:
    """Keep the input open until the process ends, however it ends; one that left nothing has failed."""
    process.wait()
    assert process.stdin is not None
    process.stdin.close()
    with suppress(StoreError):  # where the database cannot be asked, its last sign of life tells
        works.fail(number, _BROKE_OFF)


def _made(service: StudyService, kind: str) -> bytes:
    works = Works(service.database)
    found = works.made(service.study_id, kind) if kind in KINDS else None
    if found is None:
        raise Refused(404, "no_work", "There is none yet.")
    return works.result(found)


async def _page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    told = await asyncio.to_thread(_told, Works(service.database), service.study_id)
    known = {"study": service.study, "kinds": told["kinds"], "under_way": told["under_way"], "minutes": _MINUTES}
    return render(request, "report.html", status, session=session, **known, **values)


def _told(works: Works, study_id: int) -> dict[str, Any]:
    kinds = {kind: _kind(works, study_id, kind) for kind in KINDS}
    return {"kinds": kinds, "under_way": any(one["state"] == RUNNING for one in kinds.values())}


def _kind(works: Works, study_id: int, kind: str) -> dict[str, Any]:
    latest, made = works.latest(study_id, kind), works.made(study_id, kind)
    found: dict[str, Any] = {"called": KINDS[kind], "state": None, "words": "", "share": None, "made": None}
    if latest is not None:
        share = latest.done / latest.total if latest.total else None
        found |= {"state": latest.state, "words": _words(latest), "share": share}
    if made is not None:
        found["made"] = f"of {made.answers:,} answers, {_when(made.ended)}, asked for by {made.by}"
    return found


def _words(work: Work) -> str:
    """How it stands, in a sentence."""
    if work.state == RUNNING:
        return f"{work.phase}: {work.done} of {work.total}" if work.total else work.phase
    return work.trouble or ""


def _when(at: float | None) -> str:
    return "" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
