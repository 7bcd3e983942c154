"""The pages of raters: one per study, filled in by scripts of our own; and what is shown when something is amiss.

The page holds the words of the study; everything about the rater comes through the interface of raters. Addresses are
relative, so that a proxy may put the server under any path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Template
from markupsafe import Markup
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from similitude.display import thumbnails
from similitude.display.templates import templates
from similitude.feedback.forms import PAGES
from similitude.study.asking import form_of
from similitude.study.designs import StudyPart, page_of_block
from similitude.study.entrance import REHEARSAL
from similitude.study.languages import ENGLISH, chosen, direction, in_language
from similitude.study.leaving import SKIPS, TIME, terms
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.settings import Study
from similitude.study.texts import all_texts, fill
from similitude.study.timing import on_page, timing_in_words
from similitude.study.web.interface import Service
from similitude.study.written import FOLDER, markdown, picture_of_page

router = APIRouter(include_in_schema=False)

LANGUAGE = "language"  # the part of a link that says in which
STATIC = Path(__file__).parent / "static"
_POLICY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'",
    "Cache-Control": "no-store",
}


@router.get("/")
def front(request: Request) -> Response:
    """The only study; where there are several, not which: who was sent a link knows."""
    studies: dict[str, StudyService] = request.app.state.site.studies
    if len(studies) == 1:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"s/{next(iter(studies))}/{query}", 307)
    return _page("front.html")


@router.get("/s/{study}")
def without_the_slash(request: Request, service: Service) -> Response:
    """A link whose last slash was lost: to be found beside it, whatever host and path a proxy has put before."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{service.study.name}/{query}", 307)


@router.get("/s/{study}/")
def study_page(request: Request, service: Service) -> Response:
    """The page of a rater, from consent to completion."""
    language = language_of(request, service.study)
    page = rater_page(service.study, setup(service, language, request.query_params), language)
    page.headers["Vary"] = "Accept-Language"
    return page


def rater_page(study: Study, told: Mapping[str, Any], language: str) -> HTMLResponse:
    """The page of raters, with what its scripts are told."""
    shown = {name: written_page(study, name, language) for name in ("consent", "instructions", "done")}
    given = {"language": language, "direction": direction(language), "texts": texts_of(study, language)}
    return _page("rater.html", shown=shown, setup=told, **given)


def written_page(study: Study, name: str, language: str) -> Markup:
    """A page of the study's own as HTML; the instructions with what must be done for the completion code."""
    html, texts = markdown(study.page(name, language) or ""), texts_of(study, language)
    said = terms_in_words(study, language) if name == "instructions" else []
    told = name == "consent" and study.timing.record_device
    return Markup(_template("written.html").render(html=html, terms=said, texts=texts, recorded=told))


def language_of(request: Request, study: Study) -> str:
    """The language in which a page is shown: that of the link (`?language=de`), or as the browser wants."""
    asked = request.query_params.get(LANGUAGE)
    return asked if asked in study.languages else chosen(request.headers.get("accept-language", ""), study.languages)


def texts_of(study: Study, language: str) -> dict[str, str]:
    """All words of a study's pages, with `title`, `question`, `low` and `high` where it says them in this language."""
    every = {"total": study.own_length, "pick": study.parts[0].question.pick}
    numbers = {"": every, "terms_time": {"seconds": terms(study)[TIME]}}
    return {"title": study.title, **in_language(language, study.texts_in(language), numbers)}


def terms_in_words(study: Study, language: str) -> list[str]:
    """What must be done for the completion code, as raters are told before the first question."""
    texts, wanted = texts_of(study, language), terms(study)
    said = timing_in_words(study.timing, texts)
    asked = len(said)
    if wanted[TIME]:
        said.append(texts["terms_time"].replace("{seconds}", str(wanted[TIME])))
    if wanted[SKIPS]:
        counted = texts["terms_skips"].replace("{answered}", str(wanted[SKIPS]))
        said.append(counted.replace("{total}", str(study.own_length)))
    if len(said) > asked and any(part.practice for part in study.parts):
        said.append(texts["terms_practice"])
    return said


@router.get(f"/s/{{study}}/{FOLDER}/{{name}}")
def page_picture(service: Service, name: str) -> FileResponse:
    """A picture of the study's own pages."""
    path = picture_of_page(service.study, name)
    if path is None:
        raise Refused(404, "no_picture", "There is no such picture.")
    return FileResponse(path, headers={"Cache-Control": "public, max-age=3600"})


