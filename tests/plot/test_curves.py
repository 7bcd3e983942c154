import numpy as np
import pandas as pd
import pytest

import similitude as sm


@pytest.fixture(scope="module")
def feedback():
    return sm.simulate(np.random.default_rng(0).normal(size=(12, 2)), 600, sharpness=2.0, random_state=1)


def test_learning_curve(feedback):
    table = sm.learning_curve([sm.STE(2), sm.SOE(2)], feedback, sizes=[50, 400], n_repeats=2, random_state=0)
    axes = sm.plot.learning_curve(table, ceiling=0.9)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["STE", "SOE", "noise ceiling"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), table[table.estimator == "STE"].accuracy)
    assert len(axes.collections) == 2


def test_calibration(feedback):
    table = sm.calibration(sm.STE(2, random_state=0).fit(feedback), feedback)
    axes = sm.plot.calibration(table)
    np.testing.assert_allclose(axes.collections[0].get_offsets(), table[["predicted", "observed"]])


def test_penalty_path_marks_the_best():
    table = pd.DataFrame({"penalty": [0.01, 0.1, 1.0], "accuracy": [0.7, 0.8, 0.75]})
    axes = sm.plot.penalty_path(table.assign(low=table.accuracy - 0.02, high=table.accuracy + 0.02))
    assert "best: 0.1" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_weights_are_sorted():
    axes = sm.plot.weights({"colour": 0.2, "shape": 0.7, "size": 0.1})
    assert [bar.get_width() for bar in axes.patches] == [0.1, 0.2, 0.7]
    with pytest.raises(ValueError, match="at least one weight"):
        sm.plot.weights({})


def test_items_are_drawn_heaviest_first():
    tables = {"shape": [0.1, 2.0, 0.0], "colour": [0.0, 1.0, 0.5]}
    axes = sm.plot.item_weights(tables, names=["ape", "bear", "cow"])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bear", "cow", "ape"]
    assert [bar.get_height() for bar in axes.patches] == [2.0, 0.0, 0.1, 1.0, 0.5, 0.0]
    assert "1 lighter ones" in sm.plot.item_weights(tables, most=2).get_xlabel()
    with pytest.raises(ValueError, match="all weights are zero"):
        sm.plot.item_weights({"shape": np.zeros(3)})
    with pytest.raises(ValueError, match="the same number of weights"):
        sm.plot.item_weights({"shape": [1.0], "colour": [1.0, 2.0]})


def test_a_table_without_its_columns_is_refused():
    with pytest.raises(ValueError, match="expected the columns estimator, answers, accuracy, low, high, found a, b"):
        sm.plot.learning_curve(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match="found dict"):
        sm.plot.calibration({"predicted": [1]})


def test_active_curve_marks_where_a_strategy_gets_there():
    rows = [("random", [0.4, 0.3, 0.2]), ("chosen", [0.4, 0.2, 0.1])]
    table = pd.DataFrame(
        [(name, 10 * (k + 1), error) for name, errors in rows for k, error in enumerate(errors)],
        columns=["strategy", "answers", "error"],
    )
    axes = sm.plot.active_curve(table.assign(low=table.error - 0.01, high=table.error + 0.01), target=0.2)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["random", "chosen", "20% error"]
    marks = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "o"]
    assert marks == [[30.0, 0.2], [20.0, 0.2]]
    with pytest.raises(ValueError, match="expected the columns strategy"):
        sm.plot.active_curve(table)
