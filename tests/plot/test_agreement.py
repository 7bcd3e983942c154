"""The pictures of two similarities: what they draw."""

import numpy as np
import pytest

import similitude as sm

TRUTH = np.random.default_rng(0).normal(size=(16, 2))
NAMES = tuple(f"item {k}" for k in range(16))
LOSS = sm.STE(2).comparison_loss()


@pytest.fixture
def found():
    moved = TRUTH + 0.4 * np.random.default_rng(1).normal(size=TRUTH.shape)
    return sm.compare(sm.Similarity(TRUTH, LOSS, NAMES), sm.Similarity(moved, LOSS, NAMES), random_state=0)


def test_distances_are_drawn_against_each_other(found):
    axes = sm.plot.agreement(found, labels=("lay", "expert"))
    assert axes.get_xlabel() == "distance, lay"
    assert axes.get_ylabel() == "distance, expert"
    np.testing.assert_allclose(axes.collections[0].get_offsets(), found.distances.T)


def test_maps_lie_over_each_other_with_names(found):
    axes = sm.plot.agreement(found, kind="maps")
    assert len(axes.collections) == 2
    assert len(axes.lines) == 16
    written = {text.get_text() for text in axes.texts} - {""}
    named = written & set(NAMES)
    assert len(named) >= 8  # where two maps lie over each other not every name has room: some have a mark, and a key
    assert all(text.isdigit() or set(text.split("  ")) & set(NAMES) for text in written - named)


def test_bad_kind_and_missing_maps_are_named(found):
    with pytest.raises(ValueError, match="kind: expected 'distances' or 'maps', found 'pie'"):
        sm.plot.agreement(found, kind="pie")
    table = np.abs(np.subtract.outer(np.arange(16.0), np.arange(16.0)))
    table[0, 1] = table[1, 0] = np.nan
    gaps = sm.compare(sm.Similarity(TRUTH, LOSS), table, n_resamples=20, random_state=0)
    with pytest.raises(ValueError, match="there are no maps"):
        sm.plot.agreement(gaps, kind="maps")
