"""What a served model answers: a request in, plain values out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import similitude
from similitude.methods.similarity import Similarity
from similitude.serving.requests import NeighborsAsked, PredictAsked, TransformAsked
from similitude.study.refusal import Refused
from similitude.types import Array, Floats

_AT_ONCE = 4_000_000  # distances that are held at a time


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
            "method": str(model.about.get("method", "similarity")), "items": model.n_items,
            "dimensions": model.embedding.shape[1],
            "vectors": None if model.feature_map is None else model.feature_map.width,
            "probability": model.has_probability, "rows": self.most_rows, "version": similitude.__version__,
        }  # fmt: skip

    def transform(self, asked: TransformAsked) -> dict[str, Any]:
        """Positions of vectors."""
        return {"positions": self._positions(asked.vectors).tolist()}

    def neighbors(self, asked: NeighborsAsked) -> dict[str, Any]:
        """The nearest items of items or vectors, with their distances."""
        if (asked.items is None) == (asked.vectors is None):
            raise Refused(422, "invalid", "expected either items or vectors")
        own: Array | None = None
        if asked.items is not None:
            self._check_rows(asked.items, "items")
            own = np.array([self._place(item) for item in asked.items])
            positions = self.similarity.measure.positions[own]
        else:
            positions = self._positions(asked.vectors or [])
        most = self.similarity.n_items - (own is not None)
        if asked.k > most:
            raise Refused(422, "invalid", f"k: expected 1 to {most} neighbours, found {asked.k}")
        step = max(1, _AT_ONCE // self.similarity.n_items)
        parts = [slice(start, start + step) for start in range(0, len(positions), step)]
        found = [self._nearest(positions[part], None if own is None else own[part], asked.k) for part in parts]
        return {"neighbors": [row for part in found for row in part]}

    def predict(self, asked: PredictAsked) -> dict[str, Any]:
        """Which pair is nearer, and how likely a person says so."""
        self._check_rows(asked.comparisons, "comparisons")
        rows = [(i, j, i, rest[0]) if len(rest) == 1 else (i, j, *rest) for i, j, *rest in asked.comparisons]
        c = self.similarity.over_items(np.array([[self._place(item) for item in row] for row in rows]))
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
        return [
            [{"item": label(item), "distance": far} for item, far in zip(*row, strict=True)]
            for row in zip(some.tolist(), distance.tolist(), strict=True)
        ]

    def _positions(self, vectors: Sequence[Sequence[float]]) -> Floats:
        self._check_rows(vectors, "vectors")
        width = self.similarity.feature_map.width if self.similarity.feature_map is not None else None
        wrong = next((len(row) for row in vectors if width is not None and len(row) != width), None)
        if wrong is not None:
            raise Refused(422, "invalid", f"vectors: expected rows of {width} numbers, found {wrong}")
        return np.atleast_2d(self.similarity.transform(np.array(vectors, float)))

    def _place(self, item: str | int) -> int:
        """Where an item, given by name or position, stands among the items."""
        most = self.similarity.n_items - 1
        if isinstance(item, int):
            if item > most:
                raise Refused(422, "invalid", f"items: expected a position from 0 to {most}, found {item}")
            return item
        if item not in self._places:
            also = "" if self._places else f"; they have no names here, but positions from 0 to {most}"
            raise Refused(422, "invalid", f"items: {item!r} is not among the items{also}")
        return self._places[item]

    def _label(self, item: int) -> str | int:
        return item if self.similarity.names is None else self.similarity.names[item]

    def _check_rows(self, rows: Sequence[Any], what: str) -> None:
        if len(rows) > self.most_rows:
            raise Refused(
                422, "invalid", f"{what}: expected at most {self.most_rows} rows, found {len(rows)}; send them in parts"
            )
