"""What all of the interface is made of: routes and their description, bodies, who asks, replies.

Bodies are checked by hand rather than by the framework, which takes several times longer; `_described` says in the
description of the interface what they hold. For the same reason the application calls `ENDPOINTS` itself: the
framework's way to them costs as much as keeping an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.convertors import Convertor, register_url_convertor

from similitude.study.arrivals import is_this_machine, network_of
from similitude.study.refusal import Refused
from similitude.study.service import StudyService, encode

VERSION = "v1"
router = APIRouter(prefix="/api/{study}")


class _AnyName(Convertor[str]):
    """Any name of an item, a line break in it, too, which the framework's own paths stop at."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any_name", _AnyName())


class Body(BaseModel):
    """What a request may hold, and nothing else: neither "1" nor true is a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Refusal(BaseModel):
    """Why a request was not granted: a word for programs, a sentence for people."""

    code: str
    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": meaning}
    for status, meaning in {
        400: "not HTTP as it should be", 401: "unknown rater or token", 403: "not allowed", 404: "not there",
        409: "against what happened before", 410: "erased, withdrawn, or without a place", 413: "too large",
        422: "not as described",
        429: "too many wrong tokens; after as many seconds as Retry-After says",
        503: "the store cannot take it now; nothing was lost, send it again",
    }.items()
}  # fmt: skip
TOKEN = {
    "name": "Authorization", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200}
}  # fmt: skip
STUDY = {"name": "study", "in": "path", "required": True, "schema": {"type": "string"}}


def _described(body: type[Body] | None, parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The description of a request for those who write programs against it."""
    found: dict[str, Any] = {"parameters": [STUDY, *parameters]}
    if body is not None:
        schema = body.model_json_schema()
        content = {"application/json": {"schema": _written_out(schema, schema.pop("$defs", {}))}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _written_out(schema: Any, parts: Mapping[str, Any]) -> Any:
    """A schema with its parts in their places: references to them hold in a document of its own, not within another."""
    if isinstance(schema, list):
        return [_written_out(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: _written_out(one, parts) for key, one in schema.items() if key != "$ref"}
    return _written_out(parts[schema["$ref"].rsplit("/", 1)[1]], parts) | own if "$ref" in schema else own


Endpoint = Callable[[Request], Awaitable[Response]]
ENDPOINTS: dict[tuple[str, str], Endpoint] = {}  # by method and what follows the study: the way past the framework


def page_route(path: str, method: str) -> Callable[[Endpoint], Endpoint]:
    """What our own pages ask."""
    taken = router.api_route(path, methods=[method], include_in_schema=False, response_class=Response)

    def known(endpoint: Endpoint) -> Endpoint:
        ENDPOINTS[method, path.removeprefix("/")] = endpoint
        return taken(endpoint)

    return known


def route(
    path: str, method: str, answer: type[BaseModel] | tuple[str, ...], body: type[Body] | None = None,
    parameters: Sequence[Mapping[str, Any]] = (TOKEN,),
) -> Callable[[Endpoint], Endpoint]:  # fmt: skip
    """What anybody may ask by the interface; an answer of no model is a file, whose response is a stream."""
    kinds = answer if isinstance(answer, tuple) else ()
    said: dict[str, Any] = {"content": {kind: {} for kind in kinds}} if kinds else {"model": answer}
    taken = router.api_route(
        f"/{VERSION}{path}", methods=[method], openapi_extra=_described(body, parameters),
        responses={**PROBLEMS, 200: said}, response_class=Response,
    )  # fmt: skip

    def known(endpoint: Endpoint) -> Endpoint:
        if not kinds:
            ENDPOINTS[method, f"{VERSION}{path}"] = endpoint
        return taken(endpoint)

    return known


Some = TypeVar("Some", bound=Body)


async def body_of(request: Request, kind: type[Some]) -> Some:
    """What a request holds, checked; refused where it is not as described."""
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


def bearer(request: Request) -> str:
    """The token that a request shows."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def network(request: Request) -> str | None:
    """The network that a request comes from; None for this machine."""
    host = request.client.host if request.client else "unknown"
    return None if is_this_machine(host) else network_of(host)


def json_reply(value: Any) -> Response:
    """A reply that nobody keeps."""
    return reply(encode(value))


def reply(text: str) -> Response:
    """The same of what is JSON already."""
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})
