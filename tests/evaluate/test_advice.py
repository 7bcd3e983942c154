"""When to stop: the curve of a known shape is read as such, and what cannot be told is not."""

import numpy as np
import pytest

from similitude.display.estimate import Estimate
from similitude.evaluate.advice import CurvePoint, advise, doubt, weighed

CEILING = Estimate(0.83, 0.79, 0.86)
UNKNOWN = Estimate(None, note="no question was answered twice")


def curve(ceiling, slope, until, start=200, step=200, noise=0.0, tested=2000):
    rng = np.random.default_rng(0)
    at = range(start, until + 1, step)
    return [CurvePoint(n, ceiling - slope / n + noise * rng.normal(), 0.7, 0.8, tested) for n in at]


def test_gain_of_a_curve_of_the_assumed_shape_is_exact():
    found = advise(curve(0.85, 80.0, 2400), UNKNOWN)
    assert found.more == 1200
    assert found.gain == pytest.approx(80.0 * (1 / 2400 - 1 / 3600), rel=1e-2)
    off = doubt(0.85 - 80 / 2400, 2000)
    assert [found.gain_low, found.gain_high] == pytest.approx([found.gain - off, found.gain + off])


def test_sentence_of_a_flat_curve():
    found = advise(curve(0.80, 8.0, 2400), CEILING)
    assert found.verdict == "stop"
    assert found.short == (
        "About 1,200 more answers would gain 0.1 points of accuracy (95% interval 0.0 to 0.6): "
        "little is left to learn, you may stop."
    )
    assert found.sentence == f"{found.short} The noise ceiling is 83% (79 to 86%)."


@pytest.mark.own_seed  # a curve whose scatter leaves both open: others may look flat by chance
def test_a_steep_curve_says_go_on_and_a_noisy_flat_one_does_not_say_stop():
    assert advise(curve(0.85, 150.0, 1000), CEILING).verdict == "go_on"
    noisy = advise(curve(0.80, 8.0, 2400, noise=0.05), CEILING)
    assert noisy.verdict != "stop"
    assert noisy.gain_high > noisy.gain


def test_a_flat_curve_of_few_tested_answers_is_no_reason_to_stop():
    few, many = (advise(curve(0.80, 0.0, 2400, tested=tested), CEILING) for tested in (80, 2000))
    assert (few.verdict, many.verdict) == ("early", "stop")
    assert few.short.startswith("Too early to tell what more answers would gain: about 1,200 more might bring 0.0 to 2")
    assert "which 80 answers to evenly drawn questions cannot tell apart" in few.short
    alone = weighed(CurvePoint(80, 0.8, 0.7, 0.9, 80), 40, (0.001, 0.0, 0.02), CEILING)
    assert "which 80 answers cannot tell apart" in alone.short


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        ((0.001, 0.0, 0.004), "stop"),
        ((0.004, 0.0, 0.012), "slow"),
        ((0.008, 0.004, 0.012), "slow"),
        ((0.001, 0.0, 0.02), "early"),
        ((0.02, 0.001, 0.04), "early"),
        ((0.02, 0.006, 0.04), "go_on"),
    ],
)
def test_the_one_rule(gain, verdict):
    found = weighed(CurvePoint(400, 0.8, 0.75, 0.85, 400), 200, gain, CEILING)
    assert found.verdict == verdict
    assert (found.gain, found.gain_low, found.gain_high) == gain


def test_doubt_halves_with_four_times_the_answers_and_grows_with_the_step():
    assert doubt(0.8, 400) == pytest.approx(doubt(0.8, 100) / 2)
    assert doubt(0.8, 100, 0.5) == pytest.approx(1.5 * doubt(0.8, 100))


def test_a_falling_curve_gains_nothing():
    points = [CurvePoint(n, 0.8 - n / 1e5, 0.75, 0.85, 100) for n in range(200, 2001, 200)]
    assert advise(points, UNKNOWN).gain == pytest.approx(0.0, abs=1e-6)


def test_the_ceiling_bounds_what_is_promised():
    points = curve(1.2, 600.0, 2400, start=1600)
    free, bounded = (advise(points, ceiling).gain for ceiling in (UNKNOWN, Estimate(0.96, 0.95, 0.97)))
    assert bounded < free


@pytest.mark.parametrize("points", [[], curve(0.8, 10.0, 600)])
def test_too_early(points):
    found = advise(points, UNKNOWN)
    assert found.verdict == "early"
    assert found.more is None


def test_what_cannot_be_told_says_why():
    said = advise(curve(0.8, 10.0, 2000), UNKNOWN).sentence
    assert said.endswith("The noise ceiling cannot be told: no question was answered twice.")


@pytest.mark.parametrize(("high", "why"), [(0.88, "is known only to lie below 88.0%"), (0.82, "asked again")])
def test_an_accuracy_above_the_ceiling_is_explained(high, why):
    curve = [CurvePoint(n, 0.85, 0.8, 0.9, 100) for n in (400, 600, 800, 1000)]
    said = advise(curve, Estimate(0.8, 0.75, high)).sentence
    assert "The noise ceiling is 80%" in said
    assert "An accuracy of 85.0% is above the noise ceiling of 80.0%, which can be: " in said
    assert why in said
    assert "above" not in advise(curve, Estimate(0.9, 0.85, 0.95)).sentence


def test_a_ceiling_that_could_be_anything_is_no_figure():
    said = advise(curve(0.8, 30.0, 2000), Estimate(1.0, 0.5, 1.0)).sentence
    assert said.endswith("The noise ceiling is not known well yet: 50 to 100%.")
