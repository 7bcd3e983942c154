"""Kernels over pairs of items, made of a kernel over items: how alike (a, b) is to (c, d), as pairs.

A function of pairs in such a kernel's space is a dissimilarity that ranking can learn (`DRankingVM`). The hyperkernels
that Ouyang & Gray (2008) print, k(a, b) k(c, d) and k(a, b) + k(c, d), are a function of rank one, which can learn
nothing but a multiple of k(a, b), and an indefinite one; `PrintedProduct` and `PrintedSum` keep them for the record.
Their Proposition 4.1 means k(a, c) k(b, d), which changes when the two items of a pair are swapped: hence symmetrised
here. Its powers other than whole numbers, which the proposition allows, are not positive semidefinite in general.

| kernel | value for (a, b), (c, d) | functions |
|---|---|---|
| `MetricPairs` | (k(a, c) - k(a, d) - k(b, c) + k(b, d))² | (φ_a - φ_b)' M (φ_a - φ_b): squared distances, signs free |
| `ProductPairs` | k(a, c) k(b, d) + k(a, d) k(b, c) | sqrt(2) φ_a' M φ_b |
| `SumPairs` | k(a, c) + k(b, d) + k(a, d) + k(b, c) | f(a) + f(b): a number per item, no interplay of the two |

φ is the map of the kernel over items, M a symmetric matrix, and its Frobenius norm the norm of the function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from similitude.engine.models import Additive, Matrix, Model, Products
from similitude.kernels.modalities import as_kernel
from similitude.types import Array, Floats

_ROWS_AT_ONCE = 1024


class PairKernel(ABC):
    """A function of two pairs of items, over a kernel of items.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> pairs = sm.kernels.MetricPairs([[0.0], [1.0], [3.0]])
    >>> isinstance(pairs, sm.kernels.PairKernel), pairs
    (True, MetricPairs(Linear(3 items)))
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = as_kernel(kernel)

    def matrix(self, pairs: Any) -> Floats:
        """(P, P) values between pairs of training items, rows of two positions."""
        return self.gram(self.kernel.matrix(), self._pairs(pairs))

    @classmethod
    @abstractmethod
    def gram(cls, K: Floats, pairs: Array) -> Floats:
        """(P, P) values between pairs of items with the kernel matrix K."""

    def _pairs(self, pairs: Any) -> Array:
        found = np.asarray(pairs)
        if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
            raise ValueError(
                f"pairs: expected rows of two positions of items, found {found.dtype} of shape {found.shape}"
            )
        if found.size and not 0 <= found.min() <= found.max() < self.kernel.n_items:
            raise ValueError(
                f"pairs: expected items from 0 to {self.kernel.n_items - 1}, found {found.min()} to {found.max()}"
            )
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel!r})"


