"""The seam between the mathematics and the machine: what a device must provide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from similitude.engine import terms
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.engine.threads import over_chunks
from similitude.graph.build import SimilarityGraph
from similitude.types import Array, Floats

_ROWS_PER_CHUNK = 8192
_MOST_CHUNKS = 32
_BUFFER_FLOATS = 16_000_000

ChoicePass = tuple[float, Floats, Floats]
"""Weighted sum of losses; its derivative by each squared distance; those by each source's log sharpness, by the logit
of its lapse and by that of its share of "can't tell", a row each."""


class Backend(Protocol):
    """What a device provides. `L` is the Laplacian sum_p w_p (e_i - e_j)(e_i - e_j)' over pairs p = (i, j)."""

    def sqdist(self, X: Floats, pairs: Array) -> Floats:
        """Squared distance of each pair."""

    def losses(self, loss: ComparisonLoss, d2: Floats, graph: SimilarityGraph) -> tuple[float, Floats]:
        """Weighted mean loss, and its derivative by the squared distance of each pair."""

    def laplacian(self, X: Floats, pairs: Array, w: Floats) -> Floats:
        """The product L X."""

    def embedding(self, loss: ComparisonLoss, X: Floats, graph: SimilarityGraph) -> tuple[float, Floats]:
        """Weighted mean loss of positions X and L X for its derivatives w: the three others in one pass."""

    def products(self, X: Floats, pairs: Array) -> Floats:
        """Dot product of each pair."""

    def adjacency(self, X: Floats, pairs: Array, w: Floats) -> Floats:
        """The product A X, A the signed adjacency sum_p w_p (e_i e_j' + e_j e_i')."""

    def choices(self, scale: Formula, d2: Floats, sets: Sequence[Any], sources: Sequence[Floats]) -> ChoicePass:
        """Losses of choices, sets by sets (`engine.choice_terms.Sets`), and their derivatives.

        `sources` are the sharpness of each source, its lapse and its logit of "can't tell".
        """

    def indices(self, pairs: Array) -> Array:
        """Items of the host where the device has them."""

    def tensor(self, X: Floats) -> Floats:
        """Numbers of the host where the device has them, in its precision."""

    def host(self, numbers: Floats) -> Floats:
        """Numbers of the device as an array of the host."""


class CPU:
    """The compiled kernels on threads.

    Work is cut into chunks by the size of the problem alone, each with a buffer of its own, and the buffers are
    summed in order: no races, and the same bits for any number of threads. Small problems are one chunk.
    """

    def sqdist(self, X: Floats, pairs: Array) -> Floats:
        """Squared distance of each pair."""
        from similitude.engine import compiled

        return _of_pairs(compiled.sqdist, X, pairs)

    def losses(self, loss: ComparisonLoss, d2: Floats, graph: SimilarityGraph) -> tuple[float, Floats]:
        """Weighted mean loss, and its derivative by the squared distance of each pair."""
        from similitude.engine import compiled

        if not loss.named:  # the kernels do not know a user's own formula
            return loss.evaluate(d2, graph.near, graph.far, graph.weight)
        scale, scale_parameter, shape, shape_parameter = loss_codes(loss)
        level, slope = np.empty_like(d2), np.empty_like(d2)
        compiled.levels(scale, scale_parameter, d2, level, slope, 0, len(d2))
        bounds = _chunks(len(graph), len(d2))
        pull = np.zeros((len(bounds) - 1, len(d2)))
        values = over_chunks(
            lambda c: compiled.losses(
                shape,
                shape_parameter,
                level,
                graph.near,
                graph.far,
                graph.weight,
                pull[c],
                bounds[c],
                bounds[c + 1],
            ),
            len(bounds) - 1,
        )
        total = graph.weight.sum()
        return sum(values) / total, pull.sum(0) * slope / total

    def laplacian(self, X: Floats, pairs: Array, w: Floats) -> Floats:
        """The product L X."""
        from similitude.engine import compiled

        return _over_pairs(compiled.laplacian, X, pairs, w)

    def embedding(self, loss: ComparisonLoss, X: Floats, graph: SimilarityGraph) -> tuple[float, Floats]:
        """Weighted mean loss of positions X and L X for its derivatives w."""
        if graph.merged or not loss.named:
            value, w = self.losses(loss, self.sqdist(X, graph.pairs), graph)
            return value, self.laplacian(X, graph.pairs, w)
        from similitude.engine import compiled

        codes = loss_codes(loss)
        bounds = _chunks(len(graph), X.size)
        out = np.zeros((len(bounds) - 1, *X.shape))
        values = over_chunks(
            lambda c: compiled.embedding(
                X, graph.near_pairs, graph.far_pairs, graph.weight, *codes, out[c], bounds[c], bounds[c + 1]
            ),
            len(bounds) - 1,
        )
        total = graph.weight.sum()
        return sum(values) / total, out.sum(0) / total

    def products(self, X: Floats, pairs: Array) -> Floats:
        """Dot product of each pair."""
        from similitude.engine import compiled

        return _of_pairs(compiled.products, X, pairs)

    def adjacency(self, X: Floats, pairs: Array, w: Floats) -> Floats:
        """The product A X."""
        from similitude.engine import compiled

        return _over_pairs(compiled.adjacency, X, pairs, w)

    def choices(self, scale: Formula, d2: Floats, sets: Sequence[Any], sources: Sequence[Floats]) -> ChoicePass:
        """Losses of choices, and their derivatives."""
        level, slope = self._levels(scale, d2)
        value, pull, by_source = 0.0, np.zeros(len(d2)), np.zeros((3, len(sources[0])))
        for one in sets:
            lost, by_level, by_its_source = _choices(one, level, *sources)
            value, pull, by_source = value + lost, pull + by_level, by_source + by_its_source
        return value, pull * slope, by_source

    def _levels(self, scale: Formula, d2: Floats) -> tuple[Floats, Floats]:
        """Scale of each squared distance, and its slope."""
        from similitude.engine import compiled

        if scale.expression not in terms.SCALES:
            return scale(d2)[:2]
        level, slope, code = np.empty_like(d2), np.empty_like(d2), terms.SCALES.index(scale.expression)
        bounds = _chunks(len(d2), 0)
        over_chunks(
            lambda c: compiled.levels(code, float(scale.parameter), d2, level, slope, bounds[c], bounds[c + 1]),
            len(bounds) - 1,
        )
        return level, slope

    def indices(self, pairs: Array) -> Array:
        """They are there."""
        return pairs

    def tensor(self, X: Floats) -> Floats:
        """They are there."""
        return X

    def host(self, numbers: Floats) -> Floats:
        """They are there."""
        return numbers


