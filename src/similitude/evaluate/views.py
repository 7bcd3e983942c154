"""What is compared: distances, and positions where there are any, of a model or of whatever else represents the items.

| given | is read as |
|---|---|
| a fitted estimator, a `Similarity` | its distances |
| (n, n), or n (n - 1) / 2 numbers in a row | dissimilarities: an RDM, square or condensed |
| (raters, n, n), or `RDMs` of rsatoolbox | dissimilarities of several raters, of which the mean of ranks is taken |
| (n, p) numbers | vectors, as of a network, by a metric |
| a pandas table with other columns than rows | vectors, where a metric is asked for; else attributes of items, each in
units of its deviation, words as 0 and 1 |
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import stats

from similitude.display.words import counted
from similitude.engine.distances import pair_sqdist
from similitude.engine.feature_checks import is_default
from similitude.engine.measures import SignedProduct
from similitude.evaluate.attributes import as_attributes
from similitude.evaluate.item_rows import named_rows
from similitude.evaluate.rdm_checks import as_numbers, check_dissimilarities, is_symmetric
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files.tools.rsatoolbox import items_of
from similitude.feedback.items import Names, check_names
from similitude.methods.base import FeedbackWarning, similarity_of
from similitude.methods.scaling import scale_distances
from similitude.methods.similarity import Similarity
from similitude.settings import one_of
from similitude.types import Array, Bools, Floats

Metric = Literal["euclidean", "cosine", "correlation", "dot"]
METRICS = ("euclidean", "cosine", "correlation", "dot")

_AT_A_TIME = 2**16  # pairs
_CAME: tuple[Literal["array"], Literal["table"]] = ("array", "table")
_KINDS = {"distance": "distance", "product": "minus product"}
_WORDS = {"euclidean": "Euclidean distance", "cosine": "cosine", "correlation": "correlation", "dot": "minus products"}


@dataclass(frozen=True, eq=False)
class View:
    """A similarity as distances, which are worked out for the pairs that are asked about.

    Attributes
    ----------
    measure : distances of pairs, by the source's numbers of the items; NaN where unknown
    items : (n,) those numbers
    positions : (n, d) of a model, None of a table
    names : of the items, or None
    raters : (raters, n, n) what each rater finds, where that is known; over the source's numbers
    read : how it was read, in words
    kind : what a number between two items is called on an axis
    learned : digest of the answers that a model learned from; empty where it is not known
    vectors : of vectors and attributes, whether they came as a pandas "table" or as an "array"; else None
    absent : the source's numbers of items that it says nothing of: a model's that were never compared
    by_position : whether its items are the positions of a model without names, and not rows in anybody's order
    """

    measure: Callable[[Array], Floats]
    items: Array
    positions: Floats | None
    names: Names | None
    raters: Floats | None = None
    read: str = ""
    kind: str = "distance"
    learned: str = ""
    vectors: Literal["table", "array"] | None = None
    absent: Array = field(default_factory=lambda: np.empty(0, int))
    by_position: bool = False

    @classmethod
    def of(cls, given: Any, argument: str, metric: Metric | None = None) -> View:
        """Read whatever represents items; see the table above."""
        is_none = hasattr(given, "fit") or isinstance(given, Comparisons)  # answers look like a table of vectors
        similarity = similarity_of(given, argument) if is_none else given
        if isinstance(similarity, Similarity):
            return cls._of_model(similarity, argument)
        if hasattr(given, "dissimilarities") and hasattr(given, "get_matrices"):
            return cls._of_tables(np.array(given.get_matrices(), float), argument, _pattern_names(given))
        if _has_columns(given) and not _names_agree(given):
            given = named_rows(given)
            if metric is None:
                return cls._of_attributes(given, argument)
        values = as_numbers(_by_name(given, argument), argument)
        if values.ndim == 1:
            values = _squared(values, argument)
        if values.ndim == 3:
            return cls._of_tables(values, argument, None)
        if values.shape[0] != values.shape[1] or (metric is not None and not is_symmetric(values)):
            return cls._of_vectors(
                values, metric or "euclidean", argument, _index_names(given), table=_has_columns(given)
            )
        return cls._of_tables(values[None], argument, _index_names(given))

    @classmethod
    def _of_model(cls, similarity: Similarity, argument: str) -> View:
        if not similarity.embedding.shape[1]:
            raise ValueError(
                f"{argument}: the model has no dimensions, its answers teach nothing, so its items cannot be compared"
            )
        items, kind = np.arange(similarity.n_items), _KINDS.get(similarity.kind, similarity.kind)
        read = f"{similarity.about.get('method', 'a model')}, by its {kind}s"
        learned = str(similarity.about.get("data", {}).get("digest", ""))

        def measure(pairs: Array) -> Floats:
            return similarity.measure.shown(similarity.measure.of_pairs(pairs))

        return cls(
            measure, items, similarity.embedding, similarity.names, None, read, kind, learned,
            absent=_never_compared(similarity), by_position=similarity.names is None,
        )  # fmt: skip

    @classmethod
    def _of_attributes(cls, given: Any, argument: str) -> View:
        values = _standardised(given)
        unknown = np.isnan(values)
        absent = np.flatnonzero(unknown.all(1))
        view = cls._of_vectors(np.nan_to_num(values), "euclidean", argument, _index_names(given), table=True)
        said = f"{counted(values.shape[1], 'attribute')}, each in units of its deviation, by Euclidean distance"
        if gaps := int(unknown.sum()) - len(absent) * values.shape[1]:
            said += f"; {counted(gaps, 'empty cell')} taken as the mean of the column"
        return replace(view, read=said, absent=absent)

    @classmethod
    def _of_tables(cls, tables: Floats, argument: str, names: Names | None) -> View:
        """Dissimilarities of one or several raters."""
        if tables.shape[1] != tables.shape[2] or not len(tables):
            raise ValueError(f"{argument}: expected square tables, found an array of shape {tables.shape}")
        check_dissimilarities(tables, argument)
        table = tables[0] if len(tables) == 1 else mean_of_ranks(tables)
        np.fill_diagonal(table, 0.0)
        several = tables if len(tables) > 1 else None
        read = "dissimilarities" + (f" of {len(tables)} raters, the mean of their ranks" if several is not None else "")
        return cls(
            lambda pairs: table[tuple(pairs.T)], np.arange(len(table)), None, names, several, read, "dissimilarity"
        )

    @classmethod
    def _of_vectors(cls, vectors: Floats, metric: Metric, argument: str, names: Names | None, *, table: bool) -> View:
        """Vectors by a metric: cosines and correlations are distances of vectors of length 1."""
        one_of("metric", metric, METRICS)
        if metric == "correlation":
            vectors = vectors - vectors.mean(1, keepdims=True)
        if metric in ("cosine", "correlation"):
            length = np.linalg.norm(vectors, axis=1)
            if not (length > 0).all():
                item = int(np.flatnonzero(~(length > 0))[0])
                raise ValueError(f"{argument}: item {item} has a vector without a direction, so it has no {metric}")
            vectors = vectors / length[:, None]
        if not np.isfinite(vectors).all():
            raise ValueError(f"{argument}: expected numbers in every vector, found some missing")
        positions = np.ascontiguousarray(vectors)
        read = f"vectors of {counted(vectors.shape[1], 'number')}, by {_WORDS[metric]}"
        items, came = np.arange(len(vectors)), _CAME[table]
        if metric == "dot":
            form = SignedProduct(positions, -np.ones(positions.shape[1]))
            return cls(form.of_pairs, items, positions, names, None, read, _KINDS[form.kind], vectors=came)

        def measure(pairs: Array) -> Floats:
            return np.sqrt(pair_sqdist(positions, pairs))

        return cls(measure, items, positions, names, None, read, vectors=came)

    @property
    def named(self) -> bool:
        """Whether items are known by name."""
        return self.names is not None

    @property
    def placed(self) -> Bools:
        """(n,) whether something is known of each item."""
        return ~np.isin(self.items, self.absent)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def take(self, items: Array) -> View:
        """Return some items alone."""
        positions = None if self.positions is None else self.positions[items]
        names = None if self.names is None else tuple(self.names[k] for k in items)
        return replace(self, items=self.items[items], positions=positions, names=names)

    def distances(self, pairs: Array) -> Floats:
        """(p,) distance of each pair; NaN where it is unknown. Wide positions need room, so some pairs at a time."""
        parts = range(0, max(len(pairs), 1), _AT_A_TIME)
        return np.concatenate([self.measure(self.items[pairs[begin : begin + _AT_A_TIME]]) for begin in parts])

    def scaled(self, width: int | None) -> Floats | None:
        """Positions: the model's own, or the leading axes of classical scaling; None where a table has gaps."""
        if self.positions is not None:
            return self.positions
        table = self.measure(np.stack(np.meshgrid(self.items, self.items), axis=-1).reshape(-1, 2))
        if np.isnan(table).any():
            return None
        return scale_distances(np.maximum(table, 0.0).reshape(self.n_items, -1))[:, :width]

    def gap(self, near: Array, far: Array) -> Floats:
        """How much farther apart the far pairs are than the near ones."""
        return self.distances(far) - self.distances(near)


