"""Ranking dissimilarities: dual, primal and cvxpy agree, new items are ranked, hard margins explain themselves."""

from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import similitude as sm
from similitude.engine.distances import sqdist_table
from similitude.graph.build import build_graph
from tests.reference_solver import optimum

PAIR_KERNELS = ["metric", "product", "sum"]
SCALE = np.array([2.0, 1.0, 0.3])


def problem(n_items=15, m=120, seed=0, flip=0.1):
    X = np.random.default_rng(seed).normal(size=(n_items, 3))
    return X, sm.simulate(X * SCALE, m, form="quadruplet", flip=flip, random_state=seed + 1)


def judged(model, c, hard=False):
    """The optimum by cvxpy, over coefficients of distinct pairs with the pair kernel's matrix."""
    graph = replace(build_graph(c), merged=True)
    X = model.modality_.features[:, : model.rank]
    kind = {"metric": sm.kernels.MetricPairs, "product": sm.kernels.ProductPairs, "sum": sm.kernels.SumPairs}
    G = kind[model.pair_kernel].gram(X @ X.T, graph.pairs)
    root = sm.kernels.psd_root(G, 1e-9).factor
    v = cvxpy.Variable(root.shape[1])
    margin = (root[graph.far] - root[graph.near]) @ v
    size = model.penalty_ * cvxpy.sum_squares(v)
    if hard:
        task = cvxpy.Problem(cvxpy.Minimize(size), [margin >= 1])
    else:
        task = cvxpy.Problem(cvxpy.Minimize(graph.weight @ cvxpy.pos(1 - margin) / graph.weight.sum() + size))
    return optimum(task, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("pair_kernel", PAIR_KERNELS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("seed", range(3))
def test_dual_primal_and_cvxpy_agree(pair_kernel, kernel, seed):
    X, c = problem(seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(c))
    near = {"penalty": 1e-2, "tol": 1e-6, "max_iter": 100_000}
    fits = [
        sm.DRankingVM(kernel=kernel, pair_kernel=pair_kernel, solver=solver, **near).fit(c.reweight(weight), features=X)
        for solver in ("dual", "primal")
    ]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=2e-6)
    best = judged(fits[0], c.reweight(weight))
    for model in fits:
        assert model.objective_ == pytest.approx(best, rel=3e-6)
        assert 0 <= model.gap_ <= 1e-6 * model.objective_
        assert model.objective_ - model.gap_ <= best * (1 + 1e-6), "the proven bound lies above the optimum"
    new = np.random.default_rng(9).normal(size=(6, 3))
    tables = [model.dissimilarity(new) for model in fits]
    # within 3e-6 of the objective some draws leave a hundredth of the dissimilarities of new items open
    np.testing.assert_allclose(tables[0], tables[1], atol=3e-2 * np.abs(tables[0]).max())


@pytest.mark.parametrize("seed", range(3))
def test_a_hard_margin_is_cvxpys(seed):
    X, c = problem(12, 40, seed, flip=0)
    for solver in ("dual", "primal"):
        model = sm.DRankingVM(kernel="rbf", slack="hard", solver=solver, tol=1e-6).fit(c, features=X)
        assert model.objective_ == pytest.approx(judged(model, c, hard=True), rel=1e-5)
        d = model.dissimilarity(X)
        assert (d[tuple(c.far.T)] - d[tuple(c.near.T)]).min() >= 1 - 1e-6
        assert model.score(c) == 1


@pytest.mark.parametrize("solver", ["dual", "primal"])
@pytest.mark.parametrize("pair_kernel", PAIR_KERNELS)
def test_the_objective_by_an_independent_computation(pair_kernel, solver):
    X, c = problem()
    model = sm.DRankingVM(kernel="rbf", pair_kernel=pair_kernel, penalty=0.01, solver=solver).fit(c, features=X)
    d = model.dissimilarity(X)
    margin = d[tuple(c.far.T)] - d[tuple(c.near.T)]
    value = np.maximum(0, 1 - margin).mean() + 0.01 * (model.params_**2).sum()
    assert value == pytest.approx(model.objective_, rel=1e-6)
    assert model.score(c) == pytest.approx((margin > 0).mean())
    assert np.array_equal(model.predict(c), margin > 0)


@pytest.mark.parametrize("pair_kernel", PAIR_KERNELS)
def test_swapping_the_items_of_a_pair_changes_nothing(pair_kernel):
    X, c = problem()
    swapped = sm.Comparisons.from_quadruplets(c.quadruplets[:, [1, 0, 3, 2]])
    first = sm.DRankingVM(kernel="rbf", pair_kernel=pair_kernel, tol=1e-6).fit(c, features=X)
    second = sm.DRankingVM(kernel="rbf", pair_kernel=pair_kernel, tol=1e-6).fit(swapped, features=X)
    A, B = np.random.default_rng(5).normal(size=(2, 4, 3))
    table = first.dissimilarity(A, B)
    np.testing.assert_allclose(table, first.dissimilarity(B, A).T, atol=1e-9 * np.abs(table).max())
    np.testing.assert_allclose(table, second.dissimilarity(A, B), atol=5e-3 * np.abs(table).max())
    assert np.array_equal(first.predict(c), first.predict(swapped))
    assert first.score(c) == first.score(swapped)


def test_an_anisotropic_truth_is_learned_for_new_items():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(60, 3)), rng.normal(size=(200, 3))
    c = sm.simulate(X * SCALE, 2000, form="quadruplet", random_state=1)
    unseen = sm.simulate(new * SCALE, 5000, form="quadruplet", random_state=2)
    model = sm.DRankingVM().fit(c, features=X)
    assert model.score(unseen, features=new) >= 0.97
    euclid = ((new[unseen.far[:, 0]] - new[unseen.far[:, 1]]) ** 2).sum(1)
    euclid -= ((new[unseen.near[:, 0]] - new[unseen.near[:, 1]]) ** 2).sum(1)
    assert (euclid > 0).mean() < 0.85, "there is nothing to learn here"
    assert sm.DRankingVM(pair_kernel="sum").fit(c, features=X).score(unseen, features=new) < 0.7
    triplets = sm.simulate(X * SCALE, 2000, random_state=1)
    assert sm.DRankingVM().fit(triplets, features=X).score(unseen, features=new) >= 0.95


