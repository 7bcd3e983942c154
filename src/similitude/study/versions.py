"""A study as it is served now, beside the versions that questions were handed out under before.

`study.toml` and the items may change between two runs while raters hold questions. A question keeps its version: an
answer to it is read as that version meant it, however late it comes. Nobody is shown it again where it no longer fits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from similitude.study.asking import form_of, key_of, meaning
from similitude.study.designs import StudyPart, in_order
from similitude.study.refusal import Refused, withdrawn_question
from similitude.study.sections import Known, Question
from similitude.study.settings import Study
from similitude.study.store import schema


def version_of(study: Study, names: Sequence[str]) -> str:
    """A digest of the settings and of the items' names."""
    text = json.dumps([study.version, list(names)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Served:
    """A study with its number in the database, its version and its items' names (`present` holds the same as a set)."""

    study: Study
    study_id: int
    version: str
    names: Sequence[str]
    _others: dict[str, Study] = field(default_factory=dict)
    _known: dict[str, dict[tuple[str, int], Known]] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    _rounds: dict[tuple[str | None, str | None], tuple[StudyPart, ...]] = field(default_factory=dict)
    _asked_about: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, study_id: int, version: str, names: Sequence[str]) -> Served:
        """Make one."""
        return cls(study, study_id, version, list(names), present=frozenset(names))

    def at(self, connection: sa.Connection, version: str) -> Study:
        """The study as it was in a version; refused where that was written by a similitude of other settings."""
        if version == self.version:
            return self.study
        if version not in self._others:
            table = schema.study_version
            query = sa.select(table.c.settings).where(table.c.study_id == self.study_id, table.c.version == version)
            try:
                written: dict[str, Any] = json.loads(connection.scalar(query) or "{}")
                self._others[version] = Study(**written, folder=self.study.folder)
            except (ValidationError, TypeError):
                raise withdrawn_question() from None
        return self._others[version]

    def still_asked(self, connection: sa.Connection, lease: Mapping[str, Any]) -> bool:
        """Whether a question can be shown as the study is now: the same form, items that are there."""
        if lease["version"] == self.version:
            return True
        now = self.study.part(lease["block"])
        try:
            then = self.question_of(connection, lease)
        except Refused:
            return False
        same = now is not None and meaning(then) == meaning(now.question)
        there = self.present.issuperset(json.loads(lease["shown"]))
        return same and there and (lease["kind"] == "question" or self.correct(connection, lease, now=True) is not None)

    def correct(self, connection: sa.Connection, lease: Mapping[str, Any], now: bool = False) -> list[float] | None:
        """The right response to a question of practice or a catch trial, as its items stand on the screen."""
        version = self.version if now else lease["version"]
        study = self.at(connection, version)
        if version not in self._known:
            self._known[version] = known_questions(study)
        shown, part = json.loads(lease["shown"]), study.part(lease["block"])
        if part is None:
            return None
        form = part.question.form
        known = self._known[version].get((lease["kind"], key_of(form, shown, part.block)))
        return None if known is None else form_of(form).rearranged(known.correct, known.shown, shown)

    def question_of(self, connection: sa.Connection, lease: Mapping[str, Any]) -> Question:
        """What was asked, as the version of a lease meant it; refused where that cannot be told any more."""
        part = self.at(connection, lease["version"]).part(lease["block"])
        if part is None:
            raise withdrawn_question()
        return part.question

    def study_of(self, rater: Mapping[str, Any]) -> Study:
        """The study as a rater sees it."""
        return self.study.under(rater["condition"])

    def round_of(self, rater: Mapping[str, Any]) -> tuple[StudyPart, ...]:
        """What a rater is asked, part after part in the rater's order."""
        which = rater["condition"], rater["blocks"]
        if which not in self._rounds:
            blocks = json.loads(rater["blocks"]) if rater["blocks"] else None
            self._rounds[which] = in_order(self.study_of(rater).parts, blocks)
        return self._rounds[which]

    def names_of(self, part: StudyPart) -> list[str]:
        """The items that a part asks about."""
        if part.pool not in self._asked_about:
            self._asked_about[part.pool] = part.items(self.names)
        return self._asked_about[part.pool]

    def keys_of_known(self) -> set[int]:
        """The questions whose answers are known: they are asked as such, never among the others."""
        if self.version not in self._known:
            self._known[self.version] = known_questions(self.study)
        return {key for _, key in self._known[self.version]}


def known_questions(study: Study) -> dict[tuple[str, int], Known]:
    """Questions of practice and catch trials by kind and key."""
    return {
        (kind, key_of(part.question.form, one.shown, part.block)): one
        for part in study.parts
        for kind, some in (("practice", part.practice), ("catch", part.catch))
        for one in some
    }
