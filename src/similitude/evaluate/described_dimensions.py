"""What dimensions are about: their items, how much they decide, attributes that go with them, names to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from similitude.display.words import counted, listed
from similitude.evaluate.attributes import against_attributes
from similitude.evaluate.cards import dimensions_card
from similitude.evaluate.deciding import deciding
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import find_item
from similitude.methods.base import Fitted
from similitude.methods.dimension_parts import explain_answer, odd_one_out, with_dimensions
from similitude.methods.explanation import Explanation
from similitude.methods.provenance import described_data
from similitude.methods.similarity import Similarity
from similitude.settings import check_count, check_share, generator
from similitude.types import Array, Floats, Seed, Table

_ALPHA = 0.05
_CLEAR = 0.3  # of many items any correlation is beyond chance; a name needs more
_AGAIN = 0.5  # a correlation between halves, each of which is a study of half the size
_IN_NAME = 3  # items that a name is made of
_OTHERS = "all others"


@dataclass(frozen=True, eq=False, repr=False)
class DescribedDimensions:
    """What `describe_dimensions` found.

    Attributes
    ----------
    similarity : the model
    table : a row per dimension, heaviest first: `dimension` (from 1), `name`, `named_from` ("attribute" or "items" of a
        suggestion, "you"), `weight` (its share of the squared values), `items` (how many it is about: the square of the
        sum of its values over the sum of their squares); with answers `share`, `without` and their intervals, as of
        `similitude.evaluate.deciding`; with a test of reproducibility `reproducible`, and `seeds` and `halves` with
        their intervals, as of `dimension_reproducibility`
    attributes : correlation of each dimension with each attribute, as of `similitude.evaluate.attributes`; None where
        none were given
    about : which answers `share` and `without` are about, in words; empty without answers
    deviation : (n, d) how sure each value is, where the model knows; else None
    kept : (d,) which dimensions of the model the table is about: all, unless some were left out

    Examples
    --------
    >>> import numpy as np, pandas as pd, similitude as sm
    >>> names = ["cup", "glass", "jug", "ball", "wheel", "coin"]
    >>> model = pd.DataFrame(2 * np.kron(np.eye(2), np.ones((3, 1))) + 0.1, index=names)
    >>> found = sm.describe_dimensions(model)
    >>> found.names, found.values.shape
    (['cup, glass, jug?', 'ball, wheel, coin?'], (6, 2))
    """

    similarity: Similarity
    table: pd.DataFrame
    attributes: pd.DataFrame | None
    about: str
    deviation: Floats | None
    kept: Array

    @property
    def values(self) -> Floats:
        """(n, d) value of every item on the dimensions that were kept."""
        return self.similarity.embedding[:, self.kept]

    @property
    def items(self) -> list[str]:
        """Names of the items, or their positions."""
        return [self.similarity.label(k) for k in range(self.similarity.n_items)]

    @property
    def names(self) -> list[str]:
        """Names of the dimensions; one that is only a suggestion ends in a question mark."""
        sure = self.table.named_from == "you"
        return [name if said else f"{name}?" for name, said in zip(self.table.name, sure, strict=True)]

    @property
    def labels(self) -> list[str]:
        """Number and name of each dimension, which no two share."""
        return [f"{number}  {name}" for number, name in zip(self.table.dimension, self.names, strict=True)]

    @property
    def tested(self) -> bool:
        """Whether it is known which dimensions reproduce."""
        return "reproducible" in self.table

    def top(self, dimension: int, k: int = 10) -> pd.DataFrame:
        """Return the items that have most of a dimension: `item`, `value`, highest first; at most those above 0."""
        check_count("k", k)
        own = self._column(dimension)
        order = [item for item in np.argsort(-own, kind="stable")[:k].tolist() if own[item] > 0]
        return pd.DataFrame({"item": [self.similarity.label(item) for item in order], "value": own[order]})

    def bottom(self, dimension: int, k: int = 5) -> pd.DataFrame:
        """Return items that have least of a dimension: `item`, `value`, lowest first.

        Of the many that may have none of it at all, those come first that have most of everything else.
        """
        check_count("k", k)
        own = self._column(dimension)
        whole = (self.similarity.embedding**2).sum(1)
        order = np.lexsort((-whole, own))[:k].tolist()
        return pd.DataFrame({"item": [self.similarity.label(item) for item in order], "value": own[order]})

    def profile(self, item: Any) -> pd.DataFrame:
        """Return an item's value on each dimension: `dimension`, `name`, `value`, `rank` among the items (1 is most).

        Where the model knows how sure values are, `deviation` too.
        """
        row = find_item(item, self.similarity.names, self.similarity.n_items)
        X = self.values
        columns = {"dimension": self.table.dimension, "name": self.names, "value": X[row]}
        found = pd.DataFrame(columns).assign(rank=1 + (X[row] < X).sum(0))
        return found if self.deviation is None else found.assign(deviation=self.deviation[row, self.kept])

    def why(self, *answer: Any) -> Explanation:
        """Say why an answer was given, as `explain_answer` does, with the names of the dimensions.

        Parameters
        ----------
        answer : one answer, as `explain_answer` takes it; or three items, of which the last is the odd one
        """
        given = answer[0] if len(answer) == 1 else odd_one_out(self.similarity, answer)
        whole = explain_answer(self.similarity, given)
        if len(self.kept) == self.similarity.embedding.shape[1]:
            return replace(whole, features=tuple(self.labels))
        rest = whole.contributions.sum() - whole.contributions[:, self.kept].sum()
        parts = np.append(whole.contributions[0, self.kept], rest)[None]
        return replace(whole, contributions=parts, features=(*self.labels, _OTHERS))

    def renamed(self, names: Mapping[int, str]) -> DescribedDimensions:
        """Return the same with names of your own, by the number of the dimension; these are no suggestions."""
        table = self.table.copy()
        for row, name in self._own_names(names).items():
            table.loc[row, ["name", "named_from"]] = [name, "you"]
        return replace(self, table=table)

    def reproducible(self) -> DescribedDimensions:
        """Return the dimensions that reproduce alone; the model stays whole."""
        if not self.tested:
            raise ValueError("reproducibility: expected to be given to describe_dimensions, found none")
        rows = np.flatnonzero(self.table.reproducible.to_numpy(bool))
        number = set(self.table.dimension.iloc[rows])
        attributes = None if self.attributes is None else self.attributes[self.attributes.dimension.isin(number)]
        return replace(
            self, table=self.table.iloc[rows].reset_index(drop=True), attributes=attributes, kept=self.kept[rows]
        )

    def sentences(self) -> list[str]:
        """Return what there is to say of all dimensions together."""
        n, d = self.similarity.n_items, len(self.table)
        if not d:
            return [f"The answers about {counted(n, 'item')} carry no dimension that can be told from chance."]
        said = [f"{counted(d, 'dimension')} of {counted(n, 'item')}."]
        if self.tested:
            count = int(self.table.reproducible.sum())
            which = "All of them come" if count == d else f"{count} of {d} come"
            rest = "" if count == d else " The others may be chance: another start finds others."
            said.append(f"{which} again from other starts.{self._halves()}{rest}")
        if self.about:
            most = self.table.share.to_numpy().argmax() if self.table.share.notna().any() else None
            if most is None:
                said.append(f"On {self.about} they do no better than chance.")
            else:
                said.append(
                    f"Most is decided by dimension {self.table.dimension[most]} ({self.names[most]}): "
                    f"{self.table.share[most]:.0%} of what is known of {self.about}."
                )
        if (self.table.named_from != "you").any():
            said.append("Names that end in a question mark are suggestions: look at the items before you use one.")
        return said

    def _halves(self) -> str:
        """How many of them halves of the answers find again."""
        if "halves" not in self.table:
            return ""
        count, of = int((self.table.halves >= _AGAIN).sum()), len(self.table)
        which = "all" if count == of else count or "none"
        rest = "" if count == of else f": half as many answers could not carry {'the others' if count else 'them'}"
        return f" Two halves of the answers agree on {which} of them (r of {_AGAIN} or more){rest}."

    def __repr__(self) -> str:
        return f"<{counted(len(self.table), 'dimension')}: {listed(self.names, len(self.table), 4)}>"

    def _repr_html_(self) -> str:
        return dimensions_card(self)

    def _own_names(self, names: Mapping[int, str]) -> dict[int, str]:
        """Names of somebody's own by the rows of the table; what is no name is refused."""
        if not isinstance(names, Mapping):
            found = type(names).__name__
            raise TypeError(f"names: expected names by the number of a dimension, as {{1: 'metallic'}}, found {found}")
        wrong = next((number for number, name in names.items() if not isinstance(name, str) or not name.strip()), None)
        if wrong is not None:
            raise ValueError(f"names: expected words for dimension {wrong}, found {names[wrong]!r}")
        return {self._row(number): name for number, name in names.items()}

    def _row(self, dimension: int) -> int:
        rows = np.flatnonzero(self.table.dimension == dimension)
        if not len(rows):
            raise ValueError(f"dimension: expected one of {list(self.table.dimension)}, found {dimension!r}")
        return int(rows[0])

    def _column(self, dimension: int) -> Floats:
        found: Floats = self.values[:, self._row(dimension)]
        return found


