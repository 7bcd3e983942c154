"""CAMEL: its gradient, the conditions of its minimum, confidences as rankings, explanations that add up."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

import similitude as sm
from similitude.engine import confidence as objective
from similitude.engine.confidence import Classes, ConfidenceProblem, split
from similitude.engine.confidence_ranking import ConfidenceRanking, hinges_above
from similitude.engine.terms import hinge
from similitude.methods import confidence_starts


def experts(n, rng, noise=0.1, m=6):
    """Rows whose class is the sign of a margin, and how sure an expert is of it."""
    X = rng.normal(size=(n, m))
    margin = X[:, 0] + 0.5 * X[:, 1]
    sure = np.clip(1 / (1 + np.exp(-2 * np.abs(margin))) + noise * rng.normal(size=n), 0, 1)
    return X, (margin > 0).astype(int), sure


def problem(rng, ranking=True, n=25, classes=3):
    X = rng.normal(size=(n, 4))
    groups = Classes.of(np.sort(rng.integers(0, classes, n)))
    pairs = (0.7, ConfidenceRanking(rng.random(n).round(1), groups, 0.1)) if ranking else None
    return ConfidenceProblem(X, groups, rng.uniform(0.5, 2.0, n), 0.01, pairs)


def naive_losses(X, code, L):
    """s_i by its definition, pair by pair."""
    found = []
    for i in range(len(X)):
        k = np.array([np.exp(-((L @ (X[i] - X[j])) ** 2).sum()) for j in range(len(X))])
        same = (code == code[i]) & (np.arange(len(X)) != i)
        found.append(k[code != code[i]].mean() - (k[same].mean() if same.any() else 0.0))
    return np.array(found)


def test_losses_are_the_definition_and_leave_out_by_position(rng):
    case = problem(rng)
    case.X[1] = case.X[0]  # a duplicate counts: only the item itself is left out
    L = rng.normal(size=(2, 4))
    np.testing.assert_allclose(case.losses(case.X @ L.T), naive_losses(case.X, case.classes.code, L), atol=1e-14)


def test_an_item_alone_in_its_class_is_like_none(rng):
    groups = Classes.of(np.array([0, 0, 0, 1]))
    case = ConfidenceProblem(rng.normal(size=(4, 2)), groups, np.ones(4), 0.0)
    np.testing.assert_allclose(case.losses(case.X), naive_losses(case.X, groups.code, np.eye(2)))


@pytest.mark.parametrize("ranking", [True, False])
def test_the_gradient_by_finite_differences(rng, ranking):
    case = problem(rng, ranking)
    L = 0.5 * rng.normal(size=(3, 4))
    slope = case.smooth(L)[1].ravel()
    numeric = optimize.approx_fprime(L.ravel(), lambda flat: case.smooth(flat.reshape(3, 4))[0], 1e-6)
    np.testing.assert_allclose(slope, numeric, atol=2e-6)
    params = rng.uniform(0.1, 1.0, 24)
    numeric = optimize.approx_fprime(params, case.value, 1e-6)
    np.testing.assert_allclose(case.value_and_gradient(params)[1], numeric, atol=3e-6)


@pytest.mark.parametrize("ranking", [True, False])
def test_tiles_change_nothing(rng, monkeypatch, ranking):
    case = problem(rng, ranking)
    L = rng.normal(size=(2, 4))
    value, slope = case.smooth(L)
    monkeypatch.setattr(objective, "_TILE", 7)
    in_tiles = case.smooth(L)
    np.testing.assert_allclose(in_tiles[0], value)
    np.testing.assert_allclose(in_tiles[1], slope)


def test_the_ranking_is_the_mean_over_its_pairs(rng):
    case = problem(rng)
    ranking, s, code = case.ranking[1], rng.normal(size=25), case.classes.code
    pairs = [(a, b) for a in range(25) for b in range(25) if code[a] == code[b]]
    pairs = [(a, b) for a, b in pairs if ranking.confidence[a] > ranking.confidence[b]]
    assert ranking.n_pairs == len(pairs)
    short = np.array([max(s[a] - s[b] + 0.1, 0.0) for a, b in pairs])
    value, slope = ranking(s)
    assert abs(value - short.mean()) <= 0.25 * 0.1  # rounding takes a quarter of the margin at most
    numeric = optimize.approx_fprime(s, lambda t: ranking(t)[0], 1e-7)
    np.testing.assert_allclose(slope, numeric, atol=1e-5)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_hinges_without_pairs_are_the_hinges_of_all_pairs(rng, scale):
    x, order = scale * rng.normal(size=80).round(1), rng.random(80).round(1)  # ties in both
    loss, slope, _ = hinge(x - x[:, None], 0.5)  # a in rows, b in columns: short = 1 + x_a - x_b
    above = order[:, None] > order
    value, falls = hinges_above(x, order, 0.5)
    np.testing.assert_allclose(value, loss[above].sum(), rtol=1e-10)
    np.testing.assert_allclose(falls, -(slope * above).sum(0), rtol=1e-10, atol=1e-10)


def test_no_pair_no_hinge():
    value, slope = hinges_above(np.array([0.3, 0.1]), np.array([0.5, 0.5]), 0.5)
    assert value == 0.0
    assert not slope.any()


@pytest.mark.parametrize("with_confidence", [True, False])
def test_the_conditions_of_a_minimum_hold(rng, with_confidence):
    X, y, sure = experts(60, rng)
    model = sm.CAMEL(penalty=0.01, tol=1e-13, max_iter=2000, random_state=0).fit(
        X, y, sure if with_confidence else None
    )
    assert model.optimality_ < 1e-5
    assert 0 < model.sparsity_ < 1
    assert model.sparsity_ == (model.components_ == 0).mean()
    assert model.rank_ == np.linalg.matrix_rank(model.components_)


def test_nothing_is_a_minimum_that_the_fit_avoids(rng):
    X, y, sure = experts(60, rng)
    case = ConfidenceProblem(X[np.argsort(y)], Classes.of(np.sort(y)), np.ones(60), 0.01)
    nothing = np.zeros((2, 6))
    assert case.breach(nothing) == 0.0  # L = 0 meets the conditions
    nearby = [case.value(split(1e-3 * rng.normal(size=(2, 6)))) for _ in range(20)]
    assert min(nearby) > case.value(split(nothing))  # and is a local minimum
    assert case.value(split(nothing)) == 0.0  # all are alike: S = N for every item
    without, using = (sm.CAMEL(penalty=0.01, random_state=0).fit(X, y, given) for given in (None, sure))
    assert without.objective_ < 0.0
    everything_equal = 4.0 * 0.3 * (1 - 0.5 / 2)  # ranking · margin, rounded: what L = 0 costs with confidences
    assert using.objective_ < everything_equal
    assert using.components_.any()


@pytest.mark.parametrize(("draw", "penalty"), [(0, 5.0), (0, 1e4), (111, 5.0), (501, 20.0)])
def test_a_price_that_leaves_nothing_is_lowered_and_said(draw, penalty):
    # of the last two a rounding of 1e-16 was left, and called an entry
    X, y, _ = experts(60, np.random.default_rng([0, draw]))
    with pytest.warns(ConvergenceWarning, match=f"penalty: {penalty:g} leaves no entry of L"):
        model = sm.CAMEL(penalty=penalty, random_state=0).fit(X, y)
    assert np.abs(model.components_).max() > 1e-6
    assert model.penalty_ < penalty


def test_a_fit_cut_short_says_so(rng):
    X, y, _ = experts(60, rng)
    with pytest.warns(ConvergenceWarning, match="max_iter: stopped after 2 iterations"):
        assert sm.CAMEL(max_iter=2, random_state=0).fit(X, y).status_ == "max_iter"
    assert sm.CAMEL(random_state=0).fit(X, y).status_ == "converged"


def test_a_larger_price_gives_fewer_entries(rng):
    X, y, _ = experts(80, rng)
    sparsity = [sm.CAMEL(penalty=penalty, random_state=0).fit(X, y).sparsity_ for penalty in (1e-7, 1e-3, 0.1)]
    assert sparsity == sorted(sparsity)
    assert sparsity[0] < sparsity[-1]


def test_it_finds_the_features_that_matter_and_predicts(rng):
    X, y, sure = experts(150, rng)
    new, kinds, _ = experts(300, rng)
    model = sm.CAMEL(penalty=0.01, random_state=0).fit(X, y, sure)
    used = np.abs(model.components_).sum(0)
    assert set(np.argsort(-used)[:2]) == {0, 1}
    assert roc_auc_score(kinds, model.predict_proba(new)[:, 1]) > 0.97
    assert (model.predict(new) == kinds).mean() > 0.87  # .967 ± .017


@pytest.mark.slow
def test_confidences_help_where_labels_are_few():
    """At the defaults, on draws that were used to choose nothing. The gain of thirty is .05 ± .02."""
    gains = []
    for draw in range(500, 530):
        rng = np.random.default_rng(draw)
        X, y, sure = experts(24, rng, noise=0.05, m=10)
        new, kinds, _ = experts(300, rng, m=10)
        scores = [
            roc_auc_score(kinds, sm.CAMEL(random_state=0).fit(X, y, given).decision_function(new))
            for given in (None, sure)
        ]
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > -0.03


@pytest.mark.slow
def test_confidences_upside_down_hurt():
    found = []
    for draw in range(26):
        rng = np.random.default_rng([3, draw])
        X, y, sure = experts(60, rng, noise=0.0)
        new, kinds, _ = experts(400, rng)
        models = (sm.CAMEL(penalty=0.003, ranking=5.0, random_state=0).fit(X, y, c) for c in (sure, 1 - sure))
        found.append([roc_auc_score(kinds, model.decision_function(new)) for model in models])
    right, wrong = np.mean(found, axis=0)
    assert right > wrong  # .19 ± .23 of a draw, / √26


def test_equal_confidences_are_no_confidences(rng):
    X, y, _ = experts(40, rng)
    with_them, without = (sm.CAMEL(random_state=0).fit(X, y, c) for c in (np.full(40, 0.7), None))
    np.testing.assert_array_equal(with_them.components_, without.components_)


def test_scores_are_their_definitions(rng):
    X, y = load_iris(return_X_y=True)
    model = sm.CAMEL(penalty=0.003, random_state=0).fit(X, y)
    Z, new = model.transform(X), model.transform(X[:5])
    K = np.exp(-((new[:, None] - Z) ** 2).sum(2))
    S = np.stack([K[:, y == k].mean(1) for k in range(3)], 1)
    np.testing.assert_allclose(model.predict_proba(X[:5]), S / S.sum(1, keepdims=True), rtol=1e-6)
    rest = K[:, y != 1].mean(1)
    np.testing.assert_allclose(model.confidence_score(X[:5], 1), S[:, 1] / (S[:, 1] + rest), rtol=1e-6)
    np.testing.assert_array_equal(model.confidence_score(X[:5], np.ones(5)), model.confidence_score(X[:5], 1))
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (150, 3)


def test_two_classes_have_the_confidence_as_probability(rng):
    X, y, _ = experts(50, rng)
    model = sm.CAMEL(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], model.confidence_score(X, 1), rtol=1e-9)
    far = 1e4 * np.ones((1, 6))
    assert np.isfinite(model.predict_proba(far)).all()


def test_balanced_counts_classes_alike(rng):
    found = []
    for _ in range(8):
        X, y, _ = experts(90, rng)
        keep = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:6]]
        plain, balanced = (sm.CAMEL(balanced=flag, random_state=0).fit(X[keep], y[keep]) for flag in (False, True))
        assert not np.array_equal(plain.components_, balanced.components_)
        new, kinds, _ = experts(400, rng)
        found.append((balanced.predict(new)[kinds == 1] == 1).mean())
    assert np.mean(found) > 0.68  # .83 ± .10 of 24 other draws each, so ± .035 of eight


def test_explanations_add_up(rng):
    frame = pd.DataFrame(experts(60, rng)[0], columns=list("abcdef"))
    y = np.where(frame.a + 0.5 * frame.b > 0, "ill", "well")
    model = sm.CAMEL(penalty=0.002, random_state=0).fit(frame, y)
    row = frame.iloc[[7]]
    for label in ("ill", "well"):
        why = model.explain(frame.iloc[7], label)
        sign = 1 if label == "well" else -1
        np.testing.assert_allclose(why.log_odds, sign * model.decision_function(row)[0], rtol=1e-6)
        np.testing.assert_allclose(why.confidence, model.confidence_score(row, label)[0], rtol=1e-6)
        np.testing.assert_allclose(why.by_factor.sum(), why.by_feature.sum())
    assert why.features == tuple("abcdef")
    assert not why.contributions[model.components_ == 0].any()
    table = why.table()
    np.testing.assert_allclose(table.contribution.sum(), why.log_odds)
    assert list(table.contribution.abs()) == sorted(table.contribution.abs(), reverse=True)
    assert model.explain(frame.iloc[7]).label == model.predict(row)[0]


def test_many_items_start_with_some(rng, monkeypatch):
    X, y, sure = experts(120, rng)
    monkeypatch.setattr(confidence_starts, "_MOST_EARLY", 40)
    rows = confidence_starts.early_rows(np.sort(y), np.random.RandomState(0))
    assert 38 <= len(rows) <= 42
    assert set(np.sort(y)[rows]) == {0, 1}
    model = sm.CAMEL(penalty=0.01, random_state=0, tol=1e-12, max_iter=1000).fit(X, y, sure)
    assert model.optimality_ < 1e-4


@pytest.mark.own_seed
def test_beside_a_bound_a_small_gain_is_no_end(monkeypatch):
    """In this draw steps beside a bound were once so short that it was called converged at a slope of .017."""
    monkeypatch.setattr(confidence_starts, "_MOST_EARLY", 40)
    X, y, sure = experts(120, np.random.default_rng([0, 704]))
    model = sm.CAMEL(penalty=0.01, random_state=0, tol=1e-12, max_iter=1000).fit(X, y, sure)
    assert model.status_ == "converged"
    assert model.optimality_ < 1e-4


def test_fewer_factors_and_the_same_bits_again(rng):
    X, y, sure = experts(40, rng)
    one, two = (sm.CAMEL(2, random_state=5).fit(X, y, sure) for _ in range(2))
    assert one.components_.shape == (2, 6)
    np.testing.assert_array_equal(one.components_, two.components_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # classes at random leave L empty
def test_scikit_learn_accepts_it():
    check_estimator(sm.CAMEL(max_iter=30, n_init=1), on_skip=None)


class TestBadInput:
    def test_one_class(self, rng):
        with pytest.raises(ValueError, match=r"y: found one class only, .*expected two classes at least"):
            sm.CAMEL().fit(rng.normal(size=(5, 2)), np.ones(5, int))

    @pytest.mark.parametrize(
        ("confidence", "message"),
        [
            (np.r_[np.full(39, 0.5), 1.2], "confidence: .*1.2"),
            (np.r_[np.full(39, 0.5), np.nan], "confidence: .*nan"),
            (np.full(3, 0.5), r"confidence: expected one number per row of X \(40\), found shape \(3,\)"),
        ],
    )
    def test_confidence(self, rng, confidence, message):
        X, y, _ = experts(40, rng)
        with pytest.raises(ValueError, match=message):
            sm.CAMEL().fit(X, y, confidence)

    def test_missing_values(self, rng):
        X, y, _ = experts(40, rng)
        X[3, 1] = np.nan
        with pytest.raises(ValueError, match="contains NaN"):
            sm.CAMEL().fit(X, y)

    def test_a_constant_feature_has_no_weight(self, rng):
        X, y, _ = experts(40, rng)
        model = sm.CAMEL(random_state=0).fit(np.c_[X, np.full(40, 1e6)], y)
        assert not model.components_[:, -1].any()
        assert np.isfinite(model.predict_proba(np.c_[X, np.zeros(40)])).all()

    def test_no_feature_varies(self):
        with pytest.raises(ValueError, match="X: no feature varies"):
            sm.CAMEL().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])

    def test_unknown_classes_and_several_rows(self, rng):
        X, y, _ = experts(40, rng)
        model = sm.CAMEL(random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="y: found the class 7, expected one of 0, 1"):
            model.confidence_score(X, 7)
        with pytest.raises(ValueError, match="y: found the class 7, expected one of 0, 1"):
            model.explain(X[0], 7)
        with pytest.raises(ValueError, match=r"row: expected 6 finite numbers.*of shape"):
            model.explain(X[:2])

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"penalty": -1.0}, "penalty: expected a number of at least 0, found -1.0"),
            ({"ranking": np.nan}, "ranking: expected a number of at least 0, found nan"),
            ({"margin": 0.0}, "margin: expected a positive number, found 0.0"),
            ({"n_components": 0}, "n_components: expected a whole number of at least 1, found 0"),
            ({"n_init": 1.5}, "n_init: expected a whole number of at least 1, found 1.5"),
        ],
    )
    def test_settings(self, rng, settings, message):
        X, y, _ = experts(20, rng)
        with pytest.raises(ValueError, match=message):
            sm.CAMEL(**settings).fit(X, y)
