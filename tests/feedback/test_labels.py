"""Labels: classes, grades and numbers as links and comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from similitude import Comparisons, Labels
from similitude.feedback import forms
from tests.feedback.strategies import seeds


@given(seeds())
def test_classes_compare_same_with_other(rng):
    label = rng.integers(0, 3, 12)
    if len(set(label.tolist())) < 2 or np.bincount(label).max() < 2:
        return
    c = Labels.of(np.arange(12), label).to_comparisons(per_item=30, random_state=rng)
    head, near, far = c.triplets.T
    assert (label[head] == label[near]).all()
    assert (label[head] != label[far]).all()
    assert len(np.unique(c.triplets, axis=0)) == len(c)
    assert c.n_answers == 1


def test_enough_draws_find_every_comparison_of_a_labelling():
    label, sure = np.array([0, 0, 0, 1, 1]), np.array([0.9, 0.5, 0.5, 0.2, 0.1])
    for confidence in (None, sure):
        c = Labels.of(np.arange(5), label, confidence).to_comparisons(per_item=500, random_state=0)
        near, far, _ = forms.derive(c.answers)
        every = {(*n, *f) for n, f in zip(near.tolist(), far.tolist(), strict=True)}
        assert {tuple(row) for row in c.quadruplets.tolist()} == every
        assert len(c) == len(every)


@given(seeds())
def test_of_two_in_a_class_the_surer_is_nearer_to_a_third(rng):
    label, sure = rng.integers(0, 2, 14), rng.integers(0, 5, 14) / 4
    c = Labels.of(np.arange(14), label, sure).to_comparisons(random_state=rng)
    head, near, far = c.triplets.T
    within = label[near] == label[far]
    assert within.any()
    assert (label[head] == label[near]).all()
    assert (sure[near] > sure[far])[within].all()


@pytest.mark.parametrize("kind", ["numeric", "ordinal"])
@given(rng=seeds())
def test_closer_numbers_are_nearer(kind, rng):
    value = rng.integers(0, 6, 15).astype(float)
    c = Labels.of(np.arange(15), value, kind=kind).to_comparisons(random_state=rng)
    head, near, far = c.triplets.T
    assert (np.abs(value[head] - value[near]) < np.abs(value[head] - value[far])).all()
    every = Comparisons.from_placements(np.arange(15), value[:, None])
    heads = every.quadruplets[every.is_triplet]
    assert {tuple(row) for row in c.quadruplets.tolist()} <= {tuple(row) for row in heads.tolist()}


def test_grades_are_ordered_by_name_where_they_are_not_numbers():
    labels = Labels.of(["w", "x", "y"], ["a", "b", "d"], kind="ordinal")
    assert labels.value.tolist() == [0, 1, 2]
    assert labels.classes == ("a", "b", "d")
    assert set(map(tuple, labels.to_comparisons(random_state=0).triplets.tolist())) == {(0, 1, 2), (2, 1, 0)}


def test_each_rater_is_one_answer():
    labels = Labels.of(
        ["a", "b", "c"] * 2, ["x", "x", "y", "x", "y", "y"], rater=["ann"] * 3 + ["bob"] * 3, names=list("abcd")
    )
    c = labels.to_comparisons(random_state=0)
    assert (c.n_answers, c.n_items) == (2, 4)
    assert c.answers.rater.values.tolist() == ["ann", "bob"]
    assert {tuple(row) for row in c.select([0]).triplets.tolist()} == {(0, 1, 2), (1, 0, 2)}
    assert {tuple(row) for row in c.select([1]).triplets.tolist()} == {(1, 2, 0), (2, 1, 0)}


def test_classes_as_links():
    labels = Labels.of(["a", "b", "c"] * 2, list("xxyxyy"), rater=np.repeat(["ann", "bob"], 3), names=list("abcd"))
    links = labels.to_links()
    assert links.names == tuple("abcd")
    assert links.rater.values.tolist() == ["ann"] * 3 + ["bob"] * 3
    assert links.similar.tolist() == [True, False, False, False, False, True]
    assert [conflict.link for conflict in links.conflicts()] == [1, 2, 3, 4]
    assert len(labels.to_links(n_links=2, random_state=0)) == 4


def test_the_same_seed_gives_the_same_comparisons(rng):
    labels = Labels.of(np.arange(40), rng.integers(0, 4, 40), rng.random(40))
    one, same, other = (labels.to_comparisons(5, random_state=seed).quadruplets for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_slicing_is_numpy_slicing(rng):
    labels = Labels.of(np.arange(9), rng.integers(0, 3, 9), rng.random(9), rater=rng.choice(["a", "b"], 9))
    rows = rng.permutation(9)[:5]
    part = labels[rows]
    np.testing.assert_array_equal(part.item, labels.item[rows])
    np.testing.assert_array_equal(part.value, labels.value[rows])
    np.testing.assert_array_equal(part.confidence, labels.confidence[rows])
    assert part.rater.values.tolist() == labels.rater.values[rows].tolist()
    assert part.n_items == 9


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Labels.of([0, 1], ["x", "x"]).to_comparisons(), ValueError, "at least two classes, found only 'x'"),
        (lambda: Labels.of([0, 1], ["x", "x"]).to_links(), ValueError, "at least two classes, found only 'x'"),
        (lambda: Labels.of([], []).to_comparisons(), ValueError, "found only 'no label'"),
        (lambda: Labels.of([0, 1], [1.0, 2.0], kind="numeric").to_comparisons(), ValueError, "labels compare nothing"),
        (
            lambda: Labels.of([0, 1, 2], [1, 1, 1], kind="numeric").to_comparisons(),
            ValueError,
            "labels compare nothing",
        ),
        (lambda: Labels.of([0, 1, 2], ["x", "y", "z"]).to_comparisons(), ValueError, "labels compare nothing"),
        (lambda: Labels.of([0, 1], [1, 2], kind="numeric").to_links(), ValueError, "expected classes, found numeric"),
        (lambda: Labels.of([0, 1], [0, 1], [0.5, 1.2]), ValueError, "confidence: .* from 0 to 1, found 1.2"),
        (lambda: Labels.of([0, 1], [0, 1], [0.5, -0.1]), ValueError, "confidence: .* from 0 to 1, found -0.1"),
        (lambda: Labels.of([0, 1], [0, 1], [0.5, np.nan]), ValueError, "confidence: .* from 0 to 1, found nan"),
        (lambda: Labels.of([0, 1], [0, 1], [0.5]), ValueError, r"confidence: expected one number per label \(2\)"),
        (lambda: Labels.of([0, 1], [0, np.nan]), ValueError, "value: row 1 has no label"),
        (lambda: Labels.of([0, 1], np.array(["x", None], object)), ValueError, "value: row 1 has no label"),
        (lambda: Labels.of([0, 1], ["x"]), ValueError, r"value: expected one label per item \(2\)"),
        (lambda: Labels.of([0, 1], ["x", "y"], kind="numeric"), TypeError, "value: expected numbers, found"),
        (lambda: Labels.of([0, 1], [0, 1], kind="colour"), ValueError, "kind: expected 'class'"),
        (lambda: Labels.of([0, 0], [0, 1]), ValueError, "item: 0 is labelled twice by one rater"),
        (lambda: Labels.of([0, 9], [0, 1], n_items=3), ValueError, "found index 9"),
        (lambda: Labels.of(np.arange(4), [0, 0, 1, 1]).to_comparisons(0), ValueError, "per_item: expected at least 1"),
    ],
)
def test_bad_labels_are_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()