def describe_dimensions(
    model: Fitted | Table,
    comparisons: ComparisonsLike | None = None,
    *,
    attributes: Table | None = None,
    reproducibility: Any = None,
    names: Mapping[int, str] | None = None,
    level: float = 0.95,
    random_state: Seed = 0,
) -> DescribedDimensions:
    """Say what the dimensions of a model are about.

    Parameters
    ----------
    model : a fitted `NonNegativeEmbedding`, its `Similarity`, or a table of items and non-negative dimensions, such as
        those that others published
    comparisons : answers by which to tell how much each dimension decides; best some that the model has not seen, else
        shares are about what it learned, noise included
    attributes : what is known of the items: a table with a row per item and a column per attribute, numbers or words
    reproducibility : of `dimension_reproducibility` of the model: which dimensions other starts find again
    names : names of your own, by the number of the dimension, from 1; every other name is a suggestion and ends in a
        question mark: the attribute that goes with it most (a rank correlation of 0.3 at least, beyond chance, and more
        than that attribute has with any other dimension), else its first items
    level : of the intervals
    random_state : seed or generator

    Returns
    -------
    DescribedDimensions
        `table` has a row per dimension; `top`, `profile` and `why` look closer; `similitude.write_dimensions` makes an
        atlas of it.

    Examples
    --------
    >>> import numpy as np, pandas as pd, similitude as sm
    >>> names = ["cup", "glass", "jug", "ball", "wheel", "coin"]
    >>> model = pd.DataFrame(2 * np.kron(np.eye(2), np.ones((3, 1))) + 0.1, index=names)
    >>> kinds = pd.DataFrame({"for drinking": [1, 1, 0.5, 0, 0, 0], "round": [0.5, 0.5, 0.2, 1, 1, 1]}, index=names)
    >>> found = sm.describe_dimensions(model, attributes=kinds).renamed({2: "round"})
    >>> found
    <2 dimensions: cup, glass, jug?, round>
    >>> found.why("ball", "coin", "jug")
    <ball and coin: confidence 96%, log odds +4>
    """
    check_share("level", level)
    generator(random_state)  # whatever it cannot be of is refused at once
    similarity = with_dimensions(model)
    c = None if comparisons is None else as_comparisons(comparisons)
    X = similarity.embedding
    table = _table(X)
    if c is not None and X.shape[1]:
        table = table.join(deciding(similarity, c, level=level, random_state=random_state))
    if reproducibility is not None:
        table = table.join(_tested(reproducibility, X.shape[1]))
    found = None
    if attributes is not None and X.shape[1]:
        found = against_attributes(X, attributes, similarity.names, level=level, random_state=random_state)
    table.insert(1, "name", "")
    table.insert(2, "named_from", "items")
    made = DescribedDimensions(
        similarity, table, found, _about(similarity, c), getattr(model, "deviation_", None), np.arange(X.shape[1])
    )
    return replace(made, table=_named(made)).renamed(names or {})


