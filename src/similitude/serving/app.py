"""The application of a served model: routes, their description, and what faults look like.

Bodies are read by pydantic's own parser of JSON, straight to numbers: for a batch of vectors that is most of the work.
A large body is worked on in a thread, so that small requests do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

import similitude
from similitude.methods.similarity import Similarity
from similitude.serving.requests import (
    ModelRequest,
    ModelSaid,
    NeighborsAsked,
    NeighborsSaid,
    PositionsSaid,
    PredictAsked,
    PredictionsSaid,
    TransformAsked,
    not_understood,
)
from similitude.serving.served_model import ServedModel
from similitude.serving.waits import Timed, Waits
from similitude.study.refusal import Refused
from similitude.study.web.guard import Guard

MOST_ROWS = 1024
BODY_BYTES = 16 * 1024 * 1024  # 1,024 vectors of 512 numbers with all their digits are 11 MB
PACKED = "application/octet-stream"
_BYTES = {"schema": {"type": "string", "format": "binary", "description": "32-bit floats, little-endian, row by row"}}
_SMALL = 64 * 1024

A = TypeVar("A", bound=ModelRequest)


def create_app(similarity: Similarity, most_rows: int = MOST_ROWS, body_bytes: int = BODY_BYTES) -> FastAPI:
    """Return the application of a model.

    Parameters
    ----------
    similarity : the model
    most_rows : vectors, items or comparisons of one request
    body_bytes : size of a request
    """
    app = FastAPI(title="similitude model", version=similitude.__version__, docs_url=None, redoc_url=None)
    model, waits = ServedModel(similarity, most_rows), Waits()
    app.add_api_route("/", model.about, response_model=ModelSaid, summary="What is served")
    app.add_api_route("/health", _health, summary="Whether it is up")
    app.add_api_route("/stats", waits.figures, summary="Requests, and their waits: p50 and p99 in milliseconds")
    _add(
        app,
        "/transform",
        TransformAsked,
        model.transform,
        PositionsSaid,
        "Positions of new vectors",
        model.transform_packed,
    )
    _add(app, "/neighbors", NeighborsAsked, model.neighbors, NeighborsSaid, "The items nearest to items or vectors")
    _add(app, "/predict", PredictAsked, model.predict, PredictionsSaid, "Which pair a person calls more alike")
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _no_such_request)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_middleware(Guard, largest=body_bytes)
    app.add_middleware(Timed, waits=waits, paths=frozenset({"/transform", "/neighbors", "/predict"}))
    return app


def _add(
    app: FastAPI,
    path: str,
    asked: type[A],
    answer: Callable[[A], Any],
    said: type[BaseModel],
    summary: str,
    packed: Callable[[bytes], bytes] | None = None,
) -> None:
    """Add a route that reads its body itself, described as if the framework did; `packed` answers bytes by bytes."""

    def in_text(body: bytes) -> Response:
        return JSONResponse(answer(asked.model_validate_json(body)))

    def in_bytes(body: bytes) -> Response:
        assert packed is not None
        return Response(packed(body), media_type=PACKED)

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        work = in_bytes if packed and request.headers.get("content-type") == PACKED else in_text
        return _answered(work, body) if len(body) <= _SMALL else await run_in_threadpool(_answered, work, body)

    read = {"application/json": {"schema": asked.model_json_schema()}, **({PACKED: _BYTES} if packed else {})}
    app.add_api_route(
        path, endpoint, methods=["POST"], summary=summary, description=asked.__doc__ or "", name=path.strip("/"),
        responses={
            200: {"model": said, **({"content": {PACKED: _BYTES}} if packed else {})},
            413: {"description": "Too large"}, 422: {"description": "Not understood"},
        },
        openapi_extra={"requestBody": {"content": read, "required": True}},
    )  # fmt: skip


def _answered(work: Callable[[bytes], Response], body: bytes) -> Response:
    """What the model says; what it cannot make sense of is the asker's fault, and told in its own words."""
    try:
        return work(body)
    except Refused:
        raise
    except ValidationError as error:
        raise not_understood(_sentence(error)) from None
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise not_understood(str(error)) from None


def _sentence(error: ValidationError) -> str:
    """The first thing wrong, and where; without what was sent."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JSONResponse({"code": error.code, "detail": str(error)}, error.status)


async def _no_such_request(request: Request, error: Exception) -> Response:
    """A path that there is not, or one that is asked in another way: with a code, as all faults have."""
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow")
    way = f"; use {allowed}" if allowed else ""
    detail = f"{request.method} {request.url.path}: {error.detail}{way}; GET /openapi.json says what may be asked"
    said = {"code": "method_not_allowed" if error.status_code == 405 else "not_found", "detail": detail}
    return JSONResponse(said, error.status_code, error.headers)


async def _gone(_: Request, __: Exception) -> Response:
    """Who asked went away while still sending: there is nobody to answer."""
    return Response(status_code=400)


def _health() -> dict[str, str]:
    return {"status": "ok"}
