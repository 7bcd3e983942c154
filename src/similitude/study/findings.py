"""What the person who watches a study sees of it: accuracy on held-out answers, noise, raters, the map, items in need.

All of it is computed by the model process and kept as JSON beside the model, so that the server does no mathematics.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from similitude import folds
from similitude.active.posterior import Posterior
from similitude.display.estimate import Estimate
from similitude.evaluate.advice import FEWEST_POINTS, HORIZON, CurvePoint
from similitude.evaluate.intervals import clustered_share
from similitude.evaluate.scores import align, correct
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.drawn import REPEAT, evenly_drawn
from similitude.graph.reliability import rate_raters
from similitude.graph.repeats import answer_voices, noise_ceiling, repeat_agreement
from similitude.graph.votes import count_votes
from similitude.methods.refit import through_sample
from similitude.methods.scaling import project
from similitude.methods.similarity import Similarity
from similitude.types import Floats

_FOLDS = 5
_EARLIER = (0.4, 0.6, 0.8)  # of the answers, where the curve has too few points
_WORTH_IT = 100  # tested answers below which it would be too early to tell with these points, too
_FEWEST_TESTED = 20
_SHOWN_OF_RATERS = (
    "names",
    "answers",
    "agreement",
    "low",
    "high",
    "self_consistency",
    "by_model",
    "verdict",
    "odd",
    "cant_tell",
    "seconds",
    "side",
    "side_p_value",
    "note",
)


def held_out(estimator: Any, comparisons: Comparisons, n_answers: int) -> CurvePoint | None:
    """Accuracy on answers to evenly drawn questions that the model had not seen; None where there are too few.

    The evenly drawn answers are cut into five parts; each is predicted by a model of all other answers, the chosen
    ones and those of the other four parts. So every such answer is a test, none is tested on a model that learned it,
    and the live model learns from all of them. (To keep them from the model for good would waste a fifth of what
    people said, and to test each answer just before it is learned would measure the models of the past.) Chosen
    questions are never tests: they are those that the model was least sure of. Fits start afresh: a warm start has
    seen the test. A rater's sheet (ratings, links, labels) is one answer, predicted from those of the others.
    """
    c = comparisons
    compares = np.bincount(c.answer, minlength=c.n_answers) > 0
    tested = np.flatnonzero(evenly_drawn(c) & compares)
    if len(tested) < _FOLDS or np.isin(c.answer, tested).sum() < _FEWEST_TESTED:
        return None
    fold = np.full(c.n_answers, -1)
    fold[np.random.default_rng(0).permutation(tested)] = np.arange(len(tested)) % _FOLDS
    right = folds.held_out(c, folds.folds_of(fold[c.answer]), partial(_predicted, estimator))
    rows = np.flatnonzero(fold[c.answer] >= 0)
    share = clustered_share(right[rows], np.array(c.weight)[rows], c.answer[rows])
    return CurvePoint(n_answers, *share, len(tested))


def earlier_points(estimator: Any, comparisons: Comparisons, curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """What the curve would hold more had the model been fitted earlier, where it holds too little to be carried on.

    Answers may come all at once, or faster than fits: then the first of them, in the order in which they came, are
    looked at as they would have been then.

    Parameters
    ----------
    estimator, comparisons : as of `held_out`
    curve : what there is, its last point of all these answers
    """
    c, last = comparisons, curve[-1]
    recent = [point.answers for point in curve if point.answers * HORIZON >= last.answers]
    if len(recent) >= FEWEST_POINTS or last.tested < _WORTH_IT:
        return []
    if c.n_answers != last.answers:  # sheets gather answers, and know no earlier
        return []
    wanted = [round(share * last.answers) for share in _EARLIER]
    points = [held_out(estimator, c.select(np.arange(c.n_answers) < n), n) for n in wanted if n not in recent]
    return [point for point in points if point is not None]


def _predicted(estimator: Any, train: Comparisons, test: Comparisons) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit stopped a little early is tested as it is
        return correct(through_sample(estimator, train, lambda one, part: one.fit(part)), test)


def findings(comparisons: Comparisons, similarity: Similarity, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Everything but the curve, fit for JSON; `before` is what was found last, so that the map does not turn."""
    votes = count_votes(comparisons)
    table = rate_raters(comparisons.answers, answer_voices(comparisons, votes), votes)
    shares = _by_model(comparisons, similarity)
    raters = [
        {**rater, "odd": bool(odd), "by_model": shares.get(rater["names"])}
        for rater, odd in zip(table.to_list(), table.odd, strict=True)
    ]
    return {
        "answers": comparisons.n_answers,
        "ceiling": asdict(_noise(comparisons)),
        "raters": [{name: rater[name] for name in _SHOWN_OF_RATERS} for rater in raters],
        "map": _map(similarity, before),
        "items": _items(comparisons, similarity),
    }


