"""What answers that were held out ask for: how many dimensions, at which price, and how far apart.

A price that keeps noise out also presses together what it leaves. So dimensions are found at one price, and fitted
again at lower ones, from where they were, as long as that helps; and since products are still too near 0, they are
multiplied by one number. Price, number and how many of the dimensions (from the heaviest down) help are those of the
least loss of answers that the fit has not seen: a tenth of very many, or each fifth in turn. No dimension is claimed
where the best number of them is not better than none by three standard errors of the mean difference over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from similitude.engine.choice_terms import set_losses, values_of
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Array, Floats

Fit = Callable[[Floats, int], Floats]
"""From vectors (n, d) to start from and the place of a price to vectors, heaviest dimensions first."""

MANY = 20_000  # answers of which one part tells enough
_SHARE, _FOLDS = 0.1, 5
_SURE, _LEAST = 3.0, 10  # standard errors, and questions, without which nothing is claimed
_SCALES = np.geomspace(0.4, 4.0, 47)


@dataclass(frozen=True, eq=False)
class DimensionsAsked:
    """What held-out answers ask for.

    Attributes
    ----------
    price : which of the prices, by its place
    scale : what products are to be multiplied by
    count : how many dimensions help; None where all of them do
    found : the vectors of the last fit at the first price
    """

    price: int
    scale: float
    count: int | None
    found: Floats


def asked_for(
    choices: Sequence[Alternatives],
    fitter: Callable[[list[Alternatives]], Fit],
    start: Floats,
    n_prices: int,
    rng: np.random.Generator,
    scale: float | None = None,
) -> DimensionsAsked:
    """Fit to parts of the choices, at one price after the other as long as that is better, and look at the others.

    A scale that is given stays. Where there is but one question nothing can be held out, and no dimension is claimed.
    """
    parts = list(folds(choices, rng))
    if not parts:
        return DimensionsAsked(0, scale or 1.0, 0, start)
    scales = _SCALES if scale is None else np.array([scale])
    fits = [fitter(train) for train, _ in parts]
    tests = [_HeldOut.of(test) for _, test in parts]
    first = vectors = lower = [fit(start, 0) for fit in fits]
    price, (least, best) = 0, _best_scale(first, tests, scales)
    for k in range(1, n_prices):
        lower = [fit(X, k) for fit, X in zip(fits, lower, strict=True)]
        loss, other = _best_scale(lower, tests, scales)
        if loss < least:
            price, least, best, vectors = k, loss, other, lower
        elif len(parts) == 1 or k > price + 1:  # a second look costs much where there is much, and tells little there
            break
    most = max(X.shape[1] for X in vectors)
    losses = np.concatenate([one.by_count(X, best, most) for X, one in zip(vectors, tests, strict=True)], axis=1)
    first_of = np.cumsum([0, *(one.question.max(initial=-1) + 1 for one in tests)])
    question = np.concatenate([one.question + first for one, first in zip(tests, first_of, strict=False)])
    count = _helping(losses, np.concatenate([one.weight for one in tests]), question)
    return DimensionsAsked(price, best if count else scale or 1.0, None if count == most else count, first[-1])


def _best_scale(vectors: Sequence[Floats], tests: Sequence[_HeldOut], scales: Floats) -> tuple[float, float]:
    """Return the least sum of losses over scales of the products, and the scale."""
    levels = [one.levels(X) for X, one in zip(vectors, tests, strict=True)]
    pairs = list(zip(levels, tests, strict=True))
    loss = [sum(float(one.lost(level, s) @ one.weight) for level, one in pairs) for s in scales]
    return min(loss), float(scales[np.argmin(loss)])


def _helping(losses: Floats, weight: Floats, question: Array) -> int:
    """How many dimensions give the least loss (rows) of choices (columns); 0 where that is no better than none.

    Answers to one question count as one in the error of their mean gain, else copies would make sure of anything.
    """
    count = int(np.argmin(losses @ weight))
    gain = losses[0] - losses[count]
    mean = np.average(gain, weights=weight)
    by_question = np.bincount(question, weight * (gain - mean))
    error = np.sqrt((by_question**2).sum()) / weight.sum()
    return count if mean > _SURE * error and len(by_question) >= _LEAST else 0


def folds(
    choices: Sequence[Alternatives], rng: np.random.Generator, many: int = MANY, share: float = _SHARE
) -> Iterator[tuple[list[Alternatives], list[Alternatives]]]:
    """Training and held-out choices: a share of the questions where there are `many`, or each fifth in turn.

    All answers to one question are in one or the other, so that copies of an answer do not foretell each other.
    """
    answers, question = _questions(choices)
    order = rng.permutation(question.max(initial=-1) + 1)
    few = min(_FOLDS, len(order)) if len(order) > 1 else 0
    parts = [order[: round(share * len(order))]] if len(order) > many else np.array_split(order, few) if few else []
    for part in parts:
        out = answers[np.isin(question, part)]
        held = [np.isin(one.row, out) for one in choices]
        yield (
            [one.select(~out) for one, out in zip(choices, held, strict=True) if not out.all()],
            [one.select(out) for one, out in zip(choices, held, strict=True) if out.any()],
        )


def _questions(choices: Sequence[Alternatives]) -> tuple[Array, Array]:
    """Return the answers that choices come from, and the question of each, numbered as they first come.

    A question is known by the pairs that speak for its alternatives; that of a ranking is its widest choice.
    """
    answers = np.unique(np.concatenate([np.zeros(0, int), *(one.row for one in choices)]))
    known: dict[bytes, int] = {}
    question = np.full(len(answers), -1)
    for one in sorted(choices, key=lambda one: -one.n_alternatives):
        i, j = one.pairs.reshape(len(one), -1, 2).astype(np.int64).transpose(2, 0, 1)
        pairs = np.sort(np.minimum(i, j) << 32 | np.maximum(i, j), axis=1)
        for place, shown in zip(np.searchsorted(answers, one.row), pairs, strict=True):
            if question[place] < 0:
                question[place] = known.setdefault(shown.tobytes(), len(known))
    return answers, question


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Choices that a fit has not seen, with their weights and the number of the question of each."""

    choices: Sequence[Alternatives]
    weight: Floats
    question: Array

    @classmethod
    def of(cls, choices: Sequence[Alternatives]) -> _HeldOut:
        answers, question = _questions(choices)
        row = np.concatenate([one.row for one in choices])
        weight = np.concatenate([one.weights for one in choices])
        return cls(choices, weight, question[np.searchsorted(answers, row)])

    def levels(self, X: Floats) -> list[Floats]:
        """Minus the products of the pairs that speak for alternatives."""
        return [-np.einsum("pk,pk->p", *(X[end] for end in one.pairs.reshape(-1, 2).T)) for one in self.choices]

    def lost(self, levels: Sequence[Floats], scale: float) -> Floats:
        """(q,) the loss of each choice."""
        pairs = zip(self.choices, levels, strict=True)
        each = [set_losses(scale * values_of(one, level), one.picked)[0] for one, level in pairs]
        return np.concatenate([np.zeros(0), *each])

    def by_count(self, X: Floats, scale: float, most: int) -> Floats:
        """(most + 1, q) the loss of each choice with the first 0, 1, ... dimensions."""
        levels = self.levels(X[:, :0])
        found = [self.lost(levels, scale)]
        for k in range(X.shape[1]):
            levels = [level + more for level, more in zip(levels, self.levels(X[:, k : k + 1]), strict=True)]
            found.append(self.lost(levels, scale))
        return np.array(found + [found[-1]] * (most - X.shape[1]))
