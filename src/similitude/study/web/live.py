"""The shared page of a study, for whoever has its link: map, curve and dimensions as they are now, and no rater.

It can be shown within pages of the sites that `share.frame_ancestors` names; every other page of ours never is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from similitude.display.templates import templates
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.settings import Study
from similitude.study.sharing import ShareLinks
from similitude.study.web.admin_page import outside
from similitude.study.web.watch import SHARED, Watch

router = APIRouter(prefix="/live", include_in_schema=False)
_CHECK = 5.0  # seconds after which a link that was ended shows nothing new
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}


def _shared(request: Request, link: str) -> StudyService | None:
    found = ShareLinks(request.app.state.site.database).find(link)
    studies = request.app.state.site.studies.values()
    return None if found is None else next((one for one in studies if one.study_id == found.study_id), None)


async def _study_of(request: Request, link: str) -> StudyService:
    """The study that a link shows."""
    found = await asyncio.to_thread(_shared, request, link)
    if found is None:
        raise Refused(404, "no_link", "This link does not work, or no longer.")
    return found


Shown = Annotated[StudyService, Depends(_study_of)]


@router.get("/{link}")
async def live_page(request: Request, link: str) -> Response:
    """The page; one sentence where the link does not work."""
    service = await asyncio.to_thread(_shared, request, link)
    page = templates("similitude.study.web").get_template("live.html")
    text = page.render(root=outside(request, ""), link=link, study=service and service.study)
    headers = _HEADERS if service is None else {**_HEADERS, "Content-Security-Policy": policy(service.study)}
    return HTMLResponse(text, 404 if service is None else 200, headers)


def policy(study: Study) -> str:
    """The policy of the page: as everywhere, but that named sites may frame it."""
    sites = " ".join(study.share.frame_ancestors) or "'none'"
    return (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        f"frame-ancestors {sites}; base-uri 'none'; form-action 'none'"
    )


@router.get("/{link}/items")
async def live_items(request: Request, service: Shown) -> dict[str, Any]:
    """How each item is drawn on the map."""
    return drawn_items(request, service)


def drawn_items(request: Request, service: StudyService) -> dict[str, Any]:
    """Items as maps draw them: long texts cut, addresses as a browser asks for them."""
    addresses = {
        name: item["address"] and outside(request, item["address"]) for name, item in service.on_screen.items()
    }
    return {
        name: {**item, "content": str(item["content"])[:200], "address": addresses[name]}
        for name, item in service.on_screen.items()
    }


@router.get("/{link}/state")
async def live_state(request: Request, service: Shown) -> dict[str, Any]:
    """What the events hold, once."""
    state = await asyncio.to_thread(request.app.state.watches[service.study.name].look)
    return dict(state[SHARED])


@router.get("/{link}/events")
async def live_events(request: Request, link: str, service: Shown) -> StreamingResponse:
    """The same whenever it changes, until the link ends."""
    stream = _while_shared(request, link, request.app.state.watches[service.study.name])
    headers = {**_HEADERS, "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _while_shared(request: Request, link: str, watch: Watch) -> AsyncIterator[str]:
    clock = asyncio.get_running_loop().time
    checked = clock()
    async with aclosing(watch.events((SHARED,))) as stream:
        async for event in stream:
            yield event
            if clock() - checked >= _CHECK:
                checked = clock()
                if await asyncio.to_thread(_shared, request, link) is None:
                    return