def _table(X: Floats) -> pd.DataFrame:
    square = (X**2).sum(0)
    size = np.divide(X.sum(0) ** 2, square, out=np.zeros(X.shape[1]), where=square > 0)
    columns = {"dimension": np.arange(1, X.shape[1] + 1), "weight": square / max(square.sum(), 1e-300), "items": size}
    return pd.DataFrame(columns)


def _about(similarity: Similarity, c: Comparisons | None) -> str:
    """Which answers, and whether the model knows them."""
    if c is None:
        return ""
    known = similarity.about.get("data", {}).get("digest") == described_data(c)["digest"]
    return counted(c.n_answers, "answer") + (" that the model learned from" if known else "")


def _named(found: DescribedDimensions) -> pd.DataFrame:
    """The table with names suggested: by an attribute that surely goes with a dimension, else by its first items."""
    table, known = found.table.copy(), _by_attribute(found.attributes)
    for row, number in enumerate(table.dimension.tolist()):
        table.loc[row, "named_from"] = "attribute" if number in known else "items"
        table.loc[row, "name"] = known.get(number) or ", ".join(found.top(number, _IN_NAME).item)
    return table


def _by_attribute(attributes: pd.DataFrame | None) -> dict[int, str]:
    """The attribute that goes with a dimension most, clearly, and with no other dimension more."""
    if attributes is None:
        return {}
    best = attributes.drop_duplicates("dimension").sort_values("correlation", ascending=False, kind="stable")
    clear = best[(best.p_value <= _ALPHA) & (best.correlation >= _CLEAR) & (best.low > 0)].drop_duplicates("attribute")
    words = [attribute.split(": ", 1)[-1] for attribute in clear.attribute]  # "kind: food" is a word of a column
    return dict(zip(clear.dimension, words, strict=True))


def _tested(reproducibility: Any, count: int) -> pd.DataFrame:
    """What a test of reproducibility says of each dimension."""
    given = getattr(reproducibility, "table", None)
    if not isinstance(given, pd.DataFrame) or "reproducible" not in given:
        raise TypeError(
            f"reproducibility: expected what dimension_reproducibility found, found {type(reproducibility).__name__}"
        )
    if len(given) != count:
        raise ValueError(f"reproducibility: is about {len(given)} dimensions, expected the {count} of the model")
    columns = ["reproducible", *(f"{way}{end}" for way in ("seeds", "halves") for end in ("", "_low", "_high"))]
    return given[columns].reset_index(drop=True).dropna(axis="columns", how="all")
