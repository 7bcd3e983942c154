"""Several forms of feedback in one fit: each is understood by itself, together they say more."""

import numpy as np
import pytest

import similitude as sm

pytestmark = pytest.mark.filterwarnings("ignore:.*never compared")  # in one draw of a hundred, of forty comparisons

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(14, 2))
EVERY = np.array([(i, j) for i in range(14) for j in range(i + 1, 14)])


def distances(truth):
    return np.linalg.norm(truth[EVERY[:, 0]] - truth[EVERY[:, 1]], axis=1)


DISTANCE = distances(TRUTH)
UNSEEN = sm.simulate(TRUTH, 3000, random_state=1)
FEW = sm.simulate(TRUTH, 40, sharpness=3.0, random_state=2)


def ratings(steps=5, raters=2, larger="different", seed=3, distance=DISTANCE):
    rng = np.random.default_rng(seed)
    rows = np.tile(EVERY, (raters, 1))
    value = (
        np.tile(distance, raters)
        + 0.3 * rng.normal(size=len(rows))
        + np.repeat(0.5 * rng.normal(size=raters), len(EVERY))
    )
    if steps:
        value = np.clip(np.round(value * 1.5), 0, steps - 1)
    sign = 1.0 if larger == "different" else -1.0
    who = np.repeat([f"r{k}" for k in range(raters)], len(EVERY))
    return sm.Ratings.of(rows, sign * value, larger=larger, rater=who, n_items=14)


def links(threshold=1.5, distance=DISTANCE):
    return sm.Links.of(EVERY, threshold > distance, n_items=14)


def labels(truth=TRUTH):
    quadrant = (truth > 0) @ [1, 2]
    return sm.Labels.of(np.arange(14), quadrant, n_items=14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "further",
    [
        lambda truth: {"ratings": ratings(distance=distances(truth))},
        lambda truth: {"ratings": ratings(0, distance=distances(truth))},
        lambda truth: {"links": links(distance=distances(truth))},
        lambda truth: {"labels": labels(truth)},
    ],
    ids=["steps", "numbers", "links", "labels"],
)
def test_further_feedback_helps_where_comparisons_are_few(further):
    """In the mean of eight: each gains by ratings .17 ± .065, by links .13 ± .053, by labels .066 ± .043."""
    gains = []
    for seed in range(10, 18):
        truth = np.random.default_rng(seed).normal(size=(14, 2))
        few, unseen = (sm.simulate(truth, m, sharpness=3.0, random_state=seed + m) for m in (40, 3000))
        together = sm.MixedEmbedding(2, random_state=0).fit(few, **further(truth))
        assert together.status_ == "converged"
        gains.append(together.score(unseen) - sm.STE(2, random_state=0).fit(few).score(unseen))
    assert np.mean(gains) > -0.03


def test_everything_together_and_what_is_told_of_it():
    model = sm.MixedEmbedding(2, weights={"labels": 0.1}, random_state=0).fit(
        FEW, ratings=[ratings(), ratings(0)], links=links(), labels=labels()
    )
    assert model.score(UNSEEN) > 0.87  # .965 ± .02
    assert model.weights_ == {"triplet": 1.0, "labels": 0.1, "ratings": 1.0, "links": 1.0}
    assert set(model.sharpness_) == {"triplet", "labels"}
    assert model.n_used_["ratings"] == 364
    steps, numbers = model.ratings_
    assert (np.diff(steps["thresholds"]) > 0).all()
    assert steps["slope"] > 0
    assert numbers["width"] < 1
    assert model.links_["threshold"] > 0


def test_the_threshold_of_links_lies_between_similar_and_dissimilar_pairs():
    model = sm.MixedEmbedding(2, random_state=0).fit(links=links())
    found = model.pair_distance(EVERY)
    near, far = np.median(found[DISTANCE < 1.5]), np.median(found[DISTANCE >= 1.5])
    assert near < model.links_["threshold"] < far


def test_ratings_alone_and_either_way_round():
    different = sm.MixedEmbedding(2, random_state=0).fit(ratings=ratings())
    similar = sm.MixedEmbedding(2, random_state=0).fit(ratings=ratings(larger="similar"))
    assert different.score(UNSEEN) > 0.75  # .92 ± .035 over eight draws, and once .835
    np.testing.assert_allclose(similar.distances(), different.distances(), atol=0.05)


def test_a_weight_of_nearly_nothing_leaves_a_form_out():
    model = sm.MixedEmbedding(2, weights={"ratings": 1e-9}, random_state=0, tol=1e-10).fit(FEW, ratings=ratings())
    alone = sm.STE(2, init=model.embedding_, tol=1e-10).fit(FEW)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-3)


