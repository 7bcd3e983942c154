"""Models: how parameters give a squared distance to every pair of items, and how slopes flow back.

Parameters are one flat vector; a model knows how to read it. With `w` the derivative of a value by each squared
distance and `L = sum_p w_p (e_i - e_j)(e_i - e_j)'`, every pullback is a one-liner in L, so no method writes a
gradient of its own. `F` is a matrix of features (or kernel columns), a row per item; None is one-hot, i.e. free.

| model | parameters | squared distance | pullback |
|---|---|---|---|
| `Positions` | X (n × r) | |x_i - x_j|² | 2 L X |
| `Positions(features=F)` | N (q × r), positions F N | | 2 F' L F N |
| `Positions(features=F, residual=True)` | N and E (n × r), positions F N + E | | 2 F' L X and 2 L X |
| `Positions(fixed=X0)` | the positions of further items | | the last rows of 2 L X |
| `Positions(beside=Y0)` | X (n × r) beside given dimensions Y0 | |x_i - x_j|² + |y0_i - y0_j|² | 2 L X |
| `DotProducts` | those of its `Positions` | -x_i · x_j | -A X, A the signed adjacency |
| `Matrix` | M symmetric (n × n) | M_ii + M_jj - 2 M_ij | L |
| `Matrix(features=F)` | M symmetric (q × q) | (f_i - f_j)' M (f_i - f_j) | F' L F |
| `Products(F)` | M symmetric (q × q) | sqrt(2) f_i' M f_j | F' (D - L) F / sqrt(2), D the diagonal of L |
| `Additive(F)` | v (q) | v' (f_i + f_j) | F' (diagonal of L) |
| `Weights` | w (a) on given squared distances | sum_a w_a D_a(i, j) | sum_p w_p D_a(p) |
| `FeatureWeights` | u (q) on the columns of F | sum_k u_k (f_ik - f_jk)² | f_k' L f_k for each k |
| `SumOfModels` | those of its parts, one after the other | the sum | each part's |

`DotProducts`, `Products` and `Additive` give dissimilarities that are no squared distances; the last two serve ranking
(`methods.ranking`).
Maps of several groups of people stand in `engine.group_models`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from similitude.engine.backend import Backend, joined
from similitude.types import Array, Floats


class Model(ABC):
    """Squared distances of pairs from parameters, and the way back.

    Attributes
    ----------
    size : number of parameters
    n_items : number of items
    linear : whether the squared distances are linear in the parameters
    on_devices : whether parameters and pairs may be those of any backend
    """

    size: int
    n_items: int
    linear = False
    on_devices = False

    def positions(self, params: Floats) -> Floats:
        """Return a position for every item, a row each, at which the squared distances are the model's."""
        raise TypeError(f"{type(self).__name__} gives its pairs numbers that are no squared distances: no positions")

    @abstractmethod
    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """Squared distance of each pair."""

    @abstractmethod
    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """Derivative by the parameters of a value whose derivative by each squared distance is `w`."""


class Positions(Model):
    """Items at positions in space: free, mapped from features with or without a free rest, or beside what is given.

    What is given are the positions of other items (`fixed`), or further dimensions of the same items (`beside`).
    """

    on_devices = True

    def __init__(
        self,
        n_items: int,
        n_components: int,
        *,
        features: Floats | None = None,
        residual: bool = False,
        fixed: Floats | None = None,
        beside: Floats | None = None,
    ) -> None:
        self.features = features
        self.residual = residual
        self.fixed = fixed
        self.beside = beside
        mapped = 0 if features is None else features.shape[1]
        self.n_items = n_items if fixed is None else n_items + len(fixed)
        self.shape = (mapped + (n_items if residual or features is None else 0), n_components)
        self.size = self.shape[0] * n_components

    def positions(self, params: Floats) -> Floats:
        """Return the position of every item, a row each."""
        own = params.reshape(self.shape)
        if self.features is not None:
            mapped = self.features @ own[: self.features.shape[1]]
            return mapped + own[self.features.shape[1] :] if self.residual else mapped
        if self.beside is not None:
            return np.hstack([own, self.beside])
        return own if self.fixed is None else np.concatenate([self.fixed, own])

    def pull_positions(self, gradient: Floats) -> Floats:
        """Turn a derivative by the positions into one by the parameters."""
        if self.features is not None:
            mapped = (self.features.T @ gradient).ravel()
            return joined([mapped, gradient.ravel()]) if self.residual else mapped
        if self.beside is not None:
            return gradient[:, : self.shape[1]].ravel()
        return gradient[0 if self.fixed is None else len(self.fixed) :].ravel()

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """|x_i - x_j|²."""
        return backend.sqdist(self.positions(params), pairs)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """2 L X, taken back through the features."""
        return self.pull_positions(2.0 * backend.laplacian(self.positions(params), pairs, w))


