"""A kernel bent by links: the spectral kernel of Yeung, Chang & Dai (2008), for features and a few links or labels.

The directions of a kernel over the items stay, their lengths are learned: directions that keep linked items together
grow, those that part them shrink. It is a closed form, and landmarks make the cost linear in the number of items.

Examples
--------
>>> import numpy as np, similitude as sm
>>> rng = np.random.default_rng(0)
>>> corner = rng.integers(0, 4, 300)
>>> X = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + 0.2 * rng.normal(size=(300, 2))
>>> links = sm.Links.from_labels(np.arange(300), corner // 2, n_links=100, random_state=1)
>>> model = sm.SpectralKernel(random_state=0).fit(X, links)
>>> bool(sm.separation(model.distance(X), corner // 2) > 2.0)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude.kernels import RBF, Cosine, Kernel, Linear, Polynomial
from similitude.methods.landmark_maps import LandmarkSpectrum, in_blocks, linear_weights
from similitude.methods.linked_spread import LinkedItems, as_linked
from similitude.methods.settings import check_count, check_number
from similitude.types import Array, Floats

KERNELS: dict[str, Callable[[Any], Kernel]] = {"rbf": RBF, "linear": Linear, "polynomial": Polynomial, "cosine": Cosine}
MAPS = ("nystroem", "lle")
_SHARE = 0.99  # of the spectrum: the leading directions that hold it are learned by the robust form
_FLOOR = 0.1  # of the median spread, added to every spread by the robust form


class SpectralKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k(x, y) = sum_r beta_r² u_r(x) u_r(y): the directions of a kernel, with lengths learned from links.

    The centred kernel is K = sum_r mu_r v_r v_r', u_r(x) is the place of x along v_r, and D_r is the mean of
    (u_r(x_i) - u_r(x_j))² over similar links (i, j).

    `robust=False` is the paper's closed form: beta = c D^-1 1 / (1' D^-1 1), which minimises sum_r beta_r² D_r subject
    to sum_r beta_r = c, with c = sum_r sqrt(mu_r) (a mere scale). It does not depend on mu_r: it whitens, and rewards
    most the directions of noise that happen to vanish on the linked items.

    `robust=True` keeps to the leading directions that hold 99 % of the spectrum, and shrinks towards what the kernel
    had: beta_r = sqrt(mu_r) · med(D) / (D_r + 0.1 med(D)), mu <- beta² at each iteration, sum_r beta_r = c.

    Parameters
    ----------
    kernel : "rbf" (median width), "linear", "polynomial", "cosine", or a function that makes a kernel from features:
        a class of `similitude.kernels`, or `functools.partial(sm.kernels.RBF, width=2.0)`
    n_landmarks : the kernel is taken over this many items and costs O(n · n_landmarks); None takes all items, O(n³).
        Linked items come first, then others at random; where more are linked, these are drawn at random
    landmark_map : how other items get their place: "nystroem", the projection onto the span of the landmarks, or
        "lle", the paper's locally linear weights on the nearest landmarks, found anew in the learned metric at each
        iteration
    robust : which form of the lengths
    n_neighbors : number of nearest landmarks of "lle"
    n_iter : how often the lengths are learned, each time from the last ones. With "nystroem" the directions stay, so
        that the printed form does not change after the first
    dissimilar : how much dissimilar links count. 0 leaves them out, as the paper does; otherwise D_r is divided by
        (N_r / med(N) + 0.1) to this power, with N_r the spread of dissimilar links: directions that part what should
        be parted grow
    random_state : seed of the draw of landmarks

    Attributes
    ----------
    landmarks_ : (m,) rows of X that are landmarks
    lengths_ : (q,) beta_r, the length of each direction
    spectrum_ : (q,) mu_r, what the kernel had
    spread_ : (q,) D_r at the last iteration
    embedding_ : (n, q) beta_r u_r of the training items; their inner products are `kernel_`
    kernel_ : (n, n) the learned kernel, formed when it is asked for

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> rng = np.random.default_rng(0)
    >>> X = np.hstack([np.repeat([0.0, 3.0], 20)[:, None], rng.normal(size=(40, 3))])
    >>> links = sm.Links.from_labels(range(0, 40, 4), np.repeat([0, 1], 5), n_items=40)
    >>> model = sm.SpectralKernel(random_state=0).fit(X, links)
    >>> model.kernel_.shape, model.transform(X[:2]).shape[0]
    ((40, 40), 2)
    """

    def __init__(
        self,
        kernel: Literal["rbf", "linear", "polynomial", "cosine"] | Callable[[Any], Kernel] = "rbf",
        n_landmarks: int | None = None,
        *,
        landmark_map: Literal["nystroem", "lle"] = "nystroem",
        robust: bool = True,
        n_neighbors: int = 10,
        n_iter: int = 3,
        dissimilar: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmark_map = landmark_map
        self.robust = robust
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.dissimilar = dissimilar
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the lengths.

        Parameters
        ----------
        X : (n, d) features
        y : a `Links` among the rows of X; or a label per row, -1 where it is unknown: rows of one class are similar
        """
        self._check_settings()
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        linked = as_linked(y, len(X))
        self.landmarks_ = self._choose_landmarks(linked.items, len(X))
        self._directions = LandmarkSpectrum.of(self._make_kernel(X[self.landmarks_]))
        self._learn(linked, X[linked.items])
        self.embedding_ = self._place(X)
        return self

    def transform(self, X: Any) -> Floats:
        """Return coordinates (k, q) of items, new ones too: distances and inner products are those of the kernel."""
        check_is_fitted(self, "embedding_")
        return self._place(validate_data(self, X, dtype=np.float64, reset=False))

    @property
    def kernel_(self) -> Floats:
        """(n, n) the learned kernel over the training items."""
        check_is_fitted(self, "embedding_")
        return self.embedding_ @ self.embedding_.T

    def distance(self, X: Any, Y: Any = None) -> Floats:
        """Return learned distances between the rows of X and those of Y (of X, when not given)."""
        places = self.transform(X)
        return euclidean_distances(places, None if Y is None else self.transform(Y))

    def _check_settings(self) -> None:
        if not callable(self.kernel) and self.kernel not in KERNELS:
            raise ValueError(f"kernel: expected one of {', '.join(KERNELS)} or a function, found {self.kernel!r}")
        if self.landmark_map not in MAPS:
            raise ValueError(f"landmark_map: expected 'nystroem' or 'lle', found {self.landmark_map!r}")
        check_count("n_landmarks", 2 if self.n_landmarks is None else self.n_landmarks, 2)
        check_count("n_neighbors", self.n_neighbors)
        check_count("n_iter", self.n_iter)
        check_number("dissimilar", self.dissimilar)

    def _make_kernel(self, X: Floats) -> Kernel:
        return self.kernel(X) if callable(self.kernel) else KERNELS[self.kernel](X)

    def _choose_landmarks(self, linked: Array, n: int) -> Array:
        if self.n_landmarks is None or self.n_landmarks >= n:
            return np.arange(n)
        rng = check_random_state(self.random_state)
        others = rng.permutation(np.setdiff1d(np.arange(n), linked))
        return np.sort(np.concatenate([rng.permutation(linked), others])[: self.n_landmarks])

    def _learn(self, linked: LinkedItems, X: Floats) -> None:
        """Set the metrics through which a point passes: as the kernel had it, then after each iteration."""
        spectrum = self._directions.spectrum
        first = np.searchsorted(np.cumsum(spectrum), _SHARE * spectrum.sum()) + 1
        width = min(int(first), len(spectrum)) if self.robust else len(spectrum)
        self._metrics = [np.sqrt(spectrum)]
        for _ in range(self.n_iter):
            places = self._unit(X)[:, :width]
            self.spread_ = self._spread(linked, places)
            lengths = np.zeros(len(spectrum))
            lengths[:width] = learned_lengths(self.spread_, self._metrics[-1][:width], self.robust)
            lengths *= np.sqrt(spectrum[:width]).sum() / lengths.sum()
            self._metrics.append(lengths)
        self.lengths_ = self._metrics.pop()[:width]
        self.spectrum_ = spectrum[:width]
        self._n_features_out = width

    def _spread(self, linked: LinkedItems, places: Floats) -> Floats:
        spread = linked.similar(places)
        apart = linked.dissimilar(places) if self.dissimilar > 0 else None
        if apart is not None and np.median(apart) > 0:
            spread = spread / (apart / np.median(apart) + _FLOOR) ** self.dissimilar
        if not spread.any():
            raise ValueError("links: all linked rows of X have the same features, expected some that differ")
        return spread

    def _unit(self, X: Floats) -> Floats:
        """u_r(x), through every metric so far where weights are locally linear."""
        if self.landmark_map == "nystroem":
            return self._directions.coordinates(X)
        places = self._directions.coordinates(X)
        for metric in self._metrics:
            places = self._linear(places, metric)
        return places

    def _linear(self, places: Floats, metric: Floats) -> Floats:
        """Return the landmarks' unit coordinates, weighed by locally linear weights of a metric."""
        landmarks, used = self._directions.landmarks, metric > 0
        count, scaled = min(self.n_neighbors, len(landmarks)), (landmarks * metric)[:, used]

        def combine(rows: Floats) -> Floats:
            nearest, weights = linear_weights((rows * metric)[:, used], scaled, count)
            return np.einsum("ij,ijk->ik", weights, landmarks[nearest])

        per_row = len(landmarks) + count * (count + 2 * landmarks.shape[1])
        return in_blocks(combine, places, landmarks.shape[1], per_row)

    def _place(self, X: Floats) -> Floats:
        width = len(self.lengths_)
        if self.landmark_map == "nystroem":
            return self._directions.coordinates(X, width) * self.lengths_
        return self._unit(X)[:, :width] * self.lengths_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def learned_lengths(spread: Floats, before: Floats, robust: bool) -> Floats:
    """beta_r up to scale: sqrt(mu_r) · med(D) / (D_r + 0.1 med(D)), or 1 / D_r as printed.

    A spread of exactly 0 gets the least that rounding can tell from 0 (the paper's footnote 4 adds a constant).
    """
    if not robust:
        return 1.0 / np.maximum(spread, np.finfo(float).eps * spread.max())
    middle = float(np.median(spread)) or float(spread.mean())
    return before * middle / (spread + _FLOOR * middle)