def test_the_metric_kernel_on_linear_features_is_a_mahalanobis_distance():
    X, c = problem(flip=0, m=400)
    model = sm.DRankingVM(penalty=1e-3).fit(c, features=X)
    d = model.dissimilarity(X)
    steps = (X[:, None] - X).reshape(-1, 3)
    square = np.einsum("pa,pb->pab", steps, steps).reshape(len(steps), 9)
    residual = np.linalg.lstsq(square, d.ravel(), rcond=None)[1]
    assert residual.sum() < 1e-12 * (d**2).sum()
    np.testing.assert_allclose(np.diag(d), 0, atol=1e-9 * d.max())


def test_the_map_has_the_dissimilarities_where_they_are_euclidean():
    X = np.random.default_rng(0).normal(size=(30, 3))
    # no direction counts as little as the last of SCALE, whose weight is below 0 in one draw of fifty
    c = sm.simulate(X * [2.0, 1.5, 1.0], 2000, form="quadruplet", random_state=1)
    model = sm.DRankingVM(penalty=1e-3).fit(c, features=X)
    assert np.linalg.eigvalsh(model.params_).min() > 0
    flat = sqdist_table(model.embedding_)
    np.testing.assert_allclose(flat, model.dissimilarity(X), atol=1e-6 * flat.max())
    np.testing.assert_allclose(model.distances(), model.dissimilarity(X), atol=1e-9 * flat.max())
    np.testing.assert_allclose(model.pair_distance([(0, 4), (7, 2)]), flat[[0, 7], [4, 2]], atol=1e-6 * flat.max())
    assert model.embedding_.shape == (30, 3)
    assert (np.diff((model.embedding_**2).sum(0)) <= 0).all()
    product = sm.DRankingVM(kernel="rbf", pair_kernel="product").fit(c, features=X)
    assert product.similarity_.score(c) > 0.8


