"""Why a hard margin cannot be met though the feedback does not contradict itself: the kernel lacks capacity."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.engine.solvers.certificate import Certified
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import SimilarityGraph
from similitude.types import Floats

_SAME = 1e-12  # a squared length of a comparison, kernels being scaled to about 1


def refuse_equal(c: Comparisons, graph: SimilarityGraph, square: Floats) -> None:
    """Refuse a hard margin between pairs that the kernel cannot tell apart: their features differ by rounding."""
    equal = np.flatnonzero(square <= _SAME)
    if len(equal):
        sides = (graph.near_pairs[equal[0]], graph.far_pairs[equal[0]])
        pairs = [f"({c.label(int(i))}, {c.label(int(j))})" for i, j in sides]
        raise ValueError(
            f"slack: a hard margin cannot be met, for lack of capacity: to this kernel the pairs {pairs[0]} and "
            f"{pairs[1]} are the same; give features that tell them apart, raise rank, or use slack='soft'"
        )


def refuse_unmet(found: Certified[Any], least_norm: float) -> None:
    """Say that a hard margin was not met though the feedback does not contradict itself."""
    remedy = "use a richer kernel ('rbf'), raise rank, add features, or use slack='soft'"
    if found.status == "infeasible":
        raise ValueError(
            "slack: a hard margin cannot be met, for lack of capacity: the feedback has no contradictions, but no "
            f"dissimilarity of this kernel with a norm below {least_norm:.2g} meets it (proven); {remedy}"
        )
    raise ValueError(
        f"slack: a hard margin is not solved yet after {found.n_iter} iterations, which does not mean that it cannot "
        f"be met: a dissimilarity that meets it has a norm of {least_norm:.2g} or more (proven); raise max_iter, "
        f"sample fewer comparisons, or {remedy}"
    )
