"""Why a rater is worth a look, in words: from what the model process found, the raters' counts and how they left.

Nothing is computed here that the findings hold (`similitude.study.findings`, over `similitude.graph`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from similitude.study.entrance import APART, REHEARSAL
from similitude.study.leaving import WHY
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.rows import Row

_FEW_CATCHES = 2
_HASTY = 0.4  # of the typical time of an answer
_SIDED = 0.001


class Judgements:
    """What was found about the raters of a study.

    Parameters
    ----------
    study : as written in `study.toml`
    found : the findings of the model process, None where there are none yet
    """

    def __init__(self, study: Study, found: Mapping[str, Any] | None) -> None:
        self.study = study
        self._known: dict[str, dict[str, Any]] = {rater["names"]: rater for rater in found["raters"]} if found else {}
        times = sorted(rater["seconds"] for rater in self._known.values() if rater["seconds"] is not None)
        self._typical = times[len(times) // 2] if times else None

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
        """What stands out about a rater, a phrase each."""
        flags = [WHY[row["withheld"]]] if row["withheld"] in WHY else []
        if row["origin"] in APART:
            return ["rehearsal: left out"] if row["origin"] == REHEARSAL else [*flags, "pilot: kept apart"]
        if row["catches"] >= _FEW_CATCHES and row["catches_passed"] < self.study.catch.pass_share * row["catches"]:
            flags.append("fails catch trials")
        if judged.get("odd"):
            flags.append(f"{judged['verdict']}: {judged['note']}")
        seconds = judged.get("seconds")
        if self._typical is not None and seconds is not None and seconds < _HASTY * self._typical:
            flags.append("much faster than the others")
        if judged.get("side_p_value") is not None and judged["side_p_value"] < _SIDED:
            flags.append("prefers one side of the screen")
        return flags
