"""How well answers are predicted part by part: a planted change is found with its size, and no other."""

import numpy as np
import pytest

import similitude as sm
from similitude.evaluate.parts import compare_parts, conditions, sessions
from similitude.evaluate.rater_groups import attribute_columns

RATERS, EACH = 20, 40


def answers(strategy=None, **extra):
    """Twenty raters of forty answers each, one after the other, with further columns."""
    rng = np.random.default_rng(0)
    rows = [rng.choice(9, 3, replace=False) for _ in range(RATERS * EACH)]
    rater = np.repeat([f"r{k}" for k in range(RATERS)], EACH)
    return sm.Comparisons.from_triplets(rows, rater=rater, n_items=9, strategy=strategy, extra=extra)


def right(chance, seed=1):
    """Whether each answer was predicted, with a chance that may differ from answer to answer."""
    return (np.random.default_rng(seed).random(RATERS * EACH) < chance).astype(float)


def test_a_planted_decline_over_the_session_is_found_with_its_size():
    c = answers(trial_number=np.tile(np.arange(EACH), RATERS))
    by, quarter = sessions(c)
    found = compare_parts(c, right(np.where(quarter == 3, 0.6, 0.9)), by, quarter, over_time=True)
    assert found.differ
    # of 90 % to 60 %, of 200 answers each: an error of 4.1 points, so that the interval ends some 8 beyond the middle
    assert found.high < 0
    assert (found.low + found.high) / 2 == pytest.approx(-30, abs=22)
    assert 4 < (found.high - found.low) / 2 < 16
    assert found.table.answers.tolist() == [200] * 4
    assert found.table.points.idxmin() == 3
    assert "changes over the session" in str(found)


@pytest.mark.slow
def test_where_nothing_changes_few_are_said_to():
    c = answers()
    quarter = np.tile(np.arange(EACH) * 4 // EACH, RATERS)
    p = [compare_parts(c, right(0.8, seed), "n", quarter, n_permutations=99).p_value for seed in range(60)]
    # all are tested with the same permutations, so that their share scatters by .042, not by the .028 of sixty
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 4 * 0.042
    same = np.tile([1.0, 1.0, 1.0, 1.0, 0.0], RATERS * EACH // 5)  # of the ten answers of each quarter
    assert "does not change detectably" in str(compare_parts(c, same, "n", quarter, over_time=True))


def test_raters_who_differ_are_no_change():
    c = answers()
    chance = np.repeat(np.linspace(0.55, 0.99, RATERS), EACH)
    late = np.tile(np.arange(EACH) * 4 // EACH, RATERS)
    late[: 10 * EACH] = 0  # the first raters only began
    found = [compare_parts(c, right(chance, seed), "n", late, n_permutations=99) for seed in range(12)]
    assert np.mean([one.p_value for one in found]) > 0.15  # of any share alike: .50 ± .29, / √12
    assert {one.raters for one in found} == {10}


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("Timestamp", [f"2026-11-16 10:{k // 60:02d}:{k % 60:02d}" for k in range(EACH)]),
        ("received", np.arange(EACH)[::-1]),
        ("Trial number", np.arange(EACH) + 1),
    ],
)
def test_the_column_that_tells_the_time_is_found_by_its_name(name, moment):
    by, quarter = sessions(answers(**{name: np.tile(moment, RATERS)}))
    assert by == name
    assert quarter[0] == (3 if name == "received" else 0)
    assert np.bincount(quarter).tolist() == [200] * 4


def test_without_a_column_of_times_nothing_is_said_of_the_session():
    assert sessions(answers()) is None
    assert sessions(answers(trial_number=np.ones(RATERS * EACH))) is None  # all at once is no order


def test_conditions_vary_within_raters_and_groups_do_not():
    block = np.tile(np.arange(EACH) // 10, RATERS)
    group = np.repeat(np.arange(RATERS) % 2, EACH)
    found = conditions(
        answers(block=block, group=group, serial=np.arange(RATERS * EACH), light=np.where(block < 2, "dim", "bright"))
    )
    assert list(found) == ["block", "light"]
    assert found["block"][1] == ("0", "1", "2", "3")
    np.testing.assert_array_equal(found["block"][0], block)
    assert found["light"][1] == ("bright", "dim")


def test_questions_that_a_model_chose_make_nobody_look_tired():
    number = np.tile(np.arange(EACH), RATERS)
    chosen = (number >= EACH // 4) & (number % 4 > 0)  # none in the first quarter, three of four later
    c = answers(np.where(chosen, "information_gain", "random"), trial_number=number, block=number % 2)
    by, quarter = sessions(c)
    assert (quarter[chosen] == -1).all()
    found = compare_parts(c, (~chosen).astype(float), by, quarter, over_time=True)
    assert (found.p_value, found.change, found.differ) == (1, 0, False)
    assert found.table.answers.sum() == (~chosen).sum()
    assert "share of answers to evenly drawn questions that the model predicts" in str(found)
    part = conditions(c)["block"][0]
    np.testing.assert_array_equal(part >= 0, ~chosen)

    hardly = np.where((number >= EACH // 4) & (number % 20 > 0), "information_gain", "random")
    assert sessions(answers(hardly, trial_number=number)) is None, "of some quarters nothing is left to compare"


def test_raters_of_few_late_answers_count_for_little_in_the_change():
    c, late = answers(), np.full(RATERS * EACH, -1)
    score = np.ones(RATERS * EACH)
    for rater in range(RATERS):
        own, few = np.arange(rater * EACH, (rater + 1) * EACH), rater % 2
        late[own[:20]], late[own[20 : 21 if few else 40]] = 0, 3
        score[own[:20:2]] = 0  # half of the first quarter is predicted
        score[own[20:]] = 1 if few else np.arange(20) % 2  # of one late answer all, of twenty as many as before
    found = compare_parts(c, score, "n", late, over_time=True)
    share = (20 / 21) / (20 / 21 + 10)  # of the raters of one late answer, by how sure each gain is
    assert found.change == pytest.approx(50 * share)


def test_which_model_chose_a_question_is_no_condition():
    number = np.tile(np.arange(EACH), RATERS)
    model, strategy = number // 20, np.where(number % 2, "random", "information_gain")
    assert list(conditions(answers(strategy, model=model, light=model))) == ["light"]
    assert list(conditions(answers(model=model))) == ["model"], "a column of the lab's own"
    assert attribute_columns(answers(strategy, model=model, light=model)) == ["light"]
