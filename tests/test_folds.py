import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

import similitude as sm
from similitude.folds import folds_of, held_out


def noise(n_answers=3000, n_items=30, seed=0):
    """Odd-one-out answers given by dice."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n_items)[:3] for _ in range(n_answers)])
    return sm.Comparisons.from_odd_one_out(rows, rater=rng.integers(0, 30, n_answers))


def test_every_comparison_is_tested_once_and_no_answer_is_cut():
    c = noise(100)
    seen = []
    for train, test in sm.AnswerFold(4, random_state=0).split(c):
        assert not set(c.answer[train]) & set(c.answer[test])
        assert len(train) + len(test) == len(c)
        seen.extend(test)
    assert sorted(seen) == list(range(len(c)))


def test_folds_by_rater_hold_raters_out():
    c = noise(200)
    rater = c.answers.rater.codes[c.answer]
    for train, test in sm.AnswerFold(5, by="rater", random_state=0).split(c):
        assert not set(rater[train]) & set(rater[test])


def test_folds_by_item_test_new_heads_among_known_items():
    c = noise(500)
    tested = set()
    for train, test in sm.AnswerFold(4, by="item", random_state=0).split(c):
        known = set(c.quadruplets[train].ravel())
        assert not set(c.near[test][:, 0]) & known
        assert set(c.near[test][:, 1]) | set(c.far[test][:, 1]) <= known
        tested |= set(c.near[test][:, 0])
    assert tested == set(range(30))


def test_arrays_have_an_answer_per_row():
    rows = noise(50).triplets
    sizes = [len(test) for _, test in sm.AnswerFold(5, random_state=1).split(rows)]
    assert sizes == [20] * 5


def test_pure_noise_scores_a_half_by_answer_and_more_by_row():
    """The reason for AnswerFold: one half of an odd-one-out tells the other, so a row split leaks."""
    c = noise()
    by_answer = cross_val_score(sm.STE(5, random_state=0), c, cv=sm.AnswerFold(5, random_state=0)).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sm.PartialAnswerWarning)
        folds = KFold(5, shuffle=True, random_state=0)
        by_row = [cross_val_score(sm.STE(5, random_state=0), noise(1500, seed=k), cv=folds).mean() for k in range(4)]
    assert by_answer == pytest.approx(0.5, abs=0.034)  # an answer scatters by .41: four errors of 3,000, and more
    assert np.mean(by_row) > 0.5  # each .543 ± .011


def test_a_row_split_warns():
    with pytest.warns(sm.PartialAnswerWarning):
        cross_val_score(sm.STE(2, random_state=0), noise(400), cv=KFold(2, shuffle=True, random_state=0))


def test_same_seed_same_folds():
    c = noise(100)
    first = [test.tolist() for _, test in sm.AnswerFold(3, random_state=1).split(c)]
    assert first == [test.tolist() for _, test in sm.AnswerFold(3, random_state=1).split(c)]
    assert first != [test.tolist() for _, test in sm.AnswerFold(3, random_state=2).split(c)]


def test_bad_folds():
    with pytest.raises(ValueError, match="at least 2"):
        sm.AnswerFold(1)
    with pytest.raises(ValueError, match="'answer', 'rater' or 'item'"):
        sm.AnswerFold(3, by="row")
    with pytest.raises(ValueError, match="found 3"):
        list(sm.AnswerFold(5).split(noise(3)))
    without = sm.Comparisons.from_odd_one_out([(0, 1, 2)] * 9)
    with pytest.raises(ValueError, match="no rater"):
        list(sm.AnswerFold(3, by="rater").split(without))


@pytest.mark.own_seed
def test_folds_of_a_seed_stay_the_same():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)])
    assert [test.tolist() for _, test in sm.AnswerFold(3, random_state=0).split(c)] == [[2, 3], [4, 5], [0, 1]]


@pytest.mark.own_seed  # no question stands twice
def test_what_is_held_out_is_said_by_those_who_have_not_seen_it():
    c = noise(60)
    fold = np.random.default_rng(0).integers(-1, 3, c.n_answers)[c.answer]

    def unseen(training, test):
        known = {tuple(row) for row in training.answers.shown.values.reshape(-1, 3).tolist()}
        return [float(tuple(test.answers.shown.values.reshape(-1, 3)[k]) not in known) for k in test.answer]

    said = held_out(c, folds_of(fold), unseen)
    assert (said[fold >= 0] == 1).all()
    assert np.isnan(said[fold < 0]).all()
