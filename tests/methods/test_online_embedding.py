"""OnlineEmbedding: its step against the formulas, the reservoir, the average, the batch refit."""

import numpy as np
import pytest
from scipy import optimize

import similitude as sm
from similitude.engine import terms
from similitude.engine.online import RECENT, draw_below, embedding_steps, remember
from similitude.engine.terms import Formula, logistic
from similitude.methods.online.base import fit_slope, shape_code

LOGISTIC = Formula(logistic)


def thesis(seed=0, m=3000):
    """A smaller form of the thesis' synthetic data: many dimensions, no noise."""
    points = np.random.default_rng(seed).normal(size=(40, 20))
    return sm.simulate(points, m, random_state=seed + 1), sm.simulate(points, 5000, random_state=seed + 2)


def one_step(X, row, rate, loss, prior=0.0):
    X = X.copy()
    n = len(X)
    embedding_steps(
        X, X.copy(), np.zeros(n, np.int64), np.zeros(n), np.array([row], np.int32), np.ones(1),
        np.zeros((1, 4), np.int32), np.zeros(1), 0, np.zeros(1, np.uint64), np.zeros(RECENT),
        rate, shape_code(loss), prior, 3.0, 0,
    )  # fmt: skip
    return X


def margin(flat, shape, row):
    X = flat.reshape(shape)
    i, j, k, l = row
    return ((X[k] - X[l]) ** 2).sum() - ((X[i] - X[j]) ** 2).sum()


@pytest.mark.parametrize("row", [(0, 1, 0, 2), (0, 1, 2, 3)])
@pytest.mark.parametrize("loss", ["logistic", "probit", "hinge"])
def test_a_step_goes_along_the_gradient_as_far_as_the_formula_says(row, loss):
    for seed in [*range(10), [1, 117], [4, 1114]]:  # by the last two Newton's steps go to and fro
        X = np.random.default_rng(seed).normal(size=(5, 3)) * 0.5
        rate = 0.2
        m = margin(X.ravel(), X.shape, row)
        g = optimize.approx_fprime(X.ravel(), margin, 1e-7, X.shape, row)
        if loss == "hinge":
            t = min(rate, max(0.0, 1 - m) / (g @ g))
        else:
            shape = getattr(terms, loss)
            t = optimize.brentq(lambda t: t + rate * shape(np.array([m + t * (g @ g)]))[1][0], 0, 5)  # noqa: B023
        found = one_step(X, row, rate, loss)
        np.testing.assert_allclose(found.ravel(), X.ravel() + t * g, atol=1e-5)


def test_the_prior_pulls_the_items_of_the_answer_to_the_centre():
    X = np.random.default_rng(0).normal(size=(5, 3))
    free, held = (one_step(X, (0, 1, 0, 2), 0.1, "logistic", prior) for prior in (0.0, 2.0))
    np.testing.assert_allclose(held[:3], free[:3] / (1 + 2 * 0.1 * 2.0))
    assert np.array_equal(held[3:], X[3:])


def test_the_read_out_is_the_weighted_mean_of_an_items_positions():
    """Step k has the weight (k + 3 choose 4) - (k + 2 choose 4), which grows as k³, for `forget` 3."""
    c = sm.simulate(np.random.default_rng(0).normal(size=(3, 2)), 30, random_state=1)
    model = sm.OnlineEmbedding(2, replay=0, n_items=3, random_state=0)
    seen = []
    for row in c.triplets:
        model.partial_fit(row[None])
        seen.append(model._X.copy())
    k = np.arange(1.0, 31)
    weight = k * (k + 1) * (k + 2)
    np.testing.assert_allclose(model._average, np.tensordot(weight / weight.sum(), np.array(seen), 1), atol=1e-12)