class DotProducts(Model):
    """Items whose similarity is the dot product of their vectors, as free or mapped as `Positions` can be.

    Unlike distances, they know items that are like many and items that are like none, by the lengths of the vectors.
    """

    on_devices = True

    def __init__(self, vectors: Positions) -> None:
        self.vectors, self.n_items, self.size = vectors, vectors.n_items, vectors.size

    def positions(self, params: Floats) -> Floats:
        """Return the vectors, a row each; dot products, not distances, say how alike they are."""
        return self.vectors.positions(params)

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """-x_i · x_j."""
        return -backend.products(self.vectors.positions(params), pairs)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """-A X, taken back through the features."""
        return self.vectors.pull_positions(-backend.adjacency(self.vectors.positions(params), pairs, w))


class Matrix(Model):
    """A symmetric matrix: a kernel over the items themselves, or a Mahalanobis matrix over features."""

    linear = True

    def __init__(self, n_items: int, *, features: Floats | None = None) -> None:
        self.features = features
        self.n_items = n_items
        self.order = n_items if features is None else features.shape[1]
        self.size = self.order * self.order

    def positions(self, params: Floats) -> Floats:
        """R, or F R, with M = R R': what is negative in M is left out."""
        M = self.matrix(params)
        root = matrix_root(0.5 * (M + M.T))
        return root if self.features is None else self.features @ root

    def matrix(self, params: Floats) -> Floats:
        """Return the parameters as a matrix."""
        return params.reshape(self.order, self.order)

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """M_ii + M_jj - 2 M_ij, or (f_i - f_j)' M (f_i - f_j)."""
        M = self.matrix(params)
        i, j = pairs[:, 0], pairs[:, 1]
        if self.features is None:
            diagonal = np.diagonal(M)
            return diagonal[i] + diagonal[j] - M[i, j] - M[j, i]
        return _forms(self.features, M, pairs, backend)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """L, or F' L F."""
        if self.features is not None:
            return (self.features.T @ backend.laplacian(self.features, pairs, w)).ravel()
        half = sparse.coo_matrix((w, pairs.T), shape=(self.order, self.order)).toarray()
        both = half + half.T
        return (np.diag(both.sum(0)) - both).ravel()


class Products(Model):
    """A symmetric bilinear form of the two items' features, sqrt(2) f_i' M f_j: the length of M is the function's norm.

    That is the norm in the space of the symmetrised product kernel over pairs (`kernels.ProductPairs`).
    """

    linear = True

    def __init__(self, features: Floats) -> None:
        self.features = features
        self.n_items = len(features)
        self.order = features.shape[1]
        self.size = self.order * self.order

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """sqrt(2) f_i' M f_j, from (f_i - f_j)' M (f_i - f_j) and the items' own values."""
        M = params.reshape(self.order, self.order)
        own = np.einsum("ia,ia->i", self.features @ M, self.features)
        return (own[pairs].sum(1) - _forms(self.features, M, pairs, backend)) / np.sqrt(2.0)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """F' (D - L) F / sqrt(2)."""
        total = _degrees(len(self.features), pairs, w)[:, None]
        across = total * self.features - backend.laplacian(self.features, pairs, w)
        return (self.features.T @ across).ravel() / np.sqrt(2.0)


class Additive(Model):
    """A number for each item, from its features, added for the two of a pair: v' (f_i + f_j)."""

    linear = True

    def __init__(self, features: Floats) -> None:
        self.features = features
        self.n_items = len(features)
        self.size = features.shape[1]

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """v' (f_i + f_j)."""
        return (self.features @ params)[pairs].sum(1)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """F' times each item's total of w."""
        return self.features.T @ _degrees(len(self.features), pairs, w)


