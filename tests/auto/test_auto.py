"""AutoSimilarity: what it chooses, that it averages kernels, that it keeps its time, and that it says why."""

import pickle

import numpy as np
import pytest

import similitude as sm
from similitude.auto import average, race
from similitude.auto.candidates import lines
from similitude.auto.held_out import HeldOut
from similitude.auto.levels import AskedPairs, levels, mean_form
from similitude.auto.walks import TimeLeft
from similitude.engine.jobs import over_jobs
from similitude.engine.models import Positions
from tests.seeds import as_seeded

pytestmark = pytest.mark.slow  # many fits for each test

TRUTH = np.random.default_rng(0).normal(size=(18, 2))
FEW = {"candidates": [sm.STE(), sm.CKL()], "dimensions": (1, 2), "n_folds": 2, "random_state": 0}


@pytest.fixture(scope="module")
def answers():
    return sm.simulate(TRUTH, 900, sharpness=1.5, random_state=1)


@pytest.fixture(scope="module")
def fitted(answers):
    return sm.AutoSimilarity(random_state=0).fit(answers)


def unseen(seed=9):
    return sm.simulate(TRUTH, 4000, sharpness=1.5, random_state=seed)


def test_as_good_as_the_right_model_that_it_had_to_find(answers, fitted):
    right = sm.STE(2, random_state=0).fit(answers)
    assert fitted.score(unseen()) > right.score(unseen()) - 0.03  # -.004 ± .006 over eight draws
    low, high = fitted.held_out_["low"], fitted.held_out_["high"]  # two standard errors to each side, and four more
    assert low - (high - low) < fitted.score(unseen()) < high + (high - low)


def test_the_table_says_what_was_tried(fitted):
    table = fitted.tried_
    assert set(table.candidate) == {"CKL", "TSTE", "STE", "SOE", "GNMDS"}
    assert set(table.dimension) == {2, 3, 5, 10}
    assert table.chosen.sum() == len(fitted.chosen_) == len(fitted.members_)
    assert (table.folds[table.chosen] == 4).all()
    assert (table.dropped[table.chosen] == "").all()
    assert (table.dropped[table.folds < 4] != "").all()
    assert table.log_loss.isna().equals(table.candidate.isin(["SOE", "GNMDS"]))
    assert ((table.error > 0) & (table.seconds > 0)).all()
    assert fitted.chosen_.share.sum() == pytest.approx(1.0)


def test_one_dimension_too_few_is_dropped_for_good_reason():
    deep = np.random.default_rng(3).normal(size=(18, 3))
    c = sm.simulate(deep, 3000, sharpness=2.0, random_state=1)
    model = sm.AutoSimilarity(candidates=[sm.STE()], dimensions=(1, 3), random_state=0).fit(c)
    assert set(model.chosen_.dimension) == {3}
    assert model.tried_.query("dimension == 1").dropped.str.contains("surely worse").all()


def test_squared_distances_are_the_weighted_mean_of_the_members(fitted):
    def in_own_units(X):
        square = ((X[:, None] - X[None]) ** 2).sum(-1)
        return square / (2.0 * ((X - X.mean(0)) ** 2).sum(1).mean())

    mean = np.tensordot(fitted.chosen_.share, [in_own_units(member.embedding_) for member in fitted.members_], 1)
    found = fitted.distances() ** 2
    factor = found.sum() / mean.sum()
    np.testing.assert_allclose(found, factor * mean, atol=1e-3 * found.max())


def test_probabilities_can_be_believed(fitted):
    assert sm.calibration_error(fitted, unseen()) < 0.055  # .014 ± .007 over seventeen draws, and once .034
    assert fitted.held_out_["log_loss"] == pytest.approx(sm.log_loss(fitted, unseen()), abs=0.13)  # ± .022, once .06


def test_probabilities_whatever_was_chosen(answers):
    model = sm.AutoSimilarity(candidates=[sm.SOE(), sm.GNMDS()], dimensions=(2,), random_state=0).fit(answers)
    assert model.has_probability
    assert sm.calibration_error(model, unseen()) < 0.05


