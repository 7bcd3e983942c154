"""A problem: a model, terms over its squared distances, and a penalty, ready for a solver.

    min over params, own_t:   sum_t weight_t · term_t(d2, own_t) / W + penalty(params) + sum_t prior_t(own_t) / W

d2 are the squared distances of the pairs that a term reads, term_t the weighted sum of its losses, and W the total
weight of all terms: with one term it is a mean loss. Comparisons are a term (`engine.comparison_terms`); so are
comparisons by raters who differ, links and ratings, with parameters of their own (`engine.joint_terms`,
`engine.rating_terms`): sharpness, thresholds, slopes. The parameters are one flat vector: the model's, then the terms'.

With positions, terms of comparisons take one pass over these: on threads, on a GPU, or shard by shard. Every other
term, and every term of another model, goes through the squared distances of distinct pairs: distances and pullback on
threads, or where the backend is, if all terms were made for it. The gradient is the sum, since all slopes come back by
the same pullback.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from similitude.engine.backend import CPU, Backend, joined
from similitude.engine.models import Model, Positions
from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.graph.build import distinct_pairs
from similitude.types import Array, Floats

_NONE: Floats = np.zeros(0)


class Objective(ABC):
    """What a solver minimises: data(params) + penalty(params)."""

    @property
    @abstractmethod
    def penalty(self) -> Penalty:
        """What keeps the parameters small, and their set."""

    @abstractmethod
    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value without the penalty, and its gradient."""

    def value(self, params: Floats) -> float:
        """Objective alone."""
        return self.data(params)[0] + self.penalty.value(params)

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient, where the penalty is smooth."""
        value, gradient = self.data(params)
        return value + self.penalty.value(params), gradient + self.penalty.gradient(params)


class Term(ABC):
    """A sum of losses of squared distances.

    Attributes
    ----------
    pairs : (k, 2) the pairs whose squared distances it reads, in its own order
    listed : whether there is such a list of all pairs
    merged : whether these are the vertices of a graph, to be taken as they are
    on_device : whether `evaluate` takes the numbers of a device, and gives such
    total : the total weight of what was said
    size : number of its own parameters
    """

    pairs: Array
    listed = True
    merged = False
    on_device = False
    total: float
    size: int

    @abstractmethod
    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """Weighted sum of losses, its derivative by each squared distance and by each of its own parameters."""

    def start(self, d2: Floats) -> Floats:
        """Own parameters to start from, given squared distances."""
        return np.zeros(self.size)

    def prior(self, total: float) -> Penalty:
        """What keeps its own parameters in their place, per unit of the total weight of the problem."""
        return Ridge(0.0)


class OnePass(Term):
    """A term without parameters of its own that can be taken over positions in one pass."""

    size = 0

    @abstractmethod
    def embedding(self, X: Floats, backend: Backend) -> tuple[float, Floats]:
        """Weighted mean loss of positions X, and L X for its derivatives by the squared distances."""


class Problem(Objective):
    """A model, terms and a penalty on the model's parameters.

    Parameters
    ----------
    model : gives the squared distances
    terms : what was said, one or several
    penalty : of the model's parameters
    weights : how much each term counts; 1 when not given
    backend : the device

    Attributes
    ----------
    in_one_pass : the lone term that is taken over positions in one pass, or None
    on_device : whether parameters may be the backend's own: in one pass, or where all terms were made for its device.
        With further terms they are the host's
    """

    def __init__(
        self,
        model: Model,
        terms: Term | Sequence[Term],
        penalty: Penalty,
        weights: Sequence[float] | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.model, self.backend = model, backend or CPU()
        self.terms = (terms,) if isinstance(terms, Term) else tuple(terms)
        self.weights = [1.0] * len(self.terms) if weights is None else [float(weight) for weight in weights]
        self.total = sum(weight * term.total for weight, term in zip(self.weights, self.terms, strict=True))
        over_positions = isinstance(model, Positions)
        self._passes = [over_positions and isinstance(term, OnePass) for term in self.terms]
        self.in_one_pass = self.terms[0] if self._passes == [True] else None
        paired_there = model.on_devices and all(term.on_device for term in self.terms)
        self.on_device = self.in_one_pass is not None or paired_there
        self._pairs_backend = self.backend if paired_there else CPU()
        self._own_size = sum(term.size for term in self.terms)
        self._own_penalty, self._penalty = penalty, penalty
        if self._own_size:
            priors = [(term.prior(self.total), term.size) for term in self.terms]
            self._penalty = Blocks([(penalty, model.size), *priors])
        self._refuse_what_cannot_be()

    @property
    def penalty(self) -> Penalty:
        """What keeps the parameters small: the model's penalty, then the priors of terms with parameters."""
        return self._penalty

    def with_model(self, model: Model) -> Problem:
        """Return the same problem over another model."""
        return Problem(model, self.terms, self._own_penalty, self.weights, self.backend)

    def split(self, params: Floats) -> list[Floats]:
        """Return the parameters of the model and of each term."""
        if not self._own_size:
            return [params, *(_NONE for _ in self.terms)]
        ends = np.cumsum([0, self.model.size, *(term.size for term in self.terms)])
        return [params[first:last] for first, last in pairwise(ends)]

    def start(self, params: Floats) -> Floats:
        """Return the model's parameters with own parameters of the terms that suit them."""
        if not self._own_size:
            return params.ravel()
        pairs, places = self._vertices
        d2 = self._pairs_backend.host(self.model.sqdist(params.ravel(), pairs, self._pairs_backend))
        own = [_NONE if one is None else term.start(d2[one]) for term, one in zip(self.terms, places, strict=True)]
        if self.on_device:
            return joined([params.ravel(), *(self.backend.tensor(one) for one in own)])
        return np.concatenate([params.ravel(), *own])

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value and gradient, the penalty left out."""
        if self.in_one_pass is not None:
            return self._over_positions(params)
        position, *own = self.split(params)
        if all(self._passes):
            value, gradient = self._over_positions(position)
            return value, self.backend.host(gradient)
        value, by_position, gradients = self._through_pairs(position, own)
        if any(self._passes):
            in_passes, gradient = self._over_positions(position)
            value, by_position = value + in_passes, by_position + self.backend.host(gradient)
        return value, joined([by_position, *gradients]) if self._own_size else by_position

    def _over_positions(self, position: Floats) -> tuple[float, Floats]:
        """The terms that are taken in one pass each, where the backend works."""
        model, value, product = self.model, 0.0, None
        assert isinstance(model, Positions)
        X = model.positions(position)
        for term, weight, passes in zip(self.terms, self.weights, self._passes, strict=True):
            if passes and isinstance(term, OnePass):
                share = weight * term.total / self.total
                mean, own = term.embedding(X, self.backend)
                own = own if share == 1.0 else share * own
                value, product = value + share * mean, own if product is None else product + own
        assert product is not None
        return value, model.pull_positions(2.0 * product)

    def _through_pairs(self, position: Floats, own: Sequence[Floats]) -> tuple[float, Floats, list[Floats]]:
        """The other terms: their value, and its derivatives by the model's parameters and by their own."""
        pairs, places = self._vertices
        d2 = self.model.sqdist(position, pairs, self._pairs_backend)
        value, pull, gradients = 0.0, _NONE, []
        for term, place, weight, mine in zip(self.terms, places, self.weights, own, strict=True):
            if place is None:
                continue
            rate = weight / self.total
            loss, slope, gradient = term.evaluate(d2[place], mine)
            value += rate * loss
            slope = rate * (slope if isinstance(place, slice) else np.bincount(place, slope, len(d2)).astype(float))
            pull = pull + slope if len(pull) else slope
            gradients.append(rate * gradient)
        return value, self.model.pullback(position, pairs, pull, self._pairs_backend), gradients

    @cached_property
    def _vertices(self) -> tuple[Array, list[Array | slice | None]]:
        """The distinct pairs of all terms without a pass, and where those of each are among them: a slice is all."""
        paired = [term for term, passes in zip(self.terms, self._passes, strict=True) if not passes]
        if len(paired) == 1 and paired[0].merged:
            pairs = self._pairs_backend.indices(paired[0].pairs)
            return pairs, [None if passes else slice(None) for passes in self._passes]
        every = np.concatenate([np.zeros((0, 2), np.int32), *(term.pairs for term in paired)])
        pairs, place = distinct_pairs(every, int(every.max(initial=0)) + 1)
        found = iter(np.split(place, np.cumsum([len(term.pairs) for term in paired])[:-1]))
        return pairs, [None if passes else next(found) for passes in self._passes]

    def _refuse_what_cannot_be(self) -> None:
        """Say which part cannot go where the problem is to be solved."""
        model, names = type(self.model).__name__, ", ".join(type(term).__name__ for term in self.terms)
        if any(not (term.listed or passes) for term, passes in zip(self.terms, self._passes, strict=True)):
            raise TypeError(
                f"comparisons in shards need positions, found {model} with {names}; use comparisons in memory"
            )
        if not isinstance(self.backend, CPU) and not (any(self._passes) or self.on_device):
            raise TypeError(
                f"a device works on positions with a term of comparisons, and on choices, found {model} with {names}; "
                "use device='cpu'"
            )
