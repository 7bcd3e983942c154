"""Replays, what they need, plans, and fitting again."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.active.asked import codes_of
from similitude.active.plan import sharpness_of
from similitude.active.sources import RecordedAnswers
from similitude.feedback.forms import find
from similitude.methods.refit import best_fit, through_sample

TRUTH = np.random.default_rng(0).normal(size=(20, 2))


@pytest.fixture(scope="module")
def table():
    return sm.active_curve(
        sm.STE(2), TRUTH, strategies=("random", "information_gain"), rounds=14, n_repeats=3, sharpness=4.0,
        random_state=0, per_repeat=True,
    )  # fmt: skip


@pytest.mark.parametrize("form", ["triplet", "odd_one_out", "quadruplet"])
def test_few_items_are_asked_about_more_than_once(form):
    table = sm.plan(5, accuracy=(0.7,), form=form, n_repeats=1, at_most=80, random_state=0)
    assert table.reached[0] == 1
    assert table.answers[0] <= 80


@pytest.mark.parametrize(("form", "width"), [("triplet", 3), ("odd_one_out", 3), ("quadruplet", 4), ("choice", 4)])
def test_the_number_of_questions_is_that_of_their_codes(form, width):
    shown = np.array(list(permutations(range(6), width)))
    assert find(form).arrangement.number(width, 6) == len(np.unique(codes_of(form, shown, 6)))


@pytest.mark.slow
def test_all_strategies_begin_alike(table):
    first = table[table.answers == 20].pivot(index="repeat", columns="strategy", values="error")
    assert np.array_equal(first["random"], first["information_gain"])
    assert first["random"].nunique() == 3


def test_chosen_questions_teach_more(table):
    last = table[table.answers == table.answers.max()].groupby("strategy").error.mean()
    assert last["information_gain"] < 0.9 * last["random"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_curve_and_other_strategies_do_not_disturb(table):
    again = sm.active_curve(
        sm.STE(2), TRUTH, strategies={"mine": {"strategy": "information_gain"}}, rounds=14, n_repeats=3, sharpness=4.0,
        random_state=0, per_repeat=True,
    )  # fmt: skip
    mine = table[table.strategy == "information_gain"]
    assert np.array_equal(again.error.to_numpy(), mine.error.to_numpy())


def test_means_and_intervals_over_repeats(table):
    means = sm.active_curve(sm.STE(2), TRUTH, strategies=("random",), rounds=[20, 40], n_repeats=3, sharpness=4.0,
                            random_state=0)  # fmt: skip
    assert means.answers.tolist() == [20, 60]
    assert list(means) == ["strategy", "answers", "error", "low", "high", "likelihood"]
    first = table[(table.strategy == "random") & (table.answers == 20)].error
    assert means.error[0] == pytest.approx(first.mean())
    assert means.high[0] - means.error[0] == pytest.approx(4.302653 * first.std() / np.sqrt(3), rel=1e-5)
    assert ((means.likelihood > 0) & (means.likelihood < 1)).all()


def test_a_record_is_never_tested_on_what_can_be_asked():
    c = sm.simulate(TRUTH, 300, "choice", grid_size=4, n_chosen=2, sharpness=3.0, random_state=1)
    source = RecordedAnswers(c, 0.3, np.random.default_rng(0))
    assert source.test.n_answers == 90
    said = {tuple(row) for row in c.triplets.tolist()}
    asked = source.pool[:50]
    answered = source.ask(asked[:, [0, 2, 1]], np.random.default_rng(0)).triplets
    assert {tuple(row) for row in answered.tolist()} <= said
    assert np.array_equal(codes_of("triplet", answered, 20), codes_of("triplet", asked, 20))
    assert len(np.unique(codes_of("triplet", source.pool, 20))) == len(source.pool)


@pytest.mark.slow
def test_replay_of_a_record():
    c = sm.simulate(TRUTH, 2000, sharpness=3.0, random_state=1)
    means = sm.active_curve(sm.CKL(2), c, rounds=8, n_repeats=2, random_state=0)
    last = means[means.answers == 160].set_index("strategy").error
    assert (last < 0.25).all()
    with pytest.raises(ValueError, match="form: recorded answers are asked as triplets"):
        sm.active_curve(sm.CKL(2), c, form="choice")
    with pytest.raises(ValueError, match="sharpness: recorded answers are as they are"):
        sm.active_curve(sm.CKL(2), c, sharpness=2.0)


def test_answers_needed_is_where_the_curve_crosses():
    rows = [("random", 0, [0.4, 0.3, 0.1]), ("random", 1, [0.4, 0.2, 0.1]), ("chosen", 0, [0.3, 0.1, 0.0]),
            ("chosen", 1, [0.2, 0.1, 0.0])]  # fmt: skip
    table = pd.DataFrame(
        [
            {"strategy": strategy, "repeat": repeat, "answers": 100 * (k + 1), "error": error}
            for strategy, repeat, errors in rows
            for k, error in enumerate(errors)
        ]
    )
    need = sm.answers_needed(table, 0.2).set_index("strategy")
    assert need.answers["random"] == pytest.approx((250 + 200) / 2)
    assert need.answers["chosen"] == pytest.approx((150 + 100) / 2)
    assert need.share["chosen"] == pytest.approx(125 / 225)
    assert need.low["chosen"] < 125 / 225 < need.high["chosen"]
    assert sm.answers_needed(table, 0.05).set_index("strategy").reached.to_dict() == {"random": 0.0, "chosen": 1.0}
    with pytest.raises(ValueError, match="baseline: 'luck' is not among the strategies"):
        sm.answers_needed(table, 0.2, baseline="luck")


def test_the_best_of_the_starts_is_kept():
    c = sm.simulate(TRUTH, 300, sharpness=2.0, random_state=2)
    bad = np.zeros((20, 2))
    bad[:, 0] = np.random.default_rng(0).permutation(20)
    worst = sm.STE(2, init=bad, n_init=1, random_state=0).fit(c)
    best = best_fit(sm.STE(2, random_state=0), c, bad)
    single = [sm.STE(2, init=init, n_init=1, random_state=0).fit(c).objective_ for init in ("spectral", "random")]
    assert best.objective_ == min(worst.objective_, *single)


def test_raters_are_as_wrong_as_asked():
    sharpness = sharpness_of(TRUTH, 0.15)
    said = sm.simulate(TRUTH, 20_000, sharpness=sharpness, random_state=3)
    right = sm.Similarity(TRUTH, sm.STE(2).comparison_loss()).score(said)
    assert right == pytest.approx(0.85, abs=0.015)
    assert sharpness_of(TRUTH, 0.0) is None


def test_plan_says_how_many_answers():
    table = sm.plan(15, accuracy=(0.7, 0.85, 0.999), wrong=0.1, n_repeats=2, at_most=600, random_state=0)
    assert table.answers[0] < table.answers[1]
    assert (table.low[:2] <= table.answers[:2]).all()
    assert np.allclose(table.per_item[:2], table.answers[:2] / 15)
    assert table.reached.tolist() == [1.0, 1.0, 0.0]
    assert np.isnan(table.answers[2])


@pytest.mark.slow
def test_careful_raters_need_fewer_answers():
    wrong, careful = (  # of one study each 148 ± 34 and 97 ± 19 over draws: ten are four standard errors apart
        sm.plan(15, accuracy=(0.85,), wrong=share, n_repeats=10, at_most=600, random_state=0) for share in (0.15, 0.02)
    )
    assert careful.answers[0] < wrong.answers[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_items": 3}, "n_items: expected a whole number of at least 4, found 3"),
        ({"n_items": 9, "wrong": 0.5}, "wrong: expected a share from 0 to less than 0.5"),
        ({"n_items": 9, "accuracy": (0.9, 1.0)}, "accuracy: expected shares between 0.5 and 1"),
    ],
)
def test_plan_names_bad_input(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        sm.plan(**options)


def test_refit_takes_new_answers_and_new_items():
    names = [f"i{k:02d}" for k in range(20)]
    c = sm.simulate(TRUTH, 2000, sharpness=4.0, names=names, random_state=1)
    old = _known(c, names)
    new = sm.refit(old, c)
    assert new.about["method"] == "CKL"
    assert new.about["settings"]["mu"] == 0.1
    assert set(new.names) == set(names)
    assert new.names[:18] == old.names
    assert new.score(c) > sm.CKL(2, penalty=0.01, mu=0.1, random_state=0).fit(c).score(c) - 0.01
    assert old.n_items == 18


def _known(c, names):
    few = c.select((c.answers.shown.matrix() < 18).all(1))
    renamed = sm.Comparisons.from_triplets(np.array(names, object)[few.triplets])
    return sm.CKL(2, penalty=0.01, mu=0.1, random_state=0).fit(renamed[:400]).similarity_


def test_refit_is_no_worse_than_a_new_fit():
    c = sm.simulate(TRUTH, 500, sharpness=2.0, random_state=2)
    old = sm.STE(2, random_state=0).fit(c.select(np.arange(200))).similarity_
    fresh = sm.STE(2, random_state=0, n_init=1).fit(c)
    again = sm.refit(old, c)
    loss = [np.logaddexp(0, -similarity.margin(c)).sum() + (similarity.embedding**2).sum()
            for similarity in (again, fresh.similarity_)]  # fmt: skip
    assert loss[0] <= loss[1] + 1e-6 * abs(loss[1])


def test_refit_names_what_it_cannot_fit():
    c = sm.simulate(TRUTH, 200, random_state=0)
    known, others = (c.with_items([f"{what} {k}" for k in range(c.n_items)]) for what in ("item", "other"))
    said = r"about none of the 20 items of the model \(item 0, ...\), but about other 0 and others; expected all"
    with pytest.raises(ValueError, match=said):
        sm.refit(sm.STE(2, random_state=0).fit(known), others)
    with pytest.raises(ValueError, match="similarity: made by None, which cannot be fitted again"):
        sm.refit(sm.Similarity(TRUTH, sm.STE(2).comparison_loss()), [[0, 1, 2]])
    features = sm.LPOE(loss="logistic").fit(sm.simulate(TRUTH, 200, random_state=0), features=TRUTH)
    with pytest.raises(ValueError, match="made by LPOE, whose features are not in its file"):
        sm.refit(features.similarity_, [[0, 1, 2]])


def test_refit_of_a_kernel_chooses_its_penalty_anew():
    c = sm.simulate(TRUTH, 800, sharpness=2.0, random_state=2)
    old = sm.RCKL().fit(c.select(np.arange(400))).similarity_
    assert sm.refit(old, c).score(c) == pytest.approx(sm.RCKL().fit(c).score(c), abs=0.005)


def test_a_fit_through_a_sample_ends_where_the_whole_fit_does():
    truth = np.random.default_rng(5).normal(size=(15, 2))
    c = sm.simulate(truth, 3000, sharpness=2.0, random_state=1)
    fitted = []

    def fit(estimator, part):
        fitted.append(len(part))
        return estimator.fit(part)

    method = sm.STE(2, random_state=0)
    through, whole = through_sample(method, c, fit, size=400), through_sample(method, c, fit)
    assert fitted == [400, 3000]
    assert through.objective_ == pytest.approx(whole.objective_, rel=1e-3)
