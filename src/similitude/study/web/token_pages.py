"""The admin's page of tokens: made, shown once, revoked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.tokens import SCOPES, ApiToken, ApiTokens
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_form

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/tokens")
async def tokens_page(request: Request, session: Admin, service: Service) -> Response:
    """All tokens of a study, and the form to make one."""
    return await _page(request, session, service)


@router.post("/{study}/tokens")
async def make_token(request: Request, session: Admin, service: Service) -> Response:
    """Make a token, which this page alone shows."""
    form = await checked_form(request, session)
    scopes = [scope for scope in SCOPES if form.get(scope) == "yes"]
    try:
        days = float(form["days"]) if form.get("days", "").strip() else None
        made = await asyncio.to_thread(
            ApiTokens(service.database).make, service.study_id, form.get("name", "").strip(), scopes, session.name, days
        )
    except (Refused, ValueError) as error:
        why = str(error) if isinstance(error, Refused) else "days: expected a number"
        return await _page(request, session, service, 422, problem=why)
    return await _page(request, session, service, made=made)


@router.post("/{study}/tokens/revoke")
async def revoke_token(request: Request, session: Admin, service: Service) -> Response:
    """End a token."""
    form = await checked_form(request, session)
    await asyncio.to_thread(ApiTokens(service.database).revoke, service.study_id, form.get("id", ""), session.name)
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/tokens"), 303)


async def _page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    found = await asyncio.to_thread(ApiTokens(service.database).of_study, service.study_id)
    now = service.database.clock.now()
    told = {"tokens": [_told(token, now) for token in found], "scopes": SCOPES, "made": None}
    return render(request, "tokens.html", status, session=session, study=service.study, **{**told, **values})


def _told(token: ApiToken, now: float) -> dict[str, Any]:
    times = {name: _day(getattr(token, name)) for name in ("created", "expires", "last_used")}
    scopes = ", ".join(token.scopes)
    return {"id": token.id, "name": token.name, "scopes": scopes, "by": token.by, "state": token.state(now), **times}


def _day(at: float | None) -> str:
    return "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
