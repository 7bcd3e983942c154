"""Repeats and the noise ceiling: against counting by hand, and coverage of a known truth."""

from itertools import combinations

import numpy as np
import pytest

import similitude as sm
from similitude.display.estimate import Estimate
from similitude.graph.repeats import Repeats, answer_voices, noise_ceiling, repeat_agreement, wilson
from similitude.graph.votes import count_votes


def repeats_of(c, level=0.95):
    return repeat_agreement(answer_voices(c, count_votes(c)), level)


def pages(n_pages, width, readers, flip, seed):
    """Pages of triplets, each answered by several people, who turn a whole page round with probability `flip`."""
    rng = np.random.default_rng(seed)
    page = np.stack([sm.random_questions(400, width, random_state=rng) for _ in range(n_pages)])
    shown = np.repeat(page, readers, axis=0)
    wrong = rng.random(len(shown)) < flip
    shown[wrong] = shown[wrong][:, :, [0, 2, 1]]
    return sm.Comparisons.from_triplets(shown.reshape(-1, 3), answer=np.repeat(np.arange(len(shown)), width))


def test_agreement_is_that_of_counting_by_hand():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(4)[:3] for _ in range(120)])
    answer = rng.integers(0, 40, 120)
    c = sm.Comparisons.from_triplets(rows, answer=answer)
    said = {}
    for (head, near, far), who in zip(rows, answer, strict=True):
        edge = (tuple(sorted((head, near))), tuple(sorted((head, far))))
        key = (tuple(sorted(edge)), who)
        said[key] = said.get(key, 0) + (1 if edge[0] < edge[1] else -1)
    voices = {}
    for (edge, _), net in said.items():
        if net:
            voices.setdefault(edge, []).append(np.sign(net))
    again = [v for v in voices.values() if len(v) > 1]
    total = sum(len(v) * np.mean([x == y for x, y in combinations(v, 2)]) for v in again)
    found = repeats_of(c)
    assert (found.questions, found.comparisons) == (len(again), sum(map(len, again)))
    assert found.agreement.value == pytest.approx(total / sum(map(len, again)))


def test_an_answer_is_no_repeat_of_itself():
    twice = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2)], answer=[0, 0])
    assert repeats_of(twice).questions == 0
    assert repeats_of(sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2)])).questions == 1


def test_the_same_question_asked_the_other_way_is_a_repeat():
    c = sm.Comparisons.from_quadruplets([(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1)])
    assert repeats_of(c).questions == 1
    assert repeats_of(c).agreement.value == pytest.approx(1 / 3)


@pytest.mark.parametrize(("flip", "times"), [(0.0, 2), (0.1, 2), (0.25, 3), (0.4, 8)])
def test_ceiling_covers_a_known_flip_rate(flip, times):
    covered, width = 0, []
    for seed in range(100):
        rng = np.random.default_rng([seed, times])
        questions = np.repeat(sm.random_questions(30, 150, random_state=rng), times, axis=0)
        c = sm.simulate(rng.standard_normal((30, 2)), questions=questions, flip=flip, random_state=rng)
        ceiling = noise_ceiling(repeats_of(c))
        covered += ceiling.low - 1e-9 <= 1 - flip <= ceiling.high + 1e-9
        width.append(ceiling.high - ceiling.low)
    assert covered >= 85  # 95.5 ± 2.3
    assert np.mean(width) < 0.17


@pytest.mark.parametrize("flip", [0.1, 0.3])
def test_ceiling_covers_where_an_answer_holds_many_comparisons(flip):
    """Ten comparisons of an answer are wrong together: taking them for ten repeats would cover far too rarely."""
    covered, width = 0, []
    for seed in range(60):
        ceiling = noise_ceiling(repeats_of(pages(100, 10, 3, flip, seed)))
        covered += ceiling.low - 1e-9 <= 1 - flip <= ceiling.high + 1e-9
        width.append(ceiling.high - ceiling.low)
    assert covered >= 54
    assert np.mean(width) < 0.27  # .234 ± .005


def test_pure_noise_has_a_ceiling_of_one_half():
    ceilings = []
    for seed in range(60):
        questions = np.repeat(sm.random_questions(30, 400, random_state=seed), 3, axis=0)
        c = sm.simulate(np.zeros((30, 2)), questions=questions, lapse=1.0, random_state=seed)
        ceilings.append(noise_ceiling(repeats_of(c)))
    assert np.mean([ceiling.low == 0.5 for ceiling in ceilings]) >= 0.9
    assert np.median([ceiling.value for ceiling in ceilings]) < 0.58  # .51 ± .018


def test_ceiling_is_an_upper_bound_and_agreement_a_lower_one_where_questions_differ():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 4000)
    a = (p**2 + (1 - p) ** 2).mean()
    assert a < p.mean() < noise_ceiling(Repeats(4000, 8000, Estimate(a, a, a))).value


def test_merged_answers_say_nothing_about_noise():
    rows = sm.random_questions(20, 200, random_state=0)
    c = sm.Comparisons.from_triplets(np.concatenate([rows, rows[:, [0, 2, 1]]]))
    ceiling = noise_ceiling(repeats_of(c))
    assert ceiling.value is None
    assert "merged" in ceiling.note


def test_agreement_says_that_comparisons_are_counted_and_how_many():
    shown = [["a", "b", "c"]] * 3 + [["a", "b", "d"]] * 2
    c = sm.Comparisons.from_picked("odd_one_out", shown, [2, 2, 1, 2, 2], rater=["x", "x", "y", "x", "x"])
    figures = dict(sm.check(c).figures())
    assert figures["two answers agree"].note.startswith("on a comparison that both make (")
    again = "on a comparison that they make again, the question being the same (8 comparisons); 0.50 is chance"
    assert figures["the same rater agrees"].note == again
    assert figures["the same rater agrees"].value == 1.0


def test_one_repeat_says_little():
    found = repeats_of(sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2)])).agreement
    assert found.value == 1
    assert found.low < 0.05


def test_wilson_holds_its_known_value():
    low, high = wilson(np.array([0.8, np.nan]), np.array([10.0, 0.0]), 1.959964)
    np.testing.assert_allclose([low[0], high[0]], [0.4901625, 0.9433178], atol=1e-6)
    assert np.isnan(low[1])


def test_a_ceiling_of_few_repeats_is_not_told():
    again = sm.Comparisons.from_triplets([(0, 1, 2)] * 9)
    assert "too few to tell" in sm.check(again).ceiling.note
    assert sm.check(sm.Comparisons.from_triplets([(0, 1, 2)] * 10)).ceiling.value == 1
