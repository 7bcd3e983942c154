"""scikit-learn's own checks on every estimator. Most of them fit a table of numbers, which comparisons are not."""

import warnings
from unittest import mock

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags
from sklearn.utils.estimator_checks import check_estimator

from tests.contracts.registry import ESTIMATORS

# What they give to `fit` is a table of features, and is refused as no comparisons; ours asks the same of comparisons.
FITS_A_TABLE = {
    "check_estimators_fit_returns_self": "test_estimators: fit returns itself",
    "check_estimators_overwrite_params": "test_estimators: a fit changes no setting",
    "check_dont_overwrite_parameters": "test_estimators: a fit changes no setting",
    "check_dict_unchanged": "test_estimators: asking changes nothing",
    "check_fit_idempotent": "test_estimators: the same bits again",
    "check_fit_check_is_fitted": "test_estimators: an estimator that has learned nothing says so",
    "check_estimators_pickle": "test_estimators: pickled and back",
    "check_pipeline_consistency": "test_estimators: in a pipeline",
    "check_fit_score_takes_y": "test_estimators: arrays and responses",
    "check_estimators_empty_data_messages": "test_estimators: bad feedback is refused",
    "check_methods_sample_order_invariance": "test_estimators: one by one or together",
    "check_methods_subset_invariance": "test_estimators: one by one or together",
    "check_estimators_nan_inf": "items are whole numbers or names; features are checked in test_estimators",
    "check_complex_data": "items are whole numbers or names",
    "check_dtype_object": "items are whole numbers or names",
    "check_estimators_dtypes": "items are whole numbers or names",
    "check_positive_only_tag_during_fit": "items are whole numbers or names",
    "check_readonly_memmap_input": "comparisons are frozen as they are",
    "check_f_contiguous_array_estimator": "comparisons are copied into one order",
    "check_estimator_sparse_tag": "comparisons are never sparse",
    "check_estimator_sparse_array": "comparisons are never sparse",
    "check_estimator_sparse_matrix": "comparisons are never sparse",
    "check_fit2d_1sample": "one comparison is enough",
    "check_fit2d_1feature": "a comparison has three or four items",
    "check_fit2d_predict1d": "a comparison has three or four items",
    "check_n_features_in": "comparisons have no features",
    "check_n_features_in_after_fitting": "comparisons have no features",
    "check_transformer_general": "`transform` takes features of new items, `fit` comparisons",
    "check_transformer_data_not_an_array": "`transform` takes features of new items, `fit` comparisons",
    "check_transformer_preserve_dtypes": "`transform` takes features of new items, `fit` comparisons",
    "check_transformer_n_iter": "`transform` takes features of new items, `fit` comparisons",
}


def as_if_a_table(self):
    """The tags of an estimator that takes tables: with its own, scikit-learn would check nothing."""
    tags = BaseEstimator.__sklearn_tags__(self)
    if hasattr(self, "transform"):
        tags.transformer_tags = TransformerTags()
    return tags


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_all_that_can_apply_hold(make):
    estimator = make()
    with mock.patch.object(type(estimator), "__sklearn_tags__", as_if_a_table), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert {name: str(why) for name, why in failed.items() if name not in FITS_A_TABLE} == {}
    assert sum(result["status"] == "passed" for result in results) >= 12