def test_rank_keeps_the_leading_directions_and_all_of_them_is_none():
    X, c = problem(20, 300)
    full = sm.DRankingVM(kernel="rbf", tol=1e-6).fit(c, features=X)
    same = sm.DRankingVM(kernel="rbf", rank=19, tol=1e-6).fit(c, features=X)
    few = sm.DRankingVM(kernel="rbf", rank=5).fit(c, features=X)
    assert same.objective_ == pytest.approx(full.objective_, rel=1e-5)
    assert few.params_.shape == (5, 5)
    assert few.dissimilarity(X[:2]).shape == (2, 2)


def test_weight_two_is_the_row_twice():
    X, c = problem()
    weight = np.where(np.arange(len(c)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(c)), weight.astype(int))
    settings = {"penalty": 0.01, "tol": 1e-6}
    weighted = sm.DRankingVM(kernel="rbf", **settings).fit(c.reweight(weight), features=X)
    repeated = sm.DRankingVM(kernel="rbf", **settings).fit(c[rows], features=X)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=3e-6)


def test_it_has_the_manners_of_the_others(tmp_path):
    X, c = problem(20, 600)
    named = c.with_items([f"i{k}" for k in range(20)])
    model = sm.DRankingVM().fit(named, features=X)
    assert clone(model).get_params() == model.get_params()
    d = model.dissimilarity(X)[3]
    d[3] = np.inf
    assert model.neighbors("i3", 4) == [f"i{k}" for k in np.argsort(d)[:4]]
    model.similarity_.save(tmp_path / "a.sim")
    assert sm.Similarity.load(tmp_path / "a.sim").n_items == 20
    assert not model.has_probability
    kernel = sm.DRankingVM().fit(c, features=sm.kernels.RBF(X))
    text = sm.DRankingVM(kernel="rbf").fit(c, features=X)
    np.testing.assert_array_equal(kernel.dissimilarity(X), text.dissimilarity(X))
    with pytest.raises(NotFittedError):
        sm.DRankingVM().dissimilarity(X)


