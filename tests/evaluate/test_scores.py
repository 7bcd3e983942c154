import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.transform import Rotation
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.metrics import roc_auc_score

import similitude as sm
from similitude.evaluate.scores import correct, likelihoods


@pytest.fixture(scope="module")
def model():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    return sm.STE(2, random_state=0).fit(sm.simulate(truth, 2000, sharpness=1.0, random_state=1))


@pytest.fixture(scope="module")
def unseen():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    return sm.simulate(truth, 3000, form="odd_one_out", sharpness=1.0, random_state=2)


def test_accuracy_is_the_score(model, unseen):
    weighted = unseen.reweight(np.random.default_rng(0).random(len(unseen)))
    assert sm.accuracy(model, weighted) == pytest.approx(model.score(weighted))
    assert sm.accuracy(model, weighted) != sm.accuracy(model, unseen)


@pytest.mark.parametrize(
    "score",
    [sm.accuracy, sm.log_loss, sm.mean_likelihood, sm.answer_accuracy, sm.answer_log_loss],
    ids=lambda f: f.__name__,
)
def test_rows_of_items_are_scored_like_their_comparisons(model, score):
    rows = np.array([(0, 1, 2), (3, 4, 5)])
    assert score(model, rows) == score(model, sm.Comparisons.from_triplets(rows))


def test_ties_count_half():
    flat = sm.Similarity(np.zeros((4, 2)), sm.STE().comparison_loss())
    assert sm.accuracy(flat, sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 3)])) == 0.5


def test_whole_answers_are_harder_than_comparisons(model, unseen):
    right = correct(model, unseen).reshape(-1, 2)
    assert sm.answer_accuracy(model, unseen) == pytest.approx((right == 1).all(1).mean())
    assert sm.answer_accuracy(model, unseen) < sm.accuracy(model, unseen)


def test_likelihood_scores(model, unseen):
    chance = likelihoods(model, unseen)
    assert sm.mean_likelihood(model, unseen) == pytest.approx(chance.mean())
    labels = np.ones(len(chance), int)
    assert sm.log_loss(model, unseen) == pytest.approx(sklearn_log_loss(labels, chance, labels=[0, 1]))


def test_a_model_of_the_raters_is_calibrated():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    right = sm.Similarity(truth, sm.STE().comparison_loss())
    too_sure = sm.Similarity(2 * truth, sm.STE().comparison_loss())
    c = sm.simulate(truth, 50_000, sharpness=1.0, random_state=2)
    assert sm.calibration_error(right, c) < 0.01
    assert sm.calibration_error(too_sure, c) > 0.03  # .105 ± .018
    table = sm.calibration(right, c, n_bins=5)
    error = np.sqrt(table.predicted * (1 - table.predicted) / table.weight)
    assert (np.abs(table.predicted - table.observed) < 4.5 * error).all()  # of five
    assert table.weight.sum() == len(c)


def test_probabilities_of_answers_are_calibrated_over_all_alternatives():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    right, too_sure = (sm.Similarity(size * truth, sm.STE().comparison_loss()) for size in (1, 2))
    rng = np.random.default_rng(2)
    shown = rng.permuted(np.tile(np.arange(20), (20_000, 1)), axis=1)[:, :3]
    pairs = shown[:, [[1, 2], [0, 2], [0, 1]]]
    value = -((truth[pairs[..., 0]] - truth[pairs[..., 1]]) ** 2).sum(-1)
    odd = (value + rng.gumbel(size=value.shape)).argmax(1)  # a draw from the softmax
    c = sm.Comparisons.from_odd_one_out(shown, odd)
    assert sm.answer_calibration_error(right, c) < 0.015
    assert sm.answer_calibration_error(too_sure, c) > 0.03  # .096 ± .016
    table = sm.answer_calibration(right, c, n_bins=5)
    assert table.weight.sum() == 3 * c.n_answers
    assert (table.weight * table.observed).sum() == pytest.approx(c.n_answers)


def test_purity_and_rand_indices():
    classes = ["a", "a", "a", "b", "b", "c"]
    clusters = [0, 0, 1, 1, 1, 2]
    assert sm.purity(classes, clusters) == pytest.approx(5 / 6)
    same = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    agree = [(classes[i] == classes[j], clusters[i] == clusters[j]) for i, j in same]
    assert sm.rand_index(classes, clusters) == pytest.approx(np.mean([a == b for a, b in agree]))
    within = np.mean([b for a, b in agree if a])
    between = np.mean([not b for a, b in agree if not a])
    assert sm.rand_index(classes, clusters, "balanced") == pytest.approx((within + between) / 2)
    assert sm.rand_index(classes, classes, "adjusted") == 1.0
    with pytest.raises(ValueError, match="kind"):
        sm.rand_index(classes, clusters, "other")
    with pytest.raises(ValueError, match="classes: expected at least two classes"):
        sm.rand_index(["a"] * 6, clusters, "balanced")


def test_separation_by_definition():
    position = np.array([0.0, 1.0, 5.0, 7.0])
    table = np.abs(position[:, None] - position)
    assert sm.separation(table, [0, 0, 1, 1]) == pytest.approx(np.mean([5, 7, 4, 6]) / np.mean([1, 2]))
    with pytest.raises(ValueError, match="two classes"):
        sm.separation(table, [0, 0, 0, 0])


def test_procrustes_ignores_place_turn_mirror_and_size():
    truth = np.random.default_rng(1).normal(size=(12, 3))
    turned = 3.7 * truth @ Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix() * [1, 1, -1] + 5
    assert sm.procrustes_distance(turned, truth) < 1e-12
    np.testing.assert_allclose(sm.align(turned, truth), truth, atol=1e-10)


def test_procrustes_is_scipys_disparity_and_pads_dimensions():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    assert sm.procrustes_distance(X, Y) == pytest.approx(procrustes(Y, X)[2])
    assert sm.procrustes_distance(X[:, :2], np.c_[X[:, :2], np.zeros(12)]) < 1e-12
    with pytest.raises(ValueError, match="12 items"):
        sm.procrustes_distance(X, Y[:5])
    with pytest.raises(ValueError, match="one point"):
        sm.procrustes_distance(X, np.ones((12, 3)))


def test_the_auc_of_a_head_is_that_of_its_ranking():
    """All pairs of a relevant and an irrelevant item: scikit-learn's AUC of ranking by distance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 2))
    model = sm.Similarity(X, sm.STE(2, random_state=0).fit(sm.simulate(X, 200, random_state=0)).similarity_.loss)
    relevant = {head: rng.permutation([i for i in range(9) if i != head])[: 2 + head] for head in (0, 4)}
    rows = [(head, j, k) for head, own in relevant.items() for j in own for k in range(9) if k != head and k not in own]
    found = sm.head_auc(model, sm.Comparisons.from_triplets(rows, n_items=9))
    for head, own in relevant.items():
        others = np.array([i for i in range(9) if i != head])
        distance = np.linalg.norm(X[others] - X[head], axis=1)
        assert found[head] == pytest.approx(roc_auc_score(np.isin(others, own), -distance))
    assert list(found.index) == [0, 4]
