"""The interface for programs of others: raters listed, left out, taken back in, asked anew, noted about."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import Request, Response
from pydantic import BaseModel, Field

from similitude.study.maintenance.raters_file import raters_file
from similitude.study.people.listing import FILTERS, SORTS, Sifting, page_of, read_raters
from similitude.study.people.standing import People
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.tokens import ADMIN
from similitude.study.web.admin_page import whole
from similitude.study.web.api import asked_by
from similitude.study.web.interface import TOKEN, Body, body_of, json_reply, route
from similitude.study.web.rater import LongText, ShortText

_MOST = 10_000


class ListedRater(BaseModel):
    """A rater as a code says it; who the person is, is in `raters.csv` alone."""

    code: str
    state: str = Field(description="new, answering, finished, erased or rehearsal")
    origin: str
    joined: float
    finished: float | None
    answered: int
    catches: int
    catches_passed: int
    withheld: str | None
    left_out: float | None = Field(description="since when the answers do not count, in seconds since 1970")
    reason: str | None = Field(description="why the rater is left out")
    flags: list[str] = Field(description="what stands out, a phrase each")
    verdict: str | None
    agreement: float | None
    low: float | None
    high: float | None
    self_consistency: float | None
    by_model: float | None = Field(description="share of the rater's comparisons that the model orders so, too")
    seconds: float | None
    cant_tell: float | None


class RaterList(BaseModel):
    """A page of the list."""

    raters: list[ListedRater]
    found: int
    page: int
    pages: int


class Decide(Body):
    """What is decided about which raters, and why."""

    action: Literal["leave_out", "take_back", "redo"]
    raters: Annotated[list[ShortText], Field(min_length=1, max_length=_MOST)]
    reason: LongText = ""


class Decided(BaseModel):
    """The raters whom it changed, and why it did not change others."""

    done: list[str]
    not_done: dict[str, str]


class Note(Body):
    """What is to be kept with a rater."""

    rater: ShortText
    text: LongText


class Noted(BaseModel):
    """Whom it was noted about."""

    rater: str


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


_LIST = (
    TOKEN, _query("only", {"enum": list(FILTERS), "default": "all"}), _query("search", {"type": "string"}),
    _query("sort", {"enum": [sign + name for name in SORTS for sign in ("", "-")], "default": "-joined"}),
    _query("page", {"type": "integer", "minimum": 1, "default": 1}),
)  # fmt: skip


@route("/raters", "GET", RaterList, parameters=_LIST)
async def raters(request: Request) -> Response:
    """The raters with how they are judged, a hundred a page; takes the scope `admin`."""
    (service, _), given = await asked_by(request, ADMIN), request.query_params
    try:
        wanted = Sifting(given.get("only", "all"), given.get("search", "")[:100], given.get("sort", "-joined"))
    except ValueError as error:
        raise Refused(422, "list", str(error)) from None
    return json_reply(await asyncio.to_thread(_listed, service, wanted, whole(given.get("page", "1"))))


def _listed(service: StudyService, wanted: Sifting, page: int) -> dict[str, Any]:
    with service.database.read() as connection:
        found = wanted.of(read_raters(connection, service.study, service.study_id))
    shown, page, pages = page_of(found, page)
    return {"raters": [one.as_json() for one in shown], "found": len(found), "page": page, "pages": pages}


@route("/raters/decide", "POST", Decided, Decide)
async def decide(request: Request) -> Response:
    """Leave raters out, take them back in, or ask them anew; takes the scope `admin`."""
    (service, who), asked = await asked_by(request, ADMIN), await body_of(request, Decide)
    standing = People(service.database, service.study_id)
    acted = await asyncio.to_thread(standing.act, asked.action, asked.raters, who, asked.reason)
    return json_reply({"done": list(acted.done), "not_done": acted.not_done})


@route("/raters/note", "POST", Noted, Note)
async def note(request: Request) -> Response:
    """Note something about a rater; takes the scope `admin`."""
    (service, who), asked = await asked_by(request, ADMIN), await body_of(request, Note)
    await asyncio.to_thread(People(service.database, service.study_id).note, asked.rater, who, asked.text)
    return json_reply({"rater": asked.rater})


@route("/raters.csv", "GET", ("text/csv",))
async def raters_csv(request: Request) -> Response:
    """The table of raters, which says who they are; takes the scope `admin`."""
    service, who = await asked_by(request, ADMIN)
    data, _ = await asyncio.to_thread(raters_file, service.database, service.study.name)
    await asyncio.to_thread(service.taken, who, "raters.csv")
    return Response(data, media_type="text/csv", headers={"Cache-Control": "no-store"})
