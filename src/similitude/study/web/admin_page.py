"""The admin's pages from their templates; everything that is put into them is escaped."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from similitude.study.web.pages import templates


def render(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """A page; it is not kept by the browser, since it shows what only admins see."""
    given = {"problem": None, "name": None, "session": None, **values}
    text = templates().get_template(f"admin/{template}").render(given)
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})
