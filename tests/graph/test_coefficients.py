"""Alpha by its definition, reliability by what it promises, and intervals that hold."""

import itertools

import numpy as np
import pytest

import similitude as sm
from similitude.graph.coefficients import FEWEST, NOBODY


def study(seed, sharpness=2.0, n_answers=3000, raters=15, n_items=10):
    truth = np.random.default_rng([seed, 5]).normal(size=(n_items, 2))
    return sm.simulate(truth, n_answers, sharpness=sharpness, raters=raters, random_state=seed)


def test_alpha_is_krippendorffs_with_both_orders_of_every_question():
    rng = np.random.default_rng(0)
    rows = [list(row) for row in itertools.combinations(range(7), 3)]
    shown, who, said = [], [], []
    for k in range(4):
        for row in rows:
            if rng.random() < 0.7:
                shown.append(row)
                who.append(f"r{k}")
                said.append(1 if rng.random() < 0.8 else -1)
    alpha = sm.check(sm.Comparisons.from_triplets(shown, said, rater=who)).coefficients.alpha.value
    units = {}
    for row, answer in zip(shown, said, strict=True):
        units.setdefault(("one", *row), []).append(answer)
        units.setdefault(("other", *row), []).append(-answer)
    units = [unit for unit in units.values() if len(unit) > 1]
    n = sum(map(len, units))
    observed = sum((a != b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)) / n
    values = [value for unit in units for value in unit]
    count = [values.count(1), values.count(-1)]
    expected = 2 * count[0] * count[1] / (n * (n - 1))
    assert alpha == pytest.approx(1 - observed / expected, abs=2 / n)  # n is twice as large here, and enters as n - 1


def test_perfect_answers_have_perfect_coefficients_and_coins_none():
    sure, coins = (sm.check(study(0, sharpness)).coefficients for sharpness in (np.inf, 0.0))
    for name in ("alpha", "split_half_answers", "retest_answers"):
        assert getattr(sure, name).value == pytest.approx(1)
        assert abs(getattr(coins, name).value) < 0.4  # chance is 0, and the least sure of the three scatters by .09
    assert sure.split_half_distances.value > 0.95
    assert abs(coins.split_half_distances.value) < 0.7  # 45 pairs: their correlation scatters by .18
    for found in (sure, coins):
        for _, e in found.figures():
            assert -1 <= e.low <= e.value + 1e-9 <= e.high + 2e-9 <= 1 + 2e-9


@pytest.mark.slow
def test_alpha_is_near_that_of_very_many_answers_as_often_as_its_interval_says():
    truth = np.random.default_rng(3).normal(size=(9, 2))
    many = sm.simulate(truth, 60_000, sharpness=1.5, raters=600, random_state=0)
    true = sm.check(many).coefficients.alpha.value
    drawn = [sm.simulate(truth, 1200, sharpness=1.5, raters=12, random_state=k) for k in range(1, 21)]
    found = [sm.check(one).coefficients.alpha for one in drawn]
    inside = [one.low < true < one.high for one in found]
    assert sum(inside) >= 14  # 19 of 20: fewer in one draw of 30,000


def test_few_answers_give_no_coefficient_but_a_reason():
    found = sm.check(study(0, n_answers=15, raters=3)).coefficients
    assert all(e.value is None and f"needs {FEWEST}" in e.note for _, e in found.figures())
    alone = sm.check(study(0, raters=1)).coefficients
    assert alone.alpha.value is None
    assert alone.retest_answers.value is not None


def test_the_page_and_the_dict_hold_them():
    report = sm.check(study(0))
    assert report.to_dict()["coefficients"]["alpha"]["value"] == report.coefficients.alpha.value
    assert "Krippendorff's alpha" in str(report)


def test_without_raters_the_reason_is_that_nobody_was_recorded():
    told = sm.check(study(0, raters=None)).coefficients
    for figure in (told.alpha, told.split_half_answers, told.retest_answers):
        assert figure.value is None
        assert figure.note == NOBODY
    assert told.split_half_distances.value is not None
