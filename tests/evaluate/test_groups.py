"""Groups of raters: false alarms where they do not differ, the difference where they do, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.evaluate.group_shuffles import Between, Within, corrected, p_value, spread_of
from similitude.evaluate.groups import scores_of
from similitude.evaluate.rater_groups import attribute_columns, grouped
from tests import shell

NAMES = [f"i{k}" for k in range(10)]


def people(seen, group, n_raters, each, rng, habit=0.3):
    """Answers of raters who each see the items a little elsewhere, and more or less sharply."""
    parts = []
    for k in range(n_raters):
        own = seen + habit * rng.standard_normal(seen.shape)
        rater = sm.Raters.of([3.0 * np.exp(0.4 * rng.standard_normal())], names=[f"{group}{k}"])
        parts.append(sm.simulate(own, each, raters=rater, names=NAMES, random_state=rng))
    return sm.Comparisons.concatenate(parts)


def study(seed, factor, sizes=(8, 8), each=50):
    rng = np.random.default_rng([seed, 3])
    truth = rng.standard_normal((10, 2))
    seen = truth * [factor, 1 / factor], truth * [1 / factor, factor]
    c = sm.Comparisons.concatenate([people(X, g, n, each, rng) for X, g, n in zip(seen, "ab", sizes, strict=True)])
    return c, {who: who[0] for who in c.answers.rater.labels}


def with_column(c, name, values):
    return sm.read_comparisons(c.answers.to_frame(c.names).assign(**{name: values}), names=NAMES)


@pytest.fixture(scope="module")
def apart():
    c, group = study(0, 2.5)  # the least p of a pair is .002 ± .001, of 1.6 it is .05 at times
    return sm.compare_groups(c, group, random_state=0)


def test_a_plain_difference_is_found_with_its_size_items_and_pairs(apart):
    assert apart.differ
    assert apart.p_value <= 0.005
    assert apart.raters == (8, 8)
    assert 0 < apart.low < apart.effect < apart.high < 1
    assert (apart.items.p_value <= 0.05).any()
    assert (apart.pairs.p_value <= 0.05).any()
    assert set(apart.pairs.more_alike_to) == {"a", "b"}


def test_power_grows_with_the_difference_and_stays_a_share(apart):
    power = apart.power.power.to_numpy()
    assert ((power >= 0) & (power <= 1)).all()
    assert power[-1] >= power[0]


@pytest.mark.slow
def test_raters_who_differ_are_no_difference_of_groups():
    # 5 % of false alarms: of 24 it is one draw in 70,000 that has more than 7
    found = []
    for seed in range(24):
        c, group = study(seed, 1.0, sizes=(5, 9), each=30)
        made = grouped(c, group)
        scores = scores_of(made, 2, 0)
        contrasts = made.shuffles.contrasts(scores.weight, 99, np.random.default_rng(seed))
        found.append(p_value(spread_of(contrasts, scores.alike(scores.scores))))
    assert sum(p <= 0.05 for p in found) <= 7
    assert np.mean(found) == pytest.approx(0.5, abs=0.24)  # uniform: four standard errors


@pytest.mark.slow
def test_groups_that_do_not_differ_have_no_effect():
    """Of 100 intervals 1 to 3 exclude 0; 9 to 12 would by the width of independent gains of raters."""
    found = [sm.compare_groups(*study(seed, 1.0), n_permutations=19, random_state=0) for seed in range(16)]
    assert np.mean([one.high - one.low for one in found]) < 0.13  # .098 ± .003
    assert sum(not one.low <= 0 <= one.high for one in found) <= 4  # of 3 in 100 each: more in one draw of 10,000


def test_conditions_within_raters_are_compared_within_them():
    rng = np.random.default_rng(5)
    truth = rng.standard_normal((10, 2))
    one, two = (people(truth * scale, "r", 8, 40, rng) for scale in ([1.5, 0.6], [0.6, 1.5]))
    c = sm.Comparisons.concatenate([one, two])
    c = with_column(c, "light", np.repeat(["day", "night"], 320))
    found = sm.compare_groups(c, "light", n_permutations=199, random_state=0)
    assert found.within
    assert found.raters == (8, 8)
    assert found.groups == ("day", "night")
    assert found.differ


def test_shuffles_keep_raters_whole():
    rng = np.random.default_rng(0)
    weight = rng.uniform(1, 5, 7)
    contrasts = Between(np.array([0, 0, 1, 1, 1, 2, 2])).contrasts(weight, 50, rng)
    np.testing.assert_allclose(contrasts @ weight, 0, atol=1e-12)  # what all share is nobody's difference
    contrasts = Within(4).contrasts(rng.uniform(1, 5, 8), 50, rng)
    assert (np.sign(contrasts[:, 0, 0::2]) == -np.sign(contrasts[:, 0, 1::2])).all()
    assert Between(np.array([0, 0, 1, 1])).count == 3  # and their mirror images
    assert Between(np.array([0, 0, 1, 1, 1])).count == 10
    assert Within(5).count == 16


@pytest.mark.parametrize("sizes", [(3, 4), (5, 5), (2, 2, 3), (1, 2, 2)])
def test_every_distinct_split_is_taken_once_where_there_are_few(sizes):
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    shuffles = Between(group)
    weight = np.ones(len(group))
    contrasts = shuffles.contrasts(weight, 200, np.random.default_rng(0))
    splits = {frozenset(frozenset(np.flatnonzero(row > 0).tolist()) for row in one) for one in contrasts}
    assert len(splits) == len(contrasts) == shuffles.count
    assert (np.flatnonzero(contrasts[0][0] > 0) == np.flatnonzero(group == 0)).all()


def test_small_groups_are_tested_exactly_and_say_the_least_p():
    c, group = study(0, 1.6, sizes=(5, 5), each=30)
    found = sm.compare_groups(c, group, random_state=0)
    assert (found.exact, found.n_permutations) == (True, 126)
    assert found.p_value * 126 == pytest.approx(round(found.p_value * 126))
    assert "among all 126 splits of the raters into such groups; the least p that there could be is 0.008" in str(found)
    assert "999" not in str(found)
    again = sm.compare_groups(c, {who: "ba"["ab".index(name)] for who, name in group.items()}, random_state=3)
    assert again.p_value == found.p_value  # nothing is drawn, and names of groups do not matter
    with pytest.raises(ValueError, match=r"3 in a, 3 in b.*with 10 ways to split them p is never below 0.1"):
        sm.compare_groups(*study(0, 1.6, sizes=(3, 3), each=10))


def test_corrected_p_values_hold_for_all_figures_together():
    rng = np.random.default_rng(0)
    alarms = [(corrected(rng.standard_normal((100, 30)) ** 2) <= 0.05).any() for _ in range(200)]
    assert np.mean(alarms) < 0.15  # .05 with an error of .015; of eight draws ± .024


def test_columns_that_make_groups_are_found():
    c, group = study(2, 1.0)
    c = with_column(c, "Group", [group[who] for who in c.answers.rater.values])
    assert attribute_columns(with_column(c, "trial", np.arange(c.n_answers))) == ["Group"]


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("Class", "there is no column 'Class'.*; there is none beside the answers"),
        ("rater", "'rater' says who answered, and a column is needed that several raters share"),
        ({"a0": "x", "a1": "x"}, "2 to 10 groups"),
        ({"a0": "x", "b0": "y", "b1": "y"}, "too few raters to tell"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(by, says):
    with pytest.raises(ValueError, match=says):
        sm.compare_groups(study(0, 1.0)[0], by)


def test_nobody_recorded_is_refused():
    with pytest.raises(ValueError, match="not recorded"):
        sm.compare_groups(sm.simulate(np.random.default_rng(0).normal(size=(6, 2)), 50, random_state=0), "Group")


@pytest.mark.slow
def test_the_shell_compares_groups(tmp_path):
    c, group = study(0, 1.6)
    c = with_column(c, "Group", [group[who] for who in c.answers.rater.values])
    sm.write_comparisons(c, tmp_path / "answers.csv")
    pictures = ("--out", "apart.png", "--maps", "maps.png")
    told = shell.run("compare", tmp_path / "answers.csv", "--group", "Group", *pictures, folder=tmp_path).stdout
    assert "yes, p" in told
    assert (tmp_path / "apart.png").stat().st_size > 5000
    assert (tmp_path / "maps.png").stat().st_size > 5000
    assert "sm.leave_out(c, where='`Group` == b')" in told
    assert "sm.compare_groups(c, 'Group', random_state=0)" in told
    assert shell.run("compare", tmp_path / "answers.csv", folder=tmp_path, check=False).returncode == 2
    wrong = shell.run("compare", tmp_path / "answers.csv", "--group", "Class", folder=tmp_path, check=False)
    assert "--group: there is no column 'Class'" in wrong.stderr
    c = with_column(c, "Group", [f"{group[who]}{who in ('a0', 'a1', 'a2')}" for who in c.answers.rater.values])
    sm.write_comparisons(c, tmp_path / "three.csv")
    three = shell.run("compare", "three.csv", "--group", "Group", *pictures, folder=tmp_path, check=False)
    assert "the pictures of --out and --maps show two groups, and 'Group' has 3" in three.stderr


def judging(items, of, seed):
    """The answers of raters of one group to questions about some of twelve items, all seen alike."""
    truth = np.random.default_rng(9).standard_normal((12, 2))
    people = sm.Raters.of([3.0] * 6, names=[f"{of}{k}" for k in range(6)])
    names = [f"i{k:02d}" for k in items]
    return sm.simulate(truth[list(items)], 240, raters=people, names=names, random_state=seed)


@pytest.mark.slow
def test_items_that_one_group_alone_judged_make_no_difference():
    differ = 0
    for seed in range(0, 8, 2):
        c = sm.Comparisons.concatenate([judging(range(8), "a", seed), judging(range(4, 12), "b", seed + 1)])
        found = sm.compare_groups(c, {who: who[0] for who in c.answers.rater.labels}, n_permutations=99, random_state=0)
        assert set(found.left_out) == {f"i{k:02d}" for k in (0, 1, 2, 3, 8, 9, 10, 11)}
        assert set(found.items.item) == {"i04", "i05", "i06", "i07"}
        assert "left out" in str(found)
        differ += found.differ
    assert differ < 3  # each differs by chance one time in twenty: three of four once in 2,000 draws


def test_groups_without_common_items_are_refused():
    c = sm.Comparisons.concatenate([judging(range(6), "a", 1), judging(range(6, 12), "b", 2)])
    with pytest.raises(ValueError, match="judged different items"):
        sm.compare_groups(c, {who: who[0] for who in c.answers.rater.labels})


def test_a_rater_without_a_group_is_in_none_and_large_numbers_are_groups_of_their_own():
    c, group = study(0, 1.0)
    unknown = {"a0": None, "b0": float("nan"), "b1": pd.NA}
    made = grouped(c, group | unknown)
    assert (made.names, made.raters) == (("a", "b"), (7, 6))
    number = {"a": 1234567.0, "b": 1234568.0}
    assert grouped(c, {who: number[own] for who, own in group.items()}).names == ("1234567", "1234568")
    c = with_column(c, "year", [number[group[who]] for who in c.answers.rater.values])
    assert grouped(c, "year").names == ("1234567", "1234568")


@pytest.mark.parametrize("level", [1.5, float("nan"), 0, "high"])
def test_a_level_that_is_no_share_is_refused(level):
    with pytest.raises(ValueError, match="level: expected a share between 0 and 1"):
        sm.compare_groups(*study(0, 1.0), level=level)


def test_a_mistyped_cell_does_not_choose_the_test():
    c, group = study(0, 1.0)
    cells = [group[who] for who in c.answers.rater.values]
    cells[0], cells[60] = "b", "c"
    with pytest.raises(ValueError, match=r"a0, a1 have more than one value, 14 other raters one each"):
        sm.compare_groups(with_column(c, "Group", cells), "Group")
