"""The admin's page of webhooks: made, tried, ended; and what they were told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_form
from similitude.study.webhooks import EVENTS, Webhooks

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/webhooks")
async def webhooks_page(request: Request, session: Admin, service: Service) -> Response:
    """All webhooks of a study, and the form to make one."""
    return await _page(request, session, service)


@router.post("/{study}/webhooks")
async def make_webhook(request: Request, session: Admin, service: Service) -> Response:
    """Make one; its secret is shown on this page alone."""
    form = await checked_form(request, session)
    events = [event for event in EVENTS if form.get(event) == "yes"]
    hooks, url = Webhooks(service.database), form.get("url", "").strip()
    try:
        made = await asyncio.to_thread(hooks.make, service.study_id, url, events, session.name)
    except Refused as refusal:
        return await _page(request, session, service, refusal.status, problem=str(refusal))
    return await _page(request, session, service, made=made)


@router.post("/{study}/webhooks/end")
async def end_webhook(request: Request, session: Admin, service: Service) -> Response:
    """Tell an address nothing more."""
    return await _done(request, session, service, "end")


@router.post("/{study}/webhooks/test")
async def test_webhook(request: Request, session: Admin, service: Service) -> Response:
    """Send a trial."""
    return await _done(request, session, service, "test")


async def _done(request: Request, session: Session, service: StudyService, what: str) -> Response:
    form = await checked_form(request, session)
    do = getattr(Webhooks(service.database), what)
    await asyncio.to_thread(do, service.study_id, form.get("id", ""), session.name)
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/webhooks"), 303)


async def _page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    hooks = Webhooks(service.database)
    found = await asyncio.to_thread(hooks.of_study, service.study_id)
    told = [_told(one) for one in await asyncio.to_thread(hooks.deliveries, service.study_id)]
    given: dict[str, Any] = {"hooks": found, "told": told, "events": EVENTS, "made": None, "study": service.study}
    return render(request, "webhooks.html", status, session=session, **{**given, **values})


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """What became of one, in words."""
    tries = "once" if row["tries"] == 1 else f"{row['tries']} times"
    if row["delivered"] is not None:
        state = f"told, status {row['status']}"
    elif row["due"] is None:
        state = f"given up: {row['trouble']}"
    else:
        state = f"tried {tries}: {row['trouble']}; again at {_when(row['due'])}" if row["tries"] else "waits"
    return {"event": row["event"], "url": row["url"], "created": _when(row["created"]), "state": state}


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
