"""Bad input: one sentence with the argument, what was found, what was expected."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude import kernels

RNG = np.random.default_rng(2)
X = RNG.normal(size=(6, 3))
K = X @ X.T
GAUSSIANS = X, np.ones((6, 3))
MIXTURES = np.full((6, 2), 0.5), RNG.normal(size=(6, 2, 3)), np.ones((6, 2, 3))


def changed(values, place, value):
    result = np.array(values, float)
    result[place] = value
    return result


BAD = {
    "features: row 2 lacks 1 of its 3 values": lambda: kernels.Linear(changed(X, (2, 1), np.nan)),
    "features: row 4 holds an infinite value": lambda: kernels.RBF(changed(X, (4, 0), np.inf)),
    "features: found an array of shape (6,), expected 2 axes": lambda: kernels.Linear(X[:, 0]),
    "X.reshape(-1, 1)": lambda: kernels.Linear(X[:, 0]),
    "features: found an empty array of shape (6, 0)": lambda: kernels.Linear(X[:, :0]),
    "features: found the same values for all 6 items": lambda: kernels.Linear(np.ones((6, 3))),
    "features: found the same values for all 5 items": lambda: kernels.RBF(changed(np.ones((6, 3)), 1, np.nan)),
    "same values for all 6": lambda: kernels.Cosine(np.outer(np.arange(1, 7), [1.0, 2.0])),
    "same values for all 6 items": lambda: kernels.Bhattacharyya((np.ones((6, 3)), np.ones((6, 3)))),
    "features: found no item that has any": lambda: kernels.Linear(np.full((6, 3), np.nan)),
    "present: found int64 of shape (6,), expected 6 booleans": lambda: kernels.Linear(X, present=np.arange(6)),
    "features: row 0 lacks 3 of its 3": lambda: kernels.Linear(changed(X, 0, np.nan), present=np.ones(6, bool)),
    "new features: found 2 columns, expected 3 columns": lambda: kernels.Linear(X).cross(X[:, :2]),
    "new features: row 1 lacks": lambda: kernels.Linear(X).cross(changed(X, (1, 1), np.nan)),
    "degree: found 1.5, expected a whole number": lambda: kernels.Polynomial(X, 1.5),
    "degree: found 0, expected a positive number": lambda: kernels.Polynomial(X, 0),
    "offset: found -1, expected a number of zero or more": lambda: kernels.Polynomial(X, 2, -1),
    "width: found 'mean', expected a positive number or 'median'": lambda: kernels.RBF(X, "mean"),
    "width: found 0, expected a positive number": lambda: kernels.RBF(X, 0),
    "width: found a median distance of 0": lambda: kernels.RBF(changed(np.ones((6, 3)), 0, 2.0)),
    "width: found 1 item with features": lambda: kernels.RBF(X[:1]),
    "gamma: found -1, expected a positive number": lambda: kernels.ChiSquare(np.abs(X), -1),
    "in row 3, expected none below zero for ChiSquare": lambda: kernels.ChiSquare(changed(np.abs(X), (3, 0), -1)),
    "expected none below zero for Cosine(tfidf=True)": lambda: kernels.Cosine(X, tfidf=True),
    "scale: found nan, expected a number of zero or more": lambda: kernels.Scaled(X, np.nan),
    "features: found a ndarray, expected a tuple (means, covariances)": lambda: kernels.Bhattacharyya(X),
    "features: found 2 parts, expected a tuple (weights, means": lambda: kernels.ExpectedLikelihood(GAUSSIANS),
    "found covariances of shape (6, 2) beside means of shape (6, 3)": lambda: kernels.Bhattacharyya(
        (X, np.ones((6, 2)))
    ),
    "least eigenvalue of -1 at item 2": lambda: kernels.Bhattacharyya((X, changed(GAUSSIANS[1], (2, 0), -1))),
    "features, covariances: row 2 lacks 1": lambda: kernels.Bhattacharyya((X, changed(GAUSSIANS[1], (2, 0), np.nan))),
    "least eigenvalue of -inf at item 0, expected symmetric": lambda: kernels.Bhattacharyya(
        (X, np.tile([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]], (6, 1, 1)))
    ),
    "expected Gaussians in 3 dimensions with diagonal": lambda: kernels.Bhattacharyya(GAUSSIANS).cross(
        (X, np.tile(np.eye(3), (6, 1, 1)))
    ),
    "[0.5, 0.9] at item 1, expected shares": lambda: kernels.ExpectedLikelihood(
        (changed(MIXTURES[0], (1, 1), 0.9), *MIXTURES[1:])
    ),
    "found means of shape (6, 1, 3) beside weights": lambda: kernels.ExpectedLikelihood(
        (MIXTURES[0], MIXTURES[1][:, :1], MIXTURES[2])
    ),
    "K: not symmetric by 5: found": lambda: kernels.Precomputed(changed(K, (1, 4), K[4, 1] + 5)),
    "at (1, 4) and": lambda: kernels.Precomputed(changed(K, (4, 1), K[1, 4] + 5)),
    "K: found a matrix of shape (6, 3), expected a square one": lambda: kernels.Precomputed(X),
    "K: found nan at (2, 1)": lambda: kernels.Precomputed(changed(K, (2, 1), np.nan)),
    "K: found zeros throughout": lambda: kernels.Precomputed(np.zeros((3, 3))),
    "least eigenvalue of -2 (largest 4)": lambda: kernels.Precomputed(np.diag([4.0, -2.0, 1.0])),
    "new features: found kernel values with 3 items, expected 6": lambda: kernels.Precomputed(K).cross(X),
    "missing or infinite values in row 1": lambda: kernels.Precomputed(K).cross(changed(K, (1, 1), np.nan)),
    "found a trace of 0, expected a positive one": lambda: kernels.unit_trace(np.zeros((3, 3))),
    "not positive semidefinite: found a least eigenvalue of -1": lambda: kernels.psd_root(np.diag([1.0, -1.0])),
    "rows: found an array of shape (6, 3), expected a row": lambda: kernels.psd_root(K).apply(X),
    "modality '1' holds 4 items, expected 6, as '0' has": lambda: kernels.Sum([X, X[:4]]),
    "features: found 1 entries, expected 2": lambda: kernels.Sum([X, X]).cross([X]),
    "expected a dict with the entries ['a']": lambda: kernels.Sum({"a": X}).cross([X]),
    "found parts of 6, 2 items": lambda: kernels.Sum([X, X]).cross([X, X[:2]]),
    "modality 'tags' holds 4 items, expected 6, as were compared": lambda: kernels.as_modalities(
        {"audio": X, "tags": kernels.Cosine(X[:4])}, 6
    ),
    "modality 'tags' holds 4 items, expected 6, as 'audio' has": lambda: kernels.as_modalities(
        {"audio": X, "tags": X[:4]}
    ),
    "modality 'tags': features: found the same values": lambda: kernels.as_modalities({"tags": np.ones((6, 2))}),
    "features: found an empty dict": lambda: kernels.as_modalities({}),
}
WRONG_TYPE = {
    "features: found values of type <U1, expected numbers": lambda: kernels.Linear([["a"], ["b"]]),
    "features: found values of type object, expected numbers": lambda: kernels.Linear(np.array([["a"], [1]], object)),
    "write RBF(X)": lambda: kernels.as_kernel(kernels.RBF),
    "features: found a str, expected an array": lambda: kernels.as_kernel("rbf"),
    "features: found a NoneType": lambda: kernels.as_modalities(None),
    "parts: found a ndarray, expected a list or dict": lambda: kernels.Sum(X),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_values_are_named(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        BAD[message]()


@pytest.mark.parametrize("message", WRONG_TYPE)
def test_wrong_types_are_named(message):
    with pytest.raises(TypeError, match=re.escape(message)):
        WRONG_TYPE[message]()


NAMES = [f"n{k}" for k in range(12)]
TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 2)), index=NAMES)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (
            TABLE.add_prefix("x", axis=0),
            "not named after the items: found 'xn0', expected .* 'n0'",
        ),
        (sm.kernels.RBF(TABLE[::-1]), "kernel of modality 'features' has the rows of its table in another order"),
        (sm.kernels.Scaled(sm.kernels.RBF(TABLE[:5]), 2.0), r"lacks a row for 'n5'; make it of table.reindex\("),
        ({"a": TABLE, "b": sm.kernels.Sum([TABLE.add_prefix("x", axis=0)])}, "'b' has a row 'xn0', which is no item"),
    ],
)
def test_rows_that_bear_other_names_than_the_items_are_refused(features, message):
    c = sm.simulate(TABLE.to_numpy(), 50, random_state=0).with_items(NAMES)
    with pytest.raises(ValueError, match=message):
        sm.MKPOE().fit(c, features=features)


def test_parts_of_a_sum_have_their_rows_in_one_order():
    with pytest.raises(ValueError, match="parts: found tables whose rows have other names, or another order"):
        sm.kernels.Sum([TABLE, sm.kernels.RBF(TABLE[::-1])])
    assert sm.kernels.Sum([TABLE.to_numpy(), TABLE]).rows == tuple(NAMES)


def test_a_table_without_rows_is_refused_in_words():
    c = sm.simulate(TABLE.to_numpy(), 50, random_state=0).with_items(NAMES)
    with pytest.raises(ValueError, match="features"):
        sm.LPOE().fit(c, features=TABLE[:0])


def test_a_table_that_names_the_items_is_read_in_any_order():
    c = sm.simulate(TABLE.to_numpy(), 50, random_state=0).with_items(NAMES)
    one, two = (sm.LPOE().fit(c, features=table).embedding_ for table in (TABLE, TABLE[::-1]))
    assert np.array_equal(one, two)


def test_kernels_load_scikit_learn_only_when_it_is_needed():
    code = "import sys, similitude as sm; sm.kernels.Linear([[1.0], [2.0]]).matrix(); print('sklearn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_every_public_name_is_in_the_reference():
    from tests.docs.pages import DOCS

    page = (DOCS / "reference" / "kernels.md").read_text(encoding="utf-8")
    listed = re.findall(r"^ +~similitude\.kernels\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(sm.kernels.__all__)
