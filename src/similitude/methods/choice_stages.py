"""How the vectors of choices are found: where a fit begins, at which penalties, and in how many dimensions.

The noise level, at which answers by chance would teach nothing, finds the dimensions; without features that say most of
it these are fitted again at a lower one. Where answers are few and items many, held-out answers are asked whether that
says too much. `methods.choice_embedding` says why, and where the numbers come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.engine.choice_terms import Picked, set_losses, values_of
from similitude.engine.models import Positions
from similitude.engine.noise import leading, slopes_at_zero
from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.engine.solvers.result import Result
from similitude.engine.terms import Formula, logarithm, squared, student
from similitude.feedback.forms.alternatives import Alternatives
from similitude.methods.held_out_dimensions import folds
from similitude.types import Floats

Staged = tuple[Result, Positions, tuple[float, float]]
"""A fit, its vectors, and the penalties of what is free and of the map."""

Solve = Callable[[Positions, tuple[float, float], Floats | None], Result]
"""Fits vectors at penalties of what is free and of the map, from a start if one is given."""

SCALES = {
    "dot": Formula(squared),
    "distance": Formula(squared),
    "student": Formula(student, 1.0),
    "ratio": Formula(logarithm, 0.05),
}
NEEDED = 0.01  # of the weight of the largest dimension: one with less is none
_RELAXED = 0.3  # of the noise level: where the dimensions that it leaves are fitted
_MOSTLY = 0.7  # share of the features in the vectors from which what is free stays at the noise level
_MANY_PER_ITEM = 10  # answers an item from which the noise level does no harm
_FACTORS = (1.0, 1.4, 2.0, 4.0, 8.0)  # of it, where there are fewer
_LEAST, _FEW = 20, 2_000  # answers of which some, or all in turn, are held out
_SURE = 2.0  # standard errors of their mean gain
_NOTHING = 0.05  # the mean square of a dimension that may be chance alone, so that relaxing it would harm


@dataclass(frozen=True)
class Stages:
    """How one method goes on from the noise level.

    Attributes
    ----------
    similarity : how two vectors compare, a name of `SCALES`
    mapped : whether the vectors are mapped from features
    map_by_noise : whether the map's penalty is a level of noise, and no number that was given
    """

    similarity: str
    mapped: bool
    map_by_noise: bool

    def __call__(
        self, solve: Solve, vectors: Positions, strengths: tuple[float, float], relaxed: bool, more: int = 0
    ) -> Staged:
        """Find the dimensions at the noise level, and fit these, or some more, again at a lower penalty.

        With features that say most of it, that is not right; else what is free is pressed by the noise level as it is
        without.
        """
        best = solve(vectors, strengths, None)
        asked, start = asked_for(best, vectors, more)
        if asked and relaxed and self._said_by_features(best, vectors) < _MOSTLY:
            vectors = vectors_of(vectors.features, vectors.n_items, asked)
            strengths = (_RELAXED * strengths[0], strengths[1] * (1.0 if self.mapped else _RELAXED))
            best = solve(vectors, strengths, start)
        return best, vectors, strengths

    @property
    def _dot(self) -> bool:
        return self.similarity == "dot"

    def _said_by_features(self, best: Result, vectors: Positions) -> float:
        """The share of the features in the squares of the vectors, beside what is free."""
        if not self.mapped or vectors.features is None:
            return 0.0
        rows, columns = best.params[: vectors.size].reshape(vectors.shape), vectors.features.shape[1]
        features = columns - self._dot  # without the column of ones
        mapped, free = vectors.features[:, :features] @ rows[:features], rows[columns:]
        return float((mapped**2).sum() / max((mapped**2).sum() + (free**2).sum(), 1e-300))

    def without_harm(
        self,
        said: Sequence[Alternatives],
        per_item: float,
        solver: Callable[[Sequence[Alternatives]], Solve],
        vectors: Positions,
        levels: tuple[float, float],
        rng: np.random.Generator,
    ) -> tuple[tuple[float, float], bool]:
        """Return the penalties at which dimensions are found, and whether they are then relaxed: the noise level, yes.

        Not so where answers are few and items many: vectors that say something of each item are then learned from a
        handful of answers each, and say it too loudly. If held-out answers surely ask for it, nothing is relaxed, and
        the penalties are as many times the noise level as they ask for. The fewer answers there are per item, the
        likelier is harm, and the less can be proven: so the less proof is asked for.
        """
        parts = [(solver(training), held_out) for training, held_out in folds(said, rng, _FEW)]
        own = float(self.map_by_noise)  # a map's penalty that is given stays
        harder = [((factor * levels[0], factor**own * levels[1]), False) for factor in _FACTORS]
        lost: list[Floats] = []
        for strengths, relaxed in (tried := [(levels, True), *harder]):
            fits = [(self(solve, vectors, strengths, relaxed), held_out) for solve, held_out in parts]
            lost.append(np.concatenate([self._lost(held_out, best, narrow) for (best, narrow, _), held_out in fits]))
            if len(lost) > 2 and lost[-1].sum() > lost[-2].sum():
                break
        least = int(np.argmin([one.sum() for one in lost]))
        gain, proof = lost[0] - lost[least], _SURE * per_item / _MANY_PER_ITEM
        return tried[least if gain.sum() > proof * np.sqrt(len(gain)) * gain.std() else 0]

    def _lost(self, said: Sequence[Alternatives], best: Result, vectors: Positions) -> Floats:
        """Minus the log-likelihood of each choice of people who do not lapse."""
        X, lost = vectors.positions(best.params[: vectors.size]), []
        for one in said:
            i, j = one.pairs.reshape(-1, 2).T
            d2 = -(X[i] * X[j]).sum(1) if self._dot else ((X[i] - X[j]) ** 2).sum(1)
            value = values_of(one, SCALES[self.similarity](d2)[0])
            lost.append(one.weights * set_losses(value, one.picked)[0])
        return np.concatenate(lost)

    def start(self, term: Picked, vectors: Positions, rng: np.random.Generator) -> Floats:
        """Return the leading directions in which the answers pull from 0, and a little chance in every other.

        Features begin in as many dimensions as they have columns, what is free in those beyond, if any, and round again
        from the first: from chance alone a dimension that features leave over is not always found.
        """
        S, F, most = slopes_at_zero(term, vectors.n_items, self._dot), vectors.features, vectors.shape[1]
        if not self.mapped and F is not None:
            free = vectors_of(None, vectors.n_items, most)
            start = self.start(term, free, rng).reshape(free.shape)
            return np.vstack([start.mean(0), start]).ravel()
        start = 0.01 * rng.normal(size=vectors.shape)
        mapped = 0 if F is None else F.shape[1]
        if F is not None:
            _add_leading(start[:mapped], F.T @ (S @ F), rng)
        if mapped < most:
            leads = np.zeros((vectors.n_items, most))
            _add_leading(leads, S, rng)
            start[mapped:] += np.roll(leads, mapped, axis=1)
        return start.ravel()


def are_few(n_answers: int, n_items: int) -> bool:
    """Whether answers are so few that vectors found at the noise level might harm, and enough to ask some of them."""
    return _LEAST <= n_answers < _MANY_PER_ITEM * n_items


def vectors_of(features: Any, n_items: int, n_components: int) -> Positions:
    """Return the vectors of items: free ones, beside a map where there are features."""
    return Positions(n_items, n_components, features=features, residual=features is not None)


def ridges(vectors: Positions, strengths: tuple[float, float], count: int) -> Penalty:
    """Return the penalties of what is free and of the map."""
    free, mapped = (Ridge(one, count) for one in strengths)
    cut = vectors.size - vectors.n_items * vectors.shape[1]
    return free if vectors.features is None else Blocks([(mapped, cut), (free, vectors.size - cut)])


def asked_for(best: Result, vectors: Positions, more: int = 0) -> tuple[int, Floats]:
    """Return how many dimensions the answers ask for, 0 where they teach nothing, and the parameters in these.

    Where there are to be more, these begin a little off 0, where they would stay.
    """
    X, params, _ = principal(best, vectors)
    size = (X**2).mean(0)
    needed = int((size > NEEDED * size[0]).sum()) if size[0] > _NOTHING else 0
    count = min(needed + more, params.shape[1]) if needed else 0
    moved = np.random.default_rng(0).normal(size=(len(params), count - needed))
    return count, np.hstack([params[:, :needed], params[:, needed:count] + 0.1 * np.sqrt(size[0]) * moved])


def principal(best: Result, vectors: Positions, turned: bool = True) -> tuple[Floats, Floats, Floats]:
    """Return vectors turned so that the first dimension weighs most, the parameters turned alike, and the turn.

    Dimensions that mean something of themselves are not turned, but put in order.
    """
    found = best.params[: vectors.size]
    X, params = vectors.positions(found), found.reshape(vectors.shape)
    if turned:
        turn = np.linalg.svd(X, full_matrices=len(X) < X.shape[1])[2].T  # all axes, even of fewer items
    else:
        turn = np.eye(X.shape[1])[:, np.argsort(-(X**2).sum(0), kind="stable")]
    turn *= np.where((X @ turn).sum(0) < 0, -1.0, 1.0)
    return X @ turn, params @ turn, turn


def _add_leading(start: Floats, pull: Any, rng: np.random.Generator) -> None:
    """Add the leading directions of a pull to the first columns of a start, by the roots of their strengths."""
    values, directions = leading(pull, min(start.shape[1], pull.shape[0]), rng)
    strength = np.sqrt(np.maximum(values, 0.0) / max(float(values[0]), 1e-300) * pull.shape[0])
    start[:, : len(values)] += directions * strength
