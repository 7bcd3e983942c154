"""The penalty path: the same folds at each penalty, warm starts that end where cold ones do, a choice by answer."""

import numpy as np
import pytest

import similitude as sm


@pytest.fixture(scope="module")
def answers():
    return sm.simulate(np.random.default_rng(0).normal(size=(15, 2)), 400, sharpness=1.0, random_state=1)


def test_a_path_is_cross_validation_at_each_penalty(answers):
    path = sm.penalty_path(sm.RCKL(tol=3e-5), answers, [0.03, 0.3], n_folds=3, random_state=0)
    assert path.penalty.tolist() == [0.03, 0.3]
    for row in path.itertuples():
        model = sm.RCKL(penalty=row.penalty, tol=3e-5)
        single = sm.cross_validate(model, answers, n_folds=3, random_state=0)
        assert row.accuracy == pytest.approx(single.accuracy[0], abs=0.006)  # a comparison or two on the edge
        assert row.log_loss == pytest.approx(single.log_loss[0], rel=1e-3)


def test_the_best_is_chosen_and_the_stronger_on_a_tie(answers):
    path = sm.penalty_path(sm.STE(2, random_state=0), answers, [1e-3, 0.1, 1e3, 1e4], n_folds=3, random_state=0)
    assert path.chosen.sum() == 1
    assert path.accuracy[path.chosen].item() == path.accuracy.max()
    tie = sm.penalty_path(sm.RCKL(), answers, [1e3, 1e4], n_folds=3, random_state=0)
    assert tie.accuracy.tolist() == [0.5, 0.5]
    assert tie.penalty[tie.chosen].item() == 1e4


@pytest.mark.own_seed
@pytest.mark.parametrize("draw", [29, 142])
def test_little_penalty_on_few_answers_is_proven_as_well(draw):
    """Rounds ended before their finest: these stopped .002 and .003 short of their proof, and warned of it."""
    truth = np.random.default_rng([0, draw]).normal(size=(20, 2))
    few = sm.simulate(truth, 400, sharpness=1.0, random_state=np.random.default_rng([1, draw]))
    assert len(sm.penalty_path(sm.RCKL(), few, n_folds=3, random_state=np.random.default_rng([0, draw]))) == 9


def test_features_another_parameter_and_progress(answers):
    features = np.random.default_rng(0).normal(size=(15, 2))
    seen = []
    path = sm.penalty_path(
        sm.RCKLAK(),
        answers,
        [0.001, 0.1],
        parameter="auxiliary_penalty",
        features=features,
        n_folds=2,
        random_state=0,
        callback=lambda done, total: seen.append((done, total)),
    )
    assert path.accuracy.max() > 0.62  # .83 ± .05
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(sm.penalty_path(sm.KPOE(loss="logistic"), answers, features=features, n_folds=2, random_state=0)) == 9


def test_features_reach_those_who_learn_from_them(answers):
    features = np.random.default_rng(0).normal(size=(15, 2))
    methods = [sm.STE(2, random_state=0), sm.FeatureEmbedding(2, random_state=0)]
    few = [answers[k : k + 133] for k in range(0, 399, 133)]  # of few answers features say most
    tables = [sm.cross_validate(methods, some, features=features, n_folds=2, random_state=0) for some in few]
    assert np.mean([table.accuracy[1] - table.accuracy[0] for table in tables]) > 0
    curve = sm.learning_curve(methods, answers, sizes=[50, 200], features=features, n_repeats=2, random_state=0)
    assert len(curve) == 4


def test_bad_input_is_named(answers):
    with pytest.raises(ValueError, match="expected positive numbers"):
        sm.penalty_path(sm.STE(), answers, [0.0, 1.0])
    with pytest.raises(ValueError, match="STE has none called 'auxiliary_penalty'"):
        sm.penalty_path(sm.STE(), answers, parameter="auxiliary_penalty")