class SymmetricPairs(PairKernel):
    """A positive semidefinite kernel over pairs that does not change when the two items of a pair are swapped."""

    @staticmethod
    @abstractmethod
    def values(ac: Floats, ad: Floats, bc: Floats, bd: Floats) -> Floats:
        """Value for (a, b) and (c, d), from the kernel's values for their items."""

    @staticmethod
    @abstractmethod
    def model(features: Floats) -> Model:
        """Return the functions of this kernel's space as a model over features φ of the items."""

    @staticmethod
    @abstractmethod
    def table(A: Floats, B: Floats, params: Floats) -> Floats:
        """(a, b) values of the function with these parameters of `model`, between items by their features."""

    @classmethod
    def gram(cls, K: Floats, pairs: Array) -> Floats:
        """(P, P) values between pairs of items with the kernel matrix K."""
        out = np.empty((len(pairs), len(pairs)))
        for start in range(0, len(pairs), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            out[some] = cls._across(K[pairs[some, 0]], K[pairs[some, 1]], pairs)
        return out

    def cross(self, first: Any, second: Any, pairs: Any) -> Floats:
        """(m, P) values between new pairs and pairs of training items.

        Parameters
        ----------
        first, second : features of the two items of each new pair, a row each
        pairs : (P, 2) positions of training items
        """
        one, other = self.kernel.cross(first), self.kernel.cross(second)
        if len(one) != len(other):
            raise ValueError(f"second: expected features of {len(one)} items, as in first, found {len(other)}")
        return self._across(one, other, self._pairs(pairs))

    @classmethod
    def between(cls, K: Floats, first: Array, second: Array) -> Floats:
        """(m,) value between each pair and the one that stands beside it, from the kernel matrix K of the items."""
        (a, b), (c, d) = first.T, second.T
        return cls.values(K[a, c], K[a, d], K[b, c], K[b, d])

    @classmethod
    def _across(cls, one: Floats, other: Floats, pairs: Array) -> Floats:
        c, d = pairs.T
        return cls.values(one[:, c], one[:, d], other[:, c], other[:, d])


class MetricPairs(SymmetricPairs):
    """(k(a, c) - k(a, d) - k(b, c) + k(b, d))²: the metric-learning pairwise kernel (Vert, Qiu & Noble 2007).

    Its functions are (φ_a - φ_b)' M (φ_a - φ_b), zero for an item and itself; with a linear kernel, Mahalanobis
    distances. M is any symmetric matrix, so that values may be negative.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.MetricPairs([[0.0], [1.0], [3.0]]).matrix([[0, 1], [1, 2]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    @staticmethod
    def values(ac: Floats, ad: Floats, bc: Floats, bd: Floats) -> Floats:
        """(k(a, c) - k(a, d) - k(b, c) + k(b, d))²."""
        return (ac - ad - bc + bd) ** 2

    @staticmethod
    def model(features: Floats) -> Model:
        """(φ_a - φ_b)' M (φ_a - φ_b)."""
        return Matrix(len(features), features=features)

    @staticmethod
    def table(A: Floats, B: Floats, params: Floats) -> Floats:
        """(φ_a - φ_b)' M (φ_a - φ_b) for every a and b."""
        M = params.reshape(A.shape[1], -1)
        own = [np.einsum("ia,ia->i", F @ M, F) for F in (A, B)]
        return own[0][:, None] + own[1] - 2.0 * (A @ M @ B.T)


class ProductPairs(SymmetricPairs):
    """k(a, c) k(b, d) + k(a, d) k(b, c): the tensor product of Proposition 4.1, symmetrised.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.ProductPairs([[1.0], [2.0], [3.0]]).matrix([[0, 1], [1, 2]])
    array([[ 8., 24.],
           [24., 72.]])
    """

    @staticmethod
    def values(ac: Floats, ad: Floats, bc: Floats, bd: Floats) -> Floats:
        """k(a, c) k(b, d) + k(a, d) k(b, c)."""
        return ac * bd + ad * bc

    @staticmethod
    def model(features: Floats) -> Model:
        """sqrt(2) φ_a' M φ_b."""
        return Products(features)

    @staticmethod
    def table(A: Floats, B: Floats, params: Floats) -> Floats:
        """sqrt(2) φ_a' M φ_b for every a and b."""
        return np.sqrt(2.0) * (A @ params.reshape(A.shape[1], -1) @ B.T)


class SumPairs(SymmetricPairs):
    """k(a, c) + k(b, d) + k(a, d) + k(b, c): the direct sum of Proposition 4.1, symmetrised.

    Its functions are f(a) + f(b). They say which items are far from everything, and nothing about two items together:
    there for comparison.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.SumPairs([[1.0], [2.0], [3.0]]).matrix([[0, 1], [1, 2]])
    array([[ 9., 15.],
           [15., 25.]])
    """

    @staticmethod
    def values(ac: Floats, ad: Floats, bc: Floats, bd: Floats) -> Floats:
        """k(a, c) + k(b, d) + k(a, d) + k(b, c)."""
        return ac + bd + ad + bc

    @staticmethod
    def model(features: Floats) -> Model:
        """v' (φ_a + φ_b)."""
        return Additive(features)

    @staticmethod
    def table(A: Floats, B: Floats, params: Floats) -> Floats:
        """v' (φ_a + φ_b) for every a and b."""
        return (A @ params)[:, None] + B @ params


class TensorPairs(PairKernel):
    """k(a, c)^α l(b, d)^β, symmetrised over the order within both pairs: Proposition 4.1 with two kernels and powers.

    The powers are whole numbers: other powers of a kernel are not positive semidefinite in general. With one kernel and
    powers of 1 it is twice `ProductPairs`.

    Parameters
    ----------
    kernel, other : kernels over the same items, or arrays with a row per item, which mean `Linear`
    powers : whole numbers α and β, 1 or more

    Examples
    --------
    >>> import similitude as sm
    >>> items = [[1.0], [2.0], [3.0]]
    >>> sm.kernels.TensorPairs(items, items, powers=(1, 1)).matrix([[0, 1], [1, 2]])
    array([[ 16.,  48.],
           [ 48., 144.]])
    """

    def __init__(self, kernel: Any, other: Any, powers: tuple[int, int] = (1, 1)) -> None:
        super().__init__(kernel)
        self.other, self.powers = as_kernel(other), powers
        if self.other.n_items != self.kernel.n_items:
            raise ValueError(f"other: expected {self.kernel.n_items} items, as in kernel, found {self.other.n_items}")
        if len(powers) != 2 or not all(isinstance(power, int) and power >= 1 for power in powers):
            raise ValueError(
                f"powers: expected two whole numbers, 1 or more, found {powers!r}: other powers of a kernel are not "
                "positive semidefinite in general"
            )

    def matrix(self, pairs: Any) -> Floats:
        """(P, P) values between pairs of training items, rows of two positions."""
        a, b = self._pairs(pairs).T
        one, other = self.kernel.matrix() ** self.powers[0], self.other.matrix() ** self.powers[1]
        orders = ((a, b), (b, a))
        return np.sum([one[np.ix_(i, k)] * other[np.ix_(j, m)] for i, j in orders for k, m in orders], axis=0)

    @classmethod
    def gram(cls, K: Floats, pairs: Array) -> Floats:
        """Of one kernel and powers of 1."""
        return 2.0 * ProductPairs.gram(K, pairs)


class PrintedProduct(PairKernel):
    """k(a, b) k(c, d), as printed in (13) and (15): of rank one. Not used by any method; for the record.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.PrintedProduct([[1.0], [2.0], [3.0]]).matrix([[0, 1], [1, 2]])
    array([[ 4., 12.],
           [12., 36.]])
    """

    @classmethod
    def gram(cls, K: Floats, pairs: Array) -> Floats:
        """k(a, b) k(c, d)."""
        own = K[pairs[:, 0], pairs[:, 1]]
        return np.outer(own, own)


class PrintedSum(PairKernel):
    """k(a, b) + k(c, d), as printed in (14) and (16): no kernel, since indefinite. For the record.

    Parameters
    ----------
    kernel : a kernel over items, or an array with a row per item, which means `Linear`

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.PrintedSum([[1.0], [2.0], [3.0]]).matrix([[0, 1], [1, 2]])
    array([[ 4.,  8.],
           [ 8., 12.]])
    """

    @classmethod
    def gram(cls, K: Floats, pairs: Array) -> Floats:
        """k(a, b) + k(c, d)."""
        own = K[pairs[:, 0], pairs[:, 1]]
        return own[:, None] + own
