"""The admin's pages from their templates; everything that is put into them is escaped."""

from __future__ import annotations

from functools import cache

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _templates() -> Environment:
    loader = PackageLoader("similitude.study.web", "templates/admin")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """A page; it is not kept by the browser, since it shows what only admins see."""
    given = {"problem": None, "name": None, "session": None, **values}
    text = _templates().get_template(template).render(given)
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})
