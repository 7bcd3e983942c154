"""Whole answers in shards: of one form and size each, as matrices, so that a pass over them reads no text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.forms.base import Edges
from similitude.feedback.items import Names
from similitude.types import Array, Floats

KEY = b"similitude"  # of what a Parquet file says about its answers


@dataclass(frozen=True)
class AnswerKind:
    """What answers of one form and size have in common.

    Attributes
    ----------
    form : name of the form
    shown : how many items were shown
    picked : how many were picked, or would have been
    tied : whether the answers are "can't tell"
    """

    form: str
    shown: int
    picked: int
    tied: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a file: the items shown, and the places that were said."""
        said = 0 if self.tied else self.picked
        return (*(f"shown_{k}" for k in range(self.shown)), *(f"said_{k}" for k in range(said)))

    @property
    def comparisons_each(self) -> int:
        """How many comparisons follow from one answer."""
        if self.tied:
            return 0
        one = Rows.uniform(np.zeros((1, self.shown), np.int32)), Rows.uniform(np.zeros((1, self.picked), np.int32))
        return int(FORMS[self.form].count(*one)[0])

    def as_metadata(self) -> dict[bytes, bytes]:
        """Return what a Parquet file says about its answers."""
        return {KEY: json.dumps(vars(self)).encode()}

    @classmethod
    def of_metadata(cls, metadata: Mapping[bytes, bytes] | None, file: str) -> AnswerKind | None:
        """Read it; None where a file holds comparisons."""
        if not metadata or KEY not in metadata:
            return None
        try:
            found = cls(**json.loads(metadata[KEY]))
        except (ValueError, TypeError):
            raise ValueError(f"{file}: what the file says about its answers is cut off or not ours") from None
        if found.form not in FORMS:
            raise ValueError(f"{file}: this similitude knows no form {found.form!r}; update it")
        return found


@dataclass(frozen=True, eq=False)
class WholeAnswers:
    """Answers of one kind.

    Attributes
    ----------
    kind : their form and size
    shown : (a, w) items
    said : (a, k) places that were picked, k = 0 for "can't tell"
    weight : (a,) how much each counts
    """

    kind: AnswerKind
    shown: Array
    said: Array
    weight: Floats

    def __len__(self) -> int:
        return len(self.shown)

    def take(self, rows: Array) -> WholeAnswers:
        """Return some of them."""
        return replace(self, shown=self.shown[rows], said=self.said[rows], weight=self.weight[rows])

    def edges(self) -> Edges:
        """Return the comparisons that follow, each with the row of its answer."""
        if self.kind.tied:
            none = np.zeros((0, 2), np.int32)
            return none, none, np.zeros(0, int)
        return FORMS[self.kind.form].comparisons(self.shown, self.said)

    def choices(self) -> list[Alternatives]:
        """Return what was chosen, and from what."""
        form = FORMS[self.kind.form]
        parts = form.undecided(self.shown, self.kind.picked) if self.kind.tied else form.chosen(self.shown, self.said)
        return [replace(part, weight=self.weight[part.row]) for part in parts]

    def as_comparisons(self, names: Names | None, n_items: int) -> Comparisons:
        """Return them in memory, as any others."""
        answers = Answers.of(self.kind.form, Rows.uniform(self.shown), Rows.uniform(self.said.astype(float)))
        return Comparisons.from_answers(answers, names=names, n_items=n_items, weight=self.weight)


def whole_answers(comparisons: Comparisons, picked: Sequence[tuple[AnswerKind, Array]]) -> list[WholeAnswers]:
    """Return answers by kind, given the rows of each."""
    c = comparisons
    weight = np.ones(c.n_answers)
    weight[c.answer] = c.weight
    return [_of_kind(c.answers, kind, rows, weight) for kind, rows in picked]


def _of_kind(answers: Any, kind: AnswerKind, rows: Array, weight: Floats) -> WholeAnswers:
    said = np.zeros((len(rows), 0), np.int32) if kind.tied else answers.response.matrix(rows).astype(np.int32)
    return WholeAnswers(kind, answers.shown.matrix(rows), said, weight[rows])
