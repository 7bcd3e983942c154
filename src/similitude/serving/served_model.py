"""What a served model answers: a request in, plain values out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import similitude
from similitude.engine.measures import Euclidean
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import refuse_doubtful
from similitude.methods.similarity import Similarity
from similitude.serving.requests import NeighborsAsked, PredictAsked, TransformAsked, not_understood
from similitude.types import Array, Floats

_AT_ONCE = 4_000_000  # distances that are held at a time
_LARGEST = 1e100  # of a number of a vector: its square, and those of many, can still be written
_MOST_NEIGHBORS = 100_000  # of a request: a reply of some 5 MB


class ServedModel:
    """A model that answers requests.

    Parameters
    ----------
    similarity : the model
    most_rows : of a request
    """

    def __init__(self, similarity: Similarity, most_rows: int) -> None:
        self.similarity, self.most_rows = similarity, most_rows
        self._places = {name: k for k, name in enumerate(similarity.names or ())}  # looked up, not searched for

    def about(self) -> dict[str, Any]:
        """What is served."""
        model = self.similarity
        return {
            "method": str(model.about.get("method", "similarity")), "kind": model.kind, "items": model.n_items,
            "dimensions": model.embedding.shape[1],
            "vectors": None if model.feature_map is None else model.feature_map.width,
            "probability": model.has_probability, "rows": self.most_rows, "version": similitude.__version__,
        }  # fmt: skip

    def transform(self, asked: TransformAsked) -> dict[str, Any]:
        """Positions of vectors."""
        return {"positions": self._positions(asked.vectors).tolist()}

    def transform_packed(self, body: bytes) -> bytes:
        """Positions of vectors, both as 32-bit numbers, row after row: nothing is read or written as text."""
        width = None if self.similarity.feature_map is None else self.similarity.feature_map.width
        if width is None:
            raise not_understood("this model takes no tables of vectors; GET / says what it takes")
        rows, rest = divmod(len(body), 4 * width)
        if rest or not rows:
            raise not_understood(
                f"body: expected rows of {width} 32-bit numbers ({4 * width} bytes), found {len(body)} bytes"
            )
        self._check_rows(rows, "body")
        vectors = np.frombuffer(body, "<f4").reshape(rows, width)
        return self.similarity.transform(vectors.astype(np.float32, copy=False)).astype("<f4").tobytes()

    def neighbors(self, asked: NeighborsAsked) -> dict[str, Any]:
        """The nearest items of items or vectors, with their distances."""
        if (asked.items is None) == (asked.vectors is None):
            raise not_understood("expected either items or vectors")
        own: Array | None = None
        if asked.items is not None:
            self._check_rows(len(asked.items), "items")
            own = np.array([self._place(item) for item in asked.items])
            positions = self.similarity.measure.positions[own]
        else:
            positions = self._positions(asked.vectors or [])
        most = self.similarity.n_items - (own is not None)
        if asked.k > most:
            raise not_understood(f"k: expected 1 to {most} neighbours, found {asked.k}")
        if asked.k * len(positions) > _MOST_NEIGHBORS:
            raise not_understood(
                f"k: expected at most {_MOST_NEIGHBORS} neighbours of all rows together; send fewer rows"
            )
        step = max(1, _AT_ONCE // self.similarity.n_items)
        parts = [slice(start, start + step) for start in range(0, len(positions), step)]
        found = [self._nearest(positions[part], None if own is None else own[part], asked.k) for part in parts]
        return {"neighbors": [row for part in found for row in part]}

    def predict(self, asked: PredictAsked) -> dict[str, Any]:
        """Which pair is nearer, and how likely a person says so."""
        self._check_rows(len(asked.comparisons), "comparisons")
        rows = [(i, j, i, rest[0]) if len(rest) == 1 else (i, j, *rest) for i, j, *rest in asked.comparisons]
        codes = np.array([[self._place(item) for item in row] for row in rows])
        n_items = None if self.similarity.names else self.similarity.n_items
        c = Comparisons.from_quadruplets(codes, names=self.similarity.names, n_items=n_items)
        probability = self.similarity.predict_proba(c)[:, 1] if self.similarity.has_probability else None
        nearer = self.similarity.predict(c)
        return {"nearer": nearer.tolist(), "probability": None if probability is None else probability.tolist()}

    def _nearest(self, positions: Floats, own: Array | None, k: int) -> list[list[dict[str, Any]]]:
        """The k nearest items of some positions; an item is not its own neighbour."""
        measure, label = self.similarity.measure, self._label
        table = measure.between(positions, measure.positions)
        if own is not None:
            table[np.arange(len(own)), own] = np.inf
        some = np.argpartition(table, k - 1, axis=1)[:, :k]
        distance = np.take_along_axis(table, some, 1)
        order = np.lexsort((some, distance), axis=1)
        some, distance = np.take_along_axis(some, order, 1), measure.shown(np.take_along_axis(distance, order, 1))
        far_by = "distance" if measure.kind == Euclidean.kind else "dissimilarity"
        return [
            [{"item": label(item), far_by: far} for item, far in zip(*row, strict=True)]
            for row in zip(some.tolist(), distance.tolist(), strict=True)
        ]

    def _positions(self, vectors: Sequence[Sequence[float]]) -> Floats:
        self._check_rows(len(vectors), "vectors")
        width = self.similarity.feature_map.width if self.similarity.feature_map is not None else None
        wrong = next((len(row) for row in vectors if width is not None and len(row) != width), None)
        if wrong is not None:
            raise not_understood(f"vectors: expected rows of {width} numbers, found {wrong}")
        given = np.array(vectors, float)
        large = np.flatnonzero((np.abs(given) > _LARGEST).any(1))
        if len(large):
            raise not_understood(f"vectors: row {large[0]} holds a number beyond {_LARGEST:g}, which would overflow")
        return np.atleast_2d(self.similarity.transform(given))

    def _place(self, item: str | int) -> int:
        """Where an item, given by name or position, stands among the items."""
        most = self.similarity.n_items - 1
        if isinstance(item, int):
            if item > most:
                raise not_understood(f"items: expected a position from 0 to {most}, found {item}")
            try:
                refuse_doubtful([item], self.similarity.names)
            except ValueError as error:
                raise not_understood(str(error)) from None
            return item
        if item not in self._places:
            also = "" if self._places else f"; they have no names here, but positions from 0 to {most}"
            raise not_understood(f"items: {item!r} is not among the items{also}")
        return self._places[item]

    def _label(self, item: int) -> str | int:
        return item if self.similarity.names is None else self.similarity.names[item]

    def _check_rows(self, found: int, what: str) -> None:
        if found > self.most_rows:
            raise not_understood(f"{what}: expected at most {self.most_rows} rows, found {found}; send them in parts")
