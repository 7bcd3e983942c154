"""Strategies: who proposes the next question of a head. A strategy joins by registering a factory under its name.

| strategy | proposes | needs |
|---|---|---|
| `random` | any question | nothing |
| `uncertainty` | the question whose answer the model is least sure of | probabilities |
| `information_gain` | the question whose answer tells most about positions (the default) | probabilities, answers |
| `ackl` | the same, with the head on one of the other items' positions | probabilities, answers |
| `atackl` | the same for TACKL: samples of the features' weights and the head's free part | a fitted `TACKL`, answers |
| `sequential` | the first question that the answers so far leave open | answers without noise |
| `landmark` | questions about a few landmark items | nothing |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from similitude.active.asked import Asked
from similitude.active.head_gain import AuxiliaryGain, CrowdKernelGain
from similitude.active.landmark import Landmarks
from similitude.active.posterior import Posterior
from similitude.active.proposals import RandomQuestions, ScoredQuestions, Scorer
from similitude.active.scores import AnswerEntropy, InformationGain
from similitude.active.sequential import SequentialQuestions
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import picking_forms
from similitude.methods.similarity import Similarity
from similitude.methods.tackl import TACKL
from similitude.types import Ints

Proposal = tuple[list[int], float]


class Strategy(Protocol):
    """Proposes questions one by one."""

    def question(self, head: int) -> Proposal | None:
        """The best question of a head that was not asked, with its score (NaN: none); None if none is left."""

    def learn(self, shown: Ints) -> None:
        """Be told that a question was chosen, so that the next one asks for something else."""


@dataclass(frozen=True)
class Situation:
    """What a strategy may look at.

    Attributes
    ----------
    similarity : the fitted model
    model : what the caller gave, an estimator or the similarity: a strategy may need more of it than positions
    comparisons : the answers so far, over the model's items, or None
    asked : the questions that must not be proposed
    form, width : the form of question, and how many items it shows
    candidates : how many random candidates of a head to score; None is all of them
    pool : (m, width) the questions that may be asked, where not all may
    rng : chance
    n_chosen : how many a person picks from a grid, None where the form says
    """

    similarity: Similarity
    model: Any
    comparisons: Comparisons | None
    asked: Asked
    form: str
    width: int
    candidates: int | None
    pool: Ints | None
    rng: np.random.Generator
    n_chosen: int | None = None

    @cached_property
    def posterior(self) -> Posterior:
        """Posterior of the positions after the answers so far."""
        return Posterior.of(self.similarity, self.comparisons)


Factory = Callable[[Situation], Strategy]
STRATEGIES: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Make a strategy known under a name."""
    STRATEGIES[name] = factory


def make(name: str, situation: Situation) -> Strategy:
    """Return the strategy of that name, ready for a situation."""
    if name not in STRATEGIES:
        raise ValueError(f"strategy: {name!r} is unknown; the strategies are {', '.join(STRATEGIES)}")
    return STRATEGIES[name](situation)


def _scored(scorer: Callable[[Situation], Scorer]) -> Factory:
    def factory(situation: Situation) -> Strategy:
        _need_probability(situation.similarity)
        s = situation
        return ScoredQuestions(scorer(s), s.asked, s.form, s.width, s.candidates, s.pool, s.rng, s.n_chosen)

    return factory


def _need_probability(similarity: Similarity) -> None:
    if not similarity.has_probability:
        method = similarity.about.get("method", "this model")
        raise ValueError(
            f"similarity: {method} gives no probability of an answer, which this strategy needs; fit STE, TSTE, CKL or "
            "RCKL, or take strategy='random'"
        )


def _need_head(name: str, situation: Situation) -> None:
    known = picking_forms()
    if not known[situation.form].is_about_heads:
        others = ", ".join(repr(form) for form, one in known.items() if one.is_about_heads)
        raise ValueError(
            f"strategy: {name!r} is about the position of a head, and a {situation.form} has none; expected form "
            f"{others}, or strategy 'information_gain'"
        )


def _crowd(situation: Situation) -> Scorer:
    _need_head("ackl", situation)
    if situation.similarity.kind != "distance":
        raise ValueError(
            f"strategy: 'ackl' is about distances, and this model has a {situation.similarity.kind}; take "
            "strategy='information_gain'"
        )
    return CrowdKernelGain(situation.similarity, situation.comparisons)


def _auxiliary(situation: Situation) -> Scorer:
    _need_head("atackl", situation)
    if not isinstance(situation.model, TACKL):
        found = situation.similarity.about.get("method", "this model")
        what = "a Similarity, which holds no features" if situation.model is situation.similarity else f"a {found}"
        raise ValueError(
            f"similarity: strategy 'atackl' samples the weights of features and needs the fitted TACKL itself, found "
            f"{what}; give that, or take strategy='information_gain' or 'ackl'"
        )
    return AuxiliaryGain(situation.model, situation.comparisons, situation.rng)


def _triplets_only(name: str, situation: Situation) -> None:
    if situation.form != "triplet" or situation.pool is not None:
        what = f"form {situation.form!r}" if situation.form != "triplet" else "a pool"
        raise ValueError(f"strategy: {name!r} walks through triplets in an order of its own; found {what}")


def _sequential(situation: Situation) -> Strategy:
    _triplets_only("sequential", situation)
    return SequentialQuestions(situation.similarity.embedding, situation.comparisons, situation.asked, situation.rng)


def _landmark(situation: Situation) -> Strategy:
    _triplets_only("landmark", situation)
    return Landmarks(situation.similarity.n_items, situation.comparisons, situation.asked, situation.rng)


register("random", lambda s: RandomQuestions(s.similarity.n_items, s.asked, s.form, s.width, s.pool, s.rng))
register("uncertainty", _scored(lambda s: AnswerEntropy(s.posterior)))
register("information_gain", _scored(lambda s: InformationGain(s.posterior)))
register("ackl", _scored(_crowd))
register("atackl", _scored(_auxiliary))
register("sequential", _sequential)
register("landmark", _landmark)
