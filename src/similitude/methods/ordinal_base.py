"""The recipe of ordinal embedding: a model of the items that minimises a mean loss of comparisons plus a penalty."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import CPU, Backend
from similitude.engine.comparison_terms import Compared, compared
from similitude.engine.devices import blocks_on_device, choose_device, on_device, solvers_of
from similitude.engine.models import Model, Positions
from similitude.engine.penalties import Penalty, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.minibatch import NEEDS as MINIBATCH
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import (
    best_scale,
    given_start,
    lifted_start,
    parameter_starts,
    random_start,
    spectral_start,
)
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.files.dataset import ComparisonDataset
from similitude.feedback.items import Names
from similitude.feedback.shards import Shards
from similitude.methods.base import ComparisonEstimator, refuse_empty, warn_of_gaps
from similitude.methods.provenance import described_data, described_shards
from similitude.methods.sharded import fit_shards, sample_start
from similitude.methods.similarity import Similarity
from similitude.settings import check_count, check_number, one_of
from similitude.types import Bools, Floats, Seed, Table

# At five million comparisons L-BFGS on all threads still beats minibatches on one (benchmarks/README.md, large).
_MINIBATCH_FROM = 20_000_000


class OrdinalEmbedding(ComparisonEstimator):
    """What ordinal embeddings share; each gives its loss, and `Embedding` its model, too.

    Parameters
    ----------
    n_components : dimensions of the embedding
    penalty : strength of the ridge on positions (lambda in most papers, there on a sum instead of a mean). "auto" is
        prior · n / (total weight of the comparisons): the ridge prior · |X|² then stands against the *sum* of the
        losses, a normal prior on positions that weighs less as answers come in. `prior` is 1, and 0.3 for the heavy
        tails of TSTE and CKL, which put unlike items farther apart. Where it matters, choose the penalty by
        cross-validation.
    n_init : number of starts, the best is kept; "auto" is 2 for a spectral start in one or two dimensions,
        where local optima bite, else 1. The second start after a spectral one is lifted (fitted in more dimensions,
        then pressed flat), further ones are random.
    init : "spectral", "random", or an (n, d) array of positions to start from
    n_items : number of items, where it is more than the comparisons show
    random_state : seed or generator: the same seed gives the same bits
    max_iter : most iterations of a start
    tol : stop when an iteration gains less than this share of the objective
    solver : "lbfgs", "minibatch" (for very many comparisons), or "auto", which chooses by their number (in a
        `ComparisonDataset`, by whether L-BFGS fits in memory)
    device : "cpu", "cuda" (a GPU, through torch, in 32-bit numbers), or "auto": a GPU where there is one and there are
        comparisons enough to pay for the way there

    Attributes
    ----------
    embedding_ : (n, d) positions, centred; an item never compared stands at the centre
    similarity_ : the fitted model in use
    point_ : where a further fit may start, as its `init`: the positions, or the parameters of a model of another kind
    penalty_ : the penalty that was used
    objective_ : value of the objective
    n_iter_, status_ : iterations of the start that was kept, and how the solver ended ("converged", "max_iter",
        "stalled", "planned")
    """

    n_components: int = field(default=2, kw_only=False)
    penalty: float | Literal["auto"] = "auto"
    n_init: int | Literal["auto"] = "auto"
    init: Literal["spectral", "random"] | Table = "spectral"
    n_items: int | None = None
    random_state: int | np.random.Generator | None = None
    max_iter: int = 1000
    tol: float = 1e-6
    solver: Literal["auto", "lbfgs", "minibatch"] = "auto"
    device: str = "auto"

    def comparison_loss(self) -> ComparisonLoss:
        """Return the loss of this method with its parameters."""
        raise NotImplementedError(f"{type(self).__name__} must define comparison_loss")

    def items_model(self, n_items: int) -> Model:
        """Return the model of so many items."""
        return Positions(n_items, self.n_components)

    def fit(
        self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, *, callback: Callback | None = None
    ) -> Self:
        """Find positions for the items.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)`, "i is closer to j than to k", or
            `(i, j, k, l)`, "i, j are closer than k, l"; or, where they do not fit in memory, a `ComparisonDataset` or
            what `spread` makes of it
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        callback : called after each iteration with its number and the objective (of each start in turn); it may raise
            to interrupt
        """
        self._check()
        if isinstance(comparisons, Shards):
            return self._fit_shards(comparisons, y, callback)
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._learned_from = described_data(c)
        return self._fit_graph(c, *on_device(c, self._where(len(c))), callback)

    def _fit_graph(self, feedback: Any, graph: Any, backend: Backend, callback: Callback | None) -> Self:
        """Fit comparisons that lie where the backend works."""
        warn_of_gaps(feedback, graph)
        rng = np.random.default_rng(self.random_state)
        count = int((graph.occurrences > 0).sum())
        penalty, model = self.priced(count, graph.total_weight), self.items_model(graph.n_items)
        problem = Problem(model, Compared(graph, self.comparison_loss()), penalty, backend=backend)
        if isinstance(feedback, Shards) and graph.from_disk is not None:  # few passes: none for a start
            starts = [sample_start(self, feedback, rng) * (graph.occurrences > 0)[:, None]]
        else:
            starts = self._starts(problem, rng)
        best = min((self._solve(problem, start, rng, callback=callback) for start in starts), key=_value)
        self._keep(best, model, feedback.names, graph.occurrences > 0)
        return self

    def priced(self, count: int, weight: float) -> Penalty:
        """Return the penalty for so many items compared and comparisons of this total weight; keep its strength."""
        self.penalty_ = self._prior * count / weight if self.penalty == "auto" else float(self.penalty)
        return Ridge(self.penalty_, count)

    @property
    def _prior(self) -> float:
        """What stands against the sum of the losses as prior · |X|²."""
        return 0.3 if self.comparison_loss().heavy_tailed else 1.0

    def _where(self, n_comparisons: int) -> str:
        """The device to fit on."""
        return choose_device(self.device, n_comparisons)

    def _fit_shards(self, shards: Shards, y: npt.ArrayLike | None, callback: Callback | None) -> Self:
        if y is not None:
            raise ValueError("y: a dataset says by near and far which way each comparison goes; leave y out")
        if self.n_items not in (None, shards.n_items):
            raise ValueError(f"n_items: {self.n_items} was given, but the dataset is about {shards.n_items} items")
        device = self._where(len(shards))
        if device != "cpu" and isinstance(shards, ComparisonDataset):
            graph, backend = blocks_on_device(shards, device)
            self._learned_from = described_shards(shards, graph.occurrences > 0)
            return self._fit_graph(shards, graph, backend, callback)
        best, model, counts = fit_shards(self, shards, callback)
        self._learned_from = described_shards(shards, counts.occurrences > 0)
        self._keep(best, model, shards.names, counts.occurrences > 0)
        return self

    def place(self, comparisons: ComparisonsLike, *, n_init: int = 5, random_state: Seed = None) -> Similarity:
        """Return the similarity with new items in it, placed by comparisons with the items already there.

        See `Similarity.place`.
        """
        return self._fitted().place(comparisons, n_init=n_init, random_state=random_state)

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        self._check_penalty()
        check_count("n_init", self.n_init, also="auto")
        one_of("solver", self.solver, ("auto", "lbfgs", "minibatch"))

    def _check_penalty(self) -> None:
        check_number("penalty", self.penalty, also="auto")

    def _starts(self, problem: Problem, rng: np.random.Generator) -> list[Floats]:
        graph, d = compared(problem, "a start").graph, self.n_components
        spectral = isinstance(self.init, str) and self.init == "spectral"
        count = 1 + (spectral and d <= 2) if self.n_init == "auto" else int(self.n_init)
        if not (isinstance(problem.model, Positions) and problem.model.shape == (graph.n_items, d)):
            return parameter_starts(problem, self.init, count, rng)
        if not isinstance(self.init, str):
            starts = [given_start(self.init, (graph.n_items, d)) * (graph.occurrences > 0)[:, None]]
        elif spectral:
            starts = [best_scale(problem, spectral_start(problem, d, rng))]
            if count > 1:
                starts.append(lifted_start(problem, rng, lambda p, x, n: self._solve(p, x, rng, n)))
        elif self.init == "random":
            starts = []
        else:
            raise ValueError(f"init: expected 'spectral', 'random' or an array of positions, found {self.init!r}")
        random = [best_scale(problem, random_start(graph, d, rng)) for _ in range(count - len(starts))]
        return [*starts, *random]

    def _solve(
        self,
        problem: Problem,
        start: Floats,
        rng: np.random.Generator,
        at_most: int | None = None,
        callback: Callback | None = None,
    ) -> Result:
        lbfgs, minibatch = solvers_of(problem.backend)
        many = isinstance(problem.backend, CPU) and len(compared(problem, "a solver").graph) >= _MINIBATCH_FROM
        if self.solver == "minibatch" or (self.solver == "auto" and many and MINIBATCH.lacking(problem) is None):
            return minibatch(problem, start, random_state=rng, callback=callback)
        max_iter = self.max_iter if at_most is None else min(at_most, self.max_iter)
        if self.solver == "auto" and not problem.penalty.smooth:
            return accelerated(problem, start, max_iter=max_iter, tol=self.tol, callback=callback)
        return lbfgs(problem, start, max_iter=max_iter, tol=self.tol, callback=callback)

    def _keep(self, best: Result, model: Model, names: Names | None, compared: Bools) -> None:
        X = model.positions(best.params)
        X = X - X[compared].mean(0)
        free = isinstance(model, Positions) and model.features is None
        table = isinstance(model, Positions) and model.shape == X.shape
        self._keep_positions(best, X * compared[:, None] if free else X, names, None if table else best.params)

    def _keep_positions(self, best: Result, X: Floats, names: Names | None, point: Floats | None = None) -> None:
        """Keep positions, where a further fit may start, and how the solver ended; say so where it fell short."""
        self.point_ = X if point is None else point
        self.similarity_ = self._in_use(X, self.comparison_loss(), names)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"{type(self).__name__} did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )


def _value(result: Result) -> float:
    return result.value
