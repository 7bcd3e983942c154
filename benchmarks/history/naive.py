"""The core operations as one would write them first: numpy, scipy and plain Python, nothing of the package.

These are what our times are divided by, so that two machines compare. Changing one begins its history anew.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Curve = Callable[[Floats], tuple[Floats, Floats]]

SCALES: dict[str, Curve] = {
    "STE": lambda t: (t, np.ones_like(t)),
    "TSTE": lambda t: (2.5 * np.log(1 + t / 4), 2.5 / (4 + t)),  # alpha = 4: five dimensions less one
    "CKL": lambda t: (np.log(0.05 + t), 1 / (0.05 + t)),
    "SOE": lambda t: (np.sqrt(t + 1e-6), 0.5 / np.sqrt(t + 1e-6)),
    "GNMDS": lambda t: (t, np.ones_like(t)),
}
SHAPES: dict[str, Curve] = {
    "STE": lambda m: (np.logaddexp(0, -m), -expit(-m)),
    "TSTE": lambda m: (np.logaddexp(0, -m), -expit(-m)),
    "CKL": lambda m: (np.logaddexp(0, -m), -expit(-m)),
    "SOE": lambda m: (np.maximum(1 - m, 0) ** 2, -2 * np.maximum(1 - m, 0)),
    "GNMDS": lambda m: (np.maximum(1 - m, 0), -(m < 1).astype(float)),
}


def gradient(method: str, X: Floats, triplets: Ints) -> tuple[float, Floats]:
    """Mean loss of triplets (head, near, far) and its gradient by the positions."""
    head, near, far = triplets.T
    to_near, to_far = X[head] - X[near], X[head] - X[far]
    (low, slope_near), (high, slope_far) = (SCALES[method]((step**2).sum(1)) for step in (to_near, to_far))
    value, slope = SHAPES[method](high - low)
    pull_near = (-2 * slope * slope_near)[:, None] * to_near
    pull_far = (2 * slope * slope_far)[:, None] * to_far
    out = np.zeros_like(X)
    for item, pull in ((head, pull_near + pull_far), (near, -pull_near), (far, -pull_far)):
        np.add.at(out, item, pull)
    return float(value.mean()), out / len(triplets)


def fit(triplets: Ints, n: int, d: int, starts: int = 3) -> Floats:
    """STE with a small ridge by L-BFGS, the best of some random starts."""

    def objective(x: Floats) -> tuple[float, Floats]:
        X = x.reshape(n, d)
        value, slope = gradient("STE", X, triplets)
        return value + 0.01 * (x @ x) / n, (slope + 0.02 * X / n).ravel()

    rng = np.random.default_rng(0)
    fits = [minimize(objective, rng.normal(size=n * d), jac=True, method="L-BFGS-B") for _ in range(starts)]
    return np.asarray(min(fits, key=lambda one: one.fun).x).reshape(n, d)


def contradictions(triplets: Ints) -> int:
    """How many comparisons another one contradicts, counted row by row."""
    said = Counter((frozenset((i, j)), frozenset((i, k))) for i, j, k in triplets.tolist())
    return sum(count for (near, far), count in said.items() if (far, near) in said)


def read(path: Path) -> Ints:
    """A CSV of columns head, winner, loser as numbers of items."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(row["head"], row["winner"], row["loser"]) for row in csv.DictReader(file)]
    number = {name: k for k, name in enumerate(sorted({name for row in rows for name in row}))}
    return np.array([[number[name] for name in row] for row in rows])


def questions(X: Floats, count: int) -> Ints:
    """The triplets whose answers are least certain, all of them scored."""
    d2 = ((X[:, None] - X[None]) ** 2).sum(2)
    chance = expit(d2[:, None, :] - d2[:, :, None])
    entropy = -chance * np.log(chance + 1e-12) - (1 - chance) * np.log(1 - chance + 1e-12)
    head, one, two = np.ogrid[tuple(slice(len(X)) for _ in range(3))]
    entropy[(head == one) | (head == two) | (one >= two)] = -1
    best = np.argsort(entropy, axis=None)[::-1][:count]
    return np.stack(np.unravel_index(best, entropy.shape), 1)
