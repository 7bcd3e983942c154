"""Kernels made of kernels: sums, and wrappers that treat new rows as they treated the training items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from similitude.engine.feature_checks import check_positive, check_same_rows, rows_of_tables
from similitude.engine.map_parts import MapPart, Route
from similitude.kernels.base import Kernel
from similitude.kernels.matrices import centred, positive_trace
from similitude.kernels.modalities import as_kernel, as_modalities
from similitude.types import Bools, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Kernel):
    """k(x, y) = sum_p k_p(x, y).

    Parameters
    ----------
    parts : kernels (or arrays, which mean `Linear`) over the same items, as a sequence or as a dict by name; features
        of new items are then given in the same form, one entry per part

    Examples
    --------
    >>> import similitude as sm
    >>> both = sm.kernels.Sum({"size": [[1.0], [2.0]], "tags": sm.kernels.Cosine([[1, 0], [1, 1]])})
    >>> both.cross({"size": [[3.0]], "tags": [[0, 2]]}).round(3)
    array([[3.   , 6.707]])
    """

    parts: Any

    def __post_init__(self) -> None:
        named = self.parts if isinstance(self.parts, Mapping) else dict(enumerate(_listed(self.parts, "parts")))
        kernels = as_modalities({str(name): part for name, part in named.items()})
        check_same_rows([kernel.rows for kernel in kernels.values()], "parts")
        object.__setattr__(self, "parts", kernels if isinstance(self.parts, Mapping) else tuple(kernels.values()))

    @property
    def _kernels(self) -> list[Kernel]:
        return list(self.parts.values() if isinstance(self.parts, dict) else self.parts)

    @property
    def present(self) -> Bools:
        """Which training items have features in one part at least."""
        return np.any([part.present for part in self._kernels], axis=0)

    def matrix(self) -> Floats:
        """sum_p K_p; an item that lacks a modality has that part's identity row in it."""
        return _added(part.matrix() for part in self._kernels)

    def cross(self, new: Any) -> Floats:
        """sum_p k_p(y_i, x_j)."""
        check_same_rows(rows_of_tables(new), "new features")
        found = self._split(new)
        tables = [part.cross(features) for part, features in zip(self._kernels, found, strict=True)]
        if len({len(table) for table in tables}) > 1:
            counts = ", ".join(str(len(table)) for table in tables)
            raise ValueError(f"new features: found parts of {counts} items, expected the same new items in every part")
        return _added(tables)

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return what each part adds, from its own entry of the features."""
        entries: Iterable[str | int] = self.parts if isinstance(self.parts, dict) else range(len(self.parts))
        pairs = zip(self._kernels, entries, strict=True)
        found = [kernel.map_parts(coefficients, (*route, entry)) for kernel, entry in pairs]
        return [part for parts, _ in found for part in parts], np.sum([constant for _, constant in found], axis=0)

    @property
    def rows(self) -> tuple[str, ...] | None:
        """Names of the training items, where a table of some part gave any."""
        return next((part.rows for part in self._kernels if part.rows is not None), None)

    def with_features(self, features: Any) -> Self:
        """Return the sum of the same kernels over other training items, given one entry per part."""
        fresh = [part.with_features(own) for part, own in zip(self._kernels, self._split(features), strict=True)]
        return type(self)(dict(zip(self.parts, fresh, strict=True)) if isinstance(self.parts, dict) else fresh)

    def _split(self, features: Any) -> list[Any]:
        """Return the features of each part."""
        if isinstance(self.parts, dict):
            if not isinstance(features, Mapping) or set(features) != set(self.parts):
                found = sorted(features) if isinstance(features, Mapping) else f"a {type(features).__name__}"
                raise ValueError(f"features: found {found}, expected a dict with the entries {sorted(self.parts)}")
            return [features[name] for name in self.parts]
        given = _listed(features, "features")
        if len(given) != len(self.parts):
            raise ValueError(f"features: found {len(given)} entries, expected {len(self.parts)}, one per part")
        return given


@dataclass(frozen=True, eq=False, repr=False)
class _Wrapper(Kernel):
    """A kernel around another, over the same features."""

    kernel: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))

    @property
    def present(self) -> Bools:
        """Which training items have features."""
        return self.kernel.present

    @property
    def rows(self) -> tuple[str, ...] | None:
        """Names of the training items, where a table gave some."""
        return self.kernel.rows

    def with_features(self, features: Any) -> Self:
        """Return the same over other training items."""
        return type(self)(self.kernel.with_features(features))


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(_Wrapper):
    """k(x, y) = scale · k_0(x, y).

    Parameters
    ----------
    kernel : the kernel, or an array, which means `Linear`
    scale : zero or more

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.Scaled([[1.0], [2.0]], 10.0).matrix()
    array([[10., 20.],
           [20., 40.]])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self.scale, "scale", zero=True)

    def matrix(self) -> Floats:
        """scale · K; identity rows are scaled, too."""
        return self.scale * self.kernel.matrix()

    def cross(self, new: Any) -> Floats:
        """scale · k_0(y_i, x_j)."""
        return self.scale * self.kernel.cross(new)

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return those of the kernel, at scaled coefficients."""
        return self.kernel.map_parts(self.scale * coefficients, route)

    def with_features(self, features: Any) -> Self:
        """Return the same over other training items."""
        return type(self)(self.kernel.with_features(features), self.scale)


@dataclass(frozen=True, eq=False, repr=False)
class Centred(_Wrapper):
    """k(x, y) = k_0(x, y) - mean_j k_0(x, x_j) - mean_j k_0(x_j, y) + mean_ij k_0(x_i, x_j), means over training items.

    The origin moves to the mean of the training items, for new items as well; distances stay as they are. Identity rows
    take part in the means, so that they are centred with the rest.

    Parameters
    ----------
    kernel : the kernel, or an array, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.Centred([[1.0], [3.0]]).matrix()
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    @cached_property
    def _means(self) -> Floats:
        return self.kernel.matrix().mean(0)

    def matrix(self) -> Floats:
        """H K H with H = I - 11'/n."""
        return centred(self.kernel.matrix())

    def cross(self, new: Any) -> Floats:
        """k_0(y, x_j) less its mean over j and the training mean of column j, plus the training mean of all."""
        values = self.kernel.cross(new)
        return values - values.mean(1, keepdims=True) - self._means + self._means.mean()

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return those of the kernel, at centred coefficients, and the means of the training items as a constant."""
        parts, constant = self.kernel.map_parts(coefficients - coefficients.mean(0), route)
        return parts, constant - (self._means - self._means.mean()) @ coefficients


@dataclass(frozen=True, eq=False, repr=False)
class UnitTrace(_Wrapper):
    """k(x, y) = k_0(x, y) / tr K_0, the trace over the training items.

    Parameters
    ----------
    kernel : the kernel, or an array, which means `Linear`

    Attributes
    ----------
    trace_ : tr K_0

    Examples
    --------
    >>> import similitude as sm
    >>> kernel = sm.kernels.UnitTrace([[1.0], [2.0]])
    >>> kernel.trace_, kernel.matrix()
    (5.0, array([[0.2, 0.4],
           [0.4, 0.8]]))
    """

    @cached_property
    def trace_(self) -> float:
        """tr K_0."""
        return positive_trace(self.kernel.matrix())

    def matrix(self) -> Floats:
        """K / tr K."""
        return self.kernel.matrix() / self.trace_

    def cross(self, new: Any) -> Floats:
        """k_0(y_i, x_j) / tr K_0."""
        return self.kernel.cross(new) / self.trace_

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return those of the kernel, at coefficients over the trace."""
        return self.kernel.map_parts(coefficients / self.trace_, route)


def _listed(parts: Any, argument: str) -> list[Any]:
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise TypeError(f"{argument}: found a {type(parts).__name__}, expected a list or dict with one entry per part")
    return list(parts)


def _added(tables: Iterable[Floats]) -> Floats:
    result, *others = tables
    for table in others:
        result = result + table
    return result