def share_items(one: View, two: View) -> tuple[View, View, Names, Names]:
    """Return both over the items in common, in the order of the first; the items' names; and whom that leaves out."""
    one, two = _numbered(one, two), _numbered(two, one)
    for argument, own, other in (("first", one, two), ("second", two, one)):
        if own.vectors == "table" and own.names is None and other.names is not None:
            raise ValueError(
                f"{argument}: the table does not say which items its rows are about; name them in its index, as by "
                "table.set_index(column), or give an array (table.to_numpy()) in the order of the other's items"
            )
    if one.names is None or two.names is None:
        _refuse_mixture(one, two)
        if two.n_items != one.n_items:
            raise ValueError(
                f"items cannot be matched: the first has {one.n_items} and the second {two.n_items}, and not both "
                "know them by name; give both names, or as many items"
            )
        names = one.names or two.names or tuple(str(k) for k in range(one.n_items))
        if (one.names is None) != (two.names is None) and list(names) == sorted(names):
            lacking, known = ("first", "second") if one.names is None else ("second", "first")
            warnings.warn(
                f"{lacking}: has no names, so that its rows were taken in the order of the {known}'s items, which is "
                f"that of the alphabet ({', '.join(names[:3])}, ...); give a table whose index holds the names to "
                "match by name",
                FeedbackWarning,
                stacklevel=3,
            )
        return replace(one, names=one.names or two.names), replace(two, names=two.names or one.names), names, ()
    place = [{name: k for k, name in enumerate(names)} for names in (one.names, two.names)]
    common = tuple(name for name in one.names if name in place[1])
    views = [
        view.take(np.array([own[name] for name in common], int)) for view, own in zip((one, two), place, strict=True)
    ]
    both = set(common)
    left_out = tuple(name for name in (*one.names, *two.names) if name not in both)
    return views[0], views[1], common, left_out


