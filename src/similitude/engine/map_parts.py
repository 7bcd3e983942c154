"""What one kernel adds to the position of a new item, sum_j k(y, x_j) c_j, with numpy alone (`engine.feature_maps`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from similitude.engine.densities import DENSITIES, Parts, described, pick
from similitude.engine.feature_checks import as_numbers, check_non_negative, which_present
from similitude.engine.kernel_formulas import FORMULAS, NON_NEGATIVE
from similitude.types import Array, Bools, Floats

NEW = "new features"  # what messages call them
_VALUES_AT_ONCE = 4_000_000  # kernel values between new and training items that are held at a time
Route = tuple[str | int, ...]
Stored = tuple[dict[str, Any], dict[str, Array]]
"""What a file holds of something: plain values, and arrays by name."""


class NotStorable(ValueError):
    """What cannot be written to a file; says why."""


@dataclass(frozen=True, eq=False)
class MapPart(ABC):
    """sum_j k(y, x_j) c_j of one kernel.

    Attributes
    ----------
    weights : what outputs are linear in: (p, d) a row per number of y, or per training item
    route : the entries of the features in which its rows are found, where they have entries
    """

    weights: Floats
    route: Route = field(default=(), kw_only=True)

    kind: ClassVar[str]

    @property
    @abstractmethod
    def width(self) -> int | None:
        """How many numbers a row has; None where rows are no vectors."""

    @abstractmethod
    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """(m, d) the sum for new items, 0 for those without features; and which have some, None where all do."""

    @abstractmethod
    def stored(self) -> Stored:
        """Return what a file holds of it."""

    def then(self, turn: Floats) -> Self:
        """Return the part with its outputs multiplied by a matrix."""
        return replace(self, weights=self.weights @ turn)

    def rows_of(self, features: Any) -> Any:
        """Return the new rows of this part."""
        for entry in self.route:
            features = _entry(features, entry)
        return features


@dataclass(frozen=True, eq=False)
class LinearPart(MapPart):
    """y'A."""

    kind = "linear"

    @property
    def width(self) -> int:
        """The length of a vector."""
        return len(self.weights)

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """One matrix product; what is missing or infinite shows in it, so that vectors are read once."""
        rows = as_rows(self.rows_of(features), self.width)
        with np.errstate(invalid="ignore", over="ignore"):
            product = rows @ (self._single if rows.dtype == np.float32 else self.weights)
        if np.isfinite(product).all():
            return product, None
        present = which_present(rows, None, NEW)
        product[~present] = 0.0
        refuse_overflow(product)
        return product, present

    @cached_property
    def _single(self) -> Array:
        return self.weights.astype(np.float32)

    def stored(self) -> Stored:
        """Return what a file holds of it."""
        return {}, {"weights": self.weights}

    @classmethod
    def read(cls, _: Mapping[str, Any], arrays: Mapping[str, Array], route: Route) -> Self:
        """Read what `stored` returned."""
        return cls(arrays["weights"], route=route)


@dataclass(frozen=True, eq=False)
class CosinePart(MapPart):
    """y'A / |y * factors|; a row of zeros has no direction, and counts as one without features.

    Attributes
    ----------
    factors : (p,) what each number is multiplied by before lengths are taken
    counts : whether numbers below 0 are refused
    """

    factors: Floats
    counts: bool = False

    kind = "cosine"

    @property
    def width(self) -> int:
        """The length of a vector."""
        return len(self.weights)

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """One matrix product, divided by lengths."""
        rows = as_rows(self.rows_of(features), self.width)
        present = which_present(rows, None, NEW)
        if self.counts:
            check_non_negative(rows, present, NEW, "Cosine(tfidf=True)")
        present &= (rows != 0).any(1)
        rows = np.where(present[:, None], rows, 0.0)
        length = np.sqrt(((rows * self.factors) ** 2).sum(1))
        return (rows @ self.weights) / np.where(present, length, 1.0)[:, None], present

    def stored(self) -> Stored:
        """Return what a file holds of it."""
        return {"counts": self.counts}, {"weights": self.weights, "factors": self.factors}

    @classmethod
    def read(cls, plain: Mapping[str, Any], arrays: Mapping[str, Array], route: Route) -> Self:
        """Read what `stored` returned."""
        return cls(arrays["weights"], arrays["factors"], bool(plain["counts"]), route=route)


