"""What answers that were held out ask for: how many dimensions, at which price, and how far apart.

A price that keeps noise out also presses together what it leaves. So dimensions are found at one price, and fitted again
at lower ones, from where they were; and since products are still too near 0, they are multiplied by one number. Price,
number and how many of the dimensions (from the heaviest down) help are those of the least loss of answers that the fit
has not seen: a tenth of very many, or each fifth in turn. No dimension is claimed where the best number of them is not
better than none by three standard errors of the mean difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from similitude.engine.choice_terms import set_losses, values_of
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Floats

Path = Callable[[list[Alternatives]], list[Floats]]
"""From choices to vectors (n, d) at each of several prices, dimensions from the heaviest to the lightest."""

MANY = 20_000  # answers of which one part tells enough
_SHARE, _FOLDS = 0.1, 5
_SURE = 3.0  # standard errors
_SCALES = np.geomspace(0.4, 4.0, 47)


@dataclass(frozen=True, eq=False)
class Asked:
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


def asked_for(choices: Sequence[Alternatives], path: Path, rng: np.random.Generator) -> Asked:
    """Fit to parts of the choices, and look at the others."""
    fits = [(path(train), test) for train, test in _folds(choices, rng)]
    loss = np.array(
        [[sum(_lost(one[k], test, s) for one, test in fits) for s in _SCALES] for k in range(len(fits[0][0]))]
    )
    price, place = np.unravel_index(np.argmin(loss), loss.shape)
    scale = float(_SCALES[place])
    most = max(one[price].shape[1] for one, _ in fits)
    each = [_by_count(one[price], test, scale, most) for one, test in fits]
    count = _helping(np.concatenate([lost for lost, _ in each], axis=1), np.concatenate([w for _, w in each]))
    return Asked(int(price), scale if count else 1.0, None if count == most else count, fits[-1][0][0])


def _helping(losses: Floats, weight: Floats) -> int:
    """How many dimensions give the least loss (rows) of choices (columns); 0 where that is no better than none."""
    count = int(np.argmin(losses @ weight))
    gain = losses[0] - losses[count]
    mean = np.average(gain, weights=weight)
    error = np.sqrt((weight**2 * (gain - mean) ** 2).sum()) / weight.sum()
    return count if mean > _SURE * error else 0


def _folds(
    choices: Sequence[Alternatives], rng: np.random.Generator
) -> Iterator[tuple[list[Alternatives], list[Alternatives]]]:
    """Training and held-out choices, whole answers in one or the other."""
    answers = np.unique(np.concatenate([one.row for one in choices]))
    order = rng.permutation(answers)
    parts = [order[: round(_SHARE * len(order))]] if len(order) > MANY else np.array_split(order, _FOLDS)
    for part in parts:
        held = [np.isin(one.row, part) for one in choices]
        yield (
            [one.select(~out) for one, out in zip(choices, held, strict=True)],
            [one.select(out) for one, out in zip(choices, held, strict=True)],
        )


def _lost(X: Floats, choices: Sequence[Alternatives], scale: float) -> float:
    """Sum of weighted losses."""
    return float(_losses(choices, [-scale * _products(X, one) for one in choices]) @ _weights(choices))


def _by_count(X: Floats, choices: Sequence[Alternatives], scale: float, most: int) -> tuple[Floats, Floats]:
    """(most + 1, q) the loss of each choice with the first 0, 1, ... dimensions, and the weights of the choices."""
    levels = [np.zeros(one.pairs[..., 0].size) for one in choices]
    found = [_losses(choices, levels)]
    for k in range(X.shape[1]):
        levels = [level - scale * _products(X[:, k : k + 1], one) for level, one in zip(levels, choices, strict=True)]
        found.append(_losses(choices, levels))
    found += [found[-1]] * (most - X.shape[1])
    return np.array(found), _weights(choices)


def _products(X: Floats, one: Alternatives) -> Floats:
    i, j = one.pairs.reshape(-1, 2).T
    return np.einsum("pk,pk->p", X[i], X[j])


def _losses(choices: Sequence[Alternatives], levels: Sequence[Floats]) -> Floats:
    each = [set_losses(values_of(one, level), one.picked)[0] for one, level in zip(choices, levels, strict=True)]
    return np.concatenate([np.zeros(0), *each])


def _weights(choices: Sequence[Alternatives]) -> Floats:
    each = [np.ones(len(one)) if one.weight is None else np.asarray(one.weight, float) for one in choices]
    return np.concatenate([np.zeros(0), *each])
