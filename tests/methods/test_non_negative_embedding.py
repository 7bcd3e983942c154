"""Dimensions that are never negative: planted ones found, none claimed where there are none, new items, deviations."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import similitude as sm
from similitude.feedback.whole_answers import choices_of
from similitude.methods.dimension_columns import agreed, living, matches
from similitude.methods.value_posterior import deviations, surely_positive


def planted(n=40, d=4, seed=0):
    """Each dimension has values in a third of the items, and some items have two."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    X[np.arange(n), np.arange(n) % d] = rng.uniform(1.0, 3.0, n)
    X[np.arange(0, n, 5), (np.arange(0, n, 5) + 1) % d] = rng.uniform(1.0, 2.0, len(range(0, n, 5)))
    return X


def answers(X, count, seed, form="odd_one_out", **how):
    return sm.simulate(X, count, form, metric="dot", sharpness=1, random_state=seed, **how)


@pytest.fixture(scope="module")
def model():
    return sm.NonNegativeEmbedding(12, random_state=0).fit(answers(planted(), 40 * 4 * 20, 0))


def test_planted_dimensions_are_found(model):
    # over 12 draws of truth and answers the least of the four is .987 in the mean, with a deviation of .003
    assert model.n_dimensions_ == 4
    assert matches(planted(), model.embedding_)[1].min() > 0.95
    assert (model.embedding_ >= 0).all()
    weight = (model.embedding_**2).mean(0)
    assert (np.diff(weight) <= 0).all()


def test_where_none_is_planted_none_is_claimed():
    nothing = sm.NonNegativeEmbedding(12, max_iter=10_000, random_state=0).fit(answers(np.zeros((30, 1)), 900, 1))
    assert nothing.n_dimensions_ == 0
    assert nothing.embedding_.shape == (30, 0)
    assert sm.answer_log_loss(nothing, answers(np.zeros((30, 1)), 300, 2)) == pytest.approx(np.log(3))


def test_it_predicts_better_than_vectors_without_a_bound(model):
    train, test = answers(planted(), 3200, 0), answers(planted(), 3000, 5)
    free = sm.ChoiceEmbedding(12, random_state=0).fit(train)
    assert sm.answer_log_loss(model, test) < sm.answer_log_loss(free, test) + 0.01  # less by .017 ± .005


def test_copies_of_a_column_are_one():
    x, y = np.abs(np.random.default_rng(0).normal(size=(2, 9)))
    x[:5], y[5:] = 0.0, 0.0  # else two so short ones may be alike by chance
    found = living(np.column_stack([0.6 * x, y, 0.8 * x, 1e-6 * x]))
    assert found.shape == (9, 2)
    np.testing.assert_allclose(found @ found.T, np.outer(x, x) + np.outer(y, y), atol=1e-5)


def test_what_comes_from_every_start_is_kept():
    rng = np.random.default_rng(1)
    X, other = rng.random((30, 3)), rng.random((30, 2))
    assert np.array_equal(agreed(X, [np.column_stack([X[:, 2], other[:, 0]])]), X[:, [2]])
    assert np.array_equal(agreed(X, [other]), X)  # nothing agrees: better a model than none
    assert np.array_equal(agreed(X, []), X)


def test_deviations_are_those_of_fishers_information():
    rng = np.random.default_rng(2)
    X = rng.uniform(0.0, 1.0, (5, 2))
    c = answers(X, 40, 3)
    told = np.zeros(X.shape)
    for one in choices_of(c):
        for pairs in one.pairs[:, :, 0]:

            def logs(X, pairs=pairs):
                value = (X[pairs[:, 0]] * X[pairs[:, 1]]).sum(1)
                return value - np.log(np.exp(value).sum())

            for at in np.ndindex(*X.shape):
                step = np.zeros(X.shape)
                step[at] = 1e-5
                told[at] += np.exp(logs(X)) @ ((logs(X + step) - logs(X - step)) / 2e-5) ** 2
    np.testing.assert_allclose(deviations(choices_of(c), X, 0.7), 1 / np.sqrt(told + 0.7), rtol=1e-6)


