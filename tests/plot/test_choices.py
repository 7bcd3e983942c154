import itertools

import numpy as np
import pytest

import similitude as sm

TRUTH = np.random.default_rng(0).normal(size=(9, 2))


@pytest.fixture(scope="module")
def answers():
    return sm.simulate(TRUTH, 300, sharpness=2.0, random_state=1)


@pytest.mark.slow
def test_dimensions(answers):
    choice = sm.dimension(sm.STE(random_state=0), answers, dimensions=(1, 2, 3), n_folds=3, n_repeats=1, random_state=0)
    axes = sm.plot.dimension(choice)
    drawn = axes.containers[0].lines[0].get_xydata()
    np.testing.assert_allclose(drawn, choice.table[["dimensions", "accuracy"]].to_numpy(float))
    assert f"chosen: {choice.chosen}" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_forecast(answers):
    found = sm.more_answers(sm.STE(2, random_state=0), answers, n_repeats=3, random_state=0)
    axes = sm.plot.forecast(found)
    measured = axes.lines[1].get_xydata()
    np.testing.assert_allclose(measured, found.curve[["answers", "accuracy"]].to_numpy(float))
    ticks = [int(text.get_text().replace(",", "")) for text in axes.get_xticklabels()]
    assert all(second >= 1.9 * first for first, second in itertools.pairwise(ticks))


def test_in_one_dimension_bars_show_where_else_items_may_stand(answers):
    model = sm.STE(1, random_state=0).fit(answers)
    found = sm.uncertainty(model, answers, n=8, random_state=0)
    axes = sm.plot.embedding(model, uncertainty=found, labels=False)
    (bars,) = [own for own in axes.collections if type(own).__name__ == "PolyCollection"]
    for path, place, variance in zip(bars.get_paths(), model.embedding_, found.covariance, strict=True):
        (left, low), (right, high) = path.vertices.min(0), path.vertices.max(0)
        half = 1.959964 * np.sqrt(variance.item())  # 95% of a normal distribution on a line
        np.testing.assert_allclose([left, right], [place.item() - half, place.item() + half], atol=1e-5)
        points = (axes.transData.transform((0, high)) - axes.transData.transform((0, low)))[1] / axes.figure.dpi * 72
        assert points > 8  # thicker than a marker


@pytest.mark.parametrize("d", [2, 4])
def test_ellipses_are_the_covariance_in_the_plane(answers, d):
    model = sm.STE(d, random_state=0).fit(answers)
    found = sm.uncertainty(model, answers, n=8, random_state=0)
    axes = sm.plot.embedding(model, uncertainty=found, labels=False)
    (ellipses,) = [own for own in axes.collections if type(own).__name__ == "EllipseCollection"]
    widths, heights = 2.0 * ellipses._widths, 2.0 * ellipses._heights  # it keeps halves
    from similitude.display.places import plane

    flat = plane(model.embedding_)
    values = np.linalg.eigvalsh(flat.T @ found.covariance @ flat)
    reach = 2.0 * np.sqrt(-2.0 * np.log(1 - 0.95))
    np.testing.assert_allclose(widths, reach * np.sqrt(values[:, 1]), atol=1e-9)
    np.testing.assert_allclose(heights, reach * np.sqrt(np.maximum(values[:, 0], 0)), atol=1e-9)


def test_ellipses_of_another_model_or_projection_are_refused(answers):
    model = sm.STE(3, random_state=0).fit(answers)
    found = sm.uncertainty(model, answers, n=4, random_state=0)
    with pytest.raises(ValueError, match=r"^uncertainty: expected that of this model"):
        sm.plot.embedding(TRUTH, uncertainty=found)
    with pytest.raises(ValueError, match=r"^projection: ellipses need distances"):
        sm.plot.embedding(model, uncertainty=found, projection="tsne")
