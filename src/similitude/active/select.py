"""The next questions: in rounds or one at a time, in any form, by any strategy.

Examples
--------
>>> import numpy as np, similitude as sm
>>> truth = np.random.default_rng(0).normal(size=(12, 2))
>>> answers = sm.simulate(truth, 60, sharpness=2.0, random_state=1)
>>> model = sm.STE(2, random_state=0).fit(answers)
>>> table = sm.next_questions(model, 12, asked=answers, random_share=0.25, random_state=2)
>>> list(table.columns), table.strategy.value_counts().to_dict()
(['form', 'shown', 'strategy', 'score'], {'information_gain': 9, 'random': 3})
"""

from __future__ import annotations

from collections import deque
from math import comb
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from similitude.active.asked import Asked
from similitude.active.strategies import Situation, Strategy, make
from similitude.feedback.checks import check_share
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.feedback.forms import FORMS, find, picking_forms
from similitude.feedback.items import find_items
from similitude.methods.base import Fitted, similarity_of
from similitude.methods.similarity import Similarity
from similitude.settings import check_count
from similitude.types import Bools, Floats, Ints, Seed

_GRID = 4
_FEWEST, _GROWTH = 5, 10
_REST = 3  # questions for which a head is not asked about again: people tire of one item, and a batch is to be spread


def next_questions(
    similarity: Fitted,
    n: int,
    *,
    strategy: str = "information_gain",
    candidates: int | Literal["auto", "all"] = "auto",
    pool: npt.ArrayLike | pd.DataFrame | None = None,
    form: str = "triplet",
    grid_size: int = _GRID,
    n_chosen: int | None = None,
    asked: Any = None,
    pending: Any = None,
    repeat: bool = False,
    random_share: float = 0.1,
    random_state: Seed = None,
) -> pd.DataFrame:
    """Choose the questions whose answers teach a model most.

    Every question has a head (the item that comes first), and heads take turns: the one that was asked about least
    is next, chance deciding between equals, but for those of the last three questions. So a call for as many questions
    as there are items is a round, a call for one question is the next of a stream, and in neither an item starves.
    Within a call, a question that is chosen counts as answered when the next one is scored, so that a batch does not
    ask for the same thing twice.

    Parameters
    ----------
    similarity : a fitted estimator or a `Similarity`
    n : number of questions
    strategy : "information_gain", "uncertainty", "ackl", "atackl", "sequential", "landmark" or "random"; see
        `similitude.active.strategies`. All but the last two need a model with probabilities, "atackl" a `TACKL`.
    candidates : how many random questions of a head are scored to take the best: a number, "all", or "auto", which is
        5 + 10 r² with r = comparisons asked per item and dimension. A model that has seen little does not know what it
        does not know, and the best of many questions is then a bad one; later, the best of all is best
        (`reproduce/results/active.md`).
    pool : all the questions that may be asked, rows of items or a table with a column `shown`; None is every question
    form : "triplet", "odd_one_out", "quadruplet", "choice" (also called "grid"), "most_central", "ranking"
        or "best_worst"
    grid_size : items beside the head in a choice, a ranking, or of best and worst
    n_chosen : how many of the grid people are asked to pick in a choice; a third of it when not given
    asked : the answers so far, `Comparisons` or rows of items: how sure the model is where, and what not to ask
    pending : questions that were handed out and not answered yet: a table as this function returns, or rows of items
    repeat : whether a question that was asked may be asked again
    random_share : share of the questions that are drawn at random, evenly over all questions, and say so in `strategy`:
        the test set that the chosen questions are not fit for
    random_state : seed or generator

    Returns
    -------
    a table with a row per question: `form`; `shown`, the items by name or position in the order that the form defines;
    `strategy` that chose it; `score` in bits (NaN where a strategy has none). With a column `response` it is a table
    of answers for `read_comparisons`.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 200, names=list("abcdefghijkl"), random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> table = sm.next_questions(model, 5, asked=answers, random_state=0)
    >>> table.form.tolist() == ["triplet"] * 5, len(table.shown[0])
    (True, 3)
    """
    chooser = Chooser(
        similarity, strategy=strategy, candidates=candidates, pool=pool, form=form, grid_size=grid_size,
        n_chosen=n_chosen, asked=asked, pending=pending, repeat=repeat, random_share=random_share,
        random_state=random_state,
    )  # fmt: skip
    shown, chosen_by, score = chooser.choose(n)
    names = chooser.similarity.names
    labels = shown.tolist() if names is None else [[names[item] for item in row] for row in shown.tolist()]
    return pd.DataFrame({"form": chooser.form, "shown": labels, "strategy": chosen_by, "score": score})


