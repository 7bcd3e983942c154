"""What methods that learn from features share: what a fit learns from, and where new items stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from similitude.engine.feature_maps import FeatureMap
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import Names
from similitude.graph.build import SimilarityGraph, build_graph
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features
from similitude.methods.base import ComparisonEstimator, refuse_empty
from similitude.methods.feature_warnings import warn_of_gaps_in_features
from similitude.methods.metric import linear_map
from similitude.methods.modalities import Modality, Whitened, read_modalities
from similitude.methods.placement import features_by_name, place_items
from similitude.methods.provenance import described_data
from similitude.methods.similarity import Similarity
from similitude.types import Bools, Floats, Seed

_NOISE = {"logistic": 1.0, "hinge": 2.0}


@dataclass(frozen=True)
class Feedback:
    """What a fit learns from: the comparisons, their graph, which items were compared, and features by modality."""

    comparisons: Comparisons
    graph: SimilarityGraph
    modalities: dict[str, Modality]

    @property
    def compared(self) -> Bools:
        """Which items were compared."""
        return self.graph.occurrences > 0

    @property
    def n_compared(self) -> int:
        """How many items were compared."""
        return int(self.compared.sum())

    @property
    def sparsity(self) -> float:
        """Items compared per unit of the comparisons' weight, n / W."""
        return self.n_compared / float(self.graph.weight.sum())

    def trace_penalty(self, asked: float | str, loss: str) -> float:
        """Return the penalty asked for; "auto" is sqrt(n / W) for the logistic loss, twice that for the hinge.

        Noise in the answers raises the largest eigenvalue of the votes by about that much (their slopes at zero are 1/2
        and 1): a smaller trace penalty learns noise. On people's answers, 500 to 8,000 of them, it is near the best.
        """
        return _NOISE[loss] * self.sparsity**0.5 if asked == "auto" else float(asked)


class FeatureLearner(ComparisonEstimator):
    """A method that learns from comparisons and features.

    Attributes
    ----------
    modalities_ : the features by modality, as the fit takes them: `modalities_[name].features` is (n, q); none without
        features
    """

    needs_features = True
    n_items: int | None = None
    modalities_: dict[str, Modality] = field(init=False)

    def fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from comparisons and features.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : an array with a row per item, a kernel, or a dict of these by modality
        callback : called after each iteration with its number and the objective, of each start in turn; it may raise
            to interrupt
        """
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._check()
        self._learned_from = described_data(c)
        self.modalities_, c = self._read_features(features, c)
        self._fit(Feedback(c, build_graph(c), self.modalities_), callback)
        return self

    def _modality(self) -> Callable[[Kernel], Modality]:
        """Return the form in which the method takes features."""
        return Whitened

    def _read_features(self, features: Any, c: Comparisons) -> tuple[dict[str, Modality], Comparisons]:
        """Return the features by modality, and the comparisons over the same items."""
        if features is None and self.features_optional:
            return {}, c
        found, c = read_modalities(features, c, self._modality())
        warn_of_gaps_in_features({name: one.kernel for name, one in found.items()}, c)
        return found, c

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        """Find it, and keep it."""
        raise NotImplementedError(f"{type(self).__name__} must define _fit")


class FeatureEstimator(FeatureLearner):
    """A method that places items by their features, ones never compared included.

    `fit` must set `modalities_`, `maps_` and `origin_`.

    Attributes
    ----------
    coefficients_ : per modality (n, d): what each training item's kernel values contribute to each dimension
    components_ : (d, p) the map of vectors where it is linear, as metric-learn has it: positions are L x, up to a
        shift. Without features, and where the map is not linear or of several modalities, there is no such attribute
    maps_ : per modality (q, d) the map from `modalities_[name].features` to positions; none without features
    origin_ : (d,) what is taken from the sum of the maps
    """

    maps_: dict[str, Floats] = field(init=False)
    origin_: Floats = field(init=False)

    @property
    def components_(self) -> Floats:
        """(d, p) L of a linear map: positions are L x, up to a shift, as metric-learn has it; else there is none."""
        check_is_fitted(self, "maps_")
        return linear_map(self.similarity_)

    @property
    def coefficients_(self) -> dict[str, Floats]:
        """Per modality: what each training item's kernel values (each feature, for LPOE) add to each dimension."""
        check_is_fitted(self, "maps_")
        return {name: self.modalities_[name].coefficients(N) for name, N in self.maps_.items()}

    def transform(self, features: Any) -> Floats:
        """(m, d) positions of new items, by their features alone.

        Parameters
        ----------
        features : as in `fit`, for the new items: an array, or a dict with some of the modalities. In a modality that
            a new item lacks, it stands at the centre.
        """
        return self._fitted().transform(features)

    def _in_use(self, X: Floats, loss: ComparisonLoss, names: Names | None, **further: Any) -> Similarity:
        pieces = tuple(self.modalities_[name].mapped(name, N) for name, N in self.maps_.items())
        known = FeatureMap(pieces, self.origin_) if pieces else None
        return super()._in_use(X, loss, names, feature_map=known, **further)


class FreeRestEstimator(FeatureEstimator):
    """A method with something free beside the features, so that new items can be moved from where those put them."""

    def place(
        self,
        comparisons: ComparisonsLike,
        *,
        features: Features | None = None,
        n_init: int = 5,
        random_state: Seed = None,
    ) -> Similarity:
        """Return the similarity with new items in it: at their `transform`, moved by comparisons as far as those ask.

        Parameters
        ----------
        comparisons : comparisons of new items with the items already there
        features : the features of the new items: a table whose index names them, or rows in the order in which the
            comparisons number or name them; None places them by comparisons alone
        n_init, random_state : as for `Similarity.place`
        """
        if features is None:
            return self._fitted().place(comparisons, n_init=n_init, random_state=random_state)
        features = features_by_name(features, comparisons, self.similarity_)
        expected, variance = self.transform(features), float((self._free_rest() ** 2).sum() / self.embedding_.size)
        return place_items(self.similarity_, comparisons, n_init, random_state, expected=expected, variance=variance)

    def _free_rest(self) -> Floats:
        """(n, r) what the features do not say of each item."""
        raise NotImplementedError(f"{type(self).__name__} must define _free_rest")
