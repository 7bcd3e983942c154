"""Every strategy of asking: nothing is asked twice, the same seed asks the same, a new one joins by one line."""

from typing import get_args

import numpy as np
import pytest

import similitude as sm
from similitude.active import strategies
from similitude.cli.asking import StrategyName
from similitude.study.settings import Choose

TRUTH = np.random.default_rng(0).normal(size=(12, 2))
ANSWERS = sm.simulate(TRUTH, 60, random_state=1)  # without noise, as `sequential` wants it
NEEDS_THE_ESTIMATOR = {"atackl"}  # the weights of its features are in no file of a similarity
WALKS_IN_ITS_OWN_ORDER = {"sequential", "landmark"}  # a live study has several raters at once, and answers with noise


@pytest.fixture(scope="module")
def model():
    return sm.TACKL(2, random_state=0).fit(ANSWERS, features=TRUTH)


every_strategy = pytest.mark.parametrize("name", strategies.STRATEGIES)


@every_strategy
def test_nothing_is_asked_twice_and_no_item_stands_twice_in_a_question(name, model):
    table = sm.next_questions(model, 30, strategy=name, asked=ANSWERS, random_share=0.0, random_state=0)
    asked = {(row[0], *sorted(row[1:])) for row in ANSWERS.answers.shown.matrix().tolist()}
    found = [(row[0], *sorted(row[1:])) for row in table.shown]
    assert len(set(found)) == 30
    assert not asked & set(found)
    assert all(len(set(row)) == 3 for row in table.shown)
    assert set(table.strategy) == {name}


@every_strategy
def test_the_same_seed_asks_the_same(name, model):
    both = [sm.next_questions(model, 8, strategy=name, asked=ANSWERS, random_state=3) for _ in range(2)]
    assert both[0].equals(both[1])


@every_strategy
def test_what_is_left_is_asked_and_then_it_says_so(name, model):
    few = sm.random_questions(12, 8, random_state=5)
    if name in WALKS_IN_ITS_OWN_ORDER:
        with pytest.raises(ValueError, match="in an order of its own; found a pool"):
            sm.next_questions(model, 3, strategy=name, asked=ANSWERS, pool=few)
        return
    table = sm.next_questions(model, 8, strategy=name, pool=few, asked=ANSWERS[:0], repeat=True, random_state=0)
    assert len(table) == 8
    with pytest.raises(ValueError, match="could be found"):
        sm.next_questions(model, 9, strategy=name, pool=few, random_state=0)


def test_a_strategy_joins_by_one_line(model, monkeypatch):
    class FirstFree:
        """The first question of a head, in the order of the items, that was not asked."""

        def __init__(self, situation):
            self.situation = situation

        def question(self, head):
            others = [k for k in range(self.situation.similarity.n_items) if k != head]
            every = ([head, a, b] for k, a in enumerate(others) for b in others[k + 1 :])
            found = next((row for row in every if row not in self.situation.asked), None)
            return None if found is None else (found, float("nan"))

        def learn(self, shown):
            """Nothing is learned from it."""

    monkeypatch.setattr(strategies, "STRATEGIES", dict(strategies.STRATEGIES))
    strategies.register("first_free", FirstFree)
    table = sm.next_questions(model, 24, strategy="first_free", random_share=0.0, random_state=0)
    assert sorted(row[0] for row in table.shown) == sorted([*range(12)] * 2)
    assert len({tuple(row[:1] + sorted(row[1:])) for row in table.shown}) == 24


def test_what_other_rooms_offer_is_what_there_is():
    known = set(strategies.STRATEGIES)
    assert set(StrategyName) == known - NEEDS_THE_ESTIMATOR
    offered = set(get_args(Choose.model_fields["strategy"].annotation))
    assert offered == known - NEEDS_THE_ESTIMATOR - WALKS_IN_ITS_OWN_ORDER - {"ackl"}  # which costs seconds a question
