"""similitude as its users call it: default parameters."""

from __future__ import annotations

import sys

from serve import serve

import similitude as sm


def fit(method, triplets, n, d, seed, **parameters):
    estimator = getattr(sm, method)(n_components=d, n_items=n, random_state=seed, **parameters)
    estimator.fit(triplets)
    return estimator.embedding_, estimator.n_iter_


def objective(method, triplets, n, d):
    raise NotImplementedError


if __name__ == "__main__":
    serve(sys.modules[__name__])
