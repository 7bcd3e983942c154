"""Feature methods against an independent convex solver, against each other, and on new items."""

import warnings

import cvxpy
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import similitude as sm
from similitude.graph.build import build_graph
from similitude.methods import kernel_combinations
from similitude.methods.modalities import KernelColumns, Plain, Whitened
from tests.reference_solver import DRAWS, optimum

LOSSES = ["hinge", "logistic"]
SOLVERS = ["factored", "full"]


def features(n_items=9, seed=0):
    rng = np.random.default_rng(seed)
    return {"shape": rng.normal(size=(n_items, 3)), "noise": sm.kernels.RBF(rng.normal(size=(n_items, 4)))}


def answers(F, m=80, seed=0, **settings):
    settings = {"sharpness": 1.0, **settings}
    return sm.simulate(F["shape"] * [2.0, 1.0, 0.3], m, random_state=seed + 1, **settings)


def prepared(kind, F):
    return {name: kind(sm.kernels.as_kernel(value)) for name, value in F.items()}


def mean_loss(c, loss, d2):
    graph = build_graph(c)
    margin = d2(graph.far_pairs) - d2(graph.near_pairs)
    losses = cvxpy.logistic(-margin) if loss == "logistic" else cvxpy.pos(1 - margin)
    return graph.weight @ losses / graph.weight.sum()


def steps(Phi, pairs):
    return Phi[pairs[:, 0]] - Phi[pairs[:, 1]]


def judged_poe(c, loss, penalty, tables, diagonal):
    """The optimum by cvxpy, over the kernels' own features."""
    total, price = [], 0
    for table in tables.values():
        Phi, q = table.features, table.features.shape[1]
        W = cvxpy.Variable(q, nonneg=True) if diagonal else cvxpy.Variable((q, q), PSD=True)
        total.append((Phi, W))
        price += table.prices @ W if diagonal else cvxpy.trace(W)

    def d2(pairs):
        parts = []
        for Phi, W in total:
            D = steps(Phi, pairs)
            parts.append((D**2) @ W if diagonal else cvxpy.sum(cvxpy.multiply(D @ W, D), axis=1))
        return sum(parts)

    problem = cvxpy.Problem(cvxpy.Minimize(mean_loss(c, loss, d2) + penalty / c.n_items * price))
    return optimum(problem)


def judged_auxiliary(c, loss, penalty, auxiliary_penalty, tables):
    n = c.n_items
    mu = cvxpy.Variable(len(tables), nonneg=True)
    K = sum(mu[a] * (t.features @ t.features.T) for a, t in enumerate(tables.values()))
    price = auxiliary_penalty * cvxpy.sum(mu)
    if penalty:
        free = cvxpy.Variable((n, n), PSD=True)
        K, price = K + free, price + penalty / n * cvxpy.trace(free)

    def d2(pairs):
        return cvxpy.hstack([K[i, i] + K[j, j] - 2 * K[i, j] for i, j in pairs.tolist()])

    problem = cvxpy.Problem(cvxpy.Minimize(mean_loss(c, loss, d2) + price))
    return optimum(problem)


def fitted(model, c, F):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the reference's bound is loose at a hinge's kinks
        warnings.filterwarnings("ignore", ".*the best kernel is zero", sm.FeedbackWarning)  # of some draws it is
        return model.fit(c, features=F)


def same_optimum(model, best):
    # at a hinge's kinks steps gain little: of 18 draws one ended 1e-4 above
    assert model.objective_ == pytest.approx(best, rel=1e-3 if model.loss == "hinge" else 1e-4)
    assert model.objective_ - model.gap_ <= best * (1 + 1e-6), "the proven bound lies above the optimum"
    if model.solver != "full":
        # at a hinge's kinks the proof may stay behind the solution, which stands above
        assert model.gap_ <= (1e-2 if model.loss == "hinge" else 1e-4) * model.objective_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", DRAWS)
def test_mkpoe_finds_cvxpys_optimum(loss, seed):
    F = features(seed=seed)
    c = answers(F, seed=seed)
    best = judged_poe(c, loss, 0.2, prepared(Whitened, F), diagonal=False)
    same_optimum(fitted(sm.MKPOE(loss=loss, penalty=0.2, tol=5e-5, max_iter=5000), c, F), best)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", DRAWS)
