"""The interface of raters: what a browser, or a simulated rater, asks of the server.

A rater is known by a token (`Authorization: Bearer ...`) that joining gives; it names one rater of one study, so no
request can speak for another. Bodies are checked by hand rather than by the framework, which takes several times
longer; `_described` says in the description of the interface what they hold. For the same reason the application calls
`ENDPOINTS` itself: the framework's way to them costs as much as keeping an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.convertors import Convertor, register_url_convertor

from similitude.study.arrivals import is_this_machine, network_of
from similitude.study.asking import BACKGROUND
from similitude.study.items import is_storable
from similitude.study.leaving import way_out
from similitude.study.refusal import Refused, unknown_rater
from similitude.study.service import Joining, Said, StudyService
from similitude.study.service import encode as _encode
from similitude.study.store import schema
from similitude.study.web.handing_over import handed_over

router = APIRouter(prefix="/api/{study}")


class _AnyName(Convertor[str]):
    """Any name of an item, a line break in it, too, which the framework's own paths stop at."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any_name", _AnyName())


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("expected text without NUL and without halves of characters")
    return text


_ShortText = Annotated[str, Field(max_length=500), AfterValidator(_storable)]
_LongText = Annotated[str, Field(max_length=5000), AfterValidator(_storable)]
_Uid = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Body(BaseModel):
    """What a request may hold, and nothing else: neither "1" nor true is a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Join(Body):
    """Who comes: an id that the browser made, and the parameters of the link."""

    uid: _Uid
    parameters: Annotated[dict[_ShortText, _ShortText], Field(max_length=20)] = {}


class Answer(Body):
    """What was said to question `number`; `uid` is made by the browser, so that sending twice is answering once."""

    number: Annotated[int, Field(ge=0, le=10**6)]
    uid: _Uid
    outcome: Literal["answered", "cant_tell", "skipped", "not_shown"] = "answered"
    response: Annotated[list[float], Field(max_length=200)] | None = None
    milliseconds: Annotated[int, Field(ge=0, le=10**9)] | None = None
    direction: Literal["ltr", "rtl"] | None = None
    background: Annotated[str, Field(pattern=BACKGROUND)] | None = None


class Replies(Body):
    """What was said in the survey, by field."""

    replies: Annotated[dict[_ShortText, _LongText], Field(max_length=100)] = {}


class Refusal(BaseModel):
    """Why a request was not granted: a word for programs, a sentence for people."""

    code: str
    detail: str


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
    shown: list[ItemOnScreen]
    correct: list[float] | None = None


class Questions(BaseModel):
    """The questions that a rater holds, and how far the rater is."""

    questions: list[QuestionOnScreen]
    answered: int
    length: int
    done: bool
    paused: bool


Withheld = Literal["time", "skips", "not_shown", "rehearsal"]


class WayOut(BaseModel):
    """Where a rater goes who has finished, or why there is no code."""

    code: str | None
    redirect: str | None
    withheld: Withheld | None


class Standing(BaseModel):
    """The stage that a rater is at."""

    stage: Literal["consent", "questions", "survey", "done"]
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


class About(BaseModel):
    """What a program must know to answer: the form of the questions and what each takes."""

    title: str
    form: str
    pick: int
    scale: int
    classes: list[str]
    skip: bool
    cant_tell: bool
    survey: list[FieldOfSurvey]


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": meaning}
    for status, meaning in {
        400: "not HTTP as it should be", 401: "unknown rater", 403: "not allowed", 404: "not there",
        409: "against what happened before", 410: "erased, or withdrawn", 413: "too large", 422: "not as described",
        503: "the store cannot take it now; nothing was lost, send it again",
    }.items()
}  # fmt: skip
_TOKEN = {
    "name": "Authorization", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200}
}  # fmt: skip
_STUDY = {"name": "study", "in": "path", "required": True, "schema": {"type": "string"}}


def _described(body: type[Body] | None, token: bool = True) -> dict[str, Any]:
    """The description of a request for those who write programs against it."""
    found: dict[str, Any] = {"parameters": [_STUDY, *([_TOKEN] if token else [])]}
    if body is not None:
        content = {"application/json": {"schema": body.model_json_schema()}}
        found["requestBody"] = {"required": True, "content": content}
    return found


Endpoint = Callable[[Request], Awaitable[Response]]
ENDPOINTS: dict[tuple[str, str], Endpoint] = {}  # by method and last part of the path: the way past the framework


def _route(
    path: str, method: str, answer: type[BaseModel], body: type[Body] | None = None, token: bool = True
) -> Callable[[Endpoint], Endpoint]:
    described = router.api_route(
        path, methods=[method], openapi_extra=_described(body, token),
        responses={**_PROBLEMS, 200: {"model": answer}}, response_class=Response,
    )  # fmt: skip

    def known(endpoint: Endpoint) -> Endpoint:
        ENDPOINTS[method, path.removeprefix("/")] = endpoint
        return described(endpoint)

    return known


Some = TypeVar("Some", bound=Body)


async def _body(request: Request, kind: type[Some]) -> Some:
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise Refused(422, "invalid", sentences(error.errors(include_url=False))) from None


def sentences(faults: Any) -> str:
    """What is wrong with a request, without what it held: that may be anything."""
    said = "; ".join(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in faults)
    return said.encode("utf-8", "replace").decode()[:1000]


def service_of(request: Request) -> StudyService:
    """The study that an address names."""
    study = request.path_params["study"]
    found = request.app.state.site.studies.get(study)
    if found is None:
        raise Refused(404, "no_study", "There is no such study here.")
    return found


Service = Annotated[StudyService, Depends(service_of)]


def _rater(service: StudyService, request: Request) -> int:
    return service.rater_of(request.headers.get("authorization", "").removeprefix("Bearer "))


def _network(request: Request) -> str | None:
    host = request.client.host if request.client else "unknown"
    return None if is_this_machine(host) else network_of(host)


def _json(value: Any) -> Response:
    return _json_text(_encode(value))


def _json_text(text: str) -> Response:
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


@_route("/about", "GET", About, token=False)
async def about(request: Request) -> Response:
    """The form of the questions, and what an answer may be."""
    study = service_of(request).study
    asked = study.question.model_dump(include={"form", "pick", "scale", "classes", "skip", "cant_tell"})
    fields = [field.model_dump(include={"name", "kind", "choices", "required"}) for field in study.survey.fields]
    return _json({"title": study.title, **asked, "survey": fields})


@_route("/join", "POST", Joined, Join, token=False)
async def join(request: Request) -> Response:
    """Come in, or come back."""
    service, joining = service_of(request), await _body(request, Join)
    came = Joining(joining.uid, joining.parameters, _network(request))
    token = await handed_over(service.join(came))
    return _json({"token": token, **await _me(service, service.rater_of(token))})


@_route("/me", "GET", Standing)
async def me(request: Request) -> Response:
    """Where the rater stands."""
    service = service_of(request)
    return _json(await _me(service, _rater(service, request)))


@_route("/consent", "POST", Standing)
async def consent(request: Request) -> Response:
    """Agree to take part."""
    service = service_of(request)
    rater_id = _rater(service, request)
    await handed_over(service.consent(rater_id))
    return _json(await _me(service, rater_id))


@_route("/questions", "POST", Questions)
async def questions(request: Request) -> Response:
    """The questions that the rater holds: the one to answer, and those to load meanwhile."""
    service = service_of(request)
    return _shown(service, await handed_over(service.questions(_rater(service, request))))


@_route("/answers", "POST", Questions, Answer)
async def answers(request: Request) -> Response:
    """Keep an answer; it is durable when this returns."""
    service = service_of(request)
    rater_id, answer = _rater(service, request), await _body(request, Answer)
    said = Said(rater_id, **answer.model_dump())
    return _shown(service, await handed_over(service.answer(said)))


@_route("/survey", "POST", WayOut, Replies)
async def survey(request: Request) -> Response:
    """Keep the survey and finish."""
    service = service_of(request)
    rater_id, body = _rater(service, request), await _body(request, Replies)
    return _json(await handed_over(service.survey(rater_id, body.replies)))


_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


@router.get(
    "/items/{name:any_name}", response_class=FileResponse, responses={404: _PROBLEMS[404]},
    openapi_extra={"parameters": [_STUDY, _NAME]},
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
        row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise unknown_rater()
    stage = "questions"
    if row["finished"] is not None and row["erased"] is None:
        stage = "done"
    elif (refusal := service.answering.refusal(dict(row))) is not None:
        if refusal.code != "no_consent":
            raise refusal
        stage = "consent"
    elif row["answered"] >= service.study.length:
        stage = "survey"
    found = {"stage": stage, "rater": row["code"], "answered": row["answered"], "length": service.study.length}
    return found | (way_out(service.study, dict(row)) if stage == "done" else {})


def _shown(service: StudyService, result: dict[str, Any]) -> Response:
    """Questions with all that is needed to show them."""
    questions = ",".join(_question(service, question) for question in result.pop("questions"))
    return _json_text(f'{{"questions":[{questions}],{_encode(result)[1:]}')


def _question(service: StudyService, question: dict[str, Any]) -> str:
    """A question as JSON, put together by hand: most of it is JSON already."""
    correct = f',"correct":{_encode(question["correct"])}' if "correct" in question else ""
    shown = service.items_json(question["shown"])
    return f'{{"number":{question["number"]},"kind":"{question["kind"]}","shown":{shown}{correct}}}'
