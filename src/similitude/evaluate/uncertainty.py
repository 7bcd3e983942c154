"""How sure is the map? Other maps that the answers allow, laid over it: ellipses, intervals, items that need answers.

Examples
--------
>>> import numpy as np, similitude as sm
>>> truth = np.random.default_rng(0).normal(size=(12, 2))
>>> answers = sm.simulate(truth, 500, sharpness=2.0, random_state=1)
>>> model = sm.STE(2, random_state=0).fit(answers)
>>> found = sm.uncertainty(model, answers, n=20, random_state=0)
>>> found.covariance.shape, found.accuracy.low < found.accuracy.value < found.accuracy.high
((12, 2, 2), True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from similitude.display.estimate import UNTOLD, Estimate
from similitude.engine.distances import pair_sqdist, sqdist_table
from similitude.evaluate.answer_scores import answers_right
from similitude.evaluate.cards import uncertainty_card
from similitude.evaluate.ceiling import CLEANED, above_ceiling
from similitude.evaluate.draws import bootstrap_maps, laplace_maps, onto, refit
from similitude.evaluate.intervals import clustered_share
from similitude.evaluate.scores import correct, likelihoods
from similitude.evaluate.validation import Progress
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import AnswerFold, held_out
from similitude.graph.consistency import ceiling_of
from similitude.kernels.modalities import Features
from similitude.methods.base import Fitted, similarity_of
from similitude.methods.similarity import Similarity
from similitude.settings import check_count, check_share
from similitude.types import Array, Bools, Floats, Ints, ItemRows, Seed

if TYPE_CHECKING:
    import pandas as pd

_HANDFUL = 3  # comparisons per dimension and one more, which is what it takes to know a place without noise
_FOLDS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """What `uncertainty` finds. Prints as a sentence or two.

    Attributes
    ----------
    similarity : the model
    draws : (n, items, d) other maps that the answers allow, laid over the model's: shifted, turned, of its size
    comparisons : (items,) in how many comparisons each item stands
    accuracy : share of held-out comparisons ordered correctly, with its interval; None where there was nothing to refit
        (of refits to most of the answers: in simulated studies of 300 answers 81 % of the intervals at the level .9
        held the accuracy of the model itself)
    level : of intervals and ellipses
    method, by : how the maps were drawn
    inflation : what the deviations of refits were multiplied by (see `uncertainty`)
    answer_accuracy : share of held-out answers with every comparison right, with its interval; None as accuracy is

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, sharpness=2.0, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> found = sm.uncertainty(model, answers, method="laplace", n=20, random_state=0)
    >>> found.draws.shape, found.accuracy.low < found.accuracy.value < found.accuracy.high
    ((20, 12, 2), True)
    """

    similarity: Similarity
    draws: Floats
    comparisons: Ints
    accuracy: Estimate
    level: float
    method: str
    by: str
    inflation: float = 1.0
    answer_accuracy: Estimate = UNTOLD

    @property
    def covariance(self) -> Floats:
        """(items, d, d) mean product of the draws' deviations from the model; NaN for an item never compared."""
        step = self.draws - self.similarity.embedding
        found = np.einsum("bnd,bne->nde", step, step) / len(step)
        found[self.comparisons == 0] = np.nan
        return found

    @property
    def radius(self) -> Floats:
        """(items,) root mean square distance of an item from its place on the map; NaN if never compared."""
        square = ((self.draws - self.similarity.embedding) ** 2).sum(2).mean(0)
        return np.sqrt(np.where(self.comparisons > 0, square, np.nan))

    @property
    def within(self) -> Floats:
        """(items,) how far an item may stand from its place on the map, at the level; NaN if never compared."""
        return self.reach * self.radius / np.sqrt(self.draws.shape[2])

    def least_sure(self, count: int) -> list[int]:
        """Return the positions of the items whose place is least sure: a handful of comparisons first, fewest first.

        The penalty holds an item with a handful of answers near the centre in every draw: its radius says too little.
        """
        few = np.where(self.comparisons < _HANDFUL * (self.draws.shape[2] + 1), self.comparisons, np.inf)
        order: list[int] = np.lexsort([-np.nan_to_num(self.radius, nan=np.inf), few])[:count].tolist()
        return order

    @property
    def reach(self) -> float:
        """How many standard deviations an ellipse of the level reaches, in as many dimensions as the map has."""
        return float(np.sqrt(stats.chi2.ppf(self.level, self.draws.shape[2])))

    def distances(self, pairs: ItemRows | None = None) -> pd.DataFrame:
        """Return distances with their intervals, in units of the map.

        Intervals are value ± z · (root mean square deviation of the draws), cut at 0.

        Parameters
        ----------
        pairs : rows of two items by name or position; by default all pairs

        Returns
        -------
        a table with a row per pair: `a`, `b`, `distance`, `low`, `high`
        """
        import pandas as pd

        n = self.similarity.n_items
        codes = np.stack(np.triu_indices(n, 1), 1) if pairs is None else self.similarity.codes(pairs)
        value = _lengths(self.similarity.embedding, codes)
        spread = np.sqrt(np.mean([(_lengths(X, codes) - value) ** 2 for X in self.draws], axis=0))
        half = stats.norm.ppf(0.5 + self.level / 2) * np.where((self.comparisons[codes] == 0).any(1), np.nan, spread)
        label = np.array(self.similarity.names if self.similarity.names is not None else range(n), object)
        columns = {"a": label[codes[:, 0]], "b": label[codes[:, 1]], "distance": value}
        return pd.DataFrame({**columns, "low": np.maximum(value - half, 0.0), "high": value + half})

    @property
    def needs_answers(self) -> pd.DataFrame:
        """A row per item, those whose place is least sure first (`least_sure`).

        Columns: `item`, `comparisons` (in which it stands), `radius` (see above), `relative_radius` (radius over the
        root mean square distance of the items from the centre: at 1 the answers say nothing of where it is), and
        `neighbour` (share of the draws in which its nearest neighbour is the map's).
        """
        import pandas as pd

        n, X = self.similarity.n_items, self.similarity.embedding
        compared = self.comparisons > 0
        spread = np.sqrt(((X[compared] - X[compared].mean(0)) ** 2).sum(1).mean())
        same = np.mean([_nearest(draw, compared) == _nearest(X, compared) for draw in self.draws], axis=0)
        table = pd.DataFrame(
            {
                "item": list(self.similarity.names) if self.similarity.names is not None else range(n),
                "comparisons": self.comparisons,
                "radius": self.radius,
                "relative_radius": self.radius / max(spread, 1e-300),
                "neighbour": np.where(compared, same, np.nan),
            }
        )
        return table.iloc[self.least_sure(n)].reset_index(drop=True)

    def __repr__(self) -> str:
        least = ", ".join(self.similarity.label(item) for item in self.least_sure(3))
        text = f"An item lies within {np.nanmedian(self.within):.2g} of its place on the map "
        text += f"({self.level:.0%}, median over items; {self.method} by {self.by}); least sure: {least}."
        if self.accuracy.value is not None:
            a = self.accuracy
            text += f" Accuracy {a.value:.1%} ({a.low:.1%} to {a.high:.1%}) {a.note}."
        return text

    def _repr_html_(self) -> str:
        return uncertainty_card(self)