def test_the_rule_of_vice_counts_items_whose_values_are_surely_above_0(model):
    count = surely_positive(model.embedding_, model.deviation_)
    assert model.deviation_.shape == model.embedding_.shape
    assert (count >= 8).all()  # a dimension has 12 items; all 12 were counted in each of 12 draws
    assert (surely_positive(model.embedding_ * 0, model.deviation_) == 0).all()
    strict = sm.NonNegativeEmbedding(12, min_items=40, random_state=0, n_init=1).fit(answers(planted(), 800, 0))
    assert strict.n_dimensions_ == 0


def test_new_items_are_placed_by_answers(model):
    X = np.vstack([planted(), [2.0, 0.0, 0.0, 0.0]])
    rng = np.random.default_rng(4)
    shown = np.column_stack([np.full(300, 40), [rng.choice(40, 2, replace=False) for _ in range(300)]])
    c = sm.simulate(X, form="odd_one_out", metric="dot", sharpness=1, questions=shown, random_state=5)
    values = model.place(c).embedding[40]
    own = matches(planted(), model.embedding_)[0]
    assert (values >= 0).all()
    assert values.argmax() == own[0]
    with pytest.raises(ValueError, match="name no new item"):
        model.place(answers(planted(), 20, 6))


def test_features_give_new_items_their_values():
    X, rng = planted(60), np.random.default_rng(6)
    features = X @ rng.normal(size=(4, 6)) + 0.1 * rng.normal(size=(60, 6))
    told = answers(X, 3000, 7).hold_out_items(range(50, 60))[0]
    c = answers(X, 3000, 7)[told]
    model = sm.NonNegativeEmbedding(12, n_init=1, random_state=0).fit(c, features=features)
    new = model.transform(features[50:])
    assert (new >= 0).all()
    np.testing.assert_array_equal(new, sm.Similarity.from_bytes(model.similarity_.to_bytes()).transform(features[50:]))
    best = matches(X[:50], model.embedding_[:50])[0]
    # ten new items, four dimensions: over 12 draws the correlation of all values is .945, with a deviation of .023
    assert np.corrcoef(new[:, best].ravel(), X[50:].ravel())[0, 1] > 0.7  # over 17 others .917 ± .043


def test_some_dimensions_alone(model):
    two = model.with_dimensions([2, 0])
    np.testing.assert_array_equal(two.embedding_, model.embedding_[:, [2, 0]])
    assert two.n_dimensions_ == 2
    assert model.n_dimensions_ == 4
    assert two.deviation_.shape == (40, 2)
    assert two.pair_distance([(0, 1)])[0] == pytest.approx(-two.embedding_[0] @ two.embedding_[1])


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [("l1_ratio", 1.5), ("scale", 0.0), ("n_init", 0), ("min_items", -1), ("max_iter", 0), ("tol", -1.0)],
)
def test_bad_settings_are_refused(setting, wrong):
    with pytest.raises(ValueError, match=setting):
        sm.NonNegativeEmbedding(**{setting: wrong}).fit(answers(planted(), 50, 0))


def blocks(count, seed, sharpness=1.0):
    """Answers about three kinds of six items each; by chance at no sharpness."""
    X = np.kron(np.eye(3), np.ones((6, 1))) * 2.0
    return sm.simulate(X, count, "odd_one_out", metric="dot", sharpness=sharpness, random_state=seed)


@pytest.mark.parametrize("most", [1, 3])
def test_as_many_dimensions_as_may_be_are_found(most):
    assert sm.NonNegativeEmbedding(most, random_state=0).fit(blocks(600, 1)).n_dimensions_ == most


def test_answers_by_chance_teach_nothing_whatever_is_given_or_pasted():
    by_chance = blocks(200, 2, sharpness=1e-9)
    copies = sm.Comparisons.concatenate([by_chance] * 8)
    for c, setting in ((by_chance, {"scale": 1.0}), (copies, {})):
        assert sm.NonNegativeEmbedding(10, random_state=0, **setting).fit(c).n_dimensions_ == 0


def test_one_answer_teaches_nothing_and_says_so():
    model = sm.NonNegativeEmbedding(6, random_state=0).fit(sm.Comparisons.from_odd_one_out([[0, 1, 2]]))
    assert model.n_dimensions_ == 0


def test_a_fit_that_was_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert sm.NonNegativeEmbedding(6, max_iter=1, random_state=0).fit(blocks(600, 1)).status_ == "max_iter"
