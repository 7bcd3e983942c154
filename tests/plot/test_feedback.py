import numpy as np
import pytest

import similitude as sm


@pytest.fixture(scope="module")
def feedback():
    truth = np.random.default_rng(0).normal(size=(10, 2))
    people = sm.Raters.of([5.0] * 6 + [0.0], names=["ann", "bob", "cem", "dan", "eve", "fay", "bot"])
    return sm.simulate(truth, 3000, raters=people, random_state=1)


def test_raters_in_order_with_the_clicker_marked(feedback):
    axes = sm.plot.rater_agreement(sm.check(feedback))
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "bot"
    assert sorted(names) == ["ann", "bob", "bot", "cem", "dan", "eve", "fay"]
    assert "answer at random" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_legend_lies_on_no_rater(feedback):
    axes = sm.plot.rater_agreement(sm.check(feedback))
    axes.figure.draw_without_rendering()
    assert axes.get_legend().get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0


def test_without_raters_there_is_nothing_to_draw():
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 300, random_state=1)
    with pytest.raises(ValueError, match="no rater"):
        sm.plot.rater_agreement(sm.check(c))


def test_what_each_step_leaves(feedback):
    cleaned = sm.clean(feedback, reduce=True)
    axes = sm.plot.retained(cleaned)
    shares = [bar.get_width() for bar in axes.patches][::-1]
    assert shares[0] == 1
    assert np.all(np.diff(shares) <= 0)
    assert shares[-1] == pytest.approx(cleaned.weight.sum() / feedback.weight.sum())
    with pytest.raises(ValueError, match="not cleaned"):
        sm.plot.retained(feedback)
