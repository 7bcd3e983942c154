"""What every page of the admins needs, in one table, asked in one place before any of them runs.

Of a path that is not in the table an owner is asked; `tests/study/test_roles.py` fails until it is.
"""

from __future__ import annotations

from fastapi import Request

from similitude.study.refusal import Refused
from similitude.study.roles import EDITOR, OWNER, VIEWER, includes
from similitude.study.site import Site
from similitude.study.web.login import session_of

ANYBODY = "anybody"  # who is not logged in, too
KNOWN = "known"  # whoever is logged in, for what is the own
SERVER = "server"  # an owner of all studies

NEEDS: dict[tuple[str, str], str] = {
    ("GET", "/admin"): KNOWN,
    ("GET", "/admin/"): ANYBODY,
    ("GET", "/admin/-/login"): ANYBODY,
    ("POST", "/admin/-/login"): ANYBODY,
    ("POST", "/admin/-/logout"): KNOWN,
    ("GET", "/admin/-/first/{token}"): ANYBODY,
    ("POST", "/admin/-/first/{token}"): ANYBODY,
    ("POST", "/admin/-/join/{token}"): KNOWN,
    ("GET", "/admin/-/plotly.js"): ANYBODY,
    ("GET", "/admin/-/password"): KNOWN,
    ("POST", "/admin/-/password"): KNOWN,
    ("GET", "/admin/-/log"): KNOWN,  # who sees the lines of the studies that he or she runs
    ("GET", "/admin/-/new"): SERVER,
    ("POST", "/admin/-/new"): SERVER,
    ("GET", "/admin/{study}"): VIEWER,
    ("GET", "/admin/{study}/items"): VIEWER,
    ("GET", "/admin/{study}/state"): VIEWER,
    ("GET", "/admin/{study}/events"): VIEWER,
    ("GET", "/admin/{study}/export"): VIEWER,
    ("POST", "/admin/{study}/pause"): EDITOR,
    ("POST", "/admin/{study}/resume"): EDITOR,
    ("GET", "/admin/{study}/report"): VIEWER,
    ("GET", "/admin/{study}/report/state"): VIEWER,
    ("GET", "/admin/{study}/report/{kind}.zip"): VIEWER,
    ("GET", "/admin/{study}/report/{kind}/{path:path}"): VIEWER,
    ("POST", "/admin/{study}/report"): EDITOR,
    ("GET", "/admin/{study}/share"): EDITOR,
    ("POST", "/admin/{study}/share"): EDITOR,
    ("POST", "/admin/{study}/share/revoke"): EDITOR,
    ("GET", "/admin/{study}/design"): EDITOR,
    ("POST", "/admin/{study}/design"): EDITOR,
    ("GET", "/admin/{study}/design/now"): EDITOR,
    ("GET", "/admin/{study}/design/text"): EDITOR,
    ("POST", "/admin/{study}/preview"): EDITOR,
    ("GET", "/admin/{study}/design/items"): EDITOR,
    ("POST", "/admin/{study}/design/items"): EDITOR,
    ("GET", "/admin/{study}/design/items/file/{name:any_name}"): EDITOR,
    ("GET", "/admin/{study}/design/upload/{uid}"): EDITOR,
    ("POST", "/admin/{study}/design/upload/{uid}"): EDITOR,
    ("GET", "/admin/{study}/design/pages"): EDITOR,
    ("POST", "/admin/{study}/design/pages"): EDITOR,
    ("GET", "/admin/{study}/pages/{name}"): EDITOR,
    ("GET", "/admin/{study}/versions"): EDITOR,
    ("GET", "/admin/{study}/versions.json"): EDITOR,
    ("GET", "/admin/{study}/versions/{number}"): EDITOR,
    ("POST", "/admin/{study}/state"): EDITOR,
    ("POST", "/admin/{study}/restore"): EDITOR,
    ("GET", "/admin/{study}/raters"): EDITOR,  # which say who people are
    ("POST", "/admin/{study}/raters"): EDITOR,
    ("GET", "/admin/{study}/raters.csv"): EDITOR,
    ("GET", "/admin/{study}/rater"): EDITOR,
    ("POST", "/admin/{study}/rater"): EDITOR,
    ("GET", "/admin/{study}/recruiting"): EDITOR,
    ("POST", "/admin/{study}/recruiting"): EDITOR,
    ("GET", "/admin/{study}/recruiting/payable.txt"): EDITOR,
    ("POST", "/admin/{study}/recruiting/account"): OWNER,
    ("GET", "/admin/{study}/tokens"): OWNER,
    ("POST", "/admin/{study}/tokens"): OWNER,
    ("POST", "/admin/{study}/tokens/revoke"): OWNER,
    ("GET", "/admin/{study}/webhooks"): OWNER,
    ("POST", "/admin/{study}/webhooks"): OWNER,
    ("POST", "/admin/{study}/webhooks/end"): OWNER,
    ("POST", "/admin/{study}/webhooks/test"): OWNER,
    ("GET", "/admin/{study}/members"): OWNER,
    ("POST", "/admin/{study}/members"): OWNER,
    ("POST", "/admin/{study}/members/change"): OWNER,
    ("POST", "/admin/{study}/members/withdraw"): OWNER,
}


async def allowed(request: Request) -> None:
    """Refuse who may not do what is asked; LoginNeeded where it is nobody known."""
    need = NEEDS.get((request.method, request.scope["route"].path), OWNER)
    if need == ANYBODY:
        return
    session = await session_of(request)
    if need == SERVER or (need != KNOWN and "study" not in request.path_params):
        if not includes(session.everywhere, OWNER):
            raise Refused(403, "role", "Only who owns all studies of this server may do that.")
    elif need != KNOWN:
        site: Site = request.app.state.site
        kept = site.kept.get(request.path_params["study"])  # served, or a draft that cannot be
        role = session.everywhere if kept is None else session.role_in(kept.study_id)
        if role is None:  # as where there is no such study: a stranger need not know of it
            raise Refused(404, "no_study", "There is no such study here.")
        if not includes(role, need):
            raise Refused(403, "role", f"You are {role} of this study; only an {need} may do that.")
        request.state.role = role
