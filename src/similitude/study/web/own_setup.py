"""What the page of a rater must know that depends on who it is: the condition, and the order of the blocks."""

from __future__ import annotations

import asyncio
from typing import Any

import sqlalchemy as sa
from fastapi import Request, Response

from similitude.study.designs import OF_CONDITIONS, page_of_block
from similitude.study.refusal import unknown_rater
from similitude.study.service import StudyService
from similitude.study.store import schema
from similitude.study.web.interface import bearer, json_reply, page_route, service_of
from similitude.study.web.pages import language_of, setup_of, written_page


@page_route("/setup", "GET")
async def own_setup(request: Request) -> Response:
    """The study as one rater sees it, and the pages that are written for that."""
    service = service_of(request)
    rater_id, language = service.rater_of(bearer(request)), language_of(request, service.study)
    return json_reply(await asyncio.to_thread(_own, service, rater_id, language))


def _own(service: StudyService, rater_id: int, language: str) -> dict[str, Any]:
    table = schema.rater
    query = sa.select(table.c.condition, table.c.blocks).where(
        table.c.id == rater_id, table.c.study_id == service.study_id
    )
    with service.database.read() as connection:
        rater = connection.execute(query).mappings().one_or_none()
    if rater is None:
        raise unknown_rater()
    served, who = service.answering.served, dict(rater)
    study, parts = served.study_of(who), served.round_of(who)
    named = [*OF_CONDITIONS, *(page_of_block(part.block) for part in parts if part.block)]
    pages = {name: str(written_page(study, name, language)) for name in named}
    return {"setup": setup_of(study, service.background, language, parts), "pages": pages}