def test_whoever_is_worse_on_every_answer_alike_has_no_weight():
    """As on three answers, where the scatter of the differences may be 0."""

    class Alike:
        def __init__(self, mean):
            self.mean = mean

        def difference(self, trial, leader):
            return self.mean, 0.0

    assert average._weight(Alike(-0.1), None, None) == 0.0
    assert average._weight(Alike(0.0), None, None) == 1.0


def test_without_average_it_is_the_best_single_fit(answers):
    model = sm.AutoSimilarity(average=False, **FEW).fit(answers)
    (member,) = model.members_
    assert np.array_equal(model.predict(answers), member.predict(answers))
    best = model.tried_[model.tried_.chosen].iloc[0]
    assert (best.candidate, best.dimension) == tuple(model.chosen_.iloc[0][["candidate", "dimension"]])
    assert "predicted best" in model.reason_


def test_noise_is_not_predictable_so_answers_were_kept_whole():
    rng = np.random.default_rng(5)
    shown = np.array([rng.permutation(12)[:3] for _ in range(500)])
    noise = sm.Comparisons.from_odd_one_out(shown, rng.integers(0, 3, 500))
    model = sm.AutoSimilarity(**FEW).fit(noise)
    assert model.tried_.query("folds == 2").accuracy.max() < 0.6  # .527 ± .016


def test_a_short_time_still_gives_an_answer_and_says_so(answers):
    model = sm.AutoSimilarity(time_limit=1e-6, random_state=0).fit(answers)
    assert len(model.tried_) == 1
    assert "time limit" in model.reason_
    assert model.score(unseen()) > 0.74  # .86 ± .03


def test_an_interrupt_keeps_what_was_found(answers):
    def stop(done, most):
        assert done <= most
        if done == 3:
            raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning, match="^interrupted: the search has ended, and the best so far is used"):
        model = sm.AutoSimilarity(**FEW).fit(answers, callback=stop)
    assert "interrupted" in model.reason_
    assert model.ended_ == "interrupted"
    assert sm.Similarity.from_bytes(model.similarity_.to_bytes()).about["search"] == "interrupted"
    assert model.score(unseen()) > 0.7

    def fail(done, most):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        sm.AutoSimilarity(**FEW).fit(answers, callback=fail)


@pytest.mark.parametrize("candidates", [None, [sm.STE(random_state=np.random.default_rng(4))]])
def test_the_number_of_processes_changes_nothing(answers, candidates):
    seen = {1: [], 2: []}

    def fit(n_jobs):
        model = sm.AutoSimilarity(candidates=candidates, dimensions=(1, 2), n_folds=3, random_state=0, n_jobs=n_jobs)
        return model.fit(answers, callback=lambda done, most: seen[n_jobs].append((done, most)))

    one, two = fit(1), fit(2)
    assert np.array_equal(one.embedding_, two.embedding_)
    assert one.tried_.drop(columns="seconds").equals(two.tried_.drop(columns="seconds"))
    assert one.reason_ == two.reason_
    assert one.held_out_ == two.held_out_
    assert seen[1] == seen[2]
    assert [done for done, _ in seen[1]] == list(range(1, int(one.tried_.folds.sum()) + 1))


def test_walks_are_taken_to_their_end_so_that_workers_live_on(answers, monkeypatch):
    ended = []

    def watched(*arguments, **settings):
        yield from over_jobs(*arguments, **settings)
        ended.append(True)

    monkeypatch.setattr(race, "over_jobs", watched)
    model = sm.AutoSimilarity(**FEW).fit(answers)
    assert len(ended) == model.tried_.folds.max() == 2


def test_several_processes_keep_the_time_and_what_was_found(answers):
    short = sm.AutoSimilarity(time_limit=1e-6, random_state=0, n_jobs=2).fit(answers)
    assert len(short.tried_) == 1
    assert "time limit" in short.reason_

    def stop(done, most):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning, match="^interrupted: "):
        model = sm.AutoSimilarity(**FEW, n_jobs=2).fit(answers, callback=stop)
    assert "interrupted" in model.reason_
    assert len(model.tried_) == 3


