"""Who answers in a replay: a simulated rater, or the record of what people said."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypedDict

import numpy as np

from similitude.active.asked import codes_of
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.simulation.raters import Raters
from similitude.feedback.simulation.simulate import simulate
from similitude.types import Array, Ints

_TEST_QUESTIONS = 10_000


class RaterOptions(TypedDict, total=False):
    """How a simulated rater answers; `simulate` explains it."""

    metric: Literal["euclidean", "precomputed"]
    sharpness: float | None
    flip: float
    raters: Raters | int | None
    spread: float
    lapse: float
    cant_tell: float
    grid_size: int | None
    n_chosen: int | None
    levels: int | None


class AnswerSource(Protocol):
    """Answers questions; each repeat of a replay has one of its own."""

    n_items: int
    test: Comparisons

    @property
    def pool(self) -> Ints | None:
        """The questions that can be answered, None where all can."""

    def ask(self, shown: Ints, rng: np.random.Generator) -> Comparisons:
        """Return the answers to questions."""


class SimulatedRater:
    """A rater with a known truth; models are tested against that truth, on random questions without noise."""

    pool: Ints | None = None

    def __init__(self, truth: Array, form: str, rng: np.random.Generator, settings: RaterOptions) -> None:
        self.truth, self.form, self.settings = truth, form, settings
        self.n_items = len(truth)
        metric = settings.get("metric", "euclidean")
        self.test = simulate(truth, _TEST_QUESTIONS, metric=metric, random_state=rng)

    def ask(self, shown: Ints, rng: np.random.Generator) -> Comparisons:
        """Return simulated answers."""
        return simulate(self.truth, form=self.form, questions=shown, random_state=rng, **self.settings)


class RecordedAnswers:
    """What people said: a random share of the answers is the test; the others can be asked, each question once.

    Answers with several comparisons are held out whole. A question that was answered more than once gives one of its
    answers, by chance.
    """

    def __init__(self, comparisons: Comparisons, test_size: float, rng: np.random.Generator) -> None:
        self.n_items = comparisons.n_items
        train, self.test = comparisons.split(test_size, by="answer", random_state=rng)
        rows = train.triplets[rng.permutation(len(train))]
        codes = codes_of("triplet", rows, self.n_items)
        self._codes, first = np.unique(codes, return_index=True)
        self._said = rows[first]
        self.pool: Ints | None = self._said

    def ask(self, shown: Ints, rng: np.random.Generator) -> Comparisons:
        """Return the recorded answers."""
        place = np.searchsorted(self._codes, codes_of("triplet", shown, self.n_items))
        return Comparisons.from_triplets(self._said[place], n_items=self.n_items)


def error_of(model: Any, test: Comparisons) -> tuple[float, float]:
    """Share of test comparisons that a model gets wrong (ties half), and the mean probability that it gives them."""
    likelihood = float(model.predict_proba(test)[:, 1].mean()) if model.has_probability else np.nan
    return 1.0 - float(model.score(test)), likelihood
