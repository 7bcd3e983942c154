"""Comparison kernels against the formulas written out and Kendall's tau; landmark designs, new items, bad input."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.svm import SVC

import similitude as sm
from similitude.methods import gram as gram_module
from similitude.methods import vote_features

pytestmark = pytest.mark.filterwarnings("ignore:.*zero vector:similitude.FeedbackWarning")
KINDS = ["k1", "k2"]


def literal(triplets, n, kind, weight=None, columns=None):
    """The definitions, entry by entry, over all n² ordered pairs of items (or some): the features (n, n²)."""
    count = np.zeros((n, n, n))
    for (head, near, far), times in zip(triplets, np.ones(len(triplets)) if weight is None else weight, strict=True):
        count[head, near, far] += times
    features = np.zeros((n, n, n))
    for a, i, j in itertools.product(range(n), repeat=3):
        if kind == "k1":
            wins, losses = (count[a, i, j], count[a, j, i]) if i < j else (0, 0)
        else:
            wins, losses = count[i, a, j], count[i, j, a]
        if columns is not None and not (i in columns and j in columns):
            continue
        features[a, i, j] = (wins - losses) / (wins + losses) if wins + losses else 0.0
    features = features.reshape(n, n * n)
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, length, out=np.zeros_like(features), where=length > 0)


def feedback(n=9, m=150, seed=0, heads=None):
    """Random triplets with repeats and contradictions; some items are never head."""
    rng = np.random.default_rng(seed)
    rows = sm.random_questions(n, m, random_state=rng)
    rows = rows[np.isin(rows[:, 0], range(n - 2) if heads is None else heads)]
    return np.concatenate([rows, rows[:20], rows[:15, [0, 2, 1]]])


def complete(positions):
    """All triplets of distinct items, answered without error."""
    D = np.linalg.norm(positions[:, None] - positions, axis=2)
    rows = [row for row in itertools.permutations(range(len(D)), 3) if D[row[0], row[1]] < D[row[0], row[2]]]
    return np.array(rows)


def full(model, n):
    """The features over all n² pairs."""
    F = model.features_.toarray() if sparse.issparse(model.features_) else model.features_
    result = np.zeros((F.shape[0], n * n))
    result[:, model.columns_ @ [n, 1]] = F
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_features_and_kernel_are_the_formulas(kind, seed):
    rows = feedback(seed=seed)
    expected = literal(rows, 9, kind)
    model = sm.ComparisonKernel(kind, n_items=9).fit(rows)
    np.testing.assert_allclose(full(model, 9), expected, atol=1e-14)
    np.testing.assert_allclose(model.kernel_, expected @ expected.T, atol=1e-14)
    assert np.array_equal(model.kernel_, model.kernel_.T)
    assert model.features_.has_sorted_indices
    assert model.features_.data.all()


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=40), st.sampled_from(KINDS))
def test_formulas_hold_for_any_triplets(orders, kind):
    rows = np.array([order[:3] for order in orders])
    expected = literal(rows, 5, kind)
    model = sm.ComparisonKernel(kind, n_items=5).fit(rows)
    np.testing.assert_allclose(full(model, 5), expected, atol=1e-14)
    assert set(model.empty_) == set(np.flatnonzero(~expected.any(1)))


@pytest.mark.parametrize("kind", KINDS)
def test_other_ways_through_the_code_give_the_same(kind, monkeypatch):
    c = sm.Comparisons.from_triplets(feedback(30, 4000), n_items=30)
    model = sm.ComparisonKernel(kind).fit(c)
    for part, name, value in (
        (vote_features, "_CHUNK", 100),
        (vote_features, "_TABLE_SHARE", 0),
        (gram_module, "_SIMD", 0),
        (gram_module, "_GATHERED", 7),
        (gram_module, "_WORTH_CHUNKS", 0),
        (gram_module, "_SIMD", 10**9),
        (gram_module, "_DENSE_CELLS", 100),
    ):
        monkeypatch.setattr(part, name, value)
        other = sm.ComparisonKernel(kind).fit(c)
        np.testing.assert_allclose(other.kernel(block=7), model.kernel_, atol=1e-14)
        np.testing.assert_array_equal(other.columns_, model.columns_)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repeats(kind):
    rows = feedback(9, 60)
    weight = np.random.default_rng(1).integers(0, 4, len(rows))
    weighted = sm.ComparisonKernel(kind).fit(sm.Comparisons.from_triplets(rows, weight=weight, n_items=9))
    repeated = sm.ComparisonKernel(kind, n_items=9).fit(np.repeat(rows, weight, axis=0))
    np.testing.assert_allclose(weighted.kernel_, repeated.kernel_, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_relabelling_items_permutes_the_kernel(kind):
    rows, order = feedback(), np.random.default_rng(3).permutation(9)
    one = sm.ComparisonKernel(kind, n_items=9).fit(rows).kernel_
    other = sm.ComparisonKernel(kind, n_items=9).fit(order[rows]).kernel_
    np.testing.assert_allclose(other[np.ix_(order, order)], one, atol=1e-14)


def test_k1_of_complete_triplets_is_kendalls_tau_of_the_other_items():
    positions = np.random.default_rng(0).normal(size=(8, 2))
    K = sm.ComparisonKernel("k1").fit(complete(positions)).kernel_
    D = np.linalg.norm(positions[:, None] - positions, axis=2)
    for a, b in itertools.combinations(range(8), 2):
        others = np.delete(np.arange(8), [a, b])
        tau = kendalltau(D[a, others], D[b, others]).statistic
        assert K[a, b] == pytest.approx((8 - 3) / (8 - 1) * tau, abs=1e-12)


def rankings(orders):
    """Triplets of heads 7, 8, ... that rank the items 0 to 6: with the trivial entries, as d(a, a) < d(a, j)."""
    return np.array(
        [(7 + k, near, far) for k, order in enumerate(orders) for near, far in itertools.combinations(order, 2)]
    )


def test_k1_of_rankings_is_kendalls_tau():
    orders = [
        [0, 2, 1, 3, 4, 5, 6],
        [1, 2, 5, 0, 4, 3, 6],
        *np.random.default_rng(0).permuted([[*range(7)]] * 4, axis=1),
    ]
    K = sm.ComparisonKernel("k1").fit(rankings(orders)).kernel_[7:, 7:]
    assert K[0, 1] == pytest.approx(1 / 3), "the two rankings in the caption of the paper's Fig. 1"
    for a, b in itertools.combinations(range(6), 2):
        assert K[a, b] == pytest.approx(kendalltau(np.argsort(orders[a]), np.argsort(orders[b])).statistic)


def test_k2_counts_agreements():
    positions = np.random.default_rng(1).normal(size=(7, 2))
    K = sm.ComparisonKernel("k2").fit(complete(positions)).kernel_
    D = np.linalg.norm(positions[:, None] - positions, axis=2)
    for a, b in itertools.combinations(range(7), 2):
        pairs = [(i, j) for i, j in itertools.permutations(range(7), 2) if not {i, j} & {a, b}]
        agree = [(D[i, a] < D[i, j]) == (D[i, b] < D[i, j]) for i, j in pairs]
        assert K[a, b] == pytest.approx((2 * np.sum(agree) - len(pairs)) / (6 * 5))


def designed(kind, n=12, landmarks=(1, 4, 5, 9), seed=0, flip=0.2):
    positions = np.random.default_rng(seed).normal(size=(n, 2))
    questions = sm.landmark_questions(n, landmarks, kind, random_state=seed)
    return sm.simulate(positions, questions=np.repeat(questions, 2, axis=0), flip=flip, random_state=seed + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_landmark_design_gives_dense_features(kind):
    c, landmarks = designed(kind), [9, 1, 5, 4]
    model = sm.ComparisonKernel(kind, landmarks=landmarks).fit(c)
    assert isinstance(model.features_, np.ndarray)
    assert model.features_.shape == (12, 6 if kind == "k1" else 16)
    assert model.landmarks_.tolist() == [1, 4, 5, 9]
    expected = literal(c.triplets, 12, kind, columns=landmarks)
    np.testing.assert_allclose(full(model, 12), expected, atol=1e-14)
    np.testing.assert_allclose(model.kernel(block=5), expected @ expected.T, atol=1e-14)


def test_a_landmark_design_of_k1_changes_nothing():
    c = designed("k1")
    dense, general = (sm.ComparisonKernel("k1", landmarks=chosen).fit(c) for chosen in ([1, 4, 5, 9], None))
    np.testing.assert_allclose(dense.kernel_, general.kernel_, atol=1e-14)


@pytest.mark.parametrize("landmarks", [None, [1, 4, 5, 9]])
@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_and_blocks(kind, landmarks):
    model = sm.ComparisonKernel(kind, landmarks=landmarks).fit(designed(kind))
    K = model.kernel(dtype="float32", block=4)
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, model.kernel_, atol=1e-6)
    assert model.kernel_ is model.kernel_, "formed once"


@pytest.mark.parametrize("landmarks", [None, [1, 4, 5, 9]])
def test_new_heads_have_the_k1_of_a_fit_on_everything(landmarks):
    c = designed("k1", n=15)
    known = np.flatnonzero(c.near[:, 0] < 12)
    new = np.flatnonzero(c.near[:, 0] >= 12)
    model = sm.ComparisonKernel(landmarks=landmarks).fit(c.triplets[known])
    together = sm.ComparisonKernel().fit(c)
    np.testing.assert_allclose(model.kernel(c.triplets[new])[12:], together.kernel_[12:, :12], atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("landmarks", [None, [1, 4, 5, 9]])
def test_transforming_what_was_fitted_gives_its_features(kind, landmarks):
    c = designed(kind)
    model = sm.ComparisonKernel(kind, landmarks=landmarks).fit(c)
    difference = model.transform(c) - model.features_
    assert abs(difference).max() < 1e-14
    assert abs(clone(model).fit_transform(c) - model.features_).max() == 0


def test_columns_that_the_fit_does_not_have_are_left_out():
    model = sm.ComparisonKernel().fit([(0, 1, 2), (1, 0, 2), (2, 0, 1)])
    features = model.transform([(3, 1, 2), (3, 1, 4), (4, 0, 1)])
    assert features.shape == (5, 3)
    assert features[3].toarray().ravel() == pytest.approx(model.features_[0].toarray().ravel() / np.sqrt(2))


def test_new_items_by_name():
    c = sm.Comparisons.from_triplets([("a", "b", "c"), ("b", "a", "c"), ("c", "a", "b")])
    model = sm.ComparisonKernel().fit(c)
    cross = model.kernel(sm.Comparisons.from_triplets([("aa", "c", "b")]))
    np.testing.assert_array_equal(cross[3], [-1, 0, 0])
    with pytest.raises(ValueError, match="by name, the comparisons theirs by position"):
        model.transform([(0, 1, 2)])


def test_it_is_a_precomputed_kernel_for_scikit_learn():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 30)
    positions = rng.normal(size=(60, 2)) + 8 * classes[:, None]  # as good as never overlapping
    order = rng.permutation(60)
    positions, classes = positions[order], classes[order]
    questions = sm.landmark_questions(60, np.arange(8), "k1", random_state=1)
    known = questions[:, 0] < 40
    model = sm.ComparisonKernel().fit(sm.simulate(positions, questions=questions[known], random_state=2))
    svm = SVC(kernel="precomputed").fit(model.kernel_[:40, :40], classes[:40])
    new = model.kernel(sm.simulate(positions, questions=questions[~known], random_state=2))
    assert svm.score(new[40:, :40], classes[40:]) == 1.0


def test_the_diagonal_is_reduced_to_a_singular_kernel():
    rows = feedback(9, 120, heads=range(9))  # the least eigenvalue is .37 ± .07
    plain = sm.ComparisonKernel(n_items=9).fit(rows)
    model = sm.ComparisonKernel(reduce_diagonal=True, n_items=9).fit(rows)
    assert model.shift_ is None
    values = np.linalg.eigvalsh(model.kernel_)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert model.shift_ == pytest.approx(np.linalg.eigvalsh(plain.kernel_)[0])
    assert model.shift_ > 0.05
    np.testing.assert_allclose(plain.kernel_ - model.kernel_, model.shift_ * np.eye(9), atol=1e-12)
    np.testing.assert_array_equal(plain.features_.toarray(), model.features_.toarray())


def test_reducing_the_diagonal_of_a_singular_kernel_does_nothing_and_says_so():
    c = designed("k1")
    model = sm.ComparisonKernel(reduce_diagonal=True, landmarks=[1, 4, 5, 9]).fit(c)
    with pytest.warns(UserWarning, match="reduce_diagonal: the kernel is singular"):
        K = model.kernel()
    np.testing.assert_array_equal(K, sm.ComparisonKernel(landmarks=[1, 4, 5, 9]).fit(c).kernel())
    assert model.shift_ == 0.0


@pytest.mark.parametrize("landmarks", [None, [0, 1, 2]])
def test_items_of_which_nothing_is_known_are_reported(landmarks):
    rows = [(0, 1, 2), (3, 0, 2), (4, 1, 2), (4, 2, 1)]
    with pytest.warns(sm.FeedbackWarning, match=r"4 of 6 items have the zero vector .* as head .*: 1, 2, 4, 5"):
        model = sm.ComparisonKernel(landmarks=landmarks, n_items=6).fit(rows)
    assert model.empty_.tolist() == [1, 2, 4, 5]
    assert not model.kernel_[model.empty_].any()
    assert model.kernel_[0, 0] == pytest.approx(1)
    with pytest.warns(sm.FeedbackWarning, match="1 of 8 items have the zero vector .*: 6"):
        model.transform([(7, 1, 2)])


def test_a_fitted_kernel_can_be_pickled_and_needs_a_fit():
    model = sm.ComparisonKernel("k2").fit(feedback())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).kernel_, model.kernel_)
    with pytest.raises(ValueError, match="not fitted"):
        sm.ComparisonKernel().transform(feedback())


@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [
        ({"kind": "k3"}, [(0, 1, 2)], "kind: expected 'k1' or 'k2', found 'k3'"),
        ({}, [(0, 1, 2, 3)], r"comparisons: expected triplets.* found \(0, 1\) over \(2, 3\) in row 0, and 1 such"),
        ({}, np.empty((0, 3), int), "there are none to learn from"),
        ({"landmarks": [0, 7]}, [(0, 1, 2)], "landmarks: .*found index 7, but there are 3 items"),
        ({"landmarks": [1, 1]}, [(0, 1, 2)], "landmarks: expected at least 2 different items"),
        ({"landmarks": [1]}, [(0, 1, 2)], "landmarks: expected at least 2 different items"),
        (
            {"landmarks": [1, 2]},
            [(0, 1, 2), (0, 1, 3)],
            r"near and far are landmarks \(k1\), found \(0, 1, 3\) in row 1",
        ),
        (
            {"kind": "k2", "landmarks": [1, 2]},
            [(1, 0, 2), (0, 1, 2)],
            r"the head and one of near and far are landmarks \(k2\), found \(0, 1, 2\) in row 1, and 1 such in all",
        ),
    ],
)
def test_bad_input_of_a_fit(settings, rows, message):
    with pytest.raises(ValueError, match=message):
        sm.ComparisonKernel(**settings).fit(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "int32"}, "dtype: expected float32 or float64, found int32"),
        ({"block": 0}, "block: expected a positive whole number of rows, found 0"),
    ],
)
def test_bad_input_of_a_kernel(settings, message):
    with pytest.raises(ValueError, match=message):
        sm.ComparisonKernel().fit(feedback()).kernel(**settings)


def test_landmarks_by_name_and_a_new_item_off_the_design():
    c = sm.Comparisons.from_triplets([("a", "b", "c"), ("d", "c", "b")])
    model = sm.ComparisonKernel(landmarks=["b", "c"]).fit(c)
    assert model.kernel_[0, 3] == -1
    with pytest.raises(ValueError, match=r"landmarks: .*found \(e, a, c\) in row 0"):
        model.transform(sm.Comparisons.from_triplets([("e", "a", "c")]))
    with pytest.raises(ValueError, match="landmarks: items: 'z' is not among the 4 item names"):
        sm.ComparisonKernel(landmarks=["b", "z"]).fit(c)


def test_the_kinds_of_cars_lie_apart(data):
    c = sm.read_comparisons(data / "car60" / "most_central.csv")
    classes = pd.read_csv(data / "car60" / "objects.csv")["class"]
    positions = sm.kernel_map(sm.ComparisonKernel("k2").fit(c).features_, kernel="linear")
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    assert sm.separation(distances, classes) > 2
    assert sm.separation(distances, np.random.default_rng(0).permutation(classes)) < 1.2
