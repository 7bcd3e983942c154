"""Features as a method sees them: a matrix Φ of each modality, scaled so that modalities can be weighed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from similitude.engine.feature_maps import FeatureMap, ModalityMap
from similitude.engine.map_parts import LinearPart, WavePart, waves
from similitude.feedback.comparisons import Comparisons
from similitude.kernels.base import Kernel
from similitude.kernels.matrices import Root, centred, positive_trace, psd_root
from similitude.kernels.modalities import as_modalities
from similitude.kernels.vectors import Linear
from similitude.types import Bools, Floats

_RANK_TOLERANCE = 1e-8
_DIRECTIONS = 250  # of random waves: two each


class Modality(ABC):
    """Φ (n × q) of the training items, and the way to it for new ones."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    @abstractmethod
    def features(self) -> Floats:
        """(n, q) Φ."""

    @property
    @abstractmethod
    def prices(self) -> Floats:
        """(q,) what a unit weight on each column adds to trace(W K), where W is diagonal."""

    @abstractmethod
    def coefficients(self, N: Floats) -> Floats:
        """Return a map N (q × r) of Φ in terms of what was given: kernel values with training items, or features."""

    def mapped(self, name: str, N: Floats) -> ModalityMap:
        """Return Φ N for new items as a map of its own, which needs neither the modality nor its kernel."""
        parts, constant = self.kernel.map_parts(self.coefficients(N))
        return ModalityMap(name, tuple(parts), -constant, columns=self.columns)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the features, where they were given as a table with names."""
        return getattr(self.kernel, "columns", None)


class Rooted(Modality):
    """Φ Φ' = scale · K: the kernel where it stands, scaled to a mean of 1 on the diagonal."""

    def _standing(self) -> tuple[float, Floats]:
        """The kernel whose root is taken, and its scale."""
        K = self.kernel.matrix()
        return len(K) / positive_trace(K), K

    @cached_property
    def _scaled(self) -> tuple[float, Root]:
        scale, K = self._standing()
        return scale, psd_root(scale * K, _RANK_TOLERANCE)

    @property
    def features(self) -> Floats:
        """(n, q) Φ."""
        return self._scaled[1].factor

    @property
    def prices(self) -> Floats:
        """One each."""
        return np.ones(self.features.shape[1])

    def coefficients(self, N: Floats) -> Floats:
        """(n, r): what each training item's kernel values contribute to each dimension."""
        scale, root = self._scaled
        return scale * root.back @ N


class Whitened(Rooted):
    """Φ Φ' = scale · H K H: the kernel centred and scaled to a trace of n - 1, a mean squared distance of 2.

    The squared norm of a map of Φ is trace(W K) of McFee & Lanckriet (2011), without K's squared condition number.
    The identity kernel stays as it is, up to its centre.
    """

    _means: Floats  # of the kernel's columns, kept when its root is taken

    def _standing(self) -> tuple[float, Floats]:
        K = self.kernel.matrix()
        self._means = K.mean(0)
        K = centred(K)
        return (len(K) - 1) / positive_trace(K), K

    def mapped(self, name: str, N: Floats) -> ModalityMap:
        """Return Φ N for new items, at the centre where they share nothing with the training items."""
        coefficients, found = self.coefficients(N), super().mapped(name, N)
        return replace(found, offset=found.offset + self._means @ coefficients, unshared_at_centre=True)


def whitened(kernel: Kernel) -> Modality:
    """Return `Whitened`; features that are fewer than the items are such a Φ as they stand, without n × n matrices."""
    narrow = isinstance(kernel, Linear) and kernel.inside.shape[1] < len(kernel.inside)
    return Plain(kernel) if narrow else Whitened(kernel)


class KernelColumns(Modality):
    """Φ = scale · K: kernel values with the training items, a mean of 1 on the diagonal; for diagonal maps."""

    @cached_property
    def _scaled(self) -> tuple[float, Floats]:
        K = self.kernel.matrix()
        scale = len(K) / positive_trace(K)
        return scale, scale * K

    @property
    def features(self) -> Floats:
        """(n, n) the scaled kernel."""
        return self._scaled[1]

    @property
    def prices(self) -> Floats:
        """(n,) its diagonal."""
        return np.diagonal(self._scaled[1])

    def coefficients(self, N: Floats) -> Floats:
        """(n, r): what each training item's kernel values contribute to each dimension."""
        return self._scaled[0] * N


