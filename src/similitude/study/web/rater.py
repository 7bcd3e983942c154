"""The interface of raters: what a browser asks of the server.

A rater is known by a token (`Authorization: Bearer ...`) that joining gives; it names one rater of one study, so no
request can speak for another.

What stands here under a path of its own is for our pages, which come from the same server and may change with it. What
others may build on stands under `v1` (`api.py`), in part by the same functions.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, Field

from similitude.study import surveys
from similitude.study.asking import BACKGROUND, width
from similitude.study.items import is_storable
from similitude.study.leaving import way_out
from similitude.study.measured import Circumstances
from similitude.study.refusal import Refused, unknown_rater
from similitude.study.sections import Question
from similitude.study.service import Joining, Said, StudyService
from similitude.study.service import encode as _encode
from similitude.study.store import schema
from similitude.study.store.rows import dicts
from similitude.study.timing import Timing
from similitude.study.web.handing_over import handed_over
from similitude.study.web.interface import (
    PROBLEMS,
    STUDY,
    VERSION,
    Body,
    bearer,
    body_of,
    json_reply,
    network,
    page_route,
    reply,
    route,
    router,
    service_of,
)


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("expected text without NUL and without halves of characters")
    return text


ShortText = Annotated[str, Field(max_length=500), AfterValidator(_storable)]
LongText = Annotated[str, Field(max_length=5000), AfterValidator(_storable)]
Uid = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Join(Body):
    """Who comes: an id that the browser made, and the parameters of the link."""

    uid: Uid
    parameters: Annotated[dict[ShortText, ShortText], Field(default_factory=dict, max_length=20)]


class Answer(Body):
    """What was said to question `number`; `uid` is made by the browser, so that sending twice is answering once."""

    number: Annotated[int, Field(ge=0, le=10**6)]
    uid: Uid
    outcome: Literal["answered", "cant_tell", "skipped", "timed_out", "not_shown"] = "answered"
    response: Annotated[list[float], Field(max_length=200)] | None = None
    milliseconds: Annotated[int, Field(ge=0, le=10**9)] | None = None
    direction: Literal["ltr", "rtl"] | None = None
    background: Annotated[str, Field(pattern=BACKGROUND)] | None = None
    measured: Circumstances | None = None


class Replies(Body):
    """What was said in the survey, by field."""

    replies: Annotated[dict[ShortText, LongText], Field(default_factory=dict, max_length=100)]


class ItemOnScreen(BaseModel):
    """An item to show."""

    name: str
    kind: Literal["image", "audio", "video", "text", "colour"]
    content: str
    address: str | None


class QuestionOnScreen(BaseModel):
    """A question to show; `correct` in practice with feedback alone."""

    number: int
    kind: Literal["question", "practice"]
    block: str = Field(description='of the study; "" where it has none')
    form: str
    shown: list[ItemOnScreen]
    correct: list[float] | None = None


class Questions(BaseModel):
    """The questions that a rater holds, and how far the rater is."""

    questions: list[QuestionOnScreen]
    answered: int
    length: int
    done: bool
    paused: bool
    condition: str | None = Field(default=None, description="of the rater; said to who asks with a token of `ask`")
    first: int = Field(description="the number of the rater's first question: more than 0 for who is asked anew")
    study_version: str = Field(description="as the study is now: another one means other words, or other questions")


Withheld = Literal["time", "skips", "not_shown", "rehearsal"]


class WayOut(BaseModel):
    """Where a rater goes who has finished, or why there is no code."""

    code: str | None
    redirect: str | None
    withheld: Withheld | None


class Standing(BaseModel):
    """The stage that a rater is at."""

    stage: Literal["consent", "before", "questions", "survey", "done"]
    rater: str
    answered: int
    length: int
    code: str | None = None
    redirect: str | None = None
    withheld: Withheld | None = None


class Joined(Standing):
    """A rater's token, and the stage."""

    token: str


class FieldOfSurvey(BaseModel):
    """A field of the survey."""

    name: str
    kind: Literal["text", "number", "choice", "long_text"]
    choices: list[str]
    required: bool
    when: Literal["before", "after"] = "after"


class AboutQuestions(BaseModel):
    """The form of questions, and what an answer may be."""

    form: str
    shows: int = Field(description="items of a question")
    pick: int
    scale: int
    classes: list[str]
    skip: bool
    cant_tell: bool


class About(AboutQuestions):
    """What a program must know to answer: the form of the questions and what each takes; of the first block."""

    version: str = Field(description="of the interface")
    title: str
    blocks: dict[str, AboutQuestions] = Field(description="the same of each block, by name; empty without blocks")
    length: int = Field(description="questions for each rater, practice and catch trials among them")
    consent: bool = Field(description="whether people are asked only after they have agreed")
    timing: Timing = Field(
        description="how long a question is shown, when an answer is taken: a display of yours keeps it"
    )
    survey: list[FieldOfSurvey]


def _rater(service: StudyService, request: Request) -> int:
    return service.rater_of(bearer(request))


