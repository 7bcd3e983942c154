"""Every kernel that must pass the contract. A new kernel joins by a line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import similitude as sm
from similitude.kernels import Kernel

N, M, D = 9, 4, 3


@dataclass
class Case:
    """A kernel, the features it was made of, features of new items, and how to take or blank out rows of features."""

    name: str
    kernel: Kernel
    features: Any
    new: Any
    take: Callable[[Any, Any], Any]
    blank: Callable[[Any, int], Any]  # the features, with those of one item missing


def take_rows(features, rows):
    """Rows of an array, or of each array in a tuple, list or dict."""
    if isinstance(features, dict):
        return {name: take_rows(part, rows) for name, part in features.items()}
    if isinstance(features, (tuple, list)):
        return type(features)(take_rows(part, rows) for part in features)
    return features[rows]


def blank_row(features, row):
    """The same features, NaN throughout for one item."""
    if isinstance(features, dict):
        return {name: blank_row(part, row) for name, part in features.items()}
    if isinstance(features, (tuple, list)):
        return type(features)(blank_row(part, row) for part in features)
    result = features.astype(float)
    result[row] = np.nan
    return result


def take_block(K, rows):
    return K[np.ix_(rows, rows)]


def blank_block(K, row):
    result = blank_row(K, row)
    result[:, row] = np.nan
    return result


def covariances(rng, *shape, full):
    if not full:
        return rng.uniform(0.3, 2.0, size=(*shape, D))
    root = rng.normal(size=(*shape, D, D))
    return root @ np.swapaxes(root, -1, -2) + 0.3 * np.eye(D)


def gaussians(rng, count, *, full):
    return rng.normal(size=(count, D)), covariances(rng, count, full=full)


def mixtures(rng, count, *, full, parts=2):
    weights = rng.dirichlet(np.ones(parts), size=count)
    weights[0] = np.eye(parts)[0]  # a shorter mixture, filled up
    return weights, rng.normal(size=(count, parts, D)), covariances(rng, count, parts, full=full)


def cases() -> list[Case]:
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(N, D)), rng.normal(size=(M, D))
    counts, new_counts = rng.poisson(1.5, size=(N, 6)) + np.eye(N, 6), rng.poisson(1.5, size=(M, 6)) + np.eye(M, 6)
    counts[-3:, 0] += 1
    kernels = sm.kernels
    root = rng.normal(size=(N, D + 1))
    K = root @ root.T

    def of(kind, features, new, name="", **settings):
        return Case(name or kind.__name__, kind(features, **settings), features, new, take_rows, blank_row)

    def around(kind, *arguments, inner=kernels.Linear):
        return Case(kind.__name__, kind(inner(X), *arguments), X, Y, take_rows, blank_row)

    both, new_both = [X, counts], [Y, new_counts]
    named = {"shape": X, "tags": counts}
    found = [
        of(kernels.Linear, X, Y),
        of(kernels.Polynomial, X, Y, degree=3, offset=0.5),
        of(kernels.RBF, X, Y),
        of(kernels.RBF, X + 1e4, Y + 1e4, "RBF far from the origin", width=0.7),
        of(kernels.ChiSquare, counts, new_counts),
        of(kernels.Cosine, X, Y),
        of(kernels.Cosine, counts, new_counts, "Cosine of tf-idf", tfidf=True),
        *(
            of(kind, sample(rng, N, full=full), sample(rng, M, full=full), f"{kind.__name__}, full={full}")
            for kind, sample in ((kernels.Bhattacharyya, gaussians), (kernels.ExpectedLikelihood, mixtures))
            for full in (False, True)
        ),
        of(
            kernels.ExpectedLikelihood, mixtures(rng, N, full=True), mixtures(rng, M, full=True, parts=3),
            "ExpectedLikelihood as it is", normalise=False,
        ),
        Case("Precomputed", kernels.Precomputed(K), K, rng.normal(size=(M, D + 1)) @ root.T, take_block, blank_block),
        Case("Sum", kernels.Sum([kernels.RBF(X), kernels.ChiSquare(counts)]), both, new_both, take_rows, blank_row),
        Case(
            "Sum by name", kernels.Sum({"shape": X, "tags": kernels.Cosine(counts)}), named,
            {"shape": Y, "tags": new_counts}, take_rows, blank_row,
        ),
        around(kernels.Scaled, 0.3),
        around(kernels.Centred, inner=kernels.RBF),
        around(kernels.UnitTrace),
    ]  # fmt: skip
    public = {value for value in vars(kernels).values() if isinstance(value, type) and issubclass(value, Kernel)}
    assert {type(case.kernel) for case in found} == {kind for kind in public if not inspect.isabstract(kind)}
    assert _concrete(Kernel) <= public, "a kernel is not public"
    return found


def _concrete(kind) -> set[type]:
    below = {kind for kind in kind.__subclasses__() for kind in (_concrete(kind) | {kind})}
    return {kind for kind in below if kind.__module__.startswith("similitude.") and not inspect.isabstract(kind)}
