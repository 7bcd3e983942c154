"""Learned similarity as a step of a pipeline: vectors in, positions out, answers beside.

A step of scikit-learn gets a table X with a row per item, and cross-validation takes rows out of it. Comparisons are
about items, so they cannot be cut like X: they are given to the constructor, and each table says which items its rows
are (its index, or `items`). Rows that are held out take their comparisons with them.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude.engine.distances import pair_sqdist
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import as_integers
from similitude.feedback.splitting import among
from similitude.methods.feature_base import FeatureEstimator
from similitude.methods.feature_embedding import FeatureEmbedding
from similitude.methods.similarity import share_right
from similitude.types import Array, Column, Floats, Ints


class SimilarityTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Vectors to positions in which what people find alike is near: a step for `Pipeline` and `ColumnTransformer`.

    Rows of X are items. A table with an index (of pandas) names them; the steps before must keep it
    (`set_output(transform="pandas")`). Rows of an array are the items in their order, all of them, or those that
    `items` names, which scikit-learn's metadata routing cuts like X.

    `fit` learns from the comparisons among the rows that it gets, and `transform` goes by vectors alone, so that it
    places rows that it has never seen as it places those that it learned from. `score` is the share of comparisons
    ordered correctly: those among the rows that it gets, or between these and the rows of `fit`, of which `fit` has
    seen none. So in cross-validation no answer is on both sides.

    Parameters
    ----------
    comparisons : answers about the rows: `Comparisons`, or an array of rows `(i, j, k)`, "i is more like j than like k"
    estimator : a method that learns from features, `FeatureEmbedding()` when not given; its settings are reached as
        `estimator__penalty`, say

    Attributes
    ----------
    estimator_ : the method, fitted
    items_ : (n,) which item each row of `fit` is, by its position among the items of the comparisons; -1 where they do
        not know it
    embedding_ : (n, d) positions of the rows of `fit`
    n_features_in_ : number of columns of X; their names, where they have some, are `feature_names_in_`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> answers = sm.simulate(X[:, :2], 800, random_state=0)  # the third column means nothing to people
    >>> step = sm.SimilarityTransformer(answers, sm.FeatureEmbedding(2, random_state=0))
    >>> line = make_pipeline(StandardScaler(), step).fit(X)
    >>> line.transform(X[:3]).shape, line.score(X) > 0.9
    ((3, 2), True)
    """

    def __init__(self, comparisons: ComparisonsLike | None = None, estimator: FeatureEstimator | None = None) -> None:
        self.comparisons = comparisons
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None, *, items: Column | None = None) -> Self:
        """Learn from the comparisons among the rows.

        Parameters
        ----------
        X : (n, d) vectors, a row per item
        y : not used
        items : the item of each row, by name or position, where X does not say it
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        c = self._comparisons()
        self.items_ = _items_of(X, items, c, len(rows))
        self._tell_unknown(X, items, c)
        place = np.full(c.n_items, -1)
        place[self.items_[self.items_ >= 0]] = np.flatnonzero(self.items_ >= 0)
        known = among(c, place, len(rows))
        if not len(known):
            raise ValueError(
                f"comparisons: none of the {len(c):,} is about these {len(rows)} rows alone, so that nothing can be "
                "learned; give more rows, or comparisons about them"
            )
        self.estimator_ = clone(FeatureEmbedding() if self.estimator is None else self.estimator)
        self.estimator_.fit(known, features=rows)
        self.embedding_ = self.estimator_.transform(rows)
        self._n_features_out = self.embedding_.shape[1]
        return self

    def transform(self, X: Any) -> Floats:
        """(m, d) positions of rows, by their vectors alone."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.transform(validate_data(self, X, dtype=np.float64, reset=False))

    def score(self, X: Any, y: Any = None, *, items: Column | None = None, sample_weight: None = None) -> float:
        """Share of comparisons ordered correctly: those that `fit` has not seen, if there are rows that it has not.

        Parameters
        ----------
        X : (m, d) vectors, a row per item
        y : not used
        items : the item of each row, by name or position, where X does not say it
        sample_weight : None, which pipelines hand over; comparisons have weights of their own
        """
        check_is_fitted(self, "estimator_")
        if sample_weight is not None:
            raise ValueError(
                "sample_weight: found weights of rows, expected none; comparisons have weights of their own"
            )
        c, rows = self._comparisons(), validate_data(self, X, dtype=np.float64, reset=False)
        here = _items_of(X, items, c, len(rows))
        positions = np.vstack([self.embedding_, self.estimator_.transform(rows)])
        place = np.full(c.n_items, -1)
        for codes, start in ((self.items_, 0), (here, len(self.items_))):  # a row of X stands where X puts it
            place[codes[codes >= 0]] = start + np.flatnonzero(codes >= 0)
        asked = among(c.rows(self._asked(c, here)), place, len(positions))
        if not len(asked):
            raise ValueError(
                "comparisons: none is about these rows and those of `fit` alone, so that there is nothing to score; "
                "hold out more rows"
            )
        return share_right(asked, pair_sqdist(positions, asked.far) - pair_sqdist(positions, asked.near))

    def _tell_unknown(self, X: Any, items: Column | None, c: Comparisons) -> None:
        """Warn of rows that no comparison can be about: their names may be misspelt."""
        unknown = np.flatnonzero(self.items_ < 0)
        if len(unknown):
            labels = np.asarray(X.index if items is None else items)[unknown]
            warnings.warn(
                f"items: {len(unknown)} of {len(self.items_)} rows are not among the {c.n_items} items of the "
                f"comparisons ({', '.join(str(label) for label in labels[:5])}), so that nothing is learned from them",
                stacklevel=3,
            )

    def _asked(self, c: Comparisons, here: Ints) -> Array:
        """The comparisons about rows that are new since `fit`; where none is new, those about the rows alone."""
        new = np.setdiff1d(here, self.items_)
        if len(new):
            return np.flatnonzero(np.isin(c.quadruplets, new).any(1))
        return np.flatnonzero(np.isin(c.quadruplets, here).all(1))

    def _comparisons(self) -> Comparisons:
        if self.comparisons is None:
            raise ValueError(
                "comparisons: found none, expected answers about the rows of X: SimilarityTransformer(comparisons=...)"
            )
        return as_comparisons(self.comparisons)


