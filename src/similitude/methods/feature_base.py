"""What methods that learn from features share: what a fit learns from, and where new items stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import SimilarityGraph
from similitude.methods.base import ComparisonEstimator
from similitude.methods.modalities import Modality, Whitened, new_features
from similitude.types import Bools, Floats

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


class FeatureEstimator(ComparisonEstimator):
    """A method that places items by their features, ones never compared included.

    `fit` must set `modalities_`, `maps_`, per modality the map (q × d) from its Φ to positions, and `origin_`, what is
    taken from their sum.

    Attributes
    ----------
    components_ : per modality (n, d): what each training item's kernel values contribute to each dimension
    """

    needs_features = True
    modalities_: dict[str, Modality]
    maps_: dict[str, Floats]
    origin_: Floats

    def _modality(self) -> type[Modality]:
        """Return the form in which the method takes features."""
        return Whitened

    @property
    def components_(self) -> dict[str, Floats]:
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
        check_is_fitted(self, "maps_")
        tables = new_features(self.modalities_, features)
        return np.sum([table @ self.maps_[name] for name, table in tables.items()], axis=0) - self.origin_
