"""What a fit says of pairs, in units that fits share, so that any of them can be averaged.

A map says squared distances, in units of their mean. A fit by products says -2 x·y in units of the mean squared
distance of its vectors: of centred vectors of one length that is a squared distance less a constant. Where a fit knows
how raters weigh its dimensions, pairs are as unlike as they are to whoever is asked about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.engine.distances import mean_sqdist
from similitude.engine.measures import Euclidean, SignedProduct
from similitude.methods.answering import Weighed, places_among
from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class AskedPairs:
    """Pairs that somebody is asked about.

    Attributes
    ----------
    pairs : (p, 2) items
    rater : (p,) place of whoever is asked among `names`, -1 where nobody knows
    names : of the raters
    """

    pairs: Array
    rater: Array
    names: tuple[str, ...]


def by_products(model: Any) -> bool:
    """Whether a fitted estimator compares items by products of vectors, which are no distances."""
    return bool(model.similarity_.kind == SignedProduct.kind)


def unit(model: Any) -> float:
    """What the values of a fit are divided by: the mean squared distance, and half of it for products."""
    return 0.5 * mean_sqdist(model.similarity_.form.positions) if by_products(model) else mean_sqdist(model.embedding_)


def weighing(model: Any) -> Weighed | None:
    """Return how raters weigh the dimensions of a fitted estimator, and how sharp they are, where it knows."""
    known = model.similarity_.answering
    return known if isinstance(known, Weighed) else None


def levels(model: Any, asked: AskedPairs) -> Floats:
    """(p,) how unlike the items of each pair are to whoever is asked, in units of the fit."""
    measure = model.similarity_.form if by_products(model) else Euclidean(model.embedding_)
    known = weighing(model)
    if known is None:
        own = measure.of_pairs(asked.pairs)
    else:
        who = places_among(asked.names, known.names, asked.rater)
        own = known.sharpness[who] * known.seen(measure, asked.pairs, who)
    return np.asarray(own / max(unit(model), 1e-300))


def mean_form(members: Sequence[Any], factors: Sequence[float], compared: Array) -> SignedProduct:
    """Return the sum of what several fits say, vectors multiplied by `factors`, as one product with signs.

    abs(x - y)² = a_x + a_y - 2 x·y with a = abs(x)², and a_x + a_y = ½ (a_x + 1)(a_y + 1) - ½ (a_x - 1)(a_y - 1).
    """
    positions, signs = [], []
    for member, factor in zip(members, factors, strict=True):
        if by_products(member):
            positions.append(factor * member.similarity_.form.positions)
            signs.append(member.similarity_.form.signs)
        else:
            X = factor * (member.embedding_ - member.embedding_[compared].mean(0)) * compared[:, None]
            a = (X**2).sum(1, keepdims=True)
            positions.append(np.hstack([a + 1.0, a - 1.0, 2.0 * X]) / np.sqrt(2.0))
            signs.append(np.concatenate([[1.0], -np.ones(X.shape[1] + 1)]))
    return SignedProduct(np.hstack(positions), np.concatenate(signs))
