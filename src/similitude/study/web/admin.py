"""The admin's pages: all studies, one study as it runs, pause and resume, download."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse

from similitude.study.counting import rater_counts
from similitude.study.create import unfinished
from similitude.study.revisions import title_of
from similitude.study.service import StudyService
from similitude.study.site import Site
from similitude.study.states import DRAFT, state_of
from similitude.study.store import schema
from similitude.study.web import (
    account,
    design,
    item_pages,
    login,
    making,
    member_pages,
    people,
    rater_pages,
    recruiting_pages,
    revision_pages,
    share_pages,
    text_pages,
    token_pages,
    webhook_pages,
)  # fmt: skip
from similitude.study.web.admin_page import for_others, outside, render
from similitude.study.web.auth import Door, PasswordSet, Session
from similitude.study.web.downloads import sent_answers
from similitude.study.web.interface import Service
from similitude.study.web.limits import LIMITS, Limits
from similitude.study.web.live import drawn_items
from similitude.study.web.login import HOME, LOGIN, Admin, LoginNeeded, checked_form
from similitude.study.web.permissions import allowed
from similitude.study.web.watch import Watch, Watches

Format = Literal["csv", "parquet", "jsonl"]

_SESSION_CHECK = 30.0

router = APIRouter(prefix="/admin", include_in_schema=False)


def install(app: FastAPI, site: Site, limits: Limits = LIMITS) -> None:
    """Give an application that serves a site its admin pages."""
    app.state.door, app.state.limits = Door(site.database, limits=limits), limits
    app.state.watches = Watches(site)
    app.add_exception_handler(LoginNeeded, _to_login)
    editing = (design, item_pages, text_pages, revision_pages)
    watching = (people, rater_pages, recruiting_pages, making, share_pages)
    for pages in (login, account, token_pages, member_pages, webhook_pages, *watching, *editing):
        app.include_router(pages.router, dependencies=[Depends(allowed)])
    app.include_router(router, dependencies=[Depends(allowed)])


def _to_login(request: Request, _: Exception) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(outside(request, LOGIN), 303)
    return JSONResponse({"code": "login", "detail": "Log in first."}, 401)


def refusal_page(request: Request, status: int, sentence: str) -> Response | None:
    """A page that says what was refused, for who looks at the admin's pages; None for programs and elsewhere."""
    if not request.url.path.startswith("/admin") or "text/html" not in request.headers.get("accept", ""):
        return None
    return render(request, "message.html", status, title="That did not work", text=sentence)


@router.get("/-/plotly.js")
def plotly() -> FileResponse:
    """The charts' library, from the package that is installed: nothing is asked of another host.

    Anybody may have it, as anybody can have the package: it says nothing about a study, and needs no session.
    """
    path = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"
    return FileResponse(path, media_type="text/javascript", headers={"Cache-Control": "private, max-age=86400"})


@router.get("")
async def overview(request: Request, session: Admin) -> Response:
    """All studies with how far they are."""
    site: Site = request.app.state.site
    rows = await asyncio.to_thread(_overview, site, session)
    passwords = await asyncio.to_thread(request.app.state.door.passwords_set) if session.owns_all else []
    told = [_told(one, session) for one in passwords]
    return render(request, "overview.html", session=session, studies=rows, passwords=told)


def _told(one: PasswordSet, session: Session) -> dict[str, Any]:
    when = f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M} UTC"
    what = "was replaced" if one.replaced else "was set"
    sentence = f"The password of {one.name} {what} on {when} by a one-time link."
    return {"sentence": sentence, "is_new": session.since is not None and one.at > session.since}


@router.get("/")
async def with_a_slash(request: Request) -> Response:
    """The page of studies, as some write its address."""
    return RedirectResponse(outside(request, HOME), 307)


@router.get("/{study}")
async def study_page(request: Request, session: Admin, service: Service) -> Response:
    """One study as it runs; the figures come as events."""
    kept = request.app.state.site.kept[service.study.name]
    warnings = [*([kept.problem] if kept.problem else []), *unfinished(service.study)]
    link = for_others(request, f"/s/{service.study.name}/")
    return render(request, "study.html", session=session, study=service.study, warnings=warnings, link=link)


@router.get("/{study}/items")
async def items(request: Request, service: Service) -> dict[str, Any]:
    """How each item is drawn on the map."""
    return drawn_items(request, service)


@router.get("/{study}/state")
async def state(request: Request, service: Service) -> dict[str, Any]:
    """What the events hold, once."""
    return await asyncio.to_thread(request.app.state.watches[service.study.name].look)


@router.get("/{study}/events")
async def events(request: Request, session: Admin, service: Service) -> StreamingResponse:
    """The figures whenever they change, until the session ends."""
    watch = request.app.state.watches[service.study.name]
    stream = while_logged_in(watch, request.app.state.door, session.token)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def while_logged_in(watch: Watch, door: Door, token: str, every: float = _SESSION_CHECK) -> AsyncIterator[str]:
    """Events until the session is over, which is looked up now and then."""
    clock = asyncio.get_running_loop().time
    checked = clock()
    async with aclosing(watch.events()) as stream:
        async for event in stream:
            yield event
            if clock() - checked >= every:
                checked = clock()
                session = await asyncio.to_thread(door.session, token)
                if session is None or session.role_in(watch.service.study_id) is None:
                    return


@router.post("/{study}/pause")
async def pause(request: Request, session: Admin, service: Service) -> Response:
    """Hand out no further questions; those that are on a screen can still be answered."""
    return await _set_paused(request, service, session, True)


@router.post("/{study}/resume")
async def resume(request: Request, session: Admin, service: Service) -> Response:
    """Go on."""
    return await _set_paused(request, service, session, False)


@router.get("/{study}/export")
async def export(session: Admin, service: Service, format: Format = "csv", pilot: bool = False) -> StreamingResponse:  # noqa: A002
    """The answers as a file that is made while it is sent, as fast as it is taken; with those of the pilot if asked."""
    return await sent_answers(service, format, session.name, pilot)


async def _set_paused(request: Request, service: StudyService, session: Session, paused: bool) -> Response:
    await checked_form(request, session)
    await asyncio.to_thread(service.set_paused, paused, session.name)
    return RedirectResponse(outside(request, f"/admin/{service.study.name}"), 303)


def _overview(site: Site, session: Session) -> list[dict[str, Any]]:
    """The studies in which somebody has a role."""
    rater = schema.rater
    counts = (sa.func.count(rater.c.id), sa.func.count(rater.c.finished), sa.func.sum(rater.c.answered))
    rows = []
    with site.database.read() as connection:
        for name, service in list(site.studies.items()):
            if session.role_in(service.study_id) is None:
                continue
            here = rater.c.study_id == service.study_id, rater_counts()
            raters, finished, answers = connection.execute(sa.select(*counts).where(*here)).one()
            rows.append(
                {"name": name, "title": service.study.title, "raters": raters, "finished": finished,
                 "answers": int(answers or 0), "state": state_of(connection, service.study_id),
                 "n_items": len(service.items), "problem": site.kept[name].problem}
            )  # fmt: skip
    unserved = [
        (name, DRAFT, kept.problem)
        for name, kept in list(site.kept.items())
        if name not in site.studies and session.role_in(kept.study_id) is not None
    ]
    arriving = [(name, None, why) for name, (_, why) in list(site.arriving.items()) if why and session.owns_all]
    titles = {name: title_of(site, name) for name, _, _ in unserved}
    others = [
        {"name": name, "title": titles.get(name, name), "state": now, "problem": why}
        for name, now, why in unserved + arriving
    ]
    return rows + [{**one, "n_items": 0} for one in others]