@pytest.mark.slow
def test_weights_are_chosen_by_what_helps():
    many = sm.simulate(TRUTH, 600, sharpness=3.0, random_state=4)
    rng = np.random.default_rng(5)
    noise = sm.Ratings.of(np.tile(EVERY, (40, 1)), rng.integers(1, 6, 40 * len(EVERY)), larger="similar", n_items=14)
    helped = sm.MixedEmbedding(2, random_state=0).fit(many, ratings=ratings())
    alone = sm.STE(2, random_state=0).fit(many).score(UNSEEN)
    assert helped.score(UNSEEN) > alone - 0.03  # .006 ± .008 above
    wrong = sm.MixedEmbedding(2, random_state=0).fit(many, ratings=noise)
    assert wrong.score(UNSEEN) > alone - 0.02


def test_forms_of_comparison_have_their_own_sharpness_and_target():
    odd = sm.simulate(TRUTH, 300, form="odd_one_out", sharpness=0.3, random_state=6)
    sharp = sm.simulate(TRUTH, 300, sharpness=4.0, random_state=7)
    c = sm.Comparisons.concatenate([odd, sharp])
    model = sm.MixedEmbedding(2, weights={}, random_state=0).fit(c)
    # thirteen times as sharp; by 1.1 ± .3 more than thrice
    assert model.sharpness_["triplet"] > 2 * model.sharpness_["odd_one_out"]
    chance = model.predict_proba(sm.Comparisons.concatenate([sharp, odd]))
    np.testing.assert_allclose(chance.sum(1), 1)
    served = sm.MixedEmbedding(2, target="triplet", random_state=0).fit(c)
    assert served.weights_["triplet"] == 1.0
    with pytest.raises(ValueError, match=r"target: expected a form of the comparisons \(odd_one_out, triplet\)"):
        sm.MixedEmbedding(2, target="ranking").fit(c)


def test_names_are_brought_together():
    names = [f"item {k}" for k in range(14)]
    named = FEW.with_items(names)
    backwards = sm.Ratings.of(
        [(names[i], names[j]) for i, j in EVERY], DISTANCE.round(), larger="different", names=names[::-1]
    )
    by_name = sm.MixedEmbedding(2, random_state=0).fit(named, ratings=backwards)
    by_place = sm.MixedEmbedding(2, random_state=0).fit(
        FEW.with_items(n_items=14), ratings=sm.Ratings.of(EVERY, DISTANCE.round(), larger="different", n_items=14)
    )
    order = [by_name.similarity_.names.index(name) for name in names]
    assert by_name.score(UNSEEN.with_items(names)) == pytest.approx(by_place.score(UNSEEN), abs=0.02)
    np.testing.assert_allclose(by_name.distances()[np.ix_(order, order)], by_place.distances(), atol=0.1)


def test_cross_validate_gives_further_feedback_to_those_that_take_it():
    gains = []
    for seed in range(5):
        c = sm.simulate(TRUTH, 60, sharpness=3.0, random_state=seed)
        table = sm.cross_validate(
            [sm.MixedEmbedding(2, weights={}, random_state=0), sm.STE(2, random_state=0)], c, n_folds=3, random_state=0,
            further={"ratings": ratings()},
        )  # fmt: skip
        accuracy = table.set_index("estimator").accuracy
        gains.append(accuracy["MixedEmbedding"] - accuracy["STE"])
    assert np.mean(gains) > 0.0  # one of them scatters by .062 around .16


@pytest.mark.parametrize(
    ("settings", "further", "error", "message"),
    [
        ({"weights": {"colours": 1.0}}, {}, ValueError, "weights: expected numbers"),
        ({"weights": {"links": -1.0}}, {}, ValueError, "weights: expected numbers"),
        ({"weights": "best"}, {}, ValueError, "weights: expected"),
        ({"steps": "some"}, {}, ValueError, "steps: expected"),
        ({}, {"ratings": [1, 2]}, TypeError, "ratings: expected Ratings, found int"),
        ({}, {"links": [(0, 1)]}, TypeError, "links: expected Links, found list"),
    ],
)
def test_bad_input_is_named(settings, further, error, message):
    with pytest.raises(error, match=message):
        sm.MixedEmbedding(2, **settings).fit(FEW, **further)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="no links of both kinds"):
        sm.MixedEmbedding(2).fit()
    with pytest.raises(ValueError, match="no links of both kinds"):
        sm.MixedEmbedding(2).fit(links=sm.Links.from_pairs(similar=[(0, 1)]))