def test_a_clock_goes_on_where_it_was_when_it_was_sent(monkeypatch):
    clock = TimeLeft(100.0)
    clock.count(2.0)
    clock._began -= 70.0
    sent = pickle.dumps(clock)
    monkeypatch.setattr("similitude.auto.walks.time.monotonic", lambda: 12345.0)  # another machine's
    there = pickle.loads(sent)
    assert there.spent() == pytest.approx(70.0, abs=5.0)
    assert not there.over()
    there.count(6.0)
    assert there.over()  # time is kept for 12 more fits of 4 seconds
    there.workers = 4
    assert not there.over()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_fits_say_about_the_feedback_is_said_once(n_jobs):
    apart = [(0, 1, 2), (1, 0, 2), (3, 4, 5), (4, 3, 5), (0, 1, 2), (3, 4, 5)]
    with pytest.warns(sm.FeedbackWarning, match="fall into 2 groups") as said:
        sm.AutoSimilarity(**FEW, n_jobs=n_jobs).fit(np.array(apart))
    assert len(said) == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_handful_of_answers(count):
    rows = [(0, 1, 2), (1, 0, 2), (3, 2, 0), (2, 3, 1), (0, 1, 3)][:count]
    model = sm.AutoSimilarity(random_state=0).fit(np.array(rows))
    assert np.isfinite(model.embedding_).all()
    assert model.reason_


@pytest.mark.parametrize("kind", ["TACKL", "mapped"])
def test_candidates_start_where_the_last_fit_of_their_line_ended_whatever_they_learn(kind):
    features = np.random.default_rng(1).normal(size=(30, 4))
    c = sm.simulate(features[:, :2] * 2.0, 200, random_state=2)
    mapped = sm.Embedding(model=lambda n, d: Positions(n, d, features=features))  # parameters that are no positions
    candidate, given = (sm.TACKL(), features) if kind == "TACKL" else (mapped, None)
    model = sm.AutoSimilarity(candidates=[candidate], dimensions=(2,), n_folds=2, random_state=0)
    model.fit(c, features=given)
    assert len(model.tried_) > 1  # several penalties of the line
    assert model.score(c) > 0.8


def test_a_bent_map_is_chosen_where_it_predicts_better():
    rng = np.random.default_rng(4)
    X, new = rng.normal(size=(150, 2)), rng.normal(size=(5, 2))
    places = 1.5 * np.column_stack([np.cos(2 * X[:, 0]), np.sin(2 * X[:, 0])])
    maps = {how: sm.FeatureEmbedding(map=how) for how in ("linear", "fourier")}
    model = sm.AutoSimilarity(candidates=maps, dimensions=(4,), n_folds=2, random_state=0)
    model.fit(sm.simulate(places, 2400, random_state=5), features=X)
    tried = model.tried_.groupby("candidate").accuracy.max()
    gain = tried["fourier"] - tried["linear"]
    assert gain > -0.06  # .04 ± .022 over draws
    assert model.chosen_.candidate[0] == "fourier" or gain < 0.02
    assert model.transform(new).shape[0] == 5


def test_both_maps_of_features_race_where_there_are_vectors():
    X = np.random.default_rng(4).normal(size=(12, 2))
    c = sm.simulate(X, 50, random_state=0)
    vectors, kernels = ({line.name for line in lines(None, (2,), c, given, 0)} for given in (X, sm.kernels.RBF(X)))
    assert vectors - kernels == {"FeatureEmbedding fourier"}


def test_features_help_and_place_new_items():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40, 6))
    places = features[:, :2] * 2.0
    c = sm.simulate(places, 120, sharpness=1.0, random_state=2)
    model = sm.AutoSimilarity(dimensions=(2,), random_state=0).fit(c, features=features)
    plain = sm.AutoSimilarity(dimensions=(2,), random_state=0).fit(c)
    test = sm.simulate(places, 4000, random_state=3)
    assert model.score(test) > plain.score(test)  # .20 ± .06 above
    assert model.chosen_.candidate.str.startswith("FeatureEmbedding").all()
    new = rng.normal(size=(10, 6))
    together = np.concatenate([model.embedding_, model.transform(new)])
    triplets = sm.simulate(np.concatenate([places, new[:, :2] * 2.0]), 6000, random_state=4)
    about_new = triplets[(triplets.quadruplets >= 40).any(1)]
    assert sm.Similarity(together, model.similarity_.loss).score(about_new) > 0.65  # .76 at the least of six draws
    with pytest.raises(ValueError, match="does not learn from features"):
        plain.transform(new)


