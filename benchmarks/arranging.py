"""People who lay items on a table, and people who answer triplets, by one model of what they see; and their time.

What is seen: at every question each item anew at its true place, blurred by normal noise of deviation `BLUR` in each
dimension (the places themselves have deviation 1). A triplet is answered by the two distances that are seen. An
arrangement is the best plane through what is seen of its items (principal coordinates), stretched to fill the table,
each item put down with normal noise of `HAND` radii of the table in each direction.

How long it takes: a triplet 3 seconds; an arrangement of m items 1.5 m^1.5 seconds, 34 for eight of them. The power is
that of Kriegeskorte & Mur (2012), who let the time of a trial grow so; the factors are ours. Whoever arranges twice as
slowly needs twice the minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import similitude as sm
from similitude.active.arrangements import evidence, weakest_subsets
from similitude.feedback.columns import Rows

Floats = npt.NDArray[np.float64]
Questions = list[tuple[list[int], list[float]]]
BLUR = 0.3
HAND = 0.05
_RIM = 0.999
_FIRST, _SHARE = 8, 4  # arrangements before the first fit (of triplets one for each item); then a quarter more


def seconds(form: str, size: int) -> float:
    """How long an answer takes."""
    return 3.0 if form == "triplet" else 1.5 * size**1.5


def said(form: str, truth: Floats, rng: np.random.Generator) -> list[float]:
    """What somebody says to one question about items at these places."""
    seen = truth + BLUR * rng.standard_normal(truth.shape)
    if form == "triplet":
        near, far = ((seen[0] - seen[1]) ** 2).sum(), ((seen[0] - seen[2]) ** 2).sum()
        return [1.0 if near < far else 2.0]
    seen = seen - seen.mean(axis=0)
    place = seen @ np.linalg.svd(seen, full_matrices=False)[2][:2].T
    place = place / np.sqrt((place**2).sum(axis=1)).max()
    place = place + HAND * rng.standard_normal(place.shape)
    inside = np.maximum(np.sqrt((place**2).sum(axis=1, keepdims=True)) / _RIM, 1.0)
    return [float(value) for value in (place / inside).ravel()]


def asked(form: str, truth: Floats, size: int, number: int, lift: bool, rng: np.random.Generator) -> Questions:
    """Questions and answers, of random items, or of those of whose pairs least is known."""
    answers: Questions = []
    while len(answers) < number:
        subsets = [rng.permutation(len(truth))[:size].tolist()]
        if lift and len(answers) >= (_FIRST if form == "placement" else len(truth)):
            subsets = _chosen(form, answers, truth.shape, size, rng)
        answers += [(one, said(form, truth[one], rng)) for one in subsets[: number - len(answers)]]
    return answers


def _chosen(
    form: str, answers: Questions, shape: tuple[int, ...], size: int, rng: np.random.Generator
) -> list[list[int]]:
    """The next questions: a quarter as many as there are, since a study chooses them anew so often."""
    fitted, number = fit(form, answers, shape[0], shape[1]), max(1, len(answers) // _SHARE)
    if form == "triplet":
        told = comparisons_of(form, answers, shape[0])
        table = sm.next_questions(fitted, number, asked=told, form=form, random_share=0.2, random_state=rng)
        return [list(row) for row in table.shown]
    known = evidence(shape[0], Rows.of([one for one, _ in answers]), Rows.of([what for _, what in answers], float))
    found = weakest_subsets(fitted.similarity_.distances(), known, size, number, rng)
    return [subset for subset, _ in found]


def fit(form: str, answers: Questions, n_items: int, dimensions: int) -> sm.STE:
    """The map of what was answered."""
    told = comparisons_of(form, answers, n_items)
    return sm.STE(dimensions, n_items=n_items, random_state=0).fit(told)


def comparisons_of(form: str, answers: Questions, n_items: int) -> sm.Comparisons:
    """What was answered, as comparisons."""
    shown, response = Rows.of([one for one, _ in answers], np.int32), Rows.of([what for _, what in answers], float)
    return sm.Comparisons.from_answers(sm.Answers.of(form, shown, response), n_items=n_items)


def recovery(model: sm.STE, truth: Floats) -> tuple[float, float]:
    """Share of new triplets that the map orders as they are, and correlation of its distances with the true ones."""
    pairs = np.triu_indices(len(truth), 1)
    true = np.sqrt(((truth[pairs[0]] - truth[pairs[1]]) ** 2).sum(axis=1))
    fresh = sm.simulate(truth, 5000, random_state=1)
    return float(model.score(fresh)), float(np.corrcoef(true, model.similarity_.distances()[pairs])[0, 1])


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    found = np.asarray(values)
    return float(found.mean()), float(found.std(ddof=1) / len(found) ** 0.5) if len(found) > 1 else float("nan")
