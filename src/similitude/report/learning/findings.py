"""Everything that a report of answers says, computed once: `sm.learn`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone

from similitude.auto.similarity import AutoSimilarity
from similitude.evaluate.dimension import DimensionChoice, dimension
from similitude.evaluate.folds import AnswerFold
from similitude.evaluate.forecast import Forecast, more_answers
from similitude.evaluate.group_difference import GroupDifference
from similitude.evaluate.groups import compare_groups
from similitude.evaluate.intervals import clustered_mean
from similitude.evaluate.rater_groups import attribute_columns
from similitude.evaluate.scores import calibration, calibration_error, correct, likelihoods
from similitude.evaluate.uncertainty import Uncertainty, uncertainty
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.graph.consistency import ConsistencyReport, check
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.methods.ordinal import STE
from similitude.methods.raters import RaterEmbedding
from similitude.methods.similarity import Similarity
from similitude.report.learning.summary import findings_card, summary

Step = Callable[[str], None]
"""Called with what is being done, for a progress line."""

_NEIGHBOURS, _SURPRISES = 5, 20


class PageOptions(TypedDict, total=False):
    """What may be said about a report beside its title; `page.learning_page` explains it."""

    images: Mapping[str, Path] | None
    colours: Mapping[str, str] | None
    command: str | None


_BOOTSTRAPS, _REPEATS = 30, 5
_FEWEST_ANSWERS = 30
_DIMENSIONS = (1, 2, 3, 4, 5, 6)
_MOST_RATERS, _RATER_FOLDS = 500, 4
_MOST_COLUMNS = 4


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What `learn` finds.

    Attributes
    ----------
    comparisons : the feedback
    consistency : how far it can be trusted, as of `check`
    model : the `AutoSimilarity` that was chosen and fitted
    sureness : other maps that the answers allow, as of `uncertainty`; None where there are too few answers
    forecast : what more answers would bring, as of `more_answers`; None where there are too few
    dimensions : how many dimensions the answers ask for, as of `dimension`; None where there are too few
    calibration : on answers held out, as of `calibration`; None where there are too few
    calibration_error : of these
    neighbours : a row per item with the items most like it
    surprises : the answers that the model finds least likely
    raters : how sharply each rater answers, as of `RaterEmbedding`; None where raters were not recorded
    raters_gain : accuracy on held-out answers of a model that knows them less that of one that does not, with interval
    groups : whether groups of raters differ, for each column by which they can be compared, as of `compare_groups`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth[:6], 25, sharpness=2.0, random_state=1)
    >>> found = sm.learn(answers, time_limit=1, random_state=0)
    >>> found.consistency.answers, found.model.has_probability, found.page("Faces").startswith("<!doctype html>")
    (25, True, True)
    """

    comparisons: Comparisons
    consistency: ConsistencyReport
    model: AutoSimilarity
    sureness: Uncertainty | None
    forecast: Forecast | None
    dimensions: DimensionChoice | None
    calibration: pd.DataFrame | None
    calibration_error: float
    neighbours: pd.DataFrame
    surprises: pd.DataFrame
    raters: pd.DataFrame | None
    raters_gain: tuple[float, float, float] | None
    groups: tuple[GroupDifference, ...] = ()

    @property
    def similarity(self) -> Similarity:
        """The model in use."""
        return self.model.similarity_

    def page(self, title: str = "What people find similar", **options: Unpack[PageOptions]) -> str:
        """Return the report as one self-contained HTML page; see `similitude.report.learning.page.learning_page`."""
        from similitude.report.learning.page import learning_page

        return learning_page(self, title, **options)

    def save(
        self, folder: str | os.PathLike[str], title: str = "What people find similar", **options: Unpack[PageOptions]
    ) -> Path:
        """Write the model, the tables, the figures and the report into a folder; return the report's path."""
        from similitude.report.learning.folder import write_folder

        return write_folder(self, Path(folder), title, **options)

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        return findings_card(self)


def learn(
    comparisons: ComparisonsLike,
    *,
    features: Features | None = None,
    time_limit: float = 60.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    step: Step | None = None,
) -> Findings:
    """Check answers, choose and fit a model, and find out all that a report says.

    Parameters
    ----------
    comparisons : the answers: `Comparisons`, or an array of rows `(i, j, k)`, "i is more like j than like k"
    features : of the items, where there are any (see `AutoSimilarity`)
    time_limit : seconds for the choice of a model; the rest of the report takes about as long again
    random_state : seed
    n_jobs : processes, through joblib, for everything that is fitted many times
    step : called with what is being done, a few words at a time, for a progress line

    Returns
    -------
    Findings
        `found.similarity` is the model, `found.save(folder)` writes the report with its tables and figures.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth[:6], 25, sharpness=2.0, random_state=1)
    >>> found = sm.learn(answers, time_limit=1, random_state=0)
    >>> found.similarity.n_items, found.neighbours.shape[0]
    (6, 6)
    """
    with joblib.parallel_config(**({} if n_jobs is None else {"n_jobs": n_jobs})):
        return _learned(as_comparisons(comparisons), features, time_limit, random_state, step or (lambda _: None))


