"""Similarity: a fitted model in use. Frozen, small, saved as arrays and JSON, loaded with numpy alone."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from similitude.display.cards import card, title_of
from similitude.display.maps import map_of
from similitude.display.words import counted
from similitude.engine import terms
from similitude.engine.distances import head_sqdist, pair_sqdist, sqdist_table
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.files.whole import write_whole
from similitude.feedback.items import Names, encode_items, find_item
from similitude.feedback.shards import Shards
from similitude.methods.tables_out import What, coordinates, distances, write_table
from similitude.types import Array, Bools, Floats, ItemRows, Seed

if TYPE_CHECKING:
    import pandas as pd

_FORMAT = 1
_NAMED = (*terms.SCALES, *terms.SHAPES)


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
    about : how it was made: method, settings, version

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

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.embedding)

    @property
    def has_probability(self) -> bool:
        """Whether `predict_proba` can be asked: the loss is minus the log of a probability."""
        return self.loss.has_probability

    def label(self, item: int) -> str:
        """Return what to call an item in a message: its name, or its position."""
        return self.names[item] if self.names is not None else str(item)

    def distances(self) -> Floats:
        """(n, n) distance between every two items."""
        return np.sqrt(sqdist_table(self.embedding))

    def to_frame(self, what: What = "coordinates") -> pd.DataFrame:
        """Return the coordinates of the items, or their "distances", as a table with names."""
        return distances(self) if what == "distances" else coordinates(self)

    def write_table(self, path: str | os.PathLike[str], what: What = "distances") -> None:
        """Write distances (or "coordinates") with names for other programs.

        Parameters
        ----------
        path : `.csv` or `.tsv`; `.xlsx` holds both, a sheet each; `.hdf5` holds the distances as RDMs of rsatoolbox
        what : what a `.csv` or `.tsv` holds
        """
        write_table(self, Path(path), what)

    def pair_distance(self, pairs: ItemRows) -> Floats:
        """Distance of each pair, rows of two items by name or position."""
        return np.sqrt(self._sqdist(self.codes(pairs)))

    def neighbors(self, item: str | int, k: int = 5) -> list[Any]:
        """The k items most like an item, nearest first: their names, or positions where items have no names."""
        head = find_item(item, self.names, self.n_items)
        return self.nearest(head, head_sqdist(self.embedding, head), k)

    def nearest(self, head: int, difference: Floats, k: int) -> list[Any]:
        """The k items of least difference from a head, given the difference of every item, least first."""
        if not 1 <= k < self.n_items:
            raise ValueError(f"k: expected 1 to {self.n_items - 1} neighbours, found {k}")
        others = np.where(np.arange(self.n_items) == head, np.inf, difference)
        nearest = np.argsort(others, kind="stable")[:k]
        return [self.names[code] for code in nearest] if self.names is not None else nearest.tolist()

    def get_metric(self) -> Callable[[Any, Any], float]:
        """Return a function of two item indices (or rows holding one) for `metric=` of scikit-learn's neighbours."""
        embedding = self.embedding

        def metric(a: Any, b: Any) -> float:
            first, second = int(np.asarray(a).flat[0]), int(np.asarray(b).flat[0])
            return float(np.linalg.norm(embedding[first] - embedding[second]))

        return metric

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
        return self.loss.margin(self._sqdist(c.near), self._sqdist(c.far))

    def predict(self, comparisons: ComparisonsLike) -> Bools:
        """Whether the model calls the near pair of each comparison nearer."""
        return self.margin(comparisons) > 0

    def predict_proba(self, comparisons: ComparisonsLike) -> Floats:
        """(m, 2) probability that a person disagrees, agrees with each comparison; where `has_probability`."""
        c = self.over_items(comparisons)
        agrees = self.loss.probability(self._sqdist(c.near), self._sqdist(c.far))
        return np.stack([1.0 - agrees, agrees], axis=1)

    def score(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, sample_weight: Any = None) -> float:
        """Weighted share of comparisons that the model orders correctly; a tie counts half."""
        if isinstance(comparisons, Shards):
            from similitude.methods.sharded import score_shards

            return score_shards(self, comparisons)
        c = self.over_items(comparisons, y)
        return share_right(c, self._sqdist(c.far) - self._sqdist(c.near), sample_weight)

    def _sqdist(self, pairs: Array) -> Floats:
        return pair_sqdist(self.embedding, pairs)

    def codes(self, pairs: ItemRows) -> Array:
        """(m, 2) positions of the items of pairs given by name or position."""
        codes = encode_items(pairs, self.names, None if self.names else self.n_items)[0]
        if codes.ndim != 2 or codes.shape[1] != 2:
            raise ValueError(f"pairs: expected rows of two items, found shape {codes.shape}")
        return codes

    def over_items(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Comparisons:
        """Return comparisons with items numbered as the model numbers them; an item it does not know is refused."""
        c = as_comparisons(comparisons, y)
        if c.names is not None and self.names is not None and c.names != self.names:
            c = c.with_items(self.names)
        largest = int(max(c.near.max(initial=-1), c.far.max(initial=-1)))
        if largest >= self.n_items:
            raise ValueError(f"comparisons: item {c.label(largest)} is not among the {self.n_items} items of the model")
        return c

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file (arrays and JSON, never pickle); an old file stays until the new one is whole."""
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return what `save` writes, for a database, say."""
        own = [part.name for part in (self.loss.scale, self.loss.shape) if part.expression not in _NAMED]
        if own:
            raise ValueError(
                f"save: a file holds numbers and names, and {own[0]!r} is a formula of your own, which it cannot hold; "
                "keep the positions (numpy.save of `embedding`), and make Similarity(positions, loss, names) of them"
            )
        header = {
            "format": _FORMAT,
            "names": self.names,
            "scale": [self.loss.scale.name, self.loss.scale.parameter],
            "shape": [self.loss.shape.name, self.loss.shape.parameter],
            "about": self.about,
        }
        whole = io.BytesIO()
        text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
        np.savez(whole, header=text, embedding=self.embedding)
        return whole.getvalue()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Similarity:
        """Read a file written by `save`."""
        with Path(path).open("rb") as file:
            return cls._read(file, Path(path).name)

    @classmethod
    def from_bytes(cls, data: bytes) -> Similarity:
        """Read what `to_bytes` returned."""
        return cls._read(io.BytesIO(data), "data")

    @classmethod
    def _read(cls, file: IO[bytes], called: str) -> Similarity:
        try:
            with np.load(file, allow_pickle=False) as arrays:
                header = json.loads(arrays["header"].tobytes().decode())
                embedding = arrays["embedding"]
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise ValueError(
                f"{called} is not a similarity file, or it is damaged; `save` and `similitude fit` write such files"
            ) from None
        if header["format"] > _FORMAT:
            raise ValueError(
                f"{called} has format {header['format']}, but this version of similitude reads formats "
                f"up to {_FORMAT}; upgrade similitude"
            )
        names = None if header["names"] is None else tuple(header["names"])
        loss = ComparisonLoss(_formula(terms.SCALES, header["scale"]), _formula(terms.SHAPES, header["shape"]))
        return cls(embedding, loss, names, header["about"])

    def __repr__(self) -> str:
        method = self.about.get("method", "similarity")
        return f"<{method}: {counted(self.n_items, 'item')} in {counted(self.embedding.shape[1], 'dimension')}>"

    def _repr_html_(self) -> str:
        return card(title_of(repr(self)), *map_of(self.embedding, self.names))


def share_right(comparisons: Comparisons, margin: Floats, sample_weight: Any = None) -> float:
    """Weighted share of comparisons with a positive margin; a tie counts half."""
    if not len(comparisons):
        raise ValueError("comparisons: there are none to score")
    if comparisons.cleaned:
        warnings.warn(
            "this feedback was cleaned, which takes away the hard answers: its score is too good; score the "
            "answers as they were given",
            CleanedWarning,
            stacklevel=3,
        )
    weight = comparisons.weight if sample_weight is None else np.asarray(sample_weight, float)
    return float(weight @ (0.5 * (1.0 + np.sign(margin))) / weight.sum())


def _formula(known: tuple[terms.Expression, ...], saved: list[Any]) -> Formula:
    return Formula(terms.named(known, saved[0]), float(saved[1]))
