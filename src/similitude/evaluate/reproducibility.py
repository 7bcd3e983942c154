"""Which dimensions of a model come again: from other starts, and from other answers.

Nothing in the answers gives dimensions an order, so that those of two fits are matched: pairs of columns are chosen,
each once, whose correlations over the items have the largest sum (an assignment problem). A dimension's figure over
seeds is its mean correlation with its match in fits of the same answers from other starts. Over halves it is the
correlation between the matches in two fits, of a half of the answers each (or of the raters): nothing is in both, and
the model itself, which has seen both, only says which dimensions are meant. A dimension without a match counts as 0.
Halves are the harder test, since each is a study of half the size.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.display.words import counted
from similitude.engine.jobs import over_jobs
from similitude.evaluate.cards import reproducibility_card
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.splitting import held_out_answers
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.methods.dimension_columns import correlations, matches
from similitude.methods.non_negative_embedding import NonNegativeEmbedding
from similitude.methods.provenance import described_data
from similitude.methods.similarity import Similarity
from similitude.settings import check_count, check_share, generator, one_of
from similitude.types import Bools, Floats


@dataclass(frozen=True, eq=False, repr=False)
class DimensionReproducibility:
    """What `dimension_reproducibility` finds. Prints as a sentence.

    Attributes
    ----------
    table : a row per dimension of the model: `dimension` (from 1), `weight` (mean square of its values), `seeds` (mean
        correlation with its match over seeds) with its interval (`seeds_low`, `seeds_high`), the same over halves
        (`halves`, `halves_low`, `halves_high`), NaN where these were not asked for, and `reproducible`
    model : the model whose dimensions they are
    threshold : the correlation from which on a dimension counts as found again
    level : of the intervals
    n_seeds, n_halves : how many fits there were from other starts, and how many splits into halves

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = 2 * np.kron(np.eye(3), np.ones((6, 1)))
    >>> answers = sm.simulate(truth, 1500, "odd_one_out", metric="dot", sharpness=1, random_state=0)
    >>> model = sm.NonNegativeEmbedding(10, random_state=0).fit(answers)
    >>> found = sm.dimension_reproducibility(model, answers, n_seeds=3, n_halves=2, random_state=0)
    >>> found
    All 3 dimensions come again from other starts (r at least 0.80); over halves of the answers their median r is 0.99.
    """

    table: pd.DataFrame
    model: NonNegativeEmbedding
    threshold: float
    level: float
    n_seeds: int
    n_halves: int

    @property
    def reproducible(self) -> Bools:
        """(d,) which dimensions come again."""
        return self.table.reproducible.to_numpy(bool)

    def keep(self) -> NonNegativeEmbedding:
        """Return the model without the dimensions that do not come again, with the table of those that do."""
        kept = self.model.with_dimensions(np.flatnonzero(self.reproducible))
        kept.reproducibility_ = self.table[self.reproducible].reset_index(drop=True)
        return kept

    def __repr__(self) -> str:
        count, of = int(self.reproducible.sum()), len(self.table)
        if not of:
            return "The model has no dimensions: the answers teach nothing."
        how_many = f"All {counted(of, 'dimension')}" if count == of else f"{count} of {counted(of, 'dimension')}"
        text = f"{how_many} come again from other starts (r at least {self.threshold:.2f})"
        if self.n_halves:
            text += f"; over halves of the answers their median r is {self.table.halves.median():.2f}"
        return text + "."

    def _repr_html_(self) -> str:
        return reproducibility_card(self)


def dimension_reproducibility(
    model: NonNegativeEmbedding,
    comparisons: ComparisonsLike,
    *,
    features: Features | None = None,
    n_seeds: int = 10,
    n_halves: int = 5,
    by: Literal["answer", "rater"] = "answer",
    threshold: float = 0.8,
    level: float = 0.95,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> DimensionReproducibility:
    """Find which dimensions of a model come again, from other starts and from halves of the answers.

    Parameters
    ----------
    model : fitted to the comparisons; or settings, which are then fitted first
    comparisons : what it was fitted to
    features : given to the fits, where the model learned from features
    n_seeds : how many fits from other starts
    n_halves : how many times the answers are split into halves, each fitted: twice as many fits
    by : what is split: each "answer" for itself, or all of a "rater"
    threshold : the mean correlation over seeds from which on a dimension counts as reproducible
    level : of the intervals, which are those of the mean over fits (Student's t)
    random_state : seed of the starts and the splits
    n_jobs : processes, through joblib

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = 2 * np.kron(np.eye(3), np.ones((6, 1)))
    >>> answers = sm.simulate(truth, 1500, "odd_one_out", metric="dot", sharpness=1, random_state=0)
    >>> settings = sm.NonNegativeEmbedding(10)
    >>> found = sm.dimension_reproducibility(settings, answers, n_seeds=3, n_halves=0, random_state=0)
    >>> found.table.reproducible.tolist(), found.keep().n_dimensions_
    ([True, True, True], 3)
    """
    _check(model, n_seeds, n_halves, threshold, level)
    one_of("by", by, ("answer", "rater"))
    c, rng = as_comparisons(comparisons), generator(random_state)
    seed, *seeds = (int(one) for one in rng.integers(2**31, size=1 + n_seeds))
    if not hasattr(model, "similarity_"):
        model = _fitted(model, c, features, None, seed)
    else:
        c = _fitted_to(model, c, features)
    if not model.n_dimensions_:
        seeds, n_halves = [], 0  # there is nothing that could come again
    halves = [half for _ in range(n_halves) for half in _halves(c, by, rng)]
    work = [(None, one) for one in seeds] + [(half, seed) for half in halves]
    fits = list(over_jobs(_embedding, work, n_jobs, shared=(model, c, features)))
    X = model.embedding_
    again = np.array([matches(X, other)[1] for other in fits[: len(seeds)]])
    apart = np.array([_between(X, *fits[k : k + 2]) for k in range(len(seeds), len(fits), 2)])
    table = pd.DataFrame({"dimension": np.arange(1, X.shape[1] + 1), "weight": (X**2).mean(0)})
    for name, figures in (("seeds", again), ("halves", apart)):
        found = _interval(figures.reshape(len(figures), X.shape[1]), level)
        for column, values in zip((name, f"{name}_low", f"{name}_high"), found, strict=True):
            table[column] = values
    table["reproducible"] = table.seeds >= threshold
    return DimensionReproducibility(table, model, threshold, level, len(seeds), n_halves)


def _check(model: NonNegativeEmbedding, n_seeds: int, n_halves: int, threshold: float, level: float) -> None:
    if not isinstance(model, NonNegativeEmbedding):
        why = (
            "it is what was learned; give the estimator itself, which can be fitted again"
            if isinstance(model, Similarity)
            else "only dimensions that are never negative have a meaning of their own, others can be turned"
        )
        raise TypeError(f"model: expected a NonNegativeEmbedding, found {type(model).__name__}: {why}")
    check_count("n_seeds", n_seeds, least=2)
    check_count("n_halves", n_halves, least=0)
    check_share("threshold", threshold)
    check_share("level", level)


def _fitted_to(model: NonNegativeEmbedding, c: Comparisons, features: Features | None) -> Comparisons:
    """Return the answers with items numbered as the model numbers them; refuse what it cannot have been fitted to."""
    if bool(model.modalities_) != (features is not None):
        raise ValueError(
            "features: the model learned from features, expected the same ones here, found none: without them the fits "
            "would be of another model"
            if model.modalities_
            else "features: the model learned from answers alone, expected no features"
        )
    known = model.similarity_
    over = as_comparisons(known.over_items(c), n_items=known.n_items)
    if described_data(c)["digest"] != known.about.get("data", {}).get("digest"):
        if features is None:
            _refuse_silence(known, over)
        warnings.warn(
            "comparisons: the model was fitted to other answers, and the fits are of these: what does not come again "
            "may be a difference between the answers",
            FeedbackWarning,
            stacklevel=3,
        )
    return over


def _refuse_silence(known: Similarity, c: Comparisons) -> None:
    """Refuse answers that say nothing of items on which the model has values."""
    silent = np.setdiff1d(np.flatnonzero(known.embedding.any(axis=1)), np.concatenate([c.near, c.far]))
    if len(silent):
        raise ValueError(
            "comparisons: expected the answers that the model was fitted to, found some that say nothing of "
            f"{counted(len(silent), 'item')} of the model ({known.label(int(silent[0]))}, ...)"
        )


def _fitted(model: Any, c: Comparisons, features: Any, rows: Bools | None, seed: int) -> Any:
    """Fit the settings of a model to some of the answers, from a start of its own."""
    chosen, given = c if rows is None else c.select(rows), {} if features is None else {"features": features}
    fresh = clone(model).set_params(random_state=seed, n_items=None if features is not None else c.n_items)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if rows is not None:
            warnings.simplefilter("ignore", FeedbackWarning)  # a half may leave items out
        return fresh.fit(chosen, **given)


def _embedding(model: Any, c: Comparisons, features: Any, rows: Bools | None, seed: int) -> Floats:
    found: Floats = _fitted(model, c, features, rows, seed).embedding_
    return found


def _halves(c: Comparisons, by: Literal["answer", "rater"], rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Return which comparisons are in each half of the answers, or of the raters."""
    first = held_out_answers(c, 0.5, by, rng)
    return first, ~first


def _between(X: Floats, first: Floats, second: Floats) -> Floats:
    """(d,) correlation between the matches of each column of X in two other fits; 0 where one has none."""
    places = [matches(X, other)[0] for other in (first, second)]
    both = (places[0] >= 0) & (places[1] >= 0)
    found = np.zeros(X.shape[1])
    found[both] = correlations(first, second)[places[0][both], places[1][both]]
    return found


def _interval(figures: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Mean over fits (rows) of each dimension's correlation, with the interval of that mean."""
    count, width = figures.shape
    if not count:
        return (np.full(width, np.nan),) * 3
    mean = figures.mean(0)
    if count == 1:
        return mean, np.full(width, np.nan), np.full(width, np.nan)
    half = stats.t.ppf(0.5 + level / 2, count - 1) * figures.std(0, ddof=1) / np.sqrt(count)
    return mean, np.maximum(mean - half, -1.0), np.minimum(mean + half, 1.0)
