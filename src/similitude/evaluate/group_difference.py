"""What `compare_groups` found, in words, as tables and as a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from similitude.display.cards import card, figures, grid, sentence
from similitude.display.words import counted, listed, shortened, written_p

_ALPHA = 0.05
_FIRST = 5


@dataclass(frozen=True, eq=False, repr=False)
class GroupDifference:
    """What `compare_groups` found.

    Attributes
    ----------
    by : the column
    groups : their names
    raters : how many raters each has; within raters, all of them in both
    within : whether two conditions were compared within raters
    statistic : how far groups lie apart in units of what raters scatter; about 1 where groups do not matter
    p_value : share of the splits of the raters into such groups that have as large a statistic
    effect, low, high : how much larger a share of answers is predicted by a map of the rater's own group than by one
        of the others, raters left out of the maps that predict them; with its interval over raters
    level : of the interval
    pairs : a row per pair of items, those that differ most first: `a`, `b`, `more_alike_to`, `difference`, and
        `p_value`, corrected for the number of pairs
    items : a row per item: `item`, `statistic` (of its pairs; about 1 where groups do not matter), and `p_value`,
        corrected for the number of items
    power : how often a study like this one would find a difference in which a share `changed` of the answers changes
    n_permutations : how many splits (within raters, exchanges of conditions) the groups were compared with
    exact : whether these are all that there are, the groups as they are among them
    left_out : items that not every group judged; nothing that was said about them counts here
    ungrouped : how many raters belong to no group (an empty cell, or who came before a study had conditions)

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(8, 2))
    >>> c = sm.simulate(truth, 400, raters=10, random_state=1)
    >>> found = sm.compare_groups(c, {who: k % 2 for k, who in enumerate(c.answers.rater.labels)}, random_state=0)
    >>> list(found.power.columns), len(found.items), found.within
    (['changed', 'power'], 8, False)
    """

    by: str
    groups: tuple[str, ...]
    raters: tuple[int, ...]
    within: bool
    statistic: float
    p_value: float
    effect: float
    low: float
    high: float
    level: float
    pairs: pd.DataFrame
    items: pd.DataFrame
    power: pd.DataFrame
    n_permutations: int
    exact: bool = False
    left_out: tuple[str, ...] = ()
    ungrouped: int = 0

    @property
    def differ(self) -> bool:
        """Whether the groups differ, at 5 %."""
        return self.p_value <= _ALPHA

    @property
    def least_p(self) -> float:
        """The least p that this number of splits can give."""
        return 1 / (self.n_permutations + (not self.exact))

    @property
    def detectable(self) -> float | None:
        """The least difference (share of answers that change) found four times out of five; None if none."""
        enough = self.power[self.power.power >= 0.8]
        return float(enough.changed.min()) if len(enough) else None

    def lines(self) -> list[tuple[str, str]]:
        """Return each figure with its name, as they are printed."""
        who = ", ".join(f"{name} ({count})" for name, count in zip(self.groups, self.raters, strict=True))
        effect = f"{100 * self.effect:+.1f} points ({100 * self.low:+.1f} to {100 * self.high:+.1f})"
        verdict = "yes" if self.differ else "no difference shown"
        gone = [("in no group", f"{counted(self.ungrouped, 'rater')}, not compared")] if self.ungrouped else []
        gone += [("left out", self._gone())] if self.left_out else []
        return [
            ("raters", who),
            *gone,
            ("differ", f"{verdict}, p {written_p(self.p_value)} ({self.against})"),
            ("own group predicts better by", effect),
            ("items that differ", self._named(self.items, ["item"])),
            ("pairs that differ", self._named(self.pairs, ["a", "b"])),
            ("power", self._power()),
        ]

    @property
    def against(self) -> str:
        """What the groups as they are were compared with."""
        what = "exchanges of conditions within raters" if self.within else "splits of the raters into such groups"
        if self.exact:
            return f"among all {self.n_permutations:,} {what}; the least p that there could be is {self.least_p:.3f}"
        return f"against {self.n_permutations:,} random {what}"

    def _named(self, table: pd.DataFrame, columns: list[str]) -> str:
        sure = table[table.p_value <= _ALPHA]
        names = [" and ".join(map(str, row)) for row in sure[columns].itertuples(index=False)]
        return listed(names, len(names)) if names else "none significantly"

    def _gone(self) -> str:
        return f"items that not every group judged: {listed(self.left_out, len(self.left_out))}"

    def _power(self) -> str:
        if self.detectable is None:
            return f"a difference in which {self.power.changed.max():.0%} of the answers change would often be missed"
        return (
            f"a difference in which {self.detectable:.0%} of the answers change would be found four times out of five"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, pd.DataFrame)}
        plain |= {name: list(plain[name]) for name in ("groups", "raters", "left_out")}
        return plain | {name: getattr(self, name).to_dict("records") for name in ("pairs", "items", "power")}

    def __str__(self) -> str:
        lines = self.lines()
        wide = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{wide}}  {value}" for name, value in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = "Groups differ." if self.differ else "No difference between the groups is shown."
        rows = [
            (shortened(f"{row.a} and {row.b}"), str(row.more_alike_to), f"{row.p_value:.3f}")
            for row in self.pairs.head(_FIRST).itertuples()
        ]
        table = grid(("pairs that differ most", "more alike to", "p"), rows, words=(0, 1))
        title = f"Do groups by {self.by} see things differently?"
        return card(title, sentence(said), figures(self.lines()), table)