def by_likeness(vectors, count, seed):
    """Odd ones out by a softmax over the products of vectors."""
    rng = np.random.default_rng(seed)
    shown = rng.permuted(np.tile(np.arange(len(vectors)), (count, 1)), axis=1)[:, :3]
    value = np.stack([(vectors[shown[:, i]] * vectors[shown[:, j]]).sum(1) for i, j in ((1, 2), (0, 2), (0, 1))], 1)
    return sm.Comparisons.from_odd_one_out(shown, (value + rng.gumbel(size=value.shape)).argmax(1))


@pytest.fixture(scope="module")
def by_products():
    """Items of which some are like many and others like none, which no map holds: of other draws one in six is held."""
    with as_seeded():
        rng = np.random.default_rng(2)
        vectors = 1.2 * rng.exponential(size=(20, 4)) * rng.choice([0.3, 1.5], size=(20, 1))
        train, test = by_likeness(vectors, 1500, 3), by_likeness(vectors, 3000, 4)
        return sm.AutoSimilarity(dimensions=(2, 5), random_state=0).fit(train), test


def test_products_are_chosen_where_no_map_holds_the_answers(by_products):
    model, test = by_products
    assert model.similarity_.kind == "product"
    assert "ChoiceEmbedding dot" in set(model.chosen_.candidate)
    assert model.held_out_["answer_log_loss"] == pytest.approx(sm.answer_log_loss(model, test), abs=0.06)
    assert model.held_out_["answer_accuracy"] == pytest.approx(sm.answer_accuracy(model, test), abs=0.06)
    loaded = sm.Similarity.from_bytes(model.similarity_.to_bytes())
    assert np.array_equal(loaded.predict_proba(test), model.predict_proba(test))


def test_a_sum_of_distances_and_products_is_what_its_members_say(by_products):
    test = by_products[1]
    maps = sm.STE(3, random_state=0).fit(test)
    products = sm.ChoiceEmbedding(5, random_state=0).fit(test)
    compared = np.ones(20, bool)
    pairs = np.array([(i, j) for i in range(20) for j in range(i)])
    form = mean_form([maps, products], [0.7, 1.3], compared)
    expected = 0.7**2 * maps.pair_distance(pairs) ** 2 - 1.3**2 * np.sum(
        products.embedding_[pairs[:, 0]] * products.embedding_[pairs[:, 1]], axis=1
    )
    np.testing.assert_allclose(form.of_pairs(pairs), expected, atol=1e-9)
    asked = AskedPairs(pairs, np.full(len(pairs), -1), ())
    assert levels(products, asked) @ levels(maps, asked) != 0


def on_a_map(count, seed, **settings):
    """AutoSimilarity of answers about a map."""
    truth = np.random.default_rng([5, seed]).normal(size=(18, 2))
    odd = sm.simulate(truth, count, "odd_one_out", sharpness=1.5, random_state=seed)
    return sm.AutoSimilarity(dimensions=(2, 3), random_state=0, **settings).fit(odd)


def test_answers_on_a_map_stay_on_a_map_and_alone_it_is_the_simplest():
    models = [on_a_map(500, seed) for seed in range(8)]
    assert sum(model.similarity_.kind == "distance" for model in models) >= 4  # 23 of 24: less in one draw of 50,000
    model = next(model for model in models if model.similarity_.kind == "distance")
    assert {"ChoiceEmbedding dot", "ChoiceEmbedding distance"} <= set(model.tried_.candidate)
    assert "of the answers as wholes" in model.reason_
    assert model.place([(18, 0, 5), (18, 0, 7), (18, 1, 9)], random_state=0).n_items == 19
    alone = [on_a_map(500, seed, average=False).similarity_.kind for seed in range(8)]
    assert alone.count("distance") >= 4


