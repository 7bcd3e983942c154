"""Fitted models of every kind that a file must hold, small: name -> (model, answers, vectors or None)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import similitude as sm
from tests.contracts.registry import ESTIMATORS
from tests.contracts.test_estimators import FEATURES, TRUTH, answers, given_to, learned
from tests.seeds import cached

NEW = np.random.default_rng(7).normal(size=(6, 4))
COUNTS, NEW_COUNTS = np.round(np.exp(FEATURES)), np.round(np.exp(NEW))
NAMES = [f"item {k}, «é»" for k in range(len(TRUTH))]
K = sm.kernels


@cached
def by_raters() -> sm.Comparisons:
    """Answers of two minds, one sharp and one dull rater each."""
    other = TRUTH[::-1] * [1.0, 3.0]
    parts = [
        sm.simulate(X, 250, raters=sm.Raters.of([sharp], names=[who]), names=NAMES, random_state=k)
        for k, (X, sharp, who) in enumerate(
            [(TRUTH, 8.0, "ann"), (TRUTH, 0.5, "ben"), (other, 8.0, "çelik"), (other, 4.0, "d, e")]
        )
    ]
    return sm.Comparisons.concatenate(parts)


def of_features(model: Any, features: Any, vectors: Any) -> tuple[Any, sm.Comparisons, Any]:
    return model.fit(answers(), features=features), answers(), vectors


def mixed() -> tuple[Any, sm.Comparisons, Any]:
    triplets = answers()[:300]
    odd = sm.simulate(TRUTH, 200, "odd_one_out", random_state=5)
    pairs = np.array([(i, j) for i in range(15) for j in range(i)])
    gap = np.linalg.norm(TRUTH[pairs[:, 0]] - TRUTH[pairs[:, 1]], axis=1)
    ratings = sm.Ratings.of(pairs, np.digitize(gap, [0.8, 1.6, 2.4]), larger="different")
    links = sm.Links.from_pairs(similar=pairs[gap < 1.0], dissimilar=pairs[gap > 2.5], n_items=15)
    c = sm.Comparisons.concatenate([triplets, odd])
    return sm.MixedEmbedding(2, weights={}, random_state=0).fit(c, ratings=ratings, links=links), triplets, None


def weighed() -> tuple[Any, sm.Comparisons, Any]:
    """Raters each of whom sees one of two dimensions: weights surely help."""
    who = [f"rater {k}" for k in range(6)]
    parts = [
        sm.simulate(
            TRUTH * ([1.7, 0.1] if k % 2 else [0.1, 1.7]), 150, raters=sm.Raters.of([2.0], names=[name]), names=NAMES,
            random_state=k,
        )
        for k, name in enumerate(who)
    ]  # fmt: skip
    c = sm.Comparisons.concatenate(parts)
    model = sm.ChoiceEmbedding(4, similarity="distance", raters="weights", random_state=0).fit(c)
    assert model.spread_ > 0
    return model, c, None


def from_registry(name: str) -> tuple[Any, sm.Comparisons, Any]:
    model = learned(ESTIMATORS[name])
    return model, answers(), NEW if given_to(model) else None


KERNELS: dict[str, tuple[Any, Any]] = {
    "rbf": (K.RBF(FEATURES), NEW),
    "polynomial": (K.Polynomial(FEATURES, degree=3), NEW),
    "chi-square": (K.ChiSquare(COUNTS), NEW_COUNTS),
    "cosine of counts": (K.Cosine(COUNTS, tfidf=True), NEW_COUNTS),
    "given values": (K.Precomputed(FEATURES @ FEATURES.T), NEW @ FEATURES.T),
    "linear with gaps": (np.where(np.arange(15)[:, None] == 4, np.nan, FEATURES), NEW),
    "gaussians": (K.Bhattacharyya((FEATURES, np.exp(FEATURES))), (NEW, np.exp(NEW))),
    "centred": (K.Centred(K.RBF(FEATURES)), NEW),
    "sum": (K.Sum([K.UnitTrace(FEATURES), K.Scaled(K.Cosine(FEATURES), 2.0)]), [NEW, NEW]),
}
MODELS: dict[str, Callable[[], tuple[Any, sm.Comparisons, Any]]] = {
    **{name: lambda name=name: from_registry(name) for name in ESTIMATORS},
    "ChoiceEmbedding, people who cannot tell": lambda: (
        sm.ChoiceEmbedding(2, cant_tell=0.3, random_state=0).fit(answers()), answers(), None,
    ),
    "ChoiceEmbedding, raters who weigh dimensions": weighed,
    "RaterEmbedding, raters who lapse": lambda: (
        sm.RaterEmbedding(2, lapse=True, random_state=0).fit(by_raters()), by_raters(), None,
    ),
    "GroupEmbedding, two maps": lambda: (
        sm.GroupEmbedding(2, n_groups=2, random_state=0).fit(by_raters()), by_raters(), None,
    ),
    "GroupEmbedding, two weights": lambda: (
        sm.GroupEmbedding(2, n_groups=2, differ="weights", random_state=0).fit(by_raters()), by_raters(), None,
    ),
    "MixedEmbedding, four forms": mixed,
    "AutoSimilarity, features": lambda: of_features(
        sm.AutoSimilarity(
            candidates=[sm.FeatureEmbedding(2), sm.RankProjection(2)], dimensions=(2,), n_folds=2, random_state=0
        ),
        FEATURES, NEW,
    ),
    "FeatureEmbedding, waves": lambda: of_features(
        sm.FeatureEmbedding(2, map="fourier", random_state=0), {"look": FEATURES, "tags": K.Cosine(COUNTS)},
        {"look": NEW, "tags": NEW_COUNTS},
    ),
    "MKPOE, two modalities": lambda: of_features(
        sm.MKPOE(), {"look": FEATURES, "tags": K.Cosine(COUNTS)}, {"look": NEW, "tags": NEW_COUNTS}
    ),
    "LPOE, diagonal": lambda: of_features(sm.LPOE(diagonal=True), FEATURES, NEW),
    "KPOE, diagonal": lambda: of_features(sm.KPOE(diagonal=True), K.RBF(FEATURES), NEW),
    **{
        f"KPOE, {name}": lambda case=case: of_features(sm.KPOE(loss="logistic"), *case)
        for name, case in KERNELS.items()
    },
    **{
        f"DRankingVM, {kind}": lambda kind=kind: of_features(
            sm.DRankingVM(kernel="rbf", pair_kernel=kind, rank=6), FEATURES, NEW
        )
        for kind in ("metric", "product", "sum")
    },
}  # fmt: skip
