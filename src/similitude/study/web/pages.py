"""The pages of raters: one per study, filled in by scripts of our own; and what is shown when something is amiss.

The page holds the words of the study; everything about the rater comes through the interface of raters. Addresses are
relative, so that a proxy may put the server under any path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from similitude.display.templates import templates
from similitude.feedback.forms import PAGES
from similitude.study.asking import form_of
from similitude.study.entrance import REHEARSAL
from similitude.study.languages import ENGLISH, chosen, direction, in_language
from similitude.study.leaving import SKIPS, TIME, terms
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.settings import Question, Study
from similitude.study.texts import all_texts
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
    study, language = service.study, language_of(request, service.study)
    shown = {name: markdown(study.page(name, language) or "") for name in ("consent", "instructions", "done")}
    told: dict[str, Any] = {"language": language, "direction": direction(language)}
    told |= {"texts": texts_of(study, language), "recorded": study.timing.record_device}
    page = _page(
        "rater.html", shown=shown, terms=terms_in_words(study, language), setup=setup(service, language), **told
    )
    page.headers["Vary"] = "Accept-Language"
    return page


def language_of(request: Request, study: Study) -> str:
    """The language in which a page is shown: that of the link (`?language=de`), or as the browser wants."""
    asked = request.query_params.get(LANGUAGE)
    return asked if asked in study.languages else chosen(request.headers.get("accept-language", ""), study.languages)


def texts_of(study: Study, language: str) -> dict[str, str]:
    """All words of a study's pages, with `title`, `question`, `low` and `high` where it says them in this language."""
    wanted, practice = terms(study), len(study.practice.questions)
    every = {"total": study.length - practice, "pick": study.question.pick}
    numbers = {"": every, "terms_time": {"seconds": wanted[TIME]}, "terms_skips": {"total": study.length}}
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
        said.append(counted.replace("{total}", str(study.length)))
    if len(said) > asked and study.practice.questions:
        said.append(texts["terms_practice"])
    return said


@router.get(f"/s/{{study}}/{FOLDER}/{{name}}")
def page_picture(service: Service, name: str) -> FileResponse:
    """A picture of the study's own pages."""
    path = picture_of_page(service.study, name)
    if path is None:
        raise Refused(404, "no_picture", "There is no such picture.")
    return FileResponse(path, headers={"Cache-Control": "public, max-age=3600"})


def setup(service: StudyService, language: str) -> dict[str, Any]:
    """What the scripts need to know of a study."""
    study, question = service.study, service.study.question
    texts = texts_of(study, language)
    return {
        "study": study.name,
        "title": texts["title"],
        "language": language if len(study.languages) > 1 else None,
        "form": question.form,
        "ask": _asked(question, texts),
        "background": service.background,
        "enlarge": study.items.enlarge,
        "low": texts.get("low") or question.low or texts["scale_low"],
        "high": texts.get("high") or question.high or texts["scale_high"],
        "pick": question.pick,
        "scale": question.scale,
        "classes": question.classes,
        "skip": question.skip,
        "cantTell": question.cant_tell,
        "practice": len(study.practice.questions),
        "breakEvery": study.break_every,
        "timing": on_page(study.timing),
        "pages": [name for name in ("consent", "instructions", "done") if _has_page(study, name, language)],
        "survey": [field.model_dump() for field in study.survey.fields],
        "parameters": (REHEARSAL, *study.raters.parameter),  # what makes another rater of the same browser
        "full": service.is_full(),
        "texts": texts,
    }


def _has_page(study: Study, name: str, language: str) -> bool:
    return study.page(name) is not None or (name == "instructions" and bool(terms_in_words(study, language)))


def _asked(question: Question, texts: Mapping[str, str]) -> str:
    """What is asked, in the study's own words or in ours."""
    asked = texts.get("question") or question.text or texts[form_of(question.form).ask_as(question)]
    ends = {end: texts.get(end) or getattr(question, end) or "" for end in ("low", "high")}
    known = {"pick": str(question.pick), **ends}
    return re.sub(r"{(\w+)}", lambda place: known.get(place[1], place[0]), asked)


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
    return HTMLResponse(templates("similitude.study.web").get_template(name).render(**values), headers=_POLICY)


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
    """The script of a form that another package brought; None of ours, which stand beside the other scripts."""
    form = PAGES.get(path.stem) if path.parent.as_posix() == "forms" and path.suffix == ".js" else None
    return None if form is None else form.script