def test_models_of_choices_stay_out_where_few_answers_do_not_ask_for_them():
    models = [on_a_map(150, seed) for seed in range(8)]
    assert all({"ChoiceEmbedding dot", "ChoiceEmbedding distance"} <= set(model.tried_.candidate) for model in models)
    asked_for = [model.chosen_.candidate.str.startswith("ChoiceEmbedding").any() for model in models]
    assert sum(asked_for) <= 4


def test_a_gain_of_answers_is_the_difference_of_their_accuracies():
    near, far, none = np.array([0.0, 0.0, 0.0, 0.0]), np.array([1.0, -1.0, 1.0, 1.0]), np.zeros(4)
    answer, rater = np.array([0, 0, 1, 2]), np.full(3, -1)
    some = HeldOut((), (), near, far, np.ones(4), answer, rater)  # one comparison of answer 0 is wrong
    all_right = HeldOut((), (), near, np.ones(4), np.ones(4), answer, rater)
    gain, error = all_right.answer_gain_over(some)
    assert gain == pytest.approx(all_right.answer_accuracy()[0] - some.answer_accuracy()[0])
    assert (some.answer_accuracy()[0], gain) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert error > 0
    assert some.answer_gain_over(some) == (0.0, 0.0)
    assert HeldOut((), (), near, none, np.ones(4), answer, rater).answer_accuracy()[0] == 0  # ties are not right


def test_choices_learn_from_features_too():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40, 6))
    c = sm.simulate(features[:, :2] * 2.0, 300, "odd_one_out", sharpness=1.0, random_state=2)
    model = sm.AutoSimilarity(candidates=[sm.ChoiceEmbedding()], random_state=0).fit(c, features=features)
    assert model.similarity_.kind == "product"
    new = model.transform(features[:5])
    assert new.shape == (5, model.embedding_.shape[1])
    assert np.isfinite(new).all()


def test_place_and_quadruplets():
    c = sm.simulate(TRUTH, 900, form="quadruplet", sharpness=2.0, random_state=1)
    model = sm.AutoSimilarity(**FEW).fit(c)
    assert model.score(sm.simulate(TRUTH, 3000, form="quadruplet", random_state=3)) > 0.85
    assert model.place([(18, 0, 5), (18, 0, 7), (18, 1, 9)], random_state=0).n_items == 19


def test_chosen_settings_fitted_to_other_answers(answers, fitted):
    again = fitted.refit_chosen(answers)
    assert np.corrcoef(again.distances().ravel(), fitted.distances().ravel())[0, 1] > 0.999
    other = fitted.refit_chosen(answers.select(np.arange(450)))
    assert 0.8 < np.corrcoef(other.distances().ravel(), fitted.distances().ravel())[0, 1] < 0.9999
    assert fitted.score(unseen()) == sm.AutoSimilarity(random_state=0).fit(answers).score(unseen())


def test_the_reason_is_in_plain_sentences(fitted):
    assert "held-out" in fitted.reason_
    assert fitted.reason_.count(". ") >= 2
    assert "95% interval" in fitted.reason_


def test_an_accuracy_above_the_ceiling_is_explained():
    clear = np.unique(sm.simulate(TRUTH, 1500, random_state=1).triplets, axis=0)
    asked_again = [row for k in range(2, 12) for row in [(0, 1, k)] * 7 + [(0, k, 1)] * 5]
    c = sm.Comparisons.from_triplets(np.concatenate([clear, asked_again]))
    model = sm.AutoSimilarity(**FEW).fit(c)
    assert "above the noise ceiling of" in model.reason_
    assert "asked again" in model.reason_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time_limit": 0}, "time_limit: expected"),
        ({"n_folds": 1}, "n_folds: expected"),
        ({"dimensions": (0, 2)}, "dimensions: expected"),
        ({"dimensions": ()}, "dimensions: expected"),
        ({"candidates": []}, "candidates: expected at least one"),
        ({"candidates": ["STE"]}, "candidates: expected an estimator"),
        ({"candidates": [sm.FeatureEmbedding()]}, "features: FeatureEmbedding learns from features"),
    ],
)
def test_bad_settings_are_named(answers, settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        sm.AutoSimilarity(**settings).fit(answers)