class Weights(Model):
    """Non-negative weights on given squared distances, `tables[a]` (n × n) each."""

    linear = True

    def __init__(self, tables: Floats) -> None:
        self.tables = tables
        self.n_items = tables.shape[1]
        self.size = len(tables)

    def positions(self, params: Floats) -> Floats:
        """Classical scaling of sum_a w_a D_a."""
        table = np.tensordot(params, self.tables, 1)
        centred = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
        return matrix_root(-0.25 * (centred + centred.T))

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """sum_a w_a D_a(i, j)."""
        return params @ self.tables[:, pairs[:, 0], pairs[:, 1]]

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """sum_p w_p D_a(p) for each a."""
        return self.tables[:, pairs[:, 0], pairs[:, 1]] @ w


class FeatureWeights(Model):
    """Non-negative weights on the columns of features F (n × q)."""

    linear = True

    def __init__(self, features: Floats) -> None:
        self.features = features
        self.n_items = len(features)
        self.size = features.shape[1]

    def positions(self, params: Floats) -> Floats:
        """f_ik sqrt(u_k)."""
        return self.features * np.sqrt(np.maximum(params, 0.0))

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """sum_k u_k (f_ik - f_jk)²."""
        total = np.zeros(len(pairs))
        for sign in (1.0, -1.0):  # an extrapolated step may leave u >= 0
            used = np.flatnonzero(sign * params > 0)
            if len(used):
                total += sign * backend.sqdist(self.features[:, used] * np.sqrt(sign * params[used]), pairs)
        return total

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """f_k' L f_k for each k."""
        return np.einsum("ik,ik->k", self.features, backend.laplacian(self.features, pairs, w))


class Copies(Model):
    """Squared distances summed over copies of the items: copy p of item i is item i + p · n of a model."""

    def __init__(self, model: Model, n_items: int) -> None:
        self.model, self.n_items, self.size, self.linear = model, n_items, model.size, model.linear
        self._first = range(0, model.n_items, n_items)

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """sum_p d²(i + p n, j + p n)."""
        return np.sum([self.model.sqdist(params, pairs + first, backend) for first in self._first], axis=0)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """The sum of the copies' derivatives."""
        return np.sum([self.model.pullback(params, pairs + first, w, backend) for first in self._first], axis=0)


class SumOfModels(Model):
    """The sum of the squared distances of several models, parameters one after the other."""

    def __init__(self, parts: Sequence[Model]) -> None:
        self.parts = tuple(parts)
        self.n_items = parts[0].n_items
        self.size = sum(part.size for part in parts)
        self.linear = all(part.linear for part in parts)

    def positions(self, params: Floats) -> Floats:
        """Those of the parts, side by side."""
        return np.hstack([part.positions(own) for part, own in zip(self.parts, self.split(params), strict=True)])

    def split(self, params: Floats) -> list[Floats]:
        """Return the parameters of each part."""
        return np.split(params, np.cumsum([part.size for part in self.parts])[:-1])

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """The sum over the parts."""
        own = zip(self.parts, self.split(params), strict=True)
        return np.sum([part.sqdist(piece, pairs, backend) for part, piece in own], axis=0)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """Each part's own pullback."""
        own = zip(self.parts, self.split(params), strict=True)
        return np.concatenate([part.pullback(piece, pairs, w, backend) for part, piece in own])


def _forms(F: Floats, M: Floats, pairs: Array, backend: Backend) -> Floats:
    """(f_i - f_j)' M (f_i - f_j) of each pair at the cost of its distance: a'b = (|a + b|² - |a - b|²) / 4."""
    T = F @ M
    size = np.linalg.norm(T) / max(float(np.linalg.norm(F)), 1e-300)
    if size == 0.0:
        return np.zeros(len(pairs))
    T /= size  # of F's size, so that the difference loses no digits
    return 0.25 * size * (backend.sqdist(F + T, pairs) - backend.sqdist(F - T, pairs))


def matrix_root(K: Floats) -> Floats:
    """R with R R' = K for a positive semidefinite K, largest columns first; what is negative is left out."""
    values, vectors = linalg.eigh(K)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    return (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]


def _degrees(n_items: int, pairs: Array, w: Floats) -> Floats:
    """Return the total w of each item's pairs."""
    return np.bincount(pairs.ravel(), np.repeat(w, 2), n_items).astype(float)
