import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.display.estimate import Estimate
from similitude.evaluate.advice import CurvePoint, doubt, weighed
from similitude.evaluate.ceiling import above_ceiling
from similitude.evaluate.forecast import _curves

TRUTH = np.random.default_rng(0).normal(size=(12, 2))


@pytest.fixture(scope="module")
def found():
    c = sm.simulate(TRUTH, 500, sharpness=1.0, random_state=1)
    return sm.more_answers(sm.STE(2, random_state=0), c, n_repeats=6, random_state=0)


def test_an_exact_curve_is_found():
    size = np.array([50, 100, 200, 400, 800])
    repeats = pd.DataFrame([0.85 - 4.0 * size**-1.1] * 3, columns=size)
    curves = _curves(repeats, 0.0, (0.5, 1.0), 3, np.random.default_rng(0))
    np.testing.assert_allclose(curves, [[0.85, 4.0, 1.1]] * 4, rtol=0.03)


@pytest.mark.slow
def test_a_longer_study_ends_where_it_was_expected(found):
    for multiple in (2, 4):
        longer = sm.simulate(TRUTH, 500 * multiple, sharpness=1.0, random_state=77)
        reached = sm.STE(2, random_state=0).fit(longer).score(sm.simulate(TRUTH, 20000, sharpness=1.0, random_state=78))
        row = found.table[found.table.answers == 500 * multiple].iloc[0]
        assert abs(row.accuracy - reached) < 0.1  # -.003 ± .025 of sixty draws


def test_the_table_and_the_sentence(found):
    assert found.table.more.tolist() == [0, 250, 500, 1500, 3500]
    assert (found.table.low <= found.table.accuracy).all()
    assert (found.table.accuracy <= found.table.high).all()
    assert found.table.gain[0] == 0
    assert "250 more" in repr(found)
    assert "noise ceiling" in repr(found)


def test_what_to_make_of_it_is_what_the_page_of_a_study_would_say(found):
    later = found.table.iloc[1]
    gain = later.gain, later.gain_low, later.gain_high
    now = found.table.iloc[0]
    point = CurvePoint(500, now.accuracy, now.low, now.high, 500)
    assert found.advice == weighed(point, 250, gain, found.ceiling)
    assert found.advice.short in repr(found)
    off = doubt(found.table.accuracy[0], 500)
    assert later.gain_high >= later.gain + off - 1e-12
    assert later.gain_low <= max(later.gain - off, 0) + 1e-12


def test_few_answers_are_no_reason_to_stop_whatever_their_curve():
    c = sm.simulate(TRUTH, 60, sharpness=0.01, random_state=1)  # next to nothing can be learned of it
    advice = sm.more_answers(sm.STE(2, random_state=0), c, n_repeats=3, random_state=0).advice
    assert advice.verdict in ("early", "go_on")  # doubt alone is 3 points: 0.25 · 1.96 · 0.5 / sqrt(60)


def test_chosen_questions_say_nothing_of_how_any_is_predicted():
    triplets = np.array([np.random.default_rng(k).permutation(12)[:3] for k in range(90)])
    c = sm.Comparisons.from_triplets(triplets, strategy=["random", "uncertainty", "fallback"] * 30)
    assert sm.more_answers(sm.STE(2), c, n_repeats=2, n_curves=10, random_state=0).tested == 60


def test_answers_for_an_accuracy_is_the_inverse_of_what_is_expected(found):
    wanted = float(found.table.accuracy[2])
    needed = found.answers_for(wanted)
    assert needed.value == pytest.approx(1000, rel=0.01)
    assert found.expected(needed.value).accuracy[0] == pytest.approx(wanted)
    assert found.answers_for(0.9999).value is None
    assert "does not get to" in found.answers_for(0.9999).note


