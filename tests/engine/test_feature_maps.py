"""Maps of vectors: what kernels add is the same with and without them, and rows that cannot be read are refused."""

import numpy as np
import pytest

from similitude import kernels as K
from similitude.engine.feature_maps import FeatureMap, ModalityMap
from similitude.engine.map_parts import CosinePart, KernelPart, LinearPart, NotStorable

RNG = np.random.default_rng(0)
X, NEW, C = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=(12, 2))
COUNTS, NEW_COUNTS = np.round(np.exp(X)), np.round(np.exp(NEW))
GAPS = np.where(np.arange(12)[:, None] == 4, np.nan, X)
GAUSSIANS, NEW_GAUSSIANS = (X, np.exp(X)), (NEW, np.exp(NEW))
MIXTURES, NEW_MIXTURES = (
    (np.full((len(rows), 2), 0.5), np.stack([rows, rows + 1.0], 1), np.exp(np.stack([rows, -rows], 1)))
    for rows in (X, NEW)
)
CASES = {
    "linear": (K.Linear(X), NEW),
    "linear with gaps": (K.Linear(GAPS), NEW),
    "polynomial": (K.Polynomial(X, degree=3, offset=0.5), NEW),
    "rbf": (K.RBF(X), NEW),
    "rbf far from the origin": (K.RBF(X + 1e6), NEW + 1e6),
    "chi-square": (K.ChiSquare(COUNTS), NEW_COUNTS),
    "cosine": (K.Cosine(X), NEW),
    "cosine of counts": (K.Cosine(COUNTS, tfidf=True), NEW_COUNTS),
    "given": (K.Precomputed(X @ X.T), NEW @ X.T),
    "by a function": (K.Precomputed(X @ X.T, lambda new: np.asarray(new) @ X.T), NEW),
    "gaussians": (K.Bhattacharyya(GAUSSIANS), NEW_GAUSSIANS),
    "mixtures": (K.ExpectedLikelihood(MIXTURES, normalise=False), NEW_MIXTURES),
    "scaled": (K.Scaled(K.RBF(X), 3.0), NEW),
    "centred": (K.Centred(K.RBF(GAPS)), NEW),
    "unit trace": (K.UnitTrace(X), NEW),
    "centred sum": (K.Centred(K.Sum({"look": K.RBF(X), "tags": K.Cosine(COUNTS)})), {"look": NEW, "tags": NEW_COUNTS}),
    "sum of a sum": (K.Sum([K.Sum([X, K.RBF(X)]), K.Linear(COUNTS)]), [[NEW, NEW], NEW_COUNTS]),
}


def whole(kernel, coefficients=C):
    parts, constant = kernel.map_parts(coefficients)
    return ModalityMap("features", tuple(parts), -constant)


def one_matrix(p=3):
    return FeatureMap((ModalityMap("features", (LinearPart(C[:p]),), np.array([0.5, -1.0])),), np.zeros(2))


@pytest.mark.parametrize("name", CASES)
def test_a_map_adds_what_the_kernel_adds(name):
    kernel, new = CASES[name]
    np.testing.assert_allclose(whole(kernel)(new), kernel.cross(new) @ C, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["linear", "given", "cosine", "unit trace"])
def test_kernels_that_are_linear_in_new_rows_keep_no_training_items(name):
    (part,) = whole(CASES[name][0]).parts
    assert isinstance(part, (LinearPart, CosinePart))


def test_other_kernels_keep_the_items_that_have_coefficients():
    few = C * (np.arange(12) % 4 == 0)[:, None]
    (part,) = whole(K.RBF(X, width=1.0), few).parts
    assert isinstance(part, KernelPart)
    assert np.array_equal(part.items, X[::4])
    np.testing.assert_allclose(whole(K.RBF(X, width=1.0), few)(NEW), K.RBF(X, width=1.0).cross(NEW) @ few)


def test_what_is_code_says_that_it_cannot_be_stored():
    (part,) = whole(CASES["by a function"][0]).parts
    with pytest.raises(NotStorable, match="which is code"):
        part.stored()


def test_a_kernel_that_changes_a_formula_is_not_taken_for_the_one_that_it_extends():
    class Cubed(K.Linear):
        def _between(self, A, B):
            return (A @ B.T) ** 3

    np.testing.assert_allclose(whole(Cubed(X))(NEW), (NEW @ X.T) ** 3 @ C)


