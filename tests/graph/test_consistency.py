"""The report: counts by hand and on real data, what cannot be told, and the order of rows."""

import json

import numpy as np
import pytest

import similitude as sm
from similitude.graph.own_answers import by_content
from similitude.graph.reliability import rate_raters
from similitude.graph.repeats import answer_voices, repeat_agreement
from similitude.graph.votes import count_votes


def study(seed=0, n_items=10, n_answers=1200, **options):
    rng = np.random.default_rng(seed)
    options = {"sharpness": 2.0, "raters": 6, "cant_tell": 0.05, "record": True} | options
    names = [f"item {k}" for k in range(n_items)]
    return sm.simulate(rng.standard_normal((n_items, 2)), n_answers, random_state=rng, names=names, **options)


def without_rhythm(report):
    """All figures but that of the order in which answers came."""
    found = report.to_dict()
    del found["coefficients"]["retest_distances"]
    for rater in found["raters"]:
        del rater["rhythm_p_value"]
    return found


def assert_alike(one, two):
    """Equal but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            assert_alike(one[key], two[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            assert_alike(a, b)
    else:
        assert one == (pytest.approx(two, rel=1e-9) if isinstance(two, float) else two)


@pytest.mark.parametrize("form", ["triplet", "odd_one_out", "choice"])
def test_order_of_rows_does_not_change_the_report(form):
    c = study(form=form, n_answers=400)
    c = c.reweight(np.random.default_rng(1).choice([0.1, 0.7, 1.0, 3.3], len(c)))
    report = sm.check(c)
    for seed in range(3):
        other = sm.check(c.select(np.random.default_rng(seed).permutation(c.n_answers)))
        assert_alike(without_rhythm(other), without_rhythm(report))


def test_yes_and_no_are_different_answers_about_the_first_edge_too():
    answer, edge = np.array([0, 1]), np.array([0, 0])
    yes_first, no_first = (by_content(answer, edge, np.array(says)) for says in ([1.0, -1.0], [-1.0, 1.0]))
    assert yes_first.tolist() == no_first[::-1].tolist()


def test_counts_by_hand():
    rows = [("a", "b", "c"), ("a", "b", "c"), ("a", "c", "b"), ("b", "a", "c"), ("d", "e", "f"), ("c", "a", "b")]
    said = [True, True, True, True, True, None]
    names = list("abcdefg")
    report = sm.check(sm.Comparisons.from_triplets(rows, said, names=names, weight=[1, 2, 2, 1, 1, 1]))
    assert (report.answers, report.comparisons, report.items) == (6, 5, 7)
    assert report.cant_tell == pytest.approx(1 / 6)
    assert (report.repeats.questions, report.repeats.comparisons) == (1, 3)
    assert report.repeats.agreement.value == pytest.approx(1 / 3)
    assert (report.contradicted, report.outvoted, report.total_weight) == (1, 2, 7)
    assert (report.cycles.groups, report.cycles.pairs, report.cycles.judgments) == (1, 2, 2)
    assert report.majority_cycles.groups == 0
    assert report.loss == (2, 2)
    assert report.groups == (("a", "b", "c"), ("d", "e", "f"))
    assert report.never_compared == ("g",)
    assert "never compared: g" in str(report)


def test_a_circle_of_three_pairs():
    rows = [(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 0, 1), (0, 1, 6, 7)]
    report = sm.check(sm.Comparisons.from_quadruplets(rows, weight=[3, 1, 2, 1]))
    for cycles in (report.cycles, report.majority_cycles):
        assert (cycles.groups, cycles.pairs, cycles.judgments) == (1, 3, 3)
    assert report.loss == (1, 1)
    assert report.contradicted == 0
    assert report.ceiling.value is None


def test_redundancy_of_a_chain():
    pairs = np.arange(8).reshape(4, 2)
    rows = [np.concatenate([pairs[a], pairs[b]]) for a in range(4) for b in range(a + 1, 4)]
    assert sm.check(sm.Comparisons.from_quadruplets(rows)).redundancy.value == pytest.approx(0.5)
    assert sm.check(sm.Comparisons.from_quadruplets(rows[::3])).redundancy.value == 0


def test_weight_zero_is_not_there():
    c = study(raters=None, cant_tell=0.0, n_answers=300)
    silent = c.reweight((np.arange(300) < 200).astype(float))
    some, part = sm.check(silent), sm.check(c[:200])
    assert some.repeats == part.repeats
    assert (some.contradicted, some.loss, some.cycles) == (part.contradicted, part.loss, part.cycles)


def test_report_as_table_text_and_json():
    report = sm.check(study())
    table = report.to_frame()
    assert table.columns.tolist() == ["name", "value", "low", "high", "note"]
    assert table.name.is_unique
    shown = str(report).splitlines()
    assert len(shown) == len(table)
    assert all(line.startswith(name) for line, name in zip(shown, table.name, strict=True))
    loaded = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert loaded["ceiling"]["value"] == report.ceiling.value
    assert [rater["names"] for rater in loaded["raters"]] == list(report.raters.names)
    raters = report.rater_frame()
    assert len(raters) == 6
    assert raters.agreement.is_monotonic_increasing
    assert "no model that does not know who answers can predict more" in str(report)


def test_arrays_are_taken():
    rows = sm.random_questions(8, 200, random_state=0)
    assert_alike(sm.check(rows).to_dict(), sm.check(sm.Comparisons.from_triplets(rows)).to_dict())


def test_simulated_raters_with_a_known_flip_rate():
    report = sm.check(study(sharpness=None, flip=0.2, n_answers=3000), level=0.9999)
    assert report.ceiling.low < 0.8 < report.ceiling.high
    assert report.ceiling.high - report.ceiling.low < 0.2


def test_pure_noise():
    report = sm.check(study(lapse=1.0, n_answers=3000))
    assert report.ceiling.low == 0.5
    assert report.ceiling.value < 0.63  # .52 ± .023
    assert not report.raters.flagged.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sm.Comparisons.from_triplets(np.empty((0, 3), int)), "no answers"),
        (lambda: sm.Comparisons.from_triplets([(0, 1, 2)], [None]), "none of the 1 answers"),
        (lambda: sm.Comparisons.from_triplets([(0, 1, 2)], weight=0.0), "weights are 0"),
        (lambda: np.zeros((3, 5)), "shape"),
    ],
)
def test_nothing_to_check(make, message):
    with pytest.raises(ValueError, match=message):
        sm.check(make())


def test_level_must_be_a_share():
    with pytest.raises(ValueError, match="level"):
        sm.check([(0, 1, 2)], level=95)


def test_no_repeats_and_no_raters_say_what_cannot_be_told():
    report = sm.check([(0, 1, 2), (3, 4, 5)])
    assert report.repeats.agreement.value is None
    assert report.ceiling.value is None
    text = str(report)
    assert "no question was answered twice" in text
    assert "not recorded" in text


def test_a_single_rater():
    report = sm.check(study(raters=1))
    assert report.raters.names == ("rater 1",)
    assert np.isnan(report.raters.agreement).all()
    assert not report.raters.flagged.any()
    assert report.retest.agreement == report.repeats.agreement
    assert "there is no other rater" in str(report)


def test_every_answer_contradicted():
    rows = sm.random_questions(12, 100, random_state=0)
    both = np.concatenate([rows, rows[:, [0, 2, 1]]])
    report = sm.check(sm.Comparisons.from_triplets(both, rater=np.repeat(["a", "b"], 100)))
    assert report.contradicted == report.repeats.questions
    assert report.redundancy.value is None
    assert report.ceiling.value is None
    assert "merged" in report.ceiling.note
    assert report.majority_cycles.groups == 0


@pytest.mark.slow
def test_food100_as_the_paper_counts_it(data):
    report = sm.check(sm.read_comparisons(data / "food100" / "triplets_unique.csv.gz"))
    assert (report.comparisons, report.contradicted, report.items) == (190_376, 9_349, 100)
    assert report.outvoted == 9_349
    assert report.ceiling.value is None
    assert report.outvoted <= report.loss[0] <= report.loss[1] < 0.15 * report.comparisons
    assert len(report.groups) == 1


@pytest.mark.slow
def test_food100_screens(data):
    c = sm.read_comparisons(data / "food100" / "screens.csv")
    votes = count_votes(c)
    voices = answer_voices(c, votes)
    repeats, raters = repeat_agreement(voices), rate_raters(c.answers, voices, votes)
    assert votes.contradicted.sum() == 9_349
    assert 0.8 < repeats.agreement.low < repeats.agreement.high < 0.9
    assert len(raters) == 243
    assert raters.flagged.sum() < 10
