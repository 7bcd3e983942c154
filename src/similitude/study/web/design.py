"""The pages that edit a study: its settings, made from their own schema; `study.toml` as text; and a preview.

The page reads the files of the study and writes them. What it sends are the keys that were changed, and the revision
that it had read: where the study is another by then, nothing is written, and the page is told what it is now.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from similitude.feedback.forms import PAGES
from similitude.study.asking import unused_keys, width
from similitude.study.designs import page_of_block
from similitude.study.editing.desk import Desk, OutOfDate, make_study
from similitude.study.editing.document import changed, value_of, values_of
from similitude.study.editing.fields import fields, parts
from similitude.study.editing.looking import Looked
from similitude.study.editing.preview import STAGES, previewed, stages_of
from similitude.study.fault import Fault, StudyError
from similitude.study.items import Item, background_of
from similitude.study.refusal import Refused
from similitude.study.settings import FILE
from similitude.study.texts import default_texts, fill
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Session
from similitude.study.web.desks import DeskOf, checked_json, drawn_at, faults_as_json
from similitude.study.web.interface import json_reply
from similitude.study.web.login import Admin, checked_form
from similitude.study.web.pages import rater_page, setup_of, written_page

router = APIRouter(prefix="/admin", include_in_schema=False)
_AS_TOML = "as toml"  # beside what no control is known for
_NOTHING = '{"changes": {}}'
_TO_BEGIN_WITH = {"pick": "2", "low": "the smallest", "high": "the largest"}  # places in what a form asks
_IN_A_FRAME = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)


# --- a new study ---


@router.get("/-/new")
async def new_page(request: Request, session: Admin) -> Response:
    """The form to make a study."""
    return _new_page(request, session)


@router.post("/-/new")
async def make_new(request: Request, session: Admin) -> Response:
    """Make it, and go on to edit it."""
    form = await checked_form(request, session)
    name, title = form.get("name", "").strip(), form.get("title", "").strip()
    try:
        desk = await asyncio.to_thread(
            make_study, request.app.state.site, name, title, form.get("form", ""), session.name
        )
    except StudyError as error:
        return _new_page(request, session, 422, problem=str(error), given=form)
    return RedirectResponse(outside(request, f"/admin/{desk.name}/design"), 303)


def _new_page(request: Request, session: Session, status: int = 200, **values: Any) -> Response:
    forms = {name: fill(next(iter(form.asks.values())), _TO_BEGIN_WITH) for name, form in PAGES.items()}
    return render(request, "new.html", status, **{"session": session, "forms": forms, "given": {}, **values})


# --- the settings ---


@router.get("/{study}/design")
async def design_page(request: Request, session: Admin, desk: DeskOf) -> Response:
    """All settings of a study."""
    told = await asyncio.to_thread(_told, request, desk)
    told["parts"] = [asdict(part) for part in parts()]
    told["texts"] = default_texts()
    told["unused"] = {form: unused_keys(form) for form in PAGES}
    return render(request, "design.html", session=session, study=desk.titled(), told=told, here="settings")


@router.get("/{study}/design/now")
async def design_now(request: Request, session: Admin, desk: DeskOf) -> Response:
    """What the settings are at the moment, and the token with which they may be changed."""
    return json_reply({**await asyncio.to_thread(_told, request, desk), "csrf": session.csrf})


@router.post("/{study}/design")
async def save_design(request: Request, session: Admin, desk: DeskOf) -> Response:
    """Write the keys that were changed, or say what is wrong with which of them."""
    sent = await checked_json(request, session)
    return await asyncio.to_thread(_saved, request, desk, session, sent)


def _saved(request: Request, desk: Desk, session: Session, sent: dict[str, Any]) -> Response:
    try:
        text = sent["text"] if isinstance(sent.get("text"), str) else changed(desk.text(), _changes(sent))
        looked = desk.save({FILE: text}, sent.get("basis"), session.name)
    except OutOfDate as late:
        return JSONResponse({"code": "out_of_date", "detail": str(late), "now": _told(request, desk)}, 409)
    except StudyError as error:
        return faults_as_json(error)
    return json_reply(_told(request, desk, looked))


def _changes(sent: dict[str, Any]) -> dict[str, Any]:
    """The keys that were changed; what has no control of its own was typed as TOML."""
    changes = sent.get("changes")
    if not isinstance(changes, dict):
        raise Refused(422, "changes", "changes: expected a table of keys")
    known = fields()
    for key in changes:
        if key not in known and not (key.startswith("texts.") and "texts" in known):
            raise StudyError(f"{key}: unknown key")
    return {key: _typed(value) for key, value in changes.items()}


def _typed(value: Any) -> Any:
    """A value in which what was typed as TOML is read."""
    if isinstance(value, list):
        return [_typed(one) for one in value]
    if not isinstance(value, dict):
        return value
    typed = value.get(_AS_TOML)
    return value_of(typed) if isinstance(typed, str) else {key: _typed(one) for key, one in value.items()}


def _told(request: Request, desk: Desk, looked: Looked | None = None) -> dict[str, Any]:
    """What the page shows: the values as they are written, what may not be changed, what is still to be done."""
    found = looked or desk.look()
    try:
        values = values_of(found.text)
    except StudyError:
        values = {}
    study = found.study
    return {
        "text": found.text, "values": values, "basis": desk.basis(),
        "locked": desk.locked(), "faults": [fault._asdict() for fault in found.faults],
        "to_do": desk.to_do(found),
        "items": [drawn_at(request, desk)(item) for item in found.items.values()],
        "stages": list((STAGES if study is None else stages_of(study)).items()),
        "blocks": [] if study is None else [block.name for block in study.block],
        "languages": ["en"] if study is None else list(study.languages),
        "shows": None if study is None else width(study.parts[0].question),
    }  # fmt: skip


# --- study.toml ---


@router.get("/{study}/design/text")
async def text_page(request: Request, session: Admin, desk: DeskOf) -> Response:
    """`study.toml` as text."""
    told = await asyncio.to_thread(_told, request, desk)
    return render(request, "design_text.html", session=session, study=desk.titled(), told=told, here="text")


# --- the preview ---


@router.post("/{study}/preview")
async def preview(request: Request, session: Admin, desk: DeskOf) -> Response:
    """The rater's page with changes that are not written yet; what is done on it is kept nowhere."""
    form = await checked_form(request, session)
    return await asyncio.to_thread(_previewed, request, desk, form)