class Plain(Modality):
    """Φ = scale · (X - mean): features as they stand, a mean squared distance of 2 between items."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        if not isinstance(kernel, Linear):
            raise TypeError(
                f"features: found a {type(kernel).__name__} kernel, expected an array with a row per item; "
                "use KPOE for a kernel"
            )
        self._mean = kernel.inside.mean(0)
        spread = float(((kernel.inside - self._mean) ** 2).sum())
        if not spread > 0:
            raise ValueError("features: found the same row for every item, which tells nothing; leave it out")
        self._scale = float(np.sqrt((len(kernel.inside) - 1) / spread))

    @cached_property
    def features(self) -> Floats:
        """(n, q) Φ; an item without features is at the centre."""
        assert isinstance(self.kernel, Linear)
        return self._spread(self.kernel.inside, self.kernel.present)

    @property
    def prices(self) -> Floats:
        """One each."""
        return np.ones(len(self._mean))

    def coefficients(self, N: Floats) -> Floats:
        """(q, r): what a unit of each feature adds to each dimension."""
        return self._scale * N

    def mapped(self, name: str, N: Floats) -> ModalityMap:
        """Return Φ N for new items: one matrix."""
        weights = self.coefficients(N)
        return ModalityMap(name, (LinearPart(weights),), self._mean @ weights, columns=self.columns)

    def _spread(self, inside: Floats, present: Bools) -> Floats:
        out = np.zeros((len(present), len(self._mean)))
        out[present] = self._scale * (inside - self._mean)
        return out


class Waved(Plain):
    """Φ = [features as `Plain` has them, random waves of them] / sqrt 2, each half with a mean squared distance of 2.

    The waves are cos and sin along directions drawn so that their products are, in the mean, values of an RBF kernel
    (Rahimi & Recht 2007) as wide as the root of the items' mean squared distance: sums of them are smooth functions of
    the features, without n × n matrices. What is linear is left to the features themselves.
    """

    def __init__(self, kernel: Kernel, rng: np.random.Generator) -> None:
        super().__init__(kernel)
        assert isinstance(kernel, Linear)
        self._directions = rng.normal(size=(len(self._mean), _DIRECTIONS)) * (self._scale / 2**0.5)
        self._phases = -self._mean @ self._directions  # cos and sin of features far from 0 would lose their digits
        self._waves = Plain(Linear(waves(kernel.inside, self._directions, self._phases)))

    @cached_property
    def features(self) -> Floats:
        """(n, q + waves) Φ; an item without features is at the centre."""
        assert isinstance(self.kernel, Linear)
        out = np.zeros((len(self.kernel.present), len(self._mean) + 2 * _DIRECTIONS))
        own = self._scale * (self.kernel.inside - self._mean)
        out[self.kernel.present] = np.hstack([own, self._waves.features]) / 2**0.5
        return out

    @property
    def prices(self) -> Floats:
        """One each."""
        return np.ones(len(self._mean) + 2 * _DIRECTIONS)

    def coefficients(self, N: Floats) -> Floats:
        """(q + waves, r): what a unit of each feature, and then of each wave, adds to each dimension."""
        own, waved = np.split(N / 2**0.5, [len(self._mean)])
        return np.concatenate([super().coefficients(own), self._waves.coefficients(waved)])

    def mapped(self, name: str, N: Floats) -> ModalityMap:
        """Return Φ N for new items: a matrix for the features, and one for their waves."""
        own, waved = np.split(self.coefficients(N), [len(self._mean)])
        parts = LinearPart(own), WavePart(waved, self._directions, self._phases)
        return ModalityMap(name, parts, self._mean @ own + self._waves._mean @ waved, columns=self.columns)


def waved(kernel: Kernel, rng: np.random.Generator) -> Modality:
    """Return `Waved` of features that are an array; a kernel is a nonlinear map already."""
    return Waved(kernel, rng) if isinstance(kernel, Linear) else whitened(kernel)


def read_modalities(
    features: Any, comparisons: Comparisons, kind: Callable[[Kernel], Modality]
) -> tuple[dict[str, Modality], Comparisons]:
    """Return the modalities by name, and the comparisons over as many items as the features have."""
    kernels, c = read_kernels(features, comparisons)
    return {name: kind(kernel) for name, kernel in kernels.items()}, c


def read_kernels(features: Any, comparisons: Comparisons) -> tuple[dict[str, Kernel], Comparisons]:
    """Return a kernel per modality, and the comparisons over as many items as the features have.

    Items without names that were not compared but have features are items, too. A table with an index is read by
    the items' names, or by their positions where they have none.
    """
    if features is None:
        raise TypeError("features: found none, expected an array with a row per item, a kernel, or a dict of these")
    c = comparisons
    kernels = as_modalities(features, c.n_items, c.names, more=c.names is None)
    count = next(iter(kernels.values())).n_items
    if c.names is None and count > c.n_items:
        c = c.with_items(n_items=count)
    if count != c.n_items:
        raise ValueError(f"features: found rows for {count} items, expected {c.n_items}, as were compared")
    return kernels, c


def side_by_side(modalities: dict[str, Modality]) -> Floats:
    """Return Φ of all modalities side by side."""
    every = [modality.features for modality in modalities.values()]
    return every[0] if len(every) == 1 else np.hstack(every)


def per_modality(modalities: dict[str, Modality], rows: Floats) -> dict[str, Floats]:
    """Cut something with a row per column of `side_by_side` into each modality's own."""
    ends = np.cumsum([modality.features.shape[1] for modality in modalities.values()])
    return dict(zip(modalities, np.split(rows, ends[:-1]), strict=True))


def rows_of_new(modalities: dict[str, Modality], features: Any) -> Floats:
    """(m, q) Φ of all modalities side by side for new items; 0 in a modality that they lack."""
    width = sum(modality.features.shape[1] for modality in modalities.values())
    each = per_modality(modalities, np.eye(width))
    pieces = tuple(modality.mapped(name, each[name]) for name, modality in modalities.items())
    return FeatureMap(pieces, np.zeros(width))(features)