def test_the_reservoir_keeps_every_answer_with_the_same_chance():
    state, kept = np.array([7], np.uint64), np.zeros(200)
    for _ in range(2000):
        rows, weights = np.full((10, 4), -1, np.int32), np.zeros(10)
        for answer in range(200):
            remember(rows, weights, answer, np.full(4, answer, np.int32), 1.0, state)
        assert len(set(rows[:, 0].tolist())) == 10
        kept[rows[:, 0]] += 1
    expected = 2000 * 10 / 200
    assert ((kept - expected) ** 2 / expected).sum() < 260  # chi-square, 199 degrees: 260 is beyond 1 in 400


def test_draws_are_even_and_never_out_of_range():
    state = np.array([1], np.uint64)
    counts = np.bincount([draw_below(state, 7) for _ in range(14_000)], minlength=7)
    assert len(counts) == 7
    assert ((counts - 2000) ** 2 / 2000).sum() < 22.5  # 6 degrees: 1 in 1000


def test_memory_is_bounded():
    c, _ = thesis()
    model = sm.OnlineEmbedding(5, memory=100, replay=2, random_state=0).fit(c)
    assert model._rows.shape == (100, 4)
    assert {tuple(row) for row in model._rows} <= {tuple(row) for row in c.quadruplets}
    assert model._rows[:, 0].shape == (100,)


@pytest.mark.slow
def test_replay_beats_no_replay_and_keeps_up_with_ten_passes_of_erkle():
    c, unseen = thesis()
    none, some = (sm.OnlineEmbedding(20, replay=replay, random_state=0).fit(c).score(unseen) for replay in (0, 50))
    assert some > none + 0.02
    assert (
        some > sm.ERKLE(passes=10, random_state=0).fit(c).score(unseen) - 0.025
    )  # .009 ± .008 above, over eight draws


def test_a_warm_refit_is_the_batch_fit():
    c, unseen = thesis()
    model = sm.OnlineEmbedding(20, random_state=0).fit(c)
    batch = sm.STE(20, penalty=0.5 * 40 / len(c)).fit(c)
    warm = model.refit()
    assert warm is model
    assert warm.score(unseen) == pytest.approx(batch.score(unseen), abs=0.005)
    assert warm.slope_ == pytest.approx(1.0, abs=1e-4)
    certified = sm.RCKL(loss="logistic", penalty=0.5 * 40 / len(c)).fit(c)
    assert warm.score(unseen) > certified.score(unseen) - 0.01  # ± .0017
    after = warm.partial_fit(c[:100]).score(unseen)
    assert after == pytest.approx(batch.score(unseen), abs=0.02)


def test_beginning_with_answers_keeps_what_learning_them_keeps_and_fits_them():
    c, further = thesis()
    learned = sm.OnlineEmbedding(10, random_state=0).partial_fit(c).refit()
    begun = sm.OnlineEmbedding(10, random_state=0).begin_with(c)
    for name in ("_rows", "_weights", "_answered"):
        assert (getattr(begun, name) == getattr(learned, name)).all()
    assert begun.n_answers_ == learned.n_answers_ == len(c)
    assert ((begun._touched > 0) == (learned._touched > 0)).all()
    assert begun.score(further) == pytest.approx(learned.score(further), abs=0.02)
    more = further[:300]
    assert begun.partial_fit(more).n_answers_ == len(c) + 300
    assert begun.score(further) == pytest.approx(learned.partial_fit(more).score(further), abs=0.02)
    assert len(sm.OnlineEmbedding(2, memory=100, random_state=0).begin_with(c)._rows) == 100


def test_refit_of_the_hinge_and_with_settings():
    c, unseen = thesis()
    model = sm.OnlineEmbedding(20, loss="hinge", random_state=0).fit(c)
    assert model.refit(penalty=1e-2).score(unseen) > 0.75
    weaker = np.linalg.norm(model.embedding_)
    assert np.linalg.norm(model.refit(penalty=1.0).embedding_) < weaker


@pytest.mark.own_seed  # in one draw of ten the answer about them is remembered
def test_refit_leaves_items_that_are_no_longer_remembered_where_they_are():
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 500, random_state=1)
    model = sm.OnlineEmbedding(2, n_items=13, memory=50, replay=0, random_state=0).partial_fit([(10, 11, 12)])
    model.partial_fit(c)
    forgotten = sorted({10, 11, 12} - set(model._rows.ravel().tolist()))
    before = model._positions()
    model.refit()
    assert forgotten
    assert np.array_equal(model._average[forgotten], before[forgotten])
    assert not np.array_equal(model._average[:10], before[:10])


