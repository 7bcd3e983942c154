"""Kernels straight from comparisons: no optimisation, no dimension to choose (Kleindessner & von Luxburg 2017).

`ComparisonKernel` describes each item by what was said about it and calls items alike of which the same was said:

| kind | item a is described by | so k(a, b) is |
|---|---|---|
| "k1" | how it orders others by closeness: triplets with head a | Kendall's tau of both orders, as far as known |
| "k2" | how others order it: triplets with a as near or far | how often both are, or are not, nearer to i than j is |

k1 needs every item to be a head, k2 every item to stand beside others. Both do best where all items are asked about the
same few landmarks (`landmark_questions`). The features are explicit, so that linear methods on `features_` are kernel
methods without the n × n matrix; `kernel_` forms it.

Examples
--------
>>> import numpy as np, similitude as sm
>>> truth = np.r_[np.zeros(20), np.full(20, 5.0)] + np.random.default_rng(0).normal(size=40)
>>> c = sm.simulate(truth, questions=sm.landmark_questions(40, 6, random_state=1), random_state=2)
>>> features = sm.ComparisonKernel("k1").fit(c).features_
>>> clusters = sm.KernelKMeans(2, kernel="linear", random_state=0).fit_predict(features)
>>> sm.purity(np.arange(40) < 20, clusters)
1.0
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.questions import as_landmarks
from similitude.feedback.shards import Shards
from similitude.methods.base import FeedbackWarning, listing, refuse_empty
from similitude.methods.gram import BLOCK, gram
from similitude.methods.placement import over_known_items
from similitude.methods.vote_features import (
    KINDS,
    TripletVotes,
    landmark_features,
    landmark_pairs,
    only_columns,
    shard_features,
    shard_landmark_features,
    sparse_features,
)
from similitude.types import Array, Column, Floats, Ints


class ComparisonKernel(BaseEstimator):
    """k(a, b) = <f(a), f(b)>, with features made of triplets.

    k1: entry {i, j} of f(a) is (#(a, i, j) - #(a, j, i)) / (#(a, i, j) + #(a, j, i)), i < j; k2: entry (i, j) is
    (#(i, a, j) - #(i, j, a)) / (#(i, a, j) + #(i, j, a)). Here #(h, b, c) is the weight of the comparisons that say "h
    is nearer to b than to c", and 0/0 = 0. Then f(a) is scaled to length 1; it is zero where nothing is known.

    Without repeats this is the paper's (2) and its k2. With repeats the paper scales by one over the root of the number
    of triplets, which is not the length; this is its formula for contradictions, with i < j where i <= j is printed.

    Parameters
    ----------
    kind : "k1" or "k2"
    reduce_diagonal : take the least eigenvalue of the kernel from its diagonal, against diagonal dominance (section
        2.1 of the paper); `features_` stay as they are. It costs O(n³), and does nothing where the kernel is singular:
        for few landmarks always.
    landmarks : items (by position or name) that the comparisons go by: then the features are dense, n × l(l-1)/2 for
        k1 and n × l² for k2, and comparisons that do not follow the design are refused (`landmark_questions`). For k2,
        what was said about a landmark beside an item that is none is left out: it has no column.
    n_items : number of items, where it is more than the comparisons show

    Attributes
    ----------
    features_ : (n, p) a unit vector per item: a CSR matrix over the columns that have votes; dense with landmarks
    columns_ : (p, 2) the items i, j of each column
    kernel_ : (n, n) the kernel, formed when it is first asked for
    empty_ : items of which nothing is known: their features and their row of the kernel are zero
    shift_ : what `reduce_diagonal` takes from the diagonal, known once the kernel was formed
    landmarks_ : the landmarks as ascending indices, or None
    n_items_ : number of items

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 2000, random_state=0)
    >>> model = sm.ComparisonKernel("k1").fit(answers)
    >>> model.kernel_.shape, sm.KernelKMeans(3, random_state=0).fit(model.kernel_).labels_.shape
    ((12, 12), (12,))
    """

    def __init__(
        self,
        kind: Literal["k1", "k2"] = "k1",
        reduce_diagonal: bool = False,
        *,
        landmarks: Column | None = None,
        n_items: int | None = None,
    ) -> None:
        self.kind = kind
        self.reduce_diagonal = reduce_diagonal
        self.landmarks = landmarks
        self.n_items = n_items

    def fit(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Self:
        """Make the features.

        Parameters
        ----------
        comparisons : a `Comparisons` of triplets, or an array of rows `(i, j, k)`; or a `ComparisonDataset` or what
            `spread` makes of it
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        """
        if self.kind not in KINDS:
            raise ValueError(f"kind: expected 'k1' or 'k2', found {self.kind!r}")
        c = self._known(comparisons, y)
        self.n_items_, self._names = c.n_items, c.names
        self.landmarks_ = None if self.landmarks is None else as_landmarks(self.landmarks, c.names, c.n_items)
        self._kernel: Floats | None = None
        self.shift_: float | None = None if self.reduce_diagonal else 0.0
        self.features_, self.columns_ = self._features(c)
        self.empty_ = _empty_rows(self.features_)
        self._warn_of(c, self.empty_)
        return self

    def fit_transform(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Any:
        """Make the features and return them."""
        return self.fit(comparisons, y).features_

    def transform(self, comparisons: ComparisonsLike) -> Any:
        """Return features over the same columns, from other comparisons alone.

        Parameters
        ----------
        comparisons : triplets among the items of the fit and new ones (further names, or positions from `n_items_` on)

        Returns
        -------
        features : a row per item, those of the fit first, new ones after them; zero where these comparisons say
            nothing. A row has length 1 over all that was said, columns that the fit does not have included: k1 of new
            heads with the items of the fit is what a fit on everything together would give.
        """
        check_is_fitted(self, "features_")
        c = over_known_items(as_comparisons(comparisons), self._names, self.n_items_)
        refuse_empty(c)
        _need_triplets(c)
        features, columns = self._features(c)
        empty = _empty_rows(features)
        self._warn_of(c, empty[empty >= self.n_items_])
        if self.landmarks_ is not None:
            return features
        codes, kept = (pairs[:, 0].astype(np.int64) * c.n_items + pairs[:, 1] for pairs in (columns, self.columns_))
        return only_columns(features, codes, kept)

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel, formed when it is first asked for."""
        check_is_fitted(self, "features_")
        if self._kernel is None:
            self._kernel = self.kernel()
        return self._kernel

    def kernel(
        self, comparisons: ComparisonsLike | None = None, *, dtype: npt.DTypeLike = np.float64, block: int = BLOCK
    ) -> npt.NDArray[Any]:
        """Form the kernel: a precomputed kernel for scikit-learn.

        Parameters
        ----------
        comparisons : None for the kernel of the items; else rows between the items of `transform` and these
        dtype : float32 takes half the memory
        block : rows computed at a time: beside the result, memory is needed for one block

        Returns
        -------
        (n, n) array, or (rows of `transform`, n)
        """
        check_is_fitted(self, "features_")
        dtype = np.dtype(dtype)
        if dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype: expected float32 or float64, found {dtype}")
        if not (isinstance(block, (int, np.integer)) and block >= 1):
            raise ValueError(f"block: expected a positive whole number of rows, found {block!r}")
        if comparisons is not None:
            values = self.transform(comparisons) @ self.features_.T
            return np.asarray(values if isinstance(values, np.ndarray) else values.toarray(), dtype)
        K = gram(self.features_, dtype, block)
        if self.reduce_diagonal:
            if self.shift_ is None:
                self.shift_ = self._least_eigenvalue(K)
            K[np.diag_indices_from(K)] -= self.shift_
        return K

    def _least_eigenvalue(self, K: Array) -> float:
        """Return the least eigenvalue; 0, with a warning, where the kernel is singular up to rounding."""
        least, n = 0.0, len(K)
        if self.features_.shape[1] >= n and not len(self.empty_):
            least = float(linalg.eigh(K, eigvals_only=True, subset_by_index=[0, 0])[0])
        if least <= 10 * n * np.finfo(K.dtype).eps:
            warnings.warn(
                "reduce_diagonal: the kernel is singular (its least eigenvalue is 0), so there is nothing to take from "
                "its diagonal",
                UserWarning,
                stacklevel=3,
            )
            return 0.0
        return least

    def _known(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None) -> Comparisons | Shards:
        """Return what to learn from, checked; a dataset is checked as it is read."""
        if isinstance(comparisons, Shards):
            if y is not None or self.n_items not in (None, comparisons.n_items):
                raise ValueError("y, n_items: a dataset says by itself which way comparisons go; leave them out")
            return comparisons
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        _need_triplets(c)
        return c

    def _shard_features(self, shards: Shards) -> tuple[Any, Ints]:
        if self.landmarks_ is None:
            features, codes = shard_features(shards, self.kind)
            return features, np.column_stack(np.divmod(codes, shards.n_items)).astype(np.int32)
        first, second = landmark_pairs(len(self.landmarks_), self.kind)
        dense = shard_landmark_features(shards, self.kind, self.landmarks_)
        return dense, self.landmarks_[np.column_stack([first, second])]

    def _features(self, c: Comparisons | Shards) -> tuple[Any, Ints]:
        if isinstance(c, Shards):
            return self._shard_features(c)
        votes = TripletVotes(c, self.kind)
        if self.landmarks_ is None:
            features, codes = sparse_features(votes)
            return features, np.column_stack(np.divmod(codes, c.n_items)).astype(np.int32)
        _need_design(c, self.kind, self.landmarks_)
        first, second = landmark_pairs(len(self.landmarks_), self.kind)
        return landmark_features(votes, self.landmarks_), self.landmarks_[np.column_stack([first, second])]

    def _warn_of(self, c: Comparisons | Shards, empty: Ints) -> None:
        if len(empty):
            missing = "as head" if self.kind == "k1" else "as near or far"
            warnings.warn(
                f"{len(empty)} of {c.n_items} items have the zero vector for features, since no triplet has them "
                f"{missing} or their answers cancel: {listing(c, empty)}",
                FeedbackWarning,
                stacklevel=3,
            )


def _empty_rows(features: Any) -> Ints:
    filled = features.any(1) if isinstance(features, np.ndarray) else np.diff(features.indptr) > 0
    return np.flatnonzero(~filled).astype(np.int32)


def _need_triplets(c: Comparisons) -> None:
    if not c.is_triplet.all():
        row = int(np.flatnonzero(~c.is_triplet)[0])
        pairs = [f"({c.label(i)}, {c.label(j)})" for i, j in (c.near[row], c.far[row])]
        raise ValueError(
            f"comparisons: expected triplets, whose two pairs share an item, found {pairs[0]} over {pairs[1]} in row "
            f"{row}, and {int((~c.is_triplet).sum())} such in all; use an embedding or RCKL for these"
        )


def _need_design(c: Comparisons, kind: str, landmarks: Ints) -> None:
    """Refuse comparisons that a landmark design has no question for."""
    among = np.zeros(c.n_items, bool)
    among[landmarks] = True
    near, far = among[c.near[:, 1]], among[c.far[:, 1]]
    follows = near & far if kind == "k1" else among[c.near[:, 0]] & (near | far)
    if not follows.all():
        row = int(np.flatnonzero(~follows)[0])
        rule = "near and far are landmarks" if kind == "k1" else "the head and one of near and far are landmarks"
        head, closer, other = (c.label(item) for item in (*c.near[row], c.far[row, 1]))
        raise ValueError(
            f"landmarks: expected comparisons of which {rule} ({kind}), found ({head}, {closer}, {other}) in row "
            f"{row}, and {int((~follows).sum())} such in all; leave landmarks out for features of any triplets"
        )