def test_a_forecast_that_begins_at_a_known_accuracy_keeps_its_gains(found):
    known = Estimate(0.7, 0.66, 0.75)
    moved = found.beginning_at(known)
    now = moved.table.iloc[0]
    assert [now.accuracy, now.low, now.high] == pytest.approx([0.7, 0.66, 0.75])
    for name in ("gain", "gain_low", "gain_high"):
        np.testing.assert_allclose(moved.table[name], found.table[name], atol=1e-12)
    np.testing.assert_allclose(moved.expected(moved.table.answers), moved.table)
    assert moved.answers_for(moved.table.accuracy.iloc[1]).value == pytest.approx(moved.table.answers.iloc[1], rel=1e-6)
    shift = 0.7 - found.table.accuracy.iloc[0]
    np.testing.assert_allclose(moved.curve.accuracy - found.curve.accuracy, shift)
    assert moved.limit.value == pytest.approx(found.limit.value + shift)
    assert found.beginning_at(Estimate(None)) is found


def test_the_ceiling_holds_the_curve_down():
    truth = TRUTH[:5]  # thirty questions: each asked often, so that the ceiling is well known
    c = sm.simulate(truth, 900, sharpness=0.3, random_state=1)
    found = sm.more_answers(sm.STE(2, random_state=0), c, n_repeats=4, random_state=0)
    assert found.ceiling.value is not None
    # all of them in twelve of thirteen draws; where the curve already measured lies about as high, 60 %
    assert np.mean(found.curves[:, 0] <= found.ceiling.high + 1e-9) > 0.25


def test_an_accuracy_above_the_ceiling_says_why():
    clear = np.unique(sm.simulate(TRUTH, 900, random_state=1).triplets, axis=0)
    asked_again = [row for k in range(2, 12) for row in [(0, 1, k)] * 7 + [(0, k, 1)] * 5]
    c = sm.Comparisons.from_triplets(np.concatenate([clear, asked_again]))
    found = sm.more_answers(sm.STE(2, random_state=0), c, n_repeats=3, random_state=0)
    assert found.table.accuracy.max() > found.ceiling.value
    assert "above the noise ceiling" in repr(found)
    assert "asked again" in found.note


def test_what_is_said_of_an_accuracy_and_a_ceiling():
    ceiling = Estimate(0.8, 0.75, 0.85)
    assert above_ceiling(0.79, ceiling) == ""
    assert above_ceiling(0.9, Estimate(None)) == ""
    assert "known only to lie below 85.0%" in above_ceiling(0.82, ceiling)
    assert "harder than the others" in above_ceiling(0.9, ceiling)


def test_a_row_per_repeat():
    c = sm.simulate(TRUTH, 200, sharpness=1.0, random_state=1)
    settings = {"sizes": [50, 150], "n_repeats": 3, "random_state": 0}
    rows = sm.learning_curve(sm.STE(2, random_state=0), c, per_repeat=True, **settings)
    means = sm.learning_curve(sm.STE(2, random_state=0), c, **settings)
    assert len(rows) == 6
    assert rows.groupby("answers").accuracy.mean().to_list() == pytest.approx(means.accuracy.to_list())


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match=r"^multiples: expected"):
        sm.more_answers(sm.STE(), np.array([(0, 1, 2)]), multiples=(0.5,))


def test_of_answers_the_curve_and_the_ceiling_are_those_of_answers():
    shown = np.array([np.random.default_rng(k).permutation(6)[:3] for k in range(120)])
    odd = np.random.default_rng(0).integers(0, 3, 120)  # by chance: a third is right, which is less than a half
    c = sm.Comparisons.from_odd_one_out(shown, odd)
    found = sm.more_answers(sm.STE(1, random_state=0), c, of="answers", n_repeats=2, n_curves=20, random_state=0)
    assert found.of == "answers"
    assert found.ceiling == sm.check(c).answer_ceiling
    assert found.table.accuracy.max() < 0.7  # the most of few small tests: .35 ± .08
    with pytest.raises(ValueError, match="of: expected"):
        sm.more_answers(sm.STE(1), c, of="questions")
