"""A metric on vectors, learned from tuples of them in metric-learn's manner.

Tuples of vectors become comparisons of the distinct vectors among them (`methods.vector_tuples`), from which any method
that learns from features learns; the rest is distances of where it puts vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from similitude.feedback.sheets import as_right
from similitude.methods.base import ComparisonEstimator
from similitude.methods.metric import ModelMetric, linear_map
from similitude.methods.partial_order import LPOE
from similitude.methods.similarity import Similarity
from similitude.methods.vector_tuples import Preprocessor, as_comparisons_of_tuples, read_tuples, vectors_of
from similitude.types import Floats, Ints, Seed

_PENALTY = 0.1  # as good as "auto" on held-out triplets, 100 to 1,000 of them with a fifth of them wrong
_ENDS = {2: ((0, 1),), 3: ((0, 1), (0, 2)), 4: ((0, 1), (2, 3))}  # the pairs of a tuple: near, far


class VectorMetric(BaseEstimator):
    """Learns a metric from pairs, triplets or quadruplets of vectors; what metric-learn's learners take and answer.

    A triplet (a, b, c) says that a is closer to b than to c, a quadruplet (a, b, c, d) that a and b are closer than c
    and d, a pair with y = 1 or -1 that the two are alike or not: alike ones are closer than others.

    Parameters
    ----------
    estimator : a method that learns from features, `LPOE(penalty=0.1)` when not given: a linear map, and so a
        Mahalanobis metric. Its own penalty "auto" grows with the items, which here are the vectors, a few for each
        tuple: of few tuples it would let nothing be learned
    preprocessor : (n, d) vectors, or a function of indices that returns them; tuples may then hold indices
    random_state : seed of the draw of comparisons, where pairs imply more than twenty each

    Attributes
    ----------
    estimator_ : the method, fitted to the distinct vectors
    similarity_ : its model in use; it can be saved
    components_ : (k, d) L of a linear map: the squared distance of x and y is |L (x - y)|²
    threshold_ : of pairs: the distance up to which `predict` calls two vectors alike, which errs least often on those
        of `fit`; else there is none
    n_features_in_ : how many numbers a vector has

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> rng = np.random.default_rng(0)
    >>> triplets = rng.normal(size=(200, 3, 2))
    >>> first = np.abs(triplets[:, 1:, 0] - triplets[:, :1, 0])  # only the first number counts
    >>> triplets[first[:, 0] > first[:, 1]] = triplets[first[:, 0] > first[:, 1]][:, [0, 2, 1]]
    >>> metric = sm.VectorMetric().fit(triplets)
    >>> metric.score(triplets) > 0.9, metric.get_mahalanobis_matrix().argmax() == 0
    (True, np.True_)
    """

    def __init__(
        self,
        estimator: ComparisonEstimator | None = None,
        *,
        preprocessor: Preprocessor | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, tuples: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        tuples : (m, t, d) vectors, or (m, t) indices with a preprocessor; t is 2, 3 or 4
        y : of pairs, 1 where the two are alike and -1 where not; of triplets and quadruplets -1 where it is the other
            way round, 1 throughout when not given
        """
        given = read_tuples(tuples, self.preprocessor)
        vectors, code = np.unique(given.reshape(-1, given.shape[2]), axis=0, return_inverse=True)
        self.n_features_in_ = vectors.shape[1]
        c = as_comparisons_of_tuples(code.reshape(given.shape[:2]), y, self.random_state)
        self.estimator_ = clone(LPOE(penalty=_PENALTY) if self.estimator is None else self.estimator)
        self.estimator_.fit(c, features=vectors)
        if given.shape[1] == 2:
            self.threshold_ = _best_threshold(self.pair_distance(given), as_right(y, len(given)))
        return self

    @property
    def similarity_(self) -> Similarity:
        """The fitted model in use."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.similarity_

    @property
    def components_(self) -> Floats:
        """(k, d) L of a linear map: the squared distance of x and y is |L (x - y)|²."""
        return linear_map(self.similarity_)

    def get_mahalanobis_matrix(self) -> Floats:
        """(d, d) M = L'L of a linear map: the squared distance of x and y is (x - y)' M (x - y)."""
        return self.similarity_.get_mahalanobis_matrix()

    def get_metric(self) -> ModelMetric:
        """Return the distance as a function of two vectors, for `metric=` of scikit-learn's neighbours."""
        return self.similarity_.get_metric(of="vectors")

    def transform(self, X: Any) -> Floats:
        """(m, k) positions of vectors, or of indices with a preprocessor; distances of these are the metric."""
        return self.similarity_.transform(vectors_of(X, self.preprocessor))

    def pair_distance(self, pairs: npt.ArrayLike) -> Floats:
        """(m,) distance of each pair."""
        return self._distances(pairs, 2)[:, 0]

    def pair_score(self, pairs: npt.ArrayLike) -> Floats:
        """(m,) minus the distance of each pair: the larger, the more alike."""
        return -self.pair_distance(pairs)

    def decision_function(self, tuples: npt.ArrayLike) -> Floats:
        """(m,) minus the distance of a pair; how much farther the far pair of a triplet or quadruplet is."""
        distances = self._distances(tuples)
        return -distances[:, 0] if distances.shape[1] == 1 else distances[:, 1] - distances[:, 0]

    def predict(self, tuples: npt.ArrayLike) -> Ints:
        """(m,) 1 where a pair is alike or a comparison holds, -1 where not."""
        value = self.decision_function(tuples)
        if np.asarray(tuples).shape[1] == 2:
            if not hasattr(self, "threshold_"):
                raise ValueError("tuples: found pairs, expected triplets or quadruplets, as `fit` had no pairs")
            return np.where(value >= -self.threshold_, 1, -1).astype(np.int32)
        return np.where(value > 0, 1, -1).astype(np.int32)

    def score(self, tuples: npt.ArrayLike, y: npt.ArrayLike | None = None) -> float:
        """Share of comparisons ordered correctly, ties half; of pairs with y, the area under the ROC curve."""
        value = self.decision_function(tuples)
        if np.asarray(tuples).shape[1] == 2:
            return float(roc_auc_score(as_right(y, len(value)), value))
        sign = np.sign(value) if y is None else np.where(as_right(y, len(value)), np.sign(value), -np.sign(value))
        return float(0.5 * (1.0 + sign).mean())

    def _distances(self, tuples: npt.ArrayLike, size: int | None = None) -> Floats:
        """(m, 1) distances of pairs, or (m, 2) of the near and the far pair of a comparison."""
        given = read_tuples(tuples, self.preprocessor, size)
        m, t, d = given.shape
        places = replace(self.similarity_.measure, positions=self.similarity_.transform(given.reshape(-1, d)))
        head = t * np.arange(m)
        value = [places.of_pairs(np.stack([head + i, head + j], axis=1)) for i, j in _ENDS[t]]
        return places.shown(np.stack(value, axis=1))


def _best_threshold(distance: Floats, alike: npt.NDArray[np.bool_]) -> float:
    """The distance up to which pairs are best called alike: a mid between two of them, fewest errors."""
    order = np.argsort(distance, kind="stable")
    right = np.cumsum(np.where(alike[order], 1, -1))  # alike ones below, less others below
    last = int(right.argmax())
    ends = distance[order[last : last + 2]]
    return float(ends.mean())
