"""A fitted model as a metric: a function of two items or two vectors, and the matrix behind it where it is linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.engine.measures import Euclidean
from similitude.feedback.items import encode_items, find_item
from similitude.methods.points import refuse_without_map
from similitude.types import Array, Floats

if TYPE_CHECKING:
    from similitude.methods.similarity import Similarity

Of = Literal["items", "vectors"]


@dataclass(frozen=True, eq=False, repr=False)
class ModelMetric:
    """How far apart a model has two items or two vectors: what `metric=` of scikit-learn's neighbours takes.

    Attributes
    ----------
    model : the fitted model
    of : what rows of numbers are; None tells by their length: one whole number is the position of an item, as many as
        the model's vectors have are a vector
    """

    model: Similarity
    of: Of | None = None

    def __post_init__(self) -> None:
        refuse_no_metric(self.model)
        if self.of not in (None, "items", "vectors"):
            raise ValueError(f"of: expected 'items' or 'vectors', found {self.of!r}")
        if self.of == "vectors" and self.model.feature_map is None:
            refuse_without_map(self.model, "of='vectors'")
        if self.of is None and self._width == 1:
            raise ValueError(
                "of: vectors of this model have one number, as the position of an item has; say which rows are meant: "
                "get_metric(of='items') or get_metric(of='vectors')"
            )

    def __call__(self, first: Any, second: Any, squared: bool = False) -> float:
        """Return the distance, or its square."""
        a, b = np.asarray(first), np.asarray(second)
        moved = self._moved(a, b) if self._is_vector(a) and self._is_vector(b) else None
        if moved is None:
            square = float(self.model.measure.between(self._position(a), self._position(b))[0, 0])
        else:
            square = float(moved @ moved)
        return square if squared else float(self.model.measure.shown(np.asarray(square)))

    def _moved(self, a: Array, b: Array) -> Floats | None:
        """What lies between two vectors that a linear map places; None where `transform` has to look at each.

        That is where the map is not linear, and where a number is missing or a vector stands at the centre.
        """
        known = self.model.feature_map
        if known is None or known.affine is None or known.pieces[0].unshared_at_centre:
            return None
        if not a.size == b.size == known.width or not {a.dtype.kind, b.dtype.kind} <= set("biuf"):
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            moved: Floats = (a.astype(float).ravel() - b.astype(float).ravel()) @ known.affine[0]
        return moved if np.isfinite(moved).all() else None

    @property
    def _width(self) -> int | None:
        """How many numbers a vector of the model has; None where it takes none, or several modalities."""
        return None if self.model.feature_map is None else self.model.feature_map.width

    def _is_vector(self, values: Array) -> bool:
        if self.of is not None:
            return self.of == "vectors"
        return self._width is not None and values.size == self._width and values.dtype.kind in "biuf"

    def _position(self, values: Array) -> Floats:
        if self._is_vector(values):
            return self.model.transform(values.reshape(1, -1))
        if values.size == 1 and (values.dtype.kind in "OUST" or float(values.flat[0]).is_integer()):
            if values.dtype.kind in "OUST":
                return self.model.measure.positions[[find_item(values.flat[0], self.model.names, self.model.n_items)]]
            return self.model.measure.positions[encode_items(values.ravel(), None, self.model.n_items)[0]]
        raise ValueError(self._neither(values))

    def _neither(self, values: Array) -> str:
        vectors = "takes no vectors" if self._width is None else f"takes vectors of {self._width} numbers"
        tree = "; scikit-learn's trees take means of positions: say algorithm='brute'" if values.size == 1 else ""
        return (
            f"metric: found {values.size} numbers, {values.ravel()[:3].tolist()}{' ...' if values.size > 3 else ''}, "
            f"which are neither the position of an item nor a vector: the model {vectors}{tree}"
        )

    def __repr__(self) -> str:
        return f"<metric of {self.model!r}>"


def refuse_no_metric(model: Similarity) -> None:
    """Refuse a model whose numbers between items are no distances: trees that search by a metric would miss items."""
    if model.kind != Euclidean.kind:
        method = model.about.get("method", "this model")
        raise ValueError(
            f"metric: {method} learned dissimilarities of kind {model.kind!r}, which break the triangle inequality, so "
            "that searches by a metric go wrong; ask `neighbors` for neighbours, `distances` for all dissimilarities"
        )


def linear_map(model: Similarity) -> Floats:
    """(d, p) L of a linear map of vectors: positions are L x, up to a shift.

    Raises
    ------
    AttributeError : where there is no such matrix; `hasattr` then says so
    """
    known = None if model.feature_map is None else model.feature_map.affine
    if known is None:
        method = model.about.get("method", "this model")
        why = (
            "learned from answers alone"
            if model.feature_map is None
            else "maps vectors by a kernel or by waves, or has several modalities"
        )
        raise AttributeError(f"{method} {why}, so that there is no matrix; see get_metric, and distances of vectors")
    return known[0].T


def mahalanobis_matrix(model: Similarity) -> Floats:
    """(p, p) M of a linear map: the squared distance of x and y is (x - y)' M (x - y).

    A dissimilarity that is no distance (`DRankingVM`) has an M that is not positive.
    """
    L = linear_map(model)
    if model.form is None:
        return L.T @ L
    if model.form.kind != "signed distance":
        raise AttributeError(f"a dissimilarity of kind {model.form.kind!r} has no Mahalanobis matrix")
    return (L.T * model.form.signs) @ L
