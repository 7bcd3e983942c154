"""Embedding: presets by name, normal noise, losses, penalties and models of one's own."""

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone

import similitude as sm
from similitude.active.head_gain import CrowdKernelGain
from similitude.engine.losses import as_loss
from similitude.engine.models import FeatureWeights, Matrix, Positions, SumOfModels, Weights
from similitude.engine.penalties import NonNegative, Trace
from similitude.methods.similarity import Similarity

TRUTH = np.random.default_rng(0).normal(size=(15, 2))


def logistic_again(m, _):
    """The logistic shape, as a stranger would write it."""
    p = special.expit(m)
    return np.logaddexp(0.0, -m), p - 1.0, p * (1.0 - p)


def laplace_noise(m, width=1.0):
    """-log P(noise < m) for noise of Laplace's distribution."""
    tail = 0.5 * np.exp(-np.abs(m) / width)
    p, density = np.where(m < 0, tail, 1.0 - tail), tail / width
    slope = -density / p
    return -np.log(p), slope, np.where(m < 0, 0.0, density / width / p + slope**2)


@pytest.fixture(scope="module")
def answers():
    return sm.simulate(TRUTH, 1500, sharpness=2.0, random_state=1)


def with_normal_noise(positions, m, seed):
    """Answers of people whose margins have normal noise of deviation 1."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(len(positions))[:3] for _ in range(m)])
    d2 = [((positions[rows[:, 0]] - positions[rows[:, k]]) ** 2).sum(1) for k in (1, 2)]
    swapped = d2[1] - d2[0] + rng.normal(size=m) < 0
    rows[swapped] = rows[swapped][:, [0, 2, 1]]
    return sm.Comparisons.from_triplets(rows)


@pytest.mark.parametrize("method", [sm.STE, sm.TSTE, sm.CKL, sm.SOE, sm.GNMDS])
def test_the_methods_are_presets(method, answers):
    preset = method(2, random_state=0).fit(answers)
    named = sm.Embedding(2, loss=method.__name__.lower(), random_state=0).fit(answers)
    assert np.array_equal(named.embedding_, preset.embedding_)
    assert (named.objective_, named.penalty_) == (preset.objective_, preset.penalty_)


@pytest.mark.parametrize(("name", "same"), [("logistic", "ste"), ("hinge", "gnmds")])
def test_losses_have_the_names_of_other_estimators_too(name, same):
    assert as_loss(name) == as_loss(same)


def test_normal_noise_is_recovered():
    model = sm.Embedding(2, loss="probit", random_state=0).fit(with_normal_noise(TRUTH, 6000, 1))
    test = with_normal_noise(TRUTH, 2000, 2)
    d2 = [((TRUTH[pair[:, 0]] - TRUTH[pair[:, 1]]) ** 2).sum(1) for pair in (test.near, test.far)]
    off = np.abs(model.predict_proba(test)[:, 1] - special.ndtr(d2[1] - d2[0]))
    assert off.mean() < 0.03  # over draws .013 ± .002, and once .022
    assert sm.procrustes_distance(model.embedding_, TRUTH) < 0.02  # .002 ± .0005


def test_raters_and_groups_of_normal_noise():
    c = with_normal_noise(TRUTH, 2000, 1)
    for method in (sm.RaterEmbedding, sm.GroupEmbedding, sm.MixedEmbedding):
        model = method(2, method="probit", random_state=0).fit(c)
        pooled = sm.Embedding(2, loss="probit", random_state=0).fit(c)
        np.testing.assert_allclose(model.predict_proba(c), pooled.predict_proba(c), atol=1e-6)


@pytest.mark.slow
def test_sharpness_of_raters_with_normal_noise_and_lapses():
    sharp = [with_normal_noise(size * TRUTH, 1500, seed) for seed, size in ((1, 1.5), (2, 0.5))]
    said = [
        c.with_rater(name) if hasattr(c, "with_rater") else c for c, name in zip(sharp, ("ann", "ben"), strict=True)
    ]
    rows = np.concatenate([c.triplets for c in said])
    raters = np.repeat(["ann", "ben"], 1500)
    c = sm.Comparisons.from_triplets(rows, rater=raters)
    for lapse in (False, True):
        table = sm.RaterEmbedding(2, method="probit", lapse=lapse, random_state=0).fit(c).raters_
        assert table.sharpness[0] > 2 * table.sharpness[1]


def test_uncertainty_and_questions_of_normal_noise():
    c = with_normal_noise(TRUTH, 800, 1)
    model = sm.Embedding(2, loss="probit", random_state=0).fit(c)
    assert sm.uncertainty(model, c, method="laplace", n=5, random_state=0) is not None
    for strategy in ("information_gain", "uncertainty", "ackl"):
        scores = sm.next_questions(model, 8, asked=c, strategy=strategy, random_state=0).score.dropna()
        assert ((scores >= 0) & (scores <= 1)).all()


def test_a_shape_of_ones_own_scores_questions_as_the_compiled_one(answers):
    X = sm.STE(2, random_state=0).fit(answers).embedding_
    known, own = (Similarity(X, as_loss(loss)) for loss in ("ste", logistic_again))
    tables = [CrowdKernelGain(similarity, answers).table(3) for similarity in (known, own)]
    np.testing.assert_allclose(tables[1], tables[0], atol=1e-9)


@pytest.mark.parametrize("solver", ["lbfgs", "minibatch"])
def test_an_own_loss_is_fitted_as_the_compiled_one(answers, solver):
    settings = {"init": TRUTH, "solver": solver, "random_state": 0, "tol": 1e-12}
    known = sm.Embedding(2, loss="ste", **settings).fit(answers)
    own = sm.Embedding(2, loss=logistic_again, **settings).fit(answers)
    assert own.objective_ == pytest.approx(known.objective_, rel=1e-9)
    np.testing.assert_allclose(own.embedding_, known.embedding_, atol=1e-4)
    np.testing.assert_allclose(own.predict_proba(answers), known.predict_proba(answers), atol=1e-4)


def test_an_own_loss_goes_everywhere(answers, tmp_path):
    model = sm.Embedding(2, loss=("squared", (laplace_noise, 0.8)), random_state=0).fit(answers)
    assert model.score(answers) > 0.75
    assert model.has_probability
    assert sm.log_loss(model, answers) < 0.6
    assert clone(model).comparison_loss() == model.comparison_loss()
    with pytest.raises(ValueError, match=r"'laplace_noise' is a formula of your own.*numpy\.save"):
        model.similarity_.save(tmp_path / "map.sim")
    assert not (tmp_path / "map.sim").exists()
    again = Similarity(model.embedding_, model.comparison_loss())
    assert np.array_equal(again.predict_proba(answers), model.predict_proba(answers))
    placed = model.place(sm.Comparisons.from_triplets([(15, 0, 1), (15, 0, 2), (0, 15, 3)]), random_state=0)
    assert placed.n_items == 16


def test_an_own_loss_is_a_candidate_of_auto_similarity(answers, tmp_path):
    candidates = [sm.Embedding(loss=laplace_noise), sm.CKL()]
    model = sm.AutoSimilarity(candidates=candidates, dimensions=(2,), n_folds=2, random_state=0).fit(answers)
    assert {*model.tried_.candidate} == {"Embedding", "CKL"}
    model.similarity_.save(tmp_path / "map.sim")  # its probabilities are calibrated, with formulas that have names
    assert np.array_equal(Similarity.load(tmp_path / "map.sim").margin(answers), model.similarity_.margin(answers))


def test_a_loss_of_named_parts_is_saved(answers, tmp_path):
    model = sm.Embedding(2, loss=(("student", 2.0), "probit"), random_state=0).fit(answers)
    model.similarity_.save(tmp_path / "map.sim")
    loaded = Similarity.load(tmp_path / "map.sim")
    assert loaded.loss == model.comparison_loss()
    assert np.array_equal(loaded.predict_proba(answers), model.predict_proba(answers))


def test_online_answers_with_normal_noise(tmp_path):
    c, test = with_normal_noise(TRUTH, 3000, 1), with_normal_noise(TRUTH, 2000, 2)
    model = sm.OnlineEmbedding(2, loss="probit", random_state=0).fit(c)
    i, j, k = test.triplets.T
    margin = ((TRUTH[i] - TRUTH[k]) ** 2).sum(1) - ((TRUTH[i] - TRUTH[j]) ** 2).sum(1)
    assert model.score(test) > (margin > 0).mean() - 0.04  # less than the truth by .003 ± .007
    assert sm.log_loss(model, test) < -special.log_ndtr(margin).mean() + 0.05  # more by .009 ± .005
    model.save(tmp_path / "state")
    loaded = sm.OnlineEmbedding.load(tmp_path / "state")
    assert np.array_equal(loaded.predict_proba(test), model.predict_proba(test))
    assert model.refit().score(test) > (margin > 0).mean() - 0.03


def rewards_wrong(m, _):
    p = special.expit(m)
    return np.logaddexp(0.0, m), p, p * (1.0 - p)


def one_price(m, _):
    return 1.0 + 0.0 * m, 0.0 * m, 0.0 * m


def by_size(m, _):
    return m**2, 2.0 * m, 2.0 + 0.0 * m


def least_squares(m, _):
    return (1.0 - m) ** 2, 2.0 * (m - 1.0), 2.0 + 0.0 * m


def spoils_its_array(m, _):
    m -= 1.0
    return m**2, 2.0 * m, 2.0 + 0.0 * m


def test_a_shape_that_changes_its_array_is_refused_and_spoils_no_later_one(answers):
    for _ in range(2):
        with pytest.raises(ValueError, match="changes the array that it is given"):
            sm.Embedding(2, loss=spoils_its_array, random_state=0).fit(answers)
    sm.Embedding(2, loss=least_squares, random_state=0).fit(answers)


@pytest.mark.parametrize("shape", [rewards_wrong, one_price, by_size])
def test_a_shape_that_does_not_tell_right_from_wrong_is_refused(shape, answers):
    with pytest.raises(ValueError, match=f"{shape.__name__} does not tell right from wrong: a margin of"):
        sm.Embedding(2, loss=shape).fit(answers)


@pytest.mark.parametrize("scale", [rewards_wrong, one_price])
def test_a_scale_must_grow(scale, answers):
    falling = lambda t, _: tuple(-part for part in scale(t, _))  # noqa: E731
    with pytest.raises(ValueError, match=r"does not grow with the squared distance: from"):
        sm.Embedding(2, loss=(falling, "logistic")).fit(answers)


def test_a_shape_that_rises_again_may_be_used(answers):
    assert sm.Embedding(2, loss=least_squares, random_state=0).fit(answers).score(answers) > 0.8


def test_an_own_loss_is_called_by_its_name(answers):
    several = [sm.Embedding(2, loss=loss, random_state=0) for loss in (laplace_noise, least_squares)]
    table = sm.cross_validate(several, answers, n_folds=2, random_state=0)
    assert list(table.estimator) == [
        "Embedding(loss=laplace_noise, random_state=0)",
        "Embedding(loss=least_squares, random_state=0)",
    ]


def wrong_slope(m, _):
    return np.exp(-m), np.exp(-m), np.exp(-m)


def with_an_if(m, _):
    return (0.0, 0.0, 0.0) if m > 0 else (-m, -1.0, 0.0)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("stee", r"loss: expected 'ste', 'tste'.* found 'stee'"),
        (("squared", "logit"), r"loss: its shape 'logit' is not among logistic"),
        (("square", "logistic"), r"loss: its scale 'square' is not among squared"),
        (3.0, r"loss: expected a name, a shape, or a pair"),
        (("squared", 3.0), r"loss: expected its shape as a name or a function"),
        (wrong_slope, r"loss: the slope of wrong_slope at -0\.137 is 1\.1\d+, but small steps say -1\.1"),
        (with_an_if, r"loss: with_an_if\(array, 0\) must give value, slope and curvature"),
        (lambda m, _: (1.0, 2.0, 0.0 * m), r"loss: the slope of <lambda> at .* is 2, but small steps say 0"),
        ((("student", np.nan), "logistic"), r"loss: the parameter of 'student' must be a positive finite number"),
        ((("logarithm", "x"), "logistic"), r"loss: the parameter of 'logarithm' must be a positive .* found 'x'"),
        (("squared", ("hinge", -1)), r"loss: the parameter of 'hinge' must be a positive finite number, found -1"),
        (("squared", ("probit", 2)), r"loss: 'probit' has no parameter, found 2"),
    ],
)
def test_a_loss_that_cannot_be_is_refused_with_the_reason(answers, loss, message):
    with pytest.raises(ValueError, match=message):
        sm.Embedding(2, loss=loss).fit(answers)


def test_a_kernel_with_a_trace_is_the_optimum_of_rckl(answers):
    kernel = sm.Embedding(model=Matrix(15), penalty=Trace(0.1, 15), random_state=0, max_iter=3000, tol=1e-9).fit(
        answers
    )
    certified = sm.RCKL(penalty=0.1).fit(answers)
    assert kernel.objective_ == pytest.approx(certified.objective_, abs=2 * certified.gap_ + 1e-4)
    np.testing.assert_allclose(kernel.distances(), certified.distances(), atol=0.1)


@pytest.mark.parametrize("kind", ["mapped", "beside", "columns", "tables", "sum"])
def test_positions_of_any_model_have_its_distances(answers, kind):
    features = np.hstack([TRUTH, np.random.default_rng(3).normal(size=(15, 2))])
    tables = np.array(
        [sm.Similarity(own, as_loss("ste")).distances() ** 2 for own in (features[:, :2], features[:, 2:])]
    )
    penalty = NonNegative(0.001) if kind in ("columns", "tables") else 0.001
    models = {
        "mapped": lambda n, d: Positions(n, d, features=features),
        "beside": lambda n, d: Positions(n, d, beside=features[:, :1]),
        "columns": FeatureWeights(features),
        "tables": Weights(tables),
        "sum": lambda n, d: SumOfModels([Positions(n, d), Positions(n, 1, features=features)]),
    }
    model = sm.Embedding(2, model=models[kind], penalty=penalty, random_state=0, max_iter=3000).fit(answers)
    assert model.score(answers) > 0.8
    assert model.predict_proba(answers).shape == (1500, 2)


def test_what_a_model_cannot_do_is_said(answers, tmp_path):
    with pytest.raises(ValueError, match="model: it is of 9 items, but the comparisons are about 15"):
        sm.Embedding(model=Positions(9, 2)).fit(answers)
    with pytest.raises(ValueError, match="model: expected 'positions'"):
        sm.Embedding(model="kernel").fit(answers)
    with pytest.raises(ValueError, match="model: expected 'positions'"):
        sm.Embedding(model=lambda n, d: np.zeros((n, d))).fit(answers)
    with pytest.raises(ValueError, match=r"device: 'cuda' is for free positions with a ridge"):
        sm.Embedding(model=Matrix(15), device="cuda").fit(answers)
    with pytest.raises(TypeError, match=r"minibatch needs free positions"):
        sm.Embedding(model=Matrix(15), solver="minibatch").fit(answers)
    with pytest.raises(TypeError, match=r"Trace has no gradient.*accelerated"):
        sm.Embedding(model=Matrix(15), penalty=Trace(0.1), solver="lbfgs").fit(answers)
    with pytest.raises(ValueError, match=r"init: expected finite positions of shape \(225,\)"):
        sm.Embedding(model=Matrix(15), init=TRUTH).fit(answers)


def test_an_item_never_compared_stands_where_its_features_put_it(answers):
    features = np.vstack([TRUTH, TRUTH[:1]])  # nobody compared the last, which is as the first
    with pytest.warns(sm.FeedbackWarning, match="1 of 16"):
        model = sm.Embedding(model=FeatureWeights(features), penalty=NonNegative(0.001), n_items=16).fit(answers)
    np.testing.assert_allclose(model.embedding_[15], model.embedding_[0])
    assert np.abs(model.embedding_[0]).max() > 1e-3
