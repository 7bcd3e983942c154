import matplotlib

matplotlib.use("Agg")

import numpy as np
from markupsafe import escape

import similitude as sm
from similitude.analysis.consistency import consistency_page


def test_the_page_holds_every_figure_and_escapes_names():
    truth = np.random.default_rng(0).normal(size=(10, 2))
    people = sm.Raters.of([5.0] * 6 + [0.0], names=["ann", "bob", "cem", "dan", "eve", "fay", "<b>bot</b>"])
    report = sm.check(sm.simulate(truth, 3000, raters=people, random_state=1))
    page = consistency_page(report, "Faces & places")
    for name, _ in report.figures():
        assert str(escape(name)) in page
    assert "Faces &amp; places" in page
    assert "<b>bot</b>" not in page
    assert "1 rater answers at random: &lt;b&gt;bot" in page
    assert "data:image/svg+xml;base64," in page


def test_a_page_without_raters_has_no_picture():
    truth = np.random.default_rng(0).normal(size=(10, 2))
    page = consistency_page(sm.check(sm.simulate(truth, 500, random_state=1)))
    assert "<img" not in page
    assert "Nothing stands out" in page
