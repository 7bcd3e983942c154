"""Comparisons: pair `near` was judged more alike than pair `far`, over the answers that said so."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from similitude.display.words import counted
from similitude.feedback import forms, splitting
from similitude.feedback.answers import Answers
from similitude.feedback.cards import comparisons_card
from similitude.feedback.checks import check_pairs, check_shown, check_weight, head_first, same_items
from similitude.feedback.columns import join, take
from similitude.feedback.constructors import Constructors
from similitude.feedback.items import Names, check_names, encode_items, find_item
from similitude.types import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

By = Literal["answer", "rater", "item"]


class PartialAnswerWarning(UserWarning):
    """A slice holds some comparisons of an answer and leaves others: a split there leaks.

    Examples
    --------
    >>> import warnings, similitude as sm
    >>> c = sm.Comparisons.from_odd_one_out([("cat", "dog", "bus")])  # one answer, two comparisons
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", sm.PartialAnswerWarning)
    ...     len(c), len(c[:1])
    (2, 1)
    """


@dataclass(frozen=True, eq=False, repr=False)
class Removed:
    """What a step of cleaning took away.

    Attributes
    ----------
    step : name of the step
    why : the reason, in words
    comparisons : the comparisons that are gone, with the weight they had
    weight : total weight lost, comparisons that stayed with less weight included
    cleans : whether answers went for what they say, so that a score on the rest is too good; leaving out raters or
        items does not
    """

    step: str
    why: str
    comparisons: Comparisons
    weight: float
    cleans: bool = True

    def __repr__(self) -> str:
        return f"<{self.step}: {self.why}; weight lost {self.weight:,.6g}>"


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Constructors):
    """Relative judgments: in row t, pair `near[t]` was judged more alike than pair `far[t]`.

    Build one with a `from_...` constructor or `similitude.read_comparisons`; they check what they are given.
    Values are frozen: slicing and joining give new ones. `==` asks whether two are one object;
    whether they say the same, `a.to_frame().equals(b.to_frame())` tells.

    Attributes
    ----------
    near, far : (m, 2) item indices; where the pairs share an item, it stands first in both (the head)
    weight : (m,) how much each comparison counts
    answer : (m,) the row of `answers` that each comparison comes from
    answers : what people said, "can't tell" included
    n_items : number of items
    names : the items' names, or None where items are known by position
    removed : what was taken away, step by step; empty for feedback as it was given

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([("cat", "dog", "car"), ("bus", "car", "dog")])
    >>> len(c), c.names
    (2, ('bus', 'car', 'cat', 'dog'))
    """

    near: Ints
    far: Ints
    weight: Floats
    answer: Ints
    answers: Answers
    n_items: int
    names: Names | None = None
    removed: tuple[Removed, ...] = ()

    def __post_init__(self) -> None:
        for column in (self.near, self.far, self.weight, self.answer):
            column.flags.writeable = False

    @classmethod
    def from_answers(
        cls,
        answers: Answers,
        *,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
        weight: npt.ArrayLike | None = None,
        edges: tuple[Array, Array, Array] | None = None,
    ) -> Comparisons:
        """Derive comparisons from answers, each by its form; the pieces of one rater are gathered into one answer.

        Parameters
        ----------
        answers : the answers
        names, n_items : the items; by default as many as the largest index shown requires
        weight : one number for all answers, or one per answer
        edges : (near, far, answer) where the caller derived them (a sample, say) instead of all there are
        """
        known = check_names(names)
        shown = answers.shown.values
        count = len(known) if known is not None else n_items or (int(shown.max()) + 1 if shown.size else 0)
        check_shown(shown, count)
        per_answer = check_weight(weight, len(answers))
        if edges is None:
            answers, per_answer, edges = forms.compare(answers, per_answer)
        near, far, answer = edges
        near, far = head_first(near, far)
        check_pairs(near, far)
        weights = take(per_answer, answer) if len(answers) else per_answer
        return cls(near, far, weights, answer, answers, count, known)

    def __len__(self) -> int:
        return len(self.near)

    def __sizeof__(self) -> int:
        """Bytes of the columns: joblib sends what is large once to the workers of a cluster, not with every task."""
        columns = (self.near, self.far, self.answer, self.answers.shown.values)
        return object.__sizeof__(self) + sum(column.nbytes for column in columns)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of comparisons, 4)."""
        return len(self), 4

    @property
    def cleaned(self) -> bool:
        """Whether contradictions were taken out: then no score on what is left is that of held-out answers."""
        return any(step.cleans for step in self.removed)

    @property
    def n_answers(self) -> int:
        """Number of answers, "can't tell" included."""
        return len(self.answers)

    @property
    def quadruplets(self) -> Ints:
        """(m, 4) rows `(i, j, k, l)`: pair i, j is more alike than pair k, l."""
        return np.concatenate([self.near, self.far], axis=1)

    @property
    def is_triplet(self) -> Bools:
        """Which comparisons have a head: one item in both pairs."""
        return self.near[:, 0] == self.far[:, 0]

    @property
    def triplets(self) -> Ints:
        """(m, 3) rows `(head, near, far)`; an error where a comparison has no head."""
        if not self.is_triplet.all():
            row = int(np.flatnonzero(~self.is_triplet)[0])
            raise ValueError(
                f"triplets: comparison {row} has no head ({self._pair(self.near[row])} over "
                f"{self._pair(self.far[row])}); use quadruplets"
            )
        return np.column_stack([self.near, self.far[:, 1]])

    @property
    def items_compared(self) -> Ints:
        """Indices of the items that stand in at least one comparison."""
        present = np.zeros(self.n_items, bool)
        present[self.near] = True
        present[self.far] = True
        return np.flatnonzero(present).astype(np.int32)

    def index(self, item: str | int) -> int:
        """Return the index of an item given by name or position."""
        return find_item(item, self.names, self.n_items)

    def label(self, item: int) -> str:
        """Return what to call an item in a message: its name, or its position."""
        return self.names[item] if self.names is not None else str(item)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("copy: the rows are put together on demand, so expected None or True, found False")
        return np.asarray(self.quadruplets, dtype)

    def __getitem__(self, rows: Any) -> Comparisons:
        """Return some comparisons, with the answers that they come from (numpy's ways of indexing)."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        if isinstance(rows, tuple):
            raise IndexError("Comparisons are indexed by row alone")
        index = np.atleast_1d(np.arange(len(self))[rows])
        part = self.rows(index)
        self._warn_if_partial(part.answer)
        used = np.zeros(self.n_answers, bool)
        used[part.answer] = True
        answer = (np.cumsum(used) - 1)[part.answer].astype(np.int32)
        return replace(part, answers=self.answers.take(np.flatnonzero(used)), answer=answer)

    def rows(self, rows: Any) -> Comparisons:
        """Return some comparisons over the whole table of answers: those that lost all of theirs are still answers."""
        index = np.arange(len(self))[rows]
        return replace(
            self,
            near=self.near[index],
            far=self.far[index],
            weight=take(self.weight, index),
            answer=self.answer[index],
        )

    def _warn_if_partial(self, kept: Ints) -> None:
        before = np.bincount(self.answer, minlength=self.n_answers)
        if len(before) and before.max() > 1:
            after = np.bincount(kept, minlength=self.n_answers)
            if ((after > 0) & (after < before)).any():
                warnings.warn(
                    "this slice holds part of an answer: comparisons of one answer depend on each other, so "
                    "a split here leaks; use select(answers), split() or AnswerFold",
                    PartialAnswerWarning,
                    stacklevel=3,
                )

    def select(self, answers: npt.ArrayLike) -> Comparisons:
        """Return some answers (indices or a mask), with all their comparisons; "can't tell" is kept."""
        index = np.asarray(answers)
        chosen = np.arange(self.n_answers)[index if index.size else index.astype(np.intp)]
        position = np.full(self.n_answers, -1, np.int32)
        position[chosen] = np.arange(len(chosen))
        if (position >= 0).sum() < len(chosen):
            raise ValueError("answers: the same answer is selected twice; use weight to count an answer more than once")
        rows = np.flatnonzero(position[self.answer] >= 0)
        place = position[self.answer[rows]]
        if (np.diff(place) < 0).any():
            rows = rows[np.argsort(place, kind="stable")]
        part = self.rows(rows)
        return replace(part, answers=self.answers.take(chosen), answer=position[part.answer])

    def flip(self, wrong: npt.ArrayLike) -> Comparisons:
        """Return the comparisons with near and far exchanged where `wrong` is true."""
        exchange = np.asarray(wrong, bool)[:, None]
        return replace(self, near=np.where(exchange, self.far, self.near), far=np.where(exchange, self.near, self.far))

    def reweight(self, weight: npt.ArrayLike) -> Comparisons:
        """Return the comparisons with other weights: one number, or one per comparison."""
        return replace(self, weight=check_weight(weight, len(self)))

    def with_items(self, names: Sequence[str] | None = None, n_items: int | None = None) -> Comparisons:
        """Return the same comparisons over a larger set of items (by name) or with more positions."""
        if names is None:
            count = self.n_items if n_items is None else n_items
            needed = self.n_items if self.names is not None else int(self.answers.shown.values.max(initial=-1)) + 1
            if count < needed or (self.names is not None and count != needed):
                raise ValueError(f"n_items: {count} was given, but the feedback is about {needed} items; give names")
            return replace(self, n_items=count)
        known = check_names(names) or ()
        if self.names is None:
            if len(known) < self.n_items:
                raise ValueError(f"names: expected at least {self.n_items} names, found {len(known)}")
            return replace(self, names=known, n_items=len(known))
        table = encode_items(self.names, known)[0]
        return replace(
            self,
            near=table[self.near],
            far=table[self.far],
            answers=self.answers.renumber(table),
            names=known,
            n_items=len(known),
        )

    @staticmethod
    def concatenate(parts: Sequence[Comparisons]) -> Comparisons:
        """Join feedback about the same items: names are united, positions are kept."""
        parts = same_items(list(parts))
        offsets = np.cumsum([0] + [part.n_answers for part in parts])
        return Comparisons(
            np.concatenate([part.near for part in parts]),
            np.concatenate([part.far for part in parts]),
            join([part.weight for part in parts]),
            np.concatenate([part.answer + offset for part, offset in zip(parts, offsets, strict=False)]).astype(
                np.int32
            ),
            Answers.join([part.answers for part in parts]),
            parts[0].n_items,
            parts[0].names,
            tuple(step for part in parts for step in part.removed),
        )

    def groups(self, by: Literal["answer", "rater"]) -> Ints:
        """Return for each answer the group that must not be split: the answer itself, or its rater."""
        return splitting.groups(self, by)

    def hold_out_items(self, items: npt.ArrayLike) -> tuple[Array, Array]:
        """Return rows for training and for testing when `items` (indices) are new.

        Training: comparisons among the other items. Testing: comparisons that have one new item, which is the
        head where there is a head, the other two being in training (McFee & Lanckriet 2011).
        """
        return splitting.hold_out_items(self, items)

    def split(
        self, test_size: float = 0.2, by: By = "answer", random_state: int | np.random.Generator | None = None
    ) -> tuple[Comparisons, Comparisons]:
        """Split into training and test feedback, never inside an answer.

        Parameters
        ----------
        test_size : share of the answers, raters or items that is held out
        by : what is held out
        random_state : seed or generator
        """
        rng = np.random.default_rng(random_state)
        if by != "item":
            test = splitting.held_out_answers(self, test_size, by, rng)
            return self.select(~test), self.select(test)
        train, test = self.hold_out_items(splitting.draw(self.items_compared, test_size, rng))
        with warnings.catch_warnings():  # by design an answer may lie partly among the training items
            warnings.simplefilter("ignore", PartialAnswerWarning)
            return self[train], self[test]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per comparison, items by name where there are names."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for k, column in enumerate(("near_a", "near_b", "far_a", "far_b")):
            codes = self.quadruplets[:, k]
            columns[column] = codes if self.names is None else np.array(self.names, object)[codes]
        columns |= {"weight": np.array(self.weight), "answer": self.answer}
        if self.answers.rater.recorded:
            columns["rater"] = self.answers.rater.values[self.answer]
        columns["form"] = self.answers.form.values[self.answer]
        return pd.DataFrame(columns)

    def _pair(self, pair: Ints) -> str:
        return f"({self.label(pair[0])}, {self.label(pair[1])})"

    def __repr__(self) -> str:
        raters = len(self.answers.rater.labels)
        unsure = int(self.answers.cant_tell.sum())
        text = f"{counted(len(self), 'comparison')} from {counted(self.n_answers, 'answer')}"
        text += f" about {counted(self.n_items, 'item')}" + (f" by {counted(raters, 'rater')}" if raters else "")
        return f"<{text}{f', {unsure:,} could not tell' if unsure else ''}>"

    def _repr_html_(self) -> str:
        return comparisons_card(self)
