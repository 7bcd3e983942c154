"""Fitting again with more answers: from where the items were, and from new starts, the best kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.methods.base import ComparisonEstimator, Fitted, similarity_of
from similitude.methods.placement import over_known_items
from similitude.methods.similarity import Similarity
from similitude.methods.tackl import TACKL
from similitude.types import Floats, Seed

SAMPLE = 50_000  # comparisons that tell where a fit of all of them ends, nearly


def best_fit(estimator: Any, comparisons: Comparisons, last: Any = None, features: Any = None) -> Any:
    """Return the best of three fits: from where the last one ended, from a spectral and from a random start.

    `last` is a fitted model of the same kind, or positions. `features` are given to a method that learns from them.

    A selector that looks at a fit stuck in a bad optimum keeps asking about its artefacts: with warm starts alone,
    actively chosen questions can do worse than random ones (docs/methods/active.md).
    """
    given = {"features": features} if estimator.needs_features else {}
    if "init" not in estimator.get_params():
        return clone(estimator).fit(comparisons, **given)
    starts = ["spectral", "random"] if last is None else [_positions(last), "spectral", "random"]
    fits = [clone(estimator).set_params(init=init, n_init=1).fit(comparisons, **given) for init in starts]
    return min(fits, key=lambda fit: fit.objective_)


def through_sample(
    estimator: Any, comparisons: Comparisons, fit: Callable[[Any, Comparisons], Any], size: int = SAMPLE
) -> Any:
    """Fit many comparisons from where a fit of a sample of them ends: passes over all of them are what costs.

    `fit` fits the sample, from several starts, say; up to `size` comparisons, it fits all of them.
    """
    if len(comparisons) <= size or "init" not in estimator.get_params():
        return fit(clone(estimator), comparisons)
    rows = np.sort(np.random.default_rng(0).choice(len(comparisons), size, replace=False))
    start = fit(clone(estimator), comparisons.rows(rows)).embedding_
    return clone(estimator).set_params(init=start, n_init=1).fit(comparisons)


def _positions(last: Any) -> Floats:
    """What a fit can start from: the positions, of TACKL the free part of them."""
    if isinstance(last, TACKL):
        return last.free_
    return np.asarray(getattr(last, "embedding_", last))


def refit(similarity: Fitted, comparisons: ComparisonsLike, *, random_state: Seed = 0) -> Similarity:
    """Learn a saved similarity anew from all answers, old and new.

    The method and settings are those that the similarity was made with; the fit starts from where its items are and
    from new starts, and the best is kept. Items that the similarity does not know join it.

    Parameters
    ----------
    similarity : a fitted `Similarity`, loaded from a file, say; or a fitted estimator
    comparisons : all answers so far, not only the new ones
    random_state : seed or generator of the new starts

    Returns
    -------
    a new `Similarity`; the old one is not changed

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> before = sm.STE(2, random_state=0).fit(answers[:300]).similarity_
    >>> after = sm.refit(before, answers)
    >>> after, after.score(answers) > 0.9
    (<STE: 12 items in 2 dimensions>, True)
    """
    similarity = similarity_of(similarity, "similarity")
    c = over_known_items(as_comparisons(comparisons), similarity.names, similarity.n_items)
    _refuse_others(c, similarity)
    estimator = _estimator(similarity).set_params(n_items=c.n_items)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=random_state)
    start = np.zeros((c.n_items, similarity.embedding.shape[1]))
    start[: similarity.n_items] = similarity.embedding
    rng = np.random.default_rng(0)  # new items must not stand on one point, where no comparison can part them
    start[similarity.n_items :] = 0.1 * similarity.embedding.std() * rng.normal(size=start[similarity.n_items :].shape)
    return best_fit(estimator, c, start).similarity_


def _refuse_others(c: Comparisons, similarity: Similarity) -> None:
    """Refuse answers about none of the items: another study's would take the place of all that is known."""
    compared = c.items_compared
    if len(compared) and compared.min() >= similarity.n_items:
        raise ValueError(
            f"comparisons: they are about none of the {similarity.n_items} items of the model "
            f"({similarity.label(0)}, ...), but about {c.label(int(compared[0]))} and others; expected all answers so "
            "far, old and new"
        )


def _estimator(similarity: Similarity) -> Any:
    """The estimator that made a similarity, by its public name and settings."""
    import similitude

    method, settings = str(similarity.about.get("method")), similarity.about.get("settings", {})
    found = getattr(similitude, method) if method in similitude.__all__ else None
    if not (isinstance(found, type) and issubclass(found, ComparisonEstimator)):
        raise ValueError(f"similarity: made by {method}, which cannot be fitted again from its file; fit its estimator")
    if found.needs_features:
        raise ValueError(f"similarity: made by {method}, whose features are not in its file; fit its estimator")
    return found(**{name: value for name, value in settings.items() if name in found().get_params()})