def test_a_contradiction_is_named_and_cleaning_helps():
    X = np.random.default_rng(0).normal(size=(3, 2))
    c = sm.Comparisons.from_triplets([["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]])
    with pytest.raises(ValueError, match=r"in a circle: .*similitude\.clean"):
        sm.DRankingVM(kernel="rbf", slack="hard").fit(c, features=X)
    model = sm.DRankingVM(kernel="rbf", slack="hard").fit(sm.clean(c), features=X)
    assert model.status_ == "converged"


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_want_of_capacity_is_told_from_contradiction(solver):
    X, c = problem(20, 200, flip=0)
    with pytest.raises(ValueError, match=r"lack of capacity: the feedback has no contradictions.*\(proven\)"):
        sm.DRankingVM(slack="hard", solver=solver).fit(c, features=X[:, 2:])
    same = X.copy()
    same[1] = same[0]
    with pytest.raises(ValueError, match=r"the pairs \(2, 0\) and \(2, 1\) are the same"):
        sm.DRankingVM(slack="hard", solver=solver).fit([(0, 2, 1, 2)], features=same)


def test_too_few_iterations_say_so():
    X, c = problem(30, 500)
    with pytest.warns(ConvergenceWarning, match="proven bound"):
        model = sm.DRankingVM(kernel="rbf", solver="dual", penalty=1e-6, max_iter=1, tol=1e-9).fit(c, features=X)
    assert model.status_ == "max_iter"
    assert model.gap_ > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "magic"}, "kernel: expected one of 'linear', 'rbf', 'polynomial', found 'magic'"),
        ({"pair_kernel": "tensor"}, "pair_kernel: expected one of"),
        ({"slack": "none"}, "slack: expected"),
        ({"solver": "magic"}, "solver: expected"),
        ({"penalty": -1.0}, "penalty: expected"),
        ({"rank": 0}, "rank: expected a whole number of at least 1, found 0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    X, c = problem()
    with pytest.raises(ValueError, match=message):
        sm.DRankingVM(**settings).fit(c, features=X)


def test_bad_input_is_named():
    X, c = problem()
    model = sm.DRankingVM()
    with pytest.raises(ValueError, match="none to learn from"):
        model.fit(np.empty((0, 4), int), features=X)
    with pytest.raises(TypeError, match="features: found none"):
        model.fit(c)
    with pytest.raises(ValueError, match=r"found rows for 9 items, expected 15"):
        model.fit(c, features=X[:9])
    with pytest.raises(ValueError, match=r"found 2 modalities, expected one; use kernels\.Sum"):
        model.fit(c, features={"a": X, "b": X})
    with pytest.raises(TypeError, match="expected an array for kernel='rbf', found a Linear"):
        sm.DRankingVM(kernel="rbf").fit(c, features=sm.kernels.Linear(X))
    model.fit(c, features=X)
    with pytest.raises(ValueError, match="found 2 columns, expected 3"):
        model.dissimilarity(X[:, :2])
    with pytest.raises(ValueError, match="features: found 5 items, but the comparisons name item"):
        model.score(c, features=X[:5])
    with pytest.raises(ValueError, match="item 40 is not among the 15"):
        model.predict([(0, 1, 40)])


def test_callbacks_are_told():
    X, c = problem()
    for solver in ("primal", "dual"):
        seen = []
        sm.DRankingVM(kernel="rbf", solver=solver).fit(
            c, features=X, callback=lambda i, v, seen=seen: seen.append((i, v))
        )
        assert seen[-1][1] <= seen[0][1]


def test_classical_scaling_gives_euclidean_tables_back():
    from similitude.methods.scaling import scale_form, scale_ranks

    X = np.random.default_rng(0).normal(size=(12, 3))
    d2 = ((X[:, None] - X) ** 2).sum(-1)
    least = d2[~np.eye(12, dtype=bool)].min()
    positions = scale_form(X, np.eye(3))
    np.testing.assert_allclose(((positions[:, None] - positions) ** 2).sum(-1), d2, atol=1e-10)
    shifted = scale_ranks(d2 + 7.0)
    found = ((shifted[:, None] - shifted) ** 2).sum(-1)
    off = ~np.eye(12, dtype=bool)
    assert np.corrcoef(found[off], d2[off] - least)[0, 1] > 0.99
    assert scale_form(X, np.zeros((3, 3))).shape == (12, 1)
    assert not scale_form(X, -np.eye(3)).any()


def test_cross_validation_goes_by_the_dissimilarity():
    X, c = problem(30, 900, flip=0)
    estimators = [sm.DRankingVM(), sm.DRankingVM(pair_kernel="sum"), sm.RankProjection(3, random_state=0)]
    table = sm.cross_validate(estimators, c, features=X, n_folds=3, random_state=0)
    assert table.accuracy[0] > 0.93
    assert table.accuracy[1] < 0.8
    assert table.accuracy[2] > 0.93
    model = sm.DRankingVM(kernel="rbf", pair_kernel="product").fit(c, features=X)
    assert sm.accuracy(model, c) == pytest.approx(model.score(c))
    path = sm.penalty_path(sm.DRankingVM(), c, penalties=[1e-4, 10.0], features=X, n_folds=2, random_state=0)
    assert len(path) == 2


@pytest.mark.parametrize(("n", "width", "solver"), [(40, 12, "dual"), (40, 12, "primal"), (60, 2, "auto")])
def test_a_hard_margin_on_a_chain_that_can_be_met_is_solved(n, width, solver):
    """Neighbours in a chain of ranks differ by next to nothing, so what meets it is long: that is not infeasible."""
    X = np.random.default_rng(7).normal(size=(n, width))
    chain = sm.Comparisons.from_distances(np.linalg.norm(X[:, None] - X, axis=2), "chain")
    model = sm.DRankingVM(slack="hard", solver=solver).fit(chain, features=X)
    assert model.status_ == "converged"
    assert model.score(chain) == 1.0
    assert model.gap_ <= 1e-3 * model.objective_


def test_not_solved_yet_is_not_called_infeasible(monkeypatch):
    X = np.random.default_rng(7).normal(size=(40, 12))
    chain = sm.Comparisons.from_distances(np.linalg.norm(X[:, None] - X, axis=2), "chain")
    monkeypatch.setattr("similitude.methods.ranking.fits", lambda _: False)  # too many for active sets
    with pytest.raises(ValueError, match=r"not solved yet after .* does not mean that it cannot be met"):
        sm.DRankingVM(slack="hard", solver="dual", max_iter=1).fit(chain, features=X)
