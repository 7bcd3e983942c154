"""Ordinal embedding of comparisons that do not fit in memory: counted, started from a sample, fitted in shards."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import ComparedInShards
from similitude.engine.devices import choose_device
from similitude.engine.models import Positions
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.minibatch import minibatch_from_disk
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import given_start
from similitude.feedback.files.dataset import ComparisonDataset
from similitude.feedback.shards import Block, Shards, add
from similitude.graph.counts import Counts, count_shards
from similitude.methods.base import FeedbackWarning, warn_of_gaps
from similitude.methods.known_items import mixture
from similitude.types import Floats

if TYPE_CHECKING:
    from similitude.methods.ordinal_base import OrdinalEmbedding
    from similitude.methods.similarity import Similarity

# From disk a pass of minibatches takes several passes of L-BFGS, which has few to do after its start: what decides is
# memory. L-BFGS keeps 2 · memory + 5 numbers per coordinate.
_LBFGS_FLOATS = 250_000_000
_LEAST_MEMORY, _MOST_MEMORY = 4, 12
_SAMPLE_PER_ITEM = 20
_LEAST_SAMPLE, _MOST_SAMPLE = 1 << 20, 1 << 22
_START_TOL = 1e-4  # a start need not be sharper than what its sample can tell
_SEEN = 200_000_000  # comparisons that minibatches see, in ten passes at most and two at least


def fit_shards(
    estimator: OrdinalEmbedding, shards: Shards, callback: Callback | None
) -> tuple[Result, Positions, Counts]:
    """Find positions for the items of a dataset.

    The start is a fit of the same method to a sample of the comparisons (twenty per item, at least 2^20 and at most
    2^22), with all the starts that the method would make: no table of all votes is needed, and few steps are left.
    """
    counts = count_shards(shards)
    warn_of_gaps(shards, counts)
    rng = np.random.default_rng(estimator.random_state)
    compared = counts.occurrences > 0
    penalty, model = estimator.priced(int(compared.sum()), counts.weight), estimator.items_model(shards.n_items)
    if not (isinstance(model, Positions) and model.shape == (shards.n_items, estimator.n_components)):
        raise TypeError(
            f"model: shards are fitted by positions of the items, found {type(model).__name__}; "
            "fit it to comparisons in memory"
        )
    problem = Problem(model, ComparedInShards(shards, estimator.comparison_loss(), counts.weight), penalty)
    start = sample_start(estimator, shards, rng) * compared[:, None]
    if by_minibatch(estimator.solver, shards, model):
        epochs = int(np.clip(_SEEN // len(shards), 2, 10))
        found = minibatch_from_disk(problem, counts, start, epochs=epochs, random_state=rng, callback=callback)
        return found, model, counts
    most, memory = estimator.max_iter, lbfgs_memory(model.size)
    found = lbfgs(problem, start, max_iter=most, tol=estimator.tol, memory=memory, callback=callback)
    return found, model, counts


def by_minibatch(solver: str, shards: Shards, model: Positions) -> bool:
    """Whether to fit by minibatches: where it was asked for, or where L-BFGS would not fit in memory."""
    if solver != "auto":
        return solver == "minibatch"
    return lbfgs_memory(model.size) < _LEAST_MEMORY and isinstance(shards, ComparisonDataset)


def lbfgs_memory(size: int) -> int:
    """Past steps that L-BFGS can remember of so many coordinates in two gigabytes."""
    return min(_MOST_MEMORY, max(1, (_LBFGS_FLOATS // size - 5) // 2))


def sample_start(estimator: OrdinalEmbedding, shards: Shards, rng: np.random.Generator) -> Floats:
    """Return the positions that were given, or those of a fit to a sample of the comparisons."""
    if not isinstance(estimator.init, str):
        return given_start(estimator.init, (shards.n_items, estimator.n_components))
    size = sample_size(shards)
    in_host = choose_device(estimator.device, size) == "cpu"
    many = in_host and lbfgs_memory(shards.n_items * estimator.n_components) < _MOST_MEMORY
    settings: dict[str, Any] = {"solver": "minibatch" if many else "lbfgs", "n_items": None, "random_state": rng}
    settings["tol"] = max(estimator.tol, _START_TOL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # a sample may miss items that the whole does not
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).set_params(**settings).fit(shards.sample(size, rng)).embedding_


def sample_size(shards: Shards) -> int:
    """How many comparisons the sample has from which a fit starts."""
    return int(np.clip(_SAMPLE_PER_ITEM * shards.n_items, _LEAST_SAMPLE, _MOST_SAMPLE))


def score_shards(similarity: Similarity, shards: Shards) -> float:
    """Weighted share of the comparisons of a dataset that a model orders correctly; a tie counts half."""
    if (shards.names is None) != (similarity.names is None):
        raise mixture(similarity.names, shards.names, similarity.n_items)
    if shards.names != similarity.names:
        raise ValueError("comparisons: the dataset and the model number their items differently; fit to this dataset")
    if shards.n_items > similarity.n_items:
        raise ValueError(f"comparisons: there are {shards.n_items} items, but {similarity.n_items} in the model")
    if similarity.form is not None or (similarity.answering is not None and similarity.answering.own_order):
        raise ValueError("comparisons: a model of groups, or of no distances, is scored on comparisons in memory")
    right, weight = shards.reduce(_right, add, similarity.embedding)
    return float(right / weight)


def _right(block: Block, X: Floats) -> tuple[Any, ...]:
    own = np.require(X, requirements=["C", "W"])  # one kind of array, so that the kernel is compiled once
    near, far = (CPU().sqdist(own, pairs) for pairs in (block.near, block.far))
    return float(block.weight @ (0.5 * (1.0 + np.sign(far - near)))), float(block.weight.sum())