def test_a_new_item_begins_beside_the_one_it_was_called_alike():
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 500, sharpness=5.0, random_state=1)
    model = sm.OnlineEmbedding(2, grow=True, random_state=0).fit(c)
    far = int(model.distances()[3].argmax())
    model.set_params(replay=0).partial_fit([(10, 3, far)])
    gap = model.pair_distance([(10, 3), (10, far)])
    assert gap[0] < 0.3 * gap[1]


def test_it_does_not_matter_when_an_item_joins():
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 200, random_state=1)
    rows = c.triplets[np.argsort(c.triplets.max(1), kind="stable")]
    at_once = sm.OnlineEmbedding(2, replay=5, n_items=10, random_state=0).partial_fit(rows)
    one_by_one = sm.OnlineEmbedding(2, replay=5, grow=True, random_state=0)
    sizes = [one_by_one.partial_fit(row[None]).n_items_ for row in rows]
    assert sizes[0] < 10
    assert sizes[-1] == 10
    assert np.array_equal(one_by_one._X, at_once._X)
    assert np.array_equal(one_by_one.embedding_, at_once.embedding_)


def test_a_start_that_is_refused_leaves_a_model_that_was_not_begun():
    model = sm.OnlineEmbedding(2, init=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="init"):
        model.fit([(0, 1, 5)])
    assert model.set_params(init=None).partial_fit([(0, 1, 5)]).n_items_ == 6


def test_starting_from_positions_of_a_pilot_study(tmp_path):
    points = np.random.default_rng(0).normal(size=(12, 2))
    pilot = sm.STE(2, random_state=0).fit(sm.simulate(points, 600, random_state=1))
    model = sm.OnlineEmbedding(2, init=pilot.embedding_, n_items=12, random_state=0)
    model.partial_fit(np.empty((0, 3), int))
    np.testing.assert_allclose(model.distances(), pilot.distances(), atol=1e-4)
    model.partial_fit(sm.simulate(points, 300, random_state=2))
    assert model.score(sm.simulate(points, 2000, random_state=3)) > 0.91  # .958 ± .011
    model.save(tmp_path / "state")
    assert np.array_equal(sm.OnlineEmbedding.load(tmp_path / "state").init, pilot.embedding_)
    with pytest.raises(ValueError, match=r"init: expected finite positions of shape \(13, 2\), found shape \(12, 2\)"):
        sm.OnlineEmbedding(2, init=pilot.embedding_, n_items=13).fit([(0, 1, 2)])


def test_slope_is_the_best_one():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=4000) * 2
    given = np.where(rng.random(4000) < 1 / (1 + np.exp(-3.0 * latent)), latent, -latent)
    assert fit_slope(given, LOGISTIC) == pytest.approx(3.0, abs=0.5)  # 3.00 ± .11 over 300 draws
    assert fit_slope(np.zeros(10), LOGISTIC) == pytest.approx(1.0, abs=1e-4)
    assert 1 < fit_slope(np.ones(5), LOGISTIC) < 20
    assert 0 < fit_slope(-np.ones(1000), LOGISTIC) < 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components: expected"),
        ({"replay": -1}, "replay: expected"),
        ({"memory": 0}, "memory: expected"),
        ({"loss": "ckl"}, "loss: expected one of 'logistic', 'hinge', 'probit'"),
        ({"rate": 0.0}, "rate: expected"),
        ({"rate": 0.3}, "rate: expected"),
        ({"penalty": -1.0}, "penalty: expected"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        sm.OnlineEmbedding(**settings).fit([(0, 1, 2)])


def test_refit_without_answers_is_refused():
    model = sm.OnlineEmbedding(n_items=4).partial_fit(np.empty((0, 3), int))
    with pytest.raises(ValueError, match="no answers to fit yet"):
        model.refit()
