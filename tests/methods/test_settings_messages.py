"""What Python would say in words of its own is refused in ours: the argument, what was expected, what was found."""

from pathlib import Path

import numpy as np
import pytest

import similitude as sm

TRUTH = np.random.default_rng(0).normal(size=(6, 2))
ANSWERS = sm.simulate(TRUTH, 60, random_state=0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sm.plan(6.5), "n_items: expected a whole number of at least 4, found 6.5"),
        (lambda: sm.plan("6"), "n_items: expected a whole number of at least 4, found '6'"),
        (lambda: sm.next_questions(sm.STE(2).fit(ANSWERS), 2.5), "n: expected a whole number of at least 1, found 2.5"),
        (lambda: sm.cross_validate(sm.STE(2), ANSWERS, n_folds=2.5), "n_folds: expected a whole number"),
        (lambda: sm.learning_curve(sm.STE(2), ANSWERS, n_repeats=1.5), "n_repeats: expected a whole number"),
        (lambda: sm.AutoSimilarity(dimensions=2).fit(ANSWERS), r"dimensions: expected .* such as \(2, 3\), found 2"),
        (lambda: sm.AutoSimilarity(candidates=[sm.STE]).fit(ANSWERS), r"found the class STE; write STE\(\)"),
        (lambda: sm.cross_validate("STE", ANSWERS), r"estimators: expected an estimator such as STE\(\), found 'STE'"),
        (lambda: sm.cross_validate({"a": sm.STE}, ANSWERS), r"estimators: .* found the class STE; write STE\(\)"),
        (lambda: sm.dimension(sm.STE, ANSWERS), r"estimator: .* found the class STE; write STE\(\)"),
        (lambda: sm.penalty_path(sm.CKL, ANSWERS), r"estimator: .* found the class CKL; write CKL\(\)"),
        (lambda: sm.more_answers(sm.STE, ANSWERS), r"estimator: .* found the class STE; write STE\(\)"),
        (lambda: sm.active_curve(sm.STE, TRUTH), r"estimator: .* found the class STE; write STE\(\)"),
        (lambda: sm.baselines(ANSWERS, TRUTH, model=sm.STE), r"model: .* found the class STE; write STE\(\)"),
        (lambda: sm.learn(ANSWERS, time_limit="60"), "time_limit: expected a positive number of seconds, found '60'"),
        (lambda: sm.STE(2).fit(None), "comparisons: expected Comparisons or an array .*, found NoneType"),
        (lambda: sm.Comparisons.from_triplets([(0, 1, 10**12)]), "items: found index 1000000000000"),
        (lambda: sm.Comparisons.from_triplets([("a", "b", "c\ud800")]), "names: .* half a character"),
        (lambda: sm.Comparisons.from_triplets([("a", "b", "c\0")]), "names: .* NUL character"),
    ],
)
def test_a_setting_that_cannot_be_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: sm.STE(2).fit("own ä.csv"),
            r"found the path 'own ä.csv'; read .*read_comparisons\('own ä.csv'\)",
        ),
        (lambda: sm.check(Path("a.csv")), "comparisons: expected Comparisons or an array, found the path 'a.csv'"),
        (lambda: sm.next_questions(sm.STE, 5), "similarity: expected a fitted model, found a class; learn one"),
        (
            lambda: sm.write_comparisons("a.csv", ANSWERS),
            r"found Comparisons; call write_comparisons\(",
        ),
        (lambda: sm.plot.save("map.pdf", sm.plot.weights({"a": 1.0})), r"found Axes; call plot.save\(ax, path\)"),
        (lambda: sm.export.write_triplets("a.csv", ANSWERS, {}), r"found Comparisons; call export.write_triplets\("),
        (lambda: sm.STE(2).fit(ANSWERS).similarity_.save(None), r"found NoneType; call save\(path\)"),
    ],
)
def test_arguments_in_each_others_place_are_named(call, says):
    with pytest.raises(TypeError, match=says):
        call()


def test_a_method_without_features_is_called_by_its_own_name():
    with pytest.raises(TypeError, match=r"^STE\.fit\(\) got an unexpected keyword argument 'features'"):
        sm.STE(2).fit(ANSWERS, features=TRUTH)
