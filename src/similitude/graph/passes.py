"""Can comparisons that do not fit in memory be trusted? What passes over their shards can tell.

One pass counts; then the questions are parted by a hash, so that all rows of a question fall into one part, and each
pass takes one part: memory is bounded by the size of a part, and the number of passes grows with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from similitude.display.estimate import Estimate
from similitude.display.figures import FigureTable, named
from similitude.display.words import number
from similitude.feedback.shards import Block, Shards
from similitude.graph.counts import count_shards
from similitude.graph.keyed import Keyed, by_key, merge_keyed
from similitude.graph.repeats import NO_NOISE, Repeats, agreement_of_sides, noise_ceiling
from similitude.types import Floats

_ROWS_PER_PASS = 8_000_000  # at most 1.5 GB while they are sorted
_MOST_NAMED = 1000
LEFT_OUT = "circles, redundancy, conflicting comparisons, raters: these need all comparisons at once; check a sample"


@dataclass(frozen=True, eq=False, repr=False)
class PassReport(FigureTable):
    """What `check` finds in a `ComparisonDataset`. Prints as a table; figures are attributes, `to_frame` gives all.

    Every comparison counts as an answer of its own. A `ComparisonDataset` needs the extra `parquet`.

    Attributes
    ----------
    comparisons, items, total_weight : how many, and their weight
    questions : number of different questions
    repeats : questions answered more than once and how often two answers agree
    ceiling : the noise ceiling: what share of these answers the best model can predict
    contradicted : number of questions with answers on both sides
    outvoted : weight of the answers on the losing sides
    groups : sizes of the groups of items that no comparison links, the largest first
    never_compared : names of the items in no comparison, the first thousand of them
    never : number of items in no comparison
    left_out : what passes cannot tell

    Examples
    --------
    >>> import tempfile, similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 500, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.write_comparisons(c, f"{folder}/answers")
    ...     report = sm.check(sm.ComparisonDataset(f"{folder}/answers"))
    >>> report.comparisons, report.questions <= 12, report.groups
    (500, True, (4,))
    """

    comparisons: int
    items: int
    total_weight: float
    questions: int
    repeats: Repeats
    ceiling: Estimate
    contradicted: int
    outvoted: float
    groups: tuple[int, ...]
    never_compared: tuple[str, ...]
    never: int
    left_out: str = LEFT_OUT

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists, fit for JSON; None where nothing can be told."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {name: asdict(plain[name]) for name in ("repeats", "ceiling")}
        return plain | {"groups": list(self.groups), "never_compared": list(self.never_compared)}

    def doubts(self) -> list[str]:
        """Return what is worth a look, a sentence each; none where nothing stands out."""
        found = []
        if self.ceiling.high is not None and self.ceiling.high < 0.6:
            found.append(f"the answers are close to chance: the noise ceiling is at most {self.ceiling.high:.2f}")
        if len(self.groups) > 1:
            found.append(f"{len(self.groups)} groups of items that no comparison links: their places are arbitrary")
        if self.never:
            found.append(named(f"{self.never:,} items never compared", self.never_compared))
        return found

    def figures(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each figure with its name, in the order of the table."""
        share = f"of {number(self.total_weight)}"
        yield "comparisons", Estimate(self.comparisons, note="each taken as an answer of its own")
        yield "items", Estimate(self.items, note=named(f"{self.never:,} never compared", self.never_compared[:5]))
        yield "groups of items", Estimate(len(self.groups), note=f"the largest has {self.groups[0]:,} items")
        yield "questions", Estimate(self.questions)
        yield self.repeats.asked_again()
        yield "two answers agree", self.repeats.told("a comparison that both make")
        yield "noise ceiling", self.ceiling
        yield "contradicted questions", Estimate(self.contradicted, note="with answers on both sides")
        yield "minority votes", Estimate(self.outvoted, note=f"{share}, on the losing sides")
        yield "left out", Estimate(None, note=self.left_out)


def check_shards(shards: Shards, level: float = 0.95, rows_per_pass: int = _ROWS_PER_PASS) -> PassReport:
    """Check comparisons in passes that each hold at most about `rows_per_pass` of them."""
    counts = count_shards(shards)
    n_parts = max(1, -(-counts.comparisons // rows_per_pass))
    tallies = [_tallied(shards.reduce(_questions, merge_keyed, part, n_parts)) for part in range(n_parts)]
    sides = np.concatenate([tally[0] for tally in tallies])
    repeats = agreement_of_sides(sides[:, 0], sides[:, 1], sides[:, 2], level)
    never = np.flatnonzero(counts.occurrences == 0)
    groups = np.sort(np.bincount(counts.components[counts.occurrences > 0]))[::-1]
    return PassReport(
        comparisons=counts.comparisons,
        items=shards.n_items,
        total_weight=counts.weight,
        questions=int(sides[:, 2].sum()),
        repeats=repeats,
        ceiling=NO_NOISE if shards.cleaned else noise_ceiling(repeats),
        contradicted=int(sides[(sides[:, 0] > 0) & (sides[:, 1] > 0), 2].sum()),
        outvoted=float(sum(tally[1] for tally in tallies)),
        groups=tuple(groups.tolist()),
        never_compared=tuple(shards.label(int(item)) for item in never[:_MOST_NAMED]),
        never=len(never),
    )


def _questions(block: Block, part: int, n_parts: int) -> Keyed:
    """Codes of the two pairs of each question of a part, and of it: weight and number of answers on either side."""
    from similitude.graph.compiled_passes import questions_of

    low, high, side = np.empty(len(block), np.int64), np.empty(len(block), np.int64), np.empty(len(block))
    rows = (block.near, block.far, block.weight, block.n_items)
    count = questions_of(*rows, part, n_parts, low, high, side)
    low, high, side = low[:count], high[:count], side[:count]
    forward = side > 0
    votes = np.stack([np.where(forward, side, 0.0), np.where(forward, 0.0, -side), forward, ~forward], 1)
    return by_key(low, high, votes)


def _tallied(questions: Keyed) -> tuple[Floats, float]:
    """Return rows (answers one way, the other way, how many such questions), and the weight outvoted."""
    votes = questions[2]
    if not len(votes):
        return np.empty((0, 3)), 0.0
    width = int(votes[:, 3].max()) + 1
    codes, many = np.unique(votes[:, 2].astype(np.int64) * width + votes[:, 3].astype(np.int64), return_counts=True)
    sides = np.column_stack([codes // width, codes % width, many]).astype(float)
    return sides, float(np.minimum(votes[:, 0], votes[:, 1]).sum())