@page_route("/about", "GET")
@route("/about", "GET", About, parameters=())
async def about(request: Request) -> Response:
    """The form of the questions, and what an answer may be."""
    study = service_of(request).study
    asked = {part.block: _about(part.question) for part in study.parts}
    told = {"name", "kind", "choices", "required", "when"}
    fields = [field.model_dump(include=told) for field in study.survey.fields]
    shape = {"length": study.seen[0].length, "consent": study.pages.consent is not None, "survey": fields}
    blocks = {block: about for block, about in asked.items() if block}
    said = {"version": VERSION, "title": study.title, **next(iter(asked.values())), "blocks": blocks}
    return json_reply({**said, **shape, "timing": study.timing.model_dump()})


def _about(question: Question) -> dict[str, Any]:
    asked = question.model_dump(include={"form", "pick", "scale", "classes", "skip", "cant_tell"})
    return {**asked, "shows": width(question)}


@page_route("/join", "POST")
@route("/join", "POST", Joined, Join, ())
async def join(request: Request) -> Response:
    """Come in, or come back."""
    service, joining = service_of(request), await body_of(request, Join)
    came = Joining(joining.uid, joining.parameters, network(request))
    token = await handed_over(service.join(came))
    return json_reply({"token": token, **await _me(service, service.rater_of(token))})


@page_route("/me", "GET")
@route("/me", "GET", Standing)
async def me(request: Request) -> Response:
    """Where the rater stands."""
    service = service_of(request)
    return json_reply(await _me(service, _rater(service, request)))


@page_route("/consent", "POST")
@route("/consent", "POST", Standing)
async def consent(request: Request) -> Response:
    """Agree to take part."""
    service = service_of(request)
    rater_id = _rater(service, request)
    await handed_over(service.consent(rater_id))
    return json_reply(await _me(service, rater_id))


@page_route("/questions", "POST")
async def questions(request: Request) -> Response:
    """The questions that the rater holds: the one to answer, and those to load meanwhile."""
    service = service_of(request)
    return shown_questions(service, await handed_over(service.questions(_rater(service, request))))


@page_route("/answers", "POST")
async def answers(request: Request) -> Response:
    """Keep an answer; it is durable when this returns."""
    service = service_of(request)
    rater_id, answer = _rater(service, request), await body_of(request, Answer)
    said = Said(rater_id, **dict(answer))
    return shown_questions(service, await handed_over(service.answer(said)))


@page_route("/before", "POST")
async def before(request: Request) -> Response:
    """Keep the survey before the first question."""
    service = service_of(request)
    rater_id, body = _rater(service, request), await body_of(request, Replies)
    await handed_over(service.before(rater_id, body.replies))
    return json_reply(await _me(service, rater_id))


@page_route("/survey", "POST")
async def survey(request: Request) -> Response:
    """Keep the survey and finish."""
    service = service_of(request)
    rater_id, body = _rater(service, request), await body_of(request, Replies)
    return json_reply(await handed_over(service.survey(rater_id, body.replies)))


_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


@router.get(
    "/items/{name:any_name}", response_class=FileResponse, responses={404: PROBLEMS[404]},
    openapi_extra={"parameters": [STUDY, _NAME]},
)  # fmt: skip
def item_file(request: Request) -> FileResponse:
    """The file of a picture, a sound or a film; looked up by name, so no path can lead elsewhere."""
    path = service_of(request).file_of(request.path_params["name"])
    if path is None:
        raise Refused(404, "no_item", "There is no such file.")
    return FileResponse(path, headers={"Cache-Control": "public, max-age=3600"})


async def _me(service: StudyService, rater_id: int) -> dict[str, Any]:
    return await asyncio.to_thread(_where, service, rater_id)


def _where(service: StudyService, rater_id: int) -> dict[str, Any]:
    """The stage that a rater is at, and how far."""
    table = schema.rater
    query = sa.select(table).where(table.c.id == rater_id, table.c.study_id == service.study_id)
    with service.database.read() as connection:
        row = next(iter(dicts(connection.execute(query))), None)
        if row is None:
            raise unknown_rater()
        service.answering.mark_shut_out(connection, [row])
        is_open = surveys.is_open(connection, service.study, row)
    stage, length = "questions", service.answering.length_for(row)
    if row["finished"] is not None and row["erased"] is None:
        stage = "done"
    elif (refusal := service.answering.refusal(row)) is not None:
        if refusal.code != "no_consent":
            raise refusal
        stage = "consent"
    elif row["answered"] >= length:
        stage = "survey"
    elif is_open:
        stage = "before"
    found = {"stage": stage, "rater": row["code"], "answered": row["answered"], "length": length}
    return found | (way_out(service.study, row) if stage == "done" else {})


def shown_questions(service: StudyService, result: dict[str, Any], told: bool = False) -> Response:
    """Questions with all that is needed to show them; `told` to who may know the condition, too."""
    questions = ",".join(_question(service, question) for question in result.pop("questions"))
    condition = result.pop("condition")  # raters are not told in which they are
    if told and condition is not None:
        result["condition"] = condition
    return reply(f'{{"questions":[{questions}],{_encode(result)[1:]}')


def _question(service: StudyService, question: dict[str, Any]) -> str:
    """A question as JSON, put together by hand: most of it is JSON already."""
    correct = f',"correct":{_encode(question["correct"])}' if "correct" in question else ""
    shown = service.items_json(question["shown"])
    asked = f'"number":{question["number"]},"kind":"{question["kind"]}","block":"{question["block"]}"'
    return f'{{{asked},"form":"{question["form"]}","shown":{shown}{correct}}}'