def _previewed(request: Request, desk: Desk, form: dict[str, str]) -> Response:
    try:
        given: dict[str, str | None] = json.loads(form.get("files") or "{}")
        text = form.get("text") or changed(desk.text(), _changes(json.loads(form.get("changes") or _NOTHING)))
        looked = desk.look({**given, FILE: text})
    except (StudyError, ValueError) as error:
        looked = Looked("", faults=(Fault("", str(error)),))
    if looked.study is None:
        return _framed(render(request, "no_preview.html", faults=looked.faults))
    study, items = looked.study, looked.items
    language = form.get("language") if form.get("language") in study.languages else study.languages[0]
    stage = form.get("stage", "")
    stage = stage if stage in stages_of(study) else "question"
    told = setup_of(study, background_of(study, items.values()), str(language))
    shown = previewed(study, items, stage, drawn_at(request, desk), _chosen(form, items), form.get("block", ""))
    shown["pages"] = {
        name: str(written_page(study, name, str(language))) for name in (page_of_block(one.name) for one in study.block)
    }
    told |= {"full": False, "ownSetup": False, "preview": shown}
    if stage == "question" and not told["preview"]["questions"]:
        return _framed(render(request, "no_preview.html", faults=looked.faults))
    return _framed(rater_page(study, told, str(language)))


def _chosen(form: dict[str, str], items: Mapping[str, Item]) -> list[str] | None:
    """The items of a question that is made; None where it is drawn."""
    names = json.loads(form.get("shown") or "null")
    return [name for name in names if name in items] if isinstance(names, list) else None


def _framed(page: Response) -> Response:
    """A page that may stand in a frame of ours."""
    page.headers["Content-Security-Policy"] = _IN_A_FRAME
    page.headers["X-Frame-Options"] = "SAMEORIGIN"
    return page
