"""Which dimensions come again: matched over seeds and halves, with intervals, and the others left out."""

import numpy as np
import pytest

import similitude as sm
from similitude.evaluate.reproducibility import DimensionReproducibility, _between, _interval
from tests.methods.test_non_negative_embedding import answers, planted

QUICK = {"n_init": 1, "scale": 1.0, "random_state": 0}


@pytest.fixture(scope="module")
def found():
    c = answers(planted(30, 3), 30 * 3 * 20, 0)
    return sm.dimension_reproducibility(sm.NonNegativeEmbedding(8, **QUICK), c, n_seeds=3, n_halves=2, random_state=0)


def test_planted_dimensions_come_again(found):
    # over 20 draws halves agree with .94 in the mean of the least dimension, with a deviation of .02
    table = found.table
    assert len(table) == found.model.n_dimensions_ == 3
    assert found.reproducible.all()
    assert (table.halves > 0.8).all()
    assert ((table.seeds_low <= table.seeds) & (table.seeds <= table.seeds_high)).all()
    assert "All 3 dimensions" in repr(found)
    assert "comes again" not in found._repr_html_()


def test_what_does_not_come_again_is_left_out(found):
    table = found.table.assign(reproducible=[True, False, True])
    some = DimensionReproducibility(table, found.model, 0.8, 0.95, 3, 2)
    kept = some.keep()
    np.testing.assert_array_equal(kept.embedding_, found.model.embedding_[:, [0, 2]])
    assert kept.reproducibility_.dimension.tolist() == [0, 2]
    assert found.model.reproducibility_ is None
    assert "2 of 3 dimensions" in repr(some)
    assert "does not come again" in some._repr_html_()


def test_halves_are_compared_with_each_other_and_not_with_the_model():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    first, second = X[:, ::-1] + 0.05 * rng.random((50, 2)), X[:, :1] + 0.05 * rng.random((50, 1))
    r = _between(X, first, second)
    assert r[0] == pytest.approx(np.corrcoef(first[:, 1], second[:, 0])[0, 1])
    assert r[1] == 0.0  # the second half has no such dimension


def test_intervals_are_those_of_means():
    mean, low, high = _interval(np.array([[0.8, 1.0], [0.9, 1.0], [0.7, 1.0]]), 0.95)
    assert mean == pytest.approx([0.8, 1.0])
    assert low[0] == pytest.approx(0.8 - 4.302653 * 0.1 / np.sqrt(3))
    assert (low[1], high[1]) == (1.0, 1.0)
    assert np.isnan(_interval(np.zeros((0, 2)), 0.95)[0]).all()


def test_only_dimensions_with_a_meaning_are_matched():
    with pytest.raises(TypeError, match="NonNegativeEmbedding"):
        sm.dimension_reproducibility(sm.ChoiceEmbedding(), answers(planted(), 20, 0))
    with pytest.raises(ValueError, match="n_seeds"):
        sm.dimension_reproducibility(sm.NonNegativeEmbedding(), answers(planted(), 20, 0), n_seeds=1)
