"""Choices that do not fit in memory: started from a fit of a sample, fitted in shards.

The sample is whole answers that give twenty comparisons per item, at least 2^20 and at most 2^22. Noise falls with the
root of the number of answers: the level of all is that of the sample, by the root of the ratio of their weights. Shares
of answers by chance, and of "can't tell", that are to be learned are those of the sample, which knows them to a few
thousandths.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.choice_shards import ChoicesInShards, choice_weight
from similitude.engine.models import Positions
from similitude.engine.penalties import Penalty
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.feedback.shards import Shards
from similitude.feedback.whole_answers import choices_of
from similitude.graph.counts import count_shards
from similitude.methods.base import FeedbackWarning, warn_of_gaps
from similitude.methods.sharded import lbfgs_memory, sample_size
from similitude.types import Floats

if TYPE_CHECKING:
    from similitude.methods.choice_embedding import ChoiceEmbedding

START_TOL = 1e-4  # a start need not be sharper than what its sample can tell


def fit_of_sample(
    estimator: ChoiceEmbedding, shards: Shards, features: Any, rng: np.random.Generator
) -> tuple[ChoiceEmbedding, float]:
    """Return the method fitted to a sample of the answers, and the weight of these."""
    sample = shards.sample_answers(sample_size(shards), rng)
    settings = {"n_items": None, "random_state": rng, "tol": max(estimator.tol, START_TOL)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # a sample may miss items that the whole does not
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(estimator).set_params(**settings).fit(sample, features=features)
    said = choices_of(sample, cant_tell=fitted.cant_tell_ > 0.0)
    return fitted, sum(float(np.sum(one.weight)) for one in said if one.weight is not None)


class InShards:
    """Fits of vectors to all shards, begun by a fit of a sample.

    Parameters
    ----------
    estimator : the method
    shards : the answers
    features : of the items, or None
    rng : of the sample
    callback : as in `fit`

    Attributes
    ----------
    sample : the method as fitted to the sample
    levels : penalties of what is free and of the map at which answers by chance teach nothing, or those given
    """

    def __init__(
        self,
        estimator: ChoiceEmbedding,
        shards: Shards,
        features: Any,
        rng: np.random.Generator,
        callback: Callback | None,
    ) -> None:
        self.shards, self._rng = shards, rng
        self._settings: dict[str, Any] = {"max_iter": estimator.max_iter, "tol": estimator.tol, "callback": callback}
        counts = count_shards(shards)
        warn_of_gaps(shards, counts)
        self.compared = counts.occurrences > 0
        self.sample, weight = fit_of_sample(estimator, shards, features, rng)
        self.rule = self.sample.choice_rule()
        self.total = choice_weight(shards, self.rule.unsure > 0.0)
        fewer = (weight / self.total) ** 0.5
        free, mapped = self.sample.levels_
        self.levels = (
            free * fewer if estimator.penalty in ("auto", "noise_level") else free,
            mapped * fewer if self._map_is_auto(estimator) else mapped,
        )

    def _map_is_auto(self, estimator: ChoiceEmbedding) -> bool:
        """Whether the penalty of the map is a level of noise; that of what all share goes with what is free."""
        return (estimator.map_penalty if self.sample.modalities_ else estimator.penalty) == "auto"

    def start(self) -> Floats:
        """Return what the sample found; the whole may need dimensions that it did not ask for."""
        found = self.sample.point_
        return (found + 0.01 * self._rng.normal(size=found.shape)).ravel()

    def solve(self, vectors: Positions, penalty: Penalty, start: Floats | None) -> Result:
        """Return the best vectors."""
        problem = ChoicesInShards(self.shards, self.rule, vectors, penalty, self.total)
        at = self.start() if start is None else start
        return lbfgs(problem, at, memory=lbfgs_memory(vectors.size), **self._settings)
