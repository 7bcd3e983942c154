"""A kernel bent by links: the spectral kernel of Yeung, Chang & Dai (2008), for features and a few links or labels.

The directions of a kernel over the items stay, their lengths are learned: directions that keep linked items together
grow, those that part them shrink. It is a closed form, and landmarks make the cost linear in the number of items. By
default it is bent as far as held-out links prove a gain, and where they prove none the features stay as they are.

Examples
--------
>>> import numpy as np, similitude as sm
>>> rng = np.random.default_rng(0)
>>> corner = rng.integers(0, 4, 300)
>>> X = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + 0.2 * rng.normal(size=(300, 2))
>>> links = sm.Links.from_labels(np.arange(300), corner // 2, n_links=100, random_state=1)
>>> model = sm.SpectralKernel(strength=1.0, random_state=0).fit(X, links)
>>> bool(sm.separation(model.distance(X), corner // 2) > 2.0)
True
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude.kernels import RBF, Cosine, Kernel, Linear, Polynomial
from similitude.methods.held_out_links import (
    CROWD,
    FOLDS,
    ITERATIONS,
    STRENGTHS,
    best_by_links,
    nearness,
    togetherness,
)
from similitude.methods.landmark_maps import (
    LandmarkSpectrum,
    PlainFeatures,
    choose_landmarks,
    in_blocks,
    linear_weights,
)
from similitude.methods.linked_spread import LinkedItems, as_linked
from similitude.settings import check_count, check_number, one_of
from similitude.types import Array, Floats

KERNELS: dict[str, Callable[[Any], Kernel]] = {"rbf": RBF, "linear": Linear, "polynomial": Polynomial, "cosine": Cosine}
MAPS = ("nystroem", "lle")
LANDMARKS = ("random", "kmeans")
MOST_EXACT, MANY = 2_000, 1_000  # items up to which all are landmarks by default; landmarks beyond
PRINTED_ITERATIONS = 3  # of the paper's experiments
Bend = tuple[float | None, int]  # strength and iterations; without a strength the features stay as they are
_STRONGEST = 20.0  # powers beyond leave one direction alone, and overflow
_PRIOR = (
    5  # links whose worth the robust form believes beforehand: that a direction spreads linked items as it does any
)


class SpectralKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k(x, y) = sum_r beta_r² u_r(x) u_r(y): the directions of a kernel, with lengths learned from links.

    The centred kernel is K = sum_r mu_r v_r v_r', u_r(x) is the place of x along v_r, and D_r is the mean of
    (u_r(x_i) - u_r(x_j))² over similar links (i, j).

    `robust=False` is the paper's closed form: beta = c D^-1 1 / (1' D^-1 1), which minimises sum_r beta_r² D_r subject
    to sum_r beta_r = c, with c = sum_r sqrt(mu_r) (a mere scale). It does not depend on mu_r: it whitens, and rewards
    most the directions of noise that happen to vanish on the linked items.

    `robust=True` starts from what the kernel had, and asks of each direction how far it spreads linked items beside how
    far it spreads any two: s_r = (f D_r / B + 5) / (f + 5), where B is the mean over all pairs of landmarks and f the
    number of differences that links tell (linked items less the groups that they form). So few links move little, and
    a direction that vanishes on them by chance does not win. beta_r = sqrt(mu_r) · s_r^-strength, mu <- beta² at each
    iteration, sum_r beta_r = c.

    `strength="auto"` is made to do no harm: each fifth of the links (or of the labelled items) is held out in turn, and
    of the others its partner (one of its class) should stand nearest; both ends of a link should also stay in one
    cluster of k-means. The kernel is bent by the least strength whose gain is beyond twice its standard error, by both
    counts; where none is, k(x, y) is the inner product of the features as they are, centred. So dozens of links bend it
    only where they matter much, as on XOR. What that came to beside the features, in twenty settings, and what given
    strengths do is in `reproduce/results/spectral_kernel.md`: 1/4 mostly helps, 1 parts classes further (J), and more
    than that, or more iterations, loses neighbours.

    Parameters
    ----------
    kernel : "rbf" (median width), "linear", "polynomial", "cosine", or a function that makes a kernel from features:
        a class of `similitude.kernels`, or `functools.partial(sm.kernels.RBF, width=2.0)`
    n_landmarks : the kernel is taken over this many items and costs O(n · n_landmarks²); None takes all items, O(n³);
        "auto" takes all of at most 2,000 items, and 1,000 of more. Linked items come first, then others; where more are
        linked, these are drawn at random
    landmarks : which others: "random", or "kmeans", the items nearest to the centres of k-means
    landmark_map : how other items get their place: "nystroem", the projection onto the span of the landmarks, or
        "lle", the paper's locally linear weights on the nearest landmarks, found anew in the learned metric at each
        iteration. None takes "nystroem" with the robust form, "lle" with the printed one
    robust : which form of the lengths; False is the paper's form as a whole
    strength : how far lengths follow the links, in the robust form; 0 leaves the kernel as it is. "auto" chooses among
        the features as they are and strengths of 1/4, 1/2 and 1
    n_neighbors : number of nearest landmarks of "lle"
    n_iter : how often the lengths are learned, each time from the last ones. With "nystroem" the directions stay, so
        that the printed form does not change after the first. None takes 1 with the robust form, and with the printed
        one 3, as the paper does. "auto" chooses 1, 2 or 3 as for `strength`, and stays at 1 without proof
    dissimilar : how much dissimilar links count. 0 leaves them out, as the paper does; otherwise the robust form
        divides s_r, and the printed one D_r, by the same ratio of dissimilar links to this power: directions that
        part what should be parted grow
    random_state : seed of the draw of landmarks, and of what is held out

    Attributes
    ----------
    landmarks_ : (m,) rows of X that are landmarks
    lengths_ : (q,) beta_r, the length of each direction
    spectrum_ : (q,) mu_r, what the kernel had
    spread_ : (q,) D_r at the last iteration
    strength_, n_iter_ : what was used, or chosen; None and 0 where the features stay as they are (each is then a
        direction)
    embedding_ : (n, q) beta_r u_r of the training items; their inner products are `kernel_`
    kernel_ : (n, n) the learned kernel, formed when it is asked for
    n_features_in_ : number of features

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
        n_landmarks: int | Literal["auto"] | None = "auto",
        *,
        landmarks: Literal["random", "kmeans"] = "random",
        landmark_map: Literal["nystroem", "lle"] | None = None,
        robust: bool = True,
        strength: float | Literal["auto"] = "auto",
        n_neighbors: int = 10,
        n_iter: int | Literal["auto"] | None = None,
        dissimilar: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.landmark_map = landmark_map
        self.robust = robust
        self.strength = strength
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
        if not linked.similar(X[linked.items]).any():
            raise ValueError("links: all linked rows of X have the same features, expected some that differ")
        rng = check_random_state(self.random_state)
        self.landmarks_ = choose_landmarks(X, linked.items, self._count(len(X)), self.landmarks, rng)
        self._directions: LandmarkSpectrum | PlainFeatures = LandmarkSpectrum.of(self._make_kernel(X[self.landmarks_]))
        strength, n_iter = self._chosen(linked, X, rng)
        if strength is None:
            self._directions = PlainFeatures.of(X)
        self._learn(linked, self._coordinates(X, linked.items), strength, n_iter)
        self.embedding_ = self._through(self._coordinates(X, np.arange(len(X))))
        self.embedding_ *= self.lengths_
        return self

    def transform(self, X: Any) -> Floats:
        """Return coordinates (k, q) of items, new ones too: distances and inner products are those of the kernel."""
        check_is_fitted(self, "embedding_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._through(self._directions.coordinates(X)) * self.lengths_

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
        if self.landmark_map is not None:
            one_of("landmark_map", self.landmark_map, MAPS)
        if self.n_landmarks not in (None, "auto"):
            check_count("n_landmarks", self.n_landmarks, 2)
        check_count("n_neighbors", self.n_neighbors)
        one_of("landmarks", self.landmarks, LANDMARKS)
        if self.n_iter not in (None, "auto"):
            check_count("n_iter", self.n_iter)
        if self.strength != "auto":
            _check_power("strength", self.strength)
        _check_power("dissimilar", self.dissimilar)

    def _make_kernel(self, X: Floats) -> Kernel:
        return self.kernel(X) if callable(self.kernel) else KERNELS[self.kernel](X)

    @property
    def _locally_linear(self) -> bool:
        return self.landmark_map == "lle" or (self.landmark_map is None and not self.robust)

    def _count(self, n_items: int) -> int:
        """How many landmarks, at most."""
        if self.n_landmarks == "auto":
            return n_items if n_items <= MOST_EXACT else MANY
        return n_items if self.n_landmarks is None else self.n_landmarks

    def _chosen(self, linked: LinkedItems, X: Floats, rng: np.random.RandomState) -> Bend:
        """The strength and the number of iterations: as given, or those that held-out links ask for."""
        options = self._options()
        if len(options) == 1:
            return options[0]
        crowd = np.sort(rng.permutation(len(X))[:CROWD])
        rows = np.union1d(linked.items, crowd)
        coordinates = self._coordinates(X, rows)

        def place(part: LinkedItems, bend: Bend, wanted: Array) -> Floats:
            if bend[0] is None:
                return X[wanted]
            self._learn(part, coordinates[np.searchsorted(rows, part.items)], *bend)
            return self._through(coordinates[np.searchsorted(rows, wanted)]) * self.lengths_

        proofs = (nearness, togetherness) if linked.for_clusters else (nearness,)
        return best_by_links(linked.folds(FOLDS, crowd, rng), options, place, proofs)

    def _options(self) -> list[Bend]:
        """What there is to choose from: first what needs no proof, then by how far it goes."""
        usual = 1 if self.robust else PRINTED_ITERATIONS
        counts = ITERATIONS if self.n_iter == "auto" else (usual if self.n_iter is None else self.n_iter,)
        if not self.robust:  # which has no strength
            return [(1.0, count) for count in counts]
        if self.strength == "auto":
            return [(None, 0), *sorted(product(STRENGTHS, counts), key=lambda bend: bend[0] * bend[1])]
        return [(self.strength, count) for count in counts]

    def _coordinates(self, X: Floats, rows: Array) -> Floats:
        """u_r of rows of the training items; a landmark's are known."""
        if isinstance(self._directions, PlainFeatures):
            return self._directions.coordinates(X[rows])
        place = np.searchsorted(self.landmarks_, rows).clip(max=len(self.landmarks_) - 1)
        known = self.landmarks_[place] == rows
        found = np.empty((len(rows), len(self._directions.spectrum)))
        found[known] = self._directions.landmarks[place[known]]
        found[~known] = self._directions.coordinates(X[rows[~known]])
        return found

    def _learn(self, linked: LinkedItems, own: Floats, strength: float | None, n_iter: int) -> None:
        """Set the metrics through which a point passes: as the kernel had it, then after each iteration.

        `own` are coordinates of the linked items.
        """
        before = np.sqrt(self._directions.spectrum)
        self._metrics = [before]
        self.spread_ = linked.similar(own)
        for _ in range(n_iter):
            lengths = self._lengths(linked, self._through(own), strength or 0.0)
            self._metrics.append(lengths * before.sum() / lengths.sum())
        self.lengths_ = self._metrics.pop()
        self.spectrum_ = self._directions.spectrum
        self.strength_, self.n_iter_ = strength, n_iter
        self._n_features_out = len(self.lengths_)

    def _lengths(self, linked: LinkedItems, places: Floats, strength: float) -> Floats:
        """beta_r up to scale, from the unit coordinates of linked items."""
        self.spread_ = linked.similar(places)
        apart = linked.dissimilar(places) if self.dissimilar > 0 else None
        ratio = 1.0 if apart is None else self._ratio(apart, linked.differences(similar=False)) ** self.dissimilar
        if not self.robust:
            return printed_lengths(self.spread_ / ratio)
        shrunk = self._ratio(self.spread_, linked.differences(similar=True)) / ratio
        return np.asarray(self._metrics[-1] * shrunk**-strength, np.float64)

    def _ratio(self, spread: Floats, differences: int) -> Floats:
        """s_r = (f D_r / B + 5) / (f + 5); B = 2 / (m - 1) for centred unit directions over m landmarks."""
        usual = 2.0 / (len(self.landmarks_) - 1)
        return (differences * spread / usual + _PRIOR) / (differences + _PRIOR)

    def _through(self, places: Floats) -> Floats:
        """u_r(x), through every metric so far where weights are locally linear."""
        if self._locally_linear:
            for metric in self._metrics:
                places = self._linear(places, metric)
        return places

    def _linear(self, places: Floats, metric: Floats) -> Floats:
        """Return the landmarks' unit coordinates, weighed by locally linear weights of a metric."""
        assert isinstance(self._directions, LandmarkSpectrum)
        landmarks, used = self._directions.landmarks, metric > 0
        count, scaled = min(self.n_neighbors, len(landmarks)), (landmarks * metric)[:, used]

        def combine(rows: Floats) -> Floats:
            nearest, weights = linear_weights((rows * metric)[:, used], scaled, count)
            return np.einsum("ij,ijk->ik", weights, landmarks[nearest])

        per_row = len(landmarks) + count * (count + 2 * landmarks.shape[1])
        return in_blocks(combine, places, landmarks.shape[1], per_row)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _check_power(argument: str, found: Any) -> None:
    check_number(argument, found)
    if found > _STRONGEST:
        raise ValueError(f"{argument}: expected a number from 0 to {_STRONGEST:g}, found {found!r}")


def printed_lengths(spread: Floats) -> Floats:
    """1 / D_r; a spread of exactly 0 gets the least that rounding can tell from 0 (footnote 4 adds a constant)."""
    return 1.0 / np.maximum(spread, np.finfo(float).eps * spread.max() or 1.0)