def _items_of(X: Any, items: Column | None, c: Comparisons, count: int) -> Ints:
    """Which item each of so many rows is, by position among the items of the comparisons; -1 where they lack it."""
    index = getattr(X, "index", None)
    labels = items if items is not None or index is None or callable(index) else index
    if labels is None:
        return _all_in_order(c, count)
    codes = _codes(np.asarray(labels), c)
    if codes.shape != (count,):
        raise ValueError(f"items: found {codes.size}, expected {count}, one for each row of X")
    if c.names is not None and (codes < 0).all():
        raise ValueError(
            f"items: no row is one of the {c.n_items} items ({c.names[0]}, ...); the rows are called "
            f"{', '.join(str(label) for label in np.asarray(labels)[:3])}: give X an index of item names, or items="
        )
    known = codes[codes >= 0]
    if len(np.unique(known)) < len(known):
        again = c.label(int(np.flatnonzero(np.bincount(known) > 1)[0]))
        raise ValueError(f"items: {again} has more than one row, expected a row per item")
    return codes


def _codes(labels: Array, c: Comparisons) -> Ints:
    """The position of each label among the items of the comparisons; -1 where there is none."""
    if c.names is not None:
        place = {name: k for k, name in enumerate(c.names)}
        return np.array([place.get(str(label), -1) for label in labels.ravel()], np.int32).reshape(labels.shape)
    codes = as_integers(labels, "items")
    return np.where((codes >= 0) & (codes < c.n_items), codes, -1).astype(np.int32)


def _all_in_order(c: Comparisons, count: int) -> Ints:
    """Rows that do not say which items they are: all items, in their order."""
    if count != c.n_items:
        raise ValueError(
            f"X: found {count} rows, but the comparisons are about {c.n_items} items, and X does not say which of them "
            "its rows are. Give a table of pandas whose index holds the items (a step before keeps it with "
            'set_output(transform="pandas")), or items=; where X has rows that nobody compared, '
            f"comparisons.with_items(n_items={count})"
        )
    return np.arange(count, dtype=np.int32)
