"""New items among those whose values are known, from a few answers that name them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from similitude.engine.choice_terms import Picked
from similitude.engine.measures import SignedProduct
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import NonNegative
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.methods.non_negative_fits import LEVEL
from similitude.methods.placement import over_known_items, refuse_unnamed, rows_of_new
from similitude.methods.similarity import Similarity
from similitude.types import Floats


def place_values(
    similarity: Similarity, comparisons: ComparisonsLike, price: NonNegative, expected: Floats | None
) -> Similarity:
    """Return the similarity with the new items of the comparisons added, the others kept as they are.

    Minimises over the new rows x >= 0 the sum of -log P of the answers that name them, plus the price of their values:
    strength · sum x + ridge · |x - c|², c being what is `expected` of each (m, d), else 0.
    """
    c = over_known_items(as_comparisons(comparisons), similarity.names, similarity.n_items)
    n_old, n_new = similarity.n_items, c.n_items - similarity.n_items
    chosen = [one.select(np.flatnonzero((one.pairs >= n_old).any(axis=(1, 2, 3)))) for one in choices_of(c)]
    refuse_unnamed(c, n_old, np.concatenate([np.zeros(0, int), *(one.pairs.ravel() for one in chosen)]))
    term = Picked(LEVEL, [one for one in chosen if len(one)])
    X = similarity.embedding
    model = Positions(n_new, X.shape[1], fixed=X)
    centre = np.zeros(model.shape) if expected is None else rows_of_new(expected, model.shape)
    linear = (price.rate - 2.0 * price.ridge * centre).ravel() / term.total
    problem = Problem(DotProducts(model), term, NonNegative(linear, price.ridge / term.total))
    start = np.tile(X.mean(0), (n_new, 1)) if expected is None else centre + 0.1 * X.mean(0)
    found = np.concatenate([X, lbfgs(problem, start, tol=1e-9).params.reshape(model.shape)])
    found.flags.writeable = False
    attributes = {name: (*values, *(None,) * n_new) for name, values in similarity.attributes.items()}
    form = SignedProduct(found, -np.ones(found.shape[1]))
    return replace(similarity, embedding=found, form=form, names=c.names, attributes=attributes)
