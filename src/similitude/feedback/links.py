"""Links: pairs of items that someone called similar or dissimilar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.display.words import counted
from similitude.feedback import implied_links
from similitude.feedback.answers import Answers
from similitude.feedback.cards import links_card
from similitude.feedback.checks import check_two_items, check_weight
from similitude.feedback.columns import Categories, Rowwise, join
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.implied_links import Conflict
from similitude.feedback.items import Names, encode_items
from similitude.feedback.pairs import link_edges
from similitude.feedback.sheets import Sheets, item_rows
from similitude.types import Bools, Column, Floats, Ints, ItemRows, Seed


@dataclass(frozen=True, eq=False, repr=False)
class Links(Rowwise):
    """Pairs of items said to be similar ("same kind") or dissimilar.

    Build one with `of`, `from_pairs` or `from_labels`; they check what they are given.

    Attributes
    ----------
    pairs : (k, 2) item indices
    similar : (k,) whether the pair was called similar; otherwise it was called dissimilar
    weight : (k,) how much each link counts
    n_items : number of items
    names : the items' names, or None where items are known by position
    rater : who said it

    Examples
    --------
    >>> import similitude as sm
    >>> links = sm.Links.from_pairs(similar=[("cat", "lynx"), ("lynx", "lion")], dissimilar=[("lion", "bus")])
    >>> links.implied()
    <6 links (3 similar, 3 dissimilar) among 4 items>
    """

    pairs: Ints
    similar: Bools
    weight: Floats
    n_items: int
    names: Names | None
    rater: Categories
    _columns = ("pairs", "similar", "weight", "rater")

    @classmethod
    def of(
        cls,
        pairs: ItemRows,
        similar: Column,
        *,
        weight: npt.ArrayLike | None = None,
        rater: Any = None,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
    ) -> Links:
        """Make links from pairs and whether each is similar.

        Parameters
        ----------
        pairs : (k, 2) items by name or position
        similar : (k,) booleans
        weight : one number for all links, or one per link
        rater : who said it, one for all links or one per link
        names, n_items : the items, as in `Comparisons`
        """
        codes, known, count = item_rows(pairs, 2, "pairs", names, n_items)
        kind = np.asarray(similar)
        if kind.dtype != bool or kind.shape != (len(codes),):
            raise ValueError(f"similar: expected {len(codes)} booleans, found {kind.dtype} of shape {kind.shape}")
        check_two_items(codes, known, "link")
        return cls(codes, kind, check_weight(weight, len(codes)), count, known, Categories.of(rater, len(codes)))

    @classmethod
    def from_pairs(
        cls,
        similar: Sequence[Any] = (),
        dissimilar: Sequence[Any] = (),
        *,
        weight: npt.ArrayLike | None = None,
        rater: Any = None,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
    ) -> Links:
        """Make links from a list of similar pairs and a list of dissimilar pairs.

        Parameters
        ----------
        similar, dissimilar : pairs of items by name or position
        weight, rater, names, n_items : as in `of` (similar pairs come first)
        """
        kind = np.repeat([True, False], [len(similar), len(dissimilar)])
        pairs = [*map(tuple, similar), *map(tuple, dissimilar)]
        return cls.of(pairs, kind, weight=weight, rater=rater, names=names, n_items=n_items)

    @classmethod
    def from_labels(
        cls,
        item: Column,
        label: Column,
        *,
        n_links: int | None = None,
        random_state: Seed = None,
        weight: npt.ArrayLike | None = None,
        rater: Any = None,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
    ) -> Links:
        """Make links from classes: pairs of one class are similar, pairs of different classes are dissimilar.

        Parameters
        ----------
        item : the labelled items, by name or position
        label : the class of each
        n_links : number of pairs to draw; every pair when not given
        random_state : seed of that draw
        weight, rater, names, n_items : as in `of`
        """
        codes, known, count = encode_items(item, names, n_items)
        values = np.asarray(label)
        if codes.ndim != 1 or values.shape != codes.shape:
            raise ValueError(f"label: expected one class per item {codes.shape}, found shape {values.shape}")
        first, second = implied_links.some_pairs(len(codes), n_links, np.random.default_rng(random_state))
        pairs = np.stack([codes[first], codes[second]], axis=1)
        same = values[first] == values[second]
        return cls.of(pairs, same, weight=weight, rater=rater, names=known, n_items=count)

    @staticmethod
    def concatenate(parts: Sequence[Links]) -> Links:
        """Join links about the same items (the same names, or positions)."""
        if not parts or any(part.names != parts[0].names for part in parts):
            raise ValueError("concatenate: expected links about the same items, found none or other item names")
        return Links(
            np.concatenate([part.pairs for part in parts]),
            np.concatenate([part.similar for part in parts]),
            join([part.weight for part in parts]),
            max(part.n_items for part in parts),
            parts[0].names,
            Categories.join([part.rater for part in parts]),
        )

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the dissimilar links between items that a chain of similar links joins.

        A pair that was called both similar and dissimilar is the shortest such chain.
        """
        return implied_links.conflicts(self.pairs, self.similar, self.n_items, self.names)

    def implied(self) -> Links:
        """Return all links that follow when "similar" means the same kind.

        Items that a chain of similar links joins are similar; all items of two such groups are dissimilar
        where one dissimilar link joins the groups. Stated links keep their weight (the largest, where stated
        twice); what follows from them has weight 1. Conflicts are an error that names the first.
        """
        found = self.conflicts()
        if found:
            raise ValueError(f"implied: {found[0]}; {len(found)} such in all: leave out the rows of conflicts()")
        pairs, similar = implied_links.closed(self.pairs, self.similar, self.n_items)
        weight = implied_links.stated_weight(pairs, self.pairs, self.weight, self.n_items)
        return Links(pairs, similar, weight, self.n_items, self.names, Categories.of(None, len(pairs)))

    def to_comparisons(self, n_comparisons: int | None = None, random_state: Seed = None) -> Comparisons:
        """Compare similar pairs with dissimilar ones: a similar pair is the more alike.

        All links of one rater are one answer (a sheet of pairs rated 1 or 0). Comparisons whose pairs share
        an item come first; the weight is the product of the two links' weights.

        Parameters
        ----------
        n_comparisons : how many at most; by default 20 per link
        random_state : seed of the draw, where there are more than that
        """
        rng = np.random.default_rng(random_state)
        sheets = Sheets(self.rater.values if self.rater.recorded else None, len(self))
        wanted = 20 * len(self) if n_comparisons is None else n_comparisons
        quota = np.diff(np.round(np.cumsum([0, *sheets.lengths]) / max(len(self), 1) * wanted)).astype(int)
        parts = [
            link_edges(self.pairs, self.similar, rows, most, rng) for rows, most in zip(sheets, quota, strict=True)
        ]
        near = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, int)
        if len(near) == 0:
            count = int(self.similar.sum())
            raise ValueError(
                f"to_comparisons: expected a rater with similar and dissimilar links, found {count} similar "
                f"and {len(self) - count} dissimilar links in all; give links of both kinds"
            )
        far = np.concatenate([part[1] for part in parts])
        owner = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]).astype(np.int32)
        answers = Answers.of(
            "similarity_rating",
            sheets.rows(self.pairs),
            sheets.rows(self.similar[:, None].astype(float)),
            rater=sheets.labels,
        )
        edges = (self.pairs[near], self.pairs[far], owner)
        found = Comparisons.from_answers(answers, names=self.names, n_items=self.n_items, edges=edges)
        return found.reweight(self.weight[near] * self.weight[far])

    def __repr__(self) -> str:
        count = int(self.similar.sum())
        kinds = f"{count:,} similar, {len(self) - count:,} dissimilar"
        return f"<{counted(len(self), 'link')} ({kinds}) among {counted(self.n_items, 'item')}>"

    def _repr_html_(self) -> str:
        return links_card(self)