def _learned(c: Comparisons, features: Any, time_limit: float, seed: int, say: Step) -> Findings:
    say("checking the answers")
    consistency = check(c)
    assert isinstance(consistency, ConsistencyReport)
    say("choosing a model")
    model = AutoSimilarity(time_limit=time_limit, random_state=seed).fit(c, features=features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # parts of the answers leave gaps; of the whole it was said
        return _examined(c, consistency, model, features, seed, say)


def _examined(
    c: Comparisons, consistency: ConsistencyReport, model: AutoSimilarity, features: Any, seed: int, say: Step
) -> Findings:
    """What parts of the answers tell about the model; little where there are few."""
    sureness, forecast, choice, table, error, raters, gain = None, None, None, None, np.nan, None, None
    if c.n_answers >= _FEWEST_ANSWERS:
        single = _from_scratch(model.members_[0])
        more = {"features": features} if single.needs_features else {}
        say("how sure the map is")
        sureness = uncertainty(model, c, n=_BOOTSTRAPS, features=features, random_state=seed)
        say("what more answers would bring")
        forecast = more_answers(single, c, n_repeats=_REPEATS, random_state=seed, **more)
        say("how many dimensions")
        choice = _dimensions(single, c, more, seed)
        say("how far probabilities can be believed")
        table, error = _calibration(model, c, features, seed)
        if 3 <= len(c.answers.rater.labels) <= _MOST_RATERS:
            say("how raters differ")
            raters, gain = _raters(c, choice, seed)
    return Findings(
        c, consistency, model, sureness, forecast, choice, table, error,
        _neighbours(model.similarity_), _surprises(model.similarity_, c), raters, gain, _groups(c, seed, say),
    )  # fmt: skip


def _groups(c: Comparisons, seed: int, say: Step) -> tuple[GroupDifference, ...]:
    """Whether groups differ, by the first few columns that make some."""
    columns = attribute_columns(c)[:_MOST_COLUMNS] if c.n_answers >= _FEWEST_ANSWERS else []
    if columns:
        say("whether groups differ")
    return tuple(compare_groups(c, name, random_state=seed) for name in columns)


def _from_scratch(member: Any) -> Any:
    """The estimator of a chosen fit, without the positions that it started from."""
    fresh = clone(member)
    return fresh if isinstance(fresh.get_params().get("init", ""), str) else fresh.set_params(init="spectral")


def _dimensions(single: Any, c: Comparisons, more: dict[str, Any], seed: int) -> DimensionChoice | None:
    if "n_components" not in single.get_params():
        return None
    tried = [d for d in _DIMENSIONS if d < len(c.items_compared)]
    return dimension(single, c, dimensions=tried, n_repeats=1, random_state=seed, **more) if len(tried) > 1 else None


def _calibration(model: AutoSimilarity, c: Comparisons, features: Any, seed: int) -> tuple[pd.DataFrame, float]:
    """Probabilities of a fifth of the answers by a model of the others, with the settings that were chosen."""
    train, test = c.split(0.2, by="answer", random_state=seed)
    fitted = model.refit_chosen(train, features=features)
    return calibration(fitted, test, n_bins=5), calibration_error(fitted, test, n_bins=5)


def _raters(
    c: Comparisons, choice: DimensionChoice | None, seed: int
) -> tuple[pd.DataFrame, tuple[float, float, float]]:
    """How sharply each rater answers, and what knowing it gains on held-out answers."""
    d = 2 if choice is None else choice.chosen
    knowing, pooling = RaterEmbedding(d, random_state=seed), STE(d, random_state=seed)
    right: dict[str, list[Any]] = {"knowing": [], "pooling": []}
    held_out = []
    for train, test in AnswerFold(_RATER_FOLDS, random_state=seed).split(c):
        held_out.append(test)
        for name, estimator in (("knowing", knowing), ("pooling", pooling)):
            right[name].append(correct(clone(estimator).fit(c[train]), c[test]))
    rows = np.concatenate(held_out)
    gain = np.concatenate(right["knowing"]) - np.concatenate(right["pooling"])
    value, low, high = clustered_mean(gain, c.weight[rows], c.answer[rows])
    return clone(knowing).fit(c).raters_, (value, low, high)


def _neighbours(similarity: Similarity) -> pd.DataFrame:
    """A row per item: the item, then those most like it, nearest first."""
    count = min(_NEIGHBOURS, similarity.n_items - 1)
    names = range(similarity.n_items) if similarity.names is None else similarity.names
    rows = [[name, *similarity.neighbors(name, count)] for name in names]
    return pd.DataFrame(rows, columns=["item", *(f"nearest {k + 1}" for k in range(count))])


def _surprises(similarity: Similarity, c: Comparisons) -> pd.DataFrame:
    """The comparisons that the model finds least likely, one of each answer, least likely first."""
    chance = likelihoods(similarity, c)
    order = np.argsort(chance, kind="stable")
    _, first = np.unique(c.answer[order], return_index=True)
    rows = order[np.sort(first)][:_SURPRISES]
    label = np.array(range(c.n_items) if c.names is None else c.names, object)
    raters = c.answers.rater.values[c.answer[rows]]
    table = {
        "near": [f"{label[i]} and {label[j]}" for i, j in c.near[rows].tolist()],
        "far": [f"{label[i]} and {label[j]}" for i, j in c.far[rows].tolist()],
        "probability": chance[rows],
    }
    return pd.DataFrame({**table, "rater": raters} if c.answers.rater.recorded else table)