def uncertainty(
    model: Fitted,
    comparisons: ComparisonsLike,
    *,
    method: Literal["bootstrap", "laplace"] = "bootstrap",
    by: Literal["answer", "rater"] = "answer",
    n: int = 100,
    level: float = 0.95,
    features: Features | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    callback: Progress | None = None,
) -> Uncertainty:
    """Say how sure the places of the items are, and which items need more answers.

    The bootstrap refits the model on the answers (or raters) with random weights. Fitted answers are fitted too well,
    so their refits scatter too little: deviations are multiplied by the root of (held-out Brier score / Brier score on
    the answers fitted), as leave-one-out residuals would do (HC3; MacKinnon & White 1985). For models without
    probabilities the share of wrong answers takes its place. Without this, intervals cover the truth too seldom
    (`reproduce/results/uncertainty.md`).

    The Laplace approximation draws maps from the normal distribution that has the curvature of the likelihood and the
    prior at the fit, over all items at once. It needs one inversion and no refits, believes the model's noise, and is
    for models with probabilities.

    Both make too little of the doubt about an item with a handful of answers, which the penalty holds near the centre
    in every refit; it stands at the top of `needs_answers`. Neither tells of what the model leaves out: dimensions
    that it lacks, raters who see things differently (take `by="rater"` for that part).

    Parameters
    ----------
    model : a fitted estimator; a `Similarity` will do for "laplace", then without accuracy
    comparisons : the answers that it was fitted to
    method : "bootstrap" or "laplace"
    by : what is drawn: answers, or whole raters, which tells how sure the map is for other raters (bootstrap only)
    n : number of maps drawn
    level : of intervals and ellipses
    features : where the model learns from features
    random_state : seed or generator
    n_jobs : processes for the refits, through joblib
    callback : called after each refit of the bootstrap with the number done and the number of all

    Returns
    -------
    Uncertainty

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, sharpness=2.0, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> found = sm.uncertainty(model, answers, method="laplace", n=20, random_state=0)
    >>> found.radius.shape, found.needs_answers.columns[0], len(found.distances([(0, 1), (0, 2)]))
    ((12,), 'item', 2)
    """
    _check(method, by, n, level)
    similarity = similarity_of(model, "model")
    c = similarity.over_items(as_comparisons(comparisons))
    if c.n_items < similarity.n_items and c.names is None:
        c = c.with_items(n_items=similarity.n_items)
    rng = np.random.default_rng(random_state)
    X = np.asarray(similarity.embedding)
    counts = _comparisons_of_items(c, similarity.n_items)
    compared: Bools = counts > 0
    accuracy = whole = Estimate(None, note="a similarity cannot be refitted: give the estimator")
    inflation = 1.0
    if hasattr(model, "similarity_"):
        accuracy, whole, inflation = _held_out(model, c, by, level, features, rng, n_jobs)
    if method == "laplace" and similarity.form is not None:
        raise ValueError(
            f"method: 'laplace' is for maps, and this model compares by a {similarity.kind}: use 'bootstrap'"
        )
    if method == "laplace":
        maps = laplace_maps(X, similarity.loss, c, _ridge(model, X, c), n, rng)
        inflation = 1.0
    elif not hasattr(model, "similarity_"):
        raise ValueError("model: the bootstrap refits, so expected a fitted estimator, found a Similarity")
    else:
        maps = bootstrap_maps(model, c, c.groups(by), n, features, rng, n_jobs, callback)
    laid = np.array([onto(own, X, compared)[:, : X.shape[1]] for own in maps])
    draws = X + inflation * (laid - X)
    return Uncertainty(similarity, draws, counts, accuracy, level, method, by, inflation, whole)


