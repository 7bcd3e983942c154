"""Raters who differ in sharpness: positions and the reliability of each rater, fitted at once.

    P(answer) = l_r/2 + (1 - l_r) / (1 + exp(-s_r · (scale(d2_far) - scale(d2_near))))

s_r > 0 is the sharpness of rater r, log-normal, its mean over all answers 1; l_r, if asked for, the share of answers
given at random. A rater of sharpness 0 says nothing, a sharp one more than others; pooling is equal sharpness.
How far raters differ (the spread of log s_r) is learned from the answers themselves: spread² is the mean of
(log s_r)² given the answers, the map taken as known (the step of EM for the variance of a normal prior), so that raters
who do not differ end up pooled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from similitude.engine.distances import pair_sqdist
from similitude.engine.joint_terms import Judged
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.methods.answering import Sharpness, raters_of
from similitude.methods.likelihood import LikelihoodEmbedding, answer_counts
from similitude.settings import check_number
from similitude.types import Array, Floats

if TYPE_CHECKING:
    import pandas as pd

_FIRST_SPREAD = 0.5
_LEAST_SPREAD = 0.02  # raters this alike are pooled
_ROUNDS = 20
_DULL = 0.4  # of a typical rater's sharpness: who lies below it with the whole interval is called less sharp
_LEVEL = 0.95


class RaterEmbedding(LikelihoodEmbedding):
    """Positions with the sharpness of each rater, fitted jointly.

    An answer without a recorded rater counts with sharpness 1; where no rater is recorded, the fit is that of the
    method itself.

    Parameters
    ----------
    method : "STE", "TSTE", "CKL" or "probit": how a rater of sharpness 1 answers
    spread : how far raters differ, the standard deviation of log sharpness; "auto" learns it from the answers
    lapse : whether each rater also has a share of answers given at random, around 5 % before anything is known. It
        needs raters with hundreds of answers: with fewer, a lapse and a low sharpness look alike

    Attributes
    ----------
    raters_ : table with a row per rater: `rater`, `answers`, `sharpness` with its 95 % interval `low`, `high` (the
        map taken as known, whole answers as draws), `lapse` where asked for, and `less_sharp` where the interval lies
        below 0.4, whatever the reason. A typical rater has 1
    spread_ : the spread that was used
    pooled_objective_ : mean loss plus ridge of the pooled fit, from which it starts

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> raters = sm.Raters.of([8.0, 8.0, 0.0], names=["ann", "ben", "clicker"])
    >>> answers = sm.simulate(truth, 900, raters=raters, random_state=0)
    >>> model = sm.RaterEmbedding(n_components=2, random_state=0).fit(answers)
    >>> model.raters_.rater[model.raters_.less_sharp].tolist()
    ['clicker']
    """

    spread: float | Literal["auto"] = "auto"
    lapse: bool = False

    def fit(
        self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, *, callback: Callback | None = None
    ) -> Self:
        """Find positions for the items and the sharpness of the raters: first pooled, then at once.

        The parameters are those of `STE.fit`; who answered stands in the comparisons.
        """
        c = as_comparisons(comparisons, y, self.n_items)
        super().fit(c, callback=callback)
        self.pooled_objective_ = self.objective_
        names, rater = raters_of(c)
        term = self._term(c, rater, len(names))
        own = term.start(pair_sqdist(self.embedding_, term.pairs))
        if names:
            found, own = self._fit_raters(c, term, own, callback)
            X = found.params[: c.n_items * self.n_components].reshape(c.n_items, -1)
            compared = np.isin(np.arange(c.n_items), term.pairs)
            self._keep_positions(found, (X - X[compared].mean(0)) * compared[:, None], c.names)
        self.spread_ = term.sources.spread
        self.raters_ = self._table(c, names, term, own)
        if names:
            self.similarity_ = replace(self.similarity_, answering=Sharpness.of(names, term.sources, own))
        return self

    def _check(self) -> None:
        super()._check()
        check_number("spread", self.spread, positive=True, also="auto")

    def _term(self, c: Comparisons, rater: Array, n_raters: int) -> Judged:
        kept = np.flatnonzero(c.weight > 0)
        spread = _FIRST_SPREAD if self.spread == "auto" else float(self.spread)
        return Judged(
            self.comparison_loss(), c.near[kept], c.far[kept], np.array(c.weight[kept]), rater[kept], n_raters,
            spread=spread, lapse=self.lapse,
        )  # fmt: skip

    def _fit_raters(
        self, c: Comparisons, term: Judged, own: Floats, callback: Callback | None
    ) -> tuple[Result, Floats]:
        """Alternate between the joint fit at a spread and the spread that the sharpness found asks for."""
        compared = len(np.unique(term.pairs))
        model = Positions(c.n_items, self.n_components)
        params = np.concatenate([self.embedding_.ravel(), own])
        for _ in range(1 if self.spread != "auto" else _ROUNDS):
            problem = Problem(model, term, Ridge(self.penalty_, compared))
            found = lbfgs(problem, params, max_iter=self.max_iter, tol=self.tol, callback=callback)
            params = found.params
            X, own = problem.split(params)
            if self.spread == "auto":
                before, wanted = term.sources.spread, self._learned_spread(term, X, own, c)
                # twice the step of EM, which is slow
                term.sources.spread = max(wanted * wanted / before, _LEAST_SPREAD)
                if abs(wanted - before) < 0.01 * before:
                    break
        return found, own

    def _learned_spread(self, term: Judged, X: Floats, own: Floats, c: Comparisons) -> float:
        known = SharpnessPosterior.of(term, pair_sqdist(X.reshape(c.n_items, -1), term.pairs), own, c)
        return max(known.spread, _LEAST_SPREAD)

    def _table(self, c: Comparisons, names: tuple[str, ...], term: Judged, own: Floats) -> pd.DataFrame:
        import pandas as pd

        columns = ("sharpness", "low", "high")
        figures = dict.fromkeys(columns, np.empty(0))
        if names:
            known = SharpnessPosterior.of(term, pair_sqdist(self.embedding_, term.pairs), own, c)
            figures = dict(zip(columns, np.exp([known.mean, known.low, known.high]), strict=True))
        table = pd.DataFrame({"rater": names, "answers": answer_counts(c)} | figures)
        if self.lapse:
            table["lapse"] = term.sources.lapses(own)[:-1]
        return table.assign(less_sharp=table.high < _DULL)


@dataclass(frozen=True)
class SharpnessPosterior:
    """What the answers say of each log sharpness when the map and the lapses are taken as known, 0 being typical.

    Attributes
    ----------
    mean, low, high : mean and 95 % interval of the log sharpness of each rater
    spread : standard deviation of log sharpness over raters, what is not known of each included
    """

    mean: Floats
    low: Floats
    high: Floats
    spread: float

    @classmethod
    def of(cls, term: Judged, d2: Floats, own: Floats, c: Comparisons) -> SharpnessPosterior:
        """Likelihood times prior on 121 points around the fit.

        In the fit the ridge on the map presses on sharp raters more than on dull ones; with the map given, nothing but
        the answers and the prior speak. What is typical is the mean, raters weighted by the information in their
        answers: clickers do not count. Comparisons of one answer depend on each other, so the log-likelihood is divided
        by how much more the score varies from answer to answer than independent comparisons would let it (Chandler &
        Bate 2007), 1 at least.
        """
        margin = term.margins(d2, own)
        information = term.information(margin)
        excess = _excess(term, margin, information, c.answer[c.weight > 0])
        error = 1.0 / np.sqrt(information / excess + term.sources.spread**-2)
        offset = np.linspace(-12.0, 12.0, 121)[:, None] * error
        stretch = np.exp(np.concatenate([offset, np.zeros((len(offset), 1))], axis=1))
        loss = np.array([term.losses_by_source(one[term.sources.source] * margin, own) for one in stretch]) / excess
        power = np.log(term.sources.sharpness(own)[:-1]) + offset
        typical = 0.0
        for _ in range(_ROUNDS):  # of EM for the mean of the prior
            chance = _normalised(-loss - 0.5 * ((power - typical) / term.sources.spread) ** 2)
            mean = (chance * power).sum(0)
            typical = float(np.average(mean, weights=information + 1e-12))
        ends = [_quantile(power, chance, share) - typical for share in (0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2)]
        spread = float(np.sqrt((chance * (power - mean.mean()) ** 2).sum(0).mean()))
        return cls(mean - typical, ends[0], ends[1], spread)


def _excess(term: Judged, margin: Floats, information: Floats, answer: Array) -> float:
    """How much more the scores of answers vary than is expected of independent comparisons, 1 at least."""
    known = term.sources.source < term.sources.count
    score = term.weight * term.loss.shape(margin)[1] * margin * known
    by_answer = np.bincount(np.unique(answer, return_inverse=True)[1], score)
    expected = float(information.sum())
    return max(float(by_answer @ by_answer) / expected, 1.0) if expected > 0 else 1.0


def _normalised(density: Floats) -> Floats:
    chance = np.exp(density - density.max(0))
    return chance / chance.sum(0)


def _quantile(value: Floats, chance: Floats, share: float) -> Floats:
    """The value in each column at which its chances add up to a share."""
    total = np.cumsum(chance, axis=0) - 0.5 * chance
    columns = range(value.shape[1])
    return np.array([np.interp(share, total[:, k], value[:, k]) for k in columns])
