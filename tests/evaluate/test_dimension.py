import numpy as np
import pytest

import similitude as sm
from similitude.evaluate.dimension import _choice, _holm


@pytest.mark.own_seed  # in one draw of eight the third dimension gains too little to be told from chance
@pytest.mark.parametrize("planted", [1, 2, 3])
def test_planted_dimensions_are_found(planted):
    truth = np.random.default_rng(planted).normal(size=(16, planted))
    c = sm.simulate(truth, 2500, sharpness=2.0, random_state=5)
    found = sm.dimension(sm.STE(random_state=0), c, dimensions=(1, 2, 3, 4), n_repeats=1, random_state=0)
    assert found.chosen == planted
    assert found.tested == planted
    assert repr(found).startswith(f"{planted} dimension{'' if planted == 1 else 's'} (")


def test_noise_asks_for_no_dimensions():
    asked_for = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = np.array([rng.permutation(10)[:3] for _ in range(600)])
        found = sm.dimension(sm.STE(random_state=0), noise, dimensions=(1, 2, 3), random_state=0)
        assert (found.tested == 1) == (found.table.p_value[1:] > 0.05).all()  # noise may gain at the second step alone
        asked_for += found.tested > 1
    assert asked_for <= 2  # one of fifty


def test_the_rule_and_the_test_by_hand():
    share = np.array([[0.60, 0.61, 0.62, 0.63], [0.80, 0.78, 0.81, 0.79], [0.802, 0.776, 0.815, 0.789]])
    found = _choice([1, 2, 5], share, ratio=0.25, level=0.95)
    assert (found.best, found.chosen, found.tested) == (5, 2, 2)
    gap = share[2] - share[1]
    assert found.table.error[1] == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 4 + 0.25))
    assert found.table.behind[1] == pytest.approx(gap.mean())
    assert found.table.gain[1] == pytest.approx((share[1] - share[0]).mean())


def test_holms_correction():
    np.testing.assert_allclose(_holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])


def test_same_seed_same_table_and_a_callback():
    c = sm.simulate(np.random.default_rng(0).normal(size=(8, 2)), 150, sharpness=2.0, random_state=0)
    told = []
    settings = {"dimensions": (1, 2), "n_folds": 2, "n_repeats": 1, "random_state": 3}
    first = sm.dimension(sm.STE(random_state=0), c, callback=lambda *count: told.append(count), **settings)
    assert told == [(k + 1, 4) for k in range(4)]
    assert first.table.equals(sm.dimension(sm.STE(random_state=0), c, **settings).table)


def test_bad_settings_are_named():
    c = np.array([(0, 1, 2), (1, 2, 0)])
    with pytest.raises(ValueError, match=r"^estimator: expected one with n_components, found RCKL"):
        sm.dimension(sm.RCKL(), c)
    with pytest.raises(ValueError, match=r"^dimensions: expected at least two"):
        sm.dimension(sm.STE(), c, dimensions=(2,))
