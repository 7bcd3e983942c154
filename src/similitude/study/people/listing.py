"""The raters of a study as a list: filtered, sorted, page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from similitude.study.counting import LEFT_OUT
from similitude.study.entrance import APART, PILOT, REHEARSAL
from similitude.study.leaving import WHY
from similitude.study.people.flags import Judgements
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.rows import Row, dicts

PER_PAGE = 100
Some = TypeVar("Some")
_FIGURES = ("agreement", "low", "high", "self_consistency", "by_model", "seconds", "cant_tell")


@dataclass(frozen=True)
class RaterProfile:
    """A rater in the list.

    Attributes
    ----------
    row : the rater's row in the database
    judged : what was found about the rater; of who is left out, what was found when that was decided
    flags : what stands out, a phrase each
    state : how far the rater came: new, answering, finished, erased or rehearsal
    reason : why the rater is left out; None for who counts
    """

    row: Row
    judged: Mapping[str, Any]
    flags: tuple[str, ...]
    state: str
    reason: str | None

    @property
    def code(self) -> str:
        """The rater's name in exports."""
        return str(self.row["code"])

    @property
    def is_left_out(self) -> bool:
        """Whether the rater's answers do not count by a decision."""
        return self.row["left_out"] is not None

    @property
    def counts(self) -> bool:
        """Whether the rater's answers count."""
        return not self.is_left_out and self.row["origin"] not in APART

    def as_json(self) -> dict[str, Any]:
        """What programs read of it; who the person is, is not among it."""
        same = ("code", "origin", "joined", "finished", "answered", "catches", "catches_passed", "withheld", "left_out")
        figures = {name: self.judged.get(name) for name in (*_FIGURES, "verdict")}
        told = {"state": self.state, "flags": list(self.flags), "reason": self.reason}
        return {**{name: self.row[name] for name in same}, **figures, **told}


def _passed(row: Row) -> float | None:
    return row["catches_passed"] / row["catches"] if row["catches"] else None


FILTERS: dict[str, tuple[str, Callable[[RaterProfile], bool]]] = {
    "all": ("all", lambda _: True),
    "flagged": ("worth a look", lambda one: bool(one.flags) and one.counts),
    "finished": ("finished", lambda one: one.state == "finished"),
    "unfinished": ("not finished", lambda one: one.state in ("new", "answering")),
    "left_out": ("left out", lambda one: one.is_left_out),
    "counts": ("counting", lambda one: one.counts),
    "pilot": ("the pilot", lambda one: one.row["origin"] == PILOT),
    "rehearsal": ("rehearsals", lambda one: one.state == REHEARSAL),
}
SORTS: dict[str, tuple[str, Callable[[RaterProfile], Any]]] = {
    "joined": ("Joined", lambda one: one.row["joined"]),
    "code": ("Rater", lambda one: one.code),
    "flags": ("Worth a look", lambda one: len(one.flags)),
    "answered": ("Answers", lambda one: one.row["answered"]),
    "catches": ("Catch trials", lambda one: _passed(one.row)),
    "agreement": ("Agreement", lambda one: one.judged.get("agreement")),
    "seconds": ("Seconds", lambda one: one.judged.get("seconds")),
    "state": ("State", lambda one: one.state),
}  # fmt: skip


@dataclass(frozen=True)
class Sifting:
    """What of the list is wanted: a filter, text that code or identity hold, a sort (`-` before it: downwards)."""

    only: str = "all"
    search: str = ""
    sort: str = "-joined"

    def __post_init__(self) -> None:
        if self.only not in FILTERS:
            raise ValueError(f"only: expected one of {', '.join(FILTERS)}, found {self.only[:50]!r}")
        if self.sort.removeprefix("-") not in SORTS:
            raise ValueError(f"sort: expected one of {', '.join(SORTS)}, found {self.sort[:50]!r}")

    def of(self, raters: Sequence[RaterProfile]) -> list[RaterProfile]:
        """Those that are wanted, in order; what is not known stands last."""
        keeps, text = FILTERS[self.only][1], self.search.strip().casefold()
        found = [one for one in raters if keeps(one) and (not text or text in _searched(one))]
        key, down = SORTS[self.sort.removeprefix("-")][1], self.sort.startswith("-")
        known = sorted((one for one in found if key(one) is not None), key=key, reverse=down)
        return [*known, *(one for one in found if key(one) is None)]


def page_of(some: Sequence[Some], page: int, size: int = PER_PAGE) -> tuple[Sequence[Some], int, int]:
    """What stands on a page of a list, the number of the page (the nearest that there is), and of all pages."""
    pages = max(1, -(-len(some) // size))
    page = min(max(page, 1), pages)
    return some[(page - 1) * size : page * size], page, pages


def _searched(one: RaterProfile) -> str:
    return f"{one.code}\n{one.row['identity'] or ''}".casefold()


def read_raters(connection: sa.Connection, study: Study, study_id: int, code: str | None = None) -> list[RaterProfile]:
    """All raters of a study, the first who came first; or the one of a code."""
    rater = schema.rater
    query = sa.select(rater).where(rater.c.study_id == study_id).order_by(rater.c.id)
    query = query if code is None else query.where(rater.c.code == code)
    judgements, decided = Judgements.read(connection, study, study_id), _decided(connection, study_id)
    raters = []
    for row in dicts(connection.execute(query)):
        reason, then = decided.get(row["id"], (None, {})) if row["left_out"] is not None else (None, {})
        judged = judgements.of(row["code"]) or then
        flags = tuple(judgements.flags(row, judged))
        raters.append(RaterProfile(row, judged, flags, state_of(row), reason))
    return raters


def _decided(connection: sa.Connection, study_id: int) -> dict[int, tuple[str, dict[str, Any]]]:
    """Why raters were left out, and how they were judged then; the latest decision of each."""
    table = schema.remark
    query = sa.select(table.c.rater_id, table.c.text, table.c.found).order_by(table.c.id)
    rows = connection.execute(query.where(table.c.study_id == study_id, table.c.what == LEFT_OUT))
    return {of: (text, json.loads(found) if found else {}) for of, text, found in rows}


def state_of(row: Mapping[str, Any]) -> str:
    """How far a rater came, in a word."""
    if row["erased"] is not None:
        return "erased"
    if row["origin"] == REHEARSAL:
        return REHEARSAL
    if row["finished"] is not None:
        return "finished"
    return "answering" if row["answered"] else "new"


def completion(study: Study, row: Mapping[str, Any]) -> str:
    """What became of the completion code, in words."""
    if row["withheld"] in WHY:
        return WHY[row["withheld"]]
    if row["finished"] is None:
        length = study.under(row["condition"]).length
        done = row["answered"] >= length
        return "all answered, but not sent off" if done else f"not finished: {row['answered']} of {length} answers"
    paid = study.completion.code is not None or study.completion.redirect is not None
    return "finished, and has the completion code" if paid else "finished"
