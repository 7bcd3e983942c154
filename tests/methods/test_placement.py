import numpy as np
import pytest

import similitude as sm

NAMES = [f"item{k}" for k in range(20)]


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(0).normal(size=(22, 2))


@pytest.fixture(scope="module")
def model(truth):
    return sm.STE(2, penalty=1e-3, random_state=0).fit(sm.simulate(truth[:20], 4000, random_state=1).with_items(NAMES))


def about_new(truth, new, n_answers=6000):
    everything = sm.simulate(truth, n_answers, random_state=2)
    rows = np.isin(everything.quadruplets, new).any(1) & (np.isin(everything.quadruplets, [*range(20), *new]).all(1))
    return everything[rows].with_items([*NAMES, "old oak", "new elm"])


def test_two_new_items_by_name_at_once(truth, model):
    placed = model.place(about_new(truth, [20, 21]), random_state=0)
    assert placed.names == (*NAMES, "old oak", "new elm")
    assert sm.procrustes_distance(placed.embedding, truth) < 0.01


@pytest.mark.parametrize("role", ["head", "near", "far"])
def test_a_new_item_in_one_role_alone(truth, model, role):
    c = about_new(truth, [20], 30_000)
    column = {"head": c.near[:, 0], "near": c.near[:, 1], "far": c.far[:, 1]}[role]
    only = sm.Comparisons.from_triplets(c[column == 20].triplets, names=[*NAMES, "old oak"])
    placed = model.place(only, random_state=0)
    assert placed.score(only) > 0.94  # .991 ± .009
    if role == "head":  # the other roles alone leave the place open: a ball, or all but a ball
        unseen = about_new(truth, [20], 9000)
        # .93 at the least of eighty draws: an item far out is the farther of all it is compared with
        assert placed.score(sm.Comparisons.from_triplets(unseen.triplets, names=[*NAMES, "old oak"])) > 0.85


def test_more_answers_place_better(truth, model):
    c = about_new(truth, [20], 30_000)
    c = sm.Comparisons.from_triplets(c.triplets, names=[*NAMES, "old oak"])

    def error(answers):
        placed = model.place(answers, random_state=0)
        return np.linalg.norm(sm.align(placed.embedding, truth[:21])[20] - truth[20])

    many = error(c[:400])
    assert many < 0.25  # .025 ± .02, and .135 of one item far out
    assert many < np.mean([error(c[k : k + 4]) for k in range(0, 80, 4)])  # four answers may be lucky once


def test_what_cannot_be_placed(truth, model):
    with pytest.raises(ValueError, match="no comparison names new elm"):
        model.place(about_new(truth, [20]))
    with pytest.raises(ValueError, match="they name no new item"):
        model.place(sm.Comparisons.from_triplets([("item0", "item1", "item2")]))
    with pytest.raises(ValueError, match="knows its items by name"):
        model.place([(0, 1, 20)])
    with pytest.raises(ValueError, match="n_init"):
        model.place(about_new(truth, [20, 21]), n_init=0)


def test_comparisons_with_no_known_item_place_nothing(model):
    with pytest.raises(ValueError, match=r"they name none of the \d+ items that the model knows"):
        model.place([("x", "y", "z")])


def test_a_new_item_that_is_spelled_like_a_known_one_is_said(model):
    known, other = model.similarity_.names[:2]
    with pytest.warns(
        sm.FeedbackWarning, match=rf"new items are called as known ones .* {known.upper()!r} and {known!r}"
    ):
        model.place([(known.upper(), known, other)])


def with_new_item(known, new):
    old = sm.STE(2, random_state=0).fit([(known, "a", "b"), ("a", known, "b")]).similarity_
    return old.place([(new, "a", "b")])


@pytest.mark.parametrize(("known", "new"), [("007", "7"), ("7", "007"), ("000", "0"), ("07.5", "7.5")])
def test_a_new_item_that_lost_its_leading_zeros_is_said(known, new):
    with pytest.warns(sm.FeedbackWarning, match=rf"or leading zeros: '{new}' and '{known}'; where they are") as told:
        assert with_new_item(known, new).n_items == 4  # they stay two
    assert told[0].filename == __file__


def test_zeros_within_a_word_are_no_leading_ones():
    assert with_new_item("v07", "v7").n_items == 4
