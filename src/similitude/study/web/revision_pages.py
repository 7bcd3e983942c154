"""The admin's pages of what a study is and was: its state, the history of its changes, and the way back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study import revisions
from similitude.study.invite import rehearsal_link
from similitude.study.refusal import Refused
from similitude.study.revisions import Revision
from similitude.study.site import Site
from similitude.study.states import MEANING, standing
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import json_reply
from similitude.study.web.login import Admin, checked_form, session_of

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/versions")
async def versions_page(request: Request, session: Admin, study: str) -> Response:
    """The state of a study, what it may become, and its history."""
    return await _page(request, session, study)


@router.get("/{study}/versions.json", dependencies=[Depends(session_of)])
async def versions(request: Request, study: str) -> Response:
    """The same for programs."""
    told = await asyncio.to_thread(_told, request.app.state.site, study)
    return json_reply({name: told[name] for name in ("state", "problem", "may_become", "history")})


@router.get("/{study}/versions/{number}")
async def version_page(request: Request, session: Admin, study: str, number: int) -> Response:
    """One revision, with all its texts."""
    site: Site = request.app.state.site
    found = await asyncio.to_thread(revisions.history, site, study)
    one = next((revision for revision in found if revision.number == number), None)
    if one is None:
        raise Refused(404, "no_revision", f"There is no revision {number} of this study.")
    is_last, last = one is found[0], found[0].number
    way = None if is_last else await asyncio.to_thread(revisions.way_back, site, study, number)
    others = {} if is_last else await asyncio.to_thread(revisions.answered_otherwise, site, study, number)
    told: dict[str, Any] = {"revision": _said(one), "files": one.files, "is_last": is_last, "last": last, "way": way}
    told["otherwise"] = revisions.shown_otherwise(others) if others else None
    return render(request, "revision.html", session=session, study=study, title=revisions.title_of(site, study), **told)


@router.post("/{study}/state")
async def set_state(request: Request, session: Admin, study: str) -> Response:
    """Bring a study into a state, or see why not."""
    form = await checked_form(request, session)
    try:
        await asyncio.to_thread(revisions.set_state, request.app.state.site, study, form.get("state", ""), session.name)
    except Refused as refusal:
        return await _page(request, session, study, refusal)
    return _back(request, study)


@router.post("/{study}/restore")
async def restore(request: Request, session: Admin, study: str) -> Response:
    """Let a study say again what it said in an earlier revision, or see why not."""
    form = await checked_form(request, session)
    try:
        number, base = int(form.get("number", "")), int(form.get("base", ""))
    except ValueError:
        raise Refused(422, "number", "number: expected that of a revision.") from None
    try:
        texts_alone, sure = form.get("texts_alone") == "yes", form.get("sure") == "yes"
        await asyncio.to_thread(
            revisions.restore, request.app.state.site, study, number, session.name, base, texts_alone, sure
        )
    except Refused as refusal:
        if refusal.code == "sure":  # which the page of the revision asks, with what would happen
            return RedirectResponse(outside(request, f"/admin/{study}/versions/{number}"), 303)
        return await _page(request, session, study, refusal)
    return _back(request, study)


def _back(request: Request, study: str) -> Response:
    return RedirectResponse(outside(request, f"/admin/{study}/versions"), 303)


async def _page(request: Request, session: Session, study: str, refusal: Refused | None = None) -> Response:
    told = await asyncio.to_thread(_told, request.app.state.site, study)
    status, problem = (200, told.pop("problem")) if refusal is None else (refusal.status, str(refusal))
    return render(request, "versions.html", status, session=session, **{**told, "study": study, "problem": problem})


def _told(site: Site, name: str) -> dict[str, Any]:
    """What the page shows."""
    kept, service = revisions.kept_in(site, name), site.studies.get(name)
    with site.database.read() as connection:
        now = standing(connection, kept.study_id)
    return {
        "title": revisions.title_of(site, name),
        "state": now.state,
        "phase": now.phase,
        "problem": kept.problem,
        "served": service is not None,
        "preview": None if service is None else rehearsal_link(service),
        "may_become": revisions.may_become(site, name),
        "meaning": MEANING,
        "history": [_said(one) for one in revisions.history(site, name)],
        "last": kept.number,
    }


def _said(one: Revision) -> dict[str, Any]:
    when = f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M:%S}"
    return {"number": one.number, "version": one.version, "when": when, "who": one.who, "changes": one.changes}
