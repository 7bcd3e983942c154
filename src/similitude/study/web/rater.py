"""The interface of raters: what a browser, or a simulated rater, asks of the server.

A rater is known by a token (`Authorization: Bearer ...`) that joining gives; it names one rater of one study, so no
request can speak for another.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import quote

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from similitude.study.items import Item
from similitude.study.service import Joining, Refused, Said, StudyService
from similitude.study.store import schema

router = APIRouter(prefix="/api/{study}")

_ShortText = Annotated[str, Field(max_length=500)]
_Uid = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Join(BaseModel):
    """Who comes: an id that the browser made, and the parameters of the link."""

    model_config = ConfigDict(extra="forbid")
    uid: _Uid
    parameters: Annotated[dict[_ShortText, _ShortText], Field(max_length=20)] = {}


class Answer(BaseModel):
    """What was said to question `number`; `uid` is made by the browser, so that sending twice is answering once."""

    model_config = ConfigDict(extra="forbid")
    number: Annotated[int, Field(ge=0, le=10**6)]
    uid: _Uid
    outcome: Annotated[str, Field(pattern="^(answered|cant_tell|skipped)$")] = "answered"
    response: Annotated[list[float], Field(max_length=100)] | None = None
    milliseconds: Annotated[int, Field(ge=0, le=10**9)] | None = None


class Replies(BaseModel):
    """What was said in the survey, by field."""

    model_config = ConfigDict(extra="forbid")
    replies: Annotated[dict[_ShortText, Annotated[str, Field(max_length=5000)]], Field(max_length=100)] = {}


def service_of(study: str, request: Request) -> StudyService:
    """The study that an address names."""
    found = request.app.state.site.studies.get(study)
    if found is None:
        raise Refused(404, "no_study", f"There is no study {study!r} here.")
    return found


Service = Annotated[StudyService, Depends(service_of)]
Token = Annotated[str | None, Header(alias="Authorization", max_length=200)]


def _rater(service: StudyService, token: str | None) -> int:
    return service.rater_of((token or "").removeprefix("Bearer "))


@router.post("/join")
async def join(service: Service, joining: Join) -> dict[str, Any]:
    """Come in, or come back."""
    token = await asyncio.wrap_future(service.join(Joining(joining.uid, joining.parameters)))
    return {"token": token, **await _me(service, service.rater_of(token))}


@router.get("/me")
async def me(service: Service, token: Token = None) -> dict[str, Any]:
    """Where the rater stands."""
    return await _me(service, _rater(service, token))


@router.post("/consent")
async def consent(service: Service, token: Token = None) -> dict[str, Any]:
    """Agree to take part."""
    rater_id = _rater(service, token)
    await asyncio.wrap_future(service.consent(rater_id))
    return await _me(service, rater_id)


@router.post("/questions")
async def questions(service: Service, token: Token = None) -> dict[str, Any]:
    """The questions that the rater holds: the one to answer, and the next to load meanwhile."""
    return _shown(service, await asyncio.wrap_future(service.questions(_rater(service, token))))


@router.post("/answers")
async def answers(service: Service, answer: Answer, token: Token = None) -> dict[str, Any]:
    """Keep an answer; it is durable when this returns."""
    said = Said(_rater(service, token), answer.number, answer.uid, answer.outcome, answer.response, answer.milliseconds)
    return _shown(service, await asyncio.wrap_future(service.answer(said)))


@router.post("/survey")
async def survey(service: Service, replies: Replies, token: Token = None) -> dict[str, Any]:
    """Keep the survey and finish."""
    return await asyncio.wrap_future(service.survey(_rater(service, token), replies.replies))


@router.get("/items/{name:path}")
def item_file(service: Service, name: str) -> FileResponse:
    """The file of a picture, a sound or a film; looked up by name, so no path can lead elsewhere."""
    item = service.items.get(name)
    if item is None or item.path is None:
        raise Refused(404, "no_item", "There is no such file.")
    return FileResponse(item.path, headers={"Cache-Control": "public, max-age=3600"})


async def _me(service: StudyService, rater_id: int) -> dict[str, Any]:
    return await asyncio.to_thread(_where, service, rater_id)


def _where(service: StudyService, rater_id: int) -> dict[str, Any]:
    """The stage that a rater is at, and how far."""
    with service.database.read() as connection:
        row = connection.execute(sa.select(schema.rater).where(schema.rater.c.id == rater_id)).mappings().one_or_none()
    if row is None:
        raise Refused(401, "unknown_rater", "This page does not know you; open the study's link again.")
    stage = "questions"
    if row["finished"] is not None:
        stage = "done"
    elif row["consented"] is None and service.study.pages.consent is not None:
        stage = "consent"
    elif row["answered"] >= service.study.length:
        stage = "survey"
    found = {"stage": stage, "rater": row["code"], "answered": row["answered"], "length": service.study.length}
    return found | (service.way_out(dict(row)) if stage == "done" else {})


def _shown(service: StudyService, result: dict[str, Any]) -> dict[str, Any]:
    """Questions with all that is needed to show them."""
    for question in result["questions"]:
        question["shown"] = [_item(service, service.items.get(name), name) for name in question["shown"]]
    return result


def _item(service: StudyService, item: Item | None, name: str) -> dict[str, Any]:
    """An item for the screen; one that was taken out of the study since is shown by its name."""
    if item is None:
        return {"name": name, "kind": "text", "content": name}
    return {"name": name, "kind": item.kind, "content": item.content, "address": item_address(service, item)}


def item_address(service: StudyService, item: Item) -> str | None:
    """Where the file of an item is served; None for texts and colours, which have none."""
    return None if item.path is None else f"/api/{service.study.name}/items/{quote(item.name, safe='')}"
