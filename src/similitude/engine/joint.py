"""Several kinds of feedback in one problem: terms over the same distances, each with parameters of its own.

    min over params, own_t:   sum_t weight_t · term_t(d2, own_t) / W + penalty(params) + sum_t prior_t(own_t) / W

d2 are the squared distances of the pairs that a term reads, term_t the weighted sum of its losses (minus the log of a
probability), and W the total weight of all terms: with one term it is the mean loss of `engine.problem`. A term's own
parameters are thresholds, the sharpness of raters, the slope of a rating scale (`engine.joint_terms`). The parameters
are one flat vector: those of the model, then those of each term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.models import Model
from similitude.engine.penalties import Blocks, Penalty
from similitude.feedback.columns import Array, Floats
from similitude.graph.build import distinct_pairs


class Term(ABC):
    """A sum of losses of squared distances.

    Attributes
    ----------
    pairs : (k, 2) the pairs whose squared distances it reads, in its own order
    total : the total weight of what was said
    size : number of its own parameters
    """

    pairs: Array
    total: float
    size: int

    @abstractmethod
    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """Weighted sum of losses, its derivative by each squared distance and by each of its own parameters."""

    @abstractmethod
    def start(self, d2: Floats) -> Floats:
        """Own parameters to start from, given squared distances."""

    @abstractmethod
    def prior(self, total: float) -> Penalty:
        """What keeps its own parameters in their place, per unit of the total weight of the problem."""


class JointProblem:
    """A model, several terms and a penalty on the model's parameters, as an `Objective` of the solvers.

    Parameters
    ----------
    model : gives the squared distances
    n_items : number of items
    terms, weights : what was said, and how much each kind counts
    penalty : of the model's parameters
    """

    def __init__(
        self,
        model: Model,
        n_items: int,
        terms: Sequence[Term],
        penalty: Penalty,
        weights: Sequence[float] | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.model, self.terms, self.backend = model, tuple(terms), backend or CPU()
        self.weights = [1.0] * len(self.terms) if weights is None else [float(weight) for weight in weights]
        self.total = sum(weight * term.total for weight, term in zip(self.weights, self.terms, strict=True))
        sizes = [model.size, *(term.size for term in self.terms)]
        self._cuts = np.cumsum(sizes)[:-1]
        priors = [term.prior(self.total) for term in self.terms]
        self.penalty: Penalty = Blocks(list(zip([penalty, *priors], sizes, strict=True)))
        self.pairs, place = distinct_pairs(np.concatenate([term.pairs for term in self.terms]), n_items)
        self._places = np.split(place, np.cumsum([len(term.pairs) for term in self.terms])[:-1])

    def split(self, params: Floats) -> list[Floats]:
        """Return the parameters of the model and of each term."""
        return np.split(params, self._cuts)

    def start(self, params: Floats) -> Floats:
        """Return the model's parameters with own parameters of the terms that suit them."""
        d2 = self.model.sqdist(params.ravel(), self.pairs, self.backend)
        own = [term.start(d2[place]) for term, place in zip(self.terms, self._places, strict=True)]
        return np.concatenate([params.ravel(), *own])

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value and gradient, the penalty left out."""
        position, *own = self.split(params)
        d2 = self.model.sqdist(position, self.pairs, self.backend)
        value, pull, gradients = 0.0, np.zeros(len(d2)), []
        for term, place, weight, mine in zip(self.terms, self._places, self.weights, own, strict=True):
            rate = weight / self.total
            loss, slope, gradient = term.evaluate(d2[place], mine)
            value += rate * loss
            pull += rate * np.bincount(place, slope, len(d2))
            gradients.append(rate * gradient)
        return value, np.concatenate([self.model.pullback(position, self.pairs, pull, self.backend), *gradients])

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient."""
        value, gradient = self.data(params)
        return value + self.penalty.value(params), gradient + self.penalty.gradient(params)

    def value(self, params: Floats) -> float:
        """Objective alone."""
        return self.data(params)[0] + self.penalty.value(params)
