"""Questions of every form from a score of comparisons, and questions at random."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from similitude.active.asked import Asked
from similitude.feedback.forms import picking_forms
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.forms.base import distinct
from similitude.types import Array, Floats, Ints

_DRAWN = 2000
_TOP = 300
_GROWN = 200  # items with which a grid is tried at each step
_PATIENCE = 50


class Scorer(Protocol):
    """What the answer to a comparison is worth."""

    def of(self, near: Array, far: Array) -> Floats:
        """Score of each comparison."""

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""

    def learn(self, near: Array, far: Array) -> None:
        """Count comparisons as answered."""


@runtime_checkable
class ChoiceScorer(Scorer, Protocol):
    """What a whole answer is worth, too."""

    def of_choices(self, choices: Alternatives) -> Floats:
        """Score of each choice among alternatives."""

    def learn_choices(self, choices: Alternatives) -> None:
        """Count choices as made."""


class ScoredQuestions:
    """The best-scored question of a head, in any form.

    A question whose answer is one choice (an odd one out, a pick from a grid) is worth what that answer tells, where
    the scorer knows (`of_choices`); any other the mean score of the comparisons that its answer may settle. Triplets
    are searched exactly (all pairs of the head). For an odd-one-out the best pairs of the head are looked at again as
    threesomes; a grid grows from the best pair by the item with which it scores best; questions of other forms are
    drawn, and the best is taken. Which of these, the form says (`search`).

    Rankings are scored by their comparisons: to choose tuples to be ranked by their mutual information is a rule on
    which others have filed a patent.
    """

    def __init__(
        self,
        scorer: Scorer,
        asked: Asked,
        form: str,
        width: int,
        candidates: int | None,
        pool: Ints | None,
        rng: np.random.Generator,
        n_chosen: int | None = None,
    ) -> None:
        self.scorer, self.asked, self.form, self.width = scorer, asked, picking_forms()[form], width
        self.picks = self.form.picks(self.form.arrangement.n_alternatives(width), n_chosen)
        self.whole = scorer if self.picks is not None and isinstance(scorer, ChoiceScorer) else None
        self.candidates, self.pool, self.rng = candidates, pool, rng
        self.rows = None if pool is None else rows_by_head(pool, asked.n_items)

    def question(self, head: int) -> tuple[list[int], float] | None:
        """Return the best question of a head that was not asked, and its score."""
        if self.pool is not None and self.rows is not None:
            rows = self.rows[head][~self.asked.contains(self.pool[self.rows[head]])]
            if self.candidates is not None and len(rows) > self.candidates:
                rows = self.rng.choice(rows, self.candidates, replace=False)
            return self._best_of(self.pool[rows])
        search = self.form.search
        if self.candidates is not None or search == "drawn":
            found = self._best_of(self._drawn(head, self.candidates or _DRAWN))
            if found is not None or search in ("drawn", "grid"):
                return found
        if search == "pair":
            return self._best_pair(head)
        return self._best_threesome(head) if search == "threesome" else self._grid(head)

    def learn(self, shown: Ints) -> None:
        """Count a question as answered."""
        if self.whole is None:
            self.scorer.learn(*self.form.at_stake(shown[None]))
        else:
            self.whole.learn_choices(self._choices(shown[None]))

    def _choices(self, shown: Array) -> Alternatives:
        """Each question as one choice; of a grid that is not complete yet, fewer are picked."""
        pairs = self.form.alternatives(shown)
        return Alternatives(pairs, min(self.picks or 1, pairs.shape[1] - 1), np.arange(len(shown)), self.form.prefers)

    def scores(self, shown: Array) -> Floats:
        """Score of each question."""
        if self.whole is not None:
            return self.whole.of_choices(self._choices(shown))
        gains = self.scorer.of(*self.form.at_stake(shown))
        return gains.reshape(len(shown), -1).mean(1)

    def _best_of(self, shown: Array) -> tuple[list[int], float] | None:
        shown = shown[~self.asked.contains(shown)]
        if not len(shown):
            return None
        scores = self.scores(shown)
        best = int(scores.argmax())
        return shown[best].tolist(), float(scores[best])

    def _drawn(self, head: int, count: int) -> Ints:
        others = distinct(self.asked.n_items - 1, count, self.width - 1, self.rng)
        others += others >= head
        return np.column_stack([np.full(count, head, np.int32), others])

    def _best_pair(self, head: int) -> tuple[list[int], float] | None:
        if hasattr(self.scorer, "best_pair"):
            found = self.scorer.best_pair(head, self.asked)
            return None if found is None else ([head, found[0], found[1]], found[2])
        table = self._open_table(head)
        b, c = divmod(int(table.argmax()), len(table))
        return None if table[b, c] == -np.inf else ([head, b, c], float(table[b, c]))

    def _open_table(self, head: int) -> Floats:
        """Scores of the pairs of a head; those that were asked, and the head itself, are -inf."""
        table = self.scorer.table(head)
        table[head] = table[:, head] = -np.inf
        np.fill_diagonal(table, -np.inf)
        if self.form.search == "pair":
            b, c = np.divmod(self.asked.pairs_of_head(head), self.asked.n_items)
            table[b, c] = table[c, b] = -np.inf
        return table

    def _best_threesome(self, head: int) -> tuple[list[int], float] | None:
        table = self._open_table(head)
        b, c = np.triu_indices(len(table), 1)
        allowed = (b != head) & (c != head)
        b, c = b[allowed], c[allowed]
        order = np.argsort(-table[b, c], kind="stable")
        for part in (order[:_TOP], order[_TOP:]):
            shown = np.column_stack([np.full(len(part), head), b[part], c[part]]).astype(np.int32)
            if (found := self._best_of(shown)) is not None:
                return found
        return None

    def _grid(self, head: int) -> tuple[list[int], float] | None:
        table = self._open_table(head)
        grid = list(divmod(int(table.argmax()), len(table)))
        while len(grid) < self.width - 2:
            shown = self._with_one_more(head, grid, table)
            grid = shown[0 if self.whole is None else self.scores(shown).argmax(), 1:].tolist()
        if len(grid) == self.width - 1:
            return self._best_of(np.array([[head, *grid]], np.int32))
        return self._best_of(self._with_one_more(head, grid, table))

    def _with_one_more(self, head: int, grid: list[int], table: Floats) -> Ints:
        """The grid with each of the items that score best beside those in it, as comparisons."""
        order = np.argsort(-table[:, grid].sum(1), kind="stable")
        order = order[~np.isin(order, [head, *grid])][:_GROWN]
        return np.column_stack([np.tile([head, *grid], (len(order), 1)), order]).astype(np.int32)


class RandomQuestions:
    """Questions at random: the baseline, and the share that keeps a test set unbiased."""

    def __init__(
        self, n_items: int, asked: Asked, form: str, width: int, pool: Ints | None, rng: np.random.Generator
    ) -> None:
        self.n_items, self.asked, self.width, self.pool, self.rng = n_items, asked, width, pool, rng
        self.listed = picking_forms()[form].search in ("pair", "threesome")
        self.rows = None if pool is None else rows_by_head(pool, n_items)

    def question(self, head: int) -> tuple[list[int], float] | None:
        """Return a random question of a head that was not asked."""
        if self.pool is not None and self.rows is not None:
            return self._any_of(self.pool[self.rows[head]])
        for _ in range(_PATIENCE):
            others = distinct(self.n_items - 1, 1, self.width - 1, self.rng)[0]
            shown = [head, *(others + (others >= head)).tolist()]
            if shown not in self.asked:
                return shown, np.nan
        return self._any_of(self._all(head)) if self.listed else None

    def learn(self, shown: Ints) -> None:
        """Nothing to learn."""

    def _any_of(self, shown: Array) -> tuple[list[int], float] | None:
        shown = shown[~self.asked.contains(shown)]
        return (shown[self.rng.integers(len(shown))].tolist(), np.nan) if len(shown) else None

    def _all(self, head: int) -> Ints:
        b, c = np.triu_indices(self.n_items, 1)
        allowed = (b != head) & (c != head)
        return np.column_stack([np.full(int(allowed.sum()), head), b[allowed], c[allowed]]).astype(np.int32)


def rows_by_head(pool: Array, n_items: int) -> list[Array]:
    """For each item the rows of the pool whose first item it is."""
    order = np.argsort(pool[:, 0], kind="stable")
    return np.split(order, np.searchsorted(pool[order, 0], np.arange(1, n_items)))