def _of_pairs(kernel: Any, X: Floats, pairs: Array) -> Floats:
    """A number for each pair."""
    out, bounds = np.empty(len(pairs)), _chunks(len(pairs), 0)
    over_chunks(lambda c: kernel(X, pairs, out, bounds[c], bounds[c + 1]), len(bounds) - 1)
    return out


def _over_pairs(kernel: Any, X: Floats, pairs: Array, w: Floats) -> Floats:
    """A row for each item, summed over pairs."""
    bounds = _chunks(len(pairs), X.size)
    out = np.zeros((len(bounds) - 1, *X.shape))
    over_chunks(lambda c: kernel(X, pairs, w, out[c], bounds[c], bounds[c + 1]), len(bounds) - 1)
    return out[0] if len(out) == 1 else out.sum(0)


def _choices(sets: Any, level: Floats, sharp: Floats, lapse: Floats, unsure: Floats) -> ChoicePass:
    """The pass over choices of one size; derivatives are by levels."""
    from similitude.engine import compiled_choices

    bounds = _chunks(len(sets.weight), len(level), sets.place[0].size)
    pull, by_source = np.zeros((len(bounds) - 1, len(level))), np.zeros((len(bounds) - 1, 3, len(sharp)))
    values = over_chunks(
        lambda c: compiled_choices.picks(
            level, sets.place, sets.picked, sets.tied, sets.log_sets, sets.sign, sets.weight, sets.source,
            sharp, lapse, unsure, sets.by_chance, pull[c], by_source[c], bounds[c], bounds[c + 1],
        ),
        len(bounds) - 1,
    )  # fmt: skip
    return sum(values), pull[0] if len(pull) == 1 else pull.sum(0), by_source.sum(0)


def joined(parts: Sequence[Any]) -> Any:
    """One array of several, where the device has them."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import torch

    return torch.cat(tuple(parts))


def loss_codes(loss: ComparisonLoss) -> tuple[int, float, int, float]:
    """Return the numbers by which a kernel knows a loss: scale, its parameter, shape, its parameter."""
    scale, shape = terms.SCALES.index(loss.scale.expression), terms.SHAPES.index(loss.shape.expression)
    return scale, float(loss.scale.parameter), shape, float(loss.shape.parameter)


def _chunks(rows: int, buffer: int, width: int = 1) -> list[int]:
    """Bounds of the chunks of so many rows, with a buffer of so many numbers each: never a function of threads.

    `width` is how many numbers of the buffer a row touches.
    """
    most = min(rows // _ROWS_PER_CHUNK, _MOST_CHUNKS)
    if buffer:  # each chunk's is cleared and added up: together no more than memory allows, and than the rows are worth
        most = min(most, _BUFFER_FLOATS // buffer, 4 * rows * width // buffer)
    count = max(1, most)
    return [rows * c // count for c in range(count + 1)]
