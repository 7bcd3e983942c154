"""Representations against each other and against raters: RDMs, vectors, attributes, noise ceilings, rsatoolbox."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial import distance

import similitude as sm
from similitude.evaluate.people import JudgedPairs

N = 14
NAMES = [f"item {k}" for k in range(N)]
TRUTH = np.random.default_rng(0).normal(size=(N, 2))
RDM = distance.squareform(distance.pdist(TRUTH))


def of_raters(noise, count=6, seed=1):
    """Tables of raters: the truth with noise of their own."""
    rng = np.random.default_rng(seed)
    return np.stack([distance.squareform(distance.pdist(TRUTH) + noise * rng.normal(size=91)) for _ in range(count)])


def test_a_condensed_table_is_the_square_one():
    other = distance.squareform(distance.pdist(TRUTH) + np.random.default_rng(2).random(size=91))
    square, row = (sm.compare(RDM, given, random_state=0) for given in (other, distance.squareform(other)))
    assert (square.correlation, square.low, square.p_value) == (row.correlation, row.low, row.p_value)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_vectors_are_compared_by_a_metric(metric):
    vectors = np.random.default_rng(3).normal(size=(N, 7)) + np.pad(TRUTH, ((0, 0), (0, 5)))
    found = sm.compare(RDM, vectors, metric=metric, random_state=0)
    expected = stats.spearmanr(distance.pdist(TRUTH), distance.pdist(vectors, metric)).statistic
    assert found.correlation == pytest.approx(expected)


def test_attributes_count_alike_whatever_their_units_and_may_be_words():
    attributes = pd.DataFrame({"size": 1000 * TRUTH[:, 0], "speed": TRUTH[:, 1]}, index=NAMES)
    standard = (TRUTH - TRUTH.mean(0)) / TRUTH.std(0)
    expected = stats.spearmanr(distance.pdist(TRUTH), distance.pdist(standard)).statistic
    assert sm.compare(RDM, attributes, random_state=0).correlation == pytest.approx(expected)
    words = attributes.assign(kind=np.where(TRUTH[:, 0] > 0, "large", "small"))
    assert sm.compare(RDM, words, random_state=0).correlation != pytest.approx(expected)


def test_the_correlation_with_raters_is_the_mean_of_each():
    tables = of_raters(0.8)
    people = sm.compare(RDM, tables, random_state=0).people
    each = [stats.spearmanr(distance.pdist(TRUTH), distance.squareform(one)).statistic for one in tables]
    assert people.raters == 6
    assert people.first.value == pytest.approx(np.mean(each))
    half = stats.t.ppf(0.975, 5) * np.std(each, ddof=1) / np.sqrt(6)
    assert people.first.low == pytest.approx(np.mean(each) - half)
    assert people.lower.value <= people.upper.value


def test_the_truth_lies_within_the_noise_ceiling():
    """The truth is better than the mean of five others, and no better than the mean that has seen the sixth."""
    inside = [
        (people := sm.compare(RDM, of_raters(1.0, 8, seed), random_state=0, n_resamples=1).people)
        and people.lower.value - 0.02 <= people.first.value <= people.upper.value + 0.02
        for seed in range(10)
    ]
    assert np.mean(inside) >= 0.9  # on 200 draws all lie inside by this margin


def test_raters_who_judged_some_pairs_count_on_these():
    tables = of_raters(0.5)
    tables[0, :5, :5] = np.nan
    people = sm.compare(RDM, tables, random_state=0).people
    own = np.isfinite(distance.squareform(tables[0], checks=False))
    first = stats.spearmanr(distance.pdist(TRUTH)[own], distance.squareform(tables[0], checks=False)[own]).statistic
    rest = [stats.spearmanr(distance.pdist(TRUTH), distance.squareform(one)).statistic for one in tables[1:]]
    assert people.first.value == pytest.approx(np.mean([first, *rest]))


def test_answers_say_how_unlike_each_rater_finds_a_pair():
    c = sm.Comparisons.from_triplets([[0, 1, 2], [0, 1, 3], [0, 2, 3]], n_items=4, rater=["a", "a", "b"])
    judged = JudgedPairs.of_answers(c, c.answers.rater.codes[c.answer])
    value = {
        (r, *sorted(judged.pairs[p].tolist())): v
        for r, p, v in zip(judged.rater, judged.pair, judged.value, strict=True)
    }
    assert value == {(0, 0, 1): -1, (0, 0, 2): 1, (0, 0, 3): 1, (1, 0, 2): -1, (1, 0, 3): 1}


def test_answers_of_raters_give_a_ceiling_and_say_which_model_is_nearer():
    c = sm.simulate(TRUTH, 3000, "odd_one_out", sharpness=1.0, raters=10, names=NAMES, random_state=0)
    other = TRUTH + 1.5 * np.random.default_rng(1).normal(size=TRUTH.shape)
    found = sm.compare(pd.DataFrame(RDM, NAMES, NAMES), pd.DataFrame(other, NAMES, ["x", "y"]), c, random_state=0)
    people = found.people
    assert people.raters == 10
    assert people.difference.high < 0  # the difference is -0.3 or more, its standard error 0.02
    assert people.second.high < people.lower.value < people.upper.value
    assert ("rank correlation with 10 raters", f"{people.first} and {people.second}") in found.lines()
    assert found.to_dict()["people"]["upper"]["value"] == people.upper.value


def test_answers_without_raters_have_a_ceiling_by_halves():
    c = sm.simulate(TRUTH, 4000, "odd_one_out", sharpness=1.0, names=NAMES, random_state=0)
    table = pd.DataFrame(RDM, NAMES, NAMES)
    people = sm.compare(table, TRUTH, c, random_state=0).people
    assert people.raters == 0
    assert people.first.low is None
    assert people.first.value <= people.upper.value + 0.03
    few = sm.compare(table, TRUTH, c.select(range(8)), random_state=0).people
    assert few.upper.value is None
    assert "unknown: too few pairs were judged twice to tell" in str(few)


needs_rsatoolbox = pytest.mark.skipif(
    importlib.util.find_spec("rsatoolbox") is None,
    reason="rsatoolbox is not installed: pip install rsatoolbox reads and writes RDMs here",
)


@needs_rsatoolbox
def test_the_ceiling_is_that_of_rsatoolbox():
    from rsatoolbox.inference.noise_ceiling import boot_noise_ceiling
    from rsatoolbox.rdm import RDMs, compare

    tables = of_raters(0.8)
    rdms = RDMs(np.array([distance.squareform(one) for one in tables]), pattern_descriptors={"item": NAMES})
    lower, upper = boot_noise_ceiling(rdms, method="spearman")
    people = sm.compare(RDM, rdms, random_state=0).people
    assert (people.lower.value, people.upper.value) == pytest.approx((float(lower), float(upper)))
    theirs = compare(RDMs(distance.pdist(TRUTH)[None]), rdms, method="spearman").mean()
    assert people.first.value == pytest.approx(float(theirs))


@needs_rsatoolbox
def test_rsatoolbox_reads_what_was_written_and_is_read(tmp_path):
    from rsatoolbox.rdm import load_rdm

    similarity = sm.Similarity(TRUTH, sm.STE(2).comparison_loss(), tuple(NAMES))
    similarity.write_table(tmp_path / "map.hdf5")
    rdms = load_rdm(str(tmp_path / "map.hdf5"), file_type="hdf5")
    np.testing.assert_allclose(rdms.get_matrices()[0], RDM)
    found = sm.compare(similarity, rdms, random_state=0)
    assert found.items == tuple(NAMES)
    assert found.correlation == pytest.approx(1.0)
