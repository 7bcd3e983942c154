"""The interface for programs of others, version 1: ask and tell, the model, the export.

A lab that has its own display asks here for questions and tells what was answered. Who shows the token of a rater
(given by `join`) speaks for that rater; who shows a token with the scope `ask` names the rater in each request.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Request, Response
from pydantic import BaseModel, Field

from similitude.methods.similarity import Similarity
from similitude.study import revisions
from similitude.study.issued import digest
from similitude.study.refusal import Refused
from similitude.study.service import Said, StudyService
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.tokens import ADMIN, ASK, READ, SCOPES, ApiToken, ApiTokens, is_api_token
from similitude.study.web.attempts import Attempts
from similitude.study.web.downloads import FILES, sent_answers
from similitude.study.web.handing_over import handed_over
from similitude.study.web.interface import (
    TOKEN,
    Body,
    bearer,
    body_of,
    json_reply,
    network,
    route,
    service_of,
)
from similitude.study.web.rater import Answer, ItemOnScreen, Questions, Replies, ShortText, WayOut, shown_questions

MODEL_FILE = "application/octet-stream"
_MOST_ITEMS = 1000  # of which all distances are told at once: a reply of some 20 MB
_REMEMBERED = 4096

Rater = Annotated[ShortText, Field(min_length=1)]


class Ask(Body):
    """Whose questions: `rater` where a token with the scope `ask` is shown; `consent` once the person has agreed."""

    rater: Rater | None = None
    consent: bool = False
    rehearsal: bool = False
    parameters: Annotated[dict[ShortText, ShortText], Field(default_factory=dict, max_length=20)]


class Tell(Answer):
    """An answer, and whose it is where a token with the scope `ask` is shown."""

    rater: Rater | None = None
    rehearsal: bool = False


class Finish(Replies):
    """The survey, and whose it is where a token with the scope `ask` is shown."""

    rater: Rater | None = None
    rehearsal: bool = False


class AllItems(BaseModel):
    """All items of the study."""

    items: list[ItemOnScreen]


class LearnedModel(BaseModel):
    """What was learned: Euclidean distances between positions are the learned ones where `kind` is "distance"."""

    version: int = Field(description="rises with every fit")
    method: str
    kind: str
    items: list[str]
    positions: list[list[float]]
    distances: list[list[float]] | None = None


class Near(BaseModel):
    """An item, and how far away it is."""

    item: str
    distance: float


class Neighbors(BaseModel):
    """The nearest items, the nearest first."""

    item: str
    neighbors: list[Near]


class State(BaseModel):
    """How far the study is, and how good its model."""

    state: str = Field(description="draft, pilot, live, paused or closed")
    paused: bool
    totals: dict[str, Any] = Field(description="raters, finished, answers, answers a minute, ...")
    model: dict[str, Any] = Field(description="its state, in a word and a sentence; its version; answers to learn")
    design: dict[str, Any] = Field(description="conditions with their places, raters and answers; answers of blocks")
    curve: list[dict[str, Any]] = Field(description="accuracy on held-out answers by number of answers")
    advice: dict[str, Any] | None = Field(description="whether more answers would help")


class Paused(BaseModel):
    """Whether the study hands out questions."""

    paused: bool


class NewState(Body):
    """What the study is to become; refused where that cannot follow on what it is."""

    state: Literal["draft", "pilot", "live", "paused", "closed"]


class StateOfStudy(BaseModel):
    """What the study is now."""

    state: str


class Askers:
    """Who may ask: tokens of programs, and how often wrong ones were shown.

    Wrong tokens are counted by network as wrong passwords are. One that was right lately is let through all the same,
    so that nobody closes the door to a neighbour.

    Parameters
    ----------
    database : where the tokens are
    attempts : how often wrong ones were shown
    """

    def __init__(self, database: Database, attempts: Attempts | None = None) -> None:
        self.tokens, self.attempts = ApiTokens(database), attempts or Attempts()
        self._right: OrderedDict[str, None] = OrderedDict()

    def check(self, service: StudyService, token: str, scope: str, where: str) -> ApiToken:
        """Refuse a token that may not do what is asked."""
        key, lane = digest(token), {"address": where}
        if key not in self._right and (wait := self.attempts.begin(lane)) > 0:
            raise Refused(429, "wait", f"Too many wrong tokens. Try again in {math.ceil(wait)} seconds.", wait)
        found = self.tokens.find(service.study_id, token)
        if found is None:
            self._right.pop(key, None)
            raise Refused(401, "unknown_token", "This token is not known here, or works no longer.")
        if key not in self._right:
            self.attempts.succeeded(lane)
            self._right[key] = None
            while len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)
        if not found.allows(scope):
            raise Refused(403, "scope", f"This token may not {SCOPES[scope]}: it lacks the scope {scope!r}.")
        return found


async def _allowed(request: Request, scope: str) -> StudyService:
    """The study, where the token that is shown may do that."""
    return (await asked_by(request, scope))[0]


async def asked_by(request: Request, scope: str) -> tuple[StudyService, str]:
    """The study and, in words, the token that is shown, where it may do that."""
    service = service_of(request)
    if not is_api_token(token := bearer(request)):
        raise Refused(401, "unknown_token", f"Show a token with the scope {scope!r}: Authorization: Bearer sim_...")
    asker: Askers = request.app.state.asker
    found = await asyncio.to_thread(asker.check, service, token, scope, network(request) or "this machine")
    return service, f"token {found.id} ({found.name})"


async def _who(
    request: Request, service: StudyService, asked: Ask | Tell | Finish, parameters: dict[str, str] | None = None
) -> int:
    """The rater that a request is about."""
    if not is_api_token(token := bearer(request)):
        if asked.rater is not None:
            raise Refused(422, "rater", "rater: said only with a token of the scope 'ask'; this one names its rater")
        return service.rater_of(token)
    await _allowed(request, ASK)
    if asked.rater is None:
        raise Refused(422, "rater", "rater: say who answers, by any name that stays the same")
    its = await handed_over(service.known_as(asked.rater, asked.rehearsal, parameters))
    return service.rater_of(its)


@route("/ask", "POST", Questions, Ask)
async def ask(request: Request) -> Response:
    """The questions that a rater holds; the first is to be answered next, the others may be loaded meanwhile."""
    service, asked = service_of(request), await body_of(request, Ask)
    rater_id = await _who(request, service, asked, asked.parameters)
    if asked.consent:
        await handed_over(service.consent(rater_id))
    return shown_questions(service, await handed_over(service.questions(rater_id)), is_api_token(bearer(request)))


@route("/tell", "POST", Questions, Tell)
async def tell(request: Request) -> Response:
    """Keep an answer, durably, and get the questions that the rater holds then; sending it twice is answering once."""
    service, told = service_of(request), await body_of(request, Tell)
    rater_id = await _who(request, service, told)
    said = Said(rater_id, **{name: value for name, value in told if name not in ("rater", "rehearsal")})
    return shown_questions(service, await handed_over(service.answer(said)), is_api_token(bearer(request)))


@route("/finish", "POST", WayOut, Finish)
async def finish(request: Request) -> Response:
    """Keep the survey, where there is one, and get the completion code; said once, when all is answered."""
    service, told = service_of(request), await body_of(request, Finish)
    rater_id = await _who(request, service, told)
    return json_reply(await handed_over(service.survey(rater_id, told.replies)))


@route("/items", "GET", AllItems)
async def items(request: Request) -> Response:
    """All items, to load before the first question; a scope of `ask` or the token of a rater is enough."""
    service = service_of(request)
    if is_api_token(token := bearer(request)):
        await _allowed(request, ASK)
    else:
        service.rater_of(token)
    return json_reply({"items": list(service.on_screen.values())})


def _parameter(name: str, schema: dict[str, Any], required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema}


_DISTANCES = _parameter("distances", {"type": "boolean", "default": False})
_ITEM = _parameter("item", {"type": "string"}, required=True)
_K = _parameter("k", {"type": "integer", "minimum": 1, "default": 5})
_FORMAT = _parameter("format", {"enum": list(FILES), "default": "csv"})
_PILOT = _parameter("pilot", {"type": "boolean", "default": False})


@route("/model", "GET", LearnedModel, parameters=(TOKEN, _DISTANCES))
async def model(request: Request) -> Response:
    """Where the model puts the items and, with `distances=true`, how far apart every two of them are."""
    service, wants = await _allowed(request, READ), request.query_params.get("distances", "false")
    if wants not in ("true", "false"):
        raise Refused(422, "distances", "distances: expected true or false")
    return await asyncio.to_thread(_model, service, wants == "true")


def _model(service: StudyService, distances: bool) -> Response:
    version, found = _learned(service)
    if distances and found.n_items > _MOST_ITEMS:
        raise Refused(422, "distances", f"distances: told of at most {_MOST_ITEMS} items, found {found.n_items}; "
                                        "take the positions, or the file")  # fmt: skip
    said = {
        "version": version, "method": str(found.about.get("method", "similarity")), "kind": found.kind,
        "items": found.names, "positions": found.embedding.tolist(),
    }  # fmt: skip
    return json_reply({**said, "distances": found.distances().tolist() if distances else None})


@route("/model.sim", "GET", (MODEL_FILE,))
async def model_file(request: Request) -> Response:
    """The model as a file that `similitude.Similarity.load` reads."""
    service = await _allowed(request, READ)
    _, data = await asyncio.to_thread(_stored, service)
    return Response(data, media_type=MODEL_FILE, headers={"Cache-Control": "no-store"})


@route("/neighbors", "GET", Neighbors, parameters=(TOKEN, _ITEM, _K))
async def neighbors(request: Request) -> Response:
    """The items most like one."""
    service, given = await _allowed(request, READ), request.query_params
    item, k = given.get("item", ""), given.get("k", "5")
    if item not in service.items:
        raise Refused(422, "item", "item: expected the name of an item of this study")
    if not (k.isascii() and k.isdecimal() and len(k) < 9):
        raise Refused(422, "k", "k: expected a number of neighbours")
    return await asyncio.to_thread(_neighbors, service, item, int(k))


def _neighbors(service: StudyService, item: str, k: int) -> Response:
    _, found = _learned(service)
    try:
        near = found.neighbors(item, k)
    except ValueError as error:
        raise Refused(422, "k", str(error)) from None
    far = found.pair_distance([(item, one) for one in near]).tolist()
    nearest = [{"item": one, "distance": distance} for one, distance in zip(near, far, strict=True)]
    return json_reply({"item": item, "neighbors": nearest})


def _learned(service: StudyService) -> tuple[int, Similarity]:
    version, data = _stored(service)
    return version, Similarity.from_bytes(data)


def _stored(service: StudyService) -> tuple[int, bytes]:
    """The latest model, as it was written by the process that learns it."""
    table = schema.model
    query = sa.select(table.c.version, table.c.similarity, table.c.trouble).where(table.c.study_id == service.study_id)
    with service.database.read() as connection:
        row = connection.execute(query).one_or_none()
    if row is None or row.similarity is None:
        why = "no answers were learned" if row is None or row.trouble is None else row.trouble
        raise Refused(409, "no_model", f"There is no model yet: {why}.")
    return row.version, row.similarity


@route("/state", "GET", State)
async def state(request: Request) -> Response:
    """How far the study is: answers, raters, the model and its accuracy on held-out answers."""
    service = await _allowed(request, READ)
    parts = await asyncio.to_thread(request.app.state.watches[service.study.name].look)
    now = {name: parts["now"][name] for name in ("state", "paused", "totals", "model", "design")}
    return json_reply({**now, "curve": parts["model"]["curve"], "advice": parts["model"]["advice"]})


@route("/export", "GET", tuple(FILES.values()), parameters=(TOKEN, _FORMAT, _PILOT))
async def export(request: Request) -> Response:
    """All answers as a file, made while it is sent; with `pilot=true` those of the pilot, too."""
    (service, who), kind = await asked_by(request, READ), request.query_params.get("format", "csv")
    if kind not in FILES:
        raise Refused(422, "format", f"format: expected one of {', '.join(FILES)}")
    return await sent_answers(service, kind, who, request.query_params.get("pilot") == "true")


@route("/state", "POST", StateOfStudy, NewState)
async def set_state(request: Request) -> Response:
    """Make the study a draft, a pilot, live, paused or closed."""
    (service, who), wanted = await asked_by(request, ADMIN), await body_of(request, NewState)
    await asyncio.to_thread(revisions.set_state, request.app.state.site, service.study.name, wanted.state, who)
    return json_reply({"state": wanted.state})


@route("/pause", "POST", Paused)
async def pause(request: Request) -> Response:
    """Hand out no further questions; those that are on a screen can still be answered."""
    return await _pause(request, True)


@route("/resume", "POST", Paused)
async def resume(request: Request) -> Response:
    """Go on."""
    return await _pause(request, False)


async def _pause(request: Request, paused: bool) -> Response:
    service, who = await asked_by(request, ADMIN)
    await asyncio.to_thread(service.set_paused, paused, who)
    return json_reply({"paused": paused})
