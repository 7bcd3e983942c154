"""Raters who differ: sharpness, lapses and groups are found, and nothing is lost where there is nothing to find."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import similitude as sm

TRUTH = np.random.default_rng(0).normal(size=(15, 2))


def answers(sharpness, per_rater=100, seed=1, **settings):
    people = sm.Raters.of(sharpness, **settings)
    return sm.simulate(TRUTH, per_rater * len(people), raters=people, random_state=seed)


def two_groups(other, seed=3, sizes=(6, 5), per_rater=80):
    parts = []
    for letter, X, size in zip("ab", (TRUTH, other), sizes, strict=True):
        people = sm.Raters.of(np.full(size, 2.0), names=[f"{letter}{k}" for k in range(size)])
        parts.append(sm.simulate(X, size * per_rater, raters=people, random_state=seed))
    return sm.Comparisons.concatenate(parts)


@pytest.mark.parametrize("method", ["STE", "TSTE", "CKL"])
def test_sharpness_is_found_and_clickers_are_less_sharp(method):
    sharp = [4.0, 4.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0]
    c = answers(sharp, 150)
    model = sm.RaterEmbedding(2, method=method, random_state=0).fit(c)
    table = model.raters_.set_index("rater").loc[[f"rater {k + 1}" for k in range(8)]]
    sharpest, _, dull, clicks = table.sharpness.to_numpy().reshape(4, 2).mean(1)
    assert sharpest > dull > clicks
    assert table.less_sharp[6:].all()
    assert not table.less_sharp[:4].any()  # the next two are less sharp than most, and called so in one draw of 24
    assert (table.low < table.sharpness).all()
    assert (table.sharpness < table.high).all()
    assert table.answers.tolist() == [150] * 8
    assert table.sharpness.min() < 1.0 < table.sharpness.max()


def test_it_beats_pooling_where_raters_differ_and_pools_where_they_do_not():
    unseen = sm.simulate(TRUTH, 4000, random_state=9)
    mixed = answers([4.0] * 5 + [0.0] * 5, 60)
    ours = sm.RaterEmbedding(2, random_state=0).fit(mixed)
    pooled = sm.STE(2, random_state=0).fit(mixed)
    assert ours.score(unseen) > pooled.score(unseen) - 0.04  # .12 ± .04 above
    later = answers([4.0] * 5 + [0.0] * 5, 60, seed=2)
    assert sm.log_loss(ours, later) < sm.log_loss(pooled, later) - 0.05  # .21 ± .03 over draws
    alike = answers(np.full(10, 2.0), 60)
    same = sm.RaterEmbedding(2, random_state=0).fit(alike)
    assert same.spread_ < 0.85  # .2 ± .144 over draws
    later = answers(np.full(10, 2.0), 60, seed=2)
    assert sm.log_loss(same, later) < sm.log_loss(sm.STE(2, random_state=0).fit(alike), later) + 0.012  # .000 ± .002


def test_intervals_cover_the_sharpness_that_was_planted():
    """Up to the scale of all of them, which the map has."""
    rng = np.random.default_rng(4)
    covered = []
    for seed in range(5):
        sharp = 2.0 * np.exp(0.6 * rng.standard_normal(12))
        table = sm.RaterEmbedding(2, random_state=0).fit(answers(sharp, 120, seed=seed)).raters_
        true = np.array([sharp[int(name.split()[1]) - 1] for name in table.rater])
        true *= np.exp(np.mean(np.log(table.sharpness / true)))
        covered.extend((table.low < true) & (true < table.high))
    assert np.mean(covered) > 0.66  # 89 % (reproduce/results/raters.md); .92 ± .06 of 60 raters, who share five maps


def test_lapses_are_told_from_dullness():
    c = answers([6.0] * 8, 400, lapse=[0.0] * 6 + [0.5] * 2)
    table = sm.RaterEmbedding(2, lapse=True, random_state=0).fit(c).raters_
    assert table.lapse[:6].max() < 0.12
    assert table.lapse[6:].min() > 0.25  # .44 ± .04
    assert table.lapse.between(0, 1).all()


def test_a_given_spread_of_nearly_nothing_is_pooling():
    c = answers([3.0, 3.0, 1.0], 150)
    model = sm.RaterEmbedding(2, spread=1e-4, random_state=0, tol=1e-9).fit(c)
    pooled = sm.STE(2, random_state=0, tol=1e-9).fit(c)
    np.testing.assert_allclose(model.distances(), pooled.distances(), atol=0.02)
    np.testing.assert_allclose(model.raters_.sharpness, 1.0, atol=1e-3)


def test_probabilities_follow_the_rater_and_a_typical_one_where_unknown():
    model = sm.RaterEmbedding(2, random_state=0).fit(answers([4.0, 2.0, 2.0, 0.0], 150))
    rows = [(0, 1, 2)] * 3
    asked = sm.Comparisons.from_triplets(rows, rater=["rater 1", "rater 4", "stranger"], n_items=15)
    sure, dull, typical = np.abs(model.predict_proba(asked)[:, 1] - 0.5)
    assert sure > typical > dull
    assert model.predict_proba(rows).shape == (3, 2)


def test_an_answer_of_nobody_known_counts():
    c = answers([3.0, 3.0], 100)
    some = sm.Comparisons.concatenate([c, sm.simulate(TRUTH, 100, random_state=7)])
    model = sm.RaterEmbedding(2, random_state=0).fit(some)
    assert len(model.raters_) == 2
    assert model.score(c) > 0.85


@pytest.mark.slow
def test_groups_who_see_other_maps_are_found():
    maps = np.random.default_rng(5).normal(size=(20, 15, 2))
    unlike = min(maps, key=lambda X: np.corrcoef(pdist(X), pdist(TRUTH))[0, 1])  # not alike by chance
    c = two_groups(unlike)
    train, test = c.split(0.25, random_state=0)
    model = sm.GroupEmbedding(2, max_groups=3, random_state=0).fit(train)
    assert model.n_groups_ >= 2  # in one draw of nine a third predicts better than chance explains
    assert sm.purity([name[0] for name in model.groups_.rater], model.groups_.group) == 1.0
    chances = model.groups_[[f"p{k + 1}" for k in range(model.n_groups_)]]
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.shares_, chances.mean(axis=0), atol=0.12)
    pooled = sm.STE(2, random_state=0).fit(train)
    assert model.score(test) > pooled.score(test) - 0.04  # .21 ± .063 above, where they were drawn once
    assert sm.accuracy(model, test) == pytest.approx(model.score(test))
    found = sm.cross_validate([model.set_params(n_groups=2)], c, n_folds=2, random_state=0)
    assert found.accuracy[0] > 0.75


def test_groups_who_weigh_dimensions_differently_are_found():
    c = two_groups(TRUTH * [0.3, 2.0])
    model = sm.GroupEmbedding(2, n_groups=2, differ="weights", random_state=0).fit(c)
    assert sm.purity([name[0] for name in model.groups_.rater], model.groups_.group) == 1.0
    ratio = model.weights_[0] / model.weights_[1]
    assert ratio.max() / ratio.min() > 5  # 22 at the least of thirty draws
    wide = (model.shares_[:, None, None] * [one.distances() ** 2 for one in model.similarities_]).sum(0)
    np.testing.assert_allclose(model.distances() ** 2, wide, atol=1e-6)


@pytest.mark.slow
def test_one_group_where_raters_agree():
    agreed = [answers(np.full(8, 2.0), 60, seed) for seed in (1, 2, 3)]
    models = [sm.GroupEmbedding(2, random_state=0, max_groups=3).fit(c) for c in agreed]
    ones = [model for model in models if model.n_groups_ == 1]
    assert len(ones) >= 2  # one of forty found two groups by chance
    assert all(model.selection_.chosen.sum() == 1 for model in models)
    assert all((model.groups_.p1 == 1.0).all() for model in ones)


def test_all_groups_together_are_the_mean_by_share():
    c = two_groups(np.random.default_rng(5).normal(size=(15, 2)))
    model = sm.GroupEmbedding(2, n_groups=2, random_state=0).fit(c)
    mean = sum(size * one.distances() ** 2 for size, one in zip(model.shares_, model.similarities_, strict=True))
    np.testing.assert_allclose(model.distances() ** 2, mean, atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (sm.RaterEmbedding(method="SOE"), "method: expected one of STE, TSTE, CKL, probit, found 'SOE'"),
        (sm.RaterEmbedding(spread=-1.0), "spread: expected 'auto' or a positive number"),
        (sm.GroupEmbedding(n_groups=0), "n_groups: expected 'auto' or a whole number of at least 1"),
        (sm.GroupEmbedding(n_init=1.5), "n_init: expected 'auto' or a whole number of at least 1"),
        (sm.GroupEmbedding(differ="colour"), "differ: expected"),
    ],
)
def test_bad_settings_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(answers([2.0, 2.0], 30))
