"""The admin's page of shared links: made, shown once, ended."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.sharing import MOST_DAYS, ShareLink, ShareLinks
from similitude.study.web.admin_page import for_others, outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_form

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/share")
async def share_page(request: Request, session: Admin, service: Service) -> Response:
    """All links of a study, and the form to make one."""
    return await _page(request, session, service)


@router.post("/{study}/share")
async def make_link(request: Request, session: Admin, service: Service) -> Response:
    """Make a link, which this page alone shows."""
    form = await checked_form(request, session)
    try:
        name, days = form.get("name", "").strip(), float(form.get("days", ""))
        made = await asyncio.to_thread(ShareLinks(service.database).make, service.study_id, name, days, session.name)
    except (Refused, ValueError) as error:
        why = str(error) if isinstance(error, Refused) else "days: expected a number"
        return await _page(request, session, service, 422, problem=why)
    return await _page(request, session, service, made=for_others(request, f"/live/{made}"))


@router.post("/{study}/share/revoke")
async def revoke_link(request: Request, session: Admin, service: Service) -> Response:
    """End a link."""
    form = await checked_form(request, session)
    await asyncio.to_thread(ShareLinks(service.database).revoke, service.study_id, form.get("id", ""), session.name)
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/share"), 303)


async def _page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    found = await asyncio.to_thread(ShareLinks(service.database).of_study, service.study_id)
    now = service.database.clock.now()
    told = {"links": [_told(link, now) for link in found], "made": None, "most_days": MOST_DAYS}
    return render(request, "share.html", status, session=session, study=service.study, **{**told, **values})


def _told(link: ShareLink, now: float) -> dict[str, Any]:
    days = {name: f"{datetime.fromtimestamp(getattr(link, name), UTC):%Y-%m-%d}" for name in ("created", "expires")}
    return {"id": link.id, "name": link.name, "by": link.by, "state": link.state(now), **days}