def _refuse_mixture(one: View, two: View) -> None:
    """Refuse to match the positions of a model with names by rank: they are seldom in one order."""
    for argument, own, other in (("first", one, two), ("second", two, one)):
        if own.by_position and own.names is None and other.names is not None:
            called = next(name for name in other.names if name not in _positions(own))
            raise ValueError(
                f"{argument}: the model knows its items by position, 0 to {own.n_items - 1}, and so cannot be matched "
                f"with items by name ({called!r}); learn it from answers with names"
            )


def _positions(view: View) -> Names:
    """What items without names are called: their numbers."""
    return tuple(str(k) for k in range(view.n_items))


def _numbered(one: View, other: View) -> View:
    """Items without names by their numbers, where those are the names that the other has for all of its own."""
    if one.names is None and other.names is not None and {*_positions(one)} >= {*other.names}:
        return replace(one, names=_positions(one))
    return one


def _never_compared(similarity: Similarity) -> Array:
    """The items of which no answer told the model, unless features place them."""
    data = similarity.about.get("data", {})
    return np.array([] if similarity.feature_map is not None else data.get("never_compared", []), int)


def mean_of_ranks(tables: Floats) -> Floats:
    """(n, n) the mean over raters of the rank that each gives a pair among those that it judged, from 0 to 1.

    NaN where nobody judged a pair.
    """
    upper = np.triu_indices(tables.shape[1], 1)
    ranks = np.array([share_ranks(one) for one in tables[:, *upper]])
    known = np.isfinite(ranks)
    count = known.sum(0)
    total = np.where(known, ranks, 0.0).sum(0)
    out = np.zeros(tables.shape[1:])
    out[upper] = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return out + out.T


