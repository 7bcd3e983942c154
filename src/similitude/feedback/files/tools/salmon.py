"""Salmon: head, winner and loser by number, and in later versions their file names beside them.

The columns are those of the "responses" download: `head, left, right, winner, loser` as numbers of targets, each with
`..._filename` or `..._object`, then `puid`, `response_time` (seconds), `alg_ident` and others (Sievert, Nowak &
Rogers 2023, JOSS 8(84):4517).
"""

from __future__ import annotations

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export, Tool, renamed

_ROLES = ("head", "winner", "loser")


def _read(source: FileSource) -> Export:
    table = source.table
    assert table is not None
    for ending in ("_filename", "_object"):
        named = {f"{role}{ending}": role for role in _ROLES}
        if set(named) <= set(table.columns):
            numbers = {role: f"{role}_number" for role in _ROLES}
            return Export(renamed(table, numbers | named))
    return Export(table, from_zero=True)


SALMON = Tool("Salmon", lambda source: source.has(*_ROLES, "puid"), _read)
