"""Objective and gradient at fixed points are those that were stored: the engine may be built anew, its numbers stay.

`python -m tests.engine.test_stored_points` stores those of parts that are new; what is stored stays.
"""

from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic
from similitude.graph.build import build_graph
from tests.contracts.registry import losses, model_cases, term_cases

STORED = Path(__file__).parent / "stored" / "points.npz"
CKL = ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic))


def feedback(n_items=8, m=60):
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(n_items)[:4] for _ in range(m)])
    rows[: m // 2, 2] = rows[: m // 2, 0]  # half triplets, half quadruplets
    return sm.Comparisons.from_quadruplets(rows, weight=rng.uniform(0.1, 2, m))


def problems():
    """Give a name, a problem, and a point of it."""
    X = np.random.default_rng(1).normal(size=16)
    for loss in losses():
        problem = Problem(Positions(8, 2), Compared(build_graph(feedback()), loss), Ridge(0.1, 8))
        yield f"{loss.scale.name} {loss.shape.name}", problem, X
    for case in model_cases():
        if case.pairs is not None:  # it takes no others; the terms below hold such a model with its own
            continue
        yield case.name, Problem(case.model, Compared(build_graph(feedback(7)), CKL), Ridge(0.1, 7)), case.params
    for name, term, model in term_cases():
        problem = Problem(model, term, Ridge(0.1, 6))
        yield name, problem, problem.start(np.random.default_rng(2).normal(size=model.size)) + 0.1
    apart = ("comparisons", "hinges", "groups")
    terms = [term for name, term, _ in term_cases() if name not in apart and not name.startswith("choices")]
    together = Problem(Positions(6, 2), terms, Ridge(0.1, 6), np.linspace(0.2, 2.0, len(terms)))
    yield "several terms", together, together.start(np.random.default_rng(2).normal(size=12)) + 0.1


def found():
    return {name: np.r_[problem.value_and_gradient(at)] for name, problem, at in problems()}


@pytest.mark.own_seed
def test_value_and_gradient_are_those_that_were_stored():
    stored, now = np.load(STORED), found()
    assert set(stored.files) == set(now), "a part is new: store it as the module says"
    for name in stored.files:
        np.testing.assert_allclose(now[name], stored[name], rtol=1e-9, atol=1e-12, err_msg=name)


if __name__ == "__main__":
    known = dict(np.load(STORED)) if STORED.exists() else {}
    np.savez_compressed(STORED, **({name: np.asarray(value) for name, value in found().items()} | known))
