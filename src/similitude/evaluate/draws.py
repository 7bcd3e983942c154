"""Other maps that the answers allow: refits on reweighted answers (bootstrap), or draws around the fit (Laplace)."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.information import information
from similitude.engine.jobs import over_jobs
from similitude.engine.terms import ComparisonLoss
from similitude.engine.threads import one_blas_thread
from similitude.evaluate.validation import Progress
from similitude.feedback.comparisons import Comparisons
from similitude.methods.base import FeedbackWarning
from similitude.types import Array, Bools, Floats

MOST_NUMBERS = 4000  # of a map for which the Laplace precision is inverted as a whole


def bootstrap_maps(
    model: Any,
    c: Comparisons,
    group: Array,
    n: int,
    features: Any,
    rng: np.random.Generator,
    n_jobs: int | None,
    callback: Progress | None,
) -> list[Floats]:
    """Refit on answers with random weights, exponential ones for each group (Rubin's Bayesian bootstrap).

    Unlike drawing with replacement, that leaves no item without its comparisons. Fits start where the model ended.
    """
    kinds, code = np.unique(group[c.answer], return_inverse=True)
    drawn = (rng.exponential(size=len(kinds)) for _ in range(n))
    work = ((weight / weight.mean(),) for weight in drawn)
    maps = []
    for own in over_jobs(_map_of, work, n_jobs, shared=(model, c, code, features)):
        maps.append(own)
        if callback is not None:
            callback(len(maps), n)
    return maps


def _map_of(model: Any, c: Comparisons, code: Array, features: Any, weight: Floats) -> Floats:
    return np.array(refit(model, c.reweight(np.asarray(c.weight) * weight[code]), features).embedding_)


def refit(model: Any, c: Comparisons, features: Any) -> Any:
    """Return the model fitted anew with the settings that it has, from where it ended where it can start there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FeedbackWarning)
        if hasattr(model, "refit_chosen"):
            return model.refit_chosen(c, features=features)
        fresh, further = clone(model), {"features": features} if model.needs_features else {}
        settings = fresh.get_params()
        automatic = [name for name in ("penalty", "map_penalty") if settings.get(name) == "auto"]
        used = {name: getattr(model, f"{name}_") for name in automatic}
        fresh.set_params(**{name: value for name, value in used.items() if np.isfinite(value)})  # a map may have none
        if "init" in settings and len(model.embedding_) == c.n_items:
            fresh.set_params(init=model.point_, n_init=1)
        if "start" in inspect.signature(fresh.fit).parameters and hasattr(model, "point_"):
            further["start"] = model.point_
        return fresh.fit(c, **further)


def laplace_maps(
    X: Floats, loss: ComparisonLoss, c: Comparisons, ridge: float, n: int, rng: np.random.Generator
) -> list[Floats]:
    """Draw maps from the normal distribution around a fit.

    Its precision is J' diag(w i) J + 2 ridge I, with J the derivative of each comparison's margin
    scale(d2_far) - scale(d2_near) by all positions, i the information of an answer on it, and ridge · |X|² the prior
    against the sum of the losses. That is the expected curvature of the log likelihood (Fisher's), which is never
    negative. Shifts and turns of the whole map, which no answer tells of, are taken out.
    """
    if not loss.has_probability:
        raise ValueError("method: 'laplace' needs a model with probabilities (STE, TSTE, CKL, probit); use 'bootstrap'")
    if X.size > MOST_NUMBERS:
        raise ValueError(
            f"method: 'laplace' inverts a matrix over all {X.size:,} coordinates, for at most {MOST_NUMBERS:,}; "
            "use 'bootstrap'"
        )
    precision = information(X, loss, c.near, c.far, np.asarray(c.weight)) + 2.0 * ridge * np.eye(X.size)
    G = _shifts_and_turns(X)
    with one_blas_thread():
        across = np.eye(X.size) - G @ G.T
        values, vectors = linalg.eigh(across @ precision @ across)
    used = slice(G.shape[1], None)  # the least eigenvalues are the zeros of shifts and turns
    steps = vectors[:, used] @ (rng.standard_normal((X.size - G.shape[1], n)) / np.sqrt(values[used])[:, None])
    return [X + step.reshape(X.shape) for step in steps.T]


def _shifts_and_turns(X: Floats) -> Floats:
    """Orthonormal directions in which all items move or turn together."""
    n, d = X.shape
    moves = [np.tile(np.eye(d)[k], (n, 1)) for k in range(d)]
    for i in range(d):
        for j in range(i):
            turn = np.zeros((n, d))
            turn[:, i], turn[:, j] = X[:, j], -X[:, i]
            moves.append(turn)
    U, size, _ = linalg.svd(np.array([move.ravel() for move in moves]).T, full_matrices=False)
    return U[:, size > 1e-9 * size[0]]


def onto(X: Floats, target: Floats, compared: Bools) -> Floats:
    """Return a map shifted, turned or mirrored, and brought to the size of another, over the items compared.

    Unlike `align`, which fits the size, too, and so makes a map smaller the worse it matches.
    """
    width = max(X.shape[1], target.shape[1])
    X, Y = (np.pad(own, ((0, 0), (0, width - own.shape[1]))) for own in (X, target))
    centre, shift = X[compared].mean(0), Y[compared].mean(0)
    own, other = X[compared] - centre, Y[compared] - shift
    size = float((own**2).sum())
    factor = np.sqrt(float((other**2).sum()) / size) if size > 0 else 0.0
    turn, _ = linalg.orthogonal_procrustes(factor * own, other)
    return factor * (X - centre) @ turn + shift