@dataclass(frozen=True, eq=False)
class KernelPart(MapPart):
    """sum_j k(y, x_j) c_j by a formula of `engine.kernel_formulas`, over training items x_j.

    Attributes
    ----------
    items : (n, p) the training items that have coefficients
    formula : its name
    settings : of the formula
    """

    items: Floats
    formula: str
    settings: Mapping[str, float]

    kind = "kernel"

    @classmethod
    def of(cls, coefficients: Floats, items: Floats, route: Route, formula: str, **settings: float) -> Self:
        """Return the part with those items alone that have coefficients, one at least."""
        kept = with_coefficients(coefficients)
        return cls(coefficients[kept], items[kept], formula, settings, route=route)

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.items.shape[1]

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """Kernel values with the training items, some rows at a time, times the coefficients."""
        rows = as_rows(self.rows_of(features), self.width)
        present = which_present(rows, None, NEW)
        if self.formula in NON_NEGATIVE:
            check_non_negative(rows, present, NEW, self.formula)
        out = np.zeros((len(rows), self.weights.shape[1]))
        here, step = np.flatnonzero(present), max(1, _VALUES_AT_ONCE // len(self.items))
        for start in range(0, len(here), step):
            some = here[start : start + step]
            out[some] = FORMULAS[self.formula](rows[some], self.items, **self.settings) @ self.weights
        return out, present

    def stored(self) -> Stored:
        """Return what a file holds of it."""
        plain = {"formula": self.formula, "settings": dict(self.settings)}
        return plain, {"weights": self.weights, "items": self.items}

    @classmethod
    def read(cls, plain: Mapping[str, Any], arrays: Mapping[str, Array], route: Route) -> Self:
        """Read what `stored` returned."""
        return cls(arrays["weights"], arrays["items"], plain["formula"], plain["settings"], route=route)


@dataclass(frozen=True, eq=False)
class WavePart(MapPart):
    """[cos z, sin z] A of z = D'y + phases: random waves, whose products are values of an RBF kernel in the mean.

    Attributes
    ----------
    directions : (p, k) D
    phases : (k,) what is added
    """

    directions: Floats
    phases: Floats

    kind = "waves"

    @property
    def width(self) -> int:
        """The length of a vector."""
        return len(self.directions)

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """The waves, some rows at a time, times the weights."""
        rows = as_rows(self.rows_of(features), self.width)
        present = which_present(rows, None, NEW)
        out = np.zeros((len(rows), self.weights.shape[1]))
        here, step = np.flatnonzero(present), max(1, _VALUES_AT_ONCE // len(self.weights))
        for start in range(0, len(here), step):
            some = here[start : start + step]
            out[some] = waves(rows[some], self.directions, self.phases) @ self.weights
        return out, present

    def stored(self) -> Stored:
        """Return what a file holds of it."""
        return {}, {"weights": self.weights, "directions": self.directions, "phases": self.phases}

    @classmethod
    def read(cls, _: Mapping[str, Any], arrays: Mapping[str, Array], route: Route) -> Self:
        """Read what `stored` returned."""
        return cls(arrays["weights"], arrays["directions"], arrays["phases"], route=route)


@dataclass(frozen=True, eq=False)
class DensityPart(MapPart):
    """sum_j k(y, x_j) c_j of distributions, by a formula of `engine.densities`.

    Attributes
    ----------
    items : the training items that have coefficients, as a tuple of arrays
    formula : its name
    settings : of the formula
    """

    items: Parts
    formula: str
    settings: Mapping[str, bool]

    kind = "density"

    @classmethod
    def of(cls, coefficients: Floats, items: Parts, route: Route, formula: str, **settings: bool) -> Self:
        """Return the part with those items alone that have coefficients, one at least."""
        kept = with_coefficients(coefficients)
        return cls(coefficients[kept], pick(items, kept), formula, settings, route=route)

    @property
    def width(self) -> None:
        """Distributions are no vectors."""
        return None

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """Kernel values with the training items, times the coefficients."""
        density = DENSITIES[self.formula]
        parts, present = density.read(self.rows_of(features), None, NEW)
        found, expected = described(parts), described(self.items)
        if found != expected:
            raise ValueError(f"{NEW}: found {found}, expected {expected}, as the training items have")
        out = np.zeros((len(present), self.weights.shape[1]))
        if present.any():
            out[present] = density.values(pick(parts, present), self.items, **self.settings) @ self.weights
        return out, present

    def stored(self) -> Stored:
        """Return what a file holds of it."""
        arrays = {"weights": self.weights, **{f"items_{k}": part for k, part in enumerate(self.items)}}
        return {"formula": self.formula, "settings": dict(self.settings), "n_arrays": len(self.items)}, arrays

    @classmethod
    def read(cls, plain: Mapping[str, Any], arrays: Mapping[str, Array], route: Route) -> Self:
        """Read what `stored` returned."""
        items = tuple(arrays[f"items_{k}"] for k in range(plain["n_arrays"]))
        return cls(arrays["weights"], items, plain["formula"], plain["settings"], route=route)


@dataclass(frozen=True, eq=False)
class OwnPart(MapPart):
    """sum_j k(y, x_j) c_j of a kernel that no file can hold: a function of somebody's own, say.

    Attributes
    ----------
    kernel : something with a `cross`
    """

    kernel: Any

    kind = "own"

    @property
    def width(self) -> None:
        """Whatever the kernel takes."""
        return None

    def values(self, features: Any) -> tuple[Floats, Bools | None]:
        """Kernel values times the coefficients; what shares nothing with the training items lacks features."""
        values = self.kernel.cross(self.rows_of(features))
        return values @ self.weights, np.asarray(values.any(1))

    def stored(self) -> Stored:
        """Refuse."""
        raise NotStorable(
            f"save: new items are placed through {self.kernel!r}, which is code, and a file holds numbers and names; "
            "fit with features as an array or a kernel over vectors, or save without the map: "
            "dataclasses.replace(similarity, feature_map=None)"
        )


PARTS: dict[str, Any] = {part.kind: part for part in (LinearPart, CosinePart, KernelPart, WavePart, DensityPart)}
"""What a file can hold, by the word that it has for it."""


def waves(rows: Array, directions: Floats, phases: Floats) -> Floats:
    """(m, 2 k) cos and sin of D'y + phases, a row each."""
    z = rows @ directions + phases
    return np.hstack([np.cos(z), np.sin(z)])


def with_coefficients(coefficients: Floats) -> Array:
    """Return the training items that have coefficients; the first where none has."""
    return np.flatnonzero(coefficients.any(1)) if coefficients.any() else np.arange(1)


def refuse_overflow(product: Floats) -> None:
    """Refuse rows of finite numbers that are too large for their product."""
    large = np.flatnonzero(~np.isfinite(product).all(1))
    if len(large):
        raise ValueError(f"{NEW}: row {large[0]} holds numbers so large that they overflow; scale or drop it")


def as_rows(value: Any, width: int) -> Array:
    """Return a table of so many columns; an array of floats as it is, 32 bits wide or 64."""
    floats = isinstance(value, np.ndarray) and value.dtype in (np.float64, np.float32) and value.ndim == 2
    rows = value if floats and value.size else as_numbers(value, NEW, (2,))
    if rows.shape[1] != width:
        raise ValueError(f"{NEW}: found {rows.shape[1]} columns, expected {width} columns, as the training items have")
    return rows


def _entry(features: Any, entry: str | int) -> Any:
    kind = Mapping if isinstance(entry, str) else Sequence
    known = isinstance(features, kind) and (entry in features if isinstance(entry, str) else entry < len(features))
    if not known:
        raise ValueError(f"features: found a {type(features).__name__}, expected one with the entry {entry!r}")
    return features[entry]
