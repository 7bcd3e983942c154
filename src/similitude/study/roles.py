"""Who may do what to a study: owners everything, editors run it, viewers look."""

from __future__ import annotations

VIEWER, EDITOR, OWNER = "viewer", "editor", "owner"
ROLES = {
    VIEWER: "sees the figures, the report and the answers, without who the raters are",
    EDITOR: "runs the study as well: pauses and changes it, deals with raters, shares it, makes reports",
    OWNER: "decides as well who else may do what, and which programs: members, tokens, webhooks",
}


def includes(role: str | None, needed: str) -> bool:
    """Whether a role may do what another one may; nobody's may nothing."""
    order = list(ROLES)
    return role is not None and order.index(role) >= order.index(needed)


def highest(*roles: str | None) -> str | None:
    """The role that may do most; None of none."""
    order = list(ROLES)
    return max((role for role in roles if role is not None), key=order.index, default=None)