def share_ranks(values: Floats) -> Floats:
    """Ranks of values from 0 to 1; NaN stays NaN."""
    out, known = np.full(len(values), np.nan), np.isfinite(values)
    out[known] = (stats.rankdata(values[known]) - 1.0) / max(int(known.sum()) - 1, 1)
    return out


def _squared(values: Floats, argument: str) -> Floats:
    """The upper triangle row by row as a table."""
    count = items_of(len(values))
    if count * (count - 1) // 2 != len(values) or count < 2:
        raise ValueError(
            f"{argument}: expected n (n - 1) / 2 dissimilarities, a number for each pair, found {len(values)} numbers"
        )
    out = np.zeros((count, count))
    out[np.triu_indices(count, 1)] = values
    return out + out.T


def _pattern_names(given: Any) -> Names | None:
    """The descriptor of rsatoolbox that names the patterns: the first of words that tells all of them apart."""
    for values in dict(given.pattern_descriptors).values():
        words = [str(value) for value in values]
        if all(isinstance(value, str) for value in values) and len(set(words)) == len(words):
            return check_names(words)
    return None


def _has_columns(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "index")


def _names_agree(given: Any) -> bool:
    """Whether a table of pandas has as many columns as rows, with names in common or none: dissimilarities."""
    rows, columns = list(given.index), list(given.columns)
    if len(rows) != len(columns):
        return False
    return bool({*map(str, rows)} & {*map(str, columns)}) or columns == list(range(len(columns)))


def _index_names(given: Any) -> Names | None:
    """What the index of a table calls the items; None where it only counts the rows."""
    index = getattr(given, "index", None)
    if index is None or callable(index) or is_default(index):
        return None
    return check_names(index) if all(isinstance(name, str | int | np.integer) for name in index) else None


def _standardised(given: Any) -> Floats:
    """Attributes in units of their deviations from the mean, words as 0 and 1; NaN where unknown."""
    values = as_attributes(given.reset_index(drop=True), None, len(given)).to_numpy(float)
    spread = np.nanstd(values, axis=0)
    return (values - np.nanmean(values, axis=0)) / spread


def _by_name(given: Any, argument: str) -> Any:
    """Return a table of pandas with its columns in the order of its rows; anything else as it is."""
    if not _has_columns(given) or len(given.columns) != len(given.index):
        return given
    rows, columns = list(given.index), list(given.columns)
    if columns in (rows, list(range(len(columns)))):
        return given
    if len({*rows}) < len(rows) or sorted(map(str, rows)) != sorted(map(str, columns)):
        other = next((name for name in columns if name not in {*rows}), columns[0])
        raise ValueError(
            f"{argument}: rows and columns of the table are not the same items ({other!r} differs); name both alike"
        )
    return given[rows]
