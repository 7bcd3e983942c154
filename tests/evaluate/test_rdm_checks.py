"""What is no dissimilarity is refused by what it is; what is odd about one is said."""

import re

import numpy as np
import pytest
from scipy.spatial import distance

import similitude as sm

X = np.random.default_rng(0).gamma(0.5, size=(12, 12))
RDM = distance.squareform(distance.pdist(X))


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (np.full((12, 12), np.nan), ValueError, "second: no dissimilarity is known"),
        (np.where(RDM > 1, np.inf, RDM), ValueError, "second: found infinity"),
        (np.corrcoef(X), ValueError, "second: no pair has more than the diagonal, so these are similarities"),
        ("model.csv", TypeError, "second: expected a model, .*, found the text 'model.csv'; read the file first"),
        ({"a": 1}, TypeError, "second: expected a model, .*, found dict"),
        (object(), TypeError, "second: expected a model, .*, found object"),
        ([["a", "b"], ["c", "d"]], TypeError, "second: expected a model, .*, found list of other things than numbers"),
        (X, ValueError, "second: the table is not symmetric .* give vectors with a metric"),
        (
            sm.Similarity(np.zeros((12, 0)), sm.STE(2).comparison_loss()),
            ValueError,
            "second: the model has no dimensions, its answers teach nothing",
        ),
    ],
)
def test_what_is_not_dissimilar_is_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        sm.compare(RDM, given, n_resamples=5)


def test_what_is_odd_is_said():
    below = RDM - np.median(RDM) * ~np.eye(12, dtype=bool)
    with pytest.warns(UserWarning, match=r"second: \d+ dissimilarities are below 0; they count in their order"):
        assert sm.compare(RDM, below, n_resamples=5, random_state=0).correlation == pytest.approx(1.0)
    with pytest.warns(UserWarning, match=re.escape("second: the diagonal holds up to 0.5, expected 0")):
        sm.compare(RDM, RDM + 0.5 * np.eye(12), n_resamples=5, random_state=0)


def test_as_many_numbers_as_items_are_vectors_where_there_is_a_metric():
    found = sm.compare(RDM, X, metric="euclidean", n_resamples=5, random_state=0)
    assert found.correlation == pytest.approx(1.0)
    with pytest.raises(ValueError, match="metric: 'cosine' is a way to compare vectors, expected some"):
        sm.compare(RDM, RDM, metric="cosine")
