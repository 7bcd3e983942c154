"""What may be chosen: candidates, each at several dimensions, each with penalties along a line.

One that learns how many dimensions are needed has one line, with as many as there are items at most. Answers that chose
from more than two (odd ones out, grids) have such candidates too, which take each answer as one choice.

A penalty is a `strength` times the one that the estimator calls "auto", which knows the number of items and answers.
A line is walked from strength 1 outwards, to stronger penalties and to weaker ones, each fit starting from the one
before it: from the other end, a fit at so strong a penalty that all items fall into one point would leave nothing to
start from.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import has_wide_choices
from similitude.kernels.base import Kernel
from similitude.methods.answering import answerers
from similitude.methods.base import FeedbackWarning, described
from similitude.methods.choice_embedding import ChoiceEmbedding
from similitude.methods.feature_embedding import FeatureEmbedding
from similitude.methods.ordinal import CKL, GNMDS, SOE, STE, TSTE
from similitude.settings import check_estimator

STRONGER = (4.0, 16.0, 64.0)
WEAKER = (0.25, 0.06)
SPREADS = (0.4, 0.8, 0.2)  # of the logarithms of raters' weights
_ENOUGH_OF_EACH = 10.0  # answers a rater, on average: of fewer, weights of dimensions cannot be told
_NEAR_ENOUGH = 1e-5  # of the objective an iteration: the fits of a choice need no more


@dataclass(frozen=True, eq=False)
class Line:
    """A candidate at one dimension (None where it has none to choose).

    Attributes
    ----------
    name : of the candidate
    estimator : unfitted, with its dimension
    dimension : number of dimensions; None where there is none, or where it is learned
    with_features : whether it learns from features
    """

    name: str
    estimator: Any
    dimension: int | None
    with_features: bool = False

    def __str__(self) -> str:
        return self.name if self.dimension is None else f"{self.name} in {_dimensions(self.dimension)}"

    def fit(
        self,
        strength: float,
        usual: Mapping[str, float],
        start: Any | None,
        c: Comparisons,
        features: Any,
        quick: bool = True,
    ) -> Any:
        """Return the estimator fitted at a strength, from where the fit `start` ended.

        `usual` holds the penalties at strength 1, see `usual_penalties`; without them they are "auto".
        """
        model = copy.copy(self.estimator)  # unfitted, and ours: what clone() checks costs as much as a small fit
        settings = vars(self.estimator)
        further: dict[str, Any] = {}
        for name, value in usual.items():
            setattr(model, name, strength * value)
        if start is not None and "init" in settings:
            model.init, model.n_init = _moved(start.point_), 1
        elif start is not None and self._takes_start:
            further["start"] = start.point_
        elif quick and settings.get("n_init") == "auto" and (self.dimension or 0) > 1:
            model.n_init = 1  # in one dimension local optima bite, so that there the second start stays
        if quick and isinstance(settings.get("tol"), float):
            model.tol = max(model.tol, _NEAR_ENOUGH)
        if model.needs_features:
            further["features"] = features
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if quick:
                warnings.simplefilter("ignore", FeedbackWarning)  # said once, by the final fits
            return model.fit(c, **further)

    @cached_property
    def _takes_start(self) -> bool:
        return "start" in inspect.signature(self.estimator.fit).parameters

    def penalties(self) -> list[str]:
        """Names of the parameters that a strength multiplies."""
        settings = {} if self.estimator.learns_penalty else vars(self.estimator)
        return [name for name in ("penalty", "map_penalty") if settings.get(name) in ("auto", "noise_level")]

    def usual_penalties(self, model: Any) -> dict[str, float]:
        """Return the penalties that "auto" meant in a fit."""
        found = {name: float(getattr(model, f"{name}_")) for name in self.penalties()}
        return {name: value for name, value in found.items() if np.isfinite(value)}  # without features no map has one


def lines(candidates: Any, dimensions: Sequence[int], c: Comparisons, features: Any, seed: int) -> list[Line]:
    """Return every candidate at every dimension that the number of items allows, likely ones first."""
    n_items = len(c.items_compared)
    named = _usual(features, has_wide_choices(c)) if candidates is None else _named(candidates, features)
    usable = sorted({int(d) for d in dimensions if d < n_items}) or [1]
    found = [line for name, own in named.items() for line in _at(name, own, usable, n_items, features, seed)]
    middle = usable[len(usable) // 2]
    return sorted(found, key=lambda line: line.dimension not in (middle, None))  # a first answer from the middle


def _at(name: str, estimator: Any, dimensions: Sequence[int], n_items: int, features: Any, seed: int) -> Iterator[Line]:
    model = clone(estimator)
    known = model.get_params()
    with_features = bool(model.needs_features and features is not None)
    if "random_state" in known and known["random_state"] is None:
        model.set_params(random_state=seed)
    if model.learns_rank:
        most = min(known["n_components"], n_items)
        yield Line(name, model.set_params(n_components=most), None, with_features)
    elif "n_components" not in known:
        yield Line(name, model, None, with_features)
    else:
        for d in dimensions:
            yield Line(name, clone(model).set_params(n_components=d), d, with_features)


def _usual(features: Any, wide: bool) -> dict[str, Any]:
    """The candidates where none are given; `wide` where answers chose from more than two."""
    found: dict[str, Any] = {}
    if features is not None:
        found |= {"FeatureEmbedding": FeatureEmbedding(), "FeatureEmbedding ckl": FeatureEmbedding(loss="ckl")}
    if features is not None and _has_vectors(features):
        found["FeatureEmbedding fourier"] = FeatureEmbedding(map="fourier")
    found |= {"CKL": CKL(), "TSTE": TSTE(), "STE": STE(), "SOE": SOE(), "GNMDS": GNMDS()}
    return found | of_choices() if wide else found


def of_choices() -> dict[str, Any]:
    """The candidates that take each answer as one choice, by name; on other scales it brings nothing over TSTE, CKL."""
    ways: tuple[Literal["distance", "dot"], ...] = ("distance", "dot")
    line = {way: ChoiceEmbedding(similarity=way, penalty="noise_level") for way in ways}  # higher ones are on the line
    return {f"ChoiceEmbedding {way}": estimator for way, estimator in line.items()}


def of_raters(dimensions: Sequence[int], c: Comparisons, features: Any, seed: int) -> list[Line]:
    """Candidates whose raters weigh the dimensions differently; none where too little is known of each rater."""
    known = answerers(c)[1]
    known = known[known >= 0]
    count, n_items = len(np.unique(known)), len(c.items_compared)
    if count < 2 or len(known) < _ENOUGH_OF_EACH * count:
        return []
    found: list[Line] = []
    for spread in SPREADS:
        model = ChoiceEmbedding(
            max(dimensions), similarity="distance", penalty="noise_level", raters="weights", spread=spread
        )
        found += _at(f"ChoiceEmbedding weights {spread:g}", model, dimensions, n_items, features, seed)
    return found


def _named(candidates: Any, features: Any) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        named = {str(name): estimator for name, estimator in candidates.items()}
    else:
        several = list(candidates) if isinstance(candidates, Sequence) else [candidates]
        kinds = [type(estimator).__name__ for estimator in several]
        named = {
            kind if kinds.count(kind) == 1 else described(estimator): estimator
            for kind, estimator in zip(kinds, several, strict=True)
        }
    return _checked(named, features)


def _has_vectors(features: Any) -> bool:
    """Whether there are features that are no kernel: of those waves can be had."""
    given = features.values() if isinstance(features, Mapping) else [features]
    return any(not isinstance(value, Kernel) for value in given)


def _checked(named: dict[str, Any], features: Any) -> dict[str, Any]:
    if not named:
        raise ValueError("candidates: expected at least one estimator, found none")
    for name, estimator in named.items():
        check_estimator("candidates", estimator)
        if not hasattr(estimator, "needs_features"):
            raise ValueError(f"candidates: expected estimators such as STE(), found {estimator!r} for {name}")
        if estimator.needs_features and features is None and not estimator.features_optional:
            raise ValueError(f"features: {name} learns from features, found none")
    return named


def _moved(X: Any) -> Any:
    """Positions to start from; where all fell into one point, a little noise, for that point is a saddle."""
    if np.abs(X).max() > 1e-3:
        return X
    return X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)


def _dimensions(count: int) -> str:
    return f"{count} dimension{'' if count == 1 else 's'}"
