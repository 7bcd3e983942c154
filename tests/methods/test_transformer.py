"""A learned similarity in scikit-learn's pipelines: rows, names, folds that do not leak, tables out."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

import similitude as sm

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(30, 2))
X = np.hstack([TRUTH, 3.0 * RNG.normal(size=(30, 2))])  # half of the columns mean nothing
NAMES = [f"item {k}" for k in RNG.permutation(30)]
TABLE = pd.DataFrame(X, NAMES, ["hue", "tone", "dust", "noise"])
METHOD = sm.FeatureEmbedding(2, random_state=0, tol=1e-3)


def answers(names=None, count=1500):
    return sm.simulate(TRUTH, count, names=names, random_state=1)


def step(comparisons=None):
    return sm.SimilarityTransformer(answers() if comparisons is None else comparisons, METHOD)


def test_transform_goes_by_vectors_alone_and_learns_what_counts():
    line = make_pipeline(StandardScaler(), step()).fit(X)
    assert line.score(X) > 0.8
    np.testing.assert_allclose(line.transform(X), line[-1].embedding_, atol=1e-12)
    np.testing.assert_allclose(line.transform(X[3:5]), line.transform(X)[3:5])
    again = make_pipeline(StandardScaler(), step()).fit_transform(X)
    np.testing.assert_allclose(again, line.transform(X), atol=1e-12)


def test_rows_are_known_by_the_index_in_any_order():
    by_position = step().fit(TABLE.to_numpy())
    order = np.random.default_rng(2).permutation(30)
    by_name = step(answers(NAMES)).fit(TABLE.iloc[order])
    assert by_name.items_.tolist() == [NAMES.index(name) for name in TABLE.index[order]]
    assert by_name.score(TABLE) == pytest.approx(by_position.score(X), abs=0.02)
    named = step(answers(NAMES)).fit(X[order], items=TABLE.index[order])
    np.testing.assert_allclose(named.transform(X), by_name.transform(TABLE), atol=1e-12)


def test_a_fold_takes_its_comparisons_with_it():
    c = answers(NAMES)
    held = TABLE.iloc[::5]
    rest = TABLE.drop(held.index)
    model = step(c).fit(rest)
    inside = np.isin(c.quadruplets, [NAMES.index(name) for name in held.index]).any(1)
    told = np.array(NAMES)[c.quadruplets]
    assert np.array_equal(inside, np.isin(told, held.index).any(1))
    only = step(c[~inside]).fit(rest)
    assert np.array_equal(only.embedding_, model.embedding_)  # what was held out taught nothing
    scored = c[inside]
    places = model.transform(TABLE.loc[NAMES])
    far, near = (
        np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1) for pairs in (scored.far, scored.near)
    )
    assert model.score(held) == pytest.approx((near < far).mean())
    assert model.score(rest) == pytest.approx(only.score(rest))


def test_random_answers_are_not_predicted_in_cross_validation():
    rng = np.random.default_rng(3)
    coins = answers(NAMES).flip(rng.random(1500) < 0.5)
    line = make_pipeline(StandardScaler().set_output(transform="pandas"), step(coins))
    found = cross_val_score(line, TABLE, cv=KFold(3, shuffle=True, random_state=0))
    assert np.abs(found - 0.5).max() < 0.11  # some 1,000 comparisons of each fold: four standard errors are 0.07
    true = cross_val_score(clone(line).set_params(similaritytransformer__comparisons=answers(NAMES)), TABLE, cv=3)
    assert true.mean() > 0.75


def test_settings_are_chosen_by_held_out_answers():
    line = make_pipeline(StandardScaler().set_output(transform="pandas"), step(answers(NAMES)))
    grid = {"similaritytransformer__estimator__n_components": [1, 2]}
    search = GridSearchCV(line, grid, cv=KFold(3, shuffle=True, random_state=0)).fit(TABLE)
    assert search.best_params_ == {"similaritytransformer__estimator__n_components": 2}


def test_before_a_classifier():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(80, 2))
    table = pd.DataFrame(np.hstack([truth, rng.normal(size=(80, 8))]))
    labels = np.where(truth[:, 0] > 0, "right", "left")
    scaler, neighbours = StandardScaler().set_output(transform="pandas"), KNeighborsClassifier(5)
    plain = cross_val_score(make_pipeline(scaler, neighbours), table, labels, cv=5).mean()
    learned = make_pipeline(scaler, step(sm.simulate(truth, 3000, random_state=5)), neighbours)
    assert cross_val_score(learned, table, labels, cv=5).mean() > plain - 0.08  # .16 ± .06 above


def test_arrays_in_cross_validation_say_their_items_by_metadata_routing():
    pytest.importorskip("sklearn", "1.8", reason="what is routed to a pipeline's score gets lost before 1.8")
    with sklearn.config_context(enable_metadata_routing=True):
        asking = step(answers(NAMES)).set_fit_request(items=True).set_score_request(items=True)
        line = make_pipeline(StandardScaler(), asking)
        search = GridSearchCV(line, {"similaritytransformer__estimator__n_components": [2]}, cv=3)
        search.fit(X, items=np.array(NAMES))
    kept = make_pipeline(StandardScaler().set_output(transform="pandas"), step(answers(NAMES)))
    by_table = GridSearchCV(kept, {"similaritytransformer__estimator__n_components": [2]}, cv=3).fit(TABLE)
    assert search.best_score_ == pytest.approx(by_table.best_score_)


def test_tables_out_and_names_of_columns():
    line = make_pipeline(StandardScaler(), step(answers(NAMES))).set_output(transform="pandas").fit(TABLE)
    out = line.transform(TABLE)
    assert out.columns.tolist() == line[-1].get_feature_names_out().tolist()
    assert out.columns.tolist() == ["similaritytransformer0", "similaritytransformer1"]
    assert out.index.tolist() == NAMES
    both = ColumnTransformer(
        [("look", step(answers(NAMES)), ["hue", "tone"]), ("rest", "passthrough", ["noise"])]
    ).set_output(transform="pandas")
    assert both.fit_transform(TABLE).columns.tolist() == [
        "look__similaritytransformer0",
        "look__similaritytransformer1",
        "rest__noise",
    ]


def test_rows_that_nobody_compared_are_placed_and_teach_nothing_wrong():
    c = answers(NAMES)
    more = pd.concat([TABLE, pd.DataFrame(X[:2] + 0.01, ["new", "newer"], TABLE.columns)])
    with pytest.warns(UserWarning, match=r"2 of 32 rows are not among the 30 items of the comparisons \(new, newer\)"):
        model = step(c).fit(more)
    assert model.items_[-2:].tolist() == [-1, -1]
    assert model.score(more) > 0.76  # .92 ± .034


def test_an_index_without_names_is_refused_where_items_have_names():
    with pytest.raises(
        ValueError, match=r"no row is one of the 30 items .* the rows are called 0, 1, 2: give X an index"
    ):
        step(answers(NAMES)).fit(TABLE.reset_index(drop=True))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="comparisons: found none"):
        sm.SimilarityTransformer().fit(X)
    with pytest.raises(ValueError, match="found 20 rows, but the comparisons are about 30 items"):
        step().fit(X[:20])
    with pytest.raises(ValueError, match="items: found 3, expected 30"):
        step().fit(X, items=[0, 1, 2])
    with pytest.raises(ValueError, match="items: item 3 has more than one row"):
        step(answers(NAMES)).fit(X, items=["item 3"] * 30)
    with pytest.raises(ValueError, match="none of the 1,500 is about these 2 rows"):
        step(answers(NAMES)).fit(TABLE.iloc[:2])
    with pytest.raises(ValueError, match="nothing to score"):
        step(answers(NAMES)).fit(TABLE).score(TABLE.iloc[:2])
    with pytest.raises(NotFittedError):
        step().transform(X)


class OnAnyTable(sm.SimilarityTransformer):
    """Asks about whatever table it is given, as scikit-learn's checks give many."""

    def fit(self, X, y=None, *, items=None):
        rows = validate_data(self, X, dtype=float, ensure_min_samples=4)
        self.asked_ = sm.simulate(rows, 20 * len(rows), random_state=0)
        return super().fit(X, y, items=items)

    def _comparisons(self):
        return self.asked_


def test_scikit_learns_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        done = check_estimator(OnAnyTable(estimator=METHOD), on_fail=None, on_skip=None)
    failed = {one["check_name"]: str(one["exception"]) for one in done if one["status"] == "failed"}
    assert failed == {}
    assert sum(one["status"] == "passed" for one in done) > 30
