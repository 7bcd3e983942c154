"""ERKLE: a kernel over the items, learned answer by answer at the cost of one eigenpair each (Heim 2015, chapter 5)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg

from similitude.engine import stepped_kernel
from similitude.engine.eigenpairs import TOL, least_eigenpair, project
from similitude.engine.online import draw_below, kernel_step, remember, subtract_outer
from similitude.engine.stepped_kernel import RENEW, SHIFT, eigenpair_below, follow, inverse_of, least_by_inverse
from similitude.engine.threads import one_blas_thread
from similitude.methods.online.base import Layout, OnlineEstimator, shape_code
from similitude.methods.scaling import principal_axes
from similitude.renaming import by_name
from similitude.settings import check_count, check_number
from similitude.types import Array, Bools, Floats, Ints, Table

_STEPS = {"pa": 0.0, "constant": 0.0, "sqrt": 0.5, "inverse": 1.0}
_ROOT3 = float(np.sqrt(3.0))


def _no_inverse(_: int = 0) -> Floats:
    """None until an eigenpair is looked for, and of few items none at all."""
    return np.empty((0, 0))


def _all(n_items: int) -> Bools:
    """All items: what is said of a state that does not know of which of them answers tell."""
    return np.ones(n_items, bool)


@by_name("loss")
class ERKLE(OnlineEstimator):
    """Efficient online relative comparison kernel learning (Heim 2015, chapter 5): K <- projection of K - gamma · G.

    For an answer "a is more like b than like c" with margin m = d2(a, c) - d2(a, b), G is the canonical gradient (5.2).
    A step adds to at most one direction below 0, so one eigenpair makes K positive semidefinite again, and that is the
    nearest such kernel (Theorem 3). It is not looked for while a lower bound of the least eigenvalue, less 3 gamma a
    step (Weyl), stays at 0 or above. Of 120 items and more, the first is found by Lanczos from the
    direction that the step took away, all later ones through an inverse of the kernel that is kept beside it, at O(n²)
    an answer (`engine/stepped_kernel.py`).

    Print, and what is done here:

    - The printed G has off-diagonal entries ±2 and is not the gradient over symmetric kernels, which has ±1.
      `gradient="printed"` keeps it with what belongs to it (eigenvalues ±3, margin moved by 10 a unit step),
      `"symmetric"` is the gradient (±sqrt 3 and 6; comparisons without a head: ±2 and 8), for which a
      passive-aggressive step changes K least. On the thesis' data the printed one errs less.
    - (5.5) is inverted: the hinge acts where its margin is *not* met. Algorithm 6, line 6: the bound is the last one
      less 3 gamma; Algorithm 7, line 8: replayed answers step from the current kernel.
    - The bound hardly skips once the least eigenvalue is 0, so most updates cost an eigenpair.
    - After the projection the answer need not hold with its margin: passive-aggressive is meant before it.

    Parameters
    ----------
    loss : "hinge" (GNMDS) or "logistic" (STE). A passive-aggressive step has its own rule, to reach a margin: there the
        loss says which margin alone, and without a `target_probability` both losses ask for 1 and are the same
    step : "pa" (passive-aggressive: as far as the margin asks, (5.10) and (5.12)), "constant", "sqrt" or "inverse":
        `rate`, rate/sqrt(j) or rate/j at answer j, times 1 below the margin (hinge) or P(wrong) (logistic)
    rate : of the steps that are not passive-aggressive
    target_probability : P that a passive-aggressive logistic step reaches: margin log(P/(1 - P)); e/(1 + e) when not
        given, which is margin 1, the hinge's
    gradient : "printed" or "symmetric"; comparisons without a head need "symmetric"
    passes : steps per answer: the answer itself and passes - 1 drawn from all so far, once there are more than
        2 · passes (Algorithm 7)
    init_kernel : (n, n) kernel to start from; the identity when not given
    project_every : 1 projects after every step. With more, that many answers are learned (across calls) before one full
        projection: another method, faster where there are few items
    n_items : number of items; those of the first comparisons when not given
    grow : whether items that are not known yet are appended, as rows of the identity (else they are refused)
    random_state : seed or generator of the answers drawn

    Attributes
    ----------
    kernel_ : (n, n) the kernel, positive semidefinite
    embedding_ : (n, rank) positions, centred, principal axes first, in units in which margins are log-odds
    similarity_ : the model in use, read out when it is asked for
    slope_ : what margins of the kernel are multiplied with to be log-odds: fitted on the latest thousand margins, each
        taken before its answer was learned
    n_updates_, n_projections_, n_skipped_ : steps that changed the kernel, eigenpairs computed for them, and steps for
        which the bound made that needless
    n_answers_, n_items_ : number of answers learned, of items known

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.simulate([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], 300, random_state=0)
    >>> model = sm.ERKLE(random_state=0).fit(c)
    >>> model.score(c) > 0.8, model.n_updates_ < 300
    (True, True)
    """

    _arrays: ClassVar[Layout] = {
        **OnlineEstimator._arrays,
        "_kernel": (np.float64, ("items", "items")),
        "_bound": (np.float64, (1,)),
        "_inverse": (np.float64, ("items", "items")),
        "_compared": (np.bool_, ("items",)),
    }
    _counts: ClassVar[tuple[str, ...]] = (*OnlineEstimator._counts, "n_updates_", "n_projections_", "n_skipped_")

    _since: ClassVar[dict[str, Callable[[int], Array]]] = {"_inverse": _no_inverse, "_compared": _all}

    loss: Literal["logistic", "hinge"] = "hinge"
    step: Literal["pa", "constant", "sqrt", "inverse"] = "pa"
    rate: float = 1.0
    target_probability: float | None = None
    gradient: Literal["printed", "symmetric"] = "printed"
    passes: int = 1
    init_kernel: Table | None = None
    project_every: int = 1

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel, positive semidefinite; with `project_every > 1`, projected for the reader."""
        K = self._kernel.copy()
        if self._bound[0] < 0.0:
            project(K)
        return K

    def _check(self) -> None:
        for name, known in (
            ("loss", ("hinge", "logistic")),
            ("step", tuple(_STEPS)),
            ("gradient", ("printed", "symmetric")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: expected one of {', '.join(known)}, found {getattr(self, name)!r}")
        check_count("passes", self.passes)
        check_count("project_every", self.project_every)
        check_number("rate", self.rate, positive=True)
        target = self.target_probability
        if target is not None and not (isinstance(target, Real) and 0.5 < target < 1):
            raise ValueError(f"target_probability: expected a number between 0.5 and 1, found {target!r}")
        if target is not None and (self.loss != "logistic" or self.step != "pa"):
            raise ValueError("target_probability: expected None unless loss is 'logistic' and step is 'pa'")

    def _check_rows(self, rows: Ints) -> None:
        if self.gradient == "printed" and (rows[:, 0] != rows[:, 2]).any():
            row = int(np.flatnonzero(rows[:, 0] != rows[:, 2])[0])
            raise ValueError(
                f"comparisons: comparison {row} has no head, and the printed gradient is for triplets alone; "
                "use gradient='symmetric'"
            )

    def _most_kept(self) -> int:
        return np.iinfo(np.int64).max

    def _begin_model(self, n_items: int) -> None:
        self._kernel = np.eye(n_items) if self.init_kernel is None else _checked_kernel(self.init_kernel, n_items)
        self._inverse = _no_inverse()
        self._compared = np.full(n_items, self.init_kernel is not None)
        self._bound = np.array([1.0 if self.init_kernel is None else least_eigenpair(self._kernel)[0]])
        if self._bound[0] < 0.0:
            project(self._kernel)
            self._bound[0] = 0.0
        self.n_updates_ = self.n_projections_ = self.n_skipped_ = 0

    def _add_items(self, count: int) -> None:
        self._kernel = linalg.block_diag(self._kernel, np.eye(count))
        self._compared = np.concatenate([self._compared, np.zeros(count, bool)])
        self._bound[0] = min(self._bound[0], 1.0)
        if len(self._inverse):
            self._inverse = linalg.block_diag(self._inverse, np.eye(count) / (1.0 + SHIFT))

    def _learn(self, rows: Ints, weight: Floats) -> None:
        self._compared[rows] = True
        with one_blas_thread():
            for row, one in zip(rows, weight.tolist(), strict=True):
                margin = self._step(row, one, self.n_answers_ + 1)
                self._recent[self.n_answers_ % len(self._recent)] = margin
                self._replay(row, one)
                self.n_answers_ += 1
                if self.project_every > 1 and self.n_answers_ % self.project_every == 0 and self._bound[0] < 0.0:
                    self._bound[0] = max(0.0, project(self._kernel))
                    self.n_projections_ += 1

    def _replay(self, row: Ints, weight: float) -> None:
        remember(self._rows, self._weights, self.n_answers_, row, weight, self._random)
        count = self.n_answers_ + 1
        if count > 2 * self.passes:
            for k in range(1, self.passes):
                drawn = draw_below(self._random, count)
                self._step(self._rows[drawn], float(self._weights[drawn]), count + k)

    def _step(self, row: Ints, weight: float, number: int) -> float:
        """Step on one answer and project; returns its margin before."""
        printed, headed = self.gradient == "printed", row[0] == row[2]
        size, reach = (10.0, 3.0) if printed else (6.0, _ROOT3) if headed else (8.0, 2.0)
        rate = float(self.rate) * number ** -_STEPS[self.step]
        margin, gamma = kernel_step(
            self._kernel, row, weight, 2.0 if printed else 1.0, size, self.step == "pa", shape_code(self.loss),
            self._target(), rate,
        )  # fmt: skip
        if gamma > 0.0:
            self.n_updates_ += 1
            self._bound[0] -= reach * gamma
            self._keep_in_cone(row, 2.0 if printed else 1.0, gamma, reach * gamma)
        return float(margin)

    def _keep_in_cone(self, row: Ints, off: float, gamma: float, reach: float) -> None:
        if self._bound[0] >= 0.0:
            self.n_skipped_ += 1
            if len(self._inverse):
                follow(self._inverse, row, off, gamma, 0.0, np.zeros(self.n_items_))
        elif self.project_every == 1:
            self.n_projections_ += 1
            self._project(row, off, gamma, reach)

    def _target(self) -> float:
        P = self.target_probability
        return 1.0 if P is None else float(np.log(P / (1.0 - P)))

    def _project(self, row: Ints, off: float, gamma: float, reach: float) -> None:
        """Project by the eigenpair below 0; where there is none, find how far above 0 the kernel is."""
        start, found = _taken_away(row, off == 2.0, self.n_items_), False
        if len(self._inverse):
            before, furthest = max(0.0, self._bound[0] + reach), 1.01 * reach + TOL
            value, vector, found = eigenpair_below(self._kernel, self._inverse, row, off, gamma, before, furthest)
        if not found:
            value, vector = least_eigenpair(self._kernel, start)
        if value < 0.0:
            subtract_outer(self._kernel, value, vector)
        if found and self.n_projections_ % RENEW:
            follow(self._inverse, row, off, gamma, value, vector)
        elif self.n_items_ >= stepped_kernel.WORTH_FROM:
            self._inverse = inverse_of(self._kernel)
        if found and value == 0.0:
            value = least_by_inverse(self._inverse, start)
        self._bound[0] = max(0.0, value - TOL)

    def _told_of(self) -> Bools:
        return self._compared

    def _positions(self) -> Floats:
        values, vectors = linalg.eigh(self.kernel_)
        X = vectors * np.sqrt(np.maximum(values, 0.0))
        centre, turn = principal_axes(X)
        return (X - centre) @ turn


def _taken_away(row: Ints, printed: bool, n_items: int) -> Floats:
    """The eigenvector of -G below 0, in which the new negative direction of the kernel has a part.

    A little of every item is mixed in: where nothing became negative, the bound needs the least eigenvalue of all.
    """
    start = 0.1 / np.sqrt(n_items) * np.sin(np.arange(1.0, n_items + 1.0))
    i, j, k, l = row.tolist()
    if i != k:
        start[[i, j]] += (1.0, -1.0)
    else:
        start[[i, j, l]] += (1.0, -1.0, 0.5) if printed else (_ROOT3 - 1.0, -1.0, 2.0 - _ROOT3)
    return start


def _checked_kernel(kernel: npt.ArrayLike, n_items: int) -> Floats:
    K = np.array(kernel, float)
    if K.shape != (n_items, n_items) or not np.isfinite(K).all():
        raise ValueError(f"init_kernel: expected finite numbers of shape {(n_items, n_items)}, found shape {K.shape}")
    if not np.allclose(K, K.T):
        raise ValueError("init_kernel: expected a symmetric matrix")
    return 0.5 * (K + K.T)
