"""What answers that were held out ask for: how many dimensions, at which price, and how far apart.

A price that keeps noise out also presses together what it leaves. So dimensions are found at one price, and fitted
again at lower ones, from where they were, as long as that helps; and since products are still too near 0, they are
multiplied by one number. Price, number and how many of the dimensions (from the heaviest down) help are those of the
least loss of answers that the fit has not seen: a tenth of very many, or each fifth in turn. No dimension is claimed
where the best number of them is not better than none by three standard errors of the mean difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from similitude.engine.choice_terms import set_losses, values_of
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Floats

Fit = Callable[[Floats, int], Floats]
"""From vectors (n, d) to start from and the place of a price to vectors, heaviest dimensions first."""

MANY = 20_000  # answers of which one part tells enough
_SHARE, _FOLDS = 0.1, 5
_SURE = 3.0  # standard errors
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
) -> DimensionsAsked:
    """Fit to parts of the choices, at one price after the other as long as that is better, and look at the others."""
    parts = list(folds(choices, rng))
    fits = [fitter(train) for train, _ in parts]
    tests = [_HeldOut.of(test) for _, test in parts]
    first = vectors = lower = [fit(start, 0) for fit in fits]
    price, (least, scale) = 0, _best_scale(first, tests)
    for k in range(1, n_prices):
        lower = [fit(X, k) for fit, X in zip(fits, lower, strict=True)]
        loss, other = _best_scale(lower, tests)
        if loss < least:
            price, least, scale, vectors = k, loss, other, lower
        elif len(parts) == 1 or k > price + 1:  # a second look costs much where there is much, and tells little there
            break
    most = max(X.shape[1] for X in vectors)
    losses = np.concatenate([one.by_count(X, scale, most) for X, one in zip(vectors, tests, strict=True)], axis=1)
    count = _helping(losses, np.concatenate([one.weight for one in tests]))
    return DimensionsAsked(price, scale if count else 1.0, None if count == most else count, first[-1])


def _best_scale(vectors: Sequence[Floats], tests: Sequence[_HeldOut]) -> tuple[float, float]:
    """Return the least sum of losses over scales of the products, and the scale."""
    levels = [one.levels(X) for X, one in zip(vectors, tests, strict=True)]
    pairs = list(zip(levels, tests, strict=True))
    loss = [sum(float(one.lost(level, s) @ one.weight) for level, one in pairs) for s in _SCALES]
    return min(loss), float(_SCALES[np.argmin(loss)])


def _helping(losses: Floats, weight: Floats) -> int:
    """How many dimensions give the least loss (rows) of choices (columns); 0 where that is no better than none."""
    count = int(np.argmin(losses @ weight))
    gain = losses[0] - losses[count]
    mean = np.average(gain, weights=weight)
    error = np.sqrt((weight**2 * (gain - mean) ** 2).sum()) / weight.sum()
    return count if mean > _SURE * error else 0


def folds(
    choices: Sequence[Alternatives], rng: np.random.Generator, many: int = MANY, share: float = _SHARE
) -> Iterator[tuple[list[Alternatives], list[Alternatives]]]:
    """Training and held-out choices, whole answers in one or the other: a share of `many`, or each fifth in turn."""
    answers = np.unique(np.concatenate([one.row for one in choices]))
    order = rng.permutation(answers)
    parts = [order[: round(share * len(order))]] if len(order) > many else np.array_split(order, _FOLDS)
    for part in parts:
        held = [np.isin(one.row, part) for one in choices]
        yield (
            [one.select(~out) for one, out in zip(choices, held, strict=True) if not out.all()],
            [one.select(out) for one, out in zip(choices, held, strict=True) if out.any()],
        )


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Choices that a fit has not seen, with their weights."""

    choices: Sequence[Alternatives]
    weight: Floats

    @classmethod
    def of(cls, choices: Sequence[Alternatives]) -> _HeldOut:
        return cls(choices, np.concatenate([np.zeros(0), *(one.weights for one in choices)]))

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
