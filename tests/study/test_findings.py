"""Held-out accuracy tests nothing that was learned; the noise ceiling and the items in need are what they should be."""

import numpy as np
import pytest

import similitude as sm
from similitude.display.estimate import UNTOLD
from similitude.evaluate.advice import advise
from similitude.feedback.answers import Answers
from similitude.feedback.comparisons import Comparisons
from similitude.study.findings import ceiling_of, earlier_points, findings, held_out

TRUTH = np.random.default_rng(3).normal(size=(15, 2))
NAMES = [f"i{k:02d}" for k in range(15)]
METHOD = sm.STE(2, random_state=0)


def answers(n, strategy="random", seed=0, **rater):
    c = sm.simulate(TRUTH, n, names=NAMES, random_state=seed, **{"sharpness": 3.0, **rater})
    said = c.answers
    again = Answers.of(said.form, said.shown, said.response, rater=said.rater, strategy=strategy)
    return Comparisons.from_answers(again, names=NAMES)


def test_noise_is_predicted_no_better_than_by_a_coin():
    point = held_out(METHOD, answers(400, flip=0.5), 400)
    assert point.tested == 400
    assert abs(point.accuracy - 0.5) < 0.1  # four standard errors
    assert point.low < point.accuracy < point.high


def test_clear_answers_are_predicted():
    point = held_out(METHOD, answers(600), 600)
    assert 0.8 < point.accuracy < 1.0
    assert point.low < point.accuracy < point.high
    assert point.answers == 600


def test_chosen_answers_teach_but_are_not_tested():
    few = answers(60, seed=1)
    both = Comparisons.concatenate([few, answers(600, "information_gain", seed=2)])
    alone, taught = held_out(METHOD, few, 60), held_out(METHOD, both, 660)
    assert alone.tested == taught.tested == 60
    assert taught.accuracy > alone.accuracy


@pytest.mark.parametrize(("n", "strategy"), [(10, "random"), (300, "information_gain")])
def test_too_few_evenly_drawn_answers_give_no_point(n, strategy):
    assert held_out(METHOD, answers(n, strategy), n) is None


def test_a_curve_of_one_point_gets_those_that_earlier_fits_would_have_made():
    c = answers(600)
    now = held_out(METHOD, c, 600)
    found = earlier_points(METHOD, c, [now])
    assert [point.answers for point in found] == [240, 360, 480]
    assert found[0] == held_out(METHOD, c.select(np.arange(600) < 240), 240)
    assert earlier_points(METHOD, c, [*found, now]) == []
    assert advise([*found, now], UNTOLD).gain is not None


def test_few_answers_and_sheets_have_no_earlier_points():
    few = answers(90)
    assert earlier_points(METHOD, few, [held_out(METHOD, few, 90)]) == []
    gathered = held_out(METHOD, answers(600), 900)  # 900 lines of sheets, say
    assert earlier_points(METHOD, answers(600), [gathered]) == []


def test_ceiling_comes_from_evenly_drawn_questions_and_their_repeats():
    first = answers(300, sharpness=1.0)
    model = METHOD.fit(first)
    chosen = Comparisons.concatenate([first, answers(300, "information_gain", seed=0, sharpness=1.0)])
    again = Comparisons.concatenate([first, answers(300, "repeat", seed=0, sharpness=1.0)])
    alone, with_chosen, with_again = (ceiling_of(findings(c, model.similarity_)) for c in (first, chosen, again))
    assert with_chosen == alone
    assert with_again.value > 0.95, "the same answers once more agree"


def test_items_that_were_asked_about_less_are_less_sure():
    c = answers(900)
    rows = np.flatnonzero(~(c.triplets == 4).any(1) | (np.arange(len(c)) < 40))
    part = c.select(rows)
    found = findings(part, METHOD.fit(part).similarity_)
    assert found["items"][0]["name"] == "i04"
    assert found["items"][0]["answers"] == int((part.triplets == 4).any(1).sum())
    assert 0 < found["items"][-1]["unsure"] < found["items"][0]["unsure"] <= 1
