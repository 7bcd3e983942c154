"""How far the conditions and blocks of a study are, for who watches it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from similitude.study.counting import answer_counts, changes
from similitude.study.designs import BEFORE_CONDITIONS
from similitude.study.service import StudyService
from similitude.study.store import schema


class DesignFigures:
    """Answers by condition and block, kept up with what was added; nothing where a study has neither."""

    def __init__(self) -> None:
        self._last = self._decided = 0
        self._answers: Counter[tuple[str, str]] = Counter()

    def look(self, connection: sa.Connection, service: StudyService) -> dict[str, Any]:
        """The conditions with their places, raters and answers, and the answers of each block."""
        study = service.study
        if not study.block and not study.condition:
            return {"conditions": [], "blocks": []}
        self._count(connection, service.study_id)
        figures = service.entrance.assigning.figures(connection)
        return {
            "conditions": [{**asdict(one), "answers": self._sum(condition=one.name)} for one in figures],
            "blocks": [{"name": block.name, "answers": self._sum(block=block.name)} for block in study.block],
        }

    def _count(self, connection: sa.Connection, study_id: int) -> None:
        answer, rater = schema.answer, schema.rater
        if (decided := changes(connection, study_id)) != self._decided:  # others count now: begin anew
            self._last, self._decided = 0, decided
            self._answers.clear()
        here = answer.c.study_id == study_id, answer.c.id > self._last, answer_counts()
        newest = sa.func.max(answer.c.id)
        query = sa.select(rater.c.condition, answer.c.block, sa.func.count(), newest).where(*here)
        query = query.join(rater, rater.c.id == answer.c.rater_id).group_by(rater.c.condition, answer.c.block)
        for condition, block, count, last in connection.execute(query).all():
            self._answers[condition or BEFORE_CONDITIONS, block] += count
            self._last = max(self._last, last)

    def _sum(self, condition: str | None = None, block: str | None = None) -> int:
        return sum(
            count
            for (under, within), count in self._answers.items()
            if condition in (None, under) and block in (None, within)
        )