def setup(service: StudyService, language: str, link: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the scripts need to know of a study that is served, by a link whose parts are given."""
    served = {"version": service.version, "full": service.is_shut(link)}
    return {**setup_of(service.study, service.background, language), **served}


def setup_of(study: Study, background: str, language: str, parts: Sequence[StudyPart] | None = None) -> dict[str, Any]:
    """What the scripts need to know of a study, as a rater sees it whose parts come in this order."""
    parts = study.parts if parts is None else parts
    texts = texts_of(study, language)
    blocks = {part.block: _questions(study, part, texts) for part in parts}
    named = ["consent", "instructions", "done", *(page_of_block(part.block) for part in parts)]
    return {
        "study": study.name,
        "title": texts["title"],
        "language": language if len(study.languages) > 1 else None,
        **blocks[parts[0].block],
        "blocks": {name: asked for name, asked in blocks.items() if name},
        "plan": [{"block": part.block, "practice": len(part.practice), "length": part.length} for part in parts],
        "ownSetup": bool(study.block or study.condition),  # more is known once it is known who it is
        "fullRedirect": study.assignment.full_redirect,
        "background": background,
        "enlarge": study.items.enlarge,
        "breakEvery": study.break_every,
        "timing": on_page(study.timing),
        "pages": [name for name in named if _has_page(study, name, language)],
        "survey": [field.model_dump() for field in study.survey.fields],
        "parameters": (REHEARSAL, *study.raters.parameter),  # what makes another rater of the same browser
        "texts": texts,
    }


def _has_page(study: Study, name: str, language: str) -> bool:
    return study.page(name) is not None or (name == "instructions" and bool(terms_in_words(study, language)))


def _questions(study: Study, part: StudyPart, texts: Mapping[str, str]) -> dict[str, Any]:
    """What the scripts need to know of the questions of a part."""
    question = part.question
    return {
        "form": question.form,
        "ask": _asked(study, part, texts),
        "low": _end(study, part, "low", texts) or texts["scale_low"],
        "high": _end(study, part, "high", texts) or texts["scale_high"],
        **{name: getattr(question, name) for name in ("pick", "scale", "classes", "skip")},
        "cantTell": question.cant_tell,
    }


def _end(study: Study, part: StudyPart, end: str, texts: Mapping[str, str]) -> str | None:
    """What an end of a scale or an order means, in the language of the page where the study says it in that."""
    written: str | None = getattr(part.question, end)
    shared = texts.get(end) if written == getattr(study.question, end) else None
    return texts.get(f"{end}_{part.block}") or shared or written


def _asked(study: Study, part: StudyPart, texts: Mapping[str, str]) -> str:
    """What is asked, in the study's own words or in ours."""
    question, under = part.question, study.seen_by
    if under is not None and under.text is not None:
        own = texts.get(f"question_{under.name}")
    else:
        same = (question.form, question.text) == (study.question.form, study.question.text)
        own = texts.get(f"question_{part.block}") or (texts.get("question") if same else None)
    asked = own or question.text or texts[form_of(question.form).ask_as(question)]
    ends = {end: _end(study, part, end, texts) or "" for end in ("low", "high")}
    known = {"pick": str(question.pick), **ends}
    return fill(asked, known)


def fault_page(status: int, study: Study | None = None) -> HTMLResponse:
    """A page for what cannot be shown: no such study, or a database that does not answer for now."""
    language = ENGLISH if study is None else study.languages[0]
    texts = all_texts({}) if study is None else texts_of(study, language)
    words = (texts["fault_title"], texts["unavailable"]) if status == 503 else ("Not found", "There is no such page.")
    told = {"title": words[0], "text": words[1], "again": status == 503}
    response = _page("fault.html", language=language, direction=direction(language), **told)
    response.status_code = status
    return response


def _page(name: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(_template(name).render(**values), headers=_POLICY)


def _template(name: str) -> Template:
    return templates("similitude.study.web").get_template(name)


class OwnFiles(StaticFiles):
    """Scripts and styles; a browser asks each time whether its copy is still right, so an upgrade is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, with leave to keep it but not to trust it."""
        if "\0" in path:  # which no file has, and older Starlettes ask the system about
            raise Refused(404, "no_file", "There is no such file.")
        own = _script_elsewhere(Path(path))
        response = await super().get_response(path, scope) if own is None else FileResponse(own)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _script_elsewhere(path: Path) -> Path | None:
    """A script that reports use, too, or that of a form which another package brought; None of those in our folder."""
    if path.as_posix() == thumbnails.SCRIPT.name:
        return thumbnails.SCRIPT
    form = PAGES.get(path.stem) if path.parent.as_posix() == "forms" and path.suffix == ".js" else None
    return None if form is None else form.script