@pytest.mark.parametrize("name", ["linear", "rbf", "cosine", "given"])
def test_a_row_without_features_adds_nothing_and_moves_no_other(name):
    kernel, new = CASES[name]
    gaps = np.array(new)
    gaps[2] = np.nan
    found, others = whole(kernel)(gaps), np.arange(5) != 2
    assert (found[2] == 0).all()
    np.testing.assert_allclose(found[others], whole(kernel)(new)[others], rtol=1e-12, atol=1e-12)


def test_with_an_offset_a_row_without_features_is_at_the_centre_and_a_row_of_zeros_where_the_map_puts_it():
    found = one_matrix()(np.array([[np.nan] * 3, [0.0] * 3]))
    assert found.tolist() == [[0.0, 0.0], [-0.5, 1.0]]


def test_what_shares_nothing_with_the_training_items_is_at_the_centre_where_the_map_says_so():
    (piece,) = one_matrix().pieces
    centred = ModalityMap("features", piece.parts, piece.offset, unshared_at_centre=True)
    assert centred(np.zeros((1, 3))).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (NEW[:, :2], "found 2 columns, expected 3 columns"),
        (np.where(np.eye(5, 3) > 0, np.nan, NEW), "row 0 lacks 1 of its 3 values"),
        (np.where(np.eye(5, 3) > 0, np.inf, NEW), "row 0 holds an infinite value"),
        (NEW[0], "expected 2 axes"),
        ([["a", "b", "c"]], "expected numbers"),
    ],
)
@pytest.mark.parametrize("name", ["linear", "rbf", "cosine"])
def test_rows_that_cannot_be_read_are_refused(name, rows, said):
    with pytest.raises((ValueError, TypeError), match=f"new features: .*{said}"):
        whole(CASES[name][0])(rows)


def test_counts_below_zero_are_refused_where_the_kernel_is_about_counts():
    for name in ("chi-square", "cosine of counts"):
        with pytest.raises(ValueError, match="expected none below zero"):
            whole(CASES[name][0])(NEW)


def test_vectors_of_32_bits_give_positions_of_32_bits():
    single = one_matrix()(NEW.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, one_matrix()(NEW), rtol=1e-4, atol=1e-4)


def test_the_sum_of_linear_maps_is_one_matrix():
    turn = RNG.normal(size=(2, 2))
    both = FeatureMap.joined([one_matrix(), one_matrix().then(turn)])
    assert both.affine is not None
    np.testing.assert_allclose(both(NEW), one_matrix()(NEW) @ (np.eye(2) + turn))
    matrix, offset = both.affine
    np.testing.assert_allclose(NEW @ matrix - offset, both(NEW))


def test_modalities_are_given_by_name_and_need_not_all_be_there():
    pieces = [
        ModalityMap(name, whole(CASES[kind][0]).parts, np.ones(2)) for name, kind in (("a", "linear"), ("b", "rbf"))
    ]
    both = FeatureMap(tuple(pieces), np.ones(2))
    assert (both.width, both.affine, both.modalities) == (None, None, ("a", "b"))
    np.testing.assert_allclose(both({"b": NEW}), pieces[1](NEW) - 1)
    np.testing.assert_allclose(both({"a": NEW, "b": NEW}), pieces[0](NEW) + pieces[1](NEW) - 1)
    for wrong, said in ((NEW, "a ndarray"), ({"c": NEW}, "found c"), ({"a": NEW, "b": NEW[:2]}, "a: 5, b: 2")):
        with pytest.raises(ValueError, match=said):
            both(wrong)


def test_other_distributions_than_the_training_items_are_refused():
    with pytest.raises(ValueError, match=r"found Gaussians in 2 dimensions .*, expected Gaussians in 3 dimensions"):
        whole(CASES["gaussians"][0])(tuple(part[:, :2] for part in NEW_GAUSSIANS))


def test_a_sum_of_kernels_asks_for_each_entry():
    summed = whole(CASES["centred sum"][0])
    with pytest.raises(ValueError, match="expected one with the entry 'tags'"):
        summed({"look": NEW})
    with pytest.raises(ValueError, match="the same new items in each"):
        summed({"look": NEW, "tags": NEW_COUNTS[:2]})


def test_numbers_so_large_that_they_overflow_are_refused_by_row():
    with pytest.raises(ValueError, match="row 1 holds numbers so large that they overflow"):
        LinearPart(np.full((2, 1), 10.0)).values(np.array([[1.0, 1.0], [1e308, 1e308]]))
