"""Comparisons, links, ratings and labels in one fit, each with a likelihood and a weight of its own.

    min over X, own:   sum over forms f of weight_f · (minus the log-likelihood of what was said in form f) / W + ridge

| feedback | likelihood | own parameters |
|---|---|---|
| comparisons, and those that labels imply | 1/(1 + exp(-s_f · (scale(d2_far) - scale(d2_near)))) | sharpness s_f |
| links | P(similar) = 1/(1 + exp(-b (c - distance))) | threshold c, slope b |
| ratings in steps | P(rating <= k) = 1/(1 + exp(b distance + u_r - c_k)) | thresholds c_k, slope b, shifts u_r |
| ratings as numbers | normal around a + u_r + b distance | a, b, width, shifts u_r |

A form that says little about the distances gets a low sharpness or slope, and counts for little by itself; weights are
for what a likelihood cannot know: that answers of a form depend on each other, or that people mean another thing by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from similitude.engine.devices import solvers_of
from similitude.engine.distances import pair_sqdist
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.forms import FORMS as QUESTIONS
from similitude.feedback.labels import Labels
from similitude.feedback.links import Links
from similitude.feedback.ratings import Ratings
from similitude.folds import Fold, folds_of, held_out
from similitude.methods.answering import Sharpness
from similitude.methods.likelihood import LikelihoodEmbedding
from similitude.methods.mixed_feedback import FORMS, MixedFeedback
from similitude.settings import one_of
from similitude.types import Floats

_GRID = (1.0, 0.3, 0.1, 0.03, 0.01)
_FOLDS = 4
_FEWEST = 40  # answers below which weights cannot be chosen


class MixedEmbedding(LikelihoodEmbedding):
    """Positions from several forms of feedback at once.

    With comparisons of one form alone it is the method itself.

    Parameters
    ----------
    method : "STE", "TSTE", "CKL" or "probit": how comparisons are answered
    weights : how much each form counts, as a dict, 1 where it is not in it: "links", "ratings", "labels", or a form of
        comparison ("odd_one_out", ...). "auto" chooses the weights of all but the target, from 1 down to 0.003, by the
        log-loss of held-out answers of the target, where there are 40 or more; else they are 1
    target : the form of comparison that "auto" weights are to serve ("triplet", say); all comparisons when not given
    device : where comparisons are evaluated when all are of one form; other feedback is, and comparisons of several
        forms are, on the CPU
    steps : "auto" reads ratings of at most 12 different values as steps, others as numbers; True or False for all

    Attributes
    ----------
    weights_ : the weights that were used
    sharpness_ : sharpness of each form of comparison, and of labels; their mean over all that was said is 1
    links_ : threshold (a distance) and slope of the links, None without links
    ratings_ : for each set of ratings its slope, the shift of each rater and which way is `larger`; for steps their
        values and thresholds, for numbers offset and width, in units of their `spread` around their `centre`
    n_used_ : how many comparisons, links, ratings and labels' comparisons were learned from

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 300, random_state=0)
    >>> links = sm.Links.from_pairs(similar=[(0, 1), (2, 3)], dissimilar=[(0, 2), (1, 3)], n_items=12)
    >>> model = sm.MixedEmbedding(n_components=2, weights={"links": 0.5}, random_state=0).fit(answers, links=links)
    >>> model.embedding_.shape, model.weights_["links"]
    ((12, 2), 0.5)
    """

    takes_further = True  # `fit` takes links, ratings and labels

    weights: Mapping[str, float] | Literal["auto"] = "auto"
    target: str | None = None
    steps: bool | Literal["auto"] = "auto"

    def fit(
        self,
        comparisons: ComparisonsLike | None = None,
        y: npt.ArrayLike | None = None,
        *,
        links: Links | None = None,
        ratings: Ratings | Sequence[Ratings] | None = None,
        labels: Labels | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Find positions for the items, by all that was said about them.

        Parameters
        ----------
        comparisons, y : as for `STE.fit`; may be left out where there is other feedback
        links : pairs called similar or dissimilar
        ratings : pairs with a number each; several sets where there were several scales
        labels : classes, grades or numbers for items
        callback : called after each iteration with its number and the objective; it may raise to interrupt
        """
        c = None if comparisons is None else as_comparisons(comparisons, y, self.n_items)
        self._check()
        rng = np.random.default_rng(self.random_state)
        said = MixedFeedback.of(c, links, ratings, labels, self.steps, rng)
        super().fit(said.as_comparisons, callback=callback)
        self._learned_from["never_compared"] = np.flatnonzero(~said.present).tolist()
        if said.plain:
            self._keep_plain(said)
            return self
        self.weights_ = self._chosen_weights(said)
        problem = self._problem(said, self.weights_)
        best = self._joint(problem, callback)
        self._keep_joint(best, problem, said)
        return self

    def _check(self) -> None:
        super()._check()
        if self.steps not in (True, False, "auto"):
            raise ValueError(f"steps: expected True, False or 'auto', found {self.steps!r}")
        if isinstance(self.weights, str):
            one_of("weights", self.weights, ("auto",))
        for name, weight in self.weights.items() if isinstance(self.weights, Mapping) else ():
            if name not in (*FORMS, *QUESTIONS) or not (np.isfinite(weight) and weight >= 0):
                known = ", ".join((*FORMS, *sorted(QUESTIONS)))
                raise ValueError(f"weights: expected numbers of at least 0 for {known}, found {name!r}: {weight!r}")

    def _problem(self, said: MixedFeedback, weights: Mapping[str, float]) -> Problem:
        device = self._where(0 if said.comparisons is None else len(said.comparisons))
        terms, shares, backend = said.terms(self.comparison_loss(), weights, device)
        total = sum(share * term.total for term, share in zip(terms, shares, strict=True))
        strength = self._prior * said.n_present / total if self.penalty == "auto" else float(self.penalty)
        self.penalty_ = strength
        ridge = Ridge(strength, said.n_present)
        return Problem(Positions(said.n_items, self.n_components), terms, ridge, shares, backend)

    def _joint(self, problem: Problem, callback: Callback | None) -> Result:
        start, lbfgs = problem.start(self.embedding_), solvers_of(problem.backend)[0]
        return lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)

    def _chosen_weights(self, said: MixedFeedback) -> dict[str, float]:
        given = dict(self.weights) if isinstance(self.weights, Mapping) else {}
        weights = {kind: float(given.get(kind, 1.0)) for kind in said.kinds}
        if self.weights != "auto" or said.comparisons is None:
            return weights
        test = said.of_form(self.target)
        if not test.any():
            forms = ", ".join(said.forms)
            raise ValueError(f"target: expected a form of the comparisons ({forms}), found {self.target!r}")
        others = [kind for kind in said.kinds if kind in FORMS or self.target not in (None, kind)]
        if test.sum() < _FEWEST or not others:
            return weights
        fold = np.where(test, np.random.default_rng(0).permutation(len(test)) % _FOLDS, -1)
        return self._searched(said, weights, others, folds_of(fold[said.comparisons.answer]))

    def _searched(
        self, said: MixedFeedback, weights: dict[str, float], others: list[str], folds: list[Fold]
    ) -> dict[str, float]:
        """First one weight for all others, then each by itself a step down or up."""
        best, loss = weights, np.inf
        for value in _GRID:
            tried = weights | dict.fromkeys(others, value)
            found = self._held_out_loss(said, tried, folds)
            if found < loss:
                best, loss = tried, found
        for kind in others if len(others) > 1 else ():
            for factor in (1.0 / 3.0, 3.0):
                tried = best | {kind: min(best[kind] * factor, 1.0)}
                found = self._held_out_loss(said, tried, folds) if tried != best else np.inf
                if found < loss:
                    best, loss = tried, found
        return best

    def _held_out_loss(self, said: MixedFeedback, weights: Mapping[str, float], folds: list[Fold]) -> float:
        """Log-loss of the answers of each fold, learned from all other feedback."""
        assert said.comparisons is not None
        loss = self.comparison_loss()

        def lost(training: Comparisons, test: Comparisons) -> Floats:
            problem = self._problem(said.with_comparisons(training), weights)
            lbfgs = solvers_of(problem.backend)[0]
            found = lbfgs(problem, problem.start(self.embedding_), max_iter=100, tol=1e-4)
            position, own = problem.split(found.params)[:2]
            sharp = said.sharpness_of(test, problem.terms[0], own)
            d2 = [pair_sqdist(position.reshape(said.n_items, -1), pair) for pair in (test.near, test.far)]
            return test.weight * loss.shape(sharp * loss.margin(*d2))[0]

        return float(np.nansum(held_out(said.comparisons, folds, lost)))

    def _keep_plain(self, said: MixedFeedback) -> None:
        self.weights_ = {}
        self.sharpness_ = dict.fromkeys(said.forms, 1.0)
        self.links_: dict[str, float] | None = None
        self.ratings_: list[dict[str, Any]] = []
        self.n_used_ = said.counts

    def _keep_joint(self, best: Result, problem: Problem, said: MixedFeedback) -> None:
        position, *own = problem.split(best.params)
        X = position.reshape(said.n_items, -1)
        present = said.present[:, None]
        self._keep_positions(best, (X - X[said.present].mean(0)) * present, said.names)
        self.sharpness_ = said.sharpness(problem.terms, own)
        self.links_, self.ratings_ = said.scales(problem.terms, own)
        self.n_used_ = said.counts
        self.similarity_ = replace(self.similarity_, answering=self._answering(), thresholds=self._thresholds())

    def _answering(self) -> Sharpness:
        """Return the sharpness of each form; a form that is not known is as sharp as the target, or the commonest."""
        sharp = list(self.sharpness_.values())
        typical = self.sharpness_.get(self.target or "", next(iter(sharp), 1.0))
        return Sharpness(tuple(self.sharpness_), np.array([*sharp, typical]), np.zeros(len(sharp) + 1), by="form")

    def _thresholds(self) -> dict[str, Any]:
        """Return what was found of links and ratings, in plain numbers."""
        sets = [one | {name: one[name].tolist() for name in ("thresholds",) if name in one} for one in self.ratings_]
        return ({} if self.links_ is None else {"links": self.links_}) | ({"ratings": sets} if sets else {})
