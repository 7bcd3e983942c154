"""Similarity: a fitted model in use. Frozen, small, saved as arrays and JSON, loaded with numpy alone."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from similitude.display.cards import card, title_of
from similitude.display.maps import map_of
from similitude.display.words import counted
from similitude.engine.feature_maps import FeatureMap
from similitude.engine.measures import Euclidean, Measure, Signed, SignedProduct
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.files.whole import write_whole
from similitude.feedback.items import Names, find_item, find_items
from similitude.feedback.shards import Shards
from similitude.methods import model_file
from similitude.methods.answering import AnswerModel, Sharpness
from similitude.methods.known_items import called_alike
from similitude.methods.metric import ModelMetric, Of, mahalanobis_matrix
from similitude.methods.points import item_codes, positions_of, refuse_without_map
from similitude.methods.tables_out import What, check_what, coordinates, distances, write_table
from similitude.settings import as_path
from similitude.types import Array, Bools, Column, Floats, ItemRows, Seed

if TYPE_CHECKING:
    import pandas as pd


class CleanedWarning(UserWarning):
    """A score on cleaned feedback: cleaning takes away the hard answers, so pure noise can score 0.8.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> import warnings
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.STE(random_state=0).fit(answers)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", sm.CleanedWarning)
    ...     model.score(sm.clean(answers)) > 0.9
    True
    """


@dataclass(frozen=True, eq=False, repr=False)
class Similarity:
    """How alike any two items are, as learned.

    Attributes
    ----------
    embedding : (n, d) position of every item
    loss : the loss that it was fitted with: gives the margin of a comparison and, where it has one, the probability
    names : the items' names, or None
    about : how it was made: `method`, `settings`, `versions`, and of the `data` how much there was, with a digest, and
        which items were `never_compared`
    feature_map : from vectors to positions, where the method learned from features; else None
    answering : what is known of raters, groups of raters and forms of question, where the method learned it; else None
    form : positions and signs of a dissimilarity that is no distance (`DRankingVM`), else None: `embedding` is then a
        picture of it
    thresholds : of links and ratings, where the method learned from them
    attributes : of the items, by name: a value for each item

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, names=list("abcdefghijkl"), random_state=0)
    >>> similarity = sm.STE(n_components=2, random_state=0).fit(answers).similarity_
    >>> similarity
    <STE: 12 items in 2 dimensions>
    >>> similarity.distances().shape, similarity.score(answers) > 0.9
    ((12, 12), True)
    >>> sm.Similarity.from_bytes(similarity.to_bytes()).names == similarity.names
    True
    """

    embedding: Floats
    loss: ComparisonLoss
    names: Names | None = None
    about: dict[str, Any] = field(default_factory=dict)
    feature_map: FeatureMap | None = None
    answering: AnswerModel | None = None
    form: Signed | None = None
    thresholds: dict[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.embedding)

    @property
    def has_probability(self) -> bool:
        """Whether `predict_proba` can be asked: the loss is minus the log of a probability."""
        return self.loss.has_probability

    @cached_property
    def measure(self) -> Measure:
        """How unlike two items are, by their positions."""
        return Euclidean(self.embedding) if self.form is None else self.form

    @property
    def kind(self) -> str:
        """What the numbers between two items are: "distance", or a kind of `engine.measures` that is no distance."""
        return self.measure.kind

    @property
    def shows_vectors(self) -> bool:
        """Whether `embedding` holds the vectors whose products compare the items, and not places on a map."""
        return isinstance(self.form, SignedProduct) and np.array_equal(self.form.positions, self.embedding)

    def label(self, item: int) -> str:
        """Return what to call an item in a message: its name, or its position."""
        return self.names[item] if self.names is not None else str(item)

    def with_attributes(self, **columns: Column) -> Similarity:
        """Return the same with attributes of the items, a value for each item: a price, a category, a picture's file.

        They are kept in the file, and used for nothing.
        """
        values = {name: tuple(np.asarray(column).tolist()) for name, column in columns.items()}
        for name, column in values.items():
            if len(column) != self.n_items:
                raise ValueError(f"{name}: found {len(column)} values, expected {self.n_items}, one for each item")
        return replace(self, attributes={**self.attributes, **values})

    def transform(self, vectors: Any) -> Floats:
        """(m, d) positions of vectors: new items by their features alone, where the method learned from features.

        A linear map is one matrix product; vectors of 32 bits give positions of 32 bits.

        Parameters
        ----------
        vectors : as `features` in `fit`: a table with a row per new item, or a dict with some of the modalities; an
            array along one axis is one vector, and gives one position. In a modality that an item lacks (NaN
            throughout), it stands at the centre.
        """
        known = self.feature_map or refuse_without_map(self, "vectors")
        if hasattr(vectors, "to_frame"):  # a row of a table, whose index names its columns
            return known(vectors.to_frame().T)[0]
        single = getattr(vectors, "ndim", 0) == 1 or (isinstance(vectors, list) and vectors and np.isscalar(vectors[0]))
        return known(np.asarray(vectors)[None])[0] if single else known(vectors)

    def distances(self, first: Any = None, second: Any = None) -> Floats:
        """(n, n) distance between every two items; or (a, b) between any two of what is given.

        Parameters
        ----------
        first, second : vectors, a row each, or items: names, or whole numbers along one axis. `first` is all items
            when not given, `second` the first ones themselves
        """
        if first is None and second is None:
            return self.measure.shown(self.measure.table())
        A = self.measure.positions if first is None else positions_of(self, first, "first")
        B = A if second is None else positions_of(self, second, "second")
        return self.measure.shown(self.measure.between(A, B))

    def to_frame(self, what: What = "coordinates") -> pd.DataFrame:
        """Return the coordinates of the items, or their "distances", as a table with names."""
        check_what(what)
        return distances(self) if what == "distances" else coordinates(self)

    def write_table(self, path: str | os.PathLike[str], what: What = "distances") -> None:
        """Write distances (or "coordinates") with names for other programs; what is no distance is called so.

        Parameters
        ----------
        path : `.csv` or `.tsv`; `.xlsx` holds both, a sheet each; `.hdf5` holds the distances as RDMs of rsatoolbox
        what : what a `.csv` or `.tsv` holds
        """
        write_table(self, as_path(path, "write_table(path, what)"), what)

    def pair_distance(self, pairs: ItemRows) -> Floats:
        """Distance of each pair, rows of two items by name or position."""
        return self.measure.shown(self.measure.of_pairs(self.codes(pairs)))

    def neighbors(self, item: Any, k: int = 5) -> list[Any]:
        """The k items most like an item or a vector, nearest first: names, or positions where items have no names.

        Parameters
        ----------
        item : an item by name or position, which is not its own neighbour; or one vector, as `transform` takes it
        k : how many
        """
        head = self._head(item)
        position = self.measure.positions[[head]] if head is not None else positions_of(self, item, "item")
        if len(position) != 1:
            raise ValueError(f"item: found {len(position)} of them, expected one item or one vector")
        difference = self.measure.between(position, self.measure.positions)[0]
        if head is not None:
            difference[head] = np.inf
        most = self.n_items - (head is not None)
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= most:
            raise ValueError(f"k: expected 1 to {most} neighbours, found {k}")
        nearest = np.argsort(difference, kind="stable")[:k]
        return [self.names[code] for code in nearest] if self.names is not None else nearest.tolist()

    def _head(self, item: Any) -> int | None:
        """Return the position of one item; None where a vector is meant."""
        if isinstance(item, str):
            return find_item(item, self.names, self.n_items)
        codes = item_codes(self, item, "item")
        return None if codes is None or codes.size != 1 else int(codes.reshape(-1)[0])

    def get_metric(self, of: Of | None = None) -> ModelMetric:
        """Return the distance as a function of two items or two vectors, for `metric=` of scikit-learn's neighbours.

        With positions of items say `algorithm="brute"` there: trees take means of rows. A model whose `kind` is no
        distance has no metric, and is refused.

        Parameters
        ----------
        of : what a row of numbers is: "items", one position; "vectors", as `transform` takes them; None tells them
            apart by their length, and refuses what is neither
        """
        return ModelMetric(self, of)

    def get_mahalanobis_matrix(self) -> Floats:
        """(p, p) M of a linear map of vectors: the squared distance of x and y is (x - y)' M (x - y)."""
        return mahalanobis_matrix(self)

    def place(self, comparisons: ComparisonsLike, *, n_init: int = 5, random_state: Seed = None) -> Similarity:
        """Return the similarity with new items in it, placed by comparisons with the items already there.

        The items already there stay where they are; their spread says how far out a new one is expected to lie.

        Parameters
        ----------
        comparisons : comparisons of new items (names unknown to the model, or positions from `n_items` on)
        n_init : number of starts, the best is kept: only the hinge and the logistic loss are convex in a new item, and
            only where it is the head or in the near pair
        random_state : seed or generator of the starts
        """
        from similitude.methods.placement import place_items

        return place_items(self, comparisons, n_init, random_state)

    def margin(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Floats:
        """How clearly the model agrees with each comparison: positive where the near pair is nearer."""
        c = self.over_items(comparisons, y)
        return self.loss.margin(self.measure.of_pairs(c.near), self.measure.of_pairs(c.far))

    def predict(self, comparisons: ComparisonsLike) -> Bools:
        """Whether the near pair of each comparison is nearer; to its rater, where the model knows groups of raters."""
        return self.answer_margin(comparisons) > 0

    def predict_proba(self, comparisons: ComparisonsLike) -> Floats:
        """(m, 2) probability that a person disagrees, agrees with each comparison; where `has_probability`.

        Where the model knows raters, or forms of question, it is that of the comparison's own; a typical one where not
        known.
        """
        c = self.over_items(comparisons)
        if self.answering is None:
            agrees = self.loss.probability(self.measure.of_pairs(c.near), self.measure.of_pairs(c.far))
        else:
            agrees = self.answering.agree(c, self.measure, self.loss)
        return np.stack([1.0 - agrees, agrees], axis=1)

    @property
    def cant_tell(self) -> float:
        """Share of "can't tell" where nothing speaks for any alternative; 0 where the model knows no such answer."""
        return self.answering.cant_tell if isinstance(self.answering, Sharpness) else 0.0

    def predict_cant_tell(self, comparisons: ComparisonsLike) -> Floats:
        """(a,) probability that the answer to each question is "can't tell", whatever was said to it; NaN for sheets.

        A model knows it that was fitted with it: `ChoiceEmbedding(cant_tell="auto")`.

        Parameters
        ----------
        comparisons : questions with their answers, as they are read; `comparisons.answers` has them in the same order
        """
        c = self.over_items(comparisons)
        if c.answers.shown.values.max(initial=-1) >= self.n_items:
            raise ValueError(f"comparisons: a question shows an item that is not among the {self.n_items} of the model")
        if not isinstance(self.answering, Sharpness) or not self.cant_tell:
            raise ValueError(
                'comparisons: this model was not fitted with "can\'t tell" as an answer; '
                "use ChoiceEmbedding(cant_tell='auto')"
            )
        return self.answering.unsure(c, self.measure, self.loss.scale)

    def answer_margin(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Floats:
        """What says by its sign which pair is nearer, to the rater of each comparison where raters differ in that."""
        c = self.over_items(comparisons, y)
        if self.answering is not None and self.answering.own_order:
            return self.predict_proba(c)[:, 1] - 0.5
        return self.measure.of_pairs(c.far) - self.measure.of_pairs(c.near)

    def score(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, sample_weight: Any = None) -> float:
        """Weighted share of comparisons that the model orders correctly; a tie counts half."""
        if isinstance(comparisons, Shards):
            from similitude.methods.sharded import score_shards

            warn_if_cleaned(comparisons)
            return score_shards(self, comparisons)
        c = self.over_items(comparisons, y)
        return share_right(c, self.answer_margin(c), sample_weight)

    def codes(self, pairs: ItemRows) -> Array:
        """(m, 2) positions of the items of pairs given by name or position."""
        codes = find_items(pairs, self.names, self.n_items)
        if codes.ndim != 2 or codes.shape[1] != 2:
            raise ValueError(f"pairs: expected rows of two items, found shape {codes.shape}")
        return codes

    def over_items(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Comparisons:
        """Return comparisons with items numbered as the model numbers them; an item it does not know is refused.

        Names are matched by name and positions by position; of a model with names, comparisons by position are refused.
        """
        c = called_alike(as_comparisons(comparisons, y), self.names, self.n_items)
        if c.names != self.names:
            c = c.with_items(self.names)
        largest = int(max(c.near.max(initial=-1), c.far.max(initial=-1)))
        if largest >= self.n_items:
            raise ValueError(f"comparisons: item {c.label(largest)} is not among the {self.n_items} items of the model")
        return c

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file (arrays and JSON, never pickle); an old file stays until the new one is whole.

        All that was learned is in it. What a file cannot hold, a formula of one's own, is refused with the reason, and
        nothing is written.
        """
        write_whole(as_path(path, "save(path)"), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return what `save` writes, for a database, say."""
        return model_file.written(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Similarity:
        """Read a file written by `save`, of this version or an earlier one; numpy is enough."""
        with Path(path).open("rb") as file:
            return cls(**model_file.read(file, Path(path).name))

    @classmethod
    def from_bytes(cls, data: bytes) -> Similarity:
        """Read what `to_bytes` returned."""
        return cls(**model_file.read(io.BytesIO(data), "data"))

    def __repr__(self) -> str:
        method = self.about.get("method", "similarity")
        return f"<{method}: {counted(self.n_items, 'item')} in {counted(self.embedding.shape[1], 'dimension')}>"

    def _repr_html_(self) -> str:
        return card(title_of(repr(self)), *map_of(self.embedding, self.names, products=self.shows_vectors))


def share_right(comparisons: Comparisons, margin: Floats, sample_weight: Any = None) -> float:
    """Weighted share of comparisons with a positive margin; a tie counts half."""
    if not len(comparisons):
        raise ValueError("comparisons: there are none to score")
    warn_if_cleaned(comparisons)
    weight = comparisons.weight if sample_weight is None else _weights(sample_weight, len(comparisons))
    return float(weight @ (0.5 * (1.0 + np.sign(margin))) / weight.sum())


def _weights(given: Any, count: int) -> Floats:
    """Weights of so many comparisons: finite, none below 0, and not all 0."""
    weight = np.asarray(given, float)
    if weight.shape != (count,) or not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(
            f"sample_weight: expected {count} finite numbers of 0 or more, one for each comparison and not all 0, "
            f"found an array of shape {weight.shape}"
        )
    return weight


def warn_if_cleaned(comparisons: Comparisons | Shards) -> None:
    """Warn whoever scores what cleaning left."""
    if comparisons.cleaned:
        warnings.warn(
            "this feedback was cleaned, which takes away the hard answers: its score is too good; score the "
            "answers as they were given",
            CleanedWarning,
            stacklevel=4,
        )
