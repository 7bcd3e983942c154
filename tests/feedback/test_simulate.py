"""Simulated raters err as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from similitude import Comparisons, Raters, random_questions, simulate
from similitude.feedback.forms import FORMS
from tests.feedback.strategies import assert_same

SIMULATED = [name for name, form in FORMS.items() if form.is_simulated]
ALTERNATIVES = ("triplet", "quadruplet", "odd_one_out", "most_central")


def squared(truth, pairs):
    return ((truth[pairs[:, 0]] - truth[pairs[:, 1]]) ** 2).sum(1)


def margin(truth, c):
    return squared(truth, c.far) - squared(truth, c.near)


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(11).standard_normal((20, 2))


@pytest.mark.parametrize("form", sorted(set(SIMULATED) - {"grouping", "attribute"}))
def test_without_noise_every_comparison_is_true(form, truth):
    c = simulate(truth, 30, form, random_state=0)
    assert (c.n_answers, c.n_items) == (30, 20)
    assert set(c.answers.form.labels) == {form}
    assert (margin(truth, c) > 0).all()


def test_an_attribute_is_the_first_coordinate(truth):
    c = simulate(truth, 30, "attribute", grid_size=5, random_state=0)
    shown, order = c.answers.shown.matrix(), c.answers.response.matrix().astype(int)
    assert (np.diff(truth[np.take_along_axis(shown, order, axis=1), 0], axis=1) > 0).all()
    assert (margin(truth[:, :1], c) > 0).all()


def test_groups_are_of_items_that_are_alike(truth):
    assert (margin(truth, simulate(truth, 30, "grouping", random_state=0)) > 0).mean() > 0.7
    apart = np.repeat(np.array([[0.0, 0], [50, 0]]), 2, axis=0) + truth[:4]
    c = simulate(apart, 200, "grouping", random_state=0)
    whole = [group for group in c.answers.response.matrix() if group[0] != group[1]]
    assert len(whole) == 200


@pytest.mark.parametrize("form", ALTERNATIVES)
@pytest.mark.parametrize("flip", [0.1, 0.3])
def test_flips_are_as_frequent_as_promised(form, flip, truth):
    plain = simulate(truth, 20_000, form, random_state=4)
    noisy = simulate(truth, 20_000, form, flip=flip, random_state=4)
    np.testing.assert_array_equal(plain.answers.shown.values, noisy.answers.shown.values)
    differ = (plain.answers.response.values != noisy.answers.response.values).mean()
    assert differ == pytest.approx(flip, abs=4 * np.sqrt(flip / 20_000))


@pytest.mark.parametrize("form", ["triplet", "quadruplet"])
def test_two_alternatives_are_logistic_in_the_margin(form, truth):
    c = simulate(truth, 40_000, form, sharpness=0.8, random_state=1)
    said = margin(truth, c)
    width = np.abs(said)
    for low, high in ((0, 0.5), (0.5, 1), (1, 2), (2, 4)):
        rows = (width >= low) & (width < high)
        expected = (1 / (1 + np.exp(-0.8 * width[rows]))).mean()
        assert (said[rows] > 0).mean() == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(rows.sum()))


@pytest.mark.parametrize("form", ["odd_one_out", "most_central"])
def test_three_alternatives_are_a_softmax(form):
    corners = np.array([[0.0, 0], [1, 0], [0.2, 1.3]])
    c = simulate(corners, 30_000, form, sharpness=1.5, random_state=1)
    chosen = c.answers.shown.matrix()[np.arange(30_000), c.answers.response.values.astype(int)]
    share = np.bincount(chosen, minlength=3) / 30_000
    across = np.array([squared(corners, np.array([pair]))[0] for pair in ((1, 2), (0, 2), (0, 1))])
    value = np.exp((-1.5 if form == "odd_one_out" else 1.5) * across)
    np.testing.assert_allclose(share, value / value.sum(), atol=0.012)


def test_the_first_of_a_ranking_and_a_choice_of_one_are_a_softmax():
    line = np.array([0.0, 0.5, 1.0, 1.4])
    expected = np.exp(-2.0 * line[1:] ** 2)
    questions = np.tile([0, 1, 2, 3], (20_000, 1))
    for form in ("ranking", "choice"):
        c = simulate(line, form=form, questions=questions, sharpness=2.0, n_chosen=1, random_state=0)
        share = np.bincount(c.answers.response.values.astype(int), minlength=4)[1:] / 20_000
        np.testing.assert_allclose(share, expected / expected.sum(), atol=0.015)


def test_raters_differ_in_sharpness_as_told(truth):
    raters = Raters.of([0.1, 0.5, 2.0, 20.0])
    c = simulate(truth, 20_000, raters=raters, random_state=0)
    right = margin(truth, c) > 0
    who = c.answers.rater.values[c.answer]
    accuracy = [right[who == name].mean() for name in raters.names]
    assert accuracy == sorted(accuracy)
    assert np.diff(accuracy).min() > 0.0  # .072 ± .016, by the truth that is drawn
    assert np.bincount(c.answers.rater.codes).tolist() == [5000] * 4


@pytest.mark.parametrize(("form", "choices"), [("triplet", 2), ("odd_one_out", 3)])
def test_a_lapse_is_an_answer_at_random(form, choices, truth):
    raters = Raters.of([np.inf, np.inf, np.inf], lapse=[0.0, 0.4, 1.0])
    truth_said = simulate(truth, 30_000, form, random_state=3, raters=Raters.of([np.inf] * 3))
    said = simulate(truth, 30_000, form, random_state=3, raters=raters)
    np.testing.assert_array_equal(truth_said.answers.shown.values, said.answers.shown.values)
    wrong = truth_said.answers.response.values != said.answers.response.values
    rates = [wrong[said.answers.rater.codes == k].mean() for k in range(3)]
    np.testing.assert_allclose(rates, np.array([0, 0.4, 1]) * (1 - 1 / choices), atol=0.02)


def test_lapses_and_flips_strike_each_rating_by_itself(truth):
    plain = simulate(truth, 20, "difference_rating", random_state=0)
    for noise in ({"lapse": 0.2}, {"flip": 0.2}):
        noisy = simulate(truth, 20, "difference_rating", random_state=0, **noise)
        kept = (plain.answers.response.values == noisy.answers.response.values).mean()
        assert kept == pytest.approx(0.8, abs=0.03)


def test_a_spread_of_raters(truth):
    raters = Raters.draw(400, sharpness=3.0, spread=0.5, lapse=0.1, random_state=0)
    assert np.log(raters.sharpness).mean() == pytest.approx(np.log(3), abs=0.1)
    assert np.log(raters.sharpness).std() == pytest.approx(0.5, abs=0.06)
    assert set(raters.lapse) == {0.1}
    assert repr(Raters.of([1, 2])) == "<2 raters, sharpness 1 to 2, lapse 0 to 0>"
    c = simulate(truth, 100, raters=7, sharpness=2, spread=0.3, random_state=0)
    assert len(c.answers.rater.labels) == 7
    assert len(simulate(truth, 3, raters=7, random_state=0).answers.rater.labels) == 3


def test_cant_tell_is_as_frequent_as_promised(truth):
    c = simulate(truth, 20_000, cant_tell=0.25, random_state=0)
    assert c.answers.cant_tell.mean() == pytest.approx(0.25, abs=0.015)
    assert len(c) == (~c.answers.cant_tell).sum()


@pytest.mark.parametrize("form", ["similarity_rating", "difference_rating"])
def test_ratings_on_a_scale(form, truth):
    c = simulate(truth, 4, form, levels=5, sharpness=2, random_state=0)
    assert {1, 5} <= set(c.answers.response.values.tolist()) <= {1, 2, 3, 4, 5}  # a step may be empty
    assert (margin(truth, c) > 0).mean() > 0.8


def test_choices_have_the_size_asked_for(truth):
    c = simulate(truth, 10, "choice", grid_size=8, n_chosen=2, random_state=0)
    assert (c.answers.shown.width, c.answers.response.width, len(c)) == (9, 2, 10 * 2 * 6)
    c = simulate(truth, 10, "ranking", grid_size=5, n_chosen=2, random_state=0)
    assert len(c) == 10 * (1 + 2 * 3)


@pytest.mark.parametrize("form", sorted(SIMULATED))
def test_the_same_seed_gives_the_same_bits(form, truth):
    noise = {"sharpness": 1.0, "raters": 3, "spread": 0.2, "lapse": 0.1, "cant_tell": 0.1, "record": True}
    one, same, other = (simulate(truth, 8, form, random_state=seed, **noise) for seed in (5, 5, 6))
    assert_same(one, same)
    assert not np.array_equal(one.answers.shown.values, other.answers.shown.values)


def test_truth_as_positions_a_table_or_a_function(truth):
    table = np.sqrt(((truth[:, None] - truth[None]) ** 2).sum(-1))
    by_position = simulate(truth, 200, sharpness=1, random_state=0)
    by_table = simulate(table, 200, sharpness=1, metric="precomputed", random_state=0)
    by_function = simulate(lambda pairs: table[tuple(pairs.T)], 200, sharpness=1, n_items=20, random_state=0)
    assert_same(by_position, by_table)
    assert_same(by_position, by_function)
    placed = simulate(table, 2, "placement", metric="precomputed", random_state=0)
    assert (margin(truth, placed) > 0).all()
    named = simulate(truth[:3], 5, names=["a", "b", "c"], random_state=0)
    assert named.names == ("a", "b", "c")


def test_questions_may_be_given(truth):
    questions = random_questions(20, 50, "triplet", 1)
    c = simulate(truth, form="triplet", questions=questions, random_state=0)
    np.testing.assert_array_equal(c.answers.shown.matrix(), questions)


def test_side_and_time_are_recorded_on_request(truth):
    c = simulate(truth, 4000, sharpness=1, record=True, random_state=0)
    np.testing.assert_array_equal(c.answers.side, c.answers.response.values - 1)
    assert (c.answers.time > 0).all()
    hard = np.abs(margin(truth, c)) < 0.2
    assert np.median(c.answers.time[hard]) > np.median(c.answers.time[~hard])
    assert simulate(truth, 10, random_state=0).answers.time is None


@given(st.sampled_from(sorted(FORMS)), st.integers(5, 25), st.integers(0, 30), st.integers(0, 9))
def test_random_questions_never_repeat_an_item(form, n_items, count, seed):
    shown = random_questions(n_items, count, form, seed)
    assert len(shown) == count
    assert ((shown >= 0) & (shown < n_items)).all()
    np.testing.assert_array_equal(shown, random_questions(n_items, count, form, seed))
    for row in shown.tolist():
        if "rating" in form:
            pairs = {frozenset(pair) for pair in zip(row[::2], row[1::2], strict=True)}
            assert len(pairs) == len(row) // 2 == n_items * (n_items - 1) // 2
            assert {len(pair) for pair in pairs} == {2}
        else:
            assert len(set(row)) == len(row)


@pytest.mark.parametrize("width", [3, 20])
def test_random_questions_show_every_item_equally_often_in_every_place(width):
    form = "triplet" if width == 3 else "placement"
    shown = random_questions(24, 24_000, form, 0, grid_size=width)
    for column in shown.T:
        np.testing.assert_allclose(np.bincount(column, minlength=24) / 1000, 1, atol=0.18)  # of 480 cells each ± .031


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "labels"}, "form: expected one of attribute, best_worst, choice, difference_rating"),
        ({"n_answers": None}, "n_answers: expected a number of answers, found None"),
        ({"n_answers": -1}, "n_questions: expected 0 or more, found -1"),
        ({"flip": 1.5}, "flip: expected a share from 0 to 1, found 1.5"),
        ({"cant_tell": -0.1}, "cant_tell: expected a share from 0 to 1, found -0.1"),
        ({"lapse": np.nan}, "lapse: expected a share from 0 to 1, found nan"),
        ({"sharpness": -1}, "sharpness: expected numbers of at least 0, found -1"),
        ({"spread": 0.5}, "spread: without a sharpness there is no noise"),
        ({"spread": -0.5, "sharpness": 1}, "spread: expected a number of at least 0"),
        ({"raters": 0}, "n_raters: expected at least 1, found 0"),
        ({"raters": Raters.of([1.0]), "lapse": 0.5}, "raters: a table has its own sharpness"),
        ({"metric": "cosine"}, "metric: expected 'euclidean', 'dot' or 'precomputed', found 'cosine'"),
        ({"metric": "precomputed"}, "truth: expected a square table"),
        ({"truth": np.full((4, 2), np.nan)}, "truth: expected a matrix of finite numbers"),
        ({"truth": np.zeros((2, 2))}, "a question shows 3 different items, but there are 2"),
        ({"truth": len}, "n_items: expected the number of items where truth is a function"),
        ({"n_items": 9}, "n_items: truth holds 20 items, found 9"),
        ({"form": "choice", "n_chosen": 12}, "n_chosen: expected 1 to 11 picks from 12 items, found 12"),
        ({"form": "ranking", "n_chosen": 9}, "n_chosen: expected 1 to 4 ranks for 4 items, found 9"),
        ({"form": "placement", "flip": 0.1}, "flip: a placement has no contrary"),
        ({"form": "similarity_rating", "levels": 1}, "levels: expected at least 2 steps"),
        ({"form": "similarity_rating", "grid_size": 999}, "grid_size: expected 1 to 190 pairs"),
        ({"questions": [[0, 1, 2]], "n_answers": 2}, "questions: expected 2 row"),
        ({"questions": [[0, 1, 99]], "n_answers": 1}, "found index 99, but there are 20 items"),
        ({"questions": [[0, 1]], "n_answers": 1}, "questions: a triplet shows 3 items, found 2"),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments, message, truth):
    with pytest.raises(ValueError, match=message):
        simulate(**({"truth": truth, "n_answers": 5} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [0.1]), r"lapse: expected one number or 2, found shape \(1,\)"),
        (([1.0, 2.0], 0, ["a", "a"]), "names: expected 2 different names"),
        (([],), "sharpness: expected one number per rater"),
    ],
)
def test_bad_raters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Raters.of(*arguments)


def test_an_unknown_form_has_no_questions():
    with pytest.raises(ValueError, match="'guess' is unknown"):
        random_questions(5, 2, "guess")


def test_simulated_answers_are_comparisons(truth):
    assert isinstance(simulate(truth, 5), Comparisons)
