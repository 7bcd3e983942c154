"""What the page of CAMEL reads off its curves, and that no method had more settings than another."""

import numpy as np
import pandas as pd
import pytest
from reproduce.camel_page import needed
from reproduce.camel_trials import METHODS, best_fit

pytestmark = pytest.mark.slow  # an experiment


def curve(values, n_draws=6):
    return pd.DataFrame([values] * n_draws, columns=[10, 20, 40, 100])


@pytest.mark.parametrize(("goal", "rows"), [(0.5, 10.0), (0.7, 20.0), (0.75, 30.0), (0.9, 100.0), (0.95, np.inf)])
def test_rows_needed_are_read_off_between_sizes(goal, rows):
    without, using = curve([0.5, 0.5, 0.5, goal]), curve([0.6, 0.7, 0.8, 0.9])
    assert needed(without, using, 100) == pytest.approx((rows, rows, rows))


def test_draws_that_differ_give_an_interval(rng):
    noise = rng.normal(scale=0.05, size=(10, 4))
    using = pd.DataFrame(np.array([0.6, 0.7, 0.8, 0.9]) + noise, columns=[10, 20, 40, 100])
    low, middle, high = needed(curve([0.5, 0.5, 0.5, 0.75], 10), using, 100)
    assert low < middle < high


def test_every_method_has_as_many_settings():
    assert {len(settings) for settings in METHODS.values()} == {6}


def test_the_setting_taken_is_the_best_on_the_validation_rows(rng):
    X, y, sure = rng.normal(size=(30, 2)), np.arange(30) % 2, np.full(30, 0.5)
    X[:, 0] += 3 * y

    def by_column(column):
        return lambda *_: ((lambda rows: rows[:, column]), {"column": column})

    known = X, y, sure
    assert best_fit([by_column(1), by_column(0)], known, known)[1] == {"column": 0}