def _by_model(comparisons: Comparisons, similarity: Similarity) -> dict[str, float]:
    """The share of each rater's comparisons that the model orders as the rater does; it has learned from them."""
    rater = comparisons.answers.rater
    whose, weight = np.asarray(rater.codes)[comparisons.answer], np.asarray(comparisons.weight)
    whose = np.where(whose < 0, len(rater.labels), whose)
    right = np.bincount(whose, weight * correct(similarity, comparisons), len(rater.labels) + 1)
    total = np.bincount(whose, weight, len(rater.labels) + 1)
    return {name: round(float(right[k] / total[k]), 4) for k, name in enumerate(rater.labels) if total[k] > 0}


def _noise(comparisons: Comparisons) -> Estimate:
    """The noise ceiling of evenly drawn questions: from those, and from those that were asked again on purpose."""
    strategy = comparisons.answers.strategy
    again = np.array([*(label == REPEAT for label in strategy.labels), False])[strategy.codes]
    part = comparisons.select(evenly_drawn(comparisons) | again)
    return noise_ceiling(repeat_agreement(answer_voices(part, count_votes(part))))


def ceiling_of(found: dict[str, Any]) -> Estimate:
    """The noise ceiling as it was found."""
    return Estimate(**found["ceiling"])


def _map(similarity: Similarity, before: dict[str, Any] | None) -> dict[str, list[Any]]:
    """Places in two dimensions, turned and mirrored onto the last map, but not stretched."""
    names = list(similarity.names or ())
    places = project(similarity.embedding)
    places = places - places.mean(0)
    if before and before["map"]["names"] == names:
        last = np.array(before["map"]["places"])
        aligned = align(places, last)
        size = float(np.linalg.norm(aligned - aligned.mean(0)))
        if size > 0:
            places = (aligned - aligned.mean(0)) * float(np.linalg.norm(places)) / size
    return {"names": names, "places": np.round(places, 4).tolist()}


def _items(comparisons: Comparisons, similarity: Similarity) -> list[dict[str, Any]]:
    """Each item with the number of answers about it and how unsure its place is, the neediest first.

    Unsure: standard deviation of the item's place over that of all places; 1 is no idea.
    """
    shown = comparisons.answers.shown
    once = np.unique(shown.owner * comparisons.n_items + shown.values)  # a sheet may show an item in several lines
    answers = np.bincount(once % comparisons.n_items, minlength=comparisons.n_items)
    posterior = Posterior.of(similarity, comparisons)
    spread = float(((similarity.embedding - similarity.embedding.mean(0)) ** 2).sum(1).mean())
    unsure = np.sqrt(np.minimum(posterior.spread / max(spread, 1e-12), 1.0))
    order = np.lexsort([answers, -unsure])
    names = similarity.names or ()
    return [{"name": names[k], "answers": int(answers[k]), "unsure": round(float(unsure[k]), 3)} for k in order]
