"""Clustering by a kernel, and maps of it: what scikit-learn does not have.

All take a kernel matrix K or, with `kernel="linear"`, features F with K = F F', from which K is never formed. Squared
distances are d2_ij = K_ii + K_jj - 2 K_ij. `KernelKMeans` is for a given number of clusters, `kernel_linkage` for a
tree (`plot.dendrogram` draws it), `kernel_map` for a picture.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, KernelPCA
from sklearn.utils.validation import check_is_fitted

from similitude.kernels.matrices import as_square, check_symmetric
from similitude.types import Array, Floats, Ints, Table

_KERNELS = ("precomputed", "linear")
_CHECKED = 64
_CANDIDATES = 3  # of a k-means++ step: the one that lowers the distances most is taken


class KernelKMeans(ClusterMixin, BaseEstimator):
    """Kernel k-means: clusters C that minimise the sum of squared distances to the means in the kernel's space.

    d2(a, mean of C) = K_aa - 2/n_C · sum_{b in C} K_ab + 1/n_C² · sum_{b, c in C} K_bc, where C has n_C items (Dhillon
    et al. 2001, weights 1).
    Starts are drawn by k-means++ (greedy, as scikit-learn's); the best of several is kept. With `kernel="linear"` it is
    scikit-learn's `KMeans` on the features: the same objective without the n × n matrix.

    Parameters
    ----------
    n_clusters : number of clusters
    kernel : what `fit` gets: "precomputed", a kernel matrix (n, n); or "linear", features (n, p), dense or sparse
    n_init : number of starts
    max_iter : most iterations of one start
    random_state : seed of the starts

    Attributes
    ----------
    labels_ : (n,) the cluster of each item
    inertia_ : sum of squared distances to the means
    n_iter_ : iterations of the best start

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> F = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> model = sm.KernelKMeans(2, random_state=0).fit(F @ F.T)
    >>> cluster = model.labels_.tolist()
    >>> cluster[0] == cluster[1] == cluster[2], cluster[0] == cluster[4]
    (True, False)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Literal["precomputed", "linear"] = "precomputed",
        n_init: int = 5,
        max_iter: int = 100,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : kernel matrix (n, n), or features (n, p) with `kernel="linear"`
        y : ignored
        """
        self._check(X.shape[0] if hasattr(X, "shape") else len(X))
        rng = np.random.default_rng(self.random_state)
        if self.kernel == "linear":
            return self._fit_features(X, int(rng.integers(2**31)))
        K = _as_kernel(X)
        runs = [self._one_start(K, rng) for _ in range(self.n_init)]
        self.inertia_, self.labels_, self.n_iter_ = min(runs, key=lambda run: run[0])
        self._weights = _mean_weights(self.labels_, self.n_clusters, K.dtype)
        self._mean_squares = np.einsum("ik,ik->k", K @ self._weights, self._weights)
        return self

    def predict(self, X: Any) -> Ints:
        """Return the cluster whose mean is nearest to each new item.

        Parameters
        ----------
        X : kernel values of the new items with those of the fit (m, n), or features (m, p) with `kernel="linear"`
        """
        check_is_fitted(self, "labels_")
        if self.kernel == "linear":
            return self._kmeans.predict(X).astype(np.int32)
        cross = np.asarray(X)
        if cross.ndim != 2 or cross.shape[1] != len(self.labels_):
            raise ValueError(f"X: expected kernel values with the {len(self.labels_)} items, found shape {cross.shape}")
        return (self._mean_squares - 2.0 * cross @ self._weights).argmin(1).astype(np.int32)

    def _fit_features(self, X: Any, seed: int) -> Self:
        self._kmeans = KMeans(self.n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=seed).fit(X)
        self.labels_ = self._kmeans.labels_.astype(np.int32)
        self.inertia_, self.n_iter_ = float(self._kmeans.inertia_), int(self._kmeans.n_iter_)
        return self

    def _one_start(self, K: Array, rng: np.random.Generator) -> tuple[float, Ints, int]:
        own = np.diagonal(K)
        seeds = _plus_plus(K, self.n_clusters, rng)
        labels = (own[seeds] - 2.0 * K[:, seeds]).argmin(1).astype(np.int32)
        for n_iter in range(1, self.max_iter + 1):  # noqa: B007  it is returned
            weights = _mean_weights(labels, self.n_clusters, K.dtype)
            towards = K @ weights
            d2 = own[:, None] - 2.0 * towards + np.einsum("ik,ik->k", towards, weights)
            inertia = float(np.maximum(d2[np.arange(len(K)), labels], 0.0).sum())
            moved = _without_empty(d2.argmin(1).astype(np.int32), d2)
            if np.array_equal(moved, labels):
                break
            labels = moved
        else:
            inertia = _inertia(K, labels, self.n_clusters)
        return inertia, labels, n_iter

    def _check(self, n_items: int) -> None:
        if self.kernel not in _KERNELS:
            raise ValueError(f"kernel: expected 'precomputed' or 'linear', found {self.kernel!r}")
        for name, most in (("n_clusters", n_items), ("n_init", np.inf), ("max_iter", np.inf)):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and 1 <= value <= most):
                limit = f" of at most {n_items}, the number of items" if name == "n_clusters" else ""
                raise ValueError(f"{name}: expected a positive whole number{limit}, found {value!r}")


def _as_kernel(X: Any) -> Array:
    """Return a kernel matrix; single precision is kept, since a copy of a large one may not fit."""
    if not (isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64) and X.ndim == 2):
        return check_symmetric(as_square(X, "X"), "X")
    if X.shape[0] != X.shape[1] or not np.isfinite(X.sum(0)).all():
        as_square(X, "X")  # says what is wrong
    strip = slice(0, _CHECKED)  # enough to notice that it is no kernel; the whole of a large one takes too long
    if not np.allclose(X[strip], X[:, strip].T, atol=1e-6 * float(np.abs(X[strip]).max(initial=0.0))):
        check_symmetric(as_square(X, "X"), "X")
    return X


def _plus_plus(K: Array, count: int, rng: np.random.Generator) -> list[int]:
    """Draw items by k-means++: each with probability by its squared distance to those drawn, the best of a few."""
    own = np.diagonal(K)
    chosen = [int(rng.integers(len(K)))]
    nearest = np.maximum(own + own[chosen[0]] - 2.0 * K[chosen[0]], 0.0)
    for _ in range(count - 1):
        reach = np.cumsum(nearest, dtype=float)
        drawn = np.searchsorted(reach, rng.random(_CANDIDATES) * reach[-1], side="right")
        drawn = np.minimum(drawn, len(K) - 1)
        shorter = np.minimum(nearest, np.maximum(own + own[drawn, None] - 2.0 * K[drawn], 0.0))
        best = int(shorter.sum(1).argmin())
        chosen.append(int(drawn[best]))
        nearest = shorter[best]
    return chosen


def _mean_weights(labels: Ints, count: int, dtype: Any) -> Array:
    """Return (n, k) the share of each item in the mean of each cluster: 1/|C| or 0."""
    size = np.bincount(labels, minlength=count)
    weights = np.zeros((len(labels), count), dtype)
    weights[np.arange(len(labels)), labels] = 1.0 / size[labels]
    return weights


def _without_empty(labels: Ints, d2: Array) -> Ints:
    """Give each empty cluster the item farthest from its mean, of a cluster that has more than one."""
    count = d2.shape[1]
    for empty in np.flatnonzero(np.bincount(labels, minlength=count) == 0):
        size = np.bincount(labels, minlength=count)
        far = np.where(size[labels] > 1, d2[np.arange(len(labels)), labels], -np.inf)
        labels[int(far.argmax())] = empty
    return labels


def _inertia(K: Array, labels: Ints, count: int) -> float:
    weights = _mean_weights(labels, count, K.dtype)
    return float(np.trace(K) - np.einsum("ik,ik->", K @ weights, weights * np.bincount(labels, minlength=count)))


def kernel_distances(K: Table) -> Floats:
    """Return (n, n) distances sqrt(K_ii + K_jj - 2 K_ij) of a kernel matrix; zero on the diagonal, rounding cut off.

    Parameters
    ----------
    K : kernel matrix (n, n)

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernel_distances([[1.0, 0.0], [0.0, 3.0]])
    array([[0., 2.],
           [2., 0.]])
    """
    matrix = as_square(np.asarray(K, float), "K")
    own = np.diagonal(matrix)
    d2 = own[:, None] + own - 2.0 * matrix
    distances = np.sqrt(np.maximum(0.5 * (d2 + d2.T), 0.0))
    np.fill_diagonal(distances, 0.0)
    return distances


def kernel_linkage(K: Table, method: Literal["complete", "average", "single"] = "complete") -> Floats:
    """Build a tree of clusters by the distances of a kernel.

    Parameters
    ----------
    K : kernel matrix (n, n)
    method : distance of two clusters: that of their farthest items ("complete"), the mean ("average"), or that of
        their nearest items ("single")

    Returns
    -------
    tree : (n - 1, 4) as of `scipy.cluster.hierarchy.linkage`: cut it with `fcluster`, draw it with `plot.dendrogram`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> F = np.array([[0.0], [1.0], [5.0]])
    >>> sm.kernel_linkage(F @ F.T)[:, :2]
    array([[0., 1.],
           [2., 3.]])
    """
    if method not in ("complete", "average", "single"):
        raise ValueError(f"method: expected 'complete', 'average' or 'single', found {method!r}")
    distances = kernel_distances(K)
    if len(distances) < 2:
        raise ValueError(f"K: expected at least 2 items, found {len(distances)}")
    return linkage(squareform(distances, checks=False), method)


def kernel_map(
    X: Any,
    n_components: int = 2,
    *,
    kernel: Literal["precomputed", "linear"] = "precomputed",
    random_state: int | None = 0,
) -> Floats:
    """Return positions by kernel PCA, for `plot.embedding`: scikit-learn's, with signs that do not depend on chance.

    Parameters
    ----------
    X : kernel matrix (n, n), or features (n, p) with `kernel="linear"`; both give the same positions up to rounding
    n_components : number of dimensions
    kernel : "precomputed" or "linear"
    random_state : seed of the start of the iterative solvers

    Returns
    -------
    positions : (n, n_components) coordinates along the directions of largest spread

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> F = np.random.default_rng(0).normal(size=(10, 4))
    >>> sm.kernel_map(F @ F.T, 2).shape, sm.kernel_map(F, 2, kernel="linear").shape
    ((10, 2), (10, 2))
    """
    if kernel not in _KERNELS:
        raise ValueError(f"kernel: expected 'precomputed' or 'linear', found {kernel!r}")
    most = min(X.shape[0] - 1, X.shape[1]) if kernel == "linear" else len(as_square(np.asarray(X), "X")) - 1
    if not (isinstance(n_components, (int, np.integer)) and 1 <= n_components <= most):
        raise ValueError(f"n_components: expected 1 to {most}, found {n_components!r}")
    if kernel == "precomputed":
        solver = "arpack" if len(X) > 500 and n_components < 50 else "dense"
        method: Any = KernelPCA(n_components, kernel=kernel, eigen_solver=solver, random_state=random_state)
    else:
        tall = X.shape[1] <= min(X.shape[0], 2000)
        sparse_or_wide = "arpack" if sparse.issparse(X) or n_components < 0.1 * most else "full"
        method = PCA(n_components, svd_solver="covariance_eigh" if tall else sparse_or_wide, random_state=random_state)
    positions = np.asarray(method.fit_transform(X), float)
    return positions * np.where(positions[np.abs(positions).argmax(0), np.arange(n_components)] < 0, -1.0, 1.0)
