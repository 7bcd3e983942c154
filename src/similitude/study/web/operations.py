"""For those who run the server: whether it is well, and figures for Prometheus.

`/healthz` says nothing but yes or no, to anybody. `/metrics` is there where the server was told who may read it
(`--metrics-from`), and for nobody else: to others there is no such page.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

import similitude
from similitude.study.entrance import APART
from similitude.study.proxies import Proxies
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.site import Site
from similitude.study.states import at_the_moment
from similitude.study.store import schema
from similitude.study.store.database import StoreError

router = APIRouter(include_in_schema=False)

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_KIND = "text/plain; version=0.0.4; charset=utf-8"


class Meter:
    """How long requests took: counts by upper bound, as Prometheus adds them up; a microsecond each.

    Parameters
    ----------
    watchers : who may read the figures
    """

    def __init__(self, watchers: Proxies) -> None:
        self.watchers = watchers
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def count(self, request: str, seconds: float) -> None:
        """Count a request by what it asked for."""
        counts = self._counts.get(request)
        if counts is None:
            counts = self._counts[request] = [0] * (len(BUCKETS) + 1)
            self._sums[request] = 0.0
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._sums[request] += seconds

    def lines(self) -> Iterator[str]:
        """All of it in Prometheus' words."""
        yield from _head("similitude_request_seconds", "histogram", "time of a request of raters and programs")
        for request, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield _line("similitude_request_seconds_bucket", total, request=request, le=str(bound))
            yield _line("similitude_request_seconds_sum", self._sums[request], request=request)
            yield _line("similitude_request_seconds_count", total, request=request)


@router.get("/healthz")
async def health(request: Request) -> Response:
    """Whether the database can be read and answers are written; 503 where not."""
    site: Site = request.app.state.site
    try:
        await asyncio.to_thread(_look, site)
    except StoreError:
        return JSONResponse({"status": "no database"}, 503, {"Cache-Control": "no-store"})
    status = "ok" if site.writer.is_alive else "no writer"
    return JSONResponse({"status": status}, 200 if status == "ok" else 503, {"Cache-Control": "no-store"})


def _look(site: Site) -> None:
    with site.database.read() as connection:
        connection.execute(sa.select(1))


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Figures of the server and of every study."""
    meter: Meter | None = request.app.meter
    host = request.client.host if request.client else ""
    if meter is None or not meter.watchers.is_trusted(host):
        raise Refused(404, "not_found", "There is no such page.")
    site: Site = request.app.state.site
    found = await asyncio.to_thread(lambda: [*_of_site(site), *meter.lines()])
    return PlainTextResponse("\n".join(found) + "\n", media_type=_KIND, headers={"Cache-Control": "no-store"})


_FIGURES: dict[str, tuple[str, str]] = {  # by name: what Prometheus calls it, and what it is
    "raters": ("gauge", "raters who have joined"),
    "raters_finished": ("gauge", "raters who have finished"),
    "answers_total": ("counter", "answers, practice and catch trials among them"),
    "questions_open": ("gauge", "questions that raters hold now"),
    "questions_ready": ("gauge", "questions that the model has chosen for the next raters"),
    "paused": ("gauge", "1 where the study hands out no questions"),
    "model_version": ("gauge", "how often the model was fitted"),
    "model_behind_answers": ("gauge", "answers that the model has still to learn"),
    "model_heartbeat_age_seconds": ("gauge", "since the model process was last heard of"),
}


def _of_site(site: Site) -> Iterator[str]:
    yield from _head("similitude_info", "gauge", "the version that runs")
    yield _line("similitude_info", 1, version=similitude.__version__)
    yield from _head("similitude_writer_queue", "gauge", "requests that wait to be written")
    yield _line("similitude_writer_queue", site.writer.waiting)
    with site.database.read() as connection:
        figures = {name: _of_study(connection, service) for name, service in list(site.studies.items())}
    for name, (kind, words) in _FIGURES.items():
        yield from _head(f"similitude_{name}", kind, words)
        for study, found in figures.items():
            if found[name] is not None:
                yield _line(f"similitude_{name}", found[name], study=study)


def _of_study(connection: sa.Connection, service: StudyService) -> dict[str, Any]:
    rater, lease, pool, model, answer = schema.rater, schema.lease, schema.pool, schema.model, schema.answer
    here, count = service.study_id, sa.func.count()
    people = rater.c.study_id == here, rater.c.origin.not_in(APART)
    counts = sa.select(count, sa.func.count(rater.c.finished), sa.func.sum(rater.c.answered)).where(*people)
    raters, finished, answers = connection.execute(counts).one()
    held = lease.c.study_id == here, lease.c.open, lease.c.expires > service.database.uptime.now()
    columns = (model.c.version, model.c.last_answer, model.c.heartbeat)
    row = connection.execute(sa.select(*columns).where(model.c.study_id == here)).one_or_none()
    last = 0 if row is None else row.last_answer
    return {
        "raters": raters, "raters_finished": finished, "answers_total": int(answers or 0),
        "questions_open": connection.scalar(sa.select(count).select_from(lease).where(*held)),
        "questions_ready": connection.scalar(sa.select(count).select_from(pool).where(pool.c.study_id == here)),
        "paused": int(at_the_moment(connection, here).asks_nothing_of("joined")),
        "model_version": 0 if row is None else row.version,
        "model_behind_answers": connection.scalar(
            sa.select(count).select_from(answer).where(answer.c.study_id == here, answer.c.id > last)
        ),
        "model_heartbeat_age_seconds": None if row is None else service.database.clock.now() - row.heartbeat,
    }  # fmt: skip


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def _line(metric: str, value: float, **labels: str) -> str:
    said = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
    return f"{metric}{{{said}}} {value}" if said else f"{metric} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