def _check(method: str, by: str, n: int, level: float) -> None:
    if method not in ("bootstrap", "laplace"):
        raise ValueError(f"method: expected 'bootstrap' or 'laplace', found {method!r}")
    if by not in ("answer", "rater"):
        raise ValueError(f"by: expected 'answer' or 'rater', found {by!r}")
    if method == "laplace" and by == "rater":
        raise ValueError("by: 'laplace' takes answers as independent; expected 'answer', or method='bootstrap'")
    check_count("n", n, 2)
    check_share("level", level)


def _held_out(
    model: Any, c: Comparisons, by: Any, level: float, features: Any, rng: np.random.Generator, n_jobs: int | None
) -> tuple[Estimate, Estimate, float]:
    """Return the accuracies of refits on held-out answers, and by how much held-out residuals exceed fitted ones."""
    group = c.groups(by)[c.answer]
    count = min(_FOLDS, len(np.unique(group)))
    if count < 2:
        nothing = Estimate(None, note=f"there is only one {by}: nothing can be held out")
        return nothing, nothing, 1.0
    folds = list(AnswerFold(count, by, int(rng.integers(2**31))).split(c))
    right, residual = held_out(c, folds, _of_fold, shared=(model, features), n_jobs=n_jobs).T
    weight = np.asarray(c.weight)
    mean, low, high = clustered_share(right, weight, group, level)
    fitted, beyond = (float(weight @ own) for own in (_residual(model, c), residual))
    inflation = float(np.sqrt(beyond / fitted)) if fitted > 0 else 1.0
    said = np.bincount(c.answer, minlength=c.n_answers) > 0
    whole = answers_right(right, c)[said].astype(float)
    share = clustered_share(whole, np.ones(len(whole)), c.groups(by)[said], level)

    def told(mean: float, low: float, high: float, of: Literal["comparisons", "answers"]) -> Estimate:
        note = f"on held-out answers, {count} folds by {by}" + above_ceiling(mean, ceiling_of(c, of=of))
        return Estimate(mean, low, high, f"on {count} folds of what cleaning left; {CLEANED}" if c.cleaned else note)

    return told(mean, low, high, "comparisons"), told(*share, "answers"), max(inflation, 1.0)


def _of_fold(model: Any, features: Any, training: Comparisons, test: Comparisons) -> Floats:
    """Whether a refit orders each of the others correctly, and the squared residual of each: (m, 2)."""
    again = refit(model, training, features)
    return np.column_stack([correct(again, test), _residual(again, test)])


def _residual(model: Any, c: Comparisons) -> Floats:
    """Squared residual of each comparison: (1 - its probability)², or 1 where it is ordered wrongly."""
    return (1.0 - likelihoods(model, c)) ** 2 if model.has_probability else 1.0 - correct(model, c)


def _ridge(model: Any, X: Floats, c: Comparisons) -> float:
    """Return the ridge · |X|² that stands against the sum of the losses: the estimator's, or the spread's prior."""
    if hasattr(model, "penalty_"):
        return float(model.penalty_) * float(np.sum(c.weight)) / len(c.items_compared)
    return 0.5 / max(float(((X - X.mean(0)) ** 2).mean()), 1e-12)


def _comparisons_of_items(c: Comparisons, n_items: int) -> Ints:
    """In how many comparisons each item stands; a head counts once."""
    items = [c.near.ravel(), c.far[:, 1], c.far[~c.is_triplet, 0]]
    return np.bincount(np.concatenate(items), minlength=n_items).astype(np.int32)


def _lengths(X: Floats, codes: npt.NDArray[np.integer]) -> Floats:
    return np.sqrt(pair_sqdist(X, codes))


def _nearest(X: Floats, compared: Bools) -> Array:
    square = sqdist_table(X)
    square[:, ~compared] = np.inf
    np.fill_diagonal(square, np.inf)
    return square.argmin(1)