def test_diagonal_mkpoe_finds_cvxpys_optimum(loss, seed):
    F = features(seed=seed)
    c = answers(F, seed=seed)
    best = judged_poe(c, loss, 0.2, prepared(KernelColumns, F), diagonal=True)
    model = fitted(sm.MKPOE(loss=loss, penalty=0.2, diagonal=True, tol=5e-5, max_iter=5000), c, F)
    same_optimum(model, best)
    assert all((u >= 0).all() for u in model.diagonal_.values())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", DRAWS)
def test_lpoe_finds_cvxpys_optimum(loss, seed):
    F = features(seed=seed)
    c = answers(F, seed=seed)
    X = {"features": F["shape"]}
    best = judged_poe(c, loss, 0.2, prepared(Plain, X), diagonal=False)
    same_optimum(fitted(sm.LPOE(loss=loss, penalty=0.2, tol=5e-5, max_iter=5000), c, F["shape"]), best)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", DRAWS)
def test_auxiliary_kernels_find_cvxpys_optimum(loss, seed):
    F = features(seed=seed)
    c = answers(F, seed=seed)
    tables = prepared(Whitened, F)
    alone = fitted(sm.RCKLMKL(loss=loss, penalty=0.1, tol=5e-5, max_iter=5000), c, F)
    same_optimum(alone, judged_auxiliary(c, loss, 0, 0.1, tables))
    model = sm.RCKLAK(loss=loss, penalty=0.3, auxiliary_penalty=0.1, tol=5e-5, max_iter=5000)
    same_optimum(fitted(model, c, F), judged_auxiliary(c, loss, 0.3, 0.1, tables))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "method", [sm.LPOE, sm.KPOE, sm.MKPOE, sm.RCKLMKL, sm.RCKLAK], ids=lambda method: method.__name__
)
def test_full_and_factored_solvers_agree(method, loss):
    F = features(12, 3)
    c = answers(F, 150, 3)
    given = F if method in (sm.MKPOE, sm.RCKLMKL, sm.RCKLAK) else F["shape"]
    first, second = (
        fitted(method(loss=loss, penalty=0.2, solver=s, tol=2e-4, max_iter=4000), c, given) for s in SOLVERS
    )
    assert first.objective_ == pytest.approx(second.objective_, rel=3e-4)
    # hinges are flat: where objectives differ by 1e-4, kernels did by .08 in one of some two hundred
    np.testing.assert_allclose(first.kernel_, second.kernel_, atol=0.25 * np.abs(first.kernel_).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_kpoe_with_the_identity_kernel_is_rckl(loss):
    F = features(15, 1)
    c = answers(F, 300, 1)
    free = sm.RCKL(loss=loss, penalty=0.3, tol=1e-4, max_iter=5000).fit(c)
    mapped = sm.KPOE(loss=loss, penalty=0.3, tol=1e-4, max_iter=5000).fit(
        c, features=sm.kernels.Precomputed(np.eye(15))
    )
    assert mapped.objective_ == pytest.approx(free.objective_, rel=2e-4)
    np.testing.assert_allclose(mapped.kernel_, free.kernel_, atol=0.02 * np.abs(free.kernel_).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_lpoe_is_kpoe_with_the_linear_kernel(loss):
    F = features(15, 2)
    c = answers(F, 300, 2)
    linear = sm.LPOE(loss=loss, penalty=0.2, tol=1e-4, max_iter=5000).fit(c, features=F["shape"])
    kernel = sm.KPOE(loss=loss, penalty=0.2, tol=1e-4, max_iter=5000).fit(c, features=F["shape"])
    assert linear.objective_ == pytest.approx(kernel.objective_, rel=2e-4)
    np.testing.assert_allclose(linear.kernel_, kernel.kernel_, atol=0.03 * np.abs(linear.kernel_).max())


@pytest.mark.filterwarnings("ignore:MKPOE stopped")  # of some draws the last digits cannot be proven
def test_a_diagonal_hinge_is_a_linear_program_for_highs():
    from scipy.optimize import linprog

    F = features(20, 4)
    c = answers(F, 300, 4)
    # with some processors' sums the proof ends at 1.0e-5 of the objective; what is asked below is ten times that
    model = sm.MKPOE(penalty=0.1, diagonal=True, tol=5e-5, max_iter=20000).fit(c, features=F)
    tables = prepared(KernelColumns, F).values()
    A = np.hstack([steps(t.features, c.far) ** 2 - steps(t.features, c.near) ** 2 for t in tables])
    prices = 0.1 / 20 * np.concatenate([t.prices for t in tables])
    cost = np.r_[prices, np.full(len(c), 1 / len(c))]
    exact = linprog(cost, A_ub=-np.hstack([A, np.eye(len(c))]), b_ub=-np.ones(len(c)), method="highs")
    assert exact.fun * (1 - 1e-6) <= model.objective_ <= exact.fun + max(model.gap_, 1e-4 * exact.fun)
    u = np.concatenate(list(model.diagonal_.values()))
    # The weights themselves are not asked for: some draws are so flat that those of nearly the same objective differ.
    assert 0 < (u > 0.02 * u.max()).sum() < len(u)


def methods():
    return [
        sm.LPOE(penalty=0.05),
        sm.LPOE(loss="logistic", penalty=0.05, diagonal=True),
        sm.KPOE(penalty=0.05),
        sm.KPOE(penalty=0.05, diagonal=True),
        sm.MKPOE(penalty=0.05),
        sm.MKPOE(loss="logistic", penalty=0.05, diagonal=True),
        sm.MKPOE(penalty=0.05, combination="weighted", n_components=4, random_state=0),
        sm.MKPOE(penalty=0.05, combination="shared", n_components=4, random_state=0),
        sm.RCKLMKL(),
        sm.RCKLAK(auxiliary_penalty=0.015),  # by default the price is that which predicts answers best, not new items
        sm.RCKLAK(loss="hinge", auxiliary_penalty=0.015),
        sm.FeatureEmbedding(3, random_state=0),
        sm.FeatureEmbedding(3, loss="hinge", random_state=0),
    ]


def given(model, F):
    return F if not isinstance(model, (sm.LPOE, sm.KPOE)) or isinstance(model, sm.MKPOE) else F["shape"]


def named(model):
    return type(model).__name__ + "-" + "-".join(str(v) for v in model.get_params().values() if isinstance(v, str))


@pytest.fixture(scope="module")
def scene():
    rng = np.random.default_rng(5)
    F = {"shape": rng.normal(size=(40, 3)), "noise": rng.normal(size=(40, 4))}
    new = {"shape": rng.normal(size=(10, 3)), "noise": rng.normal(size=(10, 4))}
    every = np.vstack([F["shape"], new["shape"]]) * [2.0, 1.0, 0.3]
    return F, new, answers(F, 800, 5), sm.simulate(every, 6000, random_state=9)


@pytest.mark.parametrize("model", methods(), ids=named)
def test_new_items_are_placed_by_features(model, scene):
    F, new, c, test = scene
    model = fitted(clone(model), c, given(model, F))
    inside = test.quadruplets.max(1) < 40
    assert model.score(test[inside]) > 0.62  # of RCKLMKL, the least, .777 ± .033
    everything = np.vstack([model.embedding_, model.transform(given(model, new))])
    placed = sm.Similarity(everything, model.similarity_.loss)
    assert placed.score(test[~inside]) > 0.6
    again = model.transform(given(model, F))
    if not isinstance(model, (sm.RCKLAK, sm.FeatureEmbedding)):  # those add a free part that features do not give
        np.testing.assert_allclose(again, model.embedding_, atol=1e-6 * np.abs(again).max())


@pytest.mark.parametrize("model", methods(), ids=named)
def test_manners(model, scene):
    F, _, c, _ = scene
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).transform(F["shape"])
    with pytest.raises(TypeError, match="features: found none"):
        clone(model).fit(c)
    model = fitted(clone(model), c, given(model, F))
    assert model.predict(c).mean() == pytest.approx(model.score(c), abs=0.01)
    assert model.has_probability == (model.loss != "hinge")
    assert model.status_ == "converged" or (model.loss == "hinge" and model.gap_ < 0.01 * model.objective_)
    linear = isinstance(model, sm.LPOE | sm.FeatureEmbedding)  # a row per feature; the others' per training item
    for name, table in model.coefficients_.items():
        rows = F.get(name, F["shape"]).shape[1] if linear else 40
        assert table.shape == (rows, model.embedding_.shape[1])


def test_items_may_lack_a_modality_or_answers(scene):
    F, new, c, _ = scene
    shape = F["shape"].copy()
    shape[3] = np.nan
    model = sm.MKPOE(loss="logistic").fit(
        c, features={"shape": np.vstack([shape, new["shape"]]), "noise": np.vstack([F["noise"], new["noise"]])}
    )
    assert model.similarity_.n_items == 50, "items with features and no answers are items"
    assert np.isfinite(model.embedding_).all()
    some = model.transform({"shape": new["shape"]})
    assert some.shape == (10, model.embedding_.shape[1])
    nothing = model.transform({"shape": np.full((1, 3), np.nan)})
    np.testing.assert_allclose(nothing, 0, atol=1e-9)


def test_a_table_with_names_is_read_by_name():
    F = features(8, 6)["shape"]
    names = [f"item {i}" for i in range(8)]
    rows = sm.simulate(F, 200, random_state=0).triplets
    c = sm.Comparisons.from_triplets(np.array(names)[rows])
    table = pd.DataFrame(F, index=names)
    shuffled = table.sample(frac=1, random_state=0)
    in_order = table.loc[list(c.names)].to_numpy()
    expected = sm.KPOE(loss="logistic").fit(c, features=in_order).embedding_
    np.testing.assert_allclose(sm.KPOE(loss="logistic").fit(c, features=shuffled).embedding_, expected)


@pytest.mark.slow
def test_weights_find_the_features_that_matter():
    rng = np.random.default_rng(7)
    F = {"shape": rng.normal(size=(40, 3)), **{f"noise {k}": rng.normal(size=(40, 3)) for k in range(3)}}
    c = answers(F, 700, 7)
    priced = sm.RCKLAK(auxiliary_penalty=0.3 * 40 / 700)  # by default it may leave the kernels out
    for model in (sm.MKPOE(tol=0.01), sm.MKPOE(diagonal=True, tol=0.01), sm.RCKLMKL(), priced):
        weights = model.fit(c, features=F).weights_
        assert max(weights, key=weights.get) == "shape"
        assert sum(weights[f"noise {k}"] for k in range(3)) < 0.6 * weights["shape"]
    by_column = sm.LPOE(diagonal=True).fit(c, features=F["shape"]).diagonal_["features"]
    assert by_column[0] > by_column[1] > by_column[2]


def test_place_starts_from_the_features(scene):
    F, new, c, _ = scene
    every = np.vstack([F["shape"], new["shape"]]) * [2.0, 1.0, 0.3]
    pool = sm.simulate(every, 8000, random_state=3)
    rows = (pool.quadruplets >= 40).any(1) & (pool.quadruplets < 50).all(1)
    few, test = pool[np.flatnonzero(rows)[:300]], pool[np.flatnonzero(rows)[300:]]
    for model in (sm.RCKLAK(), sm.FeatureEmbedding(3, random_state=0)):
        model.fit(c, features=F)
        placed = model.place(few, features=new, random_state=0)
        by_features = sm.Similarity(np.vstack([model.embedding_, model.transform(new)]), model.similarity_.loss)
        assert placed.score(test) > by_features.score(test) - 0.01  # they may tell all that there is to tell
        with pytest.raises(ValueError, match="one per new item"):
            model.place(few, features={"shape": new["shape"][:3]})


SHAPE = features()["shape"]


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (sm.KPOE(), features(), "use MKPOE, or kernels.Sum"),
        (sm.LPOE(), sm.kernels.RBF(SHAPE), "use KPOE for a kernel"),
        (sm.MKPOE(combination="magic"), SHAPE, "combination: expected one of"),
        (sm.MKPOE(combination="sum"), SHAPE, "combination: expected one of"),
        (sm.MKPOE(), {"a": SHAPE, "b": SHAPE[:4]}, "'b' holds 4 items"),
        (sm.MKPOE(), {"a": np.ones((9, 2))}, "the same values"),
        (sm.KPOE(), SHAPE[:4], "found rows for 4 items, expected 9"),
        (sm.RCKLAK(auxiliary_penalty=-1), SHAPE, "auxiliary_penalty: expected"),
        (sm.FeatureEmbedding(map_penalty=0), SHAPE, "map_penalty: expected"),
        (sm.FeatureEmbedding(loss="magic"), SHAPE, "loss: expected one of"),
    ],
)
def test_bad_input_is_named(model, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(answers(features()), features=given)


def test_matrices_that_are_no_kernels_are_refused():
    with pytest.raises(ValueError, match="not symmetric by 1"):
        sm.kernels.Precomputed(np.triu(np.ones((9, 9))))
    with pytest.raises(ValueError, match="not positive semidefinite: found a least eigenvalue of -1"):
        sm.kernels.Precomputed(np.diag([1.0, 1.0, -1.0]))


def test_transform_refuses_what_it_cannot_read(scene):
    F, new, c, _ = scene
    model = sm.MKPOE(loss="logistic").fit(c, features=F)
    with pytest.raises(ValueError, match="expected a dict with some of shape, noise"):
        model.transform(new["shape"])
    with pytest.raises(ValueError, match="found sound, expected"):
        model.transform({"sound": new["shape"]})
    with pytest.raises(ValueError, match="different numbers of new items"):
        model.transform({"shape": new["shape"], "noise": new["noise"][:2]})
    with pytest.raises(ValueError, match="found 2 columns, expected 3 columns"):
        model.transform({"shape": new["shape"][:, :2]})


@pytest.mark.parametrize("combination", ["weighted", "shared"])
@pytest.mark.parametrize("diagonal", [True, False])
def test_combinations_that_are_not_convex_find_the_kernel_that_counts(combination, diagonal):
    """K2 and K3, full and diagonal: better than equal shares, and new items by the same formula as old ones."""
    rng = np.random.default_rng(3)
    truth, noise = rng.normal(size=(25, 2)), rng.normal(size=(25, 3))
    c, F = sm.simulate(truth, 800, random_state=4), {"look": sm.kernels.RBF(truth), "noise": sm.kernels.RBF(noise)}
    model = sm.MKPOE(loss="logistic", combination=combination, diagonal=diagonal, random_state=0).fit(c, features=F)
    assert sum(model.weights_.values()) == pytest.approx(1.0, abs=1e-5)
    # a full map of both kernels can make up for its shares, so that these say little: .93 ± .13
    assert model.weights_["look"] > (0.3 if combination == "shared" and not diagonal else 0.8)
    placed = model.transform({"look": truth[:4], "noise": noise[:4]})
    np.testing.assert_allclose(placed, model.embedding_[:4], atol=1e-6)


def test_random_starts_beside_the_spectral_one_make_a_shared_map_no_worse(monkeypatch):
    """Full maps end in local optima; more starts can only help."""
    rng = np.random.default_rng(7)
    truth, noise = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))
    c = sm.simulate(truth, 300, flip=0.1, random_state=8)
    F = {"look": sm.kernels.RBF(truth), "noise": sm.kernels.RBF(noise)}
    model = sm.MKPOE(penalty=0.05, combination="shared", n_components=3, random_state=0)
    best = model.fit(c, features=F).objective_
    monkeypatch.setattr(kernel_combinations, "_RANDOM_STARTS", 0)
    assert best <= model.fit(c, features=F).objective_


def test_a_shared_diagonal_map_is_one_of_the_maps_side_by_side():
    """K4 contains K3, so that its optimum is no worse."""
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    c, F = sm.simulate(X, 500, random_state=6), {"one": sm.kernels.RBF(X), "other": sm.kernels.RBF(Y)}
    wide, shared = (
        sm.MKPOE(loss="logistic", diagonal=True, combination=name, penalty=0.3).fit(c, features=F).objective_
        for name in ("concatenate", "shared")
    )
    assert wide <= shared * (1 + 2e-3)


@pytest.mark.slow
def test_the_default_price_of_given_kernels_falls_back_where_they_do_not_help():
    rng = np.random.default_rng(8)
    truth = rng.normal(size=(30, 2))
    c = sm.simulate(truth, 900, random_state=9)
    useless = sm.RCKLAK().fit(c, features={"noise": rng.normal(size=(30, 3))})
    useful = sm.RCKLAK().fit(c[:100], features={"look": truth})
    assert useful.weights_["look"] > 1.0  # 6.2 ± .8 over twelve draws; useless ones weigh 0 in eleven and .12 in one
    assert useless.weights_["noise"] < 0.1 * useful.weights_["look"]
    assert useful.auxiliary_penalty_ < useful.penalty_
