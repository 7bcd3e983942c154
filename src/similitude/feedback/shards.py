"""Comparisons in shards: what is learned or counted is folded over them, in one fixed order, wherever they lie.

A shard fits in memory, all of them need not. Everything that works on shards is one call, `reduce(work, combine)`: a
function of a block, and how two results become one. `ComparisonDataset` reads its shards from disk one after the other,
`distributed.Partitions` leaves them on the workers of a cluster; the shards and the order in which their results are
combined are the same, so that both give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from similitude.display.words import counted
from similitude.feedback.cards import shards_card
from similitude.feedback.comparisons import Comparisons, Removed
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.items import Names
from similitude.feedback.whole_shards import WholeAnswers
from similitude.types import Array, Floats, Ints, Seed

T = TypeVar("T")

FAN = 8  # results combined at a time: a fold keeps one result per level, a cluster makes one task of so many


@dataclass(frozen=True, eq=False)
class Block:
    """Some comparisons in memory.

    Attributes
    ----------
    near, far : (m, 2) item indices; where the pairs share an item, it stands first in both
    weight : (m,) weight of each comparison
    n_items : number of items of the whole
    number : which shard this is
    answers : where a folder has them, the whole answers from which the last comparisons follow, "can't tell" included
    """

    near: Ints
    far: Ints
    weight: Floats
    n_items: int
    number: int = 0
    answers: tuple[WholeAnswers, ...] = ()

    def __len__(self) -> int:
        return len(self.near)

    def take(self, rows: Array) -> Block:
        """Return some of the comparisons."""
        return Block(self.near[rows], self.far[rows], self.weight[rows], self.n_items, self.number)

    @property
    def n_loose(self) -> int:
        """How many comparisons follow from no whole answer."""
        return len(self) - sum(len(one) * one.kind.comparisons_each for one in self.answers)

    def choices(self, *, cant_tell: bool = False) -> list[Alternatives]:
        """Return what was chosen, and from what; a comparison that follows from no whole answer is a choice of two."""
        found = [part for one in self.answers if cant_tell or not one.kind.tied for part in one.choices()]
        loose = np.arange(self.n_loose)
        loose = loose[self.weight[loose] > 0]
        if len(loose):
            two = Alternatives.of_two(self.near[loose], self.far[loose], loose, self.weight[loose])
            found.append(replace(two, can_tie=False))
        return found


class Shards(ABC):
    """Comparisons that need not fit in memory.

    Attributes
    ----------
    n_items, names : the items
    sizes : number of comparisons in each shard
    cleaned : whether contradictions were taken out, as in `Comparisons`
    """

    n_items: int
    names: Names | None
    sizes: tuple[int, ...]
    cleaned: bool = False

    @abstractmethod
    def reduce(self, work: Callable[..., T], combine: Callable[[T, T], T], *arguments: Any) -> T:
        """Return the results of `work(block, *arguments)` of every shard, combined in the order of `fold`.

        `work` and `combine` change nothing that they are given, and are importable functions.
        """

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self.sizes)

    def label(self, item: int) -> str:
        """Return what to call an item in a message: its name, or its position."""
        return self.names[item] if self.names is not None else str(item)

    def sample(self, size: int, random_state: Seed = None) -> Comparisons:
        """Return comparisons drawn at random without replacement, in memory: all of them, where there are no more.

        Parameters
        ----------
        size : how many
        random_state : seed or generator
        """
        if size < 1:
            raise ValueError(f"size: expected a positive number of comparisons, found {size}")
        rng = np.random.default_rng(random_state)
        drawn = drawn_from(self.sizes, min(size, len(self)), rng)
        block = self.reduce(_draw, _join, drawn, int(rng.integers(2**63)))
        rows = np.concatenate([block.near, block.far], axis=1)
        c = Comparisons.from_quadruplets(
            rows, weight=block.weight, names=self.names, n_items=None if self.names else self.n_items
        )
        if not self.cleaned:
            return c
        return replace(c, removed=(Removed("cleaned", "the comparisons were cleaned", c.rows([]), 0.0),))

    def sample_answers(self, size: int, random_state: Seed = None) -> Comparisons:
        """Return whole answers drawn at random, in memory: all of them, where they give no more comparisons.

        Parameters
        ----------
        size : how many comparisons they shall give, about
        random_state : seed or generator
        """
        rng = np.random.default_rng(random_state)
        blocks = self.reduce(_draw_answers, _listed, min(size / len(self), 1.0), int(rng.integers(2**63)))
        count = None if self.names else self.n_items
        parts = [one.as_comparisons(self.names, self.n_items) for block in blocks for one in block.answers]
        loose = [block for block in blocks if len(block)]
        rows = [np.concatenate([block.near, block.far], axis=1) for block in loose]
        weight = [block.weight for block in loose]
        parts += [
            Comparisons.from_quadruplets(one, weight=w, names=self.names, n_items=count)
            for one, w in zip(rows, weight, strict=True)
        ]
        return Comparisons.concatenate(parts)

    def __repr__(self) -> str:
        about = f"about {counted(self.n_items, 'item')} in {counted(self.n_shards, 'shard')}"
        return f"<{counted(len(self), 'comparison')} {about}>"

    def _repr_html_(self) -> str:
        return shards_card(self)


def drawn_from(sizes: Sequence[int], size: int, rng: np.random.Generator) -> Array:
    """Return how many of `size` rows, drawn without replacement from all, come from each shard."""
    total = sum(sizes)
    if total < 10**9:  # numpy's limit of the distribution itself
        return rng.multivariate_hypergeometric(sizes, size, method="marginals")
    rows = rng.choice(total, size, replace=False, shuffle=False)
    return np.bincount(np.searchsorted(np.cumsum(sizes), rows, side="right"), minlength=len(sizes))


def _draw(block: Block, drawn: Array, seed: int) -> Block:
    rng = np.random.default_rng([seed, block.number])
    return block.take(np.sort(rng.choice(len(block), drawn[block.number], replace=False)))


def _draw_answers(block: Block, share: float, seed: int) -> list[Block]:
    """The drawn answers of a block, and of its other comparisons those drawn."""
    rng = np.random.default_rng([seed, block.number])
    answers = tuple(one.take(np.flatnonzero(rng.random(len(one)) < share)) for one in block.answers)
    loose = block.take(np.flatnonzero(rng.random(block.n_loose) < share))
    return [replace(loose, answers=tuple(one for one in answers if len(one)))]


def _listed(one: list[Block], two: list[Block]) -> list[Block]:
    return one + two


def _join(one: Block, two: Block) -> Block:
    near, far = np.concatenate([one.near, two.near]), np.concatenate([one.far, two.far])
    return Block(near, far, np.concatenate([one.weight, two.weight]), one.n_items, one.number)


def fold(results: Iterable[T], combine: Callable[[T, T], T]) -> T:
    """Combine results in order, eight at a time, then eights of eights: a shape that depends on their number alone.

    Only one result per level is kept, and `folded_groups` names the same shape for those who hold all results at once.
    """
    levels: list[list[T]] = []
    counts: list[int] = []
    for result in results:
        level, carry = 0, result
        while True:
            if level == len(levels):
                levels.append([])
                counts.append(0)
            levels[level] = [combine(levels[level][0], carry) if levels[level] else carry]
            counts[level] += 1
            if counts[level] < FAN:
                break
            carry = levels[level].pop()
            counts[level] = 0
            level += 1
    held = [value for level in levels for value in level]
    if not held:
        raise ValueError("shards: there are none to work on")
    total = held[0]
    for higher in held[1:]:
        total = combine(higher, total)
    return total


def folded_groups(results: list[T]) -> list[list[T]]:
    """Return the groups of results that `fold` combines first, in order."""
    return [results[start : start + FAN] for start in range(0, len(results), FAN)]


def add(one: tuple[Any, ...], two: tuple[Any, ...]) -> tuple[Any, ...]:
    """Combine tuples of numbers and arrays by adding them."""
    return tuple(a + b for a, b in zip(one, two, strict=True))
