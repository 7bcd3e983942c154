"""Why a rater is worth a look, in words: from what the model process found, the raters' counts and how they left.

Nothing is computed here that the findings hold (`similitude.study.findings`, over `similitude.graph`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import median
from typing import Any

import sqlalchemy as sa

from similitude.display.words import counted
from similitude.study.entrance import APART, REHEARSAL
from similitude.study.leaving import WHY
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.rows import Row

_FEW_CATCHES = 2
_HASTY = 0.4  # of the typical time of an answer
_TIMED = 10  # answers below which a rater's typical time says nothing
_FEWEST = 3  # raters with that many, below which nobody can say who is the fast one
_SIDED = 0.001


def as_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Of how many answers of the study, and when, something was found; None where an earlier version found it."""
    return {"answers": found.get("learned"), "at": found.get("at")}


class Judgements:
    """What was found about the raters of a study.

    Parameters
    ----------
    study : as written in `study.toml`
    found : the findings of the model process, None where there are none yet

    Attributes
    ----------
    as_of : of how many answers, and when, they were found
    """

    def __init__(self, study: Study, found: Mapping[str, Any] | None) -> None:
        self.study = study
        self._known: dict[str, dict[str, Any]] = {rater["names"]: rater for rater in found["raters"]} if found else {}
        self.as_of = as_of(found or {})
        times = [rater["seconds"] for rater in self._known.values() if _is_timed(rater)]
        self._typical = float(median(times)) if len(times) >= _FEWEST else None

    @classmethod
    def read(cls, connection: sa.Connection, study: Study, study_id: int) -> Judgements:
        """Those of the latest findings."""
        table = schema.model
        text = connection.scalar(sa.select(table.c.findings).where(table.c.study_id == study_id))
        return cls(study, json.loads(text) if text else None)

    def of(self, code: str) -> dict[str, Any]:
        """What was found about a rater; empty where nothing was."""
        return self._known.get(code, {})

    def flags(self, row: Row, judged: Mapping[str, Any]) -> list[str]:
        """What stands out about a rater, a phrase each, with how many answers say so."""
        flags = [WHY[row["withheld"]]] if row["withheld"] in WHY else []
        if row["origin"] in APART:
            return ["rehearsal: left out"] if row["origin"] == REHEARSAL else [*flags, "pilot: kept apart"]
        if row["catches"] >= _FEW_CATCHES and row["catches_passed"] < self.study.catch.pass_share * row["catches"]:
            flags.append(f"fails catch trials: {row['catches_passed']} of {row['catches']} right")
        if not judged:
            return flags
        of = f"(of {counted(judged['answers'], 'answer')})"
        if judged.get("odd"):
            flags.append(f"{judged['verdict']}: {judged['note']} {of}")
        if self._typical is not None and _is_timed(judged) and judged["seconds"] < _HASTY * self._typical:
            flags.append(
                f"much faster than the others: {judged['seconds']:.1f} s an answer, they {self._typical:.1f} s {of}"
            )
        if judged.get("side_p_value") is not None and judged["side_p_value"] < _SIDED:
            flags.append(f"prefers one side of the screen: {judged['side']:.0%} there {of}")
        return flags


def _is_timed(judged: Mapping[str, Any]) -> bool:
    return judged["seconds"] is not None and judged["answers"] >= _TIMED
