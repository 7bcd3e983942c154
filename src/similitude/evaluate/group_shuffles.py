"""Shuffles of groups over raters: weights by which units are summed, for groups as they are and as chance makes them.

Two kinds. Between raters, groups are dealt out anew: every rater keeps all of their answers. Within raters, the two
conditions of each rater change names, or not. Either leaves what is said about nobody's group as it is, so under the
hypothesis that groups do not matter all shuffles are equally likely, whatever differences there are among raters.
Where there are no more distinct shuffles than are asked for, each of them is taken once, which makes the test exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, factorial, prod

import numpy as np

from similitude.types import Array, Floats

FEWEST_SHUFFLES = 20
"""Distinct shuffles below which not even the most extreme is one in twenty."""


@dataclass(frozen=True, eq=False)
class Between:
    """Raters of several groups.

    Attributes
    ----------
    group : (units,) the group of each rater
    """

    group: Array

    @property
    def count(self) -> float:
        """How many distinct shuffles there are; groups of the same size that change names say the same."""
        sizes = np.bincount(self.group).tolist()
        total, ways = 0, 1
        for size in sizes:
            total += size
            ways *= comb(total, size)
        return float(ways // prod(map(factorial, Counter(sizes).values())))

    def contrasts(self, weight: Floats, n_shuffles: int, rng: np.random.Generator) -> Floats:
        """(1 + shuffles, groups, units) mean of each group less the mean of the others; first as it is."""
        if self.count <= n_shuffles:
            dealt = np.stack([self.group, *self._others()])
        else:
            dealt = np.stack([self.group, *(rng.permutation(self.group) for _ in range(n_shuffles))])
        inside = (dealt[:, None, :] == np.arange(int(self.group.max()) + 1)[:, None]).astype(float)
        outside = 1.0 - inside
        return inside / (inside @ weight)[..., None] - outside / (outside @ weight)[..., None]

    def _others(self) -> Iterator[Array]:
        """Every distinct shuffle but the groups as they are."""
        sizes = np.bincount(self.group)
        order = np.argsort(sizes, kind="stable")
        own = {frozenset(np.flatnonzero(self.group == k).tolist()) for k in order}
        for split in _splits(tuple(sizes[order].tolist()), tuple(range(len(self.group)))):
            if {frozenset(part) for part in split} != own:
                dealt = np.empty_like(self.group)
                for group, part in zip(order, split, strict=True):
                    dealt[list(part)] = group
                yield dealt


def _splits(sizes: tuple[int, ...], units: tuple[int, ...], after: int = -1) -> Iterator[list[tuple[int, ...]]]:
    """Ways to split units into parts of these sizes (equal ones side by side, which come in the order of their firsts).

    >>> list(_splits((1, 1), (0, 1))), len(list(_splits((3, 3), (0, 1, 2, 3, 4, 5))))
    ([[(0,), (1,)]], 10)
    """
    if not sizes:
        yield []
        return
    for part in combinations(units, sizes[0]):
        if part[0] > after:
            rest = tuple(unit for unit in units if unit not in part)
            next_after = part[0] if sizes[1:2] == sizes[:1] else -1
            yield from ([part, *others] for others in _splits(sizes[1:], rest, next_after))


@dataclass(frozen=True, eq=False)
class Within:
    """Raters under two conditions each; unit 2r is rater r under the first, 2r + 1 under the second.

    Attributes
    ----------
    raters : how many
    """

    raters: int

    @property
    def count(self) -> float:
        """How many distinct shuffles there are; a shuffle and its mirror image say the same."""
        return 2.0 ** (self.raters - 1)

    def contrasts(self, weight: Floats, n_shuffles: int, rng: np.random.Generator) -> Floats:
        """(1 + shuffles, 1, units) weighted sum over raters of first less second; first as it is."""
        first, second = weight[0::2], weight[1::2]
        share = first * second / (first + second)
        share = share / share.sum()
        if self.count <= n_shuffles:
            flip = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=self.raters - 1)])
        else:
            flip = np.concatenate([np.ones((1, self.raters)), rng.choice([-1.0, 1.0], (n_shuffles, self.raters))])
        made = np.empty((len(flip), 1, 2 * self.raters))
        made[:, 0, 0::2] = flip * share / first
        made[:, 0, 1::2] = -flip * share / second
        return made


def spread_of(contrasts: Floats, alike: Floats) -> Floats:
    """(shuffles,) how far groups lie apart, in units of what raters scatter: sum_g w'Gw / sum_g sum_r w_r² G_rr."""
    apart = np.einsum("sgu,uv,sgv->s", contrasts, alike, contrasts, optimize=True)
    noise = np.einsum("sgu,u->s", contrasts**2, np.diagonal(alike))
    return np.asarray(apart / np.maximum(noise, 1e-300))


def p_value(values: Floats) -> float:
    """Share of all shuffles, the first among them, with as large a value as the first."""
    return float(np.mean(values >= values[0] * (1 - 1e-9)))


def corrected(values: Floats) -> Floats:
    """p-values of many figures (shuffles, figures), corrected for their number: against the largest of each shuffle."""
    scaled = (values - values.mean(0)) / np.maximum(values.std(0), 1e-300)
    largest = scaled.max(1)
    return np.asarray((largest[:, None] >= scaled[0] - 1e-9).mean(0))