class Chooser:
    """Chooses questions and remembers what it chose: `next_questions` for a server that hands out one at a time.

    The parameters are those of `next_questions`. Between fits, `choose(1)` costs one search over the pairs of a head.
    """

    def __init__(
        self,
        similarity: Any,
        *,
        strategy: str = "information_gain",
        candidates: int | Literal["auto", "all"] = "auto",
        pool: Any = None,
        form: str = "triplet",
        grid_size: int = _GRID,
        n_chosen: int | None = None,
        asked: Any = None,
        pending: Any = None,
        repeat: bool = False,
        random_share: float = 0.1,
        random_state: Seed = None,
    ) -> None:
        self.similarity = similarity_of(similarity, "similarity")
        self.strategy, self.random_share, self.repeat = strategy, random_share, repeat
        check_share(random_share, "random_share")
        self.form, width = _form(form, self.n_items, grid_size)
        self._arrangement = find(self.form).arrangement
        self.rng = np.random.default_rng(random_state)
        answers = None if asked is None else self.similarity.over_items(as_comparisons(asked))
        self.asked = Asked(self.form, width, self.n_items, None if repeat else answers)
        number = _candidates(candidates, self.similarity, answers, width)
        allowed = None if pool is None else _rows(pool, self.similarity, width, "pool")
        if allowed is not None and not len(allowed):
            raise ValueError("pool: expected at least one question, found none")
        situation = Situation(
            self.similarity, similarity, answers, self.asked, self.form, width, number, allowed, self.rng, n_chosen
        )
        self._strategies: dict[str, Strategy] = {name: make(name, situation) for name in {strategy, "random"}}
        self._turns = _turns(self.n_items, answers, allowed)
        self._recent: deque[int] = deque(maxlen=min(_REST, self.n_items // 3))
        if pending is not None and len(pending):
            self._remember(_rows(pending, self.similarity, width, "pending"))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.similarity.n_items

    def choose(self, n: int) -> tuple[Ints, list[str], Floats]:
        """Return n questions: the items shown, the strategy that chose each, the scores."""
        check_count("n", n)
        at_random = set(self.rng.permutation(n)[: int(n * self.random_share + self.rng.random())].tolist())
        found = [self._next("random" if k in at_random else self.strategy, k, n, k in at_random) for k in range(n)]
        shown = np.array([row for row, _, _ in found], np.int32)
        return shown, [name for _, name, _ in found], np.array([score for _, _, score in found])

    def _next(self, name: str, done: int, n: int, anywhere: bool) -> tuple[Ints, str, float]:
        strategy, tried = self._strategies[name], np.isinf(self._turns)
        while not tried.all():
            head = self._due(tried, anywhere)
            if (found := strategy.question(head)) is not None:
                shown = np.array(found[0], np.int32)
                self._remember(shown[None])
                return shown[self._arrangement.shuffled(len(shown), self.rng.permutation)], name, found[1]
            tried[head] = True
        raise ValueError(self._nothing_left(done, n))

    def _due(self, tried: Bools, anywhere: bool) -> int:
        """Whose turn it is: the head asked about least, but for those just asked about, of heads not yet tried."""
        if anywhere:
            return int(self.rng.choice(np.flatnonzero(~tried)))
        resting = np.isin(np.arange(self.n_items), self._recent)
        due = np.where(tried | (resting & ~(tried | resting).all()), np.inf, self._turns)
        return int(self.rng.choice(np.flatnonzero(due == due.min())))

    def _remember(self, shown: Ints) -> None:
        np.add.at(self._turns, shown[:, 0], 1.0)
        self._recent.extend(shown[:, 0].tolist())
        for row in shown:
            self._strategies[self.strategy].learn(row)
        if not self.repeat:
            self.asked.add(shown)

    def _nothing_left(self, done: int, n: int) -> str:
        what = f"only {done} of the {n} questions wanted" if done else "none"
        return (
            f"n: {what} could be found: all others that strategy {self.strategy!r} may ask have been asked "
            f"({len(self.asked)} of form {self.form}, pending ones included); ask for fewer, widen the pool, or give "
            "repeat=True to ask again"
        )


def _form(form: str, n_items: int, grid_size: int) -> tuple[str, int]:
    known = picking_forms()
    called = {other: name for name, one in known.items() for other in one.also_called}
    name = called.get(form, form)
    if name not in known:
        more = "".join(f" or {other!r}" for other in called)
        raise ValueError(f"form: expected one of {', '.join(known)}{more}, found {form!r}")
    if known[name].n_shown is None and not 2 <= grid_size < n_items:
        raise ValueError(f"grid_size: expected 2 to {n_items - 1} items beside the head, found {grid_size}")
    width = known[name].width(n_items, grid_size)
    if width > n_items:
        raise ValueError(f"similarity: a {name} shows {width} different items, but the model has {n_items}")
    return name, width


def _candidates(candidates: Any, similarity: Similarity, answers: Comparisons | None, width: int) -> int | None:
    """How many candidates of a head to score; None is all of them."""
    if isinstance(candidates, (int, np.integer)):
        if candidates < 1:
            raise ValueError(f"candidates: expected at least 1 per head, found {candidates}")
        return int(candidates)
    if candidates not in ("auto", "all"):
        raise ValueError(f"candidates: expected a number, 'auto' or 'all', found {candidates!r}")
    if candidates == "all":
        return None
    n_parameters = max(1, int(similarity.embedding.any(0).sum())) * similarity.n_items
    per_parameter = 0.0 if answers is None else len(answers) / n_parameters
    number = int(_FEWEST + _GROWTH * per_parameter**2)
    return None if number >= comb(similarity.n_items - 1, width - 1) else number


def _rows(questions: Any, similarity: Similarity, width: int, argument: str) -> Ints:
    """Questions given as a table with a column `shown`, or as rows of items, as rows of positions."""
    rows = questions.shown.tolist() if isinstance(questions, pd.DataFrame) else questions
    if not len(rows):
        return np.empty((0, width), np.int32)
    codes = find_items(rows, similarity.names, similarity.n_items)
    if codes.ndim != 2 or codes.shape[1] != width:
        raise ValueError(f"{argument}: expected rows of {width} items, found shape {codes.shape}")
    return codes


def _has_head(c: Comparisons) -> Bools:
    """Whether the question of each answer compares the others with one of its items."""
    known = c.answers.form.labels
    return np.array([form in FORMS and FORMS[form].arrangement.head for form in known], bool)[c.answers.form.codes]


def _turns(n_items: int, answers: Comparisons | None, pool: Ints | None) -> Floats:
    """How often each item was the head; infinite for items that head no question of the pool.

    Where a question had no head, its comparisons count for all items that it showed: those of an odd one out say
    nothing of the item that was left out, which would otherwise be due again and again.
    """
    turns = np.zeros(n_items)
    if answers is not None:
        shown, headed = answers.answers.shown, _has_head(answers)
        turns += np.bincount(answers.near[headed[answers.answer], 0], minlength=n_items)
        share = ~headed * np.bincount(answers.answer, minlength=len(shown)) / np.maximum(shown.lengths, 1)
        turns += np.bincount(shown.values, share[shown.owner], n_items)
    if pool is not None:
        turns[np.setdiff1d(np.arange(n_items), pool[:, 0])] = np.inf
    return turns
