"""One vocabulary: the same thing has the same word everywhere; former words still work, and say the new one."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import similitude as sm

FORMER = {"l1", "prior", "n_starts", "n_splits"}
ESTIMATORS = {
    name: value
    for name in sm.__all__
    if isinstance(value := getattr(sm, name), type) and issubclass(value, BaseEstimator)
}
FUNCTIONS = {name: value for name in sm.__all__ if inspect.isfunction(value := getattr(sm, name))}
TRUTH = np.random.default_rng(0).normal(size=(10, 2))


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_nobody_asks_by_a_former_word(name):
    taken = inspect.signature(getattr(sm, name)).parameters
    assert not FORMER & set(taken)


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_intervals_have_one_level(name):
    level = inspect.signature(getattr(sm, name)).parameters.get("level")
    assert level is None or level.default == 0.95


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name], "predict_proba")])
def test_what_comes_without_a_name_is_the_number_of_dimensions(name):
    taken = inspect.signature(ESTIMATORS[name]).parameters.values()
    by_position = [one.name for one in taken if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert by_position in ([], ["n_components"])


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (lambda: sm.CAMEL(l1=0.3), sm.CAMEL(penalty=0.3)),
        (lambda: sm.OnlineEmbedding(3, prior=0.3), sm.OnlineEmbedding(3, penalty=0.3)),
        (lambda: sm.GroupEmbedding(n_starts=2), sm.GroupEmbedding(n_init=2)),
        (lambda: sm.RCKL("hinge"), sm.RCKL(loss="hinge")),
        (lambda: sm.LPOE("logistic", penalty=2.0), sm.LPOE(loss="logistic", penalty=2.0)),
        (lambda: sm.DRankingVM("rbf"), sm.DRankingVM(kernel="rbf")),
        (lambda: sm.AutoSimilarity(5.0), sm.AutoSimilarity(time_limit=5.0)),
    ],
)
def test_former_words_of_constructors_work_and_say_the_new_one(former, now):
    with pytest.warns(FutureWarning, match=r"this is called|give this by name"):
        found = former()
    assert found.get_params() == now.get_params()
    assert clone(found).get_params() == now.get_params()


@pytest.mark.parametrize(
    ("estimator", "former"), [(sm.CAMEL, "l1"), (sm.OnlineEmbedding, "prior"), (sm.GroupEmbedding, "n_starts")]
)
def test_former_words_of_set_params_work_and_say_the_new_one(estimator, former):
    value = 2
    with pytest.warns(FutureWarning, match=f"{former}: this is called"):
        found = estimator().set_params(**{former: value})
    assert value in found.get_params().values()
    assert former not in found.get_params()
    with pytest.raises(ValueError, match="Invalid parameter"):
        estimator().set_params(nothing_like_it=value)


def test_former_words_of_functions_work_and_say_the_new_one():
    answers = sm.simulate(TRUTH, 200, random_state=0)
    with pytest.warns(FutureWarning, match="n_splits: this is called n_folds now"):
        found = sm.cross_validate(sm.STE(2, random_state=0), answers, n_splits=2, random_state=0)
    now = sm.cross_validate(sm.STE(2, random_state=0), answers, n_folds=2, random_state=0)
    assert found.drop(columns="seconds", errors="ignore").equals(now.drop(columns="seconds", errors="ignore"))
    with pytest.warns(FutureWarning, match="n_splits"):
        assert sm.AnswerFold(n_splits=3).get_n_splits(answers) == 3


def test_both_words_at_once_are_refused():
    with pytest.raises(TypeError, match="l1: this is called penalty now, and penalty is given, too"):
        sm.CAMEL(l1=0.1, penalty=0.2)
