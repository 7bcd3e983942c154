"""The page of what people read: consent, instructions and the last page in Markdown, pictures, and every word."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, JSONResponse, Response

from similitude.study.editing.desk import Desk, OutOfDate
from similitude.study.editing.document import changed
from similitude.study.editing.preview import STAGES, stages_of
from similitude.study.editing.words import CHECKED, is_checked, said_in, words_in
from similitude.study.fault import StudyError
from similitude.study.languages import unchecked
from similitude.study.refusal import Refused
from similitude.study.settings import FILE, Study
from similitude.study.web import login
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.desks import DeskOf, checked_json, faults_as_json
from similitude.study.web.interface import json_reply
from similitude.study.web.item_pages import piece_of
from similitude.study.web.login import Admin
from similitude.study.written import FOLDER, picture_at

router = APIRouter(prefix="/admin", include_in_schema=False)
_LOGGED_IN = [Depends(login.session_of)]


@router.get("/{study}/design/pages")
async def texts_page(request: Request, session: Admin, desk: DeskOf) -> Response:
    """The texts of a study's pages."""
    told = await asyncio.to_thread(_told, request, desk)
    return render(request, "design_pages.html", session=session, study=desk.titled(), told=told, here="pages")


@router.get(f"/{{study}}/{FOLDER}/{{name}}", dependencies=_LOGGED_IN)
def picture(desk: DeskOf, name: str) -> FileResponse:
    """A picture of the study's own pages, as the preview asks for it."""
    path = picture_at(desk.folder, name)
    if path is None:
        raise Refused(404, "no_picture", "There is no such picture.")
    return FileResponse(path, headers={"Cache-Control": "no-store"})


@router.post("/{study}/design/pages")
async def save_texts(request: Request, session: Admin, desk: DeskOf) -> Response:
    """Write texts of pages, words of a language, or pictures."""
    sent = await checked_json(request, session)
    return await asyncio.to_thread(_saved, request, desk, session, sent)


def _saved(request: Request, desk: Desk, session: Session, sent: dict[str, Any]) -> Response:
    taken = None
    try:
        match sent.get("do"):
            case "page":
                desk.save(_page(desk, sent), sent.get("basis"), session.name)
            case "words":
                study = desk.study()
                given = said_in(study, _language(study, sent), sent.get("words") or {})
                desk.save({**given}, sent.get("basis"), session.name)
            case "pictures":
                files = [(str(one["uid"]), str(one["name"])[:1000]) for one in sent.get("files", [])]
                taken = asdict(desk.take_pictures(files, session.name))
            case _:
                raise Refused(422, "do", "do: expected page, words or pictures")
    except OutOfDate as late:
        return JSONResponse({"code": "out_of_date", "detail": str(late), "now": _told(request, desk)}, 409)
    except StudyError as error:
        return faults_as_json(error)
    except (KeyError, TypeError, AttributeError):
        raise Refused(422, "invalid", "The request is not as this page sends it.") from None
    return json_reply({**_told(request, desk), "taken": taken})


def _language(study: Study, sent: dict[str, Any]) -> str:
    if sent.get("language") not in study.languages:
        raise StudyError(f"language: expected one of {', '.join(study.languages)}, found {sent.get('language')!r}")
    return str(sent["language"])


def _page(desk: Desk, sent: dict[str, Any]) -> dict[str, str | None]:
    """Files with another text of a page; None is no such page, in this language or in any."""
    study, page, text = desk.study(), str(sent.get("page")), sent.get("text")
    if page not in type(study.pages).model_fields:
        raise StudyError(f"page: expected one of {', '.join(type(study.pages).model_fields)}, found {page!r}")
    file = getattr(study.pages, page)
    first = _language(study, sent) == study.languages[0]
    own = None if file is None else desk.page_in(file, None if first else str(sent["language"]))
    if text is None:
        return {FILE: changed(desk.text(), {f"pages.{page}": ""})} if first else {str(own): None}
    if file is None:
        return {f"{page}.md": str(text), FILE: changed(desk.text(), {f"pages.{page}": f"{page}.md"})}
    return {str(own): str(text)}


def _told(request: Request, desk: Desk) -> dict[str, Any]:
    looked = desk.look()
    study = looked.study
    pages = {}
    if study is not None:
        pages = {name: study.page(name) for name in ("consent", "instructions", "done")}
    return {
        "basis": desk.basis(), "to_do": desk.to_do(looked), "faults": [fault._asdict() for fault in looked.faults],
        "languages": [] if study is None else [_spoken(study, language) for language in study.languages],
        "pages": pages, "files": {} if study is None else _files(desk, study), "pictures": desk.pictures(),
        "piece": piece_of(desk.limits), "stages": list((STAGES if study is None else stages_of(study)).items()),
        "blocks": [] if study is None else [block.name for block in study.block],
        "at": outside(request, f"/admin/{desk.name}/{FOLDER}/"),
    }  # fmt: skip


def _files(desk: Desk, study: Study) -> dict[str, dict[str, str]]:
    """The names of the pages' files, by page and language."""
    named = {name: file for name, file in study.pages.model_dump().items() if file is not None}
    first, *others = study.languages
    return {
        name: {first: file, **{language: desk.page_in(file, language) for language in others}}
        for name, file in named.items()
    }


def _spoken(study: Study, language: str) -> dict[str, Any]:
    """A language with its pages and words."""
    pages = {name: study.words.get(f"{name}.{language}") for name in ("consent", "instructions", "done")}
    return {
        "language": language, "pages": pages, "words": words_in(study, language),
        CHECKED: is_checked(study.folder, language), "machine": unchecked(study.folder, language),
    }  # fmt: skip
