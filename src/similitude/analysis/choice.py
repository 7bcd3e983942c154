"""Which model a report is about: one method in so many dimensions, chosen on held-out answers, or as asked for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from sklearn.base import clone

from similitude.analysis.phases import Phases
from similitude.auto.candidates import of_choices
from similitude.auto.similarity import AutoSimilarity
from similitude.evaluate.dimension import DimensionChoice, dimension
from similitude.feedback.comparisons import Comparisons
from similitude.methods.base import ComparisonEstimator, FeedbackWarning
from similitude.methods.choice_embedding import ChoiceEmbedding
from similitude.methods.feature_embedding import FeatureEmbedding
from similitude.methods.non_negative_embedding import NonNegativeEmbedding
from similitude.methods.ordinal import CKL, GNMDS, SOE, STE, TSTE
from similitude.settings import check_count, check_number, one_of

MethodName = Literal[
    "CKL", "TSTE", "STE", "SOE", "GNMDS", "FeatureEmbedding", "ChoiceEmbedding", "NonNegativeEmbedding"
]
METHODS: dict[MethodName, type[ComparisonEstimator]] = {
    "CKL": CKL,
    "TSTE": TSTE,
    "STE": STE,
    "SOE": SOE,
    "GNMDS": GNMDS,
    "FeatureEmbedding": FeatureEmbedding,
    "ChoiceEmbedding": ChoiceEmbedding,
    "NonNegativeEmbedding": NonNegativeEmbedding,
}
USUAL: tuple[MethodName, ...] = ("CKL", "TSTE", "STE", "SOE", "GNMDS")  # what is compared where no method is asked for
CUT = "comparing all settings of all methods"
_ENDS = ("interrupted", "time limit", "finished")  # of two races, what is said of both
FEWEST_ANSWERS = 30  # fewer tell nothing when some of them are held out
_RACED = (2, 3, 5, 10)  # dimensions in which methods are compared
_TRIED = (1, 2, 3, 4, 5, 6, 8, 10)
_SHARE = 0.4  # of the time is for comparing methods


@dataclass(frozen=True)
class Wanted:
    """What of the choice is fixed beforehand; None where it is to be chosen."""

    method: MethodName | None = None
    n_components: int | None = None
    penalty: float | None = None
    average: bool = False

    @classmethod
    def checked(
        cls,
        method: MethodName | None,
        n_components: int | None,
        penalty: float | None,
        average: bool,
        features: bool,
    ) -> Wanted:
        """Refuse what cannot be."""
        if method is not None:
            one_of("method", method, tuple(METHODS))
        if n_components is not None:
            check_count("n_components", n_components)
        if penalty is not None:
            check_number("penalty", penalty)
        if method == "FeatureEmbedding" and not features:
            raise ValueError("method: FeatureEmbedding learns from features, and none were given")
        if average and (method, n_components, penalty) != (None, None, None):
            raise ValueError("average: an average takes several methods; expected no method, n_components or penalty")
        return cls(method, n_components, penalty, average)

    def fixed(self) -> list[str]:
        """What was not chosen on the answers, in words."""
        words = {"method": self.method, "dimension": self.n_components, "penalty": self.penalty}
        return [word for word, value in words.items() if value is not None]

    def candidates(self) -> dict[str, Any] | None:
        """The estimators to choose from; None for the usual ones."""
        if self.method is None and self.penalty is None:
            return None
        names = [self.method] if self.method else list(USUAL)
        further: dict[str, Any] = {"random_state": 0} | ({} if self.penalty is None else {"penalty": self.penalty})
        found = of_choices() if names == ["ChoiceEmbedding"] else {name: METHODS[name]() for name in names}
        if self.n_components is not None and all(model.learns_rank for model in found.values()):
            further["n_components"] = self.n_components
        return {name: model.set_params(**further) for name, model in found.items()}


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen, and what spoke for it.

    Attributes
    ----------
    model : fitted
    dimensions : accuracy by the number of dimensions, from which that number was chosen; None where it was not
    tried : every setting of every race, as of `AutoSimilarity.tried_`
    average_gain : what an average of several fits would gain over the best alone, with its interval
    ended : how the search ended: "finished", "time limit" or "interrupted"
    """

    model: AutoSimilarity
    dimensions: DimensionChoice | None
    tried: pd.DataFrame
    average_gain: tuple[float, float, float]
    ended: str = "finished"


def choose(c: Comparisons, features: Any, wanted: Wanted, seed: int, phases: Phases) -> Chosen:
    """Choose method and penalty in a race, then the number of dimensions.

    Of the numbers of dimensions within one standard error of the best, the least is taken: more would fit, and would be
    harder to look at. The penalty is then chosen again for that number. A model that learns how many it needs, as of
    choices, is left as it is; the race takes it where simpler ones are more than one standard error behind. It is a map
    of everybody: how raters differ is told beside it. An interrupt ends the race; another one ends all.
    """

    def race(candidates: Any, dimensions: tuple[int, ...], share: float) -> AutoSimilarity:
        limit = max(share * phases.seconds_left(), 0.1)
        model = AutoSimilarity(
            candidates=candidates, dimensions=dimensions, average=wanted.average, raters=False, time_limit=limit,
            random_state=seed,
        )  # fmt: skip
        phases.needed("choosing a model", lambda tell: model.fit(c, features=features, callback=tell))
        if model.ended_ == "time limit" and CUT not in phases.left_out:
            phases.left_out.append(CUT)
        return model

    first = race(wanted.candidates(), (wanted.n_components,) if wanted.n_components else _RACED, _SHARE)
    few = c.n_answers < FEWEST_ANSWERS
    single = from_scratch(first.members_[0])
    curve = None if few or wanted.average or wanted.n_components else _dimensions(single, c, features, seed, phases)
    if curve is None or curve.chosen == first.chosen_.dimension.iloc[0]:
        return Chosen(first, curve, first.tried_, first.average_gain_, first.ended_)
    again = single if wanted.penalty is not None else _unpenalised(single)
    second = race({first.chosen_.candidate.iloc[0]: again}, (curve.chosen,), _SHARE / 2)
    ends = {first.ended_, second.ended_}
    if ends == {"interrupted"}:
        raise KeyboardInterrupt
    tried = pd.concat([second.tried_, first.tried_.assign(chosen=False)], ignore_index=True)
    return Chosen(second, curve, tried, first.average_gain_, next(end for end in _ENDS if end in ends))


def from_scratch(member: Any) -> Any:
    """The estimator of a chosen fit, without the positions that it started from."""
    fresh = clone(member)
    return fresh if isinstance(fresh.get_params().get("init", ""), str) else fresh.set_params(init="spectral")


def _unpenalised(single: Any) -> Any:
    """The estimator with its penalty open to choice."""
    return clone(single).set_params(penalty="auto") if "penalty" in single.get_params() else single


def _dimensions(single: Any, c: Comparisons, features: Any, seed: int, phases: Phases) -> DimensionChoice | None:
    tried = [d for d in _TRIED if d < len(c.items_compared)]
    if "n_components" not in single.get_params() or single.learns_rank or len(tried) < 2:
        return None
    more = {"features": features} if single.needs_features else {}

    def by_accuracy(tell: Any) -> DimensionChoice:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeedbackWarning)
            return dimension(single, c, dimensions=tried, n_repeats=1, random_state=seed, callback=tell, **more)

    return phases.optional("how many dimensions", by_accuracy)
