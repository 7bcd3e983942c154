"""The pictures of a CAMEL show what it holds."""

import numpy as np
import pytest

import similitude as sm


@pytest.fixture
def model(rng):
    X = rng.normal(size=(60, 5))
    return sm.CAMEL(penalty=0.003, random_state=0).fit(X, X[:, 0] + X[:, 1] * X[:, 1] > 0.5), X


def test_factors_show_the_entries_and_leave_zeros_blank(model):
    names = ["a", "b", "c", "d", "e"]
    axes = sm.plot.factors(model[0], names=names)
    L = model[0].components_
    shown = axes.images[0].get_array()
    np.testing.assert_array_equal(shown.mask, L[np.ix_(L.any(1), L.any(0))] == 0)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        n for n, used in zip(names, L.any(0), strict=True) if used
    ]
    with pytest.raises(ValueError, match=r"names: expected one per feature \(5\), found 2"):
        sm.plot.factors(model[0], names=["a", "b"])


def test_bars_of_an_explanation_add_up_to_the_log_odds(model):
    why = model[0].explain(model[1][3])
    axes = sm.plot.explanation(why)
    np.testing.assert_allclose(sum(bar.get_width() for bar in axes.patches), why.log_odds)
    assert f"{why.confidence:.2f}" in axes.get_title()
    assert len(sm.plot.explanation(why, most=1).get_yticks()) == 1
    empty = type(why)("x", np.zeros((1, 2)), ("a", "b"))
    with pytest.raises(ValueError, match="found: no feature counts"):
        sm.plot.explanation(empty)
