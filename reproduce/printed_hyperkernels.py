"""The hyperkernels of Ouyang & Gray (2008) fitted as printed, for the record: what (13) to (16) can learn.

For pairs p of items, with k_p the kernel between the two items of p and c the coefficients of a function d of pairs:

    (13), (15)  G(p, q) = k_p k_q      d(p) = s k_p,      c' G c = s²,     s = sum_q c_q k_q: one number is learned
    (14), (16)  G(p, q) = k_p + k_q    d(p) = s k_p + t,  c' G c = 2 s t,  s = sum_q c_q, t = sum_q c_q k_q

The objective is that of `DRankingVM`: mean hinge of d(far) - d(near), plus penalty · c' G c. Differences of d do not
see t, so with (14) it falls without end as t goes to infinity with the sign against s: there is nothing to fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

import similitude as sm

PENALTY = 1e-3
SHIFTS = (0.0, 1e6, 1e9)


def hinge(K: np.ndarray, c: sm.Comparisons, s: float) -> float:
    return float(np.maximum(1.0 - s * (K[tuple(c.far.T)] - K[tuple(c.near.T)]), 0.0).mean())


def product_fit(K: np.ndarray, c: sm.Comparisons, penalty: float) -> tuple[float, float]:
    """s of the printed product at its optimum, which is convex in one number, and the objective there."""
    found = minimize_scalar(lambda s: hinge(K, c, s) + penalty * s**2)
    return float(found.x), float(found.fun)


def sum_objective(K: np.ndarray, c: sm.Comparisons, penalty: float, s: float, t: float) -> float:
    """The objective of the printed sum, for s and t that coefficients of two pairs can already give."""
    return hinge(K, c, s) + penalty * 2.0 * s * t


def fitted(X: np.ndarray, chain: sm.Comparisons, random: sm.Comparisons) -> Iterator[dict[str, Any]]:
    """Both hyperkernels over two kernels, trained on the chain."""
    for name, kernel in {"linear": sm.kernels.Linear(X), "RBF of width 15": sm.kernels.RBF(X, width=15.0)}.items():
        K = kernel.matrix()
        s, value = product_fit(K, chain, PENALTY)
        falling = [sum_objective(K, chain, PENALTY, s, -np.sign(s) * shift) for shift in SHIFTS]
        yield {
            "kernel": name,
            "s": s,
            "objective of (13)": value,
            "chain": share_right(s * K, chain),
            "random ranks": share_right(s * K, random),
            "objective of (14) at t of size " + ", ".join(f"{shift:g}" for shift in SHIFTS): ", ".join(
                f"{one:.2g}" for one in falling
            ),
        }


def share_right(d: np.ndarray, c: sm.Comparisons) -> float:
    """Share of comparisons that a table of dissimilarities orders rightly."""
    return float((d[tuple(c.far.T)] > d[tuple(c.near.T)]).mean())
